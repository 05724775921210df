"""Statistics that several sentences are about: ratios, differences, exponents of growth, variances within a class."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...simulation import Result
from ...types import Array
from .claim import Compute, Measure, Measured, Runs, Statistic, measure_all, models_of

CLOSE = 1.25  #: times another regret is taken to be close to it


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


def compared(how: Callable[..., Compute], words: str, a: str, *others: str, **bounds: float) -> Measure:
    """Return the measure that compares policy ``a`` with each of the others, on every problem.

    ``how``: by `ratio` or `difference`.  ``words``: what that is, with {a} and {b} for the policies.  ``bounds``:
    ``low`` and ``high``, between which the sentence says that it lies.
    """

    def part(runs: Runs, b: str, problem: str) -> Statistic:
        known: dict[str, Any] = {"problems": (problem,), "log": how is ratio, "policy": b} | bounds
        return Statistic(f"{words.format(a=a, b=b)}, {problem}", how(runs, problem, a, b), **known)

    return lambda runs: [part(runs, b, problem) for b in others for problem in runs.problems]


def at_ends(parts: Callable[[Runs, str, str], list[Statistic]]) -> Measure:
    """Return the measure of the problems with the smallest and the largest M; nothing if there is one M only."""

    def measure(runs: Runs) -> list[Statistic]:
        ordered = sorted(runs.problems, key=models_of)
        return parts(runs, ordered[0], ordered[-1]) if len(ordered) > 1 else []

    return measure


def growth(policy: str, *, log: bool, over: str | None = None) -> Measure:
    """Return the measure: the exponent of M, or of log M, with which a regret grows; at most 1/2 is claimed.

    ``over``: the policy whose regret it is divided by, where problems with more models are harder or easier also for
    one that selects nothing.
    """

    def parts(runs: Runs, first: str, last: str) -> list[Statistic]:
        small, large = (math.log(models_of(p)) if log else float(models_of(p)) for p in (first, last))
        of = f"regret of {policy}" + (f" over that of {over}" if over else "")
        words = f"exponent e of {'(log M)' if log else 'M'}^e, {of} between {first} and {last}"
        few, many = (
            ratio(runs.regrets, p, policy, over) if over else part_of(runs.regrets, p, policy, 1.0)
            for p in (first, last)
        )
        return [Statistic(words, exponent(few, many, math.log(large / small)), high=0.5, problems=(first, last))]

    return at_ends(parts)


def exponent(small: Compute, large: Compute, span: float) -> Compute:
    """Return the statistic: e if one number is another times the e-th power of exp(``span``)."""
    return lambda mean: np.log(large(mean) / small(mean)) / span


def variances(a: str, *others: str, low: float) -> Measure:
    """Return the measure: the variance of ``a``, between runs in which the same class pays, over that of the others.

    For the largest M, of those of the others that played.
    """

    def measure(runs: Runs) -> list[Measured]:
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
