"""The features that a policy takes: their shape, checked and brought into one form, ``(n, P, K, d)``.

Where some map has several blocks of parameters the form is ``(n, P, K, d + 1)``: the last column is the block that an
action belongs to, 0 for a map with one block. So are the features that a decision carries.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..kernels.features import Offer, usable
from ..types import Array, Blocked, Index
from .errors import array_of, refuse
from .inputs import FLOAT, as_floats, depth_of

_ANY_BLOCK = 2**53  # blocks of a map about which nothing is known: those that a float64 distinguishes


class FeatureShape(ABC):
    """The features that a policy takes.

    Attributes
    ----------
    many: whether they have an axis of maps, ``(M, K, d)``; else they are ``(K, d)``.
    n_actions: the number K of actions, for a policy that knows actions by their positions; None for any number.
    blocks: how many blocks of parameters every map has, where that is known.
    """

    many: bool
    n_actions: int | None = None
    blocks: tuple[int, ...] = ()

    @property
    def blocked(self) -> bool:
        """True if some map has several blocks: then the block of an action stands behind its features."""
        return max(self.blocks, default=1) > 1

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
        if type(value) is not Offer:
            return self._floats(value, lanes, 1)
        found: Any = self._looked_up(value, lanes)
        return found.array() if self.blocked else found

    def shaped_one(self, value: Any, lanes: int | None) -> Array:
        """Return the features of one action per lane as ``(n, P, d)``."""
        return self._floats(value, lanes, 0)

    def _looked_up(self, offer: Offer, lanes: int | None) -> Array:
        """Return the lookup of an offer that fits; kernels read it as they read the array."""
        x = offer.lookup
        if offer.shared and lanes is not None:
            x = x.rows(np.zeros(lanes, dtype=np.int64))
        fits = offer.many == self.many and self.accepts(offer.widths, False)
        fits = fits and self._fits_blocks(offer.blocks)
        fits = (fits or isinstance(self, AnyShape)) and self._counts(x.shape[2])
        if not fits or x.where.size != (lanes or 1):
            front = () if lanes is None else x.shape[:1]
            found = f"items whose features have the shape {(*front, *x.shape[1 if offer.many else 2 :])}"
            found += ", the block behind them" if offer.blocks else ""
            raise refuse("features", found, self.words(lanes) + self._hint(offer.many))
        return cast(Array, x)

    def _floats(self, value: Any, lanes: int | None, inner: int) -> Array:
        """Return float64 features ``(n, P, K, d)``, or ``(n, P, d)`` if given with ``inner`` = 0 axes of actions."""
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
                if inner and not self._counts(shape[-2]):
                    raise refuse("features", x, f"{self.words(lanes)} with at least one action")
                # a read-only array is another type to the compiler: kernels would compile twice
                x = x if x.flags.carray else x.copy()
                return x.reshape(lanes or 1, shape[front] if self.many else 1, *shape[front + self.many :])
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

    def _fits_blocks(self, given: tuple[int, ...]) -> bool:
        """Return whether items fit of which so many blocks of every map occur."""
        return _divide(given, self.blocks) if self.blocked else not given

    def _counts(self, K: int) -> bool:
        """Return whether this many actions fit."""
        return K > 0 if self.n_actions is None else self.n_actions == K

    @property
    def _K(self) -> str:
        return "K" if self.n_actions is None else f"K = {self.n_actions}"

    def _expected(self, lanes: int | None, inner: int) -> str:
        return self.words(lanes) if inner else f"{self.words(lanes)}{', all' * self.blocked} without the axis K"

    def _hint(self, several: bool) -> str:
        """Return what to do for a policy with one map that is given several."""
        return "; on_map(policy, i) looks at one of several maps" if several and not self.many else ""


@dataclass(frozen=True)
class ExactShape(FeatureShape):
    """P maps of widths ``dims``; those with several of the ``blocks``, by default 1 each, come as ``Blocked``."""

    dims: tuple[int, ...]
    many: bool
    n_actions: int | None = None
    blocks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", self.blocks or (1,) * len(self.dims))

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        outer = "" if lanes is None else f"{lanes}, "
        front, M, d = outer + self._K, len(self.dims), self.dims[0]
        if self.blocked:
            each = [
                f"Blocked(values ({front}, {d}), block ({front}) below {B})" if B > 1 else f"an array ({front}, {d})"
                for d, B in zip(self.dims, self.blocks, strict=True)
            ]
            return f"a list of {M} maps: {', '.join(each)}" if self.many else each[0]
        if not self.many:
            return f"finite numbers of shape ({front}, {d})"
        if len(set(self.dims)) > 1:
            return f"a list of {M} arrays of shape ({front}, d_i) with d_i = {self.dims}"
        whole = f"({outer}{M}, {self._K}, {d})"
        return f"finite numbers of shape {whole}, or a list of {M} arrays of shape ({front}, {d})"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Return whether maps of these widths fit."""
        return widths == self.dims or (padded and widths == (max(self.dims),) * len(self.dims))

    def by_map(self, cells: Array) -> list[Array]:
        """Return what belongs to all blocks in a row, ``(N, cells, ...)``, by maps: ``(N, B_i, ...)``, or ``(N, ...)``.

        Vectors are cut to the width of the map.
        """
        parts = np.split(cells, np.cumsum(self.blocks)[:-1], axis=1)
        parts = [part[..., :d] if part.ndim == 3 else part for part, d in zip(parts, self.dims, strict=True)]
        return [part if B > 1 else part[:, 0] for part, B in zip(parts, self.blocks, strict=True)]

    def _floats(self, value: Any, lanes: int | None, inner: int) -> Array:
        if not self.blocked:
            return super()._floats(value, lanes, inner)
        front = (*(() if lanes is None else (lanes,)), *((len(self.dims),) if self.many else ()))
        if inner or type(value) is not np.ndarray or value.shape != (*front, max(self.dims) + 1):
            return self._joined(value, lanes, inner)
        x = np.array(value, dtype=float).reshape(lanes or 1, len(self.dims), -1)  # as a decision carries them
        block = x[..., -1]
        if not ((block >= 0) & (block < self.blocks) & (block == np.floor(block))).all():
            raise refuse("features", value, self._expected(lanes, 0))
        return x

    def _joined(self, value: Any, lanes: int | None, inner: int) -> Array:
        """Return maps with ``inner`` axes of actions side by side, the block of each behind them."""
        expected = self._expected(lanes, inner)
        maps = value if self.many else [value]
        if not isinstance(maps, Sequence) or isinstance(maps, Blocked) or len(maps) != len(self.dims):
            raise refuse("features", value, expected)
        if any(isinstance(given, Blocked) != (B > 1) for given, B in zip(maps, self.blocks, strict=True)):
            raise refuse("features", value, expected)
        values = [as_floats("features", values_of(given), expected) for given in maps]
        front = values[0].shape[:-1]
        right = len(front) == inner + (lanes is not None) and (lanes is None or front[0] == lanes)
        if not right or [v.shape for v in values] != [(*front, d) for d in self.dims] or 0 in front:
            raise refuse("features", value, expected)
        x = np.zeros((lanes or 1, len(maps), front[-1] if inner else 1, max(self.dims) + 1))
        for i, (given, B) in enumerate(zip(maps, self.blocks, strict=True)):
            x[:, i, :, : self.dims[i]] = values[i].reshape(len(x), -1, self.dims[i])
            if B > 1:
                block = array_of(given.block)
                if block.dtype.kind not in "iu" or block.shape != front:
                    raise refuse("features", value, expected)
                if block.min() < 0 or block.max() >= B:
                    raise refuse("features: block", given.block, f"whole numbers from 0 to {B - 1}")
                x[:, i, :, -1] = block.reshape(len(x), -1)
        return x if inner else x[:, :, 0]

    def _width(self, i: int) -> int | None:
        return self.dims[i] if i < len(self.dims) else None


