"""The features that a policy takes: their shape, checked and brought into one form, ``(n, P, K, d)``."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from ..kernels.features import LIMIT, Offer, usable
from ..types import Array, Blocked, Index
from .errors import ArgumentError, refuse
from .inputs import FLOAT, as_floats, depth_of


class FeatureShape(ABC):
    """The features that a policy takes. ``many``: they have an axis of maps, ``(M, K, d)``; else ``(K, d)``.

    ``n_actions``: the number K of actions, for a policy that knows actions by their positions; None for any number.
    """

    many: bool
    n_actions: int | None = None
    blocked: ClassVar[bool] = False  #: whether the block of an action stands behind its features

    @abstractmethod
    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""

    @abstractmethod
    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Return whether maps of these widths fit; ``padded``: they may come zero-padded to the widest."""

    def shaped_actions(self, value: Any, lanes: int | None) -> Array:
        """Return the features of all actions as ``(n, P, K, d)``, zero-padded to the widest map.

        Items of a catalogue are returned as a lookup. Whether the numbers are finite is checked by the caller.
        """
        if type(value) is Offer:
            return self._looked_up(value, lanes)
        x = self._floats(value, lanes, 1)
        shape = x.shape
        if not self._counts(shape[-2]):
            raise refuse("features", x, f"{self.words(lanes)} with at least one action")
        if lanes is None:
            return x[None] if self.many else x[None, None]
        return x.reshape(lanes, shape[-3] if self.many else 1, shape[-2], shape[-1])

    def _looked_up(self, offer: Offer, lanes: int | None) -> Array:
        """Return the lookup of an offer that fits; kernels read it as they read the array."""
        x = offer.lookup
        if offer.shared and lanes is not None:
            x = x.rows(np.zeros(lanes, dtype=np.int64))
        fits = offer.many == self.many and self.accepts(offer.widths, False) and self._divides(offer.blocks)
        fits = (fits or isinstance(self, AnyShape)) and self._counts(x.shape[2])
        if not fits or x.where.size != (lanes or 1):
            front = () if lanes is None else x.shape[:1]
            found = f"items whose features have the shape {(*front, *x.shape[1 if offer.many else 2 :])}"
            found += ", the block behind them" if offer.blocks else ""
            raise refuse("features", found, self.words(lanes) + self._hint(offer.many))
        return cast(Array, x)

    def shaped_one(self, value: Any, lanes: int | None) -> Array:
        """Return the features of one action per lane as ``(n, P, d)``."""
        x = self._floats(value, lanes, 0)
        if lanes is None:
            return x[None] if self.many else x[None, None]
        return x.reshape(lanes, x.shape[-2] if self.many else 1, x.shape[-1])

    def _floats(self, value: Any, lanes: int | None, inner: int) -> Array:
        """Return float64 features of the right shape, with ``inner`` axes of actions."""
        front = 0 if lanes is None else 1
        ndim = front + self.many + inner + 1
        if type(value) is np.ndarray and value.dtype is FLOAT:
            x, maps = value, None
        else:
            x, maps = self._converted(value, lanes, inner, ndim)
        shape = x.shape
        if len(shape) == ndim and (lanes is None or shape[0] == lanes):
            widths = maps or (shape[-1],) * (shape[front] if self.many else 1)
            if self.accepts(widths, inner == 0 and maps is None):
                # a read-only array is another type to the compiler: kernels would compile twice
                return x if x.flags.carray else x.copy()
        expected = self._expected(lanes, inner) + self._hint(len(shape) > ndim)
        raise refuse("features", x if x.size > 8 else value, expected)

    def _converted(self, value: Any, lanes: int | None, inner: int, ndim: int) -> tuple[Array, tuple[int, ...] | None]:
        """Return features as a float64 array; those of a list of maps with the widths of the maps."""
        value = self._undivided(value, lanes)
        depths = {depth_of(m) for m in value} if isinstance(value, list | tuple) else set()
        if not (self.many and depths == {ndim - 1}) or (
            lanes is not None and not any(isinstance(m, np.ndarray) for m in value)
        ):
            return as_floats("features", value, self._expected(lanes, inner) + self._hint(depths == {ndim})), None
        maps = value
        if not all(type(m) is np.ndarray and m.dtype is FLOAT for m in value):
            maps = [as_floats("features", m, self._expected(lanes, inner)) for m in value]
        if len({m.shape[:-1] for m in maps}) != 1:
            raise refuse("features", value, self._expected(lanes, inner))
        widths = tuple(m.shape[-1] for m in maps)
        if inner:
            return join_maps(maps), widths
        return join_maps([m[..., None, :] for m in maps])[..., 0, :], widths

    def _undivided(self, value: Any, lanes: int | None) -> Any:
        """Return features without blocks: in their places of a wide map, 0 elsewhere."""
        if isinstance(value, Blocked):
            return self._wide(value, 0, lanes)
        if isinstance(value, list | tuple) and any(isinstance(m, Blocked) for m in value):
            return [self._wide(m, i, lanes) if isinstance(m, Blocked) else m for i, m in enumerate(value)]
        return value

    def _wide(self, given: Blocked, i: int, lanes: int | None) -> Any:
        """Return the features of map i so; as they are if nothing is known of it."""
        values, block, width = np.asarray(given.values), np.asarray(given.block), self._width(i)
        if width is None:
            return values
        front, d = values.shape[:-1], values.shape[-1] if values.ndim else 0
        right = d > 0 and width % d == 0 and block.shape == front and block.dtype.kind in "iu" and block.size > 0
        if not right or block.min() < 0 or block.max() >= width // d:
            raise refuse("features", given, self.words(lanes))
        return widened(values, block, width // d)

    def _width(self, i: int) -> int | None:
        """Return the width of map i, if it is known."""
        return None

    def _divides(self, blocks: tuple[int, ...]) -> bool:
        """Return whether items with so many blocks fit, 0 for a map that has none, empty where no map has."""
        return not blocks

    def _counts(self, K: int) -> bool:
        """Return whether this many actions fit."""
        return K > 0 if self.n_actions is None else self.n_actions == K

    @property
    def _K(self) -> str:
        return "K" if self.n_actions is None else f"K = {self.n_actions}"

    def _expected(self, lanes: int | None, inner: int) -> str:
        return self.words(lanes) if inner else f"{self.words(lanes)} without the axis K"

    def _hint(self, several: bool) -> str:
        """Return what to do for a policy with one map that is given several."""
        return "; on_map(policy, i) looks at one of several maps" if several and not self.many else ""

    def unusable(self, value: Any, lanes: int | None) -> ArgumentError:
        """Return the error for features of the right shape that are not finite."""
        return refuse("features", value, f"{self.words(lanes)}, every entry finite and at most {LIMIT:g}")


@dataclass(frozen=True)
class ExactShape(FeatureShape):
    """P maps of widths ``dims``."""

    dims: tuple[int, ...]
    many: bool
    n_actions: int | None = None

    @property
    def blocks(self) -> tuple[int, ...]:
        """Number of blocks of parameters that every map has."""
        return (1,) * len(self.dims)

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front = "" if lanes is None else f"{lanes}, "
        K, M, d = self._K, len(self.dims), self.dims[0]
        if not self.many:
            return f"finite numbers of shape ({front}{K}, {d})"
        if len(set(self.dims)) == 1:
            return f"finite numbers of shape ({front}{M}, {K}, {d}), or a list of {M} arrays of shape ({front}{K}, {d})"
        return f"a list of {M} arrays of shape ({front}{K}, d_i) with d_i = {self.dims}"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Return whether maps of these widths fit."""
        return widths == self.dims or (padded and widths == (max(self.dims),) * len(self.dims))

    def _width(self, i: int) -> int | None:
        return self.dims[i] if i < len(self.dims) else None


@dataclass(frozen=True)
class SomeMaps(FeatureShape):
    """Any number of maps, of which those that are used have known widths: pairs (index, width)."""

    used: tuple[tuple[int, int], ...]
    many: bool = True
    n_actions: int | None = None

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front, K = "" if lanes is None else f"{lanes}, ", self._K
        maps = ", ".join(f"map {index} of width {width}" for index, width in self.used)
        arrays = f"finite numbers of shape ({front}M, {K}, d), or a list of M arrays of shape ({front}{K}, d_i)"
        return f"{arrays}, with {maps}"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Return whether maps of these widths fit."""
        return all(i < len(widths) and (widths[i] == w or (padded and widths[i] > w)) for i, w in self.used)

    def _width(self, i: int) -> int | None:
        return dict(self.used).get(i)


@dataclass(frozen=True)
class AnyShape(FeatureShape):
    """Features of any shape with the actions on the last axis but one; one map, or all axes before it are maps."""

    many: bool = False
    n_actions: int | None = None

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front = "" if lanes is None else f"{lanes}, "
        return f"finite numbers of shape ({front}..., {self._K}, d), or a list of such arrays"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Accept everything."""
        return True

    def shaped_actions(self, value: Any, lanes: int | None) -> Array:
        """Return the features as ``(n, P, K, d)``, zero-padded to the widest map."""
        if type(value) is Offer:
            return self._looked_up(value, lanes)
        depth = 2 if lanes is None else 3
        ragged = isinstance(value, list | tuple) and all(depth_of(values_of(m)) >= depth for m in value)
        given = value if ragged and not isinstance(value, Blocked) else [value]
        maps = [as_floats("features", values_of(m), self.words(lanes)) for m in given]
        if not maps:
            raise refuse("features", value, self.words(lanes))
        for x in maps:
            wrong = x.ndim < depth or x.shape[-2] != maps[0].shape[-2] or not self._counts(x.shape[-2])
            if wrong or (lanes is not None and x.shape[0] != lanes):
                raise refuse("features", x, self.words(lanes))
        K, rows = maps[0].shape[-2], lanes or 1
        return join_maps([m for x in maps for m in np.swapaxes(x.reshape(rows, -1, K, x.shape[-1]), 0, 1)])

    def shaped_one(self, value: Any, lanes: int | None) -> Array:
        """Return zeros ``(n, 1, 1)``: nothing is learned from it."""
        for m in value if isinstance(value, list | tuple) and value and not isinstance(value, Blocked) else [value]:
            if not usable(as_floats("features", values_of(m), "finite numbers").flatten()):
                raise refuse("features", value, "finite numbers")
        return np.zeros((lanes or 1, 1, 1))


def values_of(features: Any) -> Any:
    """Return the features of a map without its blocks."""
    return features.values if isinstance(features, Blocked) else features


def each(features: Any, change: Callable[[Any], Any]) -> Any:
    """Return the features of a map, and their blocks if there are some, changed alike."""
    return Blocked(*map(change, features)) if isinstance(features, Blocked) else change(features)


def stacked(maps: Sequence[Array | Blocked], many: bool, axis: int) -> Any:
    """Return features as policies take them: one map, maps of one width along an axis, or a list of maps."""
    if not many:
        return maps[0]
    arrays = [m for m in maps if not isinstance(m, Blocked)]
    alike = len(arrays) == len(maps) and len({m.shape[-1] for m in arrays}) == 1
    return np.stack(arrays, axis=axis) if alike else list(maps)


def widened(values: Array, block: Index, blocks: int) -> Array:
    """Return features ``(..., d)`` in the place of their block ``(...)`` and zeros elsewhere, ``(..., blocks d)``."""
    wide = np.zeros((*block.shape, blocks, values.shape[-1]))
    np.put_along_axis(wide, block[..., None, None], values[..., None, :], axis=-2)
    return wide.reshape(*block.shape, -1)


def join_maps(maps: Sequence[Array]) -> Array:
    """Return maps ``(..., K, d_i)`` as one array ``(..., P, K, d)``, zero-padded to the widest."""
    *front, K, d = maps[0].shape
    if all(m.shape[-1] == d for m in maps):
        return np.concatenate(maps, axis=-2).reshape(*front, len(maps), K, d)
    x = np.zeros((*front, len(maps), K, max(m.shape[-1] for m in maps)))
    for i, m in enumerate(maps):
        x[..., i, :, : m.shape[-1]] = m
    return x


def common_shape(name: str, shapes: Sequence[FeatureShape]) -> FeatureShape:
    """Return the one shape that suits all of several policies that are to be given the same features."""
    counts = [s.n_actions for s in shapes]
    known = next((K for K in counts if K is not None), None)
    for i, K in enumerate(counts):
        if K not in (None, known):
            raise ValueError(f"{name}[{i}]: takes {K} actions; expected {known}, as others take")
    return replace(_common_maps(name, [replace(s, n_actions=None) for s in shapes]), n_actions=known)  # type: ignore[type-var]


def _common_maps(name: str, shapes: Sequence[FeatureShape]) -> FeatureShape:
    """Return the one shape that suits all, for any number of actions."""
    exact = [s for s in shapes if isinstance(s, ExactShape)]
    some = [s for s in shapes if isinstance(s, SomeMaps)]
    for i, shape in enumerate(shapes):
        widths = dict(pair for s in some[: some.index(shape)] for pair in s.used) if shape in some else {}
        if any(widths.get(index, width) != width for index, width in getattr(shape, "used", ())):
            raise ValueError(f"{name}[{i}]: takes {shape.words(None)}; expected the widths that others take")
    if some and not exact:
        return SomeMaps(tuple(dict.fromkeys(pair for s in some for pair in s.used)))
    if not exact:
        return AnyShape()
    for i, shape in enumerate(shapes):
        fits = shape == exact[0] or isinstance(shape, AnyShape)
        if isinstance(shape, SomeMaps) and exact[0].many:
            fits = shape.accepts(exact[0].dims, padded=False)
        if not fits:
            raise ValueError(f"{name}[{i}]: takes {shape.words(None)}; expected {exact[0].words(None)}, as others take")
    return exact[0]
