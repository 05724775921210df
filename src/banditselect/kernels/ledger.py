"""Which acts of a lane have been learned, in one bit per act that is not settled yet.

Lane ``n`` has acted ``acts[n]`` times; every act below ``floor[n]`` is learned; for the acts in between, bit
``k mod 8 W`` of the row ``bits[n]`` (a ring of ``W`` bytes) tells. Rewards that arrive keep the ring short; a reward
that never arrives costs one bit per later act.
"""

import numpy as np
from numpy.typing import NDArray

from . import kernel

Index = NDArray[np.int64]
Bits = NDArray[np.uint8]


@kernel
def unlearned(ids: Index, numbers: Index, acts: Index, floor: Index, bits: Bits) -> int:
    """Return the first row whose act is unknown or already learned, -1 if there is none."""
    ring = 8 * bits.shape[1]
    for r in range(ids.size):
        n = ids[r]
        k = numbers[r]
        if k < floor[n] or k >= acts[n]:
            return r
        k %= ring
        if (bits[n, k >> 3] >> (k & 7)) & 1:
            return r
    return -1


@kernel
def settle(ids: Index, numbers: Index, acts: Index, floor: Index, bits: Bits, rounds: Index) -> int:
    """Mark these acts as learned, raise the floor over every act learned without a gap, count the rounds.

    If some row's act is unknown or already learned, nothing is done and that row is returned; else -1.
    """
    bad = unlearned(ids, numbers, acts, floor, bits)
    if bad >= 0:
        return bad
    ring = 8 * bits.shape[1]
    for r in range(ids.size):
        n = ids[r]
        rounds[n] += 1
        k = numbers[r] % ring
        bits[n, k >> 3] |= np.uint8(1 << (k & 7))
        k = floor[n] % ring
        while (bits[n, k >> 3] >> (k & 7)) & 1:
            bits[n, k >> 3] &= np.uint8(255 - (1 << (k & 7)))
            floor[n] += 1
            k = floor[n] % ring
    return -1


@kernel
def widen(acts: Index, floor: Index, bits: Bits, wider: Bits) -> None:
    """Copy every lane's ring into a wider one."""
    old = 8 * bits.shape[1]
    new = 8 * wider.shape[1]
    for n in range(acts.size):
        for number in range(floor[n], acts[n]):
            k = number % old
            if (bits[n, k >> 3] >> (k & 7)) & 1:
                k = number % new
                wider[n, k >> 3] |= np.uint8(1 << (k & 7))
