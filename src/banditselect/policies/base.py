"""The contract of a policy: act, update, learn; lanes; what can be asked; save."""

import copy
import inspect
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers import class_files as sources
from ..carriers import validation
from ..carriers.binding import Binding
from ..carriers.decisions import Decision, Ledger
from ..carriers.lanes import LaneArrays
from ..carriers.settings import literal, read_only, same
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Channel, Seed, Streams
from ..carriers.validation import EVERYTHING, FLOAT, Constraint
from ..kernels.acting import DRAWN, Drawn, begin
from ..kernels.arrays import LIMIT
from ..kernels.features import Lookup, clean
from ..kernels.rounds import DONE, FULL, UNUSABLE, draw
from ..types import Array, Index, Mask

Choice = tuple[Index, Array | None, Index | None]
"""Actions ``(n,)``, their probabilities ``(n,)`` or None, the memo ``(n, w)`` or None."""

Played = tuple[int, Index | None]
"""What a kernel of ``kernels.rounds`` says, the memo ``(n, w)`` or None."""


class Policy(ABC):
    """A learner that chooses actions and is told rewards. Not thread-safe; two objects never share state.

    A subclass stores its arguments under their own names, then calls ``super().__init__(lanes, seed)``, and writes:

    * ``constraints``: one entry per argument;
    * ``_shape``: the features it takes;
    * ``_begin``: build the parts (``LaneArrays``) for N fresh lanes, as attributes, and
      return their names;
    * ``_distribution``: probabilities from features, changing nothing;
    * ``_absorb``: learn what was played and what it earned.

    A policy may write a memo of ``_memo_width`` whole numbers when it acts, which comes back with the reward; a
    meta-policy's memo begins with the base that played.

    Inside, features are ``(n, P, K, d)`` (P maps), rows belong to the lanes ``ids (n,)``, and everything has been
    checked. Policies of this library may also meet a ``kernels.features.Lookup`` in the place of that array, and hand
    it to kernels. See CONTRIBUTING.md for a policy in one file.

    Parameters
    ----------
    lanes: None, or the number N of independent learners in this object: then features, actions, rewards and all that
        can be asked have a leading axis of lanes.
    seed: a whole number, or a tuple of them. Lane j draws the random numbers of the policy with ``seed=(*seed, j)``.
    """

    constraints: ClassVar[dict[str, Constraint]] = {}
    reward_units: ClassVar[tuple[str, ...]] = ()  #: arguments measured in rewards, so that they scale with them
    has_propensity: bool = True  #: whether ``probabilities`` has a closed form
    _memo_width: int = 0
    _has_bases: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        sources.note(cls)
        if sources.rewrites_steps(cls):
            for whole in ("_play", "_learn"):
                if not sources.is_foreign(getattr(cls, whole)):
                    setattr(cls, whole, getattr(Policy, whole))

    def __init__(self, lanes: int | None, seed: Seed) -> None:
        owner = type(self).__name__
        if lanes is not None:
            lanes = validation.whole_number(f"{owner}: lanes", lanes, 1)
        validation.seed(f"{owner}: seed", seed)
        self.lanes = lanes
        self.seed = seed
        for name, value in self.settings.items():
            if isinstance(value, np.ndarray):
                setattr(self, name, read_only(value))
            elif isinstance(value, list) or (isinstance(value, tuple) and any(np.ndim(part) for part in value)):
                setattr(self, name, copy.deepcopy(value))
        validation.check_all(owner, self.constraints, self.settings, lanes)
        self._channel: Channel = ()
        self._lineage = secrets.randbits(53)  # survives stores that keep numbers as doubles
        self._ledger = Ledger(self._size)
        self._streams = Streams(seed, self._lane_range(0), self._channel)
        self._features = self._shape()
        self._many = self._features.many
        self._parts = ("_ledger", "_streams", *self._begin(self._size))
        self._number_lanes()
        self._messages: list[str] = []
        self._drawn = np.empty(1, dtype=DRAWN) if lanes is None else None  # read at once, never handed out
        self._one_reward = np.empty(1) if lanes is None else None
        self._one_number = np.empty(1, dtype=np.int64)
        self._familiar: tuple[int, ...] | None = None  # the shape of the features that were accepted last,
        self._axes: tuple[Any, ...] = ()  # and what brings them to four axes
        self._latest: Any = None  # the features that were played last,
        self._handed: Any = None  # and what of them the decision carries
        self._looks_up = self._can_look_up()

    # What a subclass writes.

    @abstractmethod
    def _shape(self) -> FeatureShape:
        """Return the shape of the features."""

    @abstractmethod
    def _begin(self, lanes: int) -> Sequence[str]:
        """Build the parts for fresh lanes; return the names of their attributes."""

    @abstractmethod
    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, Index | None]:
        """Return probabilities ``(n, K)`` and the memo ``(n, w)``, or None where there is none."""

    @abstractmethod
    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        """Learn features ``(n, P, d)`` and rewards ``(n,)``; no lane repeats. Data it did not play have no memo.

        Both are lent: the features are read-only, the rewards are overwritten by the next. Copy what you keep.
        """

    def _choose(self, ids: Index, x: Array, offered: Mask, numbers: Index) -> Choice:
        """Draw actions; ``numbers (N,)`` counts the acts of every lane and keys the draw. Changes nothing."""
        p, memo = self._distribution(ids, x, offered)
        action, probability = self._streams.draw(ids, numbers, p)
        return action, probability, memo

    def _play(self, ids: Index, x: Array, offered: Mask, drawn: Drawn, played: Array) -> Played:
        """Choose, and number the acts; say so as a kernel of ``kernels.rounds`` does, and return the memo."""
        if not clean(x):
            return UNUSABLE, None
        ledger = self._ledger
        if type(self)._choose is Policy._choose:  # then drawing and numbering are one kernel
            p, memo = self._distribution(ids, x, offered)
            if sources.is_foreign(type(self)):
                validation.probabilities(f"{type(self).__name__}._distribution", p, (ids.size, x.shape[2]))
            while draw(ids, x, p, self._streams.keys, ledger.book, drawn, played) == FULL:
                ledger.grow()
            return DONE, memo
        action, probability, memo = self._choose(ids, x, offered, ledger.acts)
        if sources.is_foreign(type(self)._choose):
            validation.choices(f"{type(self).__name__}._choose", action, x.shape[2], ids.size)
            if probability is None and self.has_propensity:
                raise validation.refuse(
                    f"{type(self).__name__}._choose", None, "probabilities, or has_propensity = False"
                )
        drawn["action"] = action
        drawn["probability"] = np.nan if probability is None else probability
        while not begin(ids, x, ledger.book, drawn, played):
            ledger.grow()
        return DONE, memo

    def _learn(self, ids: Index, x: Array, y: Array, numbers: Index, memo: Index | None) -> int:
        """Settle the acts and learn; return what a kernel of ``kernels.rounds`` says that does it all in one."""
        if not clean(x):
            return UNUSABLE
        status = self._ledger.settle(ids, numbers)
        if status == DONE:
            self._absorb(ids, x, y, memo)
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
        ids = self._all if lanes is None else self._ids(lanes)
        plain = type(features) is np.ndarray and features.shape == self._familiar and features.dtype is FLOAT
        if plain and features.flags.carray and (self.lanes is None or len(features) == ids.size):
            x = features[self._axes]  # a shape that was accepted last needs no second look
        else:
            x = self._seen(features, ids.size)
        offered = EVERYTHING if available is None else validation.offered(available, ids.size, x.shape[2])
        n, P, _, d = x.shape
        drawn, z = self._drawn, np.empty((n, P, d))
        if drawn is None:
            drawn = np.empty(n, dtype=DRAWN)
        status, memo = self._play(ids, x, offered, drawn, z)
        while status == FULL:
            self._ledger.grow()
            status, memo = self._play(ids, x, offered, drawn, z)
        if status == UNUSABLE:
            raise self._features.unusable(features, None if self.lanes is None else ids.size)
        z.setflags(False)  # type: ignore[call-arg] # write, by position: half the time of the keyword
        base = None
        if memo is not None:
            memo.setflags(write=False)
            base = memo[:, 0] if self._has_bases else None
        many = self._many or z.shape[1] > 1
        self._latest = z if self._features.plain else None
        if self.lanes is None:
            action, number, probability = drawn.item()
            if not self.has_propensity:
                probability = None
            mine = None if base is None else base.item()
            self._handed = features = z[0] if many else z[0, 0]
            return tuple.__new__(Decision, (action, probability, mine, features, None, number, memo, self._lineage))
        drawn.setflags(write=False)
        probability = drawn["probability"] if self.has_propensity else None
        self._handed = features = z if many else z[:, 0]
        served = self._every if lanes is None else read_only(ids)
        action, number = drawn["action"], drawn["number"]
        return tuple.__new__(Decision, (action, probability, base, features, served, number, memo, self._lineage))

    def update(self, decision: Decision, reward: ArrayLike) -> None:
        """Learn the reward of a decision: now or later, in any order, once."""
        ids, x, numbers = self._accept(decision)
        y = self._one_reward
        if y is not None and isinstance(reward, float) and abs(reward) <= LIMIT:
            y[0] = reward
        else:
            y = validation.rewards(reward, ids.size, self.lanes is not None)
        status = self._learn(ids, x, y, numbers, decision.memo)
        if status != DONE:
            raise self._refused(decision, ids, numbers, status)
        if self._messages:
            self._speak()

    def forget(self, decision: Decision) -> None:
        """Give up on a reward that will never come: the decision is settled, and nothing is learned.

        A decision that waits costs one bit for every later act of its lane (in a ring as wide for all lanes).
        """
        ids, _, numbers = self._accept(decision)
        status = self._ledger.settle(ids, numbers)
        if status != DONE:
            raise self._refused(decision, ids, numbers, status)
        self._ledger.rounds[ids] -= 1

    def update_many(self, decisions: Iterable[Decision], rewards: Iterable[Any]) -> None:
        """Learn many decisions in the order given: all of them, or none and an error."""
        decisions, rewards = list(decisions), list(rewards)
        if len(decisions) != len(rewards):
            raise validation.refuse("rewards", rewards, f"one for each of the {len(decisions)} decisions")
        ready = []
        seen: set[tuple[int, int]] = set()
        for decision, reward in zip(decisions, rewards, strict=True):
            ids, x, numbers = self._accept(decision)
            fresh = set(zip(ids.tolist(), numbers.tolist(), strict=True))
            if fresh & seen:
                raise validation.refuse("decisions", decision.number, "each decision once")
            seen |= fresh
            status = self._ledger.waiting(ids, numbers) if clean(x) else UNUSABLE
            if status != DONE:
                raise self._refused(decision, ids, numbers, status)
            y = validation.rewards(reward, ids.size, self.lanes is not None)
            ready.append((ids, x, y, numbers.copy(), decision.memo))
        for ids, x, y, numbers, memo in ready:
            self._ledger.settle(ids, numbers)
            self._absorb(ids, x, y, memo)
        self._speak()

    def learn(self, features: Any, reward: ArrayLike, *, lanes: ArrayLike | None = None) -> None:
        """Learn from data that the policy did not play: features of one action (per lane) and its reward."""
        ids = self._ids(lanes)
        x = self._features.one(features, None if self.lanes is None else ids.size)
        y = validation.rewards(reward, ids.size, self.lanes is not None)
        self._teach(ids, x, y, None)
        self._speak()

    def probabilities(
        self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None
    ) -> Array | None:
        """Return what ``act`` would sample from, ``(K,)`` or ``(n, K)``; None where it has no closed form."""
        ids = self._ids(lanes)
        x = self._seen(features, ids.size)
        if not clean(x):
            raise self._features.unusable(features, None if self.lanes is None else ids.size)
        offered = EVERYTHING if available is None else validation.offered(available, ids.size, x.shape[2])
        if not self.has_propensity:
            return None
        p, _ = self._distribution(ids, x, offered)
        return p[0] if self.lanes is None else p

    def add_lanes(self, n: int, **arguments: Any) -> None:
        """Append n fresh lanes. Arguments that were given per lane are given here for the new lanes.

        The state is copied once: add many lanes at a time. A meta-policy whose bases have arguments per lane cannot
        grow.
        """
        if self.lanes is None:
            raise validation.refuse("add_lanes", n, "a policy that was built with lanes")
        n = validation.whole_number("add_lanes: n", n, 1)
        per_lane = {name for name, value in self.settings.items() if self._is_per_lane(name, value)}
        if set(arguments) != per_lane:
            raise validation.refuse(
                "add_lanes",
                sorted(arguments),
                "the arguments that were given per lane, for the new lanes: " + (", ".join(sorted(per_lane)) or "none"),
            )
        fresh = type(self)(**(_blueprint(self.settings) | arguments | {"lanes": n}))
        joined = {}
        for name in per_lane:
            mine, new = np.asarray(getattr(self, name)), np.asarray(arguments[name])
            if new.shape != (n, *mine.shape[1:]):
                raise validation.refuse(f"add_lanes: {name}", arguments[name], f"shape {(n, *mine.shape[1:])}")
            joined[name] = read_only(np.concatenate([mine, new]))
        fresh._root(self._channel, self.lanes)
        self._extend(fresh)
        for name, value in joined.items():
            setattr(self, name, value)

    # What can be asked.

    @property
    def rounds(self) -> Any:
        """How many rewards have been learned."""
        return self._told(self._ledger.rounds)

    @property
    def feature_shape(self) -> FeatureShape:
        """The features that it takes."""
        return self._features

    @property
    def settings(self) -> dict[str, Any]:
        """The constructor's arguments as given."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        signature = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={literal(value)}"
            for name, value in self.settings.items()
            if not same(value, signature[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def bind(cls, **arguments: Any) -> Binding[Self]:
        """Return a factory with these arguments; ``given.<name>`` stands for a constant of the problem it will meet."""
        return Binding(cls, arguments)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing it atomically; ``banditselect.load`` continues bit-identically."""
        from .registry import dump

        dump(self, path)

    # Behind the door.

    @property
    def _size(self) -> int:
        return 1 if self.lanes is None else self.lanes

    def _number_lanes(self) -> None:
        """Number the lanes, for kernels and for decisions that serve all."""
        self._all = np.arange(self._size)
        self._every = read_only(self._all)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue as a copy, for which no decision is the one handed out last."""
        self.__dict__ |= state
        self._latest = self._handed = None
        self._number_lanes()

    def _lane_range(self, first: int) -> range | None:
        return None if self.lanes is None else range(first, first + self.lanes)

    def _told(self, array: NDArray[Any]) -> Any:
        """Return what can be asked: a copy, without the axis of lanes where there are none."""
        answer = np.array(array if self.lanes is not None else array[0])
        return answer.item() if answer.ndim == 0 else answer

    def _can_look_up(self) -> bool:
        """Tell whether features reach nothing but kernels, which also read lookups: code from outside wants arrays."""
        cls = type(self)
        return not any(sources.is_foreign(method) for method in (cls._distribution, cls._choose, cls._play))

    def _seen(self, features: Any, n: int) -> Array:
        """Return the features of all actions that n rows are offered: an array, or a lookup in its place.

        Their shape has been checked, their numbers not yet.
        """
        x = self._features.shaped_actions(features, None if self.lanes is None else n)
        if isinstance(x, Lookup):
            return x if self._looks_up else x.array()
        if type(features) is np.ndarray and features.ndim < (4 if self.lanes is None else 5):
            self._familiar = features.shape
            absent = (None,) * (4 - features.ndim)
            self._axes = absent if self.lanes is None else (slice(None), *absent)
        return x

    def _ids(self, lanes: ArrayLike | None) -> Index:
        if lanes is None:
            return self._all
        if self.lanes is None:
            raise validation.refuse("lanes", lanes, "None: this policy was built without lanes")
        return validation.lane_ids(lanes, self.lanes)

    def _accept(self, decision: Decision) -> tuple[Index, Array, Index]:
        """Check that a decision is ours; return its lanes, features and numbers."""
        if not isinstance(decision, Decision):
            raise validation.refuse("decision", decision, "what act returned")
        if decision.lineage != self._lineage:
            raise validation.refuse("decision", decision.lineage, f"a decision of this policy, lineage {self._lineage}")
        served = decision.lanes
        if (served is None) != (self.lanes is None):
            raise validation.refuse("decision", served, "lanes as this policy has them")
        if served is None:
            ids, lanes = self._all, None
            number, numbers = decision.number, self._one_number
            if type(number) is not int or not 0 <= number < 1 << 62:
                raise validation.refuse("decision", number, "the number of an act")
            numbers[0] = number
        else:
            ids = self._all if served is self._every else validation.lane_ids(served, self._size)
            lanes = ids.size
            numbers = np.array(decision.number, dtype=np.int64)
            if numbers.shape != (lanes,):
                raise validation.refuse("decision", decision.number, f"one number for each of {lanes} lanes")
        x = self._latest
        if x is None or decision.features is not self._handed or len(x) != ids.size:  # else it needs no second look
            x = self._features.shaped_one(decision.features, lanes)
        if decision.memo is not None or self._memo_width:
            self._accept_memo(decision.memo, ids.size)
        return ids, x, numbers

    def _accept_memo(self, memo: NDArray[Any] | None, n: int) -> None:
        """Refuse a memo that this policy cannot have written."""
        width = self._memo_width
        if memo is None or not width or memo.shape != (n, width) or not self._wrote(memo):
            raise validation.refuse("decision", memo, f"the memo of width {width} that act gave it")

    def _wrote(self, memo: Index) -> bool:
        """Tell whether a memo ``(n, w)`` can be one of this policy's."""
        return True

    def _refused(self, decision: Decision, ids: Index, numbers: Index, status: int) -> ValueError:
        """Return the error for a decision that cannot be learned: a row that the ledger does not expect, or why."""
        if status == UNUSABLE:
            return self._features.unusable(decision.features, None if self.lanes is None else ids.size)
        what = f"act {numbers[status]} of lane {ids[status]}"
        return validation.refuse("decision", what, "a decision that has not been learned yet: each is learned once")

    def _teach(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        """Learn what no decision of this policy's own book stands for: data from elsewhere, or a meta-policy's."""
        self._ledger.rounds[ids] += 1
        self._absorb(ids, x, y, memo)

    def _say(self, message: str | None) -> None:
        """Keep a warning, if there is one, until nothing is left half done."""
        if message is not None:
            self._messages.append(message)

    def _drain(self) -> list[str]:
        """Return the warnings kept, and forget them."""
        messages, self._messages = self._messages, []
        return messages

    def _speak(self) -> None:
        """Give the warnings kept."""
        for message in self._drain():
            validation.warn(f"{type(self).__name__}: {message}")

    def _is_per_lane(self, name: str, value: Any) -> bool:
        """Tell whether an argument was given per lane."""
        return getattr(self.constraints.get(name), "per_lane", False) and np.ndim(value) == 1

    def _root(self, channel: Channel, first: int = 0) -> None:
        """Draw from the streams of this channel, as the lanes from ``first`` on."""
        self._channel = channel
        self._streams = Streams(self.seed, self._lane_range(first), channel)

    def _extend(self, fresh: Self) -> None:
        """Append the lanes of an equal policy."""
        for name in self._parts:
            getattr(self, name).extend(getattr(fresh, name))
        self.lanes = self._size + fresh._size
        self._number_lanes()

    def _state(self) -> Iterator[tuple[str, LaneArrays]]:
        """Yield every part that is learned, under a name of its own."""
        for name in self._parts:
            yield name, getattr(self, name)


def per_lane(value: ArrayLike, lanes: int) -> Array:
    """Return a number, or one per lane, as ``(N,)``."""
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), (lanes,)))


def _blueprint(value: Any) -> Any:
    """Return settings in which every policy is replaced by what builds it anew."""
    if isinstance(value, Policy):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        return Binding(type(value), _blueprint(own))
    if isinstance(value, dict):
        return {name: _blueprint(part) for name, part in value.items()}
    return type(value)(map(_blueprint, value)) if isinstance(value, list | tuple) else value
