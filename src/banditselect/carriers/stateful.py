"""An object with lanes: its settings checked and kept, its parts found, its random streams, its answers.

Nothing that an object learns has to be announced. Its parts (:class:`LaneArrays`) and the objects with lanes inside it
are its attributes; they are found there when it is saved, extended by lanes, or given its random streams.
"""

import copy
import functools
import inspect
import secrets
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..types import Index
from . import validation
from .binding import Binding
from .gate import Gate
from .lanes import LaneArrays, members, parts_of
from .settings import literal, read_only, same
from .streams import Channel, Seed, Streams
from .validation import Constraint
from .workers import ITSELF, Elsewhere


class Stateful:
    """What has settings, lanes and seeds. A subclass stores its arguments under their own names and then calls this.

    Parameters
    ----------
    lanes: None, or the number N of independent learners in this object.
    seed: a whole number, or a tuple of them. Lane j draws the random numbers of the object with ``seed=(*seed, j)``.
    """

    constraints: ClassVar[dict[str, Constraint]] = {}
    _settled: frozenset[str] = frozenset()  #: the settings, once it is built
    _owned: bool = False  #: whether it is inside another one

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
        self._lineage = secrets.randbits(53)  # survives stores that keep numbers as doubles, and save and load
        self._gate = Gate()
        self._worker, self._elsewhere = ITSELF, Elsewhere()
        self._number_lanes()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" in vars(cls):
            cls.__init__ = _settling(cls.__init__)  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._settled:
            raise AttributeError(
                f"{type(self).__name__}: {name} is a setting and cannot be changed; build a new object"
            )
        object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # two objects never share state

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

    def add_lanes(self, n: int, **arguments: Any) -> None:
        """Append n fresh lanes. Arguments that were given per lane are given here for the new lanes.

        The state is copied once: add many lanes at a time. A meta-policy whose bases have arguments per lane cannot
        grow.
        """
        if self.lanes is None:
            raise validation.refuse("add_lanes", n, "a policy that was built with lanes")
        n = validation.whole_number("add_lanes: n", n, 1)
        per_lane = {name for name, rule in self.constraints.items() if rule.is_per_lane(getattr(self, name))}
        if set(arguments) != per_lane:
            expected = (
                f"the arguments that were given per lane, for the new lanes: {', '.join(sorted(per_lane)) or 'none'}"
            )
            raise validation.refuse("add_lanes", sorted(arguments), expected)
        fresh = type(self)(**(_blueprint(self.settings) | arguments | {"lanes": n}))
        joined = {}
        for name in per_lane:
            mine, new = np.asarray(getattr(self, name)), np.asarray(arguments[name])
            if new.shape != (n, *mine.shape[1:]):
                raise validation.refuse(f"add_lanes: {name}", arguments[name], f"shape {(n, *mine.shape[1:])}")
            joined[name] = read_only(np.concatenate([mine, new]))
        fresh._root(self._channel, self.lanes)
        changing: list[Any] = [self, *(part for _, part in self._state())]
        for one in changing:
            changing += [inner for _, inner in one._inside()] if isinstance(one, Stateful) else []
        with self._gate:
            before = [(vars(one), dict(vars(one))) for one in changing]
            try:
                self.__dict__ |= joined
                self._extend(fresh)
            except BaseException:  # interrupted, or out of memory: all parts have as many lanes as before
                for now, then in before:
                    now.update(then)
                raise

    def reset_lanes(self, lanes: ArrayLike) -> None:
        """Make lanes fresh again, for others than those they have served; of what they decided nothing is learned.

        The acts of a lane are counted on, so it does not draw the random numbers of its first acts again.
        """
        if self.lanes is None:
            raise validation.refuse("reset_lanes", lanes, "a policy that was built with lanes")
        ids = self._ids(lanes)
        per_lane = {
            name: np.asarray(getattr(self, name))[ids]
            for name, rule in self.constraints.items()
            if rule.is_per_lane(getattr(self, name))
        }
        fresh = type(self)(**(_blueprint(self.settings) | per_lane | {"lanes": ids.size}))
        with self._gate:
            for (_, mine), (_, theirs) in zip(self._state(), fresh._state(), strict=True):
                mine.reset(ids, theirs)
            self._elsewhere.clear(set(ids.tolist()))

    # Lanes.

    @property
    def _size(self) -> int:
        return 1 if self.lanes is None else self.lanes

    def _number_lanes(self) -> None:
        """Number the lanes: for kernels, and for whoever is handed them, read-only."""
        self._all = np.arange(self._size)
        self._every = read_only(self._all)

    def _ids(self, lanes: ArrayLike | None) -> Index:
        """Return the lanes named, all of them by default."""
        if lanes is None:
            return self._all
        if self.lanes is None:
            raise validation.refuse("lanes", lanes, "None: this policy was built without lanes")
        return validation.lane_ids(lanes, self.lanes)

    def _answer(self, array: NDArray[Any]) -> Any:
        """Return what was asked: a copy, without the axis of lanes where there are none."""
        answer = np.array(array if self.lanes is not None else array[0])
        return answer.item() if answer.ndim == 0 else answer

    # What is inside.

    def _inside(self) -> Iterator[tuple[str, "Stateful"]]:
        """Yield the objects with lanes that this one is made of, each under the way to it."""
        yield from members(self, Stateful)

    def _state(self) -> Iterator[tuple[str, LaneArrays]]:
        """Yield every part, those of what is inside too, each under the way to it."""
        yield from parts_of(self)
        for name, inner in self._inside():
            for way, part in inner._state():
                yield f"{name}.{way}", part

    def _root(self, channel: Channel, first: int = 0) -> None:
        """Draw from the streams of this channel, as the lanes from ``first`` on."""
        self._channel = channel
        self._streams = Streams(self.seed, self._lane_range(first), channel)
        for i, (_, inner) in enumerate(self._inside()):  # the first keeps the channel: alone it draws as if by itself
            inner._root((*channel, i) if i else channel, first)
            inner._owned = True

    def _lane_range(self, first: int) -> range | None:
        return None if self.lanes is None else range(first, first + self.lanes)

    def _extend(self, fresh: Self) -> None:
        """Append the lanes of an equal object."""
        for (_, mine), (_, theirs) in zip(parts_of(self), parts_of(fresh), strict=True):
            mine.extend(theirs)
        for (_, inner), (_, other) in zip(self._inside(), fresh._inside(), strict=True):
            inner._extend(other)
        self.__dict__["lanes"] = self._size + fresh._size
        self._number_lanes()


def _settling(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor after which settings can be read only, if no subclass has one that goes on."""

    @functools.wraps(init)
    def constructor(self: Stateful, *args: Any, **arguments: Any) -> None:
        init(self, *args, **arguments)
        if type(self).__init__ is constructor:
            self._settled = frozenset(self.settings)

    return constructor


def _blueprint(value: Any) -> Any:
    """Return settings in which every object with lanes is replaced by what builds it anew."""
    if isinstance(value, Stateful):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        return Binding(type(value), _blueprint(own))
    if isinstance(value, dict):
        return {name: _blueprint(part) for name, part in value.items()}
    return type(value)(map(_blueprint, value)) if isinstance(value, list | tuple) else value
