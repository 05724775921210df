"""The text of ``list`` and ``show``: policies, problems, experiments, metrics, the arena; a line or a page each."""

import difflib
import inspect
import json
from collections.abc import Iterable, Mapping

from .. import problems
from ..experiments import EXPERIMENTS, REGIMES, Experiment
from ..experiments.beyond.arena import YARDSTICKS, everyone
from ..policies import registered
from ..problems import Problem
from ..simulation import METRICS


def catalogue() -> dict[str, dict[str, str]]:
    """Return a line for everything there is, by kind and name."""
    return {
        "policies": _lines(registered()),
        "problems": _lines(known_problems()),
        "experiments": {name: f"{e.title} ({e.place})" for name, e in EXPERIMENTS.items()},
        "metrics": dict(METRICS),
        "arena": {
            f"{name} ({kind})": f"told: {', '.join(one.told) or 'nothing'}; proved: {one.proved}"
            for kind, named in everyone().items()
            for name, one in named.items()
            if name not in YARDSTICKS
        },
    }


def known_problems() -> dict[str, type[Problem]]:
    """Return the problems of this library by name."""
    found = {name: getattr(problems, name) for name in problems.__all__}
    classes = {name: value for name, value in found.items() if isinstance(value, type) and issubclass(value, Problem)}
    return {name: cls for name, cls in classes.items() if not inspect.isabstract(cls)}


def names() -> list[str]:
    """Return the names of everything there is to show."""
    return [name for kind, lines in catalogue().items() if kind != "arena" for name in lines]


def one_of(value: str, known: Iterable[str]) -> str:
    """Return the choices in words, and the one that was probably meant.

    >>> one_of("pratical", ["theory", "practical"])
    "one of practical, theory (did you mean 'practical'?)"
    """
    names = sorted(known)
    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(value.lower(), lower, n=1, cutoff=0.6)
    return f"one of {', '.join(names)}" + (f" (did you mean {lower[near[0]]!r}?)" if near else "")


def index(kind: str | None = None, *, as_json: bool = False) -> str:
    """Return the lines of one kind, or of all kinds under their headings; as JSON if asked."""
    chosen = catalogue() if kind is None else {kind: catalogue()[kind]}
    if as_json:
        return json.dumps(chosen, indent=1)
    if kind is not None:
        return table(chosen[kind])
    return "\n\n".join(f"{name}\n{table(lines, '  ')}" for name, lines in chosen.items())


def table(lines: Mapping[str, str], indent: str = "") -> str:
    """Return aligned lines."""
    width = max(map(len, lines))
    return "\n".join(f"{indent}{name:{width}}  {line}" for name, line in lines.items())


def page(name: str) -> str:
    """Return what there is to say of a policy, a problem, an experiment or a metric."""
    if name in METRICS:
        return f"{name}\n\n{METRICS[name]}"
    if name in EXPERIMENTS:
        return _experiment(EXPERIMENTS[name])
    return _class((registered() | known_problems())[name])


def _experiment(experiment: Experiment) -> str:
    """Return the sizes, the regimes and the description of an experiment."""
    lines = []
    for name, scale in experiment.scales.items():
        models = f"M = {', '.join(map(str, scale.models))}; " if scale.models else ""
        lines.append(f"    {name}: {models}{scale.rounds} rounds, {scale.replicates} replicates")
    regimes = [f"    {regime}: {REGIMES[regime]}" for regime in experiment.regimes]
    return "\n".join([experiment.name, *lines, *regimes, "", inspect.cleandoc(experiment.about)])


def _class(cls: type) -> str:
    """Return the arguments and the description of a policy or problem."""
    arguments = [
        name if parameter.default is parameter.empty else f"{name} = {parameter.default!r}"
        for name, parameter in inspect.signature(cls).parameters.items()
        if name not in ("lanes", "seed")
    ]
    description = inspect.getdoc(cls) or ""
    return "\n".join([cls.__name__, *(f"    {argument}" for argument in arguments), "", description])


def _lines(classes: Mapping[str, type]) -> dict[str, str]:
    first = {name: (inspect.getdoc(classes[name]) or "").partition("\n")[0] for name in sorted(classes, key=str.lower)}
    return {name: line.replace("`", "") for name, line in first.items()}
