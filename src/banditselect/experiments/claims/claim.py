"""Sentences of the paper, the statistics that they are about, and verdicts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from ...simulation import Result, Results
from ...statistics import Mean, bootstrap_interval, share_interval
from ...types import Array
from ..experiment import REGIMES, Experiment

HOLDS, FAILS, OPEN, NOT_APPLICABLE = "holds", "does not hold", "not decided", "not applicable"
VACUOUS = f"{HOLDS} vacuously"
CONFIDENCE = 0.95
CLOSE = 1.25  #: times another regret is taken to be close to it

Ran: TypeAlias = Mapping[tuple[str, str], Results]  #: results by experiment and regime
Compute: TypeAlias = Callable[[Mean], Any]  #: a statistic, from a function that takes the mean over the replicates


@dataclass(frozen=True)
class Runs:
    """The results of one regime of an experiment, in one metric."""

    results: Results
    metric: str
    n: int  # replicates, the first of each
    experiment: Experiment

    @property
    def problems(self) -> list[str]:
        """The names of the problems."""
        return list(self.results)

    @property
    def regrets(self) -> "Runs":
        """The same results in regret."""
        return replace(self, metric="regret")

    def final(self, problem: str, policy: str) -> Array:
        """Return the metric after the last round, ``(n,)``."""
        return self.results[problem].final(policy, self.metric)[: self.n]

    def classes(self, problem: str) -> Array:
        """Return the class that pays in every replicate, ``(n,)``: drawn again, since no table has it."""
        played = self.experiment.problems([models_of(problem)])[problem]
        return played.draw(range(self.n), 1, self.results[problem].settings["seed"]).constants["label"]


@dataclass(frozen=True)
class Measured:
    """A value with its interval, and what is expected of it: to lie between ``low`` and ``high``."""

    words: str  # what it is
    value: float
    interval: tuple[float, float]
    low: float
    high: float
    n: int  # replicates
    problems: tuple[str, ...] = ()  # on which; () means all
    policy: str = ""  # whose part it is, of several that a sentence compares
    vacuous: str = ""  # why nothing is shown although it lies where it is expected

    @property
    def verdict(self) -> str:
        """The verdict: all of the interval is where it is expected, none of it, or some."""
        below, above = self.interval
        if self.low <= below and above <= self.high:
            return HOLDS
        return FAILS if above < self.low or below > self.high else OPEN

    @property
    def margin(self) -> float:
        """The distance of the interval from the ends of the expectation, in its lengths; negative outside."""
        below, above = self.interval
        inside = min(below - self.low, self.high - above) / max(above - below, 1e-300)
        return inside if not math.isnan(inside) else -math.inf

    @property
    def expected(self) -> str:
        """The expectation in words."""
        if math.isinf(self.low):
            return f"at most {self.high:.3g}"
        return f"at least {self.low:.3g}" if math.isinf(self.high) else f"between {self.low:.3g} and {self.high:.3g}"


@dataclass(frozen=True)
class Statistic:
    """A number that a sentence is about, and where the sentence says that it lies; other fields as in `Measured`."""

    words: str
    compute: Compute
    low: float = -math.inf
    high: float = math.inf
    problems: tuple[str, ...] = ()
    log: bool = False  # whether it is positive and its interval is taken on a logarithmic scale, as for ratios
    policy: str = ""

    def measure(self, n: int, confidence: float) -> Measured:
        """Return the value with its interval; replicate by replicate, since they met the same problems."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(self.compute(np.mean))
            interval = bootstrap_interval(self.compute, n, confidence=confidence, log=self.log)
        return Measured(self.words, value, interval, self.low, self.high, n, self.problems, self.policy)


def measure_all(parts: Sequence[Statistic | Measured], n: int) -> list[Measured]:
    """Measure all statistics of a sentence; their intervals hold together with probability 0.95 (Bonferroni)."""
    confidence = 1.0 - (1.0 - CONFIDENCE) / max(1, len(parts))
    return [part if isinstance(part, Measured) else part.measure(n, confidence) for part in parts]


