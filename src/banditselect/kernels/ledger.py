"""Which acts of a lane have been learned, in one bit per act that is not settled yet.

The book of lane ``n`` is a row of whole numbers: ``book[n, ACTS]`` acts so far; every act below ``book[n, FLOOR]`` is
learned; ``book[n, ROUNDS]`` rewards were; the rest is a ring of bits, 64 to the number, that tells for the acts between
floor and acts. Rewards that arrive keep the ring short; a reward that never arrives costs one bit per later act.
"""

import numpy as np

from ..types import Index
from . import inlined, kernel

ACTS, FLOOR, ROUNDS = 0, 1, 2
RING = 3  #: where the ring begins
MOST = 1 << 62  #: numbers of acts and of actions are below it

UNNUMBERED: Index = np.empty(0, dtype=np.int64)  #: the numbers of what no act stands for
NO_BOOK: Index = np.empty((0, RING + 1), dtype=np.int64)  #: for what its caller has written down already


@inlined
def has_room(ids: Index, book: Index) -> bool:
    """Tell whether the ring of every row's lane has room for one more act."""
    waiting = 0
    for r in range(ids.size):
        waiting = max(waiting, book[ids[r], ACTS] - book[ids[r], FLOOR])
    return waiting < 64 * (book.shape[1] - RING)


@inlined
def unlearned(ids: Index, numbers: Index, book: Index) -> int:
    """Return the first row whose act is unknown or already learned, -1 if there is none."""
    ring = 64 * (book.shape[1] - RING)
    for r in range(ids.size):
        n = ids[r]
        k = numbers[r]
        if k < book[n, FLOOR] or k >= book[n, ACTS]:
            return r
        k %= ring
        if (book[n, RING + (k >> 6)] >> (k & 63)) & 1:
            return r
    return -1


@inlined
def settle(ids: Index, numbers: Index, book: Index) -> int:
    """Mark these acts as learned, raise the floor over every act learned without a gap, count the rounds.

    If some row's act is unknown or already learned, nothing is done and that row is returned; else -1. What no act
    stands for is ``UNNUMBERED``: only its round is counted, if there is a book.
    """
    if numbers.size == 0:
        for r in range(ids.size if book.shape[0] else 0):
            book[ids[r], ROUNDS] += 1
        return -1
    bad = unlearned(ids, numbers, book)
    if bad >= 0:
        return bad
    ring = 64 * (book.shape[1] - RING)
    one = np.int64(1)
    for r in range(ids.size):
        n = ids[r]
        book[n, ROUNDS] += 1
        k = numbers[r] % ring
        book[n, RING + (k >> 6)] |= one << (k & 63)
        k = book[n, FLOOR] % ring
        while (book[n, RING + (k >> 6)] >> (k & 63)) & 1:
            book[n, RING + (k >> 6)] &= ~(one << (k & 63))
            book[n, FLOOR] += 1
            k = book[n, FLOOR] % ring
    return -1


@kernel
def widen(book: Index, wider: Index) -> None:
    """Copy every lane's row into a longer one of zeros."""
    old = 64 * (book.shape[1] - RING)
    new = 64 * (wider.shape[1] - RING)
    one = np.int64(1)
    for n in range(book.shape[0]):
        for c in range(RING):
            wider[n, c] = book[n, c]
        for number in range(book[n, FLOOR], book[n, ACTS]):
            k = number % old
            if (book[n, RING + (k >> 6)] >> (k & 63)) & 1:
                k = number % new
                wider[n, RING + (k >> 6)] |= one << (k & 63)
