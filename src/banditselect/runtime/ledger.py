"""The acts of every lane: how many there were, and which of them have been learned.

The book of lane ``n`` is a row of whole numbers: ``book[n, ACTS]`` acts so far; every act below ``book[n, FLOOR]`` is
learned; ``book[n, ROUNDS]`` rewards were; ``book[n, LAST]`` is the act settled last, or -1; the rest is a ring of bits,
64 to the number, with a bit for every act between floor and acts that is set once the act is learned. Rewards that
arrive keep the ring short; a reward that never arrives costs one bit per later act.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..types import Index
from .lanes import LaneArrays

ACTS, FLOOR, ROUNDS, LAST = 0, 1, 2, 3
RING = 4  #: where the ring begins
MOST = 1 << 62  #: numbers of acts and of actions are below it

UNNUMBERED: Index = np.empty(0, dtype=np.int64)  #: the numbers of data without an act


class Ledger(LaneArrays):
    """Numbers the acts of every lane and remembers which were learned, in a bit per act that waits for its reward.

    Attributes
    ----------
    book: a row of whole numbers for every lane, described above.
    """

    state = ("book",)
    growing = ("book",)

    def __init__(self, lanes: int) -> None:
        self.book = np.zeros((lanes, RING + 1), dtype=np.int64)
        self.book[:, LAST] = -1

    @property
    def acts(self) -> Index:
        """Acts so far, ``(N,)``."""
        return self.book[:, ACTS]

    @property
    def rounds(self) -> Index:
        """Rewards learned so far, ``(N,)``."""
        return self.book[:, ROUNDS]

    def runs(self) -> dict[int, list[int]]:
        """Return the acts learned as runs, by lane: begin, end, begin, end, ..."""
        runs, ring = {}, 64 * (self.book.shape[1] - RING)
        for lane in np.flatnonzero(self.acts).tolist():
            row, floor = self.book[lane], int(self.book[lane, FLOOR])
            k = np.arange(floor, row[ACTS]) % ring
            bits = (row[RING + (k >> 6)] >> (k & 63)) & 1
            edges = floor + np.flatnonzero(np.diff(bits, prepend=0, append=0))
            runs[lane] = [*((0, floor) if floor else ()), *edges.tolist()]
        return runs

    def resume(self, acts: Index, learned: Mapping[int, list[int]]) -> None:
        """Keep the rounds, and begin anew after so many acts ``(N,)``, those in the runs learned."""
        rounds = self.rounds.copy()
        ends = np.zeros((acts.size, 2), dtype=np.int64)  # of the first run, if it begins with act 0, and of the last
        for lane, runs in learned.items():
            ends[lane] = 0 if runs[0] else runs[1], runs[-1]
        acts = np.maximum(acts, ends[:, 1])
        words = int((acts - ends[:, 0]).max()) // 64 + 1
        self.book = np.zeros((acts.size, RING + words), dtype=np.int64)
        self.book[:, ACTS], self.book[:, FLOOR], self.book[:, LAST] = acts, ends[:, 0], -1
        for lane, runs in learned.items():
            later = [np.arange(*run) for run in zip(runs[::2], runs[1::2], strict=True) if run[0]]
            for numbers in later:
                settle(np.full(numbers.size, lane), numbers, self.book)
        self.rounds[:] = rounds

    def check(self, name: str, array: NDArray[Any]) -> None:
        """Refuse a book that no acts have written: counts out of order, or more acts waiting than there are bits."""
        acts, floor, rounds, last = (array[:, k] for k in (ACTS, FLOOR, ROUNDS, LAST))
        ring = 64 * (array.shape[1] - RING)
        right = (floor >= 0) & (floor <= acts) & (acts < MOST) & (acts - floor <= ring)
        right &= (rounds >= 0) & (rounds < MOST) & (last >= -1) & (last < acts) & ((last < 0) | (floor - last <= ring))
        if not right.all():
            raise ValueError(f"array {name!r}: not a book of acts")

    def extend(self, other: Self) -> None:
        """Append the lanes of another ledger."""
        width = max(self.book.shape[1], other.book.shape[1])
        self._grow_to(width)
        other._grow_to(width)
        super().extend(other)

    def reset(self, ids: Index, fresh: Self) -> None:
        """Begin anew in these lanes, but count their acts on: no decision of before can be taken for a later one."""
        rows = np.zeros_like(self.book[ids])
        rows[:, ACTS] = rows[:, FLOOR] = self.acts[ids]
        rows[:, LAST] = -1
        self.book[ids] = rows  # at once: an interruption leaves a book of before or after

    def grow(self) -> None:
        """Double the rings."""
        self._grow_to(2 * self.book.shape[1] - RING)

    def _grow_to(self, width: int) -> None:
        wider = np.zeros((len(self.book), width), dtype=np.int64)
        widen(self.book, wider)
        self.book = wider


@kernel
def unlearned(ids: Index, numbers: Index, book: Index) -> int:
    """Return the first row whose act is unknown or already learned, else -1."""
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


@kernel
def settle(ids: Index, numbers: Index, book: Index) -> int:
    """Mark these acts as learned, raise the floor over every act learned without a gap, count the rounds.

    If some row's act is unknown or already learned, nothing is done and that row is returned; else -1. Data without
    an act are ``UNNUMBERED``: only their rounds are counted.
    """
    if numbers.size == 0:
        for r in range(ids.size):
            book[ids[r], ROUNDS] += 1
            book[ids[r], LAST] = -1
        return -1
    bad = unlearned(ids, numbers, book)
    if bad >= 0:
        return bad
    ring = 64 * (book.shape[1] - RING)
    one = np.int64(1)
    for r in range(ids.size):
        n = ids[r]
        book[n, ROUNDS] += 1
        book[n, LAST] = numbers[r]
        k = numbers[r] % ring
        book[n, RING + (k >> 6)] |= one << (k & 63)
        k = book[n, FLOOR] % ring
        while (book[n, RING + (k >> 6)] >> (k & 63)) & 1:
            book[n, RING + (k >> 6)] &= ~(one << (k & 63))
            book[n, FLOOR] += 1
            k = book[n, FLOOR] % ring
    return -1


@kernel
def unsettle(ids: Index, updates: Index, book: Index) -> None:
    """Let the act settled last wait again in every lane that counts one round more than ``updates (N,)`` rewards.

    An interruption came after it was settled, and before its reward was learned.
    """
    ring = 64 * (book.shape[1] - RING)
    one = np.int64(1)
    for r in range(ids.size):
        n = ids[r]
        if book[n, ROUNDS] != updates[n] + 1:
            continue
        book[n, ROUNDS] -= 1
        last = book[n, LAST]
        if last < 0:
            continue
        for number in range(last + 1, book[n, FLOOR]):
            k = number % ring
            book[n, RING + (k >> 6)] |= one << (k & 63)
        book[n, FLOOR] = min(book[n, FLOOR], last)
        k = last % ring
        book[n, RING + (k >> 6)] &= ~(one << (k & 63))
        book[n, LAST] = -1


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
