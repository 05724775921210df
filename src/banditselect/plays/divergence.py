"""Minimum empirical divergence: how close to the best every action may be, and a design over those that are close.

References: Balagopalan, Jun, "Minimum empirical divergence for sub-Gaussian linear bandits", AISTATS 2025.
Cohen, Cousins, Lee, Yang, "A near-optimal algorithm for approximating the John ellipsoid", COLT 2019 (the design).
"""

import math
from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel
from ..kernels.features import ALL_OFFERED, Features
from ..kernels.ridge import LOGDET, dot, solve_lower
from ..models.posterior import INFORMATION, members, predictions, spreads
from ..types import Array, Index, Mask
from .play import Play

ACCURACY = 2.0  #: the largest leverage of a design may be this many times the least possible
FARTHEST = 230.0  #: an action is not played whose probability would be below exp(-230)
_STEPS = 100  # at most; the accuracy is reached after about 2 log(K / d)
_SINGULAR = 1e-12  # a pivot below this share of its diagonal entry is 0


class Divergence(Play):
    r"""Plays every action by how close to the best it may be, under a posterior over maps.

    .. math:: p(a) \propto q(a) f(a), \qquad f(a) = \exp\left(\frac{-g(a)^2}{\beta S(a)}\right)

    with g(a) the gap to the action of highest mean, S(a) its variance, and q a mixture: a share on the best, half of
    the rest on every action equally, half on designs of the maps by their weights. After t rewards
    :math:`\beta = (\sqrt{\ell + 2 \log(t + 1)} + 1)^2`, in units of the noise, with :math:`\ell` the mean of the
    members' logdet, without the part of the level of rewards, on which no gap depends.

    Parameters
    ----------
    best_share: what q has on the best.
    """

    asks: ClassVar = ("beliefs",)

    def __init__(self, best_share: float) -> None:
        self.best_share = float(best_share)

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        ridges, beliefs = model.beliefs(ids, x, offered)
        mask = ALL_OFFERED if offered is None else offered
        return diverge(ids, x.values, x.block, ridges, beliefs, mask, self.best_share)


@kernel
def diverge(ids: Index, x: Any, block: Index, ridges: Any, beliefs: Any, offered: Mask, best_share: float) -> Array:
    """Return the probabilities ``(n, K)`` of a mixture, ``ridges`` and ``beliefs`` as in ``models.posterior``."""
    p, allowed = np.empty((ids.size, x.shape[2])), np.ones(x.shape[2], dtype=np.bool_)
    for r in range(ids.size):
        if offered.size > 1:
            allowed = offered[r]
        counted = members(r, ids[r], x, block, ridges, beliefs, allowed)
        beta = _squared_radius(ids[r], counted, beliefs)
        _spread_by_closeness(r, counted, block, beta, allowed, best_share, p[r])
    return p


@kernel
def _squared_radius(n: int, counted: Any, beliefs: Any) -> float:
    """Return beta in lane ``n``."""
    evidence, seen, precision, level = beliefs[0], beliefs[1], beliefs[7], beliefs[8]
    weight, chosen = counted[0], counted[5]
    t = seen[n]
    logdet = -math.log1p(t / precision) if precision > 0.0 else 0.0
    for c in range(weight.size):
        k = chosen[c]
        logdet += weight[c] * evidence[n, LOGDET, k]
        if level[n, INFORMATION, k] > 0.0:
            logdet += weight[c] * math.log1p(level[n, INFORMATION, k] / precision)
    return (math.sqrt(max(logdet, 0.0) + 2.0 * math.log1p(t)) + 1.0) ** 2


@kernel
def _spread_by_closeness(
    r: int, counted: Any, block: Index, beta: float, allowed: Mask, best_share: float, p: Array
) -> None:
    """Write ``p = q f (K,)``, normalised, for the members that count in row ``r``."""
    weight, z, chosen, dims = counted[0], counted[2], counted[5], counted[8]
    P, K, C = z.shape[0], z.shape[2], weight.size
    each, deviation, mean, total = np.empty((C, K)), np.empty((C, K)), np.empty(K), np.empty(K)
    leader, _ = predictions(counted, r, block, allowed, each, mean)
    spreads(counted, r, block, leader, each, mean, deviation, total)
    spread, close, believed, width = np.zeros(K), np.zeros(K), np.zeros(P), np.zeros(P, dtype=np.int64)
    for c in range(C):
        believed[chosen[c] % P] += weight[c]
        width[chosen[c] % P] = dims[c]
        for a in range(K):
            between = (each[c, leader] - each[c, a]) - (mean[leader] - mean[a])
            spread[a] += weight[c] * (deviation[c, a] ** 2 + between**2)
    best = offered = 0
    for a in range(K):
        if allowed[a]:
            offered += 1
            best += mean[a] == mean[leader]
            gap = mean[leader] - mean[a]
            if gap == 0.0:
                close[a] = 1.0
            elif spread[a] > 0.0:
                exponent = gap**2 / (beta * spread[a])
                close[a] = math.exp(-exponent) if exponent < FARTHEST else 0.0
    rest = 0.5 * (1.0 - best_share)
    for a in range(K):
        p[a] = rest / offered + (best_share / best if mean[a] == mean[leader] else 0.0)
    for i in range(P):
        if believed[i] > 0.0:
            p += rest * believed[i] * design(z[i], block, r, i, width[i], close)
    p *= close
    p /= p.sum()


@kernel
def design(x: Array, block: Index, r: int, i: int, d: int, scale: Array) -> Array:
    """Return a design ``(K,)`` over features ``sqrt(scale[a]) x[a]`` of map ``i``, nearly G-optimal on their span.

    From equal weights, every weight is multiplied by its leverage until the largest leverage is at most ``ACCURACY``
    times the rank, which is the least possible. With at most twice as many actions as features it stays as it is.
    Features of different blocks are orthogonal: their matrix has a part for every block.
    """
    K = scale.size
    part, parts = _parts(block, r, i, K)
    V, lower, leverage, w = np.empty((parts, d, d)), np.empty((parts, d, d)), np.empty(K), np.empty(d)
    q = (scale > 0.0) / np.sum(scale > 0.0)
    for _ in range(_STEPS):
        V[:] = 0.0
        for a in range(K):
            for j in range(d):
                step = q[a] * scale[a] * x[j, a]
                for k in range(j + 1):
                    V[part[a], j, k] += step * x[k, a]
        rank = 0
        for b in range(parts):
            rank += decompose(V[b], lower[b])
        for a in range(K):
            w[:] = x[:d, a]
            solve_lower(lower[part[a]], w)
            leverage[a] = 0.0
            for j in range(d):
                leverage[a] += scale[a] * w[j] ** 2
        if leverage.max() <= ACCURACY * rank:
            break
        q *= leverage / dot(q, leverage)
    return q


@kernel
def _parts(block: Index, r: int, i: int, K: int) -> tuple[Index, int]:
    """Number the blocks of ``K`` actions as they first occur; return that of every action, and how many they are."""
    part, parts = np.zeros(K, dtype=np.int64), 0
    if block.size == 0:
        return part, 1
    number = np.full(block[r, i].max() + 1, -1)
    for a in range(K):
        b = block[r, i, a]
        if number[b] < 0:
            number[b] = parts
            parts += 1
        part[a] = number[b]
    return part, parts


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
