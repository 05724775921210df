"""Play through bases: in each round one of several policies plays and learns, drawn by shares."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...carriers import validation
from ...carriers.decisions import Ledger
from ...carriers.streams import Channel, Seed, Streams
from ...kernels import balancing
from ...kernels.acting import DRAWN, Drawn
from ...kernels.arrays import UNIT
from ...kernels.features import Lookup, rows_of
from ...kernels.ledger import ACTS
from ...kernels.rounds import DONE
from ...types import Array, Index, Mask
from ..base import Chosen, Played, Policy
from ..on_map import copied

NOBODY = np.empty(0, dtype=np.int64)
FIRST = np.zeros(1, dtype=np.int64)


class MetaPolicy(Policy):
    """A policy made of policies. A subclass stores copies of them as ``bases`` and says how likely each is to play.

    The memo of an act is the base that played, how likely that was if ``_own`` is 2, and what that base wrote.
    """

    bases: tuple[Policy, ...]
    _own = 1  #: how many numbers of the memo are this policy's
    _names_base = True
    _is_master = True
    _looks_up = True

    def __init__(self, lanes: int | None, seed: Seed) -> None:
        self.has_propensity = all(b.has_propensity for b in self.bases)
        self._memo_width = self._own + max(b._memo_width for b in self.bases)
        super().__init__(lanes, seed)

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self._ties = Streams(self.seed, self._lane_range(first), (*channel, "choice"))

    @property
    def _players(self) -> tuple[Policy, ...]:
        """The policies that may play: the bases, and what a subclass has play beside them."""
        return self.bases

    @abstractmethod
    def _shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each player to play next, ``(n, M)``, and whether some lane has a choice."""

    @abstractmethod
    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        """Note what the bases that played ``(n,)`` earned ``(n,)``; None for data that all of them learn."""

    def _settle(self, ids: Index, own: Index, y: Array) -> Array:
        """Note what was earned ``(n,)`` and return what is learned of it; ``own`` is this policy's part of the memo."""
        self._record(ids, own[:, 0], y)
        return y

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture(ids, x, offered, self._shares(ids)[0]), None

    def _mixture(self, ids: Index, x: Array, offered: Mask | None, shares: Array) -> Array:
        """Return the probabilities of the actions, ``(n, K)``, if the bases play with the probabilities ``(n, M)``."""
        p, players = np.zeros((ids.size, x.shape[2])), self._players
        for i in np.flatnonzero(shares.any(axis=0)):
            rows = _whole(np.flatnonzero(shares[:, i]), ids)
            p[rows] += shares[rows, i, None] * players[i]._distribution(*_some(rows, ids, x, offered))[0]
        return p

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        drawn, played = np.empty(ids.size, dtype=DRAWN), np.empty((ids.size, x.shape[1], x.shape[3]))
        _, memo = MetaPolicy._play(self, ids, x, offered, Ledger.at(numbers), drawn, played)
        return drawn["action"], drawn["probability"] if self.has_propensity else None, memo

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        shares, ties = self._shares(ids)
        tied = NOBODY
        share: Array | None = None
        if ties:
            chosen, share = self._ties.draw(ids, ledger.acts, shares)
            tied = np.flatnonzero(share < 1.0) if self.has_propensity else NOBODY
        else:
            chosen = shares.argmax(axis=1)
        order, base = _in_order(chosen)
        if not tied.size and base.item(0) == base.item(-1):
            status, inner = self._players[base.item(0)]._play(ids, x, offered, ledger, drawn, played)
            return status, self._memo(chosen, share, inner)
        status = balancing.ready(ids, x, ledger.book)
        if status != DONE:
            return status, None
        mixed = self._mixture(*_some(_whole(tied, ids), ids, x, offered), shares[tied]) if tied.size else None
        rows_by_base = _some(order, ids, x, offered)
        some, features = np.empty(ids.size, dtype=DRAWN), np.empty(played.shape)
        memo, own, players = self._memo(chosen, share, None), self._own, self._players
        before = ledger.acts[ids]
        try:
            for i, rows in _runs(base):
                _, inner = players[i]._play(*_some(rows, *rows_by_base), ledger, some[rows], features[rows])
                if inner is not None:
                    memo[order[rows], own : own + inner.shape[1]] = inner
        except BaseException:  # several bases play as one, or not at all
            ledger.book[ids, ACTS] = before
            raise
        back = order.argsort()
        some.take(back, out=drawn, mode="clip")
        features.take(back, axis=0, out=played, mode="clip")
        if mixed is not None:
            drawn["probability"][tied] = mixed[np.arange(tied.size), drawn["action"][tied]]
        return DONE, memo

    def _memo(self, chosen: Index, share: Array | None, inner: Index | None) -> Index:
        """Return the memo ``(n, w)`` of those that play ``(n,)`` with these shares ``(n,)``, and of what they wrote."""
        if self._memo_width == 1:
            return np.ascontiguousarray(chosen)[:, None]
        memo, own = np.empty((chosen.size, self._memo_width), dtype=np.int64), self._own
        balancing.note(chosen, np.ones(chosen.size) if share is None else share, own, memo)
        if inner is not None:
            memo[:, own : own + inner.shape[1]] = inner
        return memo

    def _wrote(self, memo: Index) -> bool:
        chosen, own, players = memo[:, 0], self._own, self._players
        if min(chosen.tolist()) < 0 or max(chosen.tolist()) >= len(players):
            return False
        if own > 1 and not 0 < min(shares := memo[:, 1].tolist()) <= max(shares) <= UNIT:
            return False
        if self._memo_width == own:
            return True
        parts = ((players[i], memo[chosen == i, own:]) for i in sorted(set(chosen.tolist())))
        return all(b._wrote(part[:, : b._memo_width]) for b, part in parts if b._memo_width)

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if memo is None:
            self._record(ids, None, y)
            for i in range(len(self.bases)):
                self._teach_base(i, ids, x, action, y, None)
            return
        own = self._own
        y = self._settle(ids, memo[:, :own], y)
        order, base = _in_order(memo[:, 0])
        if base.item(0) == base.item(-1):
            self._teach_base(base.item(0), ids, x, action, y, memo[:, own:])
            return
        ids, y, x, memo = ids.take(order), y.take(order), x.take(order, axis=0), memo.take(order, axis=0)
        x.setflags(write=False)
        action = None if action is None else action.take(order)
        for i, rows in _runs(base):
            played = None if action is None else action[rows]
            self._teach_base(i, ids[rows], x[rows], played, y[rows], memo[rows, own:])

    def _teach_base(self, i: int, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        teach(self, i, ids, x, action, y, memo)


def own_bases(owner: str, bases: Sequence[Any], lanes: int | None, seed: Seed) -> tuple[Policy, ...]:
    """Return copies of the policies, or factories, that a policy with these lanes and this seed is made of."""
    if not isinstance(bases, list | tuple) or not bases:
        raise validation.refuse(f"{owner}: bases", bases, "a list of at least one policy or factory")
    return tuple(copied(b, lanes, seed, f"{owner}: bases[{i}]") for i, b in enumerate(bases))


def teach(owner: Any, i: int, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
    """Teach one of the bases of a policy, which says what the base has to say; its memo ``(n, w)`` may be wider."""
    base = owner.bases[i]
    width = base._memo_width
    base._teach(ids, x, action, y, np.ascontiguousarray(memo[:, :width]) if width and memo is not None else None)
    if base._messages:
        owner._messages += [f"bases[{i}]: {message}" for message in base._messages]
        base._messages.clear()


def _in_order(chosen: Index) -> tuple[Index, Index]:
    """Return the rows ``(n,)`` by the base that they chose, each as they stand, and these bases."""
    if chosen.size == 1:
        return FIRST, chosen
    order = chosen.argsort(kind="stable")
    return order, chosen.take(order)


def _runs(base: Index) -> Iterator[tuple[int, slice]]:
    """Yield every base of a sorted list ``(n,)``, and where it stands."""
    start = 0
    for end in [*((base[1:] != base[:-1]).nonzero()[0] + 1).tolist(), base.size]:
        yield base.item(start), slice(start, end)
        start = end


def _whole(rows: Index, ids: Index) -> Index | slice:
    """Return rows in order, as a slice where they are all."""
    return slice(None) if rows.size == ids.size else rows


def _some(rows: Index | slice, ids: Index, x: Array, offered: Mask | None) -> tuple[Index, Array, Mask | None]:
    """Return some of the rows of what a policy is asked; of a slice, without a copy."""
    if isinstance(rows, slice) or isinstance(x, Lookup):
        return ids[rows], rows_of(x, rows), None if offered is None else offered[rows]
    return ids.take(rows), x.take(rows, axis=0), None if offered is None else offered.take(rows, axis=0)
