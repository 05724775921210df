"""Kernels that draw the instances of problems: normals and linear rewards.

References: Box, Muller, "A note on the generation of random normal deviates", 1958; Steele, Lea, Flood, "Fast
splittable pseudorandom number generators", 2014 (SplitMix64, the generator of random words).
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..types import Array

Single = NDArray[np.float32]
Words = NDArray[np.uint32]
Bits = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOG = (  #: -2 log(1 + x) / x between sqrt(1/2) - 1 and sqrt(2) - 1, up to 6e-8 of it; the highest power first
    *map(np.float32, (-0.1748789070, 0.2875466113, -0.2989819095, 0.3312139198, -0.3991395497)),
    *map(np.float32, (0.5000430692, -0.6666836668, 0.9999997406, -1.9999999485)),
)
_SIN = (  #: sin(pi x) / x in powers of x^2 for x between -1/2 and 1/2, up to 4e-8 of it; the highest power first
    *map(np.float32, (0.07765766031, -0.5982912856, 2.5500775232, -5.1677100835, 3.1415926401)),
)
_ONE, _HALF, _LOG_4 = np.float32(1.0), np.float32(0.5), np.float32(2.0 * math.log(2.0))
_PER_WORD, _PER_TURN = np.float32(2.0**-32), np.float32(2.0**-31)
_LAST = 0xFFFFFFFF  #: the largest word
_ROOT = np.int32(0x3F3504F3)  #: the bits of sqrt(1/2)
_FRACTION = 0x7FFFFF  #: the bits of a number of single precision behind its exponent
_QUARTER = 1 << 30  #: a quarter of a turn, where a turn is 2^32
_PIECE = 1 << 11  #: normals drawn at a time: few enough that all that becomes of them stays in the fastest cache


@kernel
def random_words(state: Bits, out: Bits) -> None:
    """Fill ``out`` with random words of 64 bits, after ``state (1,)``, a counter that moves on.

    Sums and products wrap around; as plain Python it needs ``np.errstate(over="ignore")``.
    """
    start = state[0]
    for k in range(out.size):
        word = start + np.uint64(k + 1) * _STEP
        word = (word ^ (word >> np.uint64(30))) * _FIRST
        word = (word ^ (word >> np.uint64(27))) * _SECOND
        out[k] = word ^ (word >> np.uint64(31))
    state[0] = start + np.uint64(out.size) * _STEP


@kernel
def _radius(word: np.uint32) -> np.float32:
    r"""Return :math:`\sqrt{-2 \log u}` for ``u = (word + 1/2) / 2^32``.

    :math:`2^{32} u = 2^e (1 + x)` with ``1 + x`` between sqrt(1/2) and sqrt(2), read from the bits of the number; for
    u above 3/4 the difference from 1 is taken before anything is rounded.
    """
    bits = np.float32(np.float32(word) + _HALF).view(np.int32)
    above = np.int32(bits - _ROOT)
    x = np.int32((above & _FRACTION) + _ROOT).view(np.float32) - _ONE
    if word > 3 * _QUARTER:
        x = -_PER_WORD * (np.float32(np.uint32(_LAST - word)) + _HALF)
    log = np.float32(0.0)
    for c in _LOG:
        log = log * x + c
    return np.float32(math.sqrt(np.float32(np.int32(32 - (above >> 23))) * _LOG_4 + x * log))


@kernel
def _minus_cosine(turn: np.int32) -> np.float32:
    """Return minus the cosine of an angle, of which 2^32 is a full turn: a sine between -1/4 and 1/4 of a turn."""
    x = np.float32(np.int32(abs(turn) - _QUARTER)) * _PER_TURN
    sine = np.float32(0.0)
    for c in _SIN:
        sine = sine * (x * x) + c
    return x * sine


@kernel
def normals(words: Words, deviation: float, out: Single) -> None:
    r"""Turn random words into as many normals of mean 0: entries k and n + k of 2n are the two of one pair.

    .. math:: -\sigma \sqrt{-2 \log u} \cos \phi, \quad \sigma \sqrt{-2 \log u} \sin \phi

    with u from word k and :math:`\phi` from word n + k, whose last bit is not used: none is 0, and none is further
    than 6.8 deviations away. No branches, single precision: the compiler makes several pairs at once.
    """
    n = out.size // 2
    turns, scale = words.view(np.int32), np.float32(deviation)
    for k in range(n):
        radius = scale * _radius(words[k])
        turn = np.int32(turns[n + k] | 1)
        out[k] = radius * _minus_cosine(turn)
        out[n + k] = radius * _minus_cosine(np.int32(turn + _QUARTER))


@kernel
def measure(x: NDArray[np.floating], theta: Array, values: Array) -> float:
    """Return the largest norm in ``x (n, M, d)``; ``values[j] = <x[j, 0], theta>``."""
    longest = 0.0
    for j in range(x.shape[0]):
        for i in range(x.shape[1]):
            squared = 0.0
            for k in range(x.shape[2]):
                squared += np.float64(x[j, i, k]) ** 2
            longest = max(longest, squared)
        total = 0.0
        for k in range(x.shape[2]):
            total += x[j, 0, k] * theta[k]
        values[j] = total
    return math.sqrt(longest)


@kernel
def gaussian_items(state: Bits, x: Single, deviation: float, center: Array, theta: Array, values: Array) -> float:
    """Fill ``x (n, M, d)`` with normals around ``center (d,)`` and ``measure`` them; return the largest norm.

    A few items at a time, so that each is measured while it is in the cache. ``state`` is that of ``random_words``.
    """
    n, d, size = x.shape[0], x.shape[2], x.shape[1] * x.shape[2]
    flat, few = x.reshape(-1), max(1, _PIECE // size)
    words = np.empty((few * size + 1) // 2, dtype=np.uint64)
    z, around = np.empty(2 * words.size, dtype=np.float32), np.empty(size, dtype=np.float32)
    for k in range(size):
        around[k] = center[k % d]
    longest = 0.0
    for first in range(0, n, few):
        last = min(first + few, n)
        random_words(state, words)
        normals(words.view(np.uint32), deviation, z)
        for j in range(last - first):
            for k in range(size):
                flat[(first + j) * size + k] = around[k] + z[j * size + k]
        longest = max(longest, measure(x[first:last], theta, values[first:last]))
    return longest
