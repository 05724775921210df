"""Information-directed play: how sure each model is, what every action would teach, which two actions to mix.

A model ``k`` is a linear regression with an unknown noise level (normal-inverse-gamma): ``evidence`` as in
``kernels.ridge``, a weight, a variance. Of M maps and J prior scales, model ``j M + i`` is map ``i`` at scale ``j``.

References: Russo, Van Roy, "Learning to optimize via information-directed sampling", Operations Research 2018.
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel
from .features import entry, sizes
from .ridge import LOGDET, PENALISED
from .selection import normalise

NEGLIGIBLE = 1e-3  #: models are left out of an act whose weights sum to less
CLOSE = 0.05  #: how far above one the expected number of exceeding actions may be where a bound on regret is taken
_ROOT_HALF = 0.7071067811865476
_DENSITY = 0.3989422804014327  # of a standard normal at 0

FIRST = 0  #: moments: the first reward, which all others are counted from; 0 without a constant term
MEAN = 1  #: mean of the rewards less the first; 0 without a constant term
SQUARES = 2  #: sum of their squared distances from that mean


@kernel
def meet(ids: Index, x: Array, size: Array) -> None:
    """Let the squared norm of the first features ``x (n, P, d)`` that are not zero be the size of a map."""
    for r in range(ids.size):
        for i in range(x.shape[1]):
            if size[ids[r], i] == 0.0:
                for j in range(x.shape[2]):
                    size[ids[r], i] += x[r, i, j] ** 2


@kernel
def center_rewards(ids: Index, y: Array, updates: Index, moments: Array, constant: bool, out: Array) -> None:
    """Take in rewards ``y (n,)`` after ``updates (N,)`` others; ``out`` has them less the first, with a constant."""
    for r in range(ids.size):
        n = ids[r]
        if constant and updates[n] == 0:
            moments[n, FIRST] = y[r]
        out[r] = y[r] - moments[n, FIRST]
        before = out[r] - moments[n, MEAN]
        if constant:
            moments[n, MEAN] += before / (updates[n] + 1)
        moments[n, SQUARES] += before * (out[r] - moments[n, MEAN])


@inlined
def log_inside(center: float, deviation: float, window: Array) -> float:
    """``log P(window[0] < Z < window[1])`` for ``Z ~ N(center, deviation^2)``; not below that of 1e-300."""
    high = math.erfc(_ROOT_HALF * (center - window[1]) / deviation)
    low = math.erfc(_ROOT_HALF * (center - window[0]) / deviation)
    return math.log(max(0.5 * (high - low), 1e-300))


@inlined
def weigh(
    n: int,
    evidence: Array,
    updates: Index,
    moments: Array,
    log_prior: Array,
    known: Array,
    expected: Array,
    window: Array,
    trust: float,
    constant: bool,
    log_weight: Array,
    weight: Array,
    variance: Array,
) -> None:
    """Posterior ``weight`` and ``variance`` of every model of lane ``n``, ``(models,)``.

    With a noise variance ``known[n] > 0``: by the Gaussian evidence. Else the variance has an inverse gamma prior of
    shape ``trust`` about ``expected[n, k]``, or about the variance of the rewards so far where that is 0. While all
    rewards are equal nothing is known of the noise, and nothing depends on it: it is 1.
    """
    t = updates[n]
    spread = moments[n, SQUARES] / max(t - 1.0 if constant else float(t), 1.0)
    for k in range(weight.size):
        log_weight[k] = log_prior[n, k] - 0.5 * evidence[n, LOGDET, k]
        loss = 0.5 * evidence[n, PENALISED, k]
        if known[n] > 0.0:
            variance[k] = known[n]
            log_weight[k] -= loss / known[n]
            continue
        about = expected[n, k] if expected[n, k] > 0.0 else spread
        variance[k] = 1.0
        if about > 0.0:
            scale, shape = trust * about + loss, trust + 0.5 * t
            variance[k] = scale / shape
            log_weight[k] += trust * math.log(about) - shape * math.log(scale)
            if expected[n, k] > 0.0:
                log_weight[k] += log_inside(math.log(variance[k] / about), 1.0 / math.sqrt(shape), window[:, k])
    normalise(log_weight, weight)


@kernel
def weigh_rows(
    ids: Index,
    evidence: Array,
    updates: Index,
    moments: Array,
    log_prior: Array,
    known: Array,
    expected: Array,
    window: Array,
    trust: float,
    precision: float,
    log_weight: Array,
    weight: Array,
    variance: Array,
) -> None:
    """``weigh`` for every row."""
    constant = precision > 0.0
    for r in range(ids.size):
        u, w, v = log_weight[r], weight[r], variance[r]
        weigh(ids[r], evidence, updates, moments, log_prior, known, expected, window, trust, constant, u, w, v)


@inlined
def alive(weight: Array, variance: Array, chosen: Index) -> int:
    """Move the models that count to the front of ``weight`` and ``variance (models,)``; return how many they are.

    ``chosen`` says which they are; their weights then sum to 1.
    """
    count = 0
    total = 0.0
    for k in range(weight.size):
        if weight[k] * weight.size >= NEGLIGIBLE:
            chosen[count] = k
            total += weight[k]
            weight[count], variance[count] = weight[k], variance[k]
            count += 1
    for c in range(count):
        weight[c] /= total
    return count


@inlined
def common_part(precision: float, updates: int) -> float:
    """``log(1 + v)`` with ``v`` the variance of a constant term of this prior precision, all else known."""
    return math.log1p(1.0 / (precision + updates)) if precision > 0.0 else 0.0


@inlined
def excess(mean: float, deviation: float) -> tuple[float, float, float]:
    """Return ``E (Z)^+``, ``P(Z > 0)`` and the density at 0 of ``Z ~ N(mean, deviation^2)``."""
    if deviation <= 0.0 or abs(mean) > 9.0 * deviation:
        return (mean, 1.0, 0.0) if mean > 0.0 else (0.0, 0.0, 0.0)
    z = mean / deviation
    above = 0.5 * math.erfc(-_ROOT_HALF * z)
    density = _DENSITY * math.exp(-0.5 * z * z)
    return mean * above + deviation * density, above, density / deviation


@kernel
def expected_regret(leader: int, weight: Array, gap: Array, deviation: Array, open_: Mask) -> float:
    """Estimate ``E max_a Z_a`` for ``Z_a = f(a) - f(leader)``, under model c normal: ``gap[c, a], deviation[c, a]``.

    It lies between ``max_a E (Z_a)^+`` and ``c + sum_a E (Z_a - c)^+`` for every ``c >= 0``, which is least where on
    average one ``Z_a`` exceeds ``c`` (Lai and Robbins 1976) and found by Newton steps from the left. The estimate is
    the middle of the two bounds: at least half of what it estimates.
    """
    lower = 0.0
    upper = np.inf
    threshold = 0.0
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
        if count <= 1.0 + CLOSE or slope <= 0.0:
            break
        threshold += (count - 1.0) / slope
    return 0.5 * (lower + upper)


@kernel
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
        if not open_[a] or taught[a] <= taught[b]:
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


@inlined
def measure(r: int, x: Array, i: int, leader: int, d: int, root: Array, w: Array, square: Array, apart: Array) -> None:
    """``square[a] = |x_i(a)|^2_{V^-1}`` and ``apart[a]`` the same of the difference to the leader; ``w (5, d)``."""
    K = square.size
    for k in range(d):
        w[4, k] = 0.0
    for j in range(d):
        for k in range(d):
            w[4, k] += root[j, k] * entry(x, r, i, leader, j)
    for first in range(0, K, 4):  # four actions for every reading of the root; the last may stand in for more
        b, c, e = min(first + 1, K - 1), min(first + 2, K - 1), min(first + 3, K - 1)
        for k in range(d):
            w[0, k] = w[1, k] = w[2, k] = w[3, k] = 0.0
        for j in range(d):
            x_0, x_1 = entry(x, r, i, first, j), entry(x, r, i, b, j)
            x_2, x_3 = entry(x, r, i, c, j), entry(x, r, i, e, j)
            for k in range(d):
                w[0, k] += root[j, k] * x_0
                w[1, k] += root[j, k] * x_1
                w[2, k] += root[j, k] * x_2
                w[3, k] += root[j, k] * x_3
        for a in range(first, e + 1):
            square[a] = apart[a] = 0.0
            for k in range(d):
                square[a] += w[a - first, k] ** 2
                apart[a] += (w[a - first, k] - w[4, k]) ** 2


@kernel
def inform(
    r: int,
    x: Array,
    weight: Array,
    variance: Array,
    theta: Array,
    maps: Index,
    place: Index,
    dims: Index,
    root: Array,
    common: float,
    open_: Mask,
    floor: float,
    p: Array,
) -> None:
    """Probabilities ``p (K,)`` of row ``r`` for C models: weights, variances ``(C,)`` and estimates ``theta (C, d)``.

    Model ``c`` reads the first ``dims[c]`` features of map ``maps[c]`` and has the root ``root[place[c]]`` of ``V^-1``.
    ``common`` is what every reward teaches of the constant term, on which no decision depends.
    """
    _, K, widest = sizes(x)
    C = weight.size
    gap, deviation = np.empty((C, K)), np.empty((C, K))
    mean, taught, noise = np.zeros(K), np.empty(K), 0.0
    for c in range(C):
        noise += weight[c] * variance[c]
        for a in range(K):
            gap[c, a] = 0.0
            for j in range(dims[c]):
                gap[c, a] += entry(x, r, maps[c], a, j) * theta[c, j]
            mean[a] += weight[c] * gap[c, a]
    leader = -1
    for a in range(K):
        if open_[a] and (leader < 0 or mean[a] > mean[leader]):
            leader = a
    w, apart, square = np.empty((5, widest)), np.empty(K), np.empty(K)
    while True:
        for a in range(K):
            taught[a] = 0.0
        for c in range(C):
            if c == 0 or place[c] != place[c - 1]:
                measure(r, x, maps[c], leader, dims[c], root[place[c]], w, square, apart)
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
    evidence: Array,
    updates: Index,
    moments: Array,
    log_prior: Array,
    known: Array,
    expected: Array,
    window: Array,
    trust: float,
    precision: float,
    offered: Mask,
    floor: float,
    p: Array,
) -> None:
    """Probabilities ``p (n, K)`` with a bank of ridges over maps; ``precision`` of the constant term, 0 if none."""
    P, K, widest = sizes(x)
    models = theta.shape[1]
    u, w, v = np.empty(models), np.empty(models), np.empty(models)
    chosen, open_ = np.empty(models, dtype=np.int64), np.ones(K, dtype=np.bool_)
    some, maps, widths = np.empty((models, widest)), np.empty(models, dtype=np.int64), np.empty(models, dtype=np.int64)
    for r in range(ids.size):
        n = ids[r]
        constant = precision > 0.0
        weigh(n, evidence, updates, moments, log_prior, known, expected, window, trust, constant, u, w, v)
        C = alive(w, v, chosen)
        for c in range(C):
            maps[c] = chosen[c] % P
            widths[c] = dims[chosen[c]]
            for j in range(widest):
                some[c, j] = theta[n, chosen[c], j]
        if offered.size > 1:
            open_ = offered[r]
        inform(
            r,
            x,
            w[:C],
            v[:C],
            some,
            maps,
            chosen,
            widths,
            root[n],
            common_part(precision, updates[n]),
            open_,
            floor,
            p[r],
        )


@kernel
def informed_tiles(
    ids: Index,
    x: Array,
    tiles: Array,
    root: Array,
    group: Index,
    evidence: Array,
    updates: Index,
    moments: Array,
    log_prior: Array,
    known: Array,
    expected: Array,
    window: Array,
    trust: float,
    precision: float,
    offered: Mask,
    floor: float,
    p: Array,
) -> None:
    """The same with ridges over one map, in tiles (see ``kernels.tiles``)."""
    _, K, widest = sizes(x)
    models, B = group.shape[1], tiles.shape[3]
    u, w, v = np.empty(models), np.empty(models), np.empty(models)
    chosen, open_ = np.empty(models, dtype=np.int64), np.ones(K, dtype=np.bool_)
    some, place = np.empty((models, widest)), np.empty(models, dtype=np.int64)
    maps, widths = np.zeros(models, dtype=np.int64), np.full(models, widest)
    for r in range(ids.size):
        n = ids[r]
        constant = precision > 0.0
        weigh(n, evidence, updates, moments, log_prior, known, expected, window, trust, constant, u, w, v)
        C = alive(w, v, chosen)
        for c in range(C):
            place[c] = group[n, chosen[c]]
            for j in range(widest):
                some[c, j] = tiles[n, chosen[c] // B, j, chosen[c] % B]
        if offered.size > 1:
            open_ = offered[r]
        inform(
            r,
            x,
            w[:C],
            v[:C],
            some,
            maps,
            place,
            widths,
            root[n],
            common_part(precision, updates[n]),
            open_,
            floor,
            p[r],
        )
