"""What drawing the instances of a problem repeats: normals, linear rewards, numbers of items.

References: Doornik, "An improved ziggurat method to generate normal random samples", 2005; Doty-Humphrey, PractRand
(SFC64, the generator of random words, which NumPy has too).
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Index = NDArray[np.int64]
Words = NDArray[np.uint32]
Bits = NDArray[np.uint64]

_TAIL = 3.6541528853610088  #: where the tail begins for 256 layers of equal area


def _edges() -> Array:
    """Return the right edges of the layers, ``(257,)``; layer 0 is the base and holds the tail."""
    density = math.exp(-0.5 * _TAIL**2)
    area = _TAIL * density + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    edges = [area / density, _TAIL]
    while len(edges) < 256:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0])


_EDGES = _edges()
_PER_WORD = 2.0**-32
_PER_STEP = 2.0**-23  #: 24 bits of a word make a number in (-1, 1), symmetric about 0
_SHIFT = 1.0 - 2.0**-24
_WORDS = 1 << 12  #: random words drawn at a time: few enough that what becomes of them stays in the fastest cache


@kernel
def _rarely(words: Words, used: int, i: int, z: float) -> tuple[float, int]:
    """Go on where ``z`` of layer ``i`` is outside the rectangle below: return the normal and how many words are used.

    More than there are means that the words were used up before.
    """
    while used + 2 <= words.size:
        u = (int(words[used]) + 0.5) * _PER_WORD
        v = (int(words[used + 1]) + 0.5) * _PER_WORD
        used += 2
        if i == 0:
            beyond = -math.log(u) / _TAIL
            if -2.0 * math.log(v) > beyond * beyond:
                return math.copysign(_TAIL + beyond, z), used
        else:
            above = math.exp(-0.5 * (_EDGES[i] * _EDGES[i] - z * z))
            below = math.exp(-0.5 * (_EDGES[i + 1] * _EDGES[i + 1] - z * z))
            if below + u * (above - below) < 1.0:
                return z, used
            i = int(words[used - 1]) & 255
            z = (int(words[used - 1]) >> 8) * _PER_STEP - _SHIFT
            z *= _EDGES[i]
            if abs(z) < _EDGES[i + 1]:
                return z, used
    return 0.0, words.size + 1


@kernel
def random_words(state: Bits, out: Bits) -> None:
    """Fill ``out`` with random words of 64 bits, after ``state (4,)``, which moves on: three words and a counter.

    Sums wrap around; as plain Python it needs ``np.errstate(over="ignore")``.
    """
    a, b, c, count = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        word = a + b + count
        count += np.uint64(1)
        a = b ^ (b >> np.uint64(11))
        b = c + (c << np.uint64(3))
        c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
        out[k] = word
    state[0], state[1], state[2], state[3] = a, b, c, count


@kernel
def normals(words: Words, out: Single) -> tuple[int, int]:
    """Turn random words into standard normals until ``out`` is full or the words are used up.

    Returns how many normals were made and how many words they took; one word makes a normal in 98.8 cases of 100.
    """
    made, used = 0, 0
    while made < out.size and used < words.size:
        word = int(words[used])
        i = word & 255
        z = ((word >> 8) * _PER_STEP - _SHIFT) * _EDGES[i]
        if abs(z) < _EDGES[i + 1]:
            used += 1
        else:
            z, after = _rarely(words, used + 1, i, z)
            if after > words.size:
                break
            used = after
        out[made] = z
        made += 1
    return made, used


@kernel
def place(x: NDArray[np.floating], scale: float, center: Array, theta: Array, values: Array) -> float:
    """Let ``x (n, M, d)`` become ``center + scale x``; ``values[j] = <x[j, 0], theta>``; return the largest norm."""
    longest = 0.0
    for j in range(x.shape[0]):
        for i in range(x.shape[1]):
            squared = 0.0
            for k in range(x.shape[2]):
                x[j, i, k] = center[k] + scale * np.float64(x[j, i, k])
                squared += np.float64(x[j, i, k]) ** 2
            longest = max(longest, squared)
        total = 0.0
        for k in range(x.shape[2]):
            total += x[j, 0, k] * theta[k]
        values[j] = total
    return math.sqrt(longest)


@kernel
def gaussian_items(state: Bits, x: Single, scale: float, center: Array, theta: Array, values: Array) -> float:
    """Fill ``x (n, M, d)`` with standard normals, which are placed as by ``place``; return the largest norm.

    A few items at a time, so that each is placed while it is in the cache. ``state`` is that of ``random_words``.
    """
    flat, size = x.reshape(-1), x.shape[1] * x.shape[2]
    fresh = np.empty(_WORDS, dtype=np.uint64)
    halves = fresh.view(np.uint32)
    words = np.empty(3 * _WORDS, dtype=np.uint32)
    made, placed, left = 0, 0, 0
    longest = 0.0
    while made < flat.size:
        random_words(state, fresh)
        for k in range(halves.size):
            words[left + k] = halves[k]
        count, used = normals(words[: left + halves.size], flat[made:])
        made += count
        rest = left + halves.size - used
        for k in range(rest):
            words[k] = words[used + k]
        left = rest
        done = made // size
        longest = max(longest, place(x[placed:done], scale, center, theta, values[placed:done]))
        placed = done
    return longest


@kernel
def repeats(items: Index, out: NDArray[np.bool_]) -> None:
    """Tell for every row of ``items (n, k)`` whether a number occurs twice."""
    for r in range(items.shape[0]):
        out[r] = False
        for a in range(items.shape[1]):
            for b in range(a):
                out[r] |= items[r, a] == items[r, b]


@kernel
def renumber(items: Index, number: Index) -> int:
    """Number items as they first appear in ``items (T, K)``; ``number`` is -1 for all. Return how many there are."""
    count = 0
    for t in range(items.shape[0]):
        for a in range(items.shape[1]):
            j = items[t, a]
            if number[j] < 0:
                number[j] = count
                count += 1
            items[t, a] = number[j]
    return count
