"""The shell of every policy: decisions, lanes, random streams, late rewards, workers, files."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.features import Features
from ..models.model import Model
from ..models.ridge_bank import with_zero
from ..plays.play import Play
from ..runtime import errors, files, inputs
from ..runtime.acts import Acts
from ..runtime.arguments import Configured, argument
from ..runtime.constraints import Number, Seeds
from ..runtime.decisions import Decision
from ..runtime.drawing import Channel, Seed, Streams, commit
from ..runtime.guard import OneCallAtATime
from ..runtime.lanes import LaneArrays, Snapshot, members, parts_of
from ..runtime.ledger import ACTS, UNNUMBERED, Ledger, settle, unsettle
from ..runtime.reading import Reader
from ..runtime.settings import read_only
from ..runtime.shapes import FeatureShape
from ..runtime.workers import since
from ..types import Array, Index, Mask
from . import checking, services
from .contract import Chosen, Played, Row


class Policy(Configured):
    """A learner that chooses actions and learns from rewards. One call at a time; two objects never share state.

    A subclass declares its arguments and writes ``build``: a model and a play. A policy that is not made of these -
    one over other policies, or one that learns actions by position - writes ``_choose`` and ``_learn``.
    See CONTRIBUTING.md for a policy in one file.

    Parameters
    ----------
    lanes: None, or the number N of independent learners in this object: then features, actions, rewards and all that
        can be asked have a leading axis of lanes.
    seed: a whole number, or a tuple of them. Lane j draws the random numbers of the policy with ``seed=(*seed, j)``.
    """

    lanes: int | None = argument(Number(low=1, integer=True, optional=True), default=None)
    seed: Seed = argument(Seeds(), default=0)

    savable: ClassVar[bool] = True  #: whether a file can hold all that it is made of
    is_master: ClassVar[bool] = False  #: whether it judges policies inside it by its own rounds
    reads_propensity: ClassVar[bool] = False  #: whether it learns with the propensity of the action played

    # Choose.

    def act(self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None) -> Decision:
        """Choose an action (one for each lane served) and return the decision.

        Parameters
        ----------
        features: of all actions offered now, or the items of a :class:`~banditselect.Catalogue`; K may change from call
            to call.
        available: booleans ``(K,)``, or ``(n, K)`` with lanes: False for an action that may not be played now.
        lanes: the lanes to serve, all of them by default; features then lead with the number of lanes served.
        """
        guard, frame = self._guard, sys._getframe()
        while guard.busy is not None:
            guard.refuse()
        guard.busy = frame  # no thread can come between: nothing was called since busy was looked at
        del frame  # a frame that refers to itself would live until the next garbage collection, with all its arrays
        try:
            ids = self._all if lanes is None else self._ids(lanes)
            x = self._reader.actions(features, ids.size)
            n, P, K, d = x.values.shape
            offered = None if available is None else inputs.offered(available, n, K)
            if K > services.MANY_ACTIONS:
                services.warn_of_actions(self, K if offered is None else int(offered.sum(axis=1).max()))
            chosen, book = self._choose(ids, x, offered, self._ledger.book[:, ACTS]), self._ledger.book
            p = chosen.p
            if offered is not None or getattr(p, "shape", None) != (n, K) or p.dtype != inputs.FLOAT:
                checking.check_distribution(self, p, (n, K), offered)
            drawn, share, played = np.empty((2, n), np.int64), np.empty(n), np.empty((n, P, d + (x.block.size > 0)))
            while not commit(ids, x.values, x.block, p, chosen.keys, book, drawn, share, played):
                checking.check_distribution(self, p, (n, K))
                self._ledger.grow()
                book = self._ledger.book
            return self._decision(None if lanes is None else ids, chosen, drawn, share, played)
        finally:
            guard.busy = None

    def probabilities(
        self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None
    ) -> Array | None:
        """Return what ``act`` would sample from, ``(K,)`` or ``(n, K)``; None where it has no closed form."""
        ids = self._ids(lanes)
        with self._guard:
            x = self._reader.actions(features, ids.size)
            offered = None if available is None else inputs.offered(available, ids.size, x.values.shape[2])
            if not self.has_propensity:
                return None
            p = self._probabilities(ids, x, offered)
        checking.check_distribution(self, p, (ids.size, x.values.shape[2]), offered)
        return p[0] if self.lanes is None else p

    probabilities_many = services.probabilities_many

    # Learn.

    def update(self, decision: Decision, reward: ArrayLike) -> None:
        """Learn the reward of a decision: now or later, in any order, once."""
        guard, frame = self._guard, sys._getframe()
        while guard.busy is not None:
            guard.refuse()
        guard.busy = frame
        del frame
        try:
            row = checking.checked(self, decision)
            y = inputs.rewards(reward, row.ids.size, self.lanes is not None)
            self._settle_and_learn(row, y)
            if self._warnings:
                self._warn()
        finally:
            guard.busy = None

    def update_many(self, decisions: Iterable[Decision], rewards: Iterable[Any]) -> None:
        """Learn many decisions in the order given: all of them, or none if anything raises or interrupts."""
        with self._guard:
            ready = checking.all_checked(self, list(decisions), list(rewards))
            rows = [row for row, _ in ready]
            with self._all_or_nothing(rows):
                for row, y in ready:
                    self._learn_row(row, y)
                self._warn()

    def learn(self, features: Any, reward: ArrayLike, *, lanes: ArrayLike | None = None) -> None:
        """Learn from data that the policy did not play: features of one action (per lane) and its reward."""
        ids = self._ids(lanes)
        with self._guard:
            x = self._reader.played(features, ids.size)
            y = inputs.rewards(reward, ids.size, self.lanes is not None)
            self._settle_and_learn(Row(ids, x, UNNUMBERED, None, self._generation, None), y)
            self._warn()

    def forget(self, decision: Decision) -> None:
        """Give up on a decision whose reward will not come: while it waits, every later act of its lane costs a bit."""
        with self._guard:
            row = checking.checked(self, decision)
            self._acts.check_waiting(row.worker, row.ids, row.numbers)
            self._acts.drop(row.worker, row.ids, row.numbers)

    def has_learned(self, decision: Decision) -> Any:
        """Return whether a decision was learned or given up, for each lane served."""
        with self._guard:
            row = checking.checked(self, decision)
            known = self._acts.known(row.worker, row.ids, row.numbers)
            return bool(known[0]) if self.lanes is None else known

    # A subclass writes ``build``, or ``_choose`` and ``_learn``.

    def build(self, lanes: int) -> tuple[Model, Play | None]:
        """Return the model and the play of this policy for fresh lanes; no play for one that writes ``_choose``."""
        raise TypeError(f"{type(self).__name__} has no build: write one that returns a model and a play")

    demand = checking.demand

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        """Return what to draw from; ``numbers (N,)`` counts the acts of every lane. Changes nothing."""
        model, normals, note = self._model, None, None
        if model.constant:
            x = x.with_constant()
        if self._n_normals:
            normals = self._streams.normals(ids, numbers, self._n_normals)
        p = self._play.probabilities(model, ids, x, offered, normals)
        if model.note_width:
            note = model.note(ids, x, offered)
        return Chosen(p, self._streams.keys[ids], note)

    def _probabilities(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return the probabilities of the actions, ``(n, K)``; rows may share a lane."""
        return self._choose(ids, x, offered, self._ledger.book[:, ACTS]).p

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        """Learn features and rewards ``(n,)`` of the actions played; no lane repeats. None for data of ``learn``."""
        model = self._model
        model.learn(ids, x.with_constant() if model.constant else x, y, None if played is None else played.note)
        if model.warnings:
            self._keep_warnings()

    def _learn_inside(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        """Learn as a policy inside another, which has the acts in its own ledger."""
        settle(ids, UNNUMBERED, self._ledger.book)
        self._learn(ids, x, y, played)

    @property
    def _note_width(self) -> int:
        """Number of entries in the note of a decision."""
        return self._model.note_width

    def _reads(self, note: Array) -> bool:
        """Return whether a note ``(n, w)`` can be one of this policy's."""
        return bool(np.isfinite(note).all())

    # Ask.

    @property
    def model(self) -> Model:
        """The model that learns."""
        return self._model

    @property
    def rounds(self) -> Any:
        """Number of rewards learned."""
        return self._answer(self._ledger.rounds)

    @property
    def feature_shape(self) -> FeatureShape:
        """The shape of the features that it takes."""
        return self._reader.shape

    @property
    def unit_free(self) -> bool:
        """True if no decision depends on the units of the features."""
        return self._model.unit_free

    @property
    def ridge_estimates(self) -> bool:
        """True if ``parameters`` are of ridges with fixed penalties and equal rewards."""
        return self._model.ridge_estimates

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Return whether each confidence set holds the true parameter, ``(N,)``, NaN if unknown; None without sets.

        The ``parameter`` is that of the features, without a constant term.
        """
        covers = getattr(self, "covers", None)
        if covers is None:
            return None
        return np.array(covers(with_zero(parameter) if self._model.constant else parameter), dtype=float, ndmin=1)

    # Save, fork, grow.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing it atomically; ``banditselect.load`` continues bit-identically."""
        with self._guard:
            files.save(self, path)

    fork = services.fork

    def close_workers(self, before: float) -> None:
        """Refuse decisions of workers forked ``before`` this time (as ``time.time()``), and free their memory.

        Each session of a worker takes 40 bytes a lane in a file and 330 in memory, and each of its decisions without a
        reward 40 and 80 more. A worker that still runs continues as a new one once it loads a file saved after this.
        """
        Number(low=0, high=2.0**32).check("before", before, None)
        with self._guard:
            self._acts.from_workers.close(since(before))

    add_lanes = services.add_lanes
    reset_lanes = services.reset_lanes

    # Inside.

    def _set_up(self) -> None:
        self._size = self.lanes or 1
        self._number_lanes()
        self._lineage = secrets.randbits(53)  # survives stores that keep numbers as doubles, and save and load
        self._guard = OneCallAtATime()
        self._warnings: list[str] = []
        self._warned_of_actions = False
        self._owned, self._changes, self._generation = False, [], 0  # type: ignore[var-annotated]
        self._streams, self._ledger = Streams(self.seed, self._lane_range(0)), Ledger(self._size)
        self._acts = Acts(self._ledger)
        self.has_propensity = True
        self._model, self._play = checking.built(self, type(self)._choose is not Policy._choose)
        self._n_normals = 0
        if self._play is not None:
            self.has_propensity, self._n_normals = self._play.closed_form, self._play.n_normals(self._model)
        self._reader = Reader(self._model.shape, self.lanes is not None)
        self._n_actions, self._many = self._model.shape.n_actions, self._model.shape.many
        self._collect_parts()
        checking.check_arrays(self)
        self._seed_streams(())

    def _collect_parts(self) -> None:
        """Find every part, those of the policies inside too, each under the way to it."""
        inside = list(self._inside())
        theirs = [(f"{name}.{way}", part) for name, policy in inside for way, part in policy._parts]
        self._parts: list[tuple[str, LaneArrays]] = [*parts_of(self), *theirs]
        self._reader.reads_lookups = self._model.reads_lookups and all(p._reader.reads_lookups for _, p in inside)
        self._one_kernel = self._model.one_kernel and type(self)._learn is Policy._learn

    def _inside(self) -> Iterator[tuple[str, Policy]]:
        """Yield the policies that this one is made of, each under the way to it."""
        yield from members(self, Policy)

    def _seed_streams(self, channel: Channel, first: int = 0) -> None:
        """Draw from the streams of this channel, as the lanes from ``first`` on."""
        self._channel = channel
        self._streams.start(self.seed, self._lane_range(first), channel)
        for i, (_, inner) in enumerate(self._inside()):  # the first keeps the channel: alone it draws as if by itself
            inner._seed_streams((*channel, i) if i else channel, first)
            inner._owned = True

    def _decision(self, served: Index | None, chosen: Chosen, drawn: Index, share: Array, played: Array) -> Decision:
        """Return the decision of an act, whose actions ``commit`` has drawn."""
        note, base = chosen.note, chosen.base
        if chosen.reported is not None:
            share = chosen.reported[np.arange(len(played)), drawn[0]]
        if chosen.by_action is not None:
            of_action = chosen.by_action[np.arange(len(played)), :, drawn[0]]
            note = of_action if note is None else np.hstack([note, of_action])
        if note is not None:
            note.setflags(write=False)
        played.setflags(write=False)
        many, lineage, worker, generation = self._many, self._lineage, self._acts.worker, self._generation
        if self.lanes is None:
            action, number = drawn.item(0), drawn.item(1)
            p = share.item() if self.has_propensity else None
            features = played[0] if many or played.shape[1] > 1 else played[0, 0]
            own = None if base is None else base.item()
            return Decision(action, p, own, features, None, number, note, lineage, worker, generation)
        probability = share if self.has_propensity else None
        for array in (drawn, probability, base):
            if array is not None:
                array.setflags(write=False)
        features = played if many or played.shape[1] > 1 else played[:, 0]
        lanes = self._every if served is None else read_only(served)
        return Decision(drawn[0], probability, base, features, lanes, drawn[1], note, lineage, worker, generation)

    def _settle_and_learn(self, row: Row, y: Array) -> None:
        """Learn a row; an interruption leaves everything as it was."""
        if row.worker is not None or row.generation != self._generation or not self._one_kernel:
            self._acts.check_waiting(row.worker, row.ids, row.numbers)
            with self._all_or_nothing([row]):
                self._learn_row(row, y)
            return
        model, decision, x = self._model, row.decision, row.x
        try:
            settled = settle(row.ids, row.numbers, self._ledger.book)
            if settled < 0:
                x = x.with_constant() if model.constant else x
                model.learn(row.ids, x, y, None if decision is None else decision.note)
        except BaseException:
            unsettle(row.ids, self._model.updates, self._ledger.book)
            raise
        if settled >= 0:
            raise self._acts.not_waiting(None, row.ids, row.numbers, settled)
        if model.warnings:
            self._keep_warnings()

    def _learn_row(self, row: Row, y: Array) -> None:
        """Settle a row that waits and learn its reward."""
        self._acts.settle(row.worker, row.ids, row.numbers)
        self._learn(row.ids, row.x, y, row.played)

    @contextlib.contextmanager
    def _all_or_nothing(self, rows: Sequence[Row]) -> Iterator[None]:
        """Let these rows, which all wait, be learned; if that is interrupted, restore everything and let them wait."""
        ids = rows[0].ids if len(rows) == 1 else np.unique(np.concatenate([self._all[:0], *(row.ids for row in rows)]))
        before = Snapshot(self._parts_that_learn(rows, ids))
        try:
            yield
        except BaseException:
            before.restore()
            for row in rows:
                self._acts.wait_again(row.worker, row.ids, row.numbers)
            self._warnings.clear()
            raise

    def _parts_that_learn(self, rows: Sequence[Row], ids: Index) -> Iterable[tuple[LaneArrays, Index]]:
        """Return the parts that learning these rows, of lanes ``ids``, may change, and in which lanes."""
        return [(part, ids) for _, part in self._parts]

    def _to_current_models(self, decision: Decision) -> Decision:
        """Return a decision of an earlier list of models as one of this list."""
        expected = f"at most {self._generation}: take over what the policy that decided has learned"
        raise errors.refuse("decision: generation", decision.generation, expected)

    def _restore_model_history(self, changes: Any) -> None:
        """Take over how the list of models has changed, of a policy that was saved."""
        if changes:
            raise ValueError("changes of a list of models that does not change")

    def _keep_warnings(self) -> None:
        """Take the warnings of the model, to give them when nothing is left half done."""
        self._warnings += self._model.warnings
        self._model.warnings.clear()

    def _warn(self) -> None:
        """Give the warnings kept."""
        texts = self._warnings[:]
        self._warnings.clear()
        for text in texts:
            errors.warn(f"{type(self).__name__}: {text}")

    def _answer(self, array: NDArray[Any]) -> Any:
        """Return a copy, without the axis of lanes for a policy without lanes."""
        found = np.array(array if self.lanes is not None else array[0])
        return found.item() if found.ndim == 0 else found

    def _ids(self, lanes: ArrayLike | None) -> Index:
        """Return the lanes named, all of them by default."""
        if lanes is None:
            return self._all
        if self.lanes is None:
            raise errors.refuse("lanes", lanes, "None: this policy was built without lanes")
        return inputs.lane_ids(lanes, self.lanes)

    def _lane_range(self, first: int) -> range | None:
        return None if self.lanes is None else range(first, first + self.lanes)

    def _number_lanes(self) -> None:
        self._all = np.arange(self._size)
        self._every = read_only(self._all)

    def _add(self, fresh: Policy) -> None:
        """Count the lanes of an equal policy, whose parts have been appended."""
        self.__dict__["lanes"] = self._size = self._size + fresh._size
        self._number_lanes()
