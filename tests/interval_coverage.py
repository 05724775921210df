"""Misses of the intervals of ``statistics.bootstrap_interval``, by side: the table of its docstring.

``python tests/interval_coverage.py`` prints it (about ten minutes); a number sets the number of data sets each.
"""

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from banditselect.statistics import Mean, bootstrap_interval
from banditselect.types import Array

SETS, RESAMPLES, SIZES = 2000, 1000, (20, 50, 100)
CORRELATION = 0.5


class Kind(NamedTuple):
    """A distribution of the values of a policy: a sampler of n values, their mean and their variance."""

    draw: Callable[[np.random.Generator, int], Array]
    mean: float
    variance: float


KINDS = {
    "normal": Kind(lambda rng, n: rng.normal(10.0, 2.0, n), 10.0, 4.0),
    "lognormal": Kind(lambda rng, n: rng.lognormal(0.0, 0.7, n), math.exp(0.245), math.expm1(0.49) * math.exp(0.49)),
    "failures": Kind(lambda rng, n: rng.normal(10.0, 1.0, n) + 10.0 * (rng.random(n) < 0.1), 11.0, 10.0),
}
"""Failures: 10 added in a tenth of the replicates."""

PAIRS = (("normal", "normal"), ("lognormal", "lognormal"), ("lognormal", "normal"), ("failures", "normal"))


def misses(a: str, b: str, n: int, variances: bool, sets: int) -> str:
    """Return the misses in %: the interval is above the truth / below it, and those of the percentile interval."""
    one, other, rng = KINDS[a], KINDS[b], np.random.default_rng(0)
    truth = one.variance / other.variance if variances else one.mean / other.mean
    count = np.zeros((2, 2))
    for _ in range(sets):
        x = one.draw(rng, n)
        own, shared = other.draw(rng, n) - other.mean, math.sqrt(other.variance / one.variance) * (x - one.mean)
        y = other.mean + CORRELATION * shared + math.sqrt(1.0 - CORRELATION**2) * own
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) / n
        statistic = ratio(x, y, variances)
        percentile = np.quantile(statistic(weights.__matmul__), [0.025, 0.975])
        ours = bootstrap_interval(statistic, n, resamples=RESAMPLES, log=True)
        count += [(low > truth, high < truth) for low, high in (ours, percentile)]
    both = (" / ".join(f"{100.0 * share / sets:.1f}" for share in row) for row in count)
    return "{} ({})".format(*both)


def ratio(x: Array, y: Array, centre: bool) -> Callable[[Mean], Any]:
    """Return the ratio of the means, or of the variances."""
    if not centre:
        return lambda mean: mean(x) / mean(y)
    u, v = x - x.mean(), y - y.mean()
    return lambda mean: (mean(u**2) - mean(u) ** 2) / (mean(v**2) - mean(v) ** 2)


def main(sets: int) -> None:
    """Print the table."""
    for variances in (False, True):
        for a, b in PAIRS:
            found = (misses(a, b, n, variances, sets) for n in SIZES)
            print(f"{'variances' if variances else 'means'}, {a} / {b}", *found, sep="  ", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