def share(words: str, successes: int, n: int, low: float, confidence: float = CONFIDENCE) -> Measured:
    """Return the share of runs in which something is true, which should be at least ``low``."""
    return Measured(words, successes / n, share_interval(successes, n, confidence=confidence), low, math.inf, n)


Measure: TypeAlias = Callable[..., Sequence[Statistic | Measured]]  #: from the runs of one experiment, or of two


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper, or what is published of a rival, or the same of a variant of ours (``ours``)."""

    id: str
    quote: str
    experiments: Sequence[str]  # what it is about
    policies: tuple[str, ...]  # without which it cannot be judged; a regime that does not have them is left out
    measure: Measure  # its parts, from the runs of an experiment, and of the one beside it
    regimes: Sequence[str] = tuple(REGIMES)  # in which it can be judged
    beside: Mapping[str, str] = field(default_factory=dict)  # the experiment that each is compared with
    place: str | None = None  # where it is, if not where the paper speaks of the experiment
    about: tuple[str, ...] = ()  # whose play it speaks of: if all of them play nearly uniformly it holds vacuously
    premise: Measure = lambda *runs: []  # what it takes for granted
    claim: str = ""  # its content as a short clause, for sentences of the paper on its figures
    note: str = ""  # a remark that is shown beside the verdict
    ours: bool = False


@dataclass(frozen=True)
class Verdict:
    """A sentence on one experiment and regime: a row of the page, of the summary and of claims.json.

    "Not applicable" is a sentence that takes something for granted which fails; that then is the statistic.
    """

    id: str
    quote: str
    place: str
    experiment: str
    regime: str
    statistic: str  # what was measured; of several parts of a sentence, the one that decides
    value: float
    interval: tuple[float, float]  # 95 % around it, all parts of a sentence together
    expected: str  # what the sentence says about the value, e.g. "at most 1"
    verdict: str  # "holds", "does not hold", "not decided" or "not applicable"
    n: int  # replicates
    vacuous: str = ""  # why nothing is shown although it holds, or that it fails in nearly uniform play
    claim: str = ""
    note: str = ""
    ours: bool = False
    policy: str = ""  # the one that decides, of several that are compared

    @property
    def outcome(self) -> str:
        """The verdict as it is shown and counted: a claim that holds vacuously stands apart."""
        return VACUOUS if self.vacuous and self.verdict == HOLDS else self.verdict

    def record(self) -> dict[str, Any]:
        """Return it as JSON; a number that there is not is None."""
        known = [x if math.isfinite(x) else None for x in (self.value, *self.interval)]
        # "arm" is what "regime" was called when the format was published
        return asdict(self) | {"value": known[0], "interval": known[1:], "arm": self.regime}


# Statistics that several sentences are about


def models_of(problem: str) -> int:
    """Return M of a problem that is named after it."""
    return int(problem.rpartition("= ")[2])


def arguments_of(result: Result, policy: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return arguments that a policy had, one mapping per replicate."""
    told = result.settings["policies"][policy]["arguments"]
    varying = {name for name in names if isinstance(told[name], Mapping)}
    rows = range(result.replicates)
    return [{name: told[name]["per replicate"][n] if name in varying else told[name] for name in names} for n in rows]


def ratio(runs: Runs, problem: str, a: str, b: str) -> Compute:
    """Return the statistic: the mean of a over the mean of b."""
    x, y = runs.final(problem, a), runs.final(problem, b)
    return lambda mean: mean(x) / mean(y)


def difference(runs: Runs, problem: str, a: str, b: str) -> Compute:
    """Return the statistic: the mean of a minus the mean of b."""
    x, y = runs.final(problem, a), runs.final(problem, b)
    return lambda mean: mean(x) - mean(y)


def part_of(runs: Runs, problem: str, policy: str, bound: float) -> Compute:
    """Return the statistic: the mean of a policy over a bound."""
    values = runs.final(problem, policy)
    return lambda mean: mean(values) / bound


