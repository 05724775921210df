"""Information-directed play: what every action would teach, what playing the best costs, which two actions to mix.

References: Russo, Van Roy, "Learning to optimize via information-directed sampling", Operations Research 2018.
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel
from .features import sizes, undivided
from .posterior import ROOT_HALF, Beliefs, Counted, counted_ridges, counted_tiles, foresee, measure

CLOSE = 0.05  #: how far from one the expected number of exceeding actions may be where a bound on regret is taken
_DENSITY = 0.3989422804014327  # of a standard normal at 0


@inlined
def common_part(n: int, beliefs: Beliefs, share: float) -> float:
    """``log(1 + share v)`` with ``v`` the variance of the constant term of lane ``n``, all else known; 0 without one.

    ``share``: the weight of the models in which all actions have it in common.
    """
    return math.log1p(share / (beliefs.precision + beliefs.updates[n])) if beliefs.precision > 0.0 else 0.0


@inlined
def excess(mean: float, deviation: float) -> tuple[float, float, float]:
    """Return ``E (Z)^+``, ``P(Z > 0)`` and the density at 0 of ``Z ~ N(mean, deviation^2)``."""
    if deviation <= 0.0 or abs(mean) > 9.0 * deviation:
        return (mean, 1.0, 0.0) if mean > 0.0 else (0.0, 0.0, 0.0)
    z = mean / deviation
    above = 0.5 * math.erfc(-ROOT_HALF * z)
    density = _DENSITY * math.exp(-0.5 * z * z)
    return mean * above + deviation * density, above, density / deviation


@inlined
def expected_regret(leader: int, weight: Array, gap: Array, deviation: Array, open_: Mask) -> float:
    """Estimate ``E max_a Z_a`` for ``Z_a = f(a) - f(leader)``, under model c normal: ``gap[c, a], deviation[c, a]``.

    It lies between ``max_a E (Z_a)^+`` and ``c + sum_a E (Z_a - c)^+`` for every ``c >= 0``, which is least where on
    average one ``Z_a`` exceeds ``c`` (Lai and Robbins 1976): found by Newton steps, or halving where they leave. The
    estimate is the middle of the two bounds: at least half of what it estimates.
    """
    lower = 0.0
    upper = np.inf
    threshold = left = right = 0.0
    for a in range(gap.shape[1]):
        if open_[a]:
            for c in range(weight.size):
                right = max(right, gap[c, a] + 9.0 * deviation[c, a])
    for _ in range(20):
        total = threshold
        count = 0.0
        slope = 0.0
        for a in range(gap.shape[1]):
            if not open_[a] or a == leader:
                continue
            own = 0.0
            for c in range(weight.size):
                gain, above, density = excess(gap[c, a] - threshold, deviation[c, a])
                own += weight[c] * gain
                count += weight[c] * above
                slope += weight[c] * density
            total += own
            if threshold == 0.0:
                lower = max(lower, own)
        upper = min(upper, total)
        if abs(count - 1.0) <= CLOSE or (count < 1.0 and threshold == 0.0):
            break
        if count > 1.0:
            left = threshold
        else:
            right = threshold
        threshold += (count - 1.0) / slope if slope > 0.0 else np.inf
        if not left < threshold < right:
            threshold = 0.5 * (left + right)
    return 0.5 * (lower + upper)


@inlined
def mix_two(
    leader: int,
    mean: Array,
    taught: Array,
    regret: float,
    open_: Mask,
    floor: float,
    p: Array,
) -> None:
    """Give the best mixture of the leader and another action its probabilities ``p (K,)``.

    It minimises ``(D + q g(a))^2 / (I(b) + q (I(a) - I(b)))`` over actions ``a`` and ``0 <= q <= 1``, with ``D`` the
    ``regret``, ``g`` the gaps of the ``mean``, ``I`` what is ``taught``. Equals share; ``floor`` is played uniformly.
    """
    K = mean.size
    b = leader
    least = np.inf
    share = 0.0
    for a in range(K):
        p[a] = 0.0
        if not open_[a] or taught[a] <= taught[b] or regret == 0.0:
            continue
        gap, more = mean[b] - mean[a], taught[a] - taught[b]
        q = 1.0
        if gap > 0.0:
            q = min(max(regret / gap - 2.0 * taught[b] / more, 0.0), 1.0)
        ratio = (regret + q * gap) ** 2 / (taught[b] + q * more)
        if ratio < least:
            least, share = ratio, q
            for c in range(a):
                p[c] = 0.0
        if ratio == least:
            p[a] = 1.0
    leaders = others = offered = 0
    for a in range(K):
        offered += open_[a]
        others += p[a] > 0.0
        leaders += open_[a] and mean[a] == mean[b] and taught[a] == taught[b]
    if others == 0:
        share = 0.0
    for a in range(K):
        if open_[a]:
            p[a] *= share / max(others, 1)
            if mean[a] == mean[b] and taught[a] == taught[b]:
                p[a] += (1.0 - share) / leaders
            p[a] = (1.0 - floor) * p[a] + floor / offered


@kernel
def inform(models: Counted, root: Array, common: float, open_: Mask, floor: float, p: Array) -> None:
    """Probabilities ``p (K,)`` for the models that count; ``root (G, d, d)`` are the roots of their ``V^-1``.

    ``common`` is what every reward teaches of the constant term, on which no decision depends.
    """
    weight, variance, place = models.weight, models.variance, models.place
    C, K = weight.size, sizes(models.x)[1]
    gap, deviation = np.empty((C, K)), np.empty((C, K))
    mean, taught = np.zeros(K), np.empty(K)
    leader, noise = foresee(models, open_, gap, mean)
    w, apart, square = np.empty((K + 1, root.shape[2])), np.empty(K), np.empty(K)
    while True:
        for a in range(K):
            taught[a] = 0.0
        for c in range(C):
            if c == 0 or place[c] != place[c - 1]:
                measure(c, models, leader, root, w, square, apart)
            for a in range(K):
                taught[a] += weight[c] * (variance[c] * square[a] + (gap[c, a] - mean[a]) ** 2)
                deviation[c, a] = math.sqrt(variance[c] * apart[a])
        best = leader
        for a in range(K):
            taught[a] = max(0.5 * (math.log1p(taught[a] / noise) - common), 0.0)
            if open_[a] and mean[a] == mean[best] and taught[a] > taught[best]:
                best = a
        if best == leader:
            break
        leader = best  # as good, and it teaches more
    for c in range(C):
        own = gap[c, leader]
        for a in range(K):
            gap[c, a] -= own
    regret = expected_regret(leader, weight, gap, deviation, open_)
    mix_two(leader, mean, taught, regret, open_, floor, p)


@kernel
def informed_ridges(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    dims: Index,
    beliefs: Beliefs,
    offered: Mask,
    floor: float,
    p: Array,
) -> None:
    """Probabilities ``p (n, K)`` with a bank of ridges over maps, and features as they come."""
    open_ = np.ones(sizes(x)[1], dtype=np.bool_)
    for r in range(ids.size):
        n = ids[r]
        if offered.size > 1:
            open_ = offered[r]
        models = counted_ridges(r, n, x, theta, dims, beliefs, open_)
        common = common_part(n, beliefs, undivided(models.x, models.place, models.weight))
        inform(models, root[n], common, open_, floor, p[r])


@kernel
def informed_tiles(
    ids: Index,
    x: Array,
    tiles: Array,
    root: Array,
    group: Index,
    beliefs: Beliefs,
    offered: Mask,
    floor: float,
    p: Array,
) -> None:
    """The same with ridges over one map, in tiles."""
    open_ = np.ones(sizes(x)[1], dtype=np.bool_)
    for r in range(ids.size):
        n = ids[r]
        if offered.size > 1:
            open_ = offered[r]
        models = counted_tiles(r, n, x, tiles, group, beliefs, open_)
        inform(models, root[n], common_part(n, beliefs, 1.0), open_, floor, p[r])
