"""Verdicts in words: as JSON for programs, as lines for a terminal, as a count."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...reporting.numbers import interval, measured
from ...reporting.verdicts import SIGNS, outcome
from ..claims import Verdict
from ..experiment import REGIMES
from .figure_words import SETTINGS

COUNTED = {
    "does not hold": "fail",
    "holds vacuously": "hold vacuously",
    "not applicable": "not applicable",
    "not decided": "not decided",
}
VARIANTS = "Beyond the paper: our variants, and what is published of rivals"


def claims_json(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a JSON list; a number that there is not is null."""
    # "arm" is what "regime" was called when the format was published
    records = [asdict(verdict) | {"arm": verdict.regime} for verdict in verdicts]
    return json.dumps(_finite(records), indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def split(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Return the verdicts on sentences of the paper, and those that go beyond it."""
    return [verdict for verdict in verdicts if not verdict.ours], [verdict for verdict in verdicts if verdict.ours]


def shown(verdict: Verdict) -> str:
    """Return the verdict with its sign, and why nothing is shown by it."""
    found = outcome(verdict.verdict, verdict.vacuous)
    return f"{SIGNS[found].symbol} {found}" + (f" ({verdict.vacuous})" if verdict.vacuous else "")


def _regimes(verdicts: Sequence[Verdict]) -> list[str]:
    return [regime for regime in REGIMES if any(verdict.regime == regime for verdict in verdicts)]


def verdict_lines(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal: each sentence, and below it a line for every experiment and regime."""
    printed, ours = split(verdicts)
    lines = _lines(printed, "“{}” ({})") + ([f"{VARIANTS}:"] if ours else []) + _lines(ours, "{} ({})")
    return "\n".join(lines)


def _lines(verdicts: Sequence[Verdict], title: str) -> list[str]:
    lines = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        lines.append(title.format(quote, "; ".join(dict.fromkeys(verdict.place for verdict in own))))
        lines += [
            f"  {SIGNS[v.verdict].symbol} {v.verdict:14}  {v.experiment}, {v.regime}: {v.statistic}: "
            f"{measured(v.value, v.interval)} {interval(v.interval)}, expected {v.expected}, n = {v.n}"
            + (f"; shows nothing: {v.vacuous}" if v.vacuous else "")
            for v in own
        ]
    return lines


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims hold, by regime; those that hold vacuously are counted apart."""
    words = []
    for whose, some in zip(("the paper's", "our"), split(verdicts), strict=True):
        for regime in _regimes(some):
            found = [outcome(one.verdict, one.vacuous) for one in some if one.regime == regime]
            others = [f"{found.count(name)} {word}" for name, word in COUNTED.items() if name in found]
            held = f"{found.count('holds')} of {whose} {len(found)} claims hold"
            words.append(f"With {SETTINGS[regime]} {', '.join([held, *others])}.")
    return " ".join(words)
