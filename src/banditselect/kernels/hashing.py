"""Hashed interactions: products of what is known of a context and of its items, each at the place of its hash."""

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from . import kernel

_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(1)


@kernel
def hashed_products(
    context: NDArray[np.uint64], x: Array, items: NDArray[np.uint64], z: Array, own: bool, seed: np.uint64, out: Array
) -> None:
    """Add every product ``x[i] z[a, j]`` to ``out[a]``, at the place and with the sign of the hash of both.

    ``context (p,)`` and ``items (K, m)`` are the hashes of the features whose values are ``x`` and ``z``. The hash of a
    pair is the next word of splitmix64 after one and golden ratio times the other, the seed put into both. With ``own``
    the features of either side are added alone, as if there were a 1 of hash 0 on the other.
    """
    K, m = items.shape
    width = np.uint64(out.shape[1])
    for a in range(K):
        for j in range(-1, m):
            value = z[a, j] if j >= 0 else 1.0
            if value == 0.0 or (j < 0 and not own):
                continue
            word = (seed ^ items[a, j] if j >= 0 else seed) * _GOLDEN
            for i in range(-1, context.size):
                if i < 0 and (j < 0 or not own):
                    continue
                h = word + (context[i] if i >= 0 else np.uint64(0)) + _GOLDEN
                h = (h ^ (h >> _30)) * _FIRST
                h = (h ^ (h >> _27)) * _SECOND
                h = h ^ (h >> _31)
                product = value * x[i] if i >= 0 else value
                place = np.int64(((h >> _32) * width) >> _32)
                out[a, place] += -product if h & _1 else product
