"""Masters: in each round one of several policies, drawn by shares, plays and learns."""

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ..kernels.features import Features
from ..models.model import Model
from ..policies.checking import LARGEST, LEAST
from ..policies.contract import Chosen, Played, Row, answer
from ..policies.on_map import fresh_copy
from ..policies.policy import Policy
from ..runtime.constraints import Constraint
from ..runtime.drawing import Channel, Seed, Streams
from ..runtime.errors import refuse
from ..runtime.lanes import LaneArrays, parts_of
from ..runtime.shapes import FeatureShape, common_shape
from ..types import Array, Index, Mask

ALL = slice(None)  #: all rows


class MasterModel(Model):
    """The model of a master: how likely each base is to play next."""

    reads_lookups = True

    @abstractmethod
    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each player to play next, ``(n, M)``, and whether some lane has a choice."""

    @abstractmethod
    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Learn what the bases that played earned, ``(n,)`` each, and return the rewards that these are to learn.

        Data from elsewhere have no base that played: every base learns them. ``share``: the probabilities with which
        the bases were drawn, for a master whose notes have them (``Master.notes_share``).
        """


class Master(Policy):
    """A policy made of policies. A subclass declares ``bases`` and builds a :class:`MasterModel`.

    The note of an act is the base that played, how likely that was if ``notes_share``, the note of that base, and, if
    some base learns with propensities, the probability with which the base that played drew the action.

    Where a subclass has an argument ``propensities``, it says whether decisions carry them.
    """

    is_master: ClassVar[bool] = True
    notes_share: ClassVar[bool] = False

    plays = answer("plays", "Rounds that each base played and learned, ``(M,)``.")
    model_weights = answer("weights", "Weight of each base, ``(M,)``.")

    def _set_up(self) -> None:
        self._ties = Streams(self.seed, self._lane_range(0))
        super()._set_up()
        wanted = getattr(self, "propensities", True)
        self.has_propensity = bool(wanted) and all(base.has_propensity for base in self._bases)
        self._own = 1 + self.notes_share
        self._width = self._own + max(base._note_width for base in self._bases)
        self._notes_propensity = any(base.reads_propensity for base in self._bases)
        self._own_parts = [part for _, part in parts_of(self) if part.changes]
        players = range(len(self._players))
        self._learning = {i: [part for part in self._parts_of_player(i) if part.changes] for i in players}

    def _seed_streams(self, channel: Channel, first: int = 0) -> None:
        super()._seed_streams(channel, first)
        self._ties.start(self.seed, self._lane_range(first), (*channel, "choice"))

    @property
    def _bases(self) -> Sequence[Policy]:
        return vars(self)["bases"]

    @property
    def _players(self) -> Sequence[Policy]:
        """The policies that may play: the bases, and any that a subclass lets play beside them."""
        return self._bases

    # Choose.

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        shares, ties = self._model.shares(ids)
        if ties:
            base, share = self._ties.draw(ids, numbers, shares)
        else:
            base, share = shares.argmax(axis=1), None
        chosen = [(rows, self._players[i]._choose(*_some(rows, ids, x, offered), numbers)) for i, rows in by_base(base)]
        p, keys, reported = chosen[0][1].p, chosen[0][1].keys, chosen[0][1].reported
        if len(chosen) > 1:
            p, keys = np.empty((ids.size, p.shape[1])), np.empty_like(base)
            for rows, one in chosen:
                p[rows], keys[rows] = one.p, one.keys
            if any(one.reported is not None for _, one in chosen):
                reported = p.copy()
                for rows, one in chosen:
                    reported[rows] = one.p if one.reported is None else one.reported
        if share is not None and self.has_propensity and (share < 1.0).any():
            tied = np.flatnonzero(share < 1.0)
            reported = p.copy() if reported is None else reported
            reported[tied] = self._mixture(*_some(tied, ids, x, offered), shares[tied])
        return Chosen(p, keys, *self._note(base, share, p, chosen), reported, base)

    def _note(
        self, base: Index, share: Array | None, p: Array, chosen: Sequence[tuple[Any, Chosen]]
    ) -> tuple[Array, Array | None]:
        """Return the note of these acts, and the part of it that depends on the action."""
        own, width = self._own, self._width
        note = np.zeros((base.size, width))
        note[:, 0] = base
        if self.notes_share:
            note[:, 1] = 1.0 if share is None else share
        if not self._notes_propensity and all(one.by_action is None for _, one in chosen):
            for rows, one in chosen:
                if one.note is not None:
                    note[rows, own : own + one.note.shape[1]] = one.note
            return note, None
        by_action = np.zeros((base.size, width - own + self._notes_propensity, p.shape[1]))
        for rows, one in chosen:
            inner = one.whole_note()
            by_action[rows, : inner.shape[1]] = inner
        if self._notes_propensity:
            by_action[:, -1] = p
        return note[:, :own], by_action

    def _probabilities(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        return self._mixture(ids, x, offered, self._model.shares(ids)[0])

    def _mixture(self, ids: Index, x: Features, offered: Mask | None, shares: Array) -> Array:
        """Return the probabilities of the actions, ``(n, K)``, if the bases play with the probabilities ``(n, M)``."""
        p, players = np.zeros((ids.size, x.values.shape[2])), self._players
        for i in np.flatnonzero(shares.any(axis=0)).tolist():
            rows: Any = np.flatnonzero(shares[:, i])
            rows = ALL if rows.size == ids.size else rows
            p[rows] += shares[rows, i, None] * players[i]._probabilities(*_some(rows, ids, x, offered))
        return p

    # Learn.

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        if played is None:
            self._model.record(ids, None, None, y)
            for i in range(len(self._bases)):
                self._learn_base(i, ids, x, y, None)
            return
        base = played.note[:, 0].astype(np.int64)
        y = self._model.record(ids, base, played.note[:, 1].copy() if self.notes_share else None, y)
        if self._model.warnings:
            self._keep_warnings()
        for i, rows in by_base(base):
            some = (ids, x, y, played) if rows is ALL else (ids[rows], x.rows(rows), y[rows], played.rows(rows))
            self._learn_base(i, *some)

    def _learn_base(self, i: int, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        """Let one player learn what it played; ``played`` carries the note of the master."""
        if played is not None:
            note = played.note
            p = note[:, -1] if self._notes_propensity else None
            played = Played(played.action, p, note[:, self._own : self._own + self._bases[i]._note_width])
        learn_base(self, i, ids, x, y, played)

    def _parts_that_learn(self, rows: Sequence[Row], ids: Index) -> Iterable[tuple[LaneArrays, Index]]:
        if any(row.decision is None for row in rows):
            return super()._parts_that_learn(rows, ids)
        found = [(part, ids) for part in self._own_parts]
        for row in rows:
            note: Any = row.decision.note  # type: ignore[union-attr]
            for i, own in by_base(note[:, 0].astype(np.int64)):
                lanes = row.ids[own]
                found += [(part, lanes) for part in self._learning[i]]
        return found

    def _parts_of_player(self, i: int) -> Iterable[LaneArrays]:
        """Return the parts that may change when player i learns, besides those of the master."""
        return [part for _, part in self._bases[i]._parts]

    @property
    def _note_width(self) -> int:
        return self._width + self._notes_propensity

    def _reads(self, note: Array) -> bool:
        own, players = self._own, self._players
        if not all(0 <= base < len(players) and base == int(base) for base in note[:, 0].tolist()):
            return False
        if self.notes_share and not all(LEAST < share <= LARGEST for share in note[:, 1].tolist()):
            return False
        if self._notes_propensity and not all(LEAST < p <= LARGEST for p in note[:, -1].tolist()):
            return False
        if self._width == own:
            return True
        parts = ((players[i], note[rows, own:]) for i, rows in by_base(note[:, 0].astype(np.int64)))
        return all(player._reads(part[:, : player._note_width]) for player, part in parts)


class Bases(Constraint):
    """A list of at least one fresh policy or factory; copies with the lanes and seed of the master are stored."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        if not isinstance(value, list | tuple) or not value:
            raise refuse(name, value, "a list of at least one policy or factory")

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> tuple[Policy, ...]:
        """Return fresh policies of these lanes and this seed."""
        return copies(name, value, lanes, seed)


BASES = Bases()
"""Condition of ``bases``: fresh policies, or factories; copied with the lanes and seed of the master, never shared."""


def copies(name: str, bases: Sequence[Any], lanes: int | None, seed: Seed) -> tuple[Policy, ...]:
    """Return fresh copies of policies, which may come from factories; ``name`` of the argument is for errors."""
    return tuple(fresh_copy(base, lanes, seed, f"{name}[{i}]") for i, base in enumerate(bases))


def shape_of(master: Any) -> FeatureShape:
    """Return the features that all bases take."""
    return common_shape(f"{type(master).__name__}: bases", [base.feature_shape for base in master.bases])


def learn_base(owner: Any, i: int, ids: Index, x: Features, y: Array, played: Played | None) -> None:
    """Let a base of a policy learn; the policy gives its warnings under its name."""
    base = owner.bases[i]
    base._learn_inside(ids, x, y, played)
    if base._warnings:
        owner._warnings += [f"bases[{i}]: {text}" for text in base._warnings]
        base._warnings.clear()


def by_base(base: Index) -> Iterator[tuple[int, Any]]:
    """Yield every base among those of the rows ``(n,)``, and its rows, ``ALL`` where there is no other."""
    if base.size == 1 or (base == base[0]).all():
        yield base.item(0), ALL
        return
    order = base.argsort(kind="stable")
    played = base[order]
    edges = [0, *(np.flatnonzero(played[1:] != played[:-1]) + 1).tolist(), base.size]
    for first, stop in itertools.pairwise(edges):
        yield played.item(first), order[first:stop]


def _some(rows: Any, ids: Index, x: Features, offered: Mask | None) -> tuple[Index, Features, Mask | None]:
    """Return some of the rows of a question to a policy."""
    if rows is ALL:
        return ids, x, offered
    return ids[rows], x.rows(rows), None if offered is None else offered[rows]