def _divide(given: tuple[int, ...], blocks: tuple[int, ...]) -> bool:
    """Return whether items with so many blocks, 0 for a map that has none, fit maps with so many."""
    return bool(given) and all(0 < b <= B if B > 1 else b == 0 for b, B in zip(given, blocks, strict=True))


def maps_of(dims: Any, blocks: Any = 1, *, many: bool = False) -> ExactShape:
    """Return the shape of P maps of these widths, a number or one per map, of which some may have several blocks."""
    widths = tuple(int(d) for d in np.atleast_1d(np.asarray(dims)))
    return ExactShape(widths, many, blocks=tuple(int(B) for B in np.broadcast_to(blocks, len(widths))))


@dataclass(frozen=True)
class SomeMaps(FeatureShape):
    """Any number of maps, of which those that are used have known widths: pairs (index, width).

    Attributes
    ----------
    parts: how many blocks each of these has; empty where none has several.
    """

    used: tuple[tuple[int, int], ...]
    many: bool = True
    n_actions: int | None = None
    parts: tuple[int, ...] = ()

    @property
    def blocked(self) -> bool:
        """True if some map that is used has several blocks."""
        return bool(self.parts)

    @property
    def _blocks(self) -> dict[int, int]:
        return dict(zip((index for index, _ in self.used), self.parts or (1,) * len(self.used), strict=True))

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front, K = "" if lanes is None else f"{lanes}, ", self._K
        blocks = {index: f" in {B} blocks" if B > 1 else "" for index, B in self._blocks.items()}
        maps = ", ".join(f"map {index} of width {width}{blocks[index]}" for index, width in self.used)
        if self.blocked:
            return f"a list of M maps, arrays or Blocked, with {maps}"
        arrays = f"finite numbers of shape ({front}M, {K}, d), or a list of M arrays of shape ({front}{K}, d_i)"
        return f"{arrays}, with {maps}"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Return whether maps of these widths fit."""
        return all(i < len(widths) and (widths[i] == w or (padded and widths[i] > w)) for i, w in self.used)

    def divides(self, blocks: tuple[int, ...]) -> bool:
        """Return whether maps with so many blocks have as many as those used here."""
        return all(blocks[i] == B for i, B in self._blocks.items())

    def _floats(self, value: Any, lanes: int | None, inner: int) -> Array:
        if not self.blocked:
            return super()._floats(value, lanes, inner)
        carried = type(value) is np.ndarray and value.ndim > 1
        if carried:  # as a decision carries them
            widths, blocks = [value.shape[-1] - 1] * value.shape[-2], [_ANY_BLOCK] * value.shape[-2]
        elif isinstance(value, list | tuple) and not isinstance(value, Blocked):
            arrays = (array_of(values_of(m)) for m in value)
            widths = [x.shape[-1] if x.ndim else 0 for x in arrays]
            blocks = [_ANY_BLOCK if isinstance(m, Blocked) else 1 for m in value]
        else:
            raise refuse("features", value, self._expected(lanes, inner))
        if not self.accepts(tuple(widths), carried):
            raise refuse("features", value, self._expected(lanes, inner))
        for (i, _), B in zip(self.used, self.parts, strict=True):
            blocks[i] = B
        return ExactShape(tuple(widths), True, self.n_actions, tuple(blocks))._floats(value, lanes, inner)

    def _fits_blocks(self, given: tuple[int, ...]) -> bool:
        blocks = [self._blocks.get(i, max(B, 1)) for i, B in enumerate(given)]
        return super()._fits_blocks(given) if not self.blocked else _divide(given, tuple(blocks))

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
    exact = next((s for s in shapes if isinstance(s, ExactShape)), None)
    widths: dict[int, tuple[int, int]] = {}
    for i, shape in enumerate(shapes):
        fits = shape == exact or isinstance(shape, AnyShape)
        if isinstance(shape, SomeMaps):
            fits = exact is None or (exact.many and shape.accepts(exact.dims, False) and shape.divides(exact.blocks))
            own = {index: (width, shape._blocks[index]) for index, width in shape.used}
            fits = fits and all(widths.setdefault(index, one) == one for index, one in own.items())
        if not fits:
            expected = "the widths that others take" if exact is None else f"{exact.words(None)}, as others take"
            raise ValueError(f"{name}[{i}]: takes {shape.words(None)}; expected {expected}")
    if exact is not None or not widths:
        return exact or AnyShape()
    parts = tuple(B for _, B in widths.values())
    used = tuple((index, width) for index, (width, _) in widths.items())
    return SomeMaps(used, parts=parts if max(parts) > 1 else ())
