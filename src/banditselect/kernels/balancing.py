"""Regret balancing: which base plays next, and what it earned."""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel
from .arrays import UNIT
from .features import clean
from .ledger import has_room
from .rounds import DONE, FULL, UNUSABLE


@kernel
def ready(ids: Index, x: Array, book: Index) -> int:
    """Tell whether features are usable and every ring has room: then what several bases play is played as a whole."""
    if not clean(x):
        return UNUSABLE
    return DONE if has_room(ids, book) else FULL


@kernel
def note(chosen: Index, share: Array, own: int, memo: Index) -> None:
    """Write who was chosen into ``memo (n, w)`` and, if ``own`` is 2, with which probability; -1 into the rest."""
    for r in range(chosen.size):
        memo[r, 0] = chosen[r]
        if own > 1:
            memo[r, 1] = max(int(np.rint(share[r] * UNIT)), 1)
        for j in range(own, memo.shape[1]):
            memo[r, j] = -1


@inlined
def refresh(ids: Index, plays: Index, bounds: Array, scale: Array, exponent: Array) -> None:
    """``bounds[n, i] = scale_i plays ** exponent_i`` where it is not known (NaN); it stays so for a scale of NaN."""
    for r in range(ids.size):
        n = ids[r]
        for i in range(plays.shape[1]):
            if np.isnan(bounds[n, i]):
                bounds[n, i] = scale[i] * float(plays[n, i]) ** exponent[i]


@kernel
def stale(ids: Index, plays: Index, bounds: Array, found: Index) -> int:
    """Write lane and base of every bound that is not known (NaN) of a base that has played; return how many there are.

    ``found (n M, 2)``.
    """
    count = 0
    for r in range(ids.size):
        n = ids[r]
        for i in range(plays.shape[1]):
            if plays[n, i] > 0 and np.isnan(bounds[n, i]):
                found[count, 0], found[count, 1] = n, i
                count += 1
    return count


@kernel
def share_out(
    ids: Index,
    plays: Index,
    earned: Array,
    bounds: Array,
    scale: Array,
    exponent: Array,
    balancing: bool,
    share: Array,
) -> bool:
    """``share[r, i]``: the probability of base ``i`` to play next, equal among the best; tell whether there are ties.

    A base that has not played comes first. Then the best have the largest ``b_i = (earned_i + bound_i) / plays_i``, or,
    if ``balancing``, the smallest empirical regret ``plays_i max_j b_j - earned_i``. Bounds: see ``refresh``.
    """
    refresh(ids, plays, bounds, scale, exponent)
    M = plays.shape[1]
    value = np.empty(M)
    tied = False
    for r in range(ids.size):
        n = ids[r]
        best = -np.inf
        for i in range(M):
            value[i] = (earned[n, i] + bounds[n, i]) / plays[n, i] if plays[n, i] > 0 else np.inf
            best = max(best, value[i])
        if balancing and best < np.inf:
            level = best
            best = -np.inf
            for i in range(M):
                value[i] = earned[n, i] - plays[n, i] * level
                best = max(best, value[i])
        ties = 0
        for i in range(M):
            ties += value[i] == best
        tied = tied or ties > 1
        for i in range(M):
            share[r, i] = 1.0 / ties if value[i] == best else 0.0
    return tied


@kernel
def record(ids: Index, base: Index, y: Array, plays: Index, earned: Array, bounds: Array) -> None:
    """Count the rewards ``y (n,)`` of the bases that played ``(n,)``; their bounds are to be asked for anew."""
    for r in range(ids.size):
        n, i = ids[r], base[r]
        plays[n, i] += 1
        earned[n, i] += y[r]
        bounds[n, i] = np.nan


@inlined
def radius(plays: int, width: float, log_term: float) -> float:
    """``width sqrt((log log 2n + log_term) / n)``: how far a mean of ``n = plays`` rewards may lie from expectation."""
    return width * math.sqrt((math.log(math.log(2.0 * plays)) + log_term) / plays)


@inlined
def stand(
    ids: Index,
    plays: Index,
    earned: Array,
    bounds: Array,
    scale: Array,
    exponent: Array,
    bias: float,
    spread: Array,
    width: Array,
    log_term: float,
    among: Mask,
) -> None:
    """Leave ``among (n, M)`` the bases whose bound on regret no other has shown to be too small.

    ``(earned_i + bound_i) / plays_i - bias_i + spread_i >= max_j earned_j / plays_j - bias_j - spread_j``, j among
    them, where ``bias_i = bias scale_i t ** (exponent_i - 1)`` after t rounds, 0 for a ``bias`` of 0; ``spread`` is the
    ``radius``, NaN where it is not known. A base that has not played stands, and so does the one of the maximum.
    """
    refresh(ids, plays, bounds, scale, exponent)
    M = plays.shape[1]
    mean = np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        t = 0
        for i in range(M):
            t += plays[n, i]
        level = -np.inf
        power, grown = np.nan, 0.0
        for i in range(M):
            if plays[n, i] > 0:
                if np.isnan(spread[n, i]):
                    spread[n, i] = radius(plays[n, i], width[n], log_term)
                mean[i] = earned[n, i] / plays[n, i]
                if bias > 0.0:
                    if exponent[i] != power:  # most often all are the same
                        power, grown = exponent[i], float(t) ** (exponent[i] - 1.0)
                    mean[i] -= bias * scale[i] * grown
                if among[r, i]:
                    level = max(level, mean[i] - spread[n, i])
        for i in range(M):
            if plays[n, i] > 0 and mean[i] + bounds[n, i] / plays[n, i] + spread[n, i] < level:
                among[r, i] = False


