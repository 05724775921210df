"""The features of all actions of every logged decision: arrays, or what maps make of records when it is needed."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import LIMIT
from ..maps import Encoder, FeatureMap, Numbers, Records, Vectors
from ..runtime import errors, inputs
from ..runtime.settings import read_only
from ..runtime.shapes import each, values_of, widened
from ..types import Array, Blocked, Index, Mask


class LogFeatures(ABC):
    """Features of K actions for each of T decisions.

    Attributes
    ----------
    size: T.  n_actions: K, the most that any decision offers.
    dims: the width of every map, of all blocks of parameters together.  many: whether there is an axis of maps.
    blocks: how many blocks every map has; empty where none has several.
    available: ``(T, K)``, False where a decision offers fewer than K; None where all offer K.
    """

    size: int
    n_actions: int
    dims: tuple[int, ...]
    many: bool
    blocks: tuple[int, ...] = ()
    available: Mask | None = None

    @abstractmethod
    def shown(self, rows: Index, only: int | None = None) -> list[Array | Blocked]:
        """Return the features that these decisions offered, as policies take them: ``(n, K, d_i)`` per map.

        ``only``: of this map alone. A map with several blocks of parameters is ``Blocked``.
        """

    def maps(self, rows: Index, only: int | None = None) -> list[Array]:
        """Return the same with zeros in the places of other blocks."""
        blocks = self.blocks[part_at(only)]
        return [widened(*m, blocks[i]) if isinstance(m, Blocked) else m for i, m in enumerate(self.shown(rows, only))]

    @abstractmethod
    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""


@dataclass(init=False, eq=False, repr=False)
class DenseFeatures(LogFeatures):
    """Features as arrays: ``(T, K, d)``, ``(T, M, K, d)``, or a list of M arrays ``(T, K, d_i)``.

    A map with several blocks of parameters is a ``Blocked(values, block)``, ``(T, K, d)`` and ``(T, K)``.
    """

    features: tuple[Any, ...]
    many: bool

    def __init__(self, features: Any) -> None:
        given = [features] if isinstance(features, Blocked) else features
        divided = isinstance(given, Sequence) and any(isinstance(m, Blocked) for m in given)
        found, many = _as_maps([np.asarray(values_of(m)) for m in given] if divided else given)
        self.many = many and given is features
        self.size, self.n_actions, _ = found[0].shape
        blocked = [_blocked(x, m) for x, m in zip(found, given, strict=True)] if divided else found
        self.features = tuple(blocked)
        counts = [int(m.block.max()) + 1 if isinstance(m, Blocked) else 1 for m in blocked]
        self.blocks = tuple(counts) if divided else ()
        self.dims = tuple(x.shape[2] * B for x, B in zip(found, counts, strict=True))

    def shown(self, rows: Index, only: int | None = None) -> list[Array | Blocked]:
        """Return the features that these decisions offered."""
        whole = rows.size > 0 and rows[-1] - rows[0] + 1 == rows.size and bool((np.diff(rows) == 1).all())
        places = slice(int(rows[0]), int(rows[-1]) + 1) if whole else rows  # a slice copies nothing
        found = []
        for m in self.features[part_at(only)]:
            x = values_of(m)[places].astype(np.float64, copy=False)
            found.append(Blocked(x, m.block[places]) if isinstance(m, Blocked) else x)
        return found

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        maps = [each(m, lambda array: array[rows]) for m in self.features]
        return type(self)(maps if self.many else maps[0])


@dataclass(init=False, eq=False, repr=False)
class MappedFeatures(LogFeatures):
    """Features that maps make of the records of contexts and items, for some decisions at a time.

    Parameters
    ----------
    maps: copies of fitted maps.
    many: whether there is an axis of maps.
    contexts: T records.  items: records of all items.
    offered: the items of every decision, ``(T, K)``, filled up with -1; None where every decision offers all.
    """

    digest: str = cached_property(lambda self: self._digest())  # type: ignore[assignment]  # a field, so that logs differ

    def __init__(
        self, maps: Sequence[FeatureMap], many: bool, contexts: Records, items: Records, offered: Index | None
    ) -> None:
        self._maps, self.many, self._contexts, self._items, self._offered = maps, many, contexts, items, offered
        self.size, self.n_actions = len(contexts), len(items) if offered is None else offered.shape[1]
        counts = tuple(m.blocks for m in maps)
        self.dims = tuple(m.width * B for m, B in zip(maps, counts, strict=True))
        self.blocks = counts if max(counts) > 1 else ()
        self.available = None if offered is None or offered.min() >= 0 else read_only(offered >= 0)

    def shown(self, rows: Index, only: int | None = None) -> list[Array | Blocked]:
        """Return the features that these decisions offered; zeros where there are fewer."""
        n, K = rows.size, self.n_actions
        offered = np.tile(np.arange(K), (n, 1)) if self._offered is None else self._offered[rows]
        contexts, items = self._contexts.take(rows), self._items.take(np.maximum(offered, 0).ravel())
        found: list[Array | Blocked] = []
        for m in self._maps[part_at(only)]:
            made = m.features_many(contexts, items)
            x = values_of(made).reshape(n, K, -1)
            if self.available is not None:
                x[offered < 0] = 0.0
            found.append(Blocked(x, made.block.reshape(n, K)) if isinstance(made, Blocked) else x)
        return found

    def _digest(self) -> str:
        """Return a digest of all features."""
        found = hashlib.sha256(repr((self.size, self.n_actions, self.dims, self.many, self.blocks)).encode())
        for rows in np.array_split(np.arange(self.size), self.size // 1000 + 1):
            for m in self.shown(rows):
                for part in m if isinstance(m, Blocked) else (m,):
                    found.update(np.ascontiguousarray(part).tobytes())
        return found.hexdigest()

    def take(self, rows: Index) -> Self:
        """Return the features of these decisions."""
        offered = None if self._offered is None else self._offered[rows]
        return type(self)(self._maps, self.many, self._contexts.take(rows), self._items, offered)


def mapped(maps: Any, contexts: Records, items: Records, offered: Index | None) -> MappedFeatures:
    """Return the features that maps make of records; maps that are not fitted are fitted to these."""
    several = list(maps.values()) if isinstance(maps, Mapping) else maps
    given = list(several) if isinstance(several, list | tuple) else [maps]
    if not given or not all(isinstance(m, FeatureMap) for m in given):
        raise errors.refuse("Log.from_rounds: maps", maps, "a feature map such as maps.Outer(...), or several of them")
    for m in given:
        for name, encoder in m._parts:
            _check(encoder, *((contexts, "round") if name == "context" else (items, "item")))
    made = [copy(m) if m.fitted else m.fit(contexts, items) for m in given]
    for m in made:
        m.observe(None, items)
    return MappedFeatures(made, not isinstance(maps, FeatureMap), contexts, items, offered)


def _check(encoder: Encoder, records: Records, kind: str) -> None:
    """Refuse text in a column that an encoder reads as numbers, such as a number with a decimal comma."""
    for _, part in encoder._parts:
        _check(part, records, kind)
    names = encoder.columns if isinstance(encoder, Numbers) else ()
    for name in (encoder.column,) if isinstance(encoder, Vectors) else names:
        if isinstance(encoder, Vectors) or np.isnan(records.numbers(name)).any():
            for row, cell in enumerate(records.column(name)):
                if isinstance(cell, str):
                    raise errors.refuse(f"{kind} {row}: column {name!r}", cell, "a number, or a list of numbers")


def part_at(only: int | None) -> slice:
    """Return the place of one map, or of all."""
    return slice(None) if only is None else slice(only, only + 1)


def _as_maps(value: Any) -> tuple[tuple[NDArray[Any], ...], bool]:
    """Return copies of the maps, ``(T, K, d_i)`` each, and whether there was an axis or a list of them."""
    name = "Log: features"
    expected = "finite numbers of shape (T, K, d) or (T, M, K, d), or a list of M arrays of shape (T, K, d_i)"
    ragged = isinstance(value, Sequence) and all(isinstance(m, np.ndarray) and m.ndim == 3 for m in value)
    parts = [_real(name, m, expected) for m in (value if ragged and len(value) else [value])]
    many = ragged or parts[0].ndim == 4
    if not ragged and many:
        parts = [np.ascontiguousarray(m) for m in np.moveaxis(parts[0], 1, 0)]
    if not parts or any(m.ndim != 3 or not m.size or m.shape[:-1] != parts[0].shape[:-1] for m in parts):
        raise errors.refuse(name, value, expected)
    for m in parts:
        for place in np.argwhere(~(np.abs(m) <= LIMIT))[:1].tolist():
            raise errors.refuse(f"{name}{place}", m[tuple(place)].item(), f"{expected}, at most {LIMIT:g}")
    return tuple(map(read_only, parts)), many


def _blocked(values: Array, given: Any) -> Any:
    """Return checked values with the blocks that were given with them, if any."""
    if not isinstance(given, Blocked):
        return values
    block = np.asarray(given.block)
    if block.dtype.kind not in "iu" or block.shape != values.shape[:2] or block.min() < 0:
        raise errors.refuse("Log: block", given.block, f"whole numbers >= 0 of shape {values.shape[:2]}")
    return Blocked(values, read_only(block.astype(np.int64)))


def _real(name: str, value: Any, expected: str) -> NDArray[Any]:
    """Return an array of float32 if it is that, else of float64."""
    single = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value if single else inputs.as_floats(name, value, expected)
