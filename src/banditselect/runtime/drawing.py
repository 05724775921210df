"""Random numbers and the draw of an action: a key per lane, a counter per act.

A random number (Philox4x32-10) is a function of the key of the lane, the number of the act and the index of the draw,
so a lane draws the same numbers in any set of lanes.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import inlined, kernel
from ..kernels.features import row_of
from ..types import Array, Index
from .lanes import LaneArrays
from .ledger import ACTS, FLOOR, RING

Seed = int | Sequence[int]
Channel = tuple[int | str, ...]

_LOW = 0xFFFFFFFF


@kernel
def commit(
    ids: Index, x: Any, block: Index, p: Array, keys: Index, book: Index, drawn: Index, share: Array, played: Array
) -> bool:
    """Draw an action per row from ``p (n, K)``, number the acts, take the features of the actions drawn.

    ``drawn (2, n)`` gets the actions and the numbers of the acts, ``share (n,)`` the probabilities of the actions,
    ``played (n, P, .)`` their features, and behind them their blocks, if any. ``keys (n,)`` are those of the streams.

    Returns False, and nothing is done, if a row of ``p`` is no distribution, or the ring of a lane is full.
    """
    n, K = p.shape
    for r in range(n):
        if book[ids[r], ACTS] - book[ids[r], FLOOR] >= 64 * (book.shape[1] - RING):
            return False
        total = 0.0
        for a in range(K):
            if not p[r, a] >= 0.0:
                return False
            total += p[r, a]
        if not abs(total - 1.0) <= 1e-9:
            return False
    P, d = played.shape[1], played.shape[2] - (1 if block.size > 0 else 0)
    for r in range(n):
        number = book[ids[r], ACTS]
        action = drawn_entry(p[r], keys[r], number)
        drawn[0, r], drawn[1, r], share[r] = action, number, p[r, action]
        book[ids[r], ACTS] += 1
        for i in range(P):
            row = row_of(x, r, i, action)
            for j in range(d):
                played[r, i, j] = row[j]
            if block.size > 0:
                played[r, i, d] = block[r, i, action]
    return True


class Streams(LaneArrays):
    """The keys of a policy's lanes.

    Lane ``j`` of a policy with seed ``s`` has the key of the path ``(*s, j)``, which is the key of a policy without
    lanes whose seed is ``(*s, j)``. ``channel`` separates the policies inside a master.
    """

    fixed = ("keys",)

    def __init__(self, seed: Seed, lanes: range | None, channel: Channel = ()) -> None:
        self.start(seed, lanes, channel)

    def start(self, seed: Seed, lanes: range | None, channel: Channel = ()) -> None:
        """Take the keys of these lanes; None for the one of an object without lanes."""
        path = seed_path(seed)
        paths = [path] if lanes is None else [(*path, lane) for lane in lanes]
        self.keys = np.array([key(p, channel) for p in paths], dtype=np.int64)

    def copy_lanes(self, ids: Index, other: "Streams") -> None:
        """Keep the keys: they belong to the lanes that draw."""

    def normals(self, ids: Index, numbers: Index, dim: int) -> Array:
        """Return standard normals ``(n, dim)`` for the next acts, of which every lane has seen ``numbers (N,)``."""
        out = np.empty((ids.size, dim))
        standard_normals(ids, self.keys, numbers, out)
        return out

    def draw(self, ids: Index, numbers: Index, p: Array) -> tuple[Index, Array]:
        """Draw one entry per row of ``p (n, K)``; return the entries and their probabilities, ``(n,)`` each."""
        drawn, probability = np.empty(ids.size, dtype=np.int64), np.empty(ids.size)
        draw(ids, self.keys, numbers, p, drawn, probability)
        return drawn, probability


def seed_path(seed: Seed) -> tuple[int, ...]:
    """Return a seed as a tuple of integers."""
    return (int(seed),) if isinstance(seed, int | np.integer) else tuple(int(part) for part in seed)


def key(path: tuple[int, ...], channel: Channel = ()) -> int:
    """Return the 64-bit key of a seed path, the same on every machine and in every version of NumPy."""
    digest = hashlib.blake2b(repr((path, channel)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


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
def drawn_entry(p: Array, key: int, number: int) -> int:
    """Return the first entry whose sum with those before is above a random number in [0, 1), or the last positive."""
    high, low, _, _ = philox(int(key), int(number), 0)
    u = ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0
    found = -1
    reached = 0.0
    for a in range(p.size):
        if p[a] > 0.0:
            found = a
            reached += p[a]
            if u < reached:
                break
    return found


@kernel
def draw(ids: Index, keys: Index, numbers: Index, p: Array, drawn: Index, probability: Array) -> None:
    """Draw one entry per row of ``p (n, K)``; ``numbers (N,)`` counts the acts of every lane."""
    for r in range(ids.size):
        drawn[r] = drawn_entry(p[r], keys[ids[r]], numbers[ids[r]])
        probability[r] = p[r, drawn[r]]


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
