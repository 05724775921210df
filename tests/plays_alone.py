"""The kernels of plays alone: from scores and rates of rows to probabilities."""

import numpy as np

from banditselect.plays.inverse_gaps import as_rates, inverse_gaps
from banditselect.plays.optimal_design import SURVEYS, design, optimal_gaps
from banditselect.plays.optimism import ALL_OFFERED


def inverse_gap_weighting(score, alpha, offered=None):
    """Return the probabilities of inverse gaps for predictions ``(n, K)`` and rates ``(n,)``."""
    ids = np.arange(len(score))
    return inverse_gaps(ids, score, as_rates(ids, alpha, ids.size), ALL_OFFERED if offered is None else offered)


def optimal_gap_weighting(x, score, alpha, offered=None):
    """Return those by optimal design, for features ``(n, K, d)`` as well."""
    return optimal_gaps(x, score, alpha, ALL_OFFERED if offered is None else offered)


def designed(x, slope):
    """Return the design of features ``(K, d)`` with these slopes as an array ``(K,)``, and the rank found."""
    K, d = x.shape
    pool, q = np.empty((SURVEYS + 2) * (d + 1), dtype=np.int64), np.empty((SURVEYS + 2) * (d + 1))
    m, rank = design(np.ascontiguousarray(x, dtype=float), slope, pool, q)
    out = np.zeros(K)
    np.add.at(out, pool[:m], q[:m])
    return out, rank
