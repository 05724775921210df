"""What a sentence of the paper is made of: whom it compares, on what, and the statistics that it is about."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..experiment import REGIMES
from .measuring import Evidence, Measured, Runs, Statistic, measure_all

Parts: TypeAlias = Callable[..., list[Statistic]]  #: of the runs of an experiment, or of two that are compared
Comparison: TypeAlias = Callable[[str, str, str], Callable[[Runs], Any]]  #: of two policies on a problem


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper.

    Attributes
    ----------
    id, quote: what it is called, what it says.
    experiments: what it is about.
    policies: without which it cannot be judged; a regime that does not have them is left out.
    measure: from the evidence of an experiment to what was measured; of two for a sentence that compares them.
    regimes: in which it can be judged.
    beside: the experiment that each is compared with, for such a sentence.
    place: where it is, if not where the paper speaks of the experiment.
    about: whose play it speaks of: if all of them play nearly uniformly it holds vacuously.
    premise: from the evidence to what it takes for granted, measured.
    claim: its content as a short clause, for sentences of the paper on its figures; "" for all others.
    note: a remark that is shown beside the verdict.
    ours: whether it is no sentence of the paper: what is published of a rival, or the statistic for a variant of ours.
    """

    id: str
    quote: str
    experiments: Sequence[str]
    policies: tuple[str, ...]
    measure: Callable[..., list[Measured]]
    regimes: Sequence[str] = tuple(REGIMES)
    beside: Mapping[str, str] | None = None
    place: str | None = None
    about: tuple[str, ...] = ()
    premise: Callable[..., list[Measured]] = lambda *evidence: []
    claim: str = ""
    note: str = ""
    ours: bool = False


def statistics(parts: Parts, metric: str | None = None) -> Callable[..., list[Measured]]:
    """Return the measure that takes statistics of the final values, of what the figure shows or of another metric."""

    def measure(*evidence: Evidence) -> list[Measured]:
        runs = [one.runs if metric is None else Runs.of(one.results, metric) for one in evidence]
        return measure_all(parts(*runs), runs)

    return measure


def ratio(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a over the mean of b."""
    return lambda runs: runs.mean(problem, a) / runs.mean(problem, b)


def difference(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a minus the mean of b."""
    return lambda runs: runs.mean(problem, a) - runs.mean(problem, b)


def compared(
    id: str,
    quote: str,
    experiments: Sequence[str],
    how: Comparison,
    words: str,
    a: str,
    *others: str,
    low: float = -math.inf,
    high: float = math.inf,
    also: tuple[str, ...] = (),
    **options: Any,
) -> Sentence:
    """Return the sentence that compares policy ``a`` with each of the others, on every problem.

    ``how``: by `ratio` or `difference`.  ``words``: what that is, with {a} and {b} for the policies.  ``low``,
    ``high``: between which the sentence says that it lies.  ``also``: whom its premise needs.  ``options``: those of
    `Sentence`.
    """

    def parts(runs: Runs) -> list[Statistic]:
        pairs = [(b, problem) for b in others for problem in runs.problems]
        return [
            Statistic(f"{words.format(a=a, b=b)}, {p}", how(p, a, b), low, high, (p,), how is ratio) for b, p in pairs
        ]

    return Sentence(id, quote, experiments, (a, *others, *also), statistics(parts), about=(a,), **options)


def models_of(problem: str) -> int:
    """Return M of a problem that is named after it."""
    return int(problem.rpartition("= ")[2])


def at_ends(parts: Callable[[str, str], list[Statistic]]) -> Parts:
    """Return the statistics of the problems with the smallest and the largest M; none if there is one M only."""

    def of_runs(runs: Runs) -> list[Statistic]:
        ordered = sorted(runs.problems, key=models_of)
        return parts(ordered[0], ordered[-1]) if len(ordered) > 1 else []

    return of_runs


def growth(
    id: str, quote: str, experiments: Sequence[str], policy: str, *, log: bool, over: str | None = None
) -> Sentence:
    """Return the sentence about the exponent of M, or of log M, with which a regret grows; at most 1/2 is claimed.

    ``over``: the policy whose regret it is divided by, where problems with more models are harder or easier also for
    one that selects nothing.
    """

    def parts(first: str, last: str) -> list[Statistic]:
        small, large = (math.log(models_of(p)) if log else float(models_of(p)) for p in (first, last))
        span = math.log(large / small)
        of = f"regret of {policy}" + (f" over that of {over}" if over else "")
        words = f"exponent e of {'(log M)' if log else 'M'}^e, {of} between {first} and {last}"

        def regret(runs: Runs, problem: str) -> Any:
            return runs.mean(problem, policy) / (runs.mean(problem, over) if over else 1.0)

        def exponent(runs: Runs) -> Any:
            return np.log(regret(runs, last) / regret(runs, first)) / span

        return [Statistic(words, exponent, high=0.5, problems=(first, last))]

    policies = (policy, over) if over else (policy,)
    claim = f"{policy}'s regret grows at most as sqrt({'log M' if log else 'M'})"
    measure = statistics(at_ends(parts), "regret")
    return Sentence(id, quote, experiments, policies, measure, about=(policy,), claim=claim)
