"""The features that a kernel reads: an array ``(n, P, K, d)``, a lookup of items in a table, or features in blocks.

``entry``, ``sizes``, ``cell`` and the other functions with an overload are all that a kernel needs to know of them, so
each is written once for all. ``prepared`` copies them, in other units or behind a constant.
"""

import math
from typing import Any, NamedTuple

import numpy as np
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

    def rows(self, rows: Index | slice) -> "Lookup":
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


class InBlocks(NamedTuple):
    """Features of maps that may have several blocks of parameters; an action belongs to one block of every map.

    A model then has a cell of its own - an estimate and a root - for every block; a bank keeps the cells of all models
    in a row.

    Attributes
    ----------
    x: ``(n, P, K, d + 1)``, or ``(n, P, d + 1)`` of what was played; the last column is the block, counted from 0.
    first: the first cell of every model, then the number of cells, ``(models + 1,)``.
    """

    x: Array
    first: Index

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the features."""
        return *self.x.shape[:-1], self.x.shape[-1] - 1


class Offer(NamedTuple):
    """Items of a catalogue: where to look up their features, and the widths of the maps; one map or ``many``.

    ``shared``: they are one row, which any number of lanes may be offered.  ``blocks``: how many blocks of every map
    occur, 0 for one that has none; the last column of the table is the block of an item then. Empty where no map has.
    """

    lookup: Lookup
    widths: tuple[int, ...]
    many: bool
    shared: bool = False
    blocks: tuple[int, ...] = ()


def rows_of(x: Any, rows: Index | slice) -> Any:
    """Return some of the rows of features."""
    return x.rows(rows) if isinstance(x, Lookup) else x[rows]


def entry(x: Any, r: int, p: int, a: int, j: int) -> float:
    """Return ``x[r, p, a, j]``."""
    if isinstance(x, Lookup):
        return float(x.table[x.where[r], x.items[r, a], x.first + p, j])
    return float(table(x)[r, p, a, j])


def sizes(x: Any) -> tuple[int, int, int]:
    """Return P, K, d."""
    return x.shape[1:]


def clean(x: Any) -> bool:
    """Tell whether every entry is usable; those of a lookup are."""
    return isinstance(x, Lookup) or usable(table(x))


def clean_row(x: Any, r: int) -> bool:
    """Tell the same of one row."""
    return isinstance(x, Lookup) or usable(table(x)[r])


def table(x: Any) -> Any:
    """Return the array that features are in; behind them the block, where there are blocks."""
    return x.x if isinstance(x, InBlocks) else x


def behind(x: Any) -> int:
    """Return how many columns stand behind the features: 1 where there are blocks, else 0."""
    return int(isinstance(x, InBlocks))


def block(x: Any, r: int, p: int, a: int) -> int:
    """Return the block of an action, 0 without blocks."""
    return int(x.x[r, p, a, -1]) if isinstance(x, InBlocks) else 0


def cell(x: Any, r: int, i: int, a: int) -> int:
    """Return the cell of model ``i`` for an action: that of its block, or ``i`` without blocks."""
    return int(x.first[i] + block(x, r, i % x.x.shape[1], a)) if isinstance(x, InBlocks) else i


def end_of_run(x: Any, r: int, i: int, a: int) -> int:
    """Return the first action behind ``a`` that has another cell, or K."""
    end = sizes(x)[1]
    return next((b for b in range(a + 1, end) if cell(x, r, i, b) != cell(x, r, i, a)), end)


def cell_played(x: Any, r: int, i: int) -> int:
    """Return the same for what was played, ``x (n, P, d)``."""
    return int(x.first[i] + x.x[r, i % x.x.shape[1], -1]) if isinstance(x, InBlocks) else i


def undivided(x: Any, models: Index, weight: Array) -> float:
    """Return the weight of those ``models`` that have one block, of a sum of 1."""
    if isinstance(x, InBlocks):
        return float(weight[np.diff(x.first)[models[: weight.size]] == 1].sum())
    return 1.0


def alike(x: Any, out: Array) -> Any:
    """Return features of the same kind in an array of their own."""
    return InBlocks(out, x.first) if isinstance(x, InBlocks) else out


def _in_blocks(x: Any) -> bool:
    return getattr(x, "instance_class", None) is InBlocks


def _looked_up(x: Any) -> bool:
    return getattr(x, "instance_class", None) is Lookup


@overload(entry, strict=False)
def _entry(x: Any, r: int, p: int, a: int, j: int) -> Any:
    if _looked_up(x):
        return lambda x, r, p, a, j: np.float64(x.table[x.where[r], x.items[r, a], x.first + p, j])
    if _in_blocks(x):
        return lambda x, r, p, a, j: x.x[r, p, a, j]
    return lambda x, r, p, a, j: x[r, p, a, j]


@overload(sizes, strict=False)
def _sizes(x: Any) -> Any:
    if _looked_up(x):
        return lambda x: (x.maps, x.items.shape[1], x.width)
    if _in_blocks(x):
        return lambda x: (x.x.shape[1], x.x.shape[2], x.x.shape[3] - 1)
    return lambda x: (x.shape[1], x.shape[2], x.shape[3])


@overload(clean, strict=False)
def _clean(x: Any) -> Any:
    return (lambda x: True) if _looked_up(x) else lambda x: usable(table(x))


@overload(clean_row, strict=False)
def _clean_row(x: Any, r: int) -> Any:
    return (lambda x, r: True) if _looked_up(x) else lambda x, r: usable(table(x)[r])


@overload(table, strict=False)
def _table(x: Any) -> Any:
    return (lambda x: x.x) if _in_blocks(x) else lambda x: x


@overload(behind, strict=False)
def _behind(x: Any) -> Any:
    return (lambda x: 1) if _in_blocks(x) else lambda x: 0


@overload(block, strict=False)
def _block(x: Any, r: int, p: int, a: int) -> Any:
    if _in_blocks(x):
        return lambda x, r, p, a: np.int64(x.x[r, p, a, x.x.shape[3] - 1])
    return lambda x, r, p, a: 0


@overload(cell, strict=False)
def _cell(x: Any, r: int, i: int, a: int) -> Any:
    if _in_blocks(x):
        return lambda x, r, i, a: x.first[i] + block(x, r, i % x.x.shape[1], a)
    return lambda x, r, i, a: i


@overload(end_of_run, strict=False)
def _end_of_run(x: Any, r: int, i: int, a: int) -> Any:
    if not _in_blocks(x):
        return lambda x, r, i, a: sizes(x)[1]

    def end(x: Any, r: int, i: int, a: int) -> int:
        b = a + 1
        while b < sizes(x)[1] and cell(x, r, i, b) == cell(x, r, i, a):
            b += 1
        return b

    return end


@overload(cell_played, strict=False)
def _cell_played(x: Any, r: int, i: int) -> Any:
    if _in_blocks(x):
        return lambda x, r, i: x.first[i] + np.int64(x.x[r, i % x.x.shape[1], x.x.shape[2] - 1])
    return lambda x, r, i: i


@overload(undivided, strict=False)
def _undivided(x: Any, models: Index, weight: Array) -> Any:
    if not _in_blocks(x):
        return lambda x, models, weight: 1.0

    def total(x: Any, models: Index, weight: Array) -> float:
        found = 0.0
        for c in range(weight.size):
            if x.first[models[c] + 1] - x.first[models[c]] == 1:
                found += weight[c]
        return found

    return total


@overload(alike, strict=False)
def _alike(x: Any, out: Array) -> Any:
    return (lambda x, out: InBlocks(out, x.first)) if _in_blocks(x) else lambda x, out: out


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
        for j in range(d, d + behind(x)):
            out[row, i, a, first + j] = entry(x, r, i, a, j)


@kernel
def prepare(ids: Index, x: Array, size: Array, constant: bool, out: Array) -> None:
    """``prepare_map`` for every row and map."""
    open_ = np.ones(sizes(x)[1], dtype=np.bool_)
    for r in range(ids.size):
        for i in range(sizes(x)[0]):
            prepare_map(r, ids[r], i, x, size, constant, open_, r, out)


def prepared(ids: Index, x: Any, size: Array = AS_GIVEN, constant: bool = True) -> Any:
    """Return features ``(n, P, K, d)`` or ``(n, P, d)`` in units of these sizes ``(N, P)``, behind a constant 1."""
    out = np.empty((*x.shape[:-1], x.shape[-1] + behind(x) + constant))
    if len(x.shape) == 4:
        prepare(ids, x, size, constant, out)
    else:
        prepare(ids, alike(x, table(x)[:, :, None]), size, constant, out[:, :, None])
        out.flags.writeable = False  # as in decisions, so that kernels that learn are compiled for one kind of array
    return alike(x, out)
