"""Features as kernels read them: an array ``(n, P, K, d)`` or a lookup of items in a table, and the block of an action.

A map with several blocks of parameters has one cell - an estimate and a root - for every block; a bank keeps the cells
of all models in a row, those of model ``i`` from ``first[i]`` on.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..types import Array, Index, Mask
from . import kernel

LIMIT = 1e30  #: larger magnitudes are refused, so that squares and products stay finite

ALL_OFFERED: Mask = np.ones((1, 1), dtype=bool)  #: the mask where every action is offered, of any number
NO_BLOCK: Index = np.empty((0, 0, 0), dtype=np.int64)  #: the blocks of actions where every map has one block
NO_BLOCK_PLAYED: Index = np.empty((0, 0), dtype=np.int64)  #: the same of the actions played


class Lookup(NamedTuple):
    """``x[r, p, a] = table[where[r], items[r, a], first + p, :d]`` with ``shape = (n, P, K, d)``; no copy.

    Attributes
    ----------
    table: ``(tables, items, maps of the table, d)``, float64 or float32, without NaN and infinities.
    where: the table of every row, ``(n,)``.  items: those offered to it, ``(n, K)``.
    first: the first map that it sees.  shape: that of the array that it replaces.
    """

    table: NDArray[Any]
    where: Index
    items: Index
    first: int
    shape: tuple[int, int, int, int]

    def rows(self, rows: Index | slice) -> "Lookup":
        """Return some of the rows."""
        where = self.where[rows]
        return self._replace(where=where, items=self.items[rows], shape=(where.size, *self.shape[1:]))

    def on_map(self, index: int, width: int) -> "Lookup":
        """Return one of the maps, cut to its width."""
        n, _, K, _ = self.shape
        return self._replace(first=self.first + index, shape=(n, 1, K, width))

    def on_maps(self, index: Index, width: int) -> Array:
        """Return the array of one map per row, ``(n, 1, K, width)``."""
        seen = self.table[self.where[:, None], self.items, self.first + index[:, None], :width]
        return np.ascontiguousarray(seen[:, None], dtype=float)

    def array(self) -> Array:
        """Return the array that it replaces."""
        _, P, _, d = self.shape
        seen = self.table[self.where[:, None], self.items, self.first : self.first + P, :d]
        return np.ascontiguousarray(np.swapaxes(seen, 1, 2), dtype=float)


class Offer(NamedTuple):
    """Items of a catalogue: where to look up their features, and the widths of the maps; one map or ``many``.

    ``shared``: they are one row, which any number of lanes may be offered.  ``blocks``: how many blocks of every map
    occur, 0 for one that has none; the last column of the table is then the block of an item. Empty where no map has
    blocks.
    """

    lookup: Lookup
    widths: tuple[int, ...]
    many: bool
    shared: bool = False
    blocks: tuple[int, ...] = ()


@dataclass(slots=True)
class Features:
    """Features of all actions, or of the actions played, checked.

    Attributes
    ----------
    values: ``(n, P, K, d)``, an array or a :class:`Lookup`; of the actions played ``(n, P, d)``, an array.
    block: ``(n, P, K)``, of the actions played ``(n, P)``; empty where every map has one block.
    """

    values: Any
    block: Index

    def rows(self, rows: Index | slice) -> "Features":
        """Return some of the rows."""
        x = self.values
        values = x.rows(rows) if isinstance(x, Lookup) else x[rows]
        return Features(values, self.block[rows] if self.block.size else self.block)

    def map(self, index: int | Index, width: int, blocked: bool = False) -> "Features":
        """Return one map of this width, or one for every row, as features with one map; its blocks if ``blocked``."""
        x, none = self.values, NO_BLOCK if len(self.values.shape) == 4 else NO_BLOCK_PLAYED
        if isinstance(x, Lookup):
            one: Any = x.on_map(index, width) if isinstance(index, int) else x.on_maps(index, width)
        elif isinstance(index, int):
            one = np.ascontiguousarray(x[:, index : index + 1, ..., :width])
        else:
            one = np.ascontiguousarray(x[np.arange(len(x)), index, ..., :width][:, None])
        if blocked:
            rows = np.arange(len(x))
            none = np.ascontiguousarray(self.block[rows, index][:, None])
        return Features(one, none)

    def with_constant(self) -> "Features":
        """Return the features behind a constant 1."""
        x = self.values.array() if isinstance(self.values, Lookup) else self.values
        out = np.empty((*x.shape[:-1], x.shape[-1] + 1))
        out[..., 0] = 1.0
        out[..., 1:] = x
        return Features(out, self.block)

    def as_actions(self) -> "Features":
        """Return features of the actions played as those of one action in every row."""
        return Features(self.values[:, :, None], self.block[:, :, None] if self.block.size else NO_BLOCK)


def played(values: Array, block: Index | None = None) -> Features:
    """Return features ``(n, P, d)`` of the actions played, and their blocks ``(n, P)``."""
    return Features(values, NO_BLOCK_PLAYED if block is None else block)


def rows_of_map(x: Any, r: int, p: int) -> Any:
    """Return the features of all actions in map ``p`` of row ``r``, ``(K, d)``."""
    return _gathered(x, r, p) if isinstance(x, Lookup) else x[r, p]


def _gathered(x: Any, r: int, p: int) -> Any:
    out = np.empty((x.shape[2], x.shape[3]))
    for a in range(x.shape[2]):
        for j in range(x.shape[3]):
            out[a, j] = x.table[x.where[r], x.items[r, a], x.first + p, j]
    return out


def row_of(x: Any, r: int, p: int, a: int) -> Any:
    """Return the features of action ``a`` in map ``p`` of row ``r``, at least ``d`` of them, without a copy."""
    return x.table[x.where[r], x.items[r, a], x.first + p] if isinstance(x, Lookup) else x[r, p, a]


@kernel
def usable(values: Array) -> bool:
    """Return whether all ``values`` are finite and at most ``LIMIT`` in magnitude."""
    flat, good = values.reshape(-1), True
    for j in range(flat.size):
        good &= abs(flat[j]) <= LIMIT
    return good


@overload(rows_of_map, strict=False)
def _rows_of_map(x: Any, r: int, p: int) -> Any:
    return _gathered if _is_lookup(x) else lambda x, r, p: x[r, p]


@overload(row_of, strict=False)
def _row_of(x: Any, r: int, p: int, a: int) -> Any:
    if _is_lookup(x):
        return lambda x, r, p, a: x.table[x.where[r], x.items[r, a], x.first + p]
    return lambda x, r, p, a: x[r, p, a]


def _is_lookup(x: Any) -> bool:
    return getattr(x, "instance_class", None) is Lookup
