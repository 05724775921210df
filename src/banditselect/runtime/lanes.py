"""State as named arrays with one row per lane, so that lanes can be added, saved and restored by name alone."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..types import Array, Index

T = TypeVar("T")


class MemberMove(NamedTuple):
    """Models that move from one list to another: those at ``old`` of the first stand at ``new`` in the second.

    Attributes
    ----------
    old, new: positions in the two lists, of one length.
    n_old, n_new: how many models the lists have.
    """

    old: Index
    new: Index
    n_old: int
    n_new: int

    def repeated(self, times: int) -> "MemberMove":
        """Return the move of lists that stand several times one after the other.

        Examples
        --------
        >>> MemberMove(np.array([1]), np.array([0]), 2, 1).repeated(3).old
        array([1, 3, 5])
        """
        rows = np.arange(times)[:, None]
        old, new = (rows * self.n_old + self.old).ravel(), (rows * self.n_new + self.new).ravel()
        return MemberMove(old, new, self.n_old * times, self.n_new * times)


class LaneArrays:
    """A part of a policy: ``state`` names the arrays it learns, ``fixed`` those that its settings determine.

    Every array named has a leading axis of lanes. ``fixed`` arrays are rebuilt from the settings when a policy is
    loaded, ``state`` arrays are stored. A part may be made of parts: they are its attributes. Files name an array by
    the attributes that lead to it (``tests/golden``), so these names stay once they have been released.
    """

    state: tuple[str, ...] = ()
    growing: tuple[str, ...] = ()  # of these, the length of the second axis is learned too: it only grows
    nonnegative: tuple[str, ...] = ()  # of these, no entry is below 0
    unbounded: tuple[str, ...] = ()  # of these, entries may be NaN or infinite
    fixed: tuple[str, ...] = ()
    member_axis: ClassVar[dict[str, int]] = {}  # of arrays learned for each model: the axis of the models
    shared: tuple[str, ...] = ()  # arrays without an axis of lanes, determined by the settings

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the learned arrays by name (the arrays themselves, not copies)."""
        return {name: getattr(self, name) for name in self.state}

    @property
    def changes(self) -> bool:
        """True if it learns anything, or computes anything from learned arrays, which ``restore`` forgets."""
        return bool(self.state) or type(self).restore is not LaneArrays.restore

    def check(self, name: str, array: NDArray[Any]) -> None:
        """Refuse what a learned array cannot hold, so that it is neither stored nor taken over."""
        if array.dtype.kind == "f" and name not in self.unbounded and not np.isfinite(array).all():
            raise ValueError(f"array {name!r}: not finite")
        if name in self.nonnegative and array.min(initial=0) < 0:
            raise ValueError(f"array {name!r}: below 0")

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the learned arrays of an equal part."""
        for name, mine in self.learned().items():
            theirs = arrays[name]
            shapes = [list(a.shape) for a in (mine, theirs)]
            if name in self.growing and theirs.ndim == mine.ndim and theirs.shape[1] >= mine.shape[1]:
                shapes = [shape[:1] + shape[2:] for shape in shapes]
            if theirs.dtype != mine.dtype or shapes[0] != shapes[1]:
                raise ValueError(
                    f"array {name!r}: found {theirs.dtype} {theirs.shape}, expected {mine.dtype} {mine.shape}"
                )
            self.check(name, theirs)
            setattr(self, name, np.array(theirs, order="C"))

    def take(self, other: "LaneArrays", move: MemberMove, whole: bool) -> None:
        """Take over what another part has learned of the models that move, and what is not of any model if ``whole``.

        The parts are alike but for their models, and so for how wide those are.
        """
        arrays = self.learned()
        for name, theirs in other.learned().items():
            axis = self.member_axis.get(name)
            if name not in arrays:
                continue  # no model that moves has it
            if axis is not None:
                arrays[name] = _moved(arrays[name], theirs, axis, self._move_of(name, other, move))
            elif whole:
                arrays[name] = theirs
        self.restore(arrays)

    def _move_of(self, name: str, other: "LaneArrays", move: MemberMove) -> MemberMove:
        """Return how the entries of one array move, where a model has several of them."""
        return move

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal part."""
        for name in self.state + self.fixed:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)]))

    def reset(self, ids: NDArray[np.int64], fresh: Self) -> None:
        """Begin anew in the lanes ``ids (n,)``: take the rows of a fresh part with n lanes."""
        for (name, mine), theirs in zip(self.learned().items(), fresh.learned().values(), strict=True):
            if name in self.growing:
                spare = [(0, 0), (0, mine.shape[1] - theirs.shape[1]), *[(0, 0)] * (mine.ndim - 2)]
                theirs = np.pad(theirs, spare, mode="edge")
            mine[ids] = theirs

    def copy_lanes(self, ids: NDArray[np.int64], other: Self) -> None:
        """Be what an equal part is in the lanes ``ids (n,)``."""
        for name in self.state + self.fixed:
            getattr(self, name)[ids] = getattr(other, name)[ids]


