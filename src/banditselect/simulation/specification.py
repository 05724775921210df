"""A sweep written down in a TOML file: read, checked to the last argument, and run."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..carriers import validation
from ..policies import Binding
from ..problems import Instances, Problem
from .loop import METRICS, build, checkpoints_of, play
from .own_code import known_problems, load_file
from .progress import Tell
from .results import Results
from .toml_lines import Document, Key
from .tuning import candidates_of, has_argument, sweep_tuned
from .written import blamed, check, check_keys, constants_in, needed, one_of, read_policy, read_problems

KEYS = ("rounds", "replicates", "seed", "metric", "import", "problems", "policies", "tuning")
COUNT = validation.Number(low=1, integer=True)
TRIAL_BYTES = 200_000_000  #: policies are tried on the smallest problems, as many as take this much memory together


@dataclass(frozen=True)
class Specification:
    """What a file asks for.

    Attributes
    ----------
    rounds, replicates, seed: as for ``sweep``.
    metric: what is reported and tuned for.
    problems, policies: by name.
    tuning: values by name of the argument, and ``tuning_replicates``; empty where nothing is tuned.
    """

    rounds: int
    replicates: int
    seed: int
    metric: str
    problems: Mapping[str, Problem]
    policies: Mapping[str, Binding[Any]]
    tuning: Mapping[str, list[Any]]
    tuning_replicates: int

    def run(self, *, phase: Callable[[str], Tell], **options: Any) -> Results:
        """Tune if that is asked for, and play.

        Parameters
        ----------
        phase: called with what comes next, in words; returns the ``progress`` to be told.
        options: ``engine``, ``workers``, ``address`` and ``out``, as for ``sweep``.
        """
        return sweep_tuned(
            self.policies,
            self.problems,
            self.tuning,
            rounds=self.rounds,
            replicates=self.replicates,
            tuning_replicates=self.tuning_replicates,
            metric=self.metric,
            seed=self.seed,
            phase=phase,
            **options,
        )


def read_specification(path: str | Path, **instead: int | None) -> Specification:
    """Read a TOML file.

    Everything in it is checked before anything is run: each policy is built for the problems that are not too large and
    chooses an action. A mistake raises ValueError with file, line, key, what was given and what is expected.

    Parameters
    ----------
    path: of the file; the files that it imports are relative to it.
    instead: ``rounds``, ``replicates``, ``seed`` to be taken instead of those in the file, where not None.
    """
    doc = Document(Path(path))
    check_keys(doc, (), doc.content, KEYS, "a key of a sweep")
    modules = list(_imported(doc))
    try:
        known = known_problems(*modules)
    except ValueError as error:
        raise doc.error(("import",), str(error)) from None
    made = {name: read_problems(doc, ("problems", name), table, known) for name, table in _tables(doc, "problems")}
    problems = {
        _name(table, label, alone=len(made) == 1): (("problems", table), problem)
        for table, group in made.items()
        for label, problem in group.items()
    }
    specification = Specification(
        rounds=_number(doc, ("rounds",), instead.get("rounds"), COUNT),
        replicates=_number(doc, ("replicates",), instead.get("replicates"), COUNT),
        seed=_number(doc, ("seed",), instead.get("seed"), validation.Number(low=0, integer=True), 0),
        metric=doc.content.get("metric", "regret"),
        problems={name: problem for name, (_, problem) in problems.items()},
        policies={name: read_policy(doc, ("policies", name), table) for name, table in _tables(doc, "policies")},
        tuning={n: v for n, v in _table(doc, "tuning").items() if n != "replicates"},
        tuning_replicates=_number(doc, ("tuning", "replicates"), None, COUNT, 20),
    )
    if specification.metric not in METRICS:
        raise doc.refuse(("metric",), specification.metric, one_of(specification.metric, METRICS))
    _check_tuning(doc, specification)
    _try(doc, specification, {name: key for name, (key, _) in problems.items()})
    return specification


def _name(table: str, label: str, *, alone: bool) -> str:
    """Return the name of a problem: of its table, of what varies, or both where there are several tables."""
    if label == "one":
        return table
    return label if alone else f"{table}, {label}"


def _number(doc: Document, key: Key, instead: int | None, bounds: validation.Number, default: int | None = None) -> int:
    table: Any = doc.content
    for part in key[:-1]:
        table = table.get(part, {})
    value = instead if instead is not None else table.get(key[-1], default)
    if value is None:
        raise doc.error(key, f"missing; expected {bounds.expected}")
    check(doc, key, bounds, value)
    return int(value)


def _table(doc: Document, name: str) -> dict[str, Any]:
    table = doc.content.get(name, {})
    if not isinstance(table, dict):
        raise doc.refuse((name,), table, "a table")
    return table


def _tables(doc: Document, name: str) -> Iterator[tuple[str, Any]]:
    tables = _table(doc, name)
    if not tables:
        raise doc.error((name,), f"missing; expected at least one table [{name}.<name>]")
    yield from tables.items()


def _imported(doc: Document) -> Iterator[ModuleType]:
    names = doc.content.get("import", [])
    if not isinstance(names, list):
        raise doc.refuse(("import",), names, "a list of Python files")
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise doc.refuse(("import", k), name, "a Python file")
        try:
            yield load_file(doc.path.parent / name)
        except ValueError as error:
            raise doc.error(("import", k), str(error)) from None


def _check_tuning(doc: Document, specification: Specification) -> None:
    if "tuning" in doc.content and not specification.tuning:
        raise doc.error(("tuning",), "nothing to tune; expected an argument of the policies with a list of values")
    arguments = {n for b in specification.policies.values() for n in b.parameters if n not in ("lanes", "seed")}
    for name, values in specification.tuning.items():
        if not any(has_argument(binding, name) for binding in specification.policies.values()):
            raise doc.error(("tuning", name), f"no policy has it; expected {one_of(name, {*arguments, 'replicates'})}")
        if not isinstance(values, list) or not values:
            raise doc.refuse(("tuning", name), values, "a list of at least one value")


def _try(doc: Document, specification: Specification, keys: Mapping[str, Key]) -> None:
    """Let every policy play a round of every problem that is not too large; the metric must be recorded of it."""
    taken, rounds = 0, specification.rounds
    for name, problem in sorted(specification.problems.items(), key=lambda item: item[1].lane_bytes(rounds)):
        taken += problem.lane_bytes(rounds)
        if taken > TRIAL_BYTES:
            return
        try:
            instances = problem.draw(range(1), rounds, specification.seed)
        except Exception as error:
            raise blamed(doc, keys[name], doc.content["problems"][keys[name][1]], error) from error
        recorded = set()
        for label, binding in specification.policies.items():
            key, table = ("policies", label), doc.content["policies"][label]
            for place, constant in constants_in(key, table):
                if constant not in instances.constants:
                    expected = f"a constant of problem {name!r}: {one_of(constant, instances.constants)}"
                    raise doc.refuse(place, f"given.{constant}", expected)
            for cls, argument in needed(binding.resolve(problem.shapes, instances.constants)):
                raise doc.error(key, f"{argument} is missing: {cls} needs it and problem {name!r} does not tell it")
            found = _try_one(doc, key, table, binding, name, problem, instances)
            recorded |= found
            candidates = candidates_of(binding, specification.tuning)
            for _, candidate in candidates:
                _try_one(doc, ("tuning",), doc.content["tuning"], candidate, name, problem, instances)
            if candidates and specification.metric not in found:
                raise _without(doc, specification, f"{label!r}, which is tuned for it, has on problem {name!r}", found)
        if specification.metric not in recorded:
            raise _without(doc, specification, f"some policy has on problem {name!r}", recorded)


def _try_one(
    doc: Document, key: Key, table: Any, binding: Binding[Any], name: str, problem: Problem, instances: Instances
) -> set[str]:
    """Play one round; return the metrics that are recorded of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy = build(binding, problem, instances, range(1), 0)
            (row,) = play(policy, instances, 1, checkpoints_of(1))
    except Exception as error:
        raise blamed(doc, key, table, error, f" (on problem {name!r})") from error
    known = {metric for metric, value in zip(METRICS, row[:, 0], strict=True) if value == value}
    return known | {"mean_reward"}  # a first reward may not be observed


def _without(doc: Document, specification: Specification, whose: str, metrics: set[str]) -> ValueError:
    known = [metric for metric in METRICS if metric in metrics]
    return doc.refuse(("metric",), specification.metric, f"a metric that {whose}: {', '.join(known)}")
