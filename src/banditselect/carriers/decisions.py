"""What a policy decided, as a value that can wait for its reward; and the book of which decisions were learned."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels import ledger
from ..kernels.arrays import UNIT
from ..types import Array, Index
from .lanes import LaneArrays
from .workers import ITSELF, Worker


class Decision(NamedTuple):
    """One decision of a policy, or one of each lane served. Frozen: its arrays are read-only.

    For a policy without lanes ``action``, ``number`` and ``base`` are whole numbers and ``probability`` a float; with
    lanes each is an array ``(n,)``.

    Attributes
    ----------
    action: the action to play.
    probability: its propensity, the probability with which it was drawn; None where it has no closed form.
    base: the base that played, for policies made of policies; else None.
    features: of the action played, ``(d,)`` or ``(M, d)`` (zero-padded to the widest map), with lanes a leading n.
    lanes: the lanes served, ``(n,)``, or None.
    number: how many acts the lane had seen before this one.
    memo: what the policy wants to be told again when the reward arrives, whole numbers ``(n, w)``, or None.
    lineage: fingerprint of the policy; it survives save and load.
    worker: which copy of the policy decided, as (number, session); (0, 0) for itself.
    generation: how often feature maps had been added to the policy, or taken from it.
    """

    action: Any
    probability: Any
    base: Any
    features: NDArray[np.float64]
    lanes: Index | None
    number: Any
    memo: NDArray[np.int64] | None
    lineage: int
    worker: Worker = ITSELF
    generation: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.to_dict() == other.to_dict()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.lineage, self.worker, np.asarray(self.number).tobytes()))

    def split(self) -> "list[Decision]":
        """Return one decision per lane, for rewards that arrive at different times; without lanes, just this one."""
        if self.lanes is None:
            return [self]
        rows = [slice(r, r + 1) for r in range(self.lanes.size)]
        return [Decision._make(v[row] if isinstance(v, np.ndarray) else v for v in self) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain numbers, lists and None, fit for JSON."""
        content = {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in self._asdict().items()
        }
        return content | {"worker": list(self.worker)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the decision that ``to_dict`` described; anything else raises ValueError."""
        if not isinstance(content, Mapping) or set(content) != set(cls._fields):
            raise ValueError(
                f"decision: got {content!r:.80}, expected a mapping with the keys {', '.join(cls._fields)}"
            )
        try:
            lanes = None if content["lanes"] is None else _frozen(content["lanes"], np.int64)
            whole = _whole if lanes is None else lambda value: _frozen(value, np.int64)
            real = float if lanes is None else lambda value: _frozen(value, np.float64)
            return cls(
                action=whole(content["action"]),
                probability=None if content["probability"] is None else real(content["probability"]),
                base=None if content["base"] is None else whole(content["base"]),
                features=_frozen(content["features"], np.float64),
                lanes=lanes,
                number=whole(content["number"]),
                memo=None if content["memo"] is None else _frozen(content["memo"], np.int64),
                lineage=_whole(content["lineage"]),
                worker=Worker(*map(_whole, content["worker"])),
                generation=_whole(content["generation"]),
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"decision: {error}; expected what Decision.to_dict returned") from None


def written(p: Array) -> Index:
    """Return probabilities as the whole numbers that a memo carries, in units of ``kernels.arrays.UNIT``.

    Examples
    --------
    >>> written(np.array([0.25])).tolist()
    [1125899906842624]
    """
    return np.rint(p * UNIT).astype(np.int64)


def read(memo: Index) -> Array:
    """Return the probabilities that a memo carries."""
    return memo / UNIT


def _whole(value: Any) -> int:
    return int(_frozen(value, np.int64))


def _frozen(value: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only array; what would have to be rounded, parsed or cut is refused."""
    found = np.asarray(value)
    if found.dtype.kind not in ("iu" if dtype is np.int64 else "iuf"):
        raise ValueError(f"{value!r:.80} is not made of {'whole ' if dtype is np.int64 else ''}numbers")
    array = np.array(found, dtype=dtype)
    array.flags.writeable = False
    return array


class Ledger(LaneArrays):
    """Numbers the acts of every lane and remembers which were learned, in a bit per act that waits for its reward.

    Attributes
    ----------
    book: a row of whole numbers for every lane, see ``kernels.ledger``.
    """

    state = ("book",)
    elastic = ("book",)

    def __init__(self, lanes: int) -> None:
        self.book = np.zeros((lanes, ledger.RING + 1), dtype=np.int64)

    @classmethod
    def at(cls, acts: Index) -> Self:
        """Return a ledger of its own in which every lane has seen so many acts ``(N,)``, none of them waiting."""
        ledger_of_its_own = cls(acts.size)
        ledger_of_its_own.book[:, ledger.ACTS] = ledger_of_its_own.book[:, ledger.FLOOR] = acts
        return ledger_of_its_own

    @property
    def acts(self) -> Index:
        """Acts so far, ``(N,)``."""
        return self.book[:, ledger.ACTS]

    @property
    def rounds(self) -> Index:
        """Rewards learned so far, ``(N,)``."""
        return self.book[:, ledger.ROUNDS]

    def drop(self, ids: Index, numbers: Index) -> int:
        """Settle these acts without a reward; as ``settle``, but no round is counted."""
        status = self.settle(ids, numbers)
        if status < 0:
            self.rounds[ids] -= 1
        return status

    def waiting(self, ids: Index, numbers: Index) -> int:
        """Return the first row whose act is unknown or already learned, -1 if there is none."""
        return int(ledger.unlearned(ids, numbers, self.book))

    def settle(self, ids: Index, numbers: Index) -> int:
        """Mark these acts as learned and count the rounds; if some row cannot be, do nothing and return it, else -1."""
        return int(ledger.settle(ids, numbers, self.book))

    def learned(self) -> dict[int, list[int]]:
        """Return the acts learned as runs, by lane: begin, end, begin, end, ..."""
        runs, ring = {}, 64 * (self.book.shape[1] - ledger.RING)
        for lane in np.flatnonzero(self.acts).tolist():
            row, floor = self.book[lane], int(self.book[lane, ledger.FLOOR])
            k = np.arange(floor, row[ledger.ACTS]) % ring
            bits = (row[ledger.RING + (k >> 6)] >> (k & 63)) & 1
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
        self.book = np.zeros((acts.size, ledger.RING + words), dtype=np.int64)
        self.book[:, ledger.ACTS], self.book[:, ledger.FLOOR] = acts, ends[:, 0]
        for lane, runs in learned.items():
            later = [np.arange(*run) for run in zip(runs[::2], runs[1::2], strict=True) if run[0]]
            for numbers in later:
                self.settle(np.full(numbers.size, lane), numbers)
        self.rounds[:] = rounds

    def check(self, name: str, array: NDArray[Any]) -> None:
        """Refuse a book that no acts have written: counts out of order, or more acts waiting than there are bits."""
        acts, floor, rounds = (array[:, k] for k in (ledger.ACTS, ledger.FLOOR, ledger.ROUNDS))
        right = (floor >= 0) & (floor <= acts) & (acts < ledger.MOST) & (rounds >= 0) & (rounds < ledger.MOST)
        if not right.all() or (acts - floor).max(initial=0) > 64 * (array.shape[1] - ledger.RING):
            raise ValueError(f"array {name!r}: not a book of acts")

    def extend(self, other: Self) -> None:
        """Append the lanes of another ledger."""
        width = max(self.book.shape[1], other.book.shape[1])
        self._grow_to(width)
        other._grow_to(width)
        super().extend(other)

    def reset(self, ids: Index, fresh: Self) -> None:
        """Begin anew in these lanes, but count their acts on: no decision of before can be taken for a later one."""
        acts = self.acts[ids]
        self.book[ids] = 0
        self.book[ids, ledger.ACTS] = self.book[ids, ledger.FLOOR] = acts

    def grow(self) -> None:
        """Double the rings."""
        self._grow_to(2 * self.book.shape[1] - ledger.RING)

    def _grow_to(self, width: int) -> None:
        wider = np.zeros((len(self.book), width), dtype=np.int64)
        ledger.widen(self.book, wider)
        self.book = wider
