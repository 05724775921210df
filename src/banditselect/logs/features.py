"""The features of all actions of every logged decision: written out, looked up, crossed, or one block per arm.

A million decisions over a thousand items need not be held with the features of every action: these are formed when they
are asked for.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..actions.crossing import crossed_rows, disjoint_rows
from ..kernels.features import LIMIT
from ..runtime import constraints, errors, inputs
from ..runtime.settings import read_only
from ..runtime.shapes import widened
from ..types import Array, Blocked, Index, Mask

_CONTEXT = "finite numbers of shape (T, p), or a list of M arrays of shape (T, p_i)"


class LogFeatures(ABC):
    """Features of K actions for each of T decisions, formed when they are asked for.

    Attributes
    ----------
    size: T; None where it does not follow from the features.
    n_actions: K, the most that any decision offers.
    dims: the width of every map, of all blocks of parameters together.  many: whether there is an axis of maps.
    blocks: how many blocks every map has; empty where none has several.
    available: ``(T, K)``, False where a decision offers fewer than K; None where all offer K.
    """

    size: int | None
    n_actions: int
    dims: tuple[int, ...]
    many: bool
    blocks: tuple[int, ...] = ()
    available: Mask | None = None

    @abstractmethod
    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the features that these decisions offered, one array ``(n, K, d_i)`` per map, or for one map only."""

    def shown(self, rows: Index) -> Sequence[Array | Blocked]:
        """Return the same as policies are shown them: with several blocks ``Blocked``, without zeros in between."""
        return self.maps(rows)

    @abstractmethod
    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""


