"""Regret balancing: which base plays next, and what it earned."""

import numpy as np

from ..types import Array, Index
from . import kernel
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
def refresh(ids: Index, plays: Index, bounds: Array, scale: float, exponent: float) -> None:
    """``bounds[n, i] = scale plays ** exponent`` where the bound is not known (NaN)."""
    for r in range(ids.size):
        n = ids[r]
        for i in range(plays.shape[1]):
            if np.isnan(bounds[n, i]):
                bounds[n, i] = scale * float(plays[n, i]) ** exponent


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
def share_out(ids: Index, plays: Index, earned: Array, bounds: Array, balancing: bool, share: Array) -> bool:
    """``share[r, i]``: the probability of base ``i`` to play next, equal among the best; tell whether there are ties.

    A base that has not played comes first. Then the best have the largest ``b_i = (earned_i + bound_i) / plays_i``, or,
    if ``balancing``, the smallest empirical regret ``plays_i max_j b_j - earned_i``.
    """
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
