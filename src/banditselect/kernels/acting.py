"""From features to an action: scores, probabilities, counter-based random numbers, the act numbered.

Ties are shared equally. ``offered`` is a mask ``(n, K)``, or has no rows where every action is offered; an action not
offered has probability 0. A random number (Philox4x32-10) is a function of (key of the lane, number of the act, index
of the draw) and of nothing else, so a lane draws the same numbers whatever lanes stand beside it.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .features import entry, sizes

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint8]

_LOW = 0xFFFFFFFF


@kernel
def power_rates(ids: Index, updates: Index, scale: float, exponent: float, out: Array) -> None:
    """``out[r] = scale t ** exponent`` with ``t`` the updates of the row's lane."""
    for r in range(ids.size):
        out[r] = scale * float(updates[ids[r]]) ** exponent


@kernel
def inverse_gaps(score: Array, alpha: Array, offered: Mask, p: Array) -> None:
    """``p(a) = 1 / (kappa + alpha (best - score(a)))``, kappa the number of actions offered, the rest on the best."""
    K = score.shape[1]
    everything = offered.shape[0] == 0
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


@kernel
def best_actions(score: Array, offered: Mask, p: Array) -> None:
    """All probability on the actions of highest score."""
    K = score.shape[1]
    everything = offered.shape[0] == 0
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


@kernel
def upper_bounds(
    ids: Index, x: Array, theta: Array, root: Array, group: Index, dims: Index, squared: Array, scale: float, out: Array
) -> None:
    """``out[r, a] = max_i <x_i(a), theta_i> + scale rho_i |x_i(a)|_{V_g^-1}``, ``rho_i^2 = squared[n, i]``.

    Model ``i`` has ``dims[i]`` features and the root ``g = group[n, i]`` of ``V_g^-1 = root_g root_g'``. The maximum
    runs over the models with ``squared[n, i] >= 0``; a group without any costs nothing.
    """
    P, K, widest = sizes(x)
    width = np.empty((root.shape[1], K))
    known = np.empty(root.shape[1], dtype=np.bool_)
    w = np.empty(widest)
    for r in range(ids.size):
        n = ids[r]
        known[:] = False
        for a in range(K):
            out[r, a] = -np.inf
        for i in range(theta.shape[1]):
            if not squared[n, i] >= 0.0:
                continue
            p = i if P > 1 else 0
            g = group[n, i]
            d = dims[i]
            if not known[g]:
                known[g] = True
                for a in range(K):
                    for k in range(d):
                        w[k] = 0.0
                    for j in range(d):
                        value = entry(x, r, p, a, j)
                        for k in range(d):
                            w[k] += root[n, g, j, k] * value
                    total = 0.0
                    for k in range(d):
                        total += w[k] * w[k]
                    width[g, a] = math.sqrt(total)
            radius = scale * math.sqrt(squared[n, i])
            for a in range(K):
                total = radius * width[g, a]
                for j in range(d):
                    total += entry(x, r, p, a, j) * theta[n, i, j]
                out[r, a] = max(out[r, a], total)


@kernel
def optimistic(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    group: Index,
    dims: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    p: Array,
) -> None:
    """All probability on the actions of highest upper bound."""
    score = np.empty(p.shape)
    upper_bounds(ids, x, theta, root, group, dims, squared, scale, score)
    best_actions(score, offered, p)


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


@kernel
def uniform(key: int, number: int, draw: int) -> float:
    """Return a double in [0, 1) with 53 random bits."""
    a, b, _, _ = philox(key, number, draw)
    return ((a >> 5) * 67108864.0 + (b >> 6)) / 9007199254740992.0


@kernel
def draw_actions(
    ids: Index,
    keys: Index,
    numbers: Index,
    p: Array,
    action: Index,
    probability: Array,
) -> None:
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
        action[r] = chosen
        probability[r] = p[r, chosen]


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


@kernel
def begin(
    ids: Index,
    acts: Index,
    floor: Index,
    bits: Bits,
    x: Array,
    action: Index,
    numbers: Index,
    played: Array,
) -> bool:
    """Number one more act of each lane and take the features of what it plays, ``played[r, i] = x[r, i, action[r]]``.

    Returns False, and nothing is done, if the ring of some lane is full (see ``kernels.ledger``).
    """
    ring = 8 * bits.shape[1]
    for r in range(ids.size):
        if acts[ids[r]] - floor[ids[r]] >= ring:
            return False
    for r in range(ids.size):
        numbers[r] = acts[ids[r]]
        acts[ids[r]] += 1
        for i in range(played.shape[1]):
            for j in range(played.shape[2]):
                played[r, i, j] = entry(x, r, i, action[r], j)
    return True


@kernel
def draw_and_begin(
    ids: Index,
    keys: Index,
    acts: Index,
    floor: Index,
    bits: Bits,
    p: Array,
    x: Array,
    choice: Index,
    probability: Array,
    played: Array,
) -> bool:
    """``draw_actions``, then ``begin``; ``choice (2, n)`` gets the actions and their numbers."""
    draw_actions(ids, keys, acts, p, choice[0], probability)
    return begin(ids, acts, floor, bits, x, choice[0], choice[1], played)


@kernel
def optimistic_and_begin(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    group: Index,
    dims: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    keys: Index,
    acts: Index,
    floor: Index,
    bits: Bits,
    choice: Index,
    probability: Array,
    played: Array,
) -> bool:
    """``optimistic``, then ``draw_and_begin``."""
    p = np.empty((ids.size, sizes(x)[1]))
    optimistic(ids, x, theta, root, group, dims, squared, scale, offered, p)
    return draw_and_begin(ids, keys, acts, floor, bits, p, x, choice, probability, played)
