"""Misses of the intervals of ``statistics.bootstrap_interval``, by side: the table of its docstring.

``python tests/interval_coverage.py`` prints it (about ten minutes); a number sets the number of data sets each.
"""

import math
import sys

import numpy as np

from banditselect.statistics import bootstrap_interval

SETS, RESAMPLES, SIZES = 2000, 1000, (20, 50, 100)
CORRELATION = 0.5

# how n values of a policy are drawn, their mean and their variance; failures: 10 added in a tenth of the replicates
KINDS = {
    "normal": (lambda rng, n: rng.normal(10.0, 2.0, n), 10.0, 4.0),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 0.7, n), math.exp(0.245), math.expm1(0.49) * math.exp(0.49)),
    "failures": (lambda rng, n: rng.normal(10.0, 1.0, n) + 10.0 * (rng.random(n) < 0.1), 11.0, 10.0),
}
PAIRS = (("normal", "normal"), ("lognormal", "lognormal"), ("lognormal", "normal"), ("failures", "normal"))


def ratio(x, y, variances):
    """Return the ratio of the means, or of the variances, as a function of the mean."""
    if not variances:
        return lambda mean: mean(x) / mean(y)
    u, v = x - x.mean(), y - y.mean()
    return lambda mean: (mean(u**2) - mean(u) ** 2) / (mean(v**2) - mean(v) ** 2)


def misses(a, b, n, variances, sets):
    """Return the misses in %: the interval is above the truth / below it, and those of the percentile interval."""
    (draw, mean, variance), (draw_other, other_mean, other_variance) = KINDS[a], KINDS[b]
    truth, rng = variance / other_variance if variances else mean / other_mean, np.random.default_rng(0)
    count = np.zeros((2, 2))
    for _ in range(sets):
        x = draw(rng, n)
        shared = math.sqrt(other_variance / variance) * (x - mean)
        own = draw_other(rng, n) - other_mean
        y = other_mean + CORRELATION * shared + math.sqrt(1.0 - CORRELATION**2) * own
        statistic = ratio(x, y, variances)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES) / n
        percentile = np.quantile(statistic(weights.__matmul__), [0.025, 0.975])
        ours = bootstrap_interval(statistic, n, resamples=RESAMPLES, log=True)
        count += [(low > truth, high < truth) for low, high in (ours, percentile)]
    both = (" / ".join(f"{100.0 * share / sets:.1f}" for share in row) for row in count)
    return "{} ({})".format(*both)


if __name__ == "__main__":
    for variances in (False, True):
        for a, b in PAIRS:
            found = (misses(a, b, n, variances, int(sys.argv[1]) if len(sys.argv) > 1 else SETS) for n in SIZES)
            print(f"{'variances' if variances else 'means'}, {a} / {b}", *found, sep="  ", flush=True)
