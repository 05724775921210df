"""From features to an action: scores, probabilities, counter-based random numbers, the act numbered.

Ties are shared equally. ``offered`` is a mask ``(n, K)``, or ``ALL_OFFERED``, which has one entry; an action not
offered has probability 0. A random number (Philox4x32-10) is a function of (key of the lane, number of the act, index
of the draw) and of nothing else, so a lane draws the same numbers whatever lanes stand beside it.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..types import Array, Index, Mask
from . import inlined, kernel
from .features import behind, cell, entry, sizes
from .ledger import ACTS, has_room

Drawn = NDArray[np.void]  # of dtype DRAWN

DRAWN = np.dtype([("action", np.int64), ("number", np.int64), ("probability", np.float64)])
"""What is drawn for a row: the action, the number of the act, the probability of the action."""

ALL_OFFERED: Mask = np.ones((1, 1), dtype=bool)
"""The mask where every action is offered, whatever their number."""

_LOW = 0xFFFFFFFF


def mask_of(offered: Mask | None) -> Mask:
    """Return the mask that kernels read; None where every action is offered."""
    return ALL_OFFERED if offered is None else offered


@inlined
def rates(ids: Index, grown: Array, scale: float, exponent: float, out: Array) -> None:
    """``out[r] = scale g ** exponent`` with ``g = grown[n]`` of the row's lane: its number of updates, or a rate."""
    for r in range(ids.size):
        out[r] = scale * float(grown[ids[r]]) ** exponent


@inlined
def inverse_gaps(score: Array, alpha: Array, offered: Mask, p: Array) -> None:
    """``p(a) = 1 / (kappa + alpha (best - score(a)))``, kappa the number of actions offered, the rest on the best."""
    K = score.shape[1]
    everything = offered.size < 2
    for r in range(score.shape[0]):
        best = -np.inf
        kappa = 0
        for a in range(K):
            if everything or offered[r, a]:
                kappa += 1
                best = max(best, score[r, a])
        ties = 0
        spent = 0.0
        for a in range(K):
            p[r, a] = 0.0
            if everything or offered[r, a]:
                if score[r, a] == best:
                    ties += 1
                else:
                    p[r, a] = 1.0 / (kappa + alpha[r] * (best - score[r, a]))
                    spent += p[r, a]
        for a in range(K):
            if (everything or offered[r, a]) and score[r, a] == best:
                p[r, a] = (1.0 - spent) / ties


@inlined
def best_actions(score: Array, offered: Mask, p: Array) -> None:
    """All probability on the actions of highest score."""
    K = score.shape[1]
    everything = offered.size < 2
    for r in range(score.shape[0]):
        best = -np.inf
        ties = 0
        for a in range(K):
            if everything or offered[r, a]:
                if score[r, a] > best:
                    best = score[r, a]
                    ties = 0
                if score[r, a] == best:
                    ties += 1
        for a in range(K):
            p[r, a] = 1.0 / ties if (everything or offered[r, a]) and score[r, a] == best else 0.0


@inlined
def model_bounds(
    r: int, n: int, i: int, x: Array, theta: Array, root: Array, d: int, radius: float, w: Array, out: Array
) -> None:
    """``out[a] = <x_i(a), theta_i> + radius |x_i(a)|_{V_i^-1}`` of one model with ``d`` features; ``w (4, d)`` is room.

    ``V_i^-1 = root_i root_i'``.
    """
    K = sizes(x)[1]
    for first in range(0, K, 4):  # four actions for every reading of the root; the last may stand in for more
        b, c, e = min(first + 1, K - 1), min(first + 2, K - 1), min(first + 3, K - 1)
        g_0, g_1, g_2, g_3 = cell(x, r, i, first), cell(x, r, i, b), cell(x, r, i, c), cell(x, r, i, e)
        for k in range(d):
            w[0, k] = w[1, k] = w[2, k] = w[3, k] = 0.0
        for j in range(d):
            x_0, x_1 = entry(x, r, i, first, j), entry(x, r, i, b, j)
            x_2, x_3 = entry(x, r, i, c, j), entry(x, r, i, e, j)
            for k in range(d):
                w[0, k] += root[n, g_0, j, k] * x_0
                w[1, k] += root[n, g_1, j, k] * x_1
                w[2, k] += root[n, g_2, j, k] * x_2
                w[3, k] += root[n, g_3, j, k] * x_3
        for a in range(first, e + 1):
            g = cell(x, r, i, a)
            square = 0.0
            mean = 0.0
            for k in range(d):
                square += w[a - first, k] * w[a - first, k]
                mean += entry(x, r, i, a, k) * theta[n, g, k]
            out[a] = mean + radius * math.sqrt(square)