def _moved(mine: NDArray[Any], theirs: NDArray[Any], axis: int, move: MemberMove) -> NDArray[Any]:
    """Return my array with the models that move; where entries are more here than there, the first are theirs."""
    move = move.repeated(mine.shape[axis] // move.n_new)
    out = mine.copy()
    to, of = np.moveaxis(out, axis, 0), np.moveaxis(theirs, axis, 0)
    common: tuple[Any, ...] = tuple(slice(min(sizes)) for sizes in zip(to.shape[1:], of.shape[1:], strict=True))
    to[(move.new, *common)] = of[(move.old, *common)]
    return out


class Snapshot:
    """A copy of the learned arrays of these parts in some lanes each, to be put back if a call is interrupted."""

    def __init__(self, parts: Iterable[tuple[LaneArrays, NDArray[np.int64]]]) -> None:
        self._kept: list[tuple[LaneArrays, str, NDArray[Any], Any, NDArray[Any]]] = []
        for part, ids in parts:
            for name in part.state:
                array = getattr(part, name)
                if len(array) == ids.size:  # a copy of all is faster than a selection
                    self._kept.append((part, name, array, slice(None), array.copy()))
                else:
                    self._kept.append((part, name, array, ids, array[ids]))

    def restore(self) -> None:
        """Put the copy back over everything learned since."""
        for part, name, array, lanes, rows in self._kept:
            array[lanes] = rows
            setattr(part, name, array)
        for part in dict.fromkeys(kept[0] for kept in self._kept):
            part.restore(part.learned())


def per_lane(value: ArrayLike, lanes: int) -> Array:
    """Return a number, or one per lane, as ``(N,)``."""
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), (lanes,)))


def parts_of(owner: object) -> Iterator[tuple[str, LaneArrays]]:
    """Yield the parts among the attributes of an object, and theirs, each under the way to it: ``bank``, ``sets.bank``.

    Nothing has to be announced: what is a part is found, in a list or tuple too. A part that is reached in two ways is
    yielded once.
    """
    seen: set[int] = set()

    def walk(holder: object, way: str) -> Iterator[tuple[str, LaneArrays]]:
        for name, value in members(holder, LaneArrays):
            if id(value) not in seen:
                seen.add(id(value))
                yield way + name, value
                yield from walk(value, f"{way}{name}.")

    yield from walk(owner, "")


def members(owner: object, kind: type[T]) -> Iterator[tuple[str, T]]:
    """Yield what is of one kind among the attributes of an object, and in lists and tuples of them, by name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> list(members(SimpleNamespace(one=1.0, several=[2.0, "x", 3.0]), float))
    [('one', 1.0), ('several[0]', 2.0), ('several[2]', 3.0)]
    """
    for name, value in vars(owner).items():
        if isinstance(value, kind):
            yield name, value
        elif isinstance(value, list | tuple):
            yield from ((f"{name}[{i}]", part) for i, part in enumerate(value) if isinstance(part, kind))
