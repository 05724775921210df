"""Information-directed play: mix the action that looks best with the one of least regret for its information.

Reference: Russo, Van Roy, "Learning to optimize via information-directed sampling", Operations Research 2018.
"""

import math
from typing import Any, ClassVar

import numpy as np

from ..kernels import inlined, kernel
from ..kernels.features import ALL_OFFERED, Features
from ..models.posterior import members, predictions, spreads
from ..types import Array, Index, Mask
from .play import Play

CLOSE = 0.05  #: ``expected_regret`` stops where the expected number of actions above its threshold is so close to 1
FAR = 7.0  #: so many standard deviations from 0, a normal variable has one sign: the other one has probability 1e-12
_DENSITY = 0.3989422804014327  # of a standard normal at 0


class Information(Play):
    r"""Mixes two actions: the leader b with probability 1 - q, another one with q.

    With w, f and :math:`s^2` the weights, predictions and noise variances of the members of a posterior, a bar for a
    mean by w, and :math:`\Delta` an estimate of the expected regret of playing b (``expected_regret``), it minimises
    the ratio of squared regret to information over a and :math:`0 \le q \le 1`:

    .. math:: \frac{(\Delta + q (\bar f(b) - \bar f(a)))^2}{I(b) + q (I(a) - I(b))}, \qquad
              I(a) = \max\left(\tfrac12 \log\left(1 + \frac{\mathrm{Var} f(a)}{\bar{s^2}}\right) - I_0, 0\right)

    b has the highest :math:`\bar f`, of several the highest I. :math:`\mathrm{Var} f(a)` is that within members and
    between them. :math:`I_0 = \tfrac12 \log(1 + 1 / (\epsilon + t))` is what any reward teaches of the constant term,
    on which no decision depends: its prior precision is :math:`\epsilon`, and t rewards count. Without one
    :math:`I_0 = 0`.

    While most rewards are 0, the small prior scales explain them best, and nothing seems worth exploring. So in the
    play, not in the weights that users see, they lend weight to a wider scale of their map (``posterior.lend``). Of a
    map with B blocks of several features, scales below :math:`10^{1.5}` lend it a share
    :math:`\min(1, c B^{1.5} / t)^2` of theirs, with c the constant ``models.map_mixture.LENT``. Without a constant
    term, the level of rewards decides which scale is probable, not the differences between actions: there they lend all
    of their weight at every t.

    Parameters
    ----------
    floor: probability of playing uniformly.
    """

    asks: ClassVar = ("beliefs", "lends")

    def __init__(self, floor: float) -> None:
        self.floor = float(floor)

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        ridges, beliefs = model.beliefs(ids, x, offered)
        mask = ALL_OFFERED if offered is None else offered
        return inform(ids, x.values, x.block, ridges, beliefs, mask, model.lends, self.floor)


@kernel
def inform(
    ids: Index, x: Any, block: Index, ridges: Any, beliefs: Any, offered: Mask, lends: Array, floor: float
) -> Array:
    """Return the probabilities ``(n, K)`` of a mixture, whose arrays are described in ``models.posterior``."""
    n, K = ids.size, x.shape[2]
    p, allowed = np.empty((n, K)), np.ones(K, dtype=np.bool_)
    for r in range(n):
        if offered.size > 1:
            allowed = offered[r]
        counted = members(r, ids[r], x, block, ridges, beliefs, allowed, lends)
        weight, common = counted[0], 0.5 * math.log1p(counted[11])  # I_0
        gap, deviation, mean, taught = np.empty((weight.size, K)), np.empty((weight.size, K)), np.empty(K), np.empty(K)
        leader, noise = predictions(counted, r, block, allowed, gap, mean)  # gap: predictions until the leader is known
        while True:
            spreads(counted, r, block, leader, gap, mean, deviation, taught)  # taught: first the variances
            best = leader
            for a in range(K):
                taught[a] = max(0.5 * math.log1p(taught[a] / noise) - common, 0.0)
                if allowed[a] and mean[a] == mean[best] and taught[a] > taught[best]:
                    best = a
            if best == leader:
                break
            leader = best  # as good, and it teaches more
        for c in range(weight.size):
            of_leader = gap[c, leader]
            for a in range(K):
                gap[c, a] -= of_leader
        regret = expected_regret(leader, weight, gap, deviation, allowed)
        mix_two(leader, mean, taught, regret, allowed, floor, p[r])
    return p


