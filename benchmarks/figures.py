"""The results of the parts of the suite, stored as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from banditselect.simulation.store import write_text

from .measuring import Spread


@dataclass(frozen=True)
class Figure:
    """A ratio within one run, or seconds, with an optional limit on the median."""

    what: str
    over: str  #: the denominator in words; empty for seconds
    spread: Spread
    limit: float | None = None
    at_least: bool = False
    target: str = ""  #: the letter of the target
    above: Spread | None = None  #: the numerator in microseconds
    below: Spread | None = None  #: the denominator in microseconds

    @property
    def holds(self) -> bool | None:
        """True if the limit holds; None without a limit."""
        if self.limit is None:
            return None
        return self.spread.median >= self.limit if self.at_least else self.spread.median <= self.limit


@dataclass(frozen=True)
class Row:
    """A contestant in the comparison: time per round, single calls, regret."""

    name: str
    what: str
    version: str | None
    per_round: Spread  #: microseconds, block by block
    to_yardstick: Spread  #: paired with the yardstick's blocks
    to_empty_call: Spread
    calls: int  #: number of single calls behind the percentiles
    latency: dict[str, float]  #: percentile: microseconds
    problems: int
    regret: float
    standard_error: float | None


@dataclass(frozen=True)
class Part:
    """The results of one part, and its machine."""

    title: str
    settings: str
    figures: list[Figure] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  #: peers that are not installed
    machine: dict[str, Any] = field(default_factory=dict)
    measured: str = ""  #: the day
    seconds: float = 0.0


def load_parts(path: Path) -> dict[str, Part]:
    """Return the stored parts, none if there is no file."""

    def spreads(content: Mapping[str, Any]) -> dict[str, Any]:
        return {k: Spread(**v) if isinstance(v, dict) and "median" in v else v for k, v in content.items()}

    parts = json.loads(path.read_text())["parts"] if path.exists() else {}
    for part in parts.values():
        part["figures"] = [Figure(**spreads(figure)) for figure in part["figures"]]
        part["rows"] = [Row(**spreads(row)) for row in part["rows"]]
    return {name: Part(**part) for name, part in parts.items()}


def store_parts(path: Path, parts: Mapping[str, Part]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"parts": {name: asdict(part) for name, part in parts.items()}}
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
