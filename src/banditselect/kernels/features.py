"""The features that a kernel reads: an array ``(n, P, K, d)``, or a lookup of items in a table.

``entry``, ``sizes``, ``clean`` and ``clean_row`` are all that a kernel needs to know of them, so each is written once
for both. ``prepared`` copies them, in other units or behind a constant.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from ..types import Array, Index, Mask
from . import inlined, kernel
from .arrays import usable

AS_GIVEN: Array = np.empty((0, 0))
"""The sizes of maps whose features stay in the units in which they are given."""


class Lookup(NamedTuple):
    """``x[r, p, a] = table[where[r], items[r, a], first + p, :width]`` for ``n`` rows and ``maps`` maps; no copy.

    Attributes
    ----------
    table: ``(tables, items, maps of the table, d)``, float64 or float32, without NaN and infinities.
    where: the table that a row looks in, ``(n,)``.
    items: what it is offered, ``(n, K)``.
    first, maps, width: which maps it sees, and how much of them.
    """

    table: NDArray[Any]
    where: Index
    items: Index
    first: int
    maps: int
    width: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of the array that it stands for."""
        return self.where.size, self.maps, self.items.shape[1], self.width

    def rows(self, rows: Index) -> "Lookup":
        """Return some of the rows."""
        return self._replace(where=self.where[rows], items=self.items[rows])

    def on_map(self, index: int, width: int) -> "Lookup":
        """Return one of the maps, cut to its width."""
        return self._replace(first=self.first + index, maps=1, width=width)

    def on_maps(self, index: Index, width: int) -> NDArray[np.float64]:
        """Return the array of one map per row, ``(n, 1, K, width)``."""
        seen = self.table[self.where[:, None], self.items, self.first + index[:, None], :width]
        return np.ascontiguousarray(seen[:, None], dtype=float)

    def array(self) -> NDArray[np.float64]:
        """Return the array that it stands for."""
        seen = self.table[self.where[:, None], self.items, self.first : self.first + self.maps, : self.width]
        return np.ascontiguousarray(np.swapaxes(seen, 1, 2), dtype=float)


class Offer(NamedTuple):
    """Items of a catalogue: where to look up their features, and the widths of the maps; one map or ``many``.

    ``shared``: they are one row, which any number of lanes may be offered.
    """

    lookup: Lookup
    widths: tuple[int, ...]
    many: bool
    shared: bool = False


def rows_of(x: Any, rows: Index) -> Any:
    """Return some of the rows of features."""
    return x.rows(rows) if isinstance(x, Lookup) else x[rows]


def entry(x: Any, r: int, p: int, a: int, j: int) -> float:
    """Return ``x[r, p, a, j]``."""
    if isinstance(x, Lookup):
        return float(x.table[x.where[r], x.items[r, a], x.first + p, j])
    return float(x[r, p, a, j])


def sizes(x: Any) -> tuple[int, int, int]:
    """Return P, K, d."""
    return x.shape[1:]


def clean(x: Any) -> bool:
    """Tell whether every entry is usable; those of a table are."""
    return isinstance(x, Lookup) or usable(x)


def clean_row(x: Any, r: int) -> bool:
    """Tell the same of one row."""
    return isinstance(x, Lookup) or usable(x[r])


@overload(entry, strict=False)
def _entry(x: Any, r: int, p: int, a: int, j: int) -> Any:
    if isinstance(x, types.Array):
        return lambda x, r, p, a, j: x[r, p, a, j]
    return lambda x, r, p, a, j: np.float64(x.table[x.where[r], x.items[r, a], x.first + p, j])


@overload(sizes, strict=False)
def _sizes(x: Any) -> Any:
    if isinstance(x, types.Array):
        return lambda x: (x.shape[1], x.shape[2], x.shape[3])
    return lambda x: (x.maps, x.items.shape[1], x.width)


@overload(clean, strict=False)
def _clean(x: Any) -> Any:
    if isinstance(x, types.Array):
        return lambda x: usable(x)
    return lambda x: True


@overload(clean_row, strict=False)
def _clean_row(x: Any, r: int) -> Any:
    if isinstance(x, types.Array):
        return lambda x, r: usable(x[r])
    return lambda x, r: True


@inlined
def prepare_map(
    r: int, n: int, i: int, x: Array, size: Array, constant: bool, open_: Mask, row: int, out: Array
) -> None:
    """``out[row, i] = x[r, i] / sqrt(size[n, i])`` with 1 in front where there is a ``constant``; ``x (n, P, K, d)``.

    Without sizes features stay in their units. A size of 0 is not known yet: then the mean squared norm of the features
    that are offered stands for it.
    """
    _, K, d = sizes(x)
    first = 1 if constant else 0
    mean = size[n, i] if size.size > 0 else 1.0
    if mean == 0.0:
        count = 0
        for a in range(K):
            if open_[a]:
                count += 1
                for j in range(d):
                    mean += entry(x, r, i, a, j) ** 2
        mean /= count
    factor = 1.0 / math.sqrt(mean) if mean > 0.0 else 1.0
    for a in range(K):
        if constant:
            out[row, i, a, 0] = 1.0
        for j in range(d):
            out[row, i, a, first + j] = factor * entry(x, r, i, a, j)


@kernel
def prepare(ids: Index, x: Array, size: Array, constant: bool, out: Array) -> None:
    """``prepare_map`` for every row and map."""
    open_ = np.ones(sizes(x)[1], dtype=np.bool_)
    for r in range(ids.size):
        for i in range(sizes(x)[0]):
            prepare_map(r, ids[r], i, x, size, constant, open_, r, out)


def prepared(ids: Index, x: Any, size: Array = AS_GIVEN, constant: bool = True) -> Array:
    """Return features ``(n, P, K, d)`` or ``(n, P, d)`` in units of these sizes ``(N, P)``, behind a constant 1."""
    out = np.empty((*x.shape[:-1], x.shape[-1] + constant))
    if len(x.shape) == 4:
        prepare(ids, x, size, constant, out)
    else:
        prepare(ids, x[:, :, None], size, constant, out[:, :, None])
    return out