@inlined
def upper_bounds(
    ids: Index, x: Array, theta: Array, root: Array, dims: Index, squared: Array, scale: float, out: Array
) -> None:
    """``out[r, a] = max_i <x_i(a), theta_i> + scale rho_i |x_i(a)|_{V_i^-1}``, ``rho_i^2 = squared[n, i]``.

    Model ``i`` has ``dims[i]`` features. The maximum runs over the models with ``squared[n, i] >= 0``; the others cost
    nothing.
    """
    _, K, widest = sizes(x)
    w, bound = np.empty((4, widest)), np.empty(K)
    for r in range(ids.size):
        n = ids[r]
        for a in range(K):
            out[r, a] = -np.inf
        for i in range(dims.size):
            if not squared[n, i] >= 0.0:
                continue
            model_bounds(r, n, i, x, theta, root, dims[i], scale * math.sqrt(squared[n, i]), w, bound)
            for a in range(K):
                out[r, a] = max(out[r, a], bound[a])


@kernel
def every_bound(
    ids: Index, x: Array, theta: Array, root: Array, dims: Index, squared: Array, scale: float, out: Array
) -> None:
    """``out[r, i, a] = <x_i(a), theta_i> + scale rho_i |x_i(a)|_{V_i^-1}``, ``rho_i^2 = squared[n, i]``."""
    w = np.empty((4, sizes(x)[2]))
    for r in range(ids.size):
        n = ids[r]
        for i in range(dims.size):
            radius = scale * math.sqrt(squared[n, i])
            model_bounds(r, n, i, x, theta, root, dims[i], radius, w, out[r, i])


@kernel
def philox(key: int, number: int, draw: int) -> tuple[int, int, int, int]:
    """Return four 32-bit words for the counter ``(number, draw)`` under a 64-bit ``key``, after ten rounds."""
    k0 = key & _LOW
    k1 = (key >> 32) & _LOW
    c0 = number & _LOW
    c1 = (number >> 32) & _LOW
    c2 = draw & _LOW
    c3 = (draw >> 32) & _LOW
    for _ in range(10):
        p0 = 0xD2511F53 * c0
        p1 = 0xCD9E8D57 * c2
        c0 = ((p1 >> 32) & _LOW) ^ c1 ^ k0
        c1 = p1 & _LOW
        c2 = ((p0 >> 32) & _LOW) ^ c3 ^ k1
        c3 = p0 & _LOW
        k0 = (k0 + 0x9E3779B9) & _LOW
        k1 = (k1 + 0xBB67AE85) & _LOW
    return c0, c1, c2, c3


@inlined
def uniform(key: int, number: int, draw: int) -> float:
    """Return a double in [0, 1) with 53 random bits."""
    a, b, _, _ = philox(key, number, draw)
    return ((a >> 5) * 67108864.0 + (b >> 6)) / 9007199254740992.0


@inlined
def draw_actions(ids: Index, keys: Index, numbers: Index, p: Array, drawn: Drawn) -> None:
    """Draw one action per row from ``p (n, K)`` by inversion; ``numbers (N,)`` counts the acts of every lane."""
    K = p.shape[1]
    for r in range(ids.size):
        n = ids[r]
        u = uniform(int(keys[n]), int(numbers[n]), 0)
        chosen = -1
        reached = 0.0
        for a in range(K):
            if p[r, a] > 0.0:
                reached += p[r, a]
                chosen = a
                if u < reached:
                    break
        drawn[r]["action"] = chosen
        drawn[r]["probability"] = p[r, chosen]


@kernel
def standard_normals(ids: Index, keys: Index, numbers: Index, out: Array) -> None:
    """Fill ``out (n, d)`` with independent standard normals (Box and Muller), draws 1, 2, ... of each lane's act."""
    d = out.shape[1]
    for r in range(ids.size):
        n = ids[r]
        for j in range(0, d, 2):
            a, b, c, e = philox(int(keys[n]), int(numbers[n]), 1 + j // 2)
            u = ((a >> 5) * 67108864.0 + (b >> 6) + 0.5) / 9007199254740992.0
            v = ((c >> 5) * 67108864.0 + (e >> 6)) / 9007199254740992.0
            radius = math.sqrt(-2.0 * math.log(u))
            out[r, j] = radius * math.cos(2.0 * math.pi * v)
            if j + 1 < d:
                out[r, j + 1] = radius * math.sin(2.0 * math.pi * v)


@inlined
def take_played(x: Array, drawn: Drawn, played: Array) -> None:
    """``played[r, i] = x[r, i, action]`` for the actions ``drawn (n,)``, without what a policy put before features."""
    first = sizes(x)[2] + behind(x) - played.shape[2]
    for r in range(drawn.size):
        action = drawn[r]["action"]
        for i in range(played.shape[1]):
            for j in range(played.shape[2]):
                played[r, i, j] = entry(x, r, i, action, first + j)


@inlined
def begin(ids: Index, x: Array, book: Index, drawn: Drawn, played: Array) -> bool:
    """Number one more act of each lane and take the features of what it plays, ``played[r, i] = x[r, i, action]``.

    ``drawn (n,)`` has the actions and gets the numbers. Returns False, and nothing is done, if the ring of some lane is
    full (see ``kernels.ledger``).
    """
    if not has_room(ids, book):
        return False
    for r in range(ids.size):
        drawn[r]["number"] = book[ids[r], ACTS]
        book[ids[r], ACTS] += 1
    take_played(x, drawn, played)
    return True
