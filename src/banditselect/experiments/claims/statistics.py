"""Statistics that several sentences are about: ratios, differences, exponents of growth, variances within a class."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ...simulation import Result
from ...types import Array
from .claim import Measure, Measured, Runs, Statistic, measure_all, models_of

CLOSE = 1.25  #: times another regret is taken to be close to it

Parts: TypeAlias = Callable[..., list[Statistic]]  #: from the runs of an experiment, or of two that are compared


def statistics(parts: Parts, metric: str | None = None) -> Measure:
    """Return the measure that takes statistics of final values, in the metric of the figure or in another one."""

    def measure(*several: Runs) -> list[Measured]:
        runs = [one if metric is None else Runs.of(one.results, metric) for one in several]
        return measure_all(parts(*runs), runs)

    return measure


def arguments_of(result: Result, policy: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return arguments that a policy had, one mapping per replicate."""
    told = result.settings["policies"][policy]["arguments"]
    varying = {name for name in names if isinstance(told[name], Mapping)}
    rows = range(result.replicates)
    return [{name: told[name]["per replicate"][n] if name in varying else told[name] for name in names} for n in rows]


def ratio(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a over the mean of b."""
    return lambda runs: runs.mean(problem, a) / runs.mean(problem, b)


def difference(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a minus the mean of b."""
    return lambda runs: runs.mean(problem, a) - runs.mean(problem, b)


def part_of(problem: str, policy: str, bound: float) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a policy over a bound."""
    return lambda runs: runs.mean(problem, policy) / bound


def compared(
    how: Callable[[str, str, str], Callable[[Runs], Any]], words: str, a: str, *others: str, **bounds: float
) -> Measure:
    """Return the measure that compares policy ``a`` with each of the others, on every problem.

    ``how``: by `ratio` or `difference`.  ``words``: what that is, with {a} and {b} for the policies.  ``bounds``:
    ``low`` and ``high``, between which the sentence says that it lies.
    """

    def part(b: str, problem: str) -> Statistic:
        known: dict[str, Any] = {"problems": (problem,), "log": how is ratio, "policy": b} | bounds
        return Statistic(f"{words.format(a=a, b=b)}, {problem}", how(problem, a, b), **known)

    return statistics(lambda runs: [part(b, problem) for b in others for problem in runs.problems])


def at_ends(parts: Callable[[str, str], list[Statistic]]) -> Parts:
    """Return the statistics of the problems with the smallest and the largest M; none if there is one M only."""

    def of_runs(runs: Runs) -> list[Statistic]:
        ordered = sorted(runs.problems, key=models_of)
        return parts(ordered[0], ordered[-1]) if len(ordered) > 1 else []

    return of_runs


def growth(policy: str, *, log: bool, over: str | None = None) -> Measure:
    """Return the measure: the exponent of M, or of log M, with which a regret grows; at most 1/2 is claimed.

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

    return statistics(at_ends(parts), "regret")


def variances(a: str, *others: str, low: float) -> Measure:
    """Return the measure: the variance of ``a``, between runs in which the same class pays, over that of the others.

    For the largest M, of those of the others that played.
    """

    def measure(runs: Runs) -> list[Measured]:
        assert runs.classes is not None
        last = max(runs.problems, key=models_of)
        finals, classes = runs.finals[last], runs.classes(last)
        squares = {one: within_classes(finals[one], classes) ** 2 for one in (a, *others) if one in finals}
        if not squares[a].size:  # no class has two replicates
            squares = dict.fromkeys(squares, np.full(1, math.nan))
        words = f"variance within a class of {a} over that of {{}}, {last}"
        known: dict[str, Any] = {"low": low, "problems": (last,), "log": True}
        parts = [Statistic(words.format(b), ratio(last, a, b), policy=b, **known) for b in others if b in squares]
        return [replace(part, n=classes.size) for part in measure_all(parts, [Runs({last: squares})])]

    return measure


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
