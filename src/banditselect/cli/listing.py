"""What ``list`` and ``show`` print: policies, problems, experiments and metrics, a line or a page each."""

import inspect
import shutil
import sys
import textwrap
from collections.abc import Mapping

from ..experiments import EXPERIMENTS
from ..policies import registered
from ..simulation import METRICS
from ..simulation.user_files import known_problems
from .formulas import without_markup


def catalogue() -> dict[str, dict[str, str]]:
    """Return a line for everything there is, by kind and name."""
    return {
        "policies": _lines(registered()),
        "problems": _lines(known_problems()),
        "experiments": {name: f"{e.title} ({e.place})" for name, e in EXPERIMENTS.items()},
        "metrics": dict(METRICS),
    }


def classes() -> dict[str, type]:
    """Return all policies and problems by name."""
    return registered() | known_problems()


def table(lines: Mapping[str, str], indent: str = "") -> str:
    """Return aligned lines; on a terminal they are wrapped, elsewhere each is one line."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    width = max(map(len, lines))
    hanging = indent + " " * (width + 2)
    return "\n".join(
        textwrap.fill(line, columns, initial_indent=f"{indent}{name:{width}}  ", subsequent_indent=hanging)
        for name, line in lines.items()
    )


def page(cls: type) -> str:
    """Return the arguments and the description of a policy or problem."""
    arguments = [
        name if parameter.default is parameter.empty else f"{name} = {parameter.default!r}"
        for name, parameter in inspect.signature(cls).parameters.items()
        if name not in ("lanes", "seed")
    ]
    description = without_markup(inspect.getdoc(cls) or "")
    return "\n".join([cls.__name__, *(f"    {argument}" for argument in arguments), "", description])


def _lines(classes: Mapping[str, type]) -> dict[str, str]:
    return {name: _first_line(classes[name]) for name in sorted(classes, key=str.lower)}


def _first_line(cls: type) -> str:
    line = (inspect.getdoc(cls) or "").partition("\n")[0]
    return without_markup(line).replace("`", "")