@dataclass(frozen=True, eq=False, repr=False)
class PerDecision(LogFeatures):
    """Features written out for every decision: ``(T, K, d)``, ``(T, M, K, d)``, or a list of M ``(T, K, d_i)``.

    A map with several blocks of parameters is a ``Blocked(values, block)``, ``(T, K, d)`` and ``(T, K)``.
    """

    features: Any
    block: Any = field(init=False)

    def __post_init__(self) -> None:
        expected = "finite numbers of shape (T, K, d) or (T, M, K, d), or a list of M arrays of shape (T, K, d_i)"
        given = [self.features] if isinstance(self.features, Blocked) else self.features
        divided = isinstance(given, Sequence) and any(isinstance(m, Blocked) for m in given)
        parts = [np.asarray(m.values if isinstance(m, Blocked) else m) for m in given] if divided else given
        maps, many = _as_maps("Log: features", parts, 3, expected)
        size, n_actions, _ = maps[0].shape
        fill(self, features=maps, many=many and given is self.features, size=size, n_actions=n_actions)
        block = tuple(_blocks(m, maps[0].shape[:2]) for m in given) if divided else (None,) * len(maps)
        counts = tuple(1 if b is None else int(b.max()) + 1 for b in block)
        dims = tuple(B * m.shape[2] for m, B in zip(maps, counts, strict=True))
        fill(self, dims=dims, blocks=counts if divided else (), block=block)

    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the features that these decisions offered."""
        counts = _chosen(self.blocks or (1,) * len(self.dims), only)
        parts = zip(map(_floats, self._given(rows, only)), counts, strict=True)
        return [widened(*m, B) if isinstance(m, Blocked) else m for m, B in parts]

    def shown(self, rows: Index) -> list[Array | Blocked]:
        """Return the same as they were given."""
        return [_floats(m) for m in self._given(rows)]

    def _given(self, rows: Index, only: int | None = None) -> list[Any]:
        pairs, rows = zip(_chosen(self.features, only), _chosen(self.block, only), strict=True), _run(rows)
        return [m[rows] if block is None else Blocked(m[rows], block[rows]) for m, block in pairs]

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        maps = self._given(rows)
        return type(self)(maps if self.many else maps[0])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OfferedItems(LogFeatures):
    """Items whose features do not change from decision to decision, and which of them every decision offered.

    Parameters
    ----------
    items: the features of all items, ``(n, d)`` or ``(M, n, d)``, or a list of M arrays ``(n, d_i)``.
    offered: the items of every decision, whole numbers ``(T, K)``; -1 fills up where fewer are offered. None: every
        decision offers all items.

    Examples
    --------
    >>> OfferedItems(items=[[0.0, 1.0], [2.0, 0.0], [3.0, 3.0]], offered=[[0, 2], [1, -1]]).available
    array([[ True,  True],
           [ True, False]])
    """

    items: Any
    offered: Any = None

    def __post_init__(self) -> None:
        expected = "finite numbers of shape (n, d) or (M, n, d), or a list of M arrays of shape (n, d_i)"
        maps, many = _as_maps("OfferedItems: items", self.items, 2, expected)
        n = maps[0].shape[0]
        fill(self, items=maps, many=many, size=None, n_actions=n, dims=tuple(m.shape[1] for m in maps))
        if self.offered is not None:
            found = np.array(self.offered)
            whole = found.dtype.kind in "iu" and found.ndim == 2 and found.size
            if not whole or found.min() < -1 or found.max() >= n:
                expected = f"whole numbers (T, K) between 0 and {n - 1}, or -1"
                raise errors.refuse("OfferedItems: offered", self.offered, expected)
            fill(self, offered=read_only(found.astype(np.int64)), size=found.shape[0], n_actions=found.shape[1])
            if (found < 0).any():
                fill(self, available=read_only(found >= 0))

    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the features that these decisions offered; zeros where there are fewer."""
        if self.offered is None:
            return [np.repeat(m.astype(np.float64)[None], rows.size, axis=0) for m in _chosen(self.items, only)]
        chosen = self.offered[rows]
        found = [m[chosen].astype(np.float64, copy=False) for m in _chosen(self.items, only)]
        for m in found if self.available is not None else []:
            m[chosen < 0] = 0.0
        return found

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        items = self.items if self.many else self.items[0]
        return type(self)(items=items, offered=None if self.offered is None else self.offered[rows])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrossedItems(LogFeatures):
    """A context for every decision and features of every item: all products of a number of each, d p of them.

    They are what :func:`banditselect.cross_features` returns. A 1 in the context keeps the items' own features among
    them, and a 1 among those of every item keeps the context.

    Parameters
    ----------
    context: ``(T, p)``; or, for M maps, a list of M arrays ``(T, p_i)``.
    items: an :class:`OfferedItems`, or what that takes as ``items``, all of which every decision then offers. Where
        both have M maps, the i-th context meets the items of map i; one map of either meets all of the other.

    Examples
    --------
    >>> import numpy as np
    >>> CrossedItems(context=[[1.0, 7.0]], items=[[2.0, 3.0], [4.0, 5.0]]).maps(np.array([0]))[0]
    array([[[ 2., 14.,  3., 21.],
            [ 4., 28.,  5., 35.]]])
    """

    context: Any
    items: Any

    def __post_init__(self) -> None:
        (context, many), items = _as_maps("CrossedItems: context", self.context, 2, _CONTEXT), self.items
        items = items if isinstance(items, OfferedItems) else OfferedItems(items=items)
        size, M = context[0].shape[0], max(len(context), len(items.dims))
        if items.size not in (None, size):
            raise errors.refuse("CrossedItems: items", f"{items.size} decisions", f"{size}, as in context")
        if {len(context), len(items.dims)} - {1, M}:
            expected = f"one map, or {len(context)}, as in context"
            raise errors.refuse("CrossedItems: items", f"{len(items.dims)} maps", expected)
        widths = [x.shape[1] for x in _times(context, M)]
        dims = tuple(p * d for p, d in zip(widths, _times(items.dims, M), strict=True))
        fill(self, context=context, items=items, many=many or items.many, size=size, dims=dims)
        fill(self, available=items.available, n_actions=items.n_actions)

    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the features that these decisions offered; zeros where there are fewer."""
        context = _chosen(_times(self.context, len(self.dims)), only)
        items = self.items.maps(rows, only if len(self.items.dims) > 1 else None)
        return [crossed_rows(x[rows], z) for x, z in zip(context, _times(items, len(context)), strict=True)]

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        return type(self)(context=_some(self.context, rows, self.many), items=self.items.take(rows))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DisjointArms(LogFeatures):
    """A context for every decision and a parameter block of its own for each of K arms: d = K p.

    The features of arm a are the context at the places a p, ..., a p + p - 1 and zero elsewhere. There is no constant
    term unless the context has a column of ones.

    Parameters
    ----------
    context: ``(T, p)``; or, for M maps, a list of M arrays ``(T, p_i)``.
    n_actions: K.

    Examples
    --------
    >>> import numpy as np
    >>> DisjointArms(context=[[5.0, 7.0]], n_actions=2).maps(np.array([0]))[0]
    array([[[5., 7., 0., 0.],
            [0., 0., 5., 7.]]])
    """

    context: Any
    n_actions: int

    def __post_init__(self) -> None:
        context, many = _as_maps("DisjointArms: context", self.context, 2, _CONTEXT)
        K = constraints.whole_number("DisjointArms: n_actions", self.n_actions, 1)
        dims = tuple(K * x.shape[1] for x in context)
        fill(self, context=context, many=many, size=context[0].shape[0], n_actions=K, dims=dims)
        fill(self, blocks=(K,) * len(dims))

    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the features that these decisions offered."""
        return [disjoint_rows(x[rows], self.n_actions) for x in _chosen(self.context, only)]

    def shown(self, rows: Index) -> Sequence[Array | Blocked]:
        """Return the context and the block of every arm."""
        K = self.n_actions
        block = np.tile(np.arange(K), (rows.size, 1))
        return [Blocked(np.repeat(x[rows, None].astype(np.float64), K, axis=1), block) for x in self.context]

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        return type(self)(context=_some(self.context, rows, self.many), n_actions=self.n_actions)