@inlined
def excess(mean: float, deviation: float) -> tuple[float, float, float]:
    """Return ``E (Z)^+``, ``P(Z > 0)`` and the density at 0 of ``Z ~ N(mean, deviation^2)``, to 1e-8 of each.

    Beyond ``FAR`` deviations Z has one sign. Within them its tail is a rational function (Hart 1968, no. 5666) times an
    exponential, the 64th power of a Taylor series: without branches, loops over actions become vector instructions.
    """
    near = abs(mean) < FAR * deviation
    z = mean / deviation if near else 0.0
    x, u = abs(z), -z * z / 128.0
    series = 1.0 / 362880.0 + u * (1.0 / 3628800.0 + u * (1.0 / 39916800.0))
    series = 1.0 / 720.0 + u * (1.0 / 5040.0 + u * (1.0 / 40320.0 + u * series))
    series = 1.0 / 6.0 + u * (1.0 / 24.0 + u * (1.0 / 120.0 + u * series))
    e = 1.0 + u * (1.0 + u * (0.5 + u * series))
    for _ in range(6):
        e *= e
    above = 33.912866078383 + x * (6.37396220353165 + x * (0.700383064443688 + x * 3.52624965998911e-2))
    above = 220.206867912376 + x * (221.213596169931 + x * (112.079291497871 + x * above))
    below = 16.064177579207 + x * (1.75566716318264 + x * 8.83883476483184e-2)
    below = 637.333633378831 + x * (296.564248779674 + x * (86.7807322029461 + x * below))
    tail = e * above / (440.413735824752 + x * (793.826512519948 + x * below))
    probability = 1.0 - tail if z > 0.0 else tail
    density = _DENSITY * e
    gain = mean * probability + deviation * density
    if not near:
        return max(mean, 0.0), 1.0 if mean > 0.0 else 0.0, 0.0
    return max(gain, 0.0), probability, density / deviation


@inlined
def expected_regret(leader: int, weight: Array, gap: Array, deviation: Array, allowed: Mask) -> float:
    """Estimate ``E max_a Z_a``, ``Z_a = f(a) - f(leader)``: of member c ``Z_a ~ N(gap[c, a], deviation[c, a]^2)``.

    Lower bound: ``max_a E (Z_a)^+``. Upper bound: ``h + sum_a E (Z_a - h)^+`` for any threshold ``h >= 0``, least where
    the expected number of actions with ``Z_a > h`` is 1, or at 0 if it is less there (Lai and Robbins 1976). Newton
    steps on the logarithm of this number, from ``h = 0``, or halving where they leave the bracket, stop within
    ``CLOSE`` of 1; the least upper bound on the way counts. The estimate is the middle of the two bounds: at least half
    of ``E max_a Z_a``. The leader does not count among the actions.
    """
    C, K = gap.shape
    lower, upper = 0.0, np.inf
    counts, gains = np.empty(K), np.empty(K)  # whether an action counts, and how much it may exceed the threshold
    for a in range(K):
        counts[a] = 1.0 if allowed[a] and a != leader else 0.0
    threshold = left = right = 0.0
    for c in range(C):
        for a in range(K):
            right = max(right, counts[a] * (gap[c, a] + FAR * deviation[c, a]))
    for step in range(20):
        number = slope = 0.0
        gains[:] = 0.0
        for c in range(C):
            for a in range(K):
                gain, above, density = excess(gap[c, a] - threshold, deviation[c, a])
                share = weight[c] * counts[a]
                gains[a] += share * gain
                number += share * above
                slope += share * density
        total = threshold
        for a in range(K):
            total += gains[a]
            if step == 0:
                lower = max(lower, gains[a])
        upper = min(upper, total)
        if abs(number - 1.0) <= CLOSE or (number < 1.0 and threshold == 0.0):
            break
        if number > 1.0:
            left = threshold
        else:
            right = threshold
        threshold += math.log(number) * number / slope if slope > 0.0 and number > 0.0 else np.inf
        if not left < threshold < right:
            threshold = 0.5 * (left + right)
    return 0.5 * (lower + upper)


@inlined
def mix_two(leader: int, mean: Array, taught: Array, regret: float, allowed: Mask, floor: float, p: Array) -> None:
    """Give the best mixture of the leader and another action its probabilities ``p (K,)``.

    It minimises ``(D + q g(a))^2 / (I(b) + q (I(a) - I(b)))`` over ``0 <= q <= 1`` and actions ``a`` that teach more
    than ``b``, with ``D`` the ``regret``, ``g`` the gaps of the ``mean``, ``I`` what is ``taught``. Actions of the same
    least ratio share q, those with mean and I of the leader 1 - q; q is 0 if ``D`` is 0. ``floor`` is played uniformly.
    """
    b, least, share = leader, np.inf, 0.0
    p[:] = 0.0
    for a in range(mean.size):
        if not allowed[a] or taught[a] <= taught[b] or regret == 0.0:
            continue
        gap, more = mean[b] - mean[a], taught[a] - taught[b]
        q = 1.0
        if gap > 0.0:
            q = min(max(regret / gap - 2.0 * taught[b] / more, 0.0), 1.0)
        ratio = (regret + q * gap) ** 2 / (taught[b] + q * more)
        if ratio < least:
            least, share = ratio, q
            p[:a] = 0.0
        if ratio == least:
            p[a] = 1.0
    leaders = others = offered = 0
    for a in range(mean.size):
        offered += allowed[a]
        others += p[a] > 0.0
        leaders += allowed[a] and mean[a] == mean[b] and taught[a] == taught[b]
    for a in range(mean.size):
        if allowed[a]:
            p[a] *= share / max(others, 1)
            if mean[a] == mean[b] and taught[a] == taught[b]:
                p[a] += (1.0 - share) / leaders
            p[a] = (1.0 - floor) * p[a] + floor / offered