def measure(parts: Callable[..., Sequence[Statistic | Measured]]) -> Callable[..., Measure]:
    """Turn a function of runs and other arguments into one of the others, which returns the measure."""
    return lambda *args, **options: lambda runs: parts(runs, *args, **options)


def at_ends(parts: Callable[..., list[Statistic]]) -> Callable[..., list[Statistic]]:
    """Give a function the problems with the smallest and the largest M; there is nothing if there is one M only."""

    def of_runs(runs: Runs, *args: Any, **options: Any) -> list[Statistic]:
        ordered = sorted(runs.problems, key=models_of)
        return parts(runs, ordered[0], ordered[-1], *args, **options) if len(ordered) > 1 else []

    return of_runs


@measure
def compared(
    runs: Runs, how: Callable[..., Compute], words: str, a: str, *others: str, **bounds: float
) -> list[Statistic]:
    """Compare policy ``a`` with each of the others, on every problem.

    ``how``: by `ratio` or `difference`.  ``words``: what that is, with {a} and {b} for the policies.  ``bounds``:
    ``low`` and ``high``, between which the sentence says that it lies.
    """
    known: dict[str, Any] = {"log": how is ratio} | bounds
    return [
        Statistic(f"{words.format(a=a, b=b)}, {p}", how(runs, p, a, b), problems=(p,), policy=b, **known)
        for b in others
        for p in runs.problems
    ]


@measure
@at_ends
def growth(runs: Runs, first: str, last: str, policy: str, *, log: bool, over: str | None = None) -> list[Statistic]:
    """Measure the exponent of M, or of log M, with which a regret grows; at most 1/2 is claimed.

    ``over``: the policy whose regret it is divided by, where problems with more models are harder or easier also for
    one that selects nothing.
    """
    own = runs.regrets
    small, large = (math.log(models_of(p)) if log else float(models_of(p)) for p in (first, last))
    of = f"regret of {policy}" + (f" over that of {over}" if over else "")
    words = f"exponent e of {'(log M)' if log else 'M'}^e, {of} between {first} and {last}"
    few, many = (ratio(own, p, policy, over) if over else part_of(own, p, policy, 1.0) for p in (first, last))
    return [Statistic(words, exponent(few, many, math.log(large / small)), high=0.5, problems=(first, last))]


def exponent(small: Compute, large: Compute, span: float) -> Compute:
    """Return the statistic: e if one number is another times the e-th power of exp(``span``)."""
    return lambda mean: np.log(large(mean) / small(mean)) / span


@measure
def variances(runs: Runs, a: str, *others: str, low: float) -> list[Measured]:
    """Compare the variance of ``a``, between runs in which the same class pays, with that of the others that played.

    For the largest M.
    """
    last = max(runs.problems, key=models_of)
    classes, played = runs.classes(last), runs.results[last].policies
    squares = {one: within_classes(runs.final(last, one), classes) ** 2 for one in (a, *others) if one in played}
    if not squares[a].size:  # no class has two replicates
        squares = dict.fromkeys(squares, np.full(1, math.nan))

    def over(b: str) -> Compute:
        return lambda mean: mean(squares[a]) / mean(squares[b])

    words = f"variance within a class of {a} over that of {{}}, {last}"
    known: dict[str, Any] = {"low": low, "problems": (last,), "log": True}
    parts = [Statistic(words.format(b), over(b), policy=b, **known) for b in others if b in squares]
    return [replace(part, n=runs.n) for part in measure_all(parts, squares[a].size)]


def within_classes(values: Array, classes: Array) -> Array:
    """Return values of mean zero with the variance within a class: from each replicate of a class but the first.

    The k-th minus the mean of those before it, times sqrt((k - 1) / k): they are uncorrelated, and their squares add up
    to those about the means of the classes, so that they can be resampled as replicates are.
    """
    found = [np.full(0, math.nan)]
    for name in np.unique(classes):
        own = values[classes == name]
        before = np.arange(1, own.size)
        found.append((own[1:] - own.cumsum()[:-1] / before) * np.sqrt(before / (before + 1.0)))
    return np.concatenate(found)