def fill(this: object, /, **values: Any) -> None:
    """Set attributes of an object whose class is frozen."""
    for name, value in values.items():
        object.__setattr__(this, name, value)


def _chosen(maps: Sequence[Any], only: int | None) -> Sequence[Any]:
    """Return all maps, or one."""
    return maps if only is None else maps[only : only + 1]


def _times(maps: Sequence[Any], M: int) -> Sequence[Any]:
    """Return M maps, or the only one M times."""
    return maps if len(maps) == M else [*maps] * M


def _some(maps: Sequence[NDArray[Any]], rows: Index, many: bool) -> Any:
    """Return some rows of every map, a list where there may be several."""
    return [m[rows] for m in maps] if many else maps[0][rows]


def _as_maps(name: str, value: Any, ndim: int, expected: str) -> tuple[tuple[NDArray[Any], ...], bool]:
    """Return copies of the maps, ``ndim`` axes each, and whether there was an axis or a list of them."""
    ragged = isinstance(value, Sequence) and all(isinstance(m, np.ndarray) and m.ndim == ndim for m in value)
    parts = [_real(name, m, expected) for m in (value if ragged and len(value) else [value])]
    many = ragged or parts[0].ndim == ndim + 1
    if not ragged and many:
        parts = [np.ascontiguousarray(m) for m in np.moveaxis(parts[0], ndim - 2, 0)]
    if not parts or any(m.ndim != ndim or not m.size or m.shape[:-1] != parts[0].shape[:-1] for m in parts):
        raise errors.refuse(name, value, expected)
    for m in parts:
        for place in np.argwhere(~(np.abs(m) <= LIMIT))[:1].tolist():
            raise errors.refuse(f"{name}{place}", m[tuple(place)].item(), f"{expected}, at most {LIMIT:g}")
    return tuple(map(read_only, parts)), many


def _blocks(given: Any, shape: tuple[int, ...]) -> Index | None:
    """Return the blocks of the actions of a map, None for one without."""
    if not isinstance(given, Blocked):
        return None
    found = np.asarray(given.block)
    if found.dtype.kind not in "iu" or found.shape != shape or found.min() < 0:
        raise errors.refuse("Log: block", given.block, f"whole numbers >= 0 of shape {shape}")
    return read_only(found.astype(np.int64))


def _run(rows: Index) -> Any:
    """Return positions that follow one another as a slice, which copies nothing."""
    whole = rows.size > 0 and rows[-1] - rows[0] + 1 == rows.size and bool((np.diff(rows) == 1).all())
    return slice(int(rows[0]), int(rows[-1]) + 1) if whole else rows


def _floats(features: Any) -> Any:
    """Return features in double precision."""
    if isinstance(features, Blocked):
        return Blocked(_floats(features.values), features.block)
    return features.astype(np.float64, copy=False)


def part_of(features: Any, places: Any) -> Any:
    """Return some entries of every map: of an array, of ``Blocked``, or of a list of them."""
    if isinstance(features, Blocked):
        return Blocked(features.values[places], features.block[places])
    return [part_of(m, places) for m in features] if isinstance(features, list) else features[places]


def _real(name: str, value: Any, expected: str) -> NDArray[Any]:
    """Return an array of float32 if it is that, else of float64."""
    array = np.asarray(value) if isinstance(value, np.ndarray) else inputs.as_floats(name, value, expected)
    if array.dtype.kind not in "fiub":
        raise errors.refuse(name, value, expected)
    return np.asarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
