"""Minimum empirical divergence: how close to the best every action may be, and a design over those that are close.

References: Balagopalan, Jun, "Minimum empirical divergence for sub-Gaussian linear bandits", AISTATS 2025.
Cohen, Cousins, Lee, Yang, "A near-optimal algorithm for approximating the John ellipsoid", COLT 2019 (the design).
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import kernel
from .features import block, entry, sizes, undivided
from .posterior import Beliefs, Counted, counted_ridges, foresee, measure
from .ridge import LOGDET

ACCURACY = 2.0  #: the largest leverage of a design may be this many times the least possible
FARTHEST = 230.0  #: an action is not played whose probability would be below exp(-230)
_STEPS = 100  # at most; the accuracy is reached after about 2 log(K / d)
_SINGULAR = 1e-12  # a pivot below this share of its diagonal entry is 0


@kernel
def decompose(V: Array, lower: Array) -> int:
    """``V = L L'`` for a matrix ``(d, d)`` that may be singular; return its rank.

    Where the pivot is 0, the column of ``lower`` is: that feature depends on those before it.
    """
    rank = 0
    for k in range(V.shape[0]):
        pivot = V[k, k]
        for m in range(k):
            pivot -= lower[k, m] ** 2
        regular = pivot > _SINGULAR * V[k, k]
        rank += regular
        lower[k, k] = math.sqrt(pivot) if regular else 0.0
        for j in range(k + 1, V.shape[0]):
            total = V[j, k]
            for m in range(k):
                total -= lower[j, m] * lower[k, m]
            lower[j, k] = total / lower[k, k] if regular else 0.0
    return rank


@kernel
def _parts(r: int, x: Array, i: int, K: int) -> tuple[Index, int]:
    """Number the blocks of ``K`` actions as they first occur; return that of every action, and how many they are."""
    part, last = np.empty(K, dtype=np.int64), 0
    for a in range(K):
        last = max(last, block(x, r, i, a))
    number, parts = np.full(last + 1, -1), 0
    for a in range(K):
        b = block(x, r, i, a)
        if number[b] < 0:
            number[b] = parts
            parts += 1
        part[a] = number[b]
    return part, parts


@kernel
def design(r: int, x: Array, i: int, d: int, scale: Array, q: Array) -> None:
    """Give ``q (K,)`` a design over the features ``sqrt(scale[a]) x_i(a)``, nearly G-optimal on what they span.

    From equal weights, every weight is multiplied by its leverage until the largest leverage is at most ``ACCURACY``
    times the rank, which is the least possible. With at most twice as many actions as features it stays as it is.
    Features of different blocks are orthogonal: their matrix has a part for every block.
    """
    K = scale.size
    part, parts = _parts(r, x, i, K)
    V, lower, leverage, w = np.empty((parts, d, d)), np.empty((parts, d, d)), np.empty(K), np.empty(d)
    count = 0
    for a in range(K):
        count += scale[a] > 0.0
    for a in range(K):
        q[a] = 1.0 / count if scale[a] > 0.0 else 0.0
    for _ in range(_STEPS):
        V[:] = 0.0
        for a in range(K):
            for j in range(d):
                step = q[a] * scale[a] * entry(x, r, i, a, j)
                for k in range(j + 1):
                    V[part[a], j, k] += step * entry(x, r, i, a, k)
        rank = 0
        for b in range(parts):
            rank += decompose(V[b], lower[b])
        top, total = 0.0, 0.0
        for a in range(K):
            leverage[a] = 0.0
            own = lower[part[a]]
            for j in range(d):
                w[j] = entry(x, r, i, a, j)
                for m in range(j):
                    w[j] -= own[j, m] * w[m]
                w[j] = w[j] / own[j, j] if own[j, j] > 0.0 else 0.0
                leverage[a] += scale[a] * w[j] ** 2
            top = max(top, leverage[a])
            total += q[a] * leverage[a]
        if top <= ACCURACY * rank:
            break
        for a in range(K):
            q[a] *= leverage[a] / total


@kernel
def diverge(models: Counted, root: Array, beta: float, open_: Mask, share: float, p: Array) -> None:
    """Probabilities ``p (K,)`` for the models that count, as ``information.inform`` has them.

    ``p = q f``, normalised: ``f(a) = exp(-gap(a)^2 / (beta S(a)))`` with ``S`` the variance of the gap, and ``q`` has
    ``share`` on the best, the rest in equal parts on the designs of the maps by their weights and on every action.
    """
    x, weight, variance, maps, dims = models.x, models.weight, models.variance, models.maps, models.dims
    P, K, _ = sizes(x)
    own, mean, spread, close = np.empty((weight.size, K)), np.zeros(K), np.zeros(K), np.zeros(K)
    leader, _ = foresee(models, open_, own, mean)
    w, square, apart = np.empty((K + 1, root.shape[2])), np.empty(K), np.empty(K)
    believed, width = np.zeros(P), np.zeros(P, dtype=np.int64)
    for c in range(weight.size):
        believed[maps[c]] += weight[c]
        width[maps[c]] = dims[c]
        measure(c, models, leader, root, w, square, apart)
        for a in range(K):
            between = (own[c, leader] - own[c, a]) - (mean[leader] - mean[a])
            spread[a] += weight[c] * (variance[c] * apart[a] + between**2)
    best = offered = 0
    for a in range(K):
        if open_[a]:
            offered += 1
            best += mean[a] == mean[leader]
            gap = mean[leader] - mean[a]
            if gap == 0.0:
                close[a] = 1.0
            elif spread[a] > 0.0:
                exponent = gap**2 / (beta * spread[a])
                close[a] = math.exp(-exponent) if exponent < FARTHEST else 0.0
    rest, q, total = 0.5 * (1.0 - share), np.empty(K), 0.0
    for a in range(K):
        p[a] = rest / offered + (share / best if mean[a] == mean[leader] else 0.0)
    for i in range(P):
        if believed[i] > 0.0:
            design(0, x, i, width[i], close, q)
            for a in range(K):
                p[a] += rest * believed[i] * q[a]
    for a in range(K):
        p[a] *= close[a]
        total += p[a]
    for a in range(K):
        p[a] /= total


@kernel
def divergent_ridges(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    dims: Index,
    beliefs: Beliefs,
    offered: Mask,
    share: float,
    p: Array,
) -> None:
    """Probabilities ``p (n, K)`` with a bank of ridges over maps, and features as they come.

    After t rewards ``beta = (sqrt(logdet + 2 log(t + 1)) + 1)^2``, in units of the noise, with the mean of the models'
    logdet: without the part of the level of rewards, on which no gap depends, that of the constant term or with blocks
    the ``level`` that their constants are counted from.
    """
    open_ = np.ones(sizes(x)[1], dtype=np.bool_)
    for r in range(ids.size):
        n = ids[r]
        if offered.size > 1:
            open_ = offered[r]
        models = counted_ridges(r, n, x, theta, dims, beliefs, open_)
        t = beliefs.updates[n]
        logdet = 0.0
        if beliefs.precision > 0.0:
            logdet = -undivided(models.x, models.place, models.weight) * math.log1p(t / beliefs.precision)
        for c in range(models.weight.size):
            k = models.place[c]
            logdet += models.weight[c] * (beliefs.evidence[n, LOGDET, k] - (beliefs.level[k] if t > 0 else 0.0))
        beta = (math.sqrt(max(logdet, 0.0) + 2.0 * math.log1p(t)) + 1.0) ** 2
        diverge(models, root[n], beta, open_, share, p[r])
