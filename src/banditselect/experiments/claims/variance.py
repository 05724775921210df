"""The variance of a policy between runs in which the same class pays, compared with that of others."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...types import Array
from .measuring import Evidence, Measured, Runs, Statistic, measure_all
from .sentence import models_of, ratio


def variances(a: str, *others: str, low: float) -> Callable[[Evidence], list[Measured]]:
    """Return the measure: the variance of ``a`` over that of each of the others that played, for the largest M."""

    def measure(evidence: Evidence) -> list[Measured]:
        last = max(evidence.runs.problems, key=models_of)
        finals, classes = evidence.runs.finals[last], evidence.classes(last)
        squares = {one: within_classes(finals[one], classes) ** 2 for one in (a, *others) if one in finals}
        if not squares[a].size:  # no class has two replicates
            squares = dict.fromkeys(squares, np.full(1, math.nan))
        words = f"variance within a class of {a} over that of {{}}, {last}"
        played = [b for b in others if b in squares]
        parts = [Statistic(words.format(b), ratio(last, a, b), low, math.inf, (last,), True) for b in played]
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
