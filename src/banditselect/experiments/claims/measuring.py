"""Statistics of stored results with intervals around them, and whether they lie where a sentence says that they do."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...simulation import Results
from ...statistics import Mean, bootstrap_interval, share_interval
from ...types import Array
from ..fs_shared import UNIFORM

HOLDS, FAILS, OPEN, NOT_APPLICABLE = "holds", "does not hold", "not decided", "not applicable"
PREMISE = "premise: "  #: before the words of a statistic that a sentence takes for granted
CONFIDENCE = 0.95
NEARLY_UNIFORM = 0.8  #: of the regret of uniform play, from which on a policy has shown nothing


def mean_over_all(values: Array) -> Any:
    """Return the mean over the replicates, each once."""
    return values.mean()


@dataclass(frozen=True)
class Runs:
    """The final values of one regime of an experiment, by problem and policy; of all replicates, or of resamples.

    Attributes
    ----------
    finals: by problem and policy, ``(n,)``.
    over: how a mean over the replicates is taken.
    """

    finals: Mapping[str, Mapping[str, Array]]
    over: Mean = mean_over_all

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

    def drawn(self, over: Mean) -> "Runs":
        """Return the runs with means that are taken otherwise, such as over resamples."""
        return Runs(self.finals, over)

    def mean(self, problem: str, policy: str) -> Any:
        """Return the mean over the replicates, or over each resample."""
        return self.over(self.finals[problem][policy][: self.n])


@dataclass(frozen=True)
class Evidence:
    """What was stored of a regime of an experiment: all of it, and the final values of what its figure shows.

    ``classes``: from a problem of classification to the class that pays in every replicate, ``(n,)``.
    """

    results: Results
    runs: Runs
    classes: Callable[[str], Array]

    @property
    def scale(self) -> tuple[Any, ...]:
        """Problems, rounds and seed: what two experiments must share to be compared."""
        return tuple((name, one.settings.get("rounds"), one.settings.get("seed")) for name, one in self.results.items())


@dataclass(frozen=True)
class Measured:
    """A value with its interval, and what is expected of it: to lie between ``low`` and ``high``.

    ``words``: what it is.  ``n``: replicates.  ``problems``: on which; none stands for all.  ``vacuous``: why nothing
    is shown although it lies where it is expected, in words.
    """

    words: str
    value: float
    interval: tuple[float, float]
    low: float
    high: float
    n: int
    problems: tuple[str, ...] = ()
    vacuous: str = ""

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
    problems: on which it is taken; none stands for all.
    log: whether it is positive and its interval is taken on a logarithmic scale, as for ratios.
    """

    words: str
    compute: Callable[..., Any]
    low: float = -math.inf
    high: float = math.inf
    problems: tuple[str, ...] = ()
    log: bool = False

    def measure(self, runs: Sequence[Runs], confidence: float) -> Measured:
        """Return the value with its interval; replicate by replicate, since they met the same problems."""
        n = min(one.n for one in runs)

        def compute(over: Mean) -> Any:
            return self.compute(*(one.drawn(lambda values: over(values[:n])) for one in runs))

        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(compute(mean_over_all))
            interval = bootstrap_interval(compute, n, confidence=confidence, log=self.log)
        return Measured(self.words, value, interval, self.low, self.high, n, self.problems)


def measure_all(statistics: Sequence[Statistic], runs: Sequence[Runs]) -> list[Measured]:
    """Measure all statistics of a sentence; their intervals hold together with probability 0.95 (Bonferroni)."""
    return [one.measure(runs, 1.0 - (1.0 - CONFIDENCE) / len(statistics)) for one in statistics]


def share(words: str, successes: int, n: int, low: float, confidence: float = CONFIDENCE) -> Measured:
    """Return the share of runs in which something is true, which should be at least ``low``."""
    return Measured(words, successes / n, share_interval(successes, n, confidence=confidence), low, math.inf, n)


def part_of(problem: str, policy: str, bound: float) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a policy over a bound."""
    return lambda runs: runs.mean(problem, policy) / bound


def together(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: a sentence holds if all of its parts do, and fails with one."""
    failed = [part for part in measured if part.verdict == FAILS]
    decides = min(failed or measured, key=lambda part: part.room)
    if failed:
        return decides, FAILS
    return decides, HOLDS if all(part.verdict == HOLDS for part in measured) else OPEN


def judged(measured: Sequence[Measured], premises: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: none on a sentence whose premise fails or is not decided."""
    if premises:
        decides, verdict = together(premises)
        if verdict != HOLDS:
            return replace(decides, words=PREMISE + decides.words), NOT_APPLICABLE if verdict == FAILS else OPEN
    return together(measured)


def nearly_uniform(policies: Sequence[str], measured: Sequence[Measured], evidence: Sequence[Evidence]) -> str:
    """Return, in words, that all of these policies played nearly uniformly wherever a sentence was judged; "" if not.

    Their mean regrets are compared with that of uniform play on the same problems, as they were measured.
    """
    shares = []
    for one in evidence:
        regrets = Runs.of(one.results, "regret")
        for problem in {problem for part in measured for problem in part.problems or regrets.problems}:
            if not {UNIFORM, *policies} <= set(regrets.finals[problem]):
                return ""
            shares += [regrets.mean(problem, policy) / regrets.mean(problem, UNIFORM) for policy in policies]
    if not shares or not min(shares) >= NEARLY_UNIFORM:  # not a number where no regret was stored
        return ""
    who = " and ".join(policies)
    return f"nearly uniform play: regret of {who} at least {100.0 * min(shares):.0f} % of that of uniform play"
