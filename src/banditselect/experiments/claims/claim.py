"""Sentences of the paper, statistics measured for them, and verdicts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from ...simulation import Results
from ...statistics import Mean, bootstrap_interval, share_interval
from ...types import Array
from ..experiment import REGIMES, Experiment
from ..feature_selection import UNIFORM

HOLDS, FAILS, OPEN, NOT_APPLICABLE = "holds", "does not hold", "not decided", "not applicable"
VACUOUS = f"{HOLDS} vacuously"
CONFIDENCE = 0.95
NEARLY_UNIFORM = 0.8  #: of the regret of uniform play, from which on a policy has shown nothing

Ran: TypeAlias = Mapping[tuple[str, str], Results]  #: results by experiment and regime


@dataclass(frozen=True)
class Runs:
    """The final values of one regime of an experiment, by problem and policy.

    Attributes
    ----------
    finals: by problem and policy, ``(n,)``.
    results: all that was recorded; empty for values that are computed from it.
    classes: from a problem of classification to the class that pays in every replicate, ``(n,)``.
    over: takes the mean over the replicates, each once or as often as a resample has it.
    """

    finals: Mapping[str, Mapping[str, Array]]
    results: Results = field(default_factory=lambda: Results({}))
    classes: Callable[[str], Array] | None = None
    over: Mean = np.mean

    @classmethod
    def of(cls, results: Results, metric: str, classes: Callable[[str], Array] | None = None) -> "Runs":
        """Return the runs of results."""
        return cls({name: result.finals(metric) for name, result in results.items()}, results, classes)

    @property
    def problems(self) -> list[str]:
        """The names of the problems."""
        return list(self.finals)

    @cached_property
    def n(self) -> int:
        """The number of replicates."""
        return min(v.size for finals in self.finals.values() for v in finals.values())

    def has(self, *policies: str) -> bool:
        """Return whether all of these policies were played on every problem."""
        return all(policy in finals for finals in self.finals.values() for policy in policies)

    def mean(self, problem: str, policy: str) -> Any:
        """Return the mean over the replicates, or over each resample."""
        return self.over(self.finals[problem][policy][: self.n])


@dataclass(frozen=True)
class Measured:
    """A value with its interval, and what is expected of it: to lie between ``low`` and ``high``.

    ``words``: what it is.  ``n``: replicates.  ``problems``: on which; () means all.  ``policy``: whose part it is, of
    several that a sentence compares.  ``vacuous``: why nothing is shown although it lies where it is expected.
    """

    words: str
    value: float
    interval: tuple[float, float]
    low: float
    high: float
    n: int
    problems: tuple[str, ...] = ()
    policy: str = ""
    vacuous: str = ""

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
    """A number that a sentence is about, computed from runs, and where the sentence says that it lies."""

    words: str  # what it is
    compute: Callable[..., Any]  # from runs, one for every experiment that the sentence compares, to the value
    low: float = -math.inf
    high: float = math.inf
    problems: tuple[str, ...] = ()  # on which it is taken; () means all
    log: bool = False  # whether it is positive and its interval is taken on a logarithmic scale, as for ratios
    policy: str = ""  # whose part it is, of several that a sentence compares

    def measure(self, runs: Sequence[Runs], confidence: float) -> Measured:
        """Return the value with its interval; replicate by replicate, since they met the same problems."""
        n = min(one.n for one in runs)

        def compute(over: Mean) -> Any:
            return self.compute(*(replace(one, over=lambda values: over(values[:n])) for one in runs))

        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(compute(np.mean))
            interval = bootstrap_interval(compute, n, confidence=confidence, log=self.log)
        return Measured(self.words, value, interval, self.low, self.high, n, self.problems, self.policy)


def measure_all(statistics: Sequence[Statistic], runs: Sequence[Runs]) -> list[Measured]:
    """Measure all statistics of a sentence; their intervals hold together with probability 0.95 (Bonferroni)."""
    return [one.measure(runs, 1.0 - (1.0 - CONFIDENCE) / len(statistics)) for one in statistics]


def share(words: str, successes: int, n: int, low: float, confidence: float = CONFIDENCE) -> Measured:
    """Return the share of runs in which something is true, which should be at least ``low``."""
    return Measured(words, successes / n, share_interval(successes, n, confidence=confidence), low, math.inf, n)


Measure: TypeAlias = Callable[..., list[Measured]]  #: from the runs of an experiment, or of two that are compared


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper, or what is published of a rival, or the same of a variant of ours (``ours``)."""

    id: str
    quote: str
    experiments: Sequence[str]  # what it is about
    policies: tuple[str, ...]  # without which it cannot be judged; a regime that does not have them is left out
    measure: Measure  # of the runs of an experiment; of two for a sentence that compares them
    regimes: Sequence[str] = tuple(REGIMES)  # in which it can be judged
    beside: Mapping[str, str] = field(default_factory=dict)  # the experiment that each is compared with
    place: str | None = None  # where it is, if not where the paper speaks of the experiment
    about: tuple[str, ...] = ()  # whose play it speaks of: if all of them play nearly uniformly it holds vacuously
    premise: Measure = lambda *runs: []  # measures what the sentence takes for granted
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