@inlined
def share_least(ids: Index, plays: Index, value: Array, among: Mask, share: Array) -> None:
    """``share[r, i] = 1`` for the first of the bases ``among (n, M)`` that has not played, or else of least value."""
    M = plays.shape[1]
    for r in range(ids.size):
        n = ids[r]
        best = -1
        least = np.inf
        for i in range(M):
            share[r, i] = 0.0
            worth = value[n, i] if plays[n, i] > 0 else -np.inf
            if among[r, i] and (best < 0 or worth < least):
                best, least = i, worth
        share[r, best] = 1.0


@kernel
def share_tested(
    ids: Index,
    plays: Index,
    earned: Array,
    bounds: Array,
    scale: Array,
    exponent: Array,
    bias: float,
    spread: Array,
    width: Array,
    log_term: float,
    alive: Mask,
    share: Array,
) -> None:
    """Give the next round to the base of least bound, of those ``alive (N, M)`` that ``stand``."""
    among = alive[ids]
    stand(ids, plays, earned, bounds, scale, exponent, bias, spread, width, log_term, among)
    share_least(ids, plays, bounds, among, share)


@kernel
def eliminate(
    ids: Index,
    plays: Index,
    earned: Array,
    bounds: Array,
    scale: Array,
    exponent: Array,
    bias: float,
    spread: Array,
    width: Array,
    log_term: float,
    alive: Mask,
) -> None:
    """Leave ``alive (N, M)``, of these lanes, the bases that ``stand``."""
    among = alive[ids]
    stand(ids, plays, earned, bounds, scale, exponent, bias, spread, width, log_term, among)
    for r in range(ids.size):
        alive[ids[r]] = among[r]


@kernel
def share_potential(ids: Index, plays: Index, potential: Array, share: Array) -> None:
    """Give the next round to the base of least potential."""
    share_least(ids, plays, potential, np.ones((ids.size, plays.shape[1]), dtype=np.bool_), share)


@kernel
def record_tested(ids: Index, base: Index, y: Array, plays: Index, earned: Array, bounds: Array, spread: Array) -> None:
    """Count rewards as ``record`` does; the radii of the bases that played are not known any more, either."""
    record(ids, base, y, plays, earned, bounds)
    for r in range(ids.size):
        spread[ids[r], base[r]] = np.nan


@kernel
def record_regret(
    ids: Index,
    base: Index,
    y: Array,
    plays: Index,
    earned: Array,
    coefficient: Array,
    potential: Array,
    smallest: float,
    doubling: bool,
    spread: Array,
    width: Array,
    log_term: float,
) -> None:
    """Count rewards, and estimate from them the regret ``coefficient_i sqrt(plays_i)`` of the bases that played.

    ``excess_i = sqrt(plays_i) (max_j (earned_j / plays_j - spread_j) - earned_i / plays_i - spread_i)``. If
    ``doubling``, a coefficient below it is doubled and the potential is the regret; else the coefficient is
    ``max(smallest, excess)`` and the potential the regret, but at least what it was and at most twice that.
    ``spread`` is the ``radius``, NaN where it is not known.
    """
    for r in range(ids.size):
        n, i = ids[r], base[r]
        plays[n, i] += 1
        earned[n, i] += y[r]
        spread[n, i] = np.nan
        level = -np.inf
        for j in range(plays.shape[1]):
            if plays[n, j] > 0:
                if np.isnan(spread[n, j]):
                    spread[n, j] = radius(plays[n, j], width[n], log_term)
                level = max(level, earned[n, j] / plays[n, j] - spread[n, j])
        root = math.sqrt(plays[n, i])
        excess = root * (level - earned[n, i] / plays[n, i] - spread[n, i])
        if not doubling:
            coefficient[n, i] = max(smallest, excess)
            potential[n, i] = max(potential[n, i], min(coefficient[n, i] * root, 2.0 * potential[n, i]))
        else:
            if coefficient[n, i] < excess:
                coefficient[n, i] *= 2.0
            potential[n, i] = coefficient[n, i] * root
