"""Numbers that depend on a lane's constants and on how many rewards it has learned, looked up instead of computed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..types import Array, Index

Constants = Mapping[str, Any]
Key = tuple[int, int]


class Tabulated:
    """A function of the number t of rewards learned, for N lanes with constants of their own, in pages.

    A page holds the values at ``length`` values of t in a row. It is written when a lane first needs it; lanes with
    equal constants share it, and its place is free once no lane is on it. So a lane costs one page, however long it
    runs. Nothing here is learned: after a policy is loaded, the pages are written anew.

    Parameters
    ----------
    function: called as ``function(t=..., **constants)`` with ``t (length,)``; returns ``(length, ...)``, or a tuple of
        such arrays, which is put on a last axis.
    constants: of every lane, under the same names; numbers, words and arrays.
    length: of a page.

    Examples
    --------
    >>> import numpy as np
    >>> half = Tabulated(lambda t, scale: scale * t / 2, [{"scale": 1.0}, {"scale": 3.0}])
    >>> half(np.array([1, 0]), np.array([5, 1000]))
    array([  7.5, 500. ])
    """

    def __init__(self, function: Callable[..., Any], constants: Sequence[Constants], *, length: int = 512) -> None:
        self._function = function
        self._length = length
        self._distinct: list[Constants] = []
        self._numbers: dict[tuple[bytes, ...], int] = {}  # the place of constants in the list above
        self._group = np.array([self._number(c) for c in constants], dtype=np.int64)
        self._page = np.full(len(constants), -1)  # t // length of the page that a lane is on
        self._row = np.full(len(constants), -1)  # where it is in the table
        self._rows: dict[Key, int] = {}
        self._free: list[int] = []
        self._table: Array = np.empty((0, length))

    def __call__(self, ids: Index, t: Index) -> Array:
        """Return the values of these lanes at ``t (n,)``, ``(n, ...)``."""
        page, place = np.divmod(t, self._length)
        late = page != self._page[ids]
        if late.any():
            self._turn(ids[late], page[late])
        return self._table[self._row[ids], place]

    def extend(self, fresh: "Tabulated") -> None:
        """Append the lanes of a table of the same function."""
        new = np.array([self._number(fresh._distinct[g]) for g in fresh._group], dtype=np.int64)
        self._group = np.concatenate([self._group, new])
        self._page, self._row = (np.concatenate([mine, np.full(new.size, -1)]) for mine in (self._page, self._row))

    def _number(self, constants: Constants) -> int:
        """Return the number of these constants among the distinct ones."""
        key = tuple(np.asarray(value).tobytes() for value in constants.values())
        if key not in self._numbers:
            self._numbers[key] = len(self._distinct)
            self._distinct.append(constants)
        return self._numbers[key]

    def _turn(self, ids: Index, pages: Index) -> None:
        """Put lanes on these pages."""
        keys = list(zip(self._group[ids].tolist(), pages.tolist(), strict=True))
        fresh = {key: self._values(*key) for key in dict.fromkeys(keys) if key not in self._rows}
        self._row[ids] = -1
        needed = set(self._row.tolist()) | {self._rows[key] for key in keys if key in self._rows}
        for key in [key for key, row in self._rows.items() if row not in needed]:
            self._free.append(self._rows.pop(key))
        for key, values in fresh.items():
            if not self._free:
                self._grow(values.shape)
            self._rows[key] = self._free.pop()
            self._table[self._rows[key]] = values
        self._row[ids] = [self._rows[key] for key in keys]
        self._page[ids] = pages

    def _values(self, group: int, page: int) -> Array:
        values = self._function(t=np.arange(self._length) + page * self._length, **self._distinct[group])
        return np.stack(values, axis=-1) if isinstance(values, tuple) else np.asarray(values, dtype=float)

    def _grow(self, shape: tuple[int, ...]) -> None:
        """Make place for as many pages again."""
        n = len(self._table)
        table = np.empty((max(1, 2 * n), *shape))
        if n:
            table[:n] = self._table
        self._table = table
        self._free = list(range(n, len(table)))