def judge(
    ran: Ran, experiments: Mapping[str, Experiment], sentences: Sequence[Sentence], places: Mapping[str, str]
) -> list[Verdict]:
    """Judge every sentence on results; what was not run is left out. ``places``: of the experiments in the paper."""
    runs = {
        (name, regime): Runs.of(results, experiments[name].metric, partial(_classes, experiments[name], results))
        for (name, regime), results in ran.items()
    }
    verdicts = []
    for sentence in sentences:
        for name in sentence.experiments:
            for regime in sentence.regimes:
                keys = [(one, regime) for one in (name, sentence.beside.get(name)) if one]
                if all(key in runs and runs[key].has(*sentence.policies) for key in keys):
                    verdict = _judge_one(sentence, name, regime, [runs[key] for key in keys], places)
                    verdicts += [] if verdict is None else [verdict]
    return verdicts


def _classes(experiment: Experiment, results: Results, problem: str) -> Array:
    """Return the class that pays in every replicate; it is drawn again, since no table has it."""
    one, played = results[problem], experiment.problems([models_of(problem)])[problem]
    return played.draw(range(one.replicates), 1, one.settings["seed"]).constants["label"]


def _judge_one(
    sentence: Sentence, name: str, regime: str, runs: Sequence[Runs], places: Mapping[str, str]
) -> Verdict | None:
    """Return the verdict of a sentence on runs; None if they say nothing about it, or met other problems."""
    met = [[(p, r.settings.get("rounds"), r.settings.get("seed")) for p, r in one.results.items()] for one in runs]
    measured = sentence.measure(*runs) if all(one == met[0] for one in met) else []
    if not measured:
        return None
    decides, verdict = verdict_of(measured, sentence.premise(*runs))
    idle = nearly_uniform(sentence.about, measured, runs) if sentence.about and verdict in (HOLDS, FAILS) else ""
    copied = {name: getattr(sentence, name) for name in ("id", "quote", "claim", "note", "ours")}
    return Verdict(
        place=sentence.place or places[name],
        experiment=name,
        regime=regime,
        statistic=decides.words,
        value=decides.value,
        interval=decides.interval,
        expected=decides.expected,
        verdict=verdict,
        n=decides.n,
        vacuous="; ".join(filter(None, (decides.vacuous if verdict == HOLDS else "", idle))),
        policy=decides.policy,
        **copied,
    )


def combine(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: a sentence holds if all of its parts do, and fails with one."""
    failed = [part for part in measured if part.verdict == FAILS]
    decides = min(failed or measured, key=lambda part: part.margin)
    if failed:
        return decides, FAILS
    return decides, HOLDS if all(part.verdict == HOLDS for part in measured) else OPEN


def verdict_of(measured: Sequence[Measured], premises: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: none on a sentence whose premise fails or is not decided."""
    if premises:
        decides, verdict = combine(premises)
        if verdict != HOLDS:
            premise = replace(decides, words=f"premise: {decides.words}")
            return premise, NOT_APPLICABLE if verdict == FAILS else OPEN
    return combine(measured)


def nearly_uniform(policies: Sequence[str], measured: Sequence[Measured], runs: Sequence[Runs]) -> str:
    """Return, in words, that all of these policies played nearly uniformly wherever a sentence was judged; "" if not.

    Their mean regrets are compared with that of uniform play on the same problems, as they were measured.
    """
    shares = []
    for one in runs:
        regrets = Runs.of(one.results, "regret")
        for problem in {problem for part in measured for problem in part.problems or regrets.problems}:
            if not {UNIFORM, *policies} <= set(regrets.finals[problem]):
                return ""
            shares += [regrets.mean(problem, policy) / regrets.mean(problem, UNIFORM) for policy in policies]
    if not shares or not min(shares) >= NEARLY_UNIFORM:  # not a number where no regret was stored
        return ""
    named = " and ".join(policies)
    return f"nearly uniform play: regret of {named} at least {100.0 * min(shares):.0f} % of that of uniform play"


def models_of(problem: str) -> int:
    """Return M of a problem that is named after it."""
    return int(problem.rpartition("= ")[2])
