"""Statistics of stored results with intervals around them, and whether they lie where a sentence says that they do."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...simulation import Results
from ...statistics import bootstrap_interval, share_interval

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Runs:
    """The final values of one regime of an experiment, by problem and policy; of all replicates, or of some drawn.

    Attributes
    ----------
    finals: by problem and policy, ``(n,)``.
    rows: the replicates, ``(B, n)``; None for each once.
    """

    finals: Mapping[str, Mapping[str, NDArray[np.float64]]]
    rows: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, results: Results, metric: str) -> "Runs":
        """Return the runs of stored results."""
        return cls({name: result.finals(metric) for name, result in results.items()})

    @property
    def problems(self) -> list[str]:
        """The names of the problems."""
        return list(self.finals)

    @cached_property
    def n(self) -> int:
        """How many replicates there are."""
        return min(v.size for finals in self.finals.values() for v in finals.values())

    def has(self, *policies: str) -> bool:
        """Tell whether all of these policies were played on every problem."""
        return all(policy in finals for finals in self.finals.values() for policy in policies)

    def drawn(self, rows: NDArray[np.int64]) -> "Runs":
        """Return the runs of these replicates."""
        return Runs(self.finals, rows)

    def mean(self, problem: str, policy: str) -> Any:
        """Return the mean over the replicates, one for every row."""
        return self._values(problem, policy).mean(axis=-1)

    def deviation(self, problem: str, policy: str) -> Any:
        """Return the standard deviation over the replicates, one for every row."""
        return self._values(problem, policy).std(axis=-1, ddof=1)

    def _values(self, problem: str, policy: str) -> NDArray[np.float64]:
        values = self.finals[problem][policy][: self.n]
        return values if self.rows is None else values[self.rows]


@dataclass(frozen=True)
class Evidence:
    """What was stored of a regime of an experiment: all of it, and the final values of what its figure shows."""

    results: Results
    runs: Runs

    @property
    def scale(self) -> tuple[Any, ...]:
        """Problems, rounds and seed: what two experiments must share to be compared."""
        return tuple((name, one.settings.get("rounds"), one.settings.get("seed")) for name, one in self.results.items())


@dataclass(frozen=True)
class Measured:
    """A value with its interval, and what is expected of it: to lie between ``low`` and ``high``.

    ``words``: what it is.  ``n``: replicates.
    """

    words: str
    value: float
    interval: tuple[float, float]
    low: float
    high: float
    n: int

    @property
    def verdict(self) -> str:
        """Whether all of the interval is where it is expected, none of it, or some."""
        below, above = self.interval
        if self.low <= below and above <= self.high:
            return HOLDS
        return FAILS if above < self.low or below > self.high else OPEN

    @property
    def room(self) -> float:
        """How far inside the expectation the interval is, in its own lengths; negative if it reaches outside."""
        below, above = self.interval
        length = max(above - below, 1e-300)
        inside = min(below - self.low, self.high - above) / length
        return inside if not math.isnan(inside) else -math.inf

    @property
    def expected(self) -> str:
        """What is expected, in words."""
        if math.isinf(self.low):
            return f"at most {self.high:.3g}"
        return f"at least {self.low:.3g}" if math.isinf(self.high) else f"between {self.low:.3g} and {self.high:.3g}"


@dataclass(frozen=True)
class Statistic:
    """What a sentence is about: a number that is computed from runs, and where the sentence says that it lies.

    Attributes
    ----------
    words: what it is.
    compute: from runs, one for every experiment that the sentence compares, to the value.
    low, high: where the sentence says that it lies.
    """

    words: str
    compute: Callable[..., Any]
    low: float = -math.inf
    high: float = math.inf

    def measure(self, runs: Sequence[Runs], confidence: float) -> Measured:
        """Return the value with its interval; replicate by replicate, since they met the same problems."""
        n = min(one.n for one in runs)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(self.compute(*runs))
            interval = bootstrap_interval(
                lambda rows: self.compute(*(one.drawn(rows) for one in runs)), n, confidence=confidence
            )
        return Measured(self.words, value, interval, self.low, self.high, n)


def measure_all(statistics: Sequence[Statistic], runs: Sequence[Runs]) -> list[Measured]:
    """Measure all statistics of a sentence; their intervals hold together with probability 0.95 (Bonferroni)."""
    return [one.measure(runs, 1.0 - (1.0 - CONFIDENCE) / len(statistics)) for one in statistics]


def share(words: str, successes: int, n: int, low: float) -> Measured:
    """Return the share of runs in which something is true, which should be at least ``low``."""
    return Measured(words, successes / n, share_interval(successes, n, confidence=CONFIDENCE), low, math.inf, n)


def together(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: a sentence holds if all of its parts do, and fails with one."""
    failed = [part for part in measured if part.verdict == FAILS]
    decides = min(failed or measured, key=lambda part: part.room)
    if failed:
        return decides, FAILS
    return decides, HOLDS if all(part.verdict == HOLDS for part in measured) else OPEN
