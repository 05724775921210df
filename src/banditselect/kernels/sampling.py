"""Counter-based random numbers (Philox4x32-10) and what is drawn with them.

The number drawn is a function of (key of the lane, number of the act, index of the draw) and of nothing else, so a
lane draws the same numbers whatever lanes stand beside it and whatever was asked of it before.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel

_LOW = 0xFFFFFFFF


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
    ids: NDArray[np.int64],
    keys: NDArray[np.int64],
    numbers: NDArray[np.int64],
    p: NDArray[np.float64],
    action: NDArray[np.int64],
    probability: NDArray[np.float64],
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
def standard_normals(
    ids: NDArray[np.int64], keys: NDArray[np.int64], numbers: NDArray[np.int64], out: NDArray[np.float64]
) -> None:
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
    ids: NDArray[np.int64],
    acts: NDArray[np.int64],
    floor: NDArray[np.int64],
    bits: NDArray[np.uint8],
    x: NDArray[np.float64],
    action: NDArray[np.int64],
    numbers: NDArray[np.int64],
    played: NDArray[np.float64],
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
        for i in range(x.shape[1]):
            for j in range(x.shape[3]):
                played[r, i, j] = x[r, i, action[r], j]
    return True


@kernel
def draw_and_begin(
    ids: NDArray[np.int64],
    keys: NDArray[np.int64],
    acts: NDArray[np.int64],
    floor: NDArray[np.int64],
    bits: NDArray[np.uint8],
    p: NDArray[np.float64],
    x: NDArray[np.float64],
    action: NDArray[np.int64],
    probability: NDArray[np.float64],
    numbers: NDArray[np.int64],
    played: NDArray[np.float64],
) -> bool:
    """``draw_actions``, then ``begin``."""
    draw_actions(ids, keys, acts, p, action, probability)
    return begin(ids, acts, floor, bits, x, action, numbers, played)
