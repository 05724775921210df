"""Hashes of categories and words that are the same in every process and in every version of Python."""

import functools
import hashlib
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..types import Array, Index
from .records import is_missing

MOST = 50_000  #: values of a column that are cached
_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(1)


def category_key(value: Any) -> str | None:
    """Return a category as a word: 3, 3.0 and "3" are the same, True is 1; None if it is missing or no category."""
    if type(value) is str:
        return value
    if is_missing(value) or isinstance(value, list | tuple | dict | set | frozenset | np.ndarray):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    try:
        if isinstance(value, Decimal):
            value = float(value)
        if isinstance(value, int | float):
            return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
        return str(value)
    except Exception:  # an object may raise anything when it is written as text
        return None


def hash_of(*words: str) -> int:
    """Return 64 bits of a sequence of words; ``("ab", "c")`` and ``("a", "bc")`` differ."""
    parts = [word.encode("utf-8", "surrogatepass") for word in words]
    joined = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "little")


@functools.lru_cache(maxsize=1000)
def hashes_of(*names: str) -> NDArray[np.uint64]:
    """Return the hash of every name."""
    return np.array([hash_of(name) for name in names], dtype=np.uint64)


def bucket_and_sign(hashes: NDArray[np.uint64], width: int) -> tuple[Index, Array]:
    """Return the feature of every hash among ``width``, and its sign, as :func:`hashed_products` computes them.

    Two hashes that share a feature cancel as often as they add up.
    """
    bucket = ((hashes >> np.uint64(32)) * np.uint64(width)) >> np.uint64(32)
    return bucket.astype(np.int64), 1.0 - 2.0 * (hashes & np.uint64(1)).astype(float)


def cached_map(memory: dict[Any, Any], values: list[Any], make: Callable[[Any], Any], most: int = MOST) -> list[Any]:
    """Return ``make`` of every value, from the cache where it has one; a cache of more than ``most`` is emptied."""
    try:
        return [memory[value] for value in values]
    except (KeyError, TypeError):
        pass
    if len(memory) > most:
        memory.clear()
    found = []
    for value in values:
        try:
            if value not in memory:
                memory[value] = make(value)
            found.append(memory[value])
        except TypeError:  # not hashable: a list, a dict
            found.append(make(value))
    return found


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
