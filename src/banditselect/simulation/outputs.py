"""Results as files and words: the figures of a sweep, and what a tuning chose."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..carriers import validation
from ..reporting import save_figure
from .results import Results

FORMATS = ("png", "svg", "pdf")
COLUMN = 6  #: problems whose final values fit into a column of a paper


def save_figures(results: Results, metric: str, folder: Path, **options: Any) -> list[Path]:
    """Write the curves, a panel per problem, and, for several problems, the final values, drawn with ``options``."""
    played = Results({name: result for name, result in results.items() if result.curves})
    figures = {}
    try:
        if played:
            figures["curves"] = played.plot(metric)
        if len(played) > 1:
            width = {"width": "page"} if len(played) > COLUMN else {}
            figures["finals"] = played.plot_finals(metric, **(width | options))
    except ValueError as error:
        validation.warn(f"no figures: {error}")
    return [save_figure(figure, folder / f"{name}.{kind}") for name, figure in figures.items() for kind in FORMATS]


def tuned_words(results: Results) -> str:
    """Return what the tuning chose, a line per problem; a choice at the end of its values is marked."""
    lines = []
    for problem, result in results.items():
        record = result.settings.get("tuning", {"policies": {}})
        for policy, told in record["policies"].items():
            choice = [f"{name} = {value}{_end(value, record['grid'][name])}" for name, value in told["choice"].items()]
            lines.append(f"tuned on {problem}: {policy}: {', '.join(choice)}")
    return "\n".join(lines)


def at_the_end(value: Any, values: Sequence[Any]) -> bool:
    """Tell whether a choice is the first or the last of several values, so that others might be better still."""
    return len(values) > 1 and value in (values[0], values[-1])


def json_text(content: Any) -> str:
    """Return JSON; a number that is not finite is null."""
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _end(value: Any, values: Sequence[Any]) -> str:
    return " (the end of its values)" if at_the_end(value, values) else ""
