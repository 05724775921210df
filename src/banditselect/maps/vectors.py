"""Embeddings: looked up by key in a table, or as they stand in a column."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Constraint, Number
from ..runtime.errors import refuse
from ..runtime.settings import read_only
from ..types import Array, Index
from .base import ColumnNames, Encoder
from .hashing import cached_map, category_key
from .records import LARGEST, Records, clipped


class Table(Constraint):
    """A table of vectors by key, stored as keys and rows."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        self.stored(name, value, lanes, 0)

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> tuple[list[str], Array]:
        """Return the keys as they are written, and their vectors ``(keys, width)``."""
        expected = "a dict from keys to vectors of one length, or a pair of keys and vectors (keys, width)"
        try:
            given, vectors = (list(value), list(value.values())) if isinstance(value, Mapping) else value
            keys, rows = [category_key(key) for key in given], np.array(vectors, dtype=float)
        except (ValueError, TypeError):
            raise refuse(name, value, expected) from None
        if rows.ndim != 2 or not rows.size or len(rows) != len(keys) or None in keys:
            raise refuse(name, value, expected)
        if len(set(keys)) < len(keys):
            raise refuse(name, Counter(keys).most_common(1)[0][0], "keys that are written differently")
        if not (np.abs(rows) <= LARGEST).all():
            raise refuse(name, rows, f"finite numbers, at most {LARGEST:g} in magnitude")
        return [key for key in keys if key is not None], read_only(rows)


class Embeddings(Encoder):
    """The embedding of a key, looked up in a table; zeros for a key that is not in it.

    Parameters
    ----------
    column: the column of the keys; 3, 3.0 and "3" are the same.
    table: a dict from keys to vectors of one length; or a pair, a list of keys and their vectors ``(keys, width)``.

    Examples
    --------
    >>> from banditselect import maps
    >>> movie = maps.Embeddings("movie", {17: [0.5, 1.0], 4: [0.0, 2.0]})
    >>> movie.encode([{"movie": 4}, {"movie": 5}])
    array([[0., 2.],
           [0., 0.]])
    """

    column: str = argument(ColumnNames(), kw_only=False)
    table: Any = argument(Table(), kw_only=False)

    def _set_up(self) -> None:
        keys, rows = self.table
        self._padded = np.concatenate([rows, np.zeros((1, rows.shape[1]))])
        self._index = {key: k for k, key in enumerate(keys)}
        self._memory: dict[Any, int] = {}

    def __repr__(self) -> str:
        return f"Embeddings({self.column!r}, <{len(self._index)} vectors of {self.width}>)"

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"{self.column} [{k}]" for k in range(self._padded.shape[1])]

    def _fit(self, records: Records) -> None:
        self._check_examples(records, self.column, self._rows(records) < len(self._index), "a key of the table")

    def _encode(self, records: Records) -> Array:
        return self._padded[self._rows(records)]

    def _rows(self, records: Records) -> Index:
        """Return the row of every record's key in the table, behind the last for a key that is not in it."""
        absent = len(self._index)
        rows = cached_map(self._memory, records.column(self.column), lambda v: self._index.get(category_key(v), absent))
        return np.array(rows, dtype=np.int64)


class Vectors(Encoder):
    """Vectors of numbers as they stand in a column; zeros for any other value, or a vector of another length.

    Parameters
    ----------
    column: its name.
    length: of the vectors; None: the commonest in the fit.

    Examples
    --------
    >>> from banditselect import maps
    >>> maps.Vectors("embedding", length=2).encode([{"embedding": [0.5, 1.0]}, {"embedding": [1.0]}])
    array([[0.5, 1. ],
           [0. , 0. ]])
    """

    state = ("size",)

    column: str = argument(ColumnNames(), kw_only=False)
    length: int | None = argument(Number(low=1, integer=True, optional=True), default=None)

    def _set_up(self) -> None:
        self.size = self.length

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        if self.size is None:
            raise self._unfitted()
        return [f"{self.column} [{k}]" for k in range(self.size)]

    def _fit(self, records: Records) -> None:
        values = records.column(self.column)
        self.size = self.length or commonest_length(values) or 1
        own = (vector is not None and len(vector) == self.size for vector in map(vector_of, values))
        self._check_examples(records, self.column, own, f"a list of {self.length or 'finite'} numbers")

    def _encode(self, records: Records) -> Array:
        if self.size is None:
            raise self._unfitted()
        out = np.zeros((len(records), self.size))
        for row, vector in enumerate(map(vector_of, records.column(self.column))):
            if vector is not None and len(vector) == self.size:
                out[row] = vector
        return clipped(out, LARGEST)


def commonest_length(values: Iterable[Any]) -> int | None:
    """Return the commonest length of the vectors among values, or None."""
    lengths = Counter(len(vector) for vector in map(vector_of, values) if vector is not None)
    return lengths.most_common(1)[0][0] if lengths else None


def vector_of(value: Any) -> Array | None:
    """Return a value as a vector of finite numbers, or None."""
    if not isinstance(value, list | tuple | np.ndarray):
        return None
    try:
        vector = np.asarray(value)
        usable = vector.ndim == 1 and vector.size and vector.dtype.kind in "fiub" and np.isfinite(vector).all()
    except (ValueError, OverflowError):
        return None
    return vector.astype(float) if usable else None
