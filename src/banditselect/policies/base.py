"""The contract of a policy: act, update, learn; lanes; what can be asked; save."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers import class_files, persistence, validation
from ..carriers.decisions import Decision, Ledger
from ..carriers.door import NOTHING, Door
from ..carriers.settings import read_only
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Seed
from ..carriers.workers import Worker
from ..kernels.acting import DRAWN, Drawn
from ..kernels.arrays import LIMIT
from ..kernels.features import clean
from ..kernels.ledger import MOST, UNNUMBERED
from ..kernels.rounds import DONE, FULL, INVALID, UNUSABLE, play_chosen
from ..types import Array, Index, Mask
from .copies import Copies

Chosen = tuple[Index, Array | None, Index | None]
"""Actions ``(n,)``, their probabilities ``(n,)`` or None, the memo ``(n, w)`` or None."""

Played = tuple[int, Index | None]
"""How it went, as ``kernels.rounds`` says it, and the memo ``(n, w)`` or None."""


class Policy(Copies, ABC):
    """A learner that chooses actions and is told rewards. One call at a time; two objects never share state.

    A subclass stores its arguments under their own names, then calls ``super().__init__(lanes, seed)``, and writes:

    * ``constraints``: one entry per argument;
    * ``_shape``: the features it takes;
    * ``_begin``: build the parts (``LaneArrays``) for N fresh lanes, as attributes; there they are found;
    * ``_distribution``: probabilities from features, changing nothing;
    * ``_absorb``: learn what was played and what it earned.

    Where probabilities have no closed form, ``_choose`` draws the actions itself, and ``_distribution`` is not asked. A
    policy may write a memo of ``_memo_width`` whole numbers when it acts, which comes back with the reward.

    Inside, features are ``(n, P, K, d)`` (P maps), rows belong to the lanes ``ids (n,)``, ``offered`` is a mask
    ``(n, K)`` or None where every action is offered, and everything has been checked. See CONTRIBUTING.md for a policy
    in one file.

    Shortcuts. A class that has a whole act or a whole update in one kernel writes ``_play`` or ``_learn`` beside the
    ``_steps`` that they stand for; one whose steps hand features to kernels only, which also read a
    ``kernels.features.Lookup``, sets ``_looks_up``. One rule: where a class before it, in the order of inheritance,
    writes a step anew, the shortcut falls away and the steps are taken one by one.

    Parameters
    ----------
    lanes: None, or the number N of independent learners in this object: then features, actions, rewards and all that
        can be asked have a leading axis of lanes.
    seed: a whole number, or a tuple of them. Lane j draws the random numbers of the policy with ``seed=(*seed, j)``.
    """

    reward_units: ClassVar[tuple[str, ...]] = ()  #: arguments measured in rewards, so that they scale with them
    has_propensity: bool = True  #: whether ``probabilities`` has a closed form
    ridge_estimates: bool = True  #: whether ``parameters`` are of ridges with fixed penalties and equal rewards
    unit_free: ClassVar[bool] = False  #: whether no decision depends on the units of the features
    _memo_width: int = 0
    _names_base: bool = False  #: the memo begins with the base that played
    _weighs: bool = False  #: the memo ends with the propensity of what was played, whoever drew it
    _is_master: bool = False  #: it judges policies of its own by what it played itself
    _steps: ClassVar[tuple[str, ...]] = ("_distribution", "_choose", "_absorb")
    _looks_up: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        class_files.note(cls)
        steps = {step for c in cls.__mro__ for step in vars(c).get("_steps", ())}
        for shortcut, replaced in {
            "_choose": {"_distribution"},
            "_play": steps,
            "_learn": steps,
            "_looks_up": {*steps, "_play"},
        }.items():
            before = cls.__mro__[: next(i for i, c in enumerate(cls.__mro__) if shortcut in vars(c))]
            if any(step in vars(c) for c in before for step in replaced):
                setattr(cls, shortcut, vars(Policy)[shortcut])

    def __init__(self, lanes: int | None, seed: Seed) -> None:
        super().__init__(lanes, seed)
        shape = self._shape()
        self._many, self._n_actions, self._plain = shape.many, shape.n_actions, bool(shape.plain)
        self._door = Door(shape, self.lanes is not None)
        self._one = _One() if self.lanes is None else None
        self._begin(self._size)
        self._root(())
        inner = (part._door for _, part in self._inside() if isinstance(part, Policy))
        self._door.looks_up = self._looks_up and all(door.looks_up for door in inner)

    # What a subclass writes.

    @abstractmethod
    def _shape(self) -> FeatureShape:
        """Return the shape of the features."""

    @abstractmethod
    def _begin(self, lanes: int) -> None:
        """Build the parts for fresh lanes, as attributes."""

    @abstractmethod
    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        """Return probabilities ``(n, K)`` and the memo ``(n, w)``, or None where there is none.

        Rows may belong to the same lane, where all are offered equally many actions.
        """

    @abstractmethod
    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        """Learn features ``(n, P, d)``, actions ``(n,)`` and rewards ``(n,)``; no lane repeats.

        Data it did not play have neither an action nor a memo. All are lent: the features are read-only, actions and
        rewards are overwritten by the next. Copy what you keep.
        """

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        """Draw actions; ``numbers (N,)`` counts the acts of every lane and keys the draw. Changes nothing."""
        p, memo = self._distribution(ids, x, offered)
        validation.probabilities(f"{type(self).__name__}._distribution", p, (ids.size, x.shape[2]))
        action, probability = self._streams.draw(ids, numbers, np.ascontiguousarray(p))
        return action, probability, memo

    # A round, step by step; shortcuts write these anew.

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        """Choose, number the acts in this ledger (its own, or a meta-policy's), take the features of what is played."""
        if not clean(x):
            return UNUSABLE, None
        action, probability, memo = self._choose(ids, x, offered, ledger.acts)
        owner, n, K = type(self).__name__, ids.size, x.shape[2]
        if self._memo_width and (memo is None or memo.shape != (n, self._memo_width)):
            raise validation.refuse(f"{owner}: memo of an act", memo, f"whole numbers of shape {(n, self._memo_width)}")
        if probability is None and self.has_propensity:
            raise validation.refuse(f"{owner}._choose", None, "probabilities, or has_propensity = False")
        right = isinstance(action, np.ndarray) and action.shape == (n,) and action.dtype.kind in "iu"
        if right:
            drawn["action"] = action
            drawn["probability"] = np.nan if probability is None else probability
        status = play_chosen(ids, x, ledger.book, drawn, played) if right else INVALID
        if status == INVALID:
            raise validation.refuse(f"{owner}._choose", action, f"{n} whole numbers from 0 to {K - 1}, as an array")
        return status, memo

    def _learn(self, ids: Index, x: Array, action: Index | None, y: Array, numbers: Index, memo: Index | None) -> int:
        """Settle the acts and learn; say how it went, as ``kernels.rounds`` does."""
        if not clean(x):
            return UNUSABLE
        status = self._ledger.settle(ids, numbers)
        if status == DONE:
            self._absorb(ids, x, action, y, memo)
        return status

    # The contract.

    def act(self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None) -> Decision:
        """Choose an action (one for each lane served) and return the decision.

        Parameters
        ----------
        features: of all actions offered now, or the items of a :class:`~banditselect.Catalogue`; K may change from call
            to call.
        available: booleans ``(K,)``, or ``(n, K)`` with lanes: False for an action that may not be played now.
        lanes: the lanes to serve, all of them by default; features then lead with the number of lanes served.
        """
        gate, door = self._gate, self._door
        if gate.busy:
            gate.refuse()
        gate.busy = True
        try:
            ids = self._all if lanes is None else self._ids(lanes)
            x = door.actions(features, ids.size)
            n, P, K, d = x.shape
            offered = None if available is None else validation.offered(available, n, K)
            one, z = self._one, np.empty((n, P, d))
            drawn = np.empty(n, dtype=DRAWN) if one is None else one.drawn
            status, memo = self._play(ids, x, offered, self._ledger, drawn, z)
            if status != DONE:
                while status == FULL:
                    self._ledger.grow()
                    status, memo = self._play(ids, x, offered, self._ledger, drawn, z)
                if status == UNUSABLE:
                    raise door.unusable(features, n)
            z.setflags(False)  # type: ignore[call-arg] # write, by position: half the time of the keyword
            base: Any = None
            if memo is not None:
                memo.setflags(write=False)
                base = memo[:, 0] if self._names_base else None
            many = self._many or P > 1
            if one is not None:
                action, number, probability = drawn.item()
                if not self.has_propensity:
                    probability = None
                if base is not None:
                    base = base.item()
                handed, served = z[0] if many else z[0, 0], None
            else:
                drawn.setflags(write=False)
                action, number = drawn["action"], drawn["number"]
                probability = drawn["probability"] if self.has_propensity else None
                handed, served = z if many else z[:, 0], self._every if lanes is None else read_only(ids)
            lineage, worker, generation = self._lineage, self._worker, self._generation
            decision: Decision = _made(
                Decision, (action, probability, base, handed, served, number, memo, lineage, worker, generation)
            )
            if self._plain:
                door.last = decision, z
            return decision
        finally:
            gate.busy = False

    def update(self, decision: Decision, reward: ArrayLike) -> None:
        """Learn the reward of a decision: now or later, in any order, once."""
        gate = self._gate
        if gate.busy:
            gate.refuse()
        gate.busy = True
        try:
            ids, x, action, numbers, memo, other = self._accept(decision)
            one = self._one
            if one is not None and isinstance(reward, float) and -LIMIT <= reward <= LIMIT:
                y = one.reward
                y[0] = reward
            else:
                y = validation.rewards(reward, ids.size, self.lanes is not None)
            if decision[9] != self._generation:
                status = self._learn_earlier(decision[9], other, ids, x, action, y, numbers, memo)
            elif other is None:
                status = self._learn(ids, x, action, y, numbers, memo)
            else:
                status = self._learn_other(other, ids, x, action, y, numbers, memo)
            if status != DONE:
                raise self._refused(decision, ids, numbers, status)
            if self._messages:
                self._speak()
        finally:
            gate.busy = False

    def forget(self, decision: Decision) -> None:
        """Give up on a reward that will never come: the decision is settled, and nothing is learned.

        A decision that waits costs one bit for every later act of its lane (in a ring as wide for all lanes).
        """
        with self._gate:
            ids, _, _, numbers, _, other = self._accept(decision)
            status = self._drop(other, ids, numbers)
            if status != DONE:
                raise self._refused(decision, ids, numbers, status)

    def update_many(self, decisions: Iterable[Decision], rewards: Iterable[Any]) -> None:
        """Learn many decisions in the order given: all of them, or none and an error.

        That holds whatever the error is: a refusal, an interruption, a warning where warnings are errors.
        """
        decisions, rewards = list(decisions), list(rewards)
        if len(decisions) != len(rewards):
            raise validation.refuse("rewards", rewards, f"one for each of the {len(decisions)} decisions")
        with self._gate:
            ready = []
            seen: set[tuple[Any, ...]] = set()
            for decision, reward in zip(decisions, rewards, strict=True):
                ids, x, action, numbers, memo, other = self._accept(decision)
                fresh = {(other, *row) for row in zip(ids.tolist(), numbers.tolist(), strict=True)}
                if fresh & seen:
                    raise validation.refuse("decisions", decision.number, "each decision once")
                seen |= fresh
                status = self._waiting(other, ids, numbers) if clean(x) else UNUSABLE
                if status != DONE:
                    raise self._refused(decision, ids, numbers, status)
                y = validation.rewards(reward, ids.size, self.lanes is not None)
                ready.append((decision[9], other, (ids, x, action.copy(), y, numbers.copy(), memo)))
            with self._whole([(other, row[0], row[4]) for _, other, row in ready]):
                for generation, other, row in ready:
                    if generation != self._generation:
                        self._learn_earlier(generation, other, *row)
                    elif other is None:
                        self._learn(*row)
                    else:
                        self._learn_other(other, *row)
                self._speak()

    def learn(self, features: Any, reward: ArrayLike, *, lanes: ArrayLike | None = None) -> None:
        """Learn from data that the policy did not play: features of one action (per lane) and its reward."""
        ids = self._ids(lanes)
        with self._gate:
            x = self.feature_shape.one(features, None if self.lanes is None else ids.size)
            y = validation.rewards(reward, ids.size, self.lanes is not None)
            self._teach(ids, x, None, y, None)
            self._speak()

    def probabilities(
        self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None
    ) -> Array | None:
        """Return what ``act`` would sample from, ``(K,)`` or ``(n, K)``; None where it has no closed form."""
        ids = self._ids(lanes)
        with self._gate:
            x = self._door.actions(features, ids.size)
            if not clean(x):
                raise self._door.unusable(features, ids.size)
            offered = None if available is None else validation.offered(available, ids.size, x.shape[2])
            if not self.has_propensity:
                return None
            p, _ = self._distribution(ids, x, offered)
        return p[0] if self.lanes is None else p

    # What can be asked.

    @property
    def rounds(self) -> Any:
        """How many rewards have been learned."""
        return self._answer(self._ledger.rounds)

    def has_learned(self, decision: Decision) -> Any:
        """Tell whether a decision was learned or given up, of each lane served: whoever gets it twice may drop it."""
        with self._gate:
            ids, _, _, numbers, _, other = self._accept(decision)
            rows = [slice(r, r + 1) for r in range(ids.size)]
            known = np.array([self._waiting(other, ids[row], numbers[row]) != DONE for row in rows])
            if other is None:
                known &= numbers < self._ledger.acts[ids]
            return bool(known[0]) if self.lanes is None else known

    @property
    def feature_shape(self) -> FeatureShape:
        """The shape of the features that it takes."""
        return self._door.shape

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Tell of each lane whether its confidence set holds the true ``parameter`` of the true ``model``, ``(N,)``.

        None for a policy that has no confidence set, or cannot tell; NaN for a lane of which it cannot.
        """
        covers = getattr(self, "covers", None)
        return None if covers is None else np.array(covers(parameter), dtype=float, ndmin=1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing it atomically; ``banditselect.load`` continues bit-identically."""
        with self._gate:
            persistence.save(self, path)

    # Behind the door.

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue as a copy, for which no decision is the one handed out last."""
        self.__dict__ |= state
        self._door.last = NOTHING
        self._number_lanes()

    def _accept(self, decision: Decision) -> tuple[Index, Array, Index, Index, Index | None, Worker | None]:
        """Return the lanes, features, actions, numbers, memo of a decision of ours, and its worker if it is another."""
        one, (last, x) = self._one, self._door.last
        if decision is last and one is not None:  # it was handed out last and needs no second look
            one.action[0], one.number[0] = decision[0], decision[5]
            return self._all, x, one.action, one.number, decision[6], None
        if type(decision) is not Decision:
            raise validation.refuse("decision", decision, "what act returned")
        action, _, _, features, served, number, memo, lineage, worker, generation = decision
        if lineage != self._lineage:
            raise validation.refuse("decision", lineage, f"a decision of this policy, lineage {self._lineage}")
        if (served is None) != (one is not None):
            raise validation.refuse("decision", served, "lanes as this policy has them")
        if generation != self._generation:
            return self._accept(self._renewed(decision))
        if one is not None:
            ids, actions, numbers = self._all, one.action, one.number
            if type(action) is not int or type(number) is not int or not (0 <= action < MOST and 0 <= number < MOST):
                raise validation.refuse("decision", (action, number), "an action, and the number of an act")
            actions[0], numbers[0] = action, number
        else:
            ids = self._all if served is self._every else self._ids(served)
            actions, numbers = _whole_numbers(action), _whole_numbers(number)
            right = numbers.shape == ids.shape == actions.shape
            if not right or actions.min() < 0 or numbers.min() < 0:
                expected = f"an action and a number for each of {ids.size} lanes"
                raise validation.refuse("decision", (action, number), expected)
        K = self._n_actions
        if K is not None and not (actions.min() >= 0 and actions.max() < K):
            raise validation.refuse("decision", action, f"actions from 0 to {K - 1}")
        if decision is not last:
            x = self.feature_shape.shaped_one(features, None if one is not None else ids.size)
        if memo is not None or self._memo_width:
            self._accept_memo(memo, ids.size)
        mine = self._worker
        if worker is mine or worker == mine:
            return ids, x, actions, numbers, memo, None
        if not isinstance(worker, Worker) or not all(type(part) is int and 0 <= part < MOST for part in worker):
            raise validation.refuse("decision", worker, "a Worker(number, session)")
        return ids, x, actions, numbers, memo, worker

    def _accept_memo(self, memo: NDArray[Any] | None, n: int) -> None:
        """Refuse a memo that this policy cannot have written."""
        width = self._memo_width
        if memo is None or not width or memo.shape != (n, width) or not self._wrote(memo):
            raise validation.refuse("decision", memo, f"the memo of width {width} that act gave it")

    def _wrote(self, memo: Index) -> bool:
        """Tell whether a memo ``(n, w)`` can be one of this policy's."""
        return True

    def _refused(self, decision: Decision, ids: Index, numbers: Index, status: int) -> ValueError:
        """Return the error for a decision that cannot be learned: a row that is not waiting for its reward, or why."""
        if status == UNUSABLE:
            return self._door.unusable(decision.features, ids.size)
        return self._unexpected(decision, ids, numbers, status)

    def _teach(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        """Learn what no decision of this policy's own book stands for: data from elsewhere, or a meta-policy's."""
        self._learn(ids, x, action, y, UNNUMBERED, memo)

    def _speak(self) -> None:
        """Give the warnings kept."""
        messages = self._messages[:]
        self._messages.clear()
        for message in messages:
            validation.warn(f"{type(self).__name__}: {message}")


_made = tuple.__new__  # a decision, half the time of its constructor


class _One:
    """Room for one row, for a policy without lanes: what is read at once and never handed out needs no new array."""

    def __init__(self) -> None:
        self.drawn = np.empty(1, dtype=DRAWN)
        self.reward = np.empty(1)
        self.action = np.empty(1, dtype=np.int64)
        self.number = np.empty(1, dtype=np.int64)


def _whole_numbers(value: Any) -> Index:
    """Return an array of whole numbers, an empty one for what is none."""
    found = np.asarray(value)
    return found.astype(np.int64) if found.dtype.kind in "iu" else np.empty(0, dtype=np.int64)
