"""Embeddings: looked up by key in a table, or as they stand in a column."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..runtime.constraints import Number
from ..runtime.errors import refuse
from ..runtime.settings import read_only
from ..types import Array
from .encoder import Encoder, check_columns
from .hashes import remembered, word_of
from .records import LARGEST, Records


class Embeddings(Encoder):
    """The embedding of a key, looked up in a table; zeros for a key that is not in it.

    Parameters
    ----------
    column: the column of the keys. A key is known by how it is written: 3, 3.0 and "3" are the same.
    table: a dict from keys to vectors of one length; or a pair, a list of keys and their vectors ``(keys, width)``.

    Examples
    --------
    >>> from banditselect import maps
    >>> movie = maps.Embeddings("movie", {17: [0.5, 1.0], 4: [0.0, 2.0]})
    >>> movie.encode([{"movie": 4}, {"movie": 5}])
    array([[0., 2.],
           [0., 0.]])
    """

    def __init__(self, column: str, table: Any) -> None:
        check_columns("Embeddings", (column,))
        expected = "a dict from keys to vectors of one length, or a pair of keys and vectors (keys, width)"
        keys, vectors = (list(table), list(table.values())) if isinstance(table, Mapping) else _pair(table, expected)
        words = [word_of(key) for key in keys]
        try:
            rows = np.array(vectors, dtype=float)
        except (ValueError, TypeError):
            raise refuse("Embeddings: table", table, expected) from None
        if rows.ndim != 2 or not rows.size or len(rows) != len(words) or None in words:
            raise refuse("Embeddings: table", table, expected)
        if len(set(words)) < len(words):
            twice = Counter(words).most_common(1)[0][0]
            raise refuse("Embeddings: table", twice, "keys that are written differently")
        if not (np.abs(rows) <= LARGEST).all():
            raise refuse("Embeddings: table", rows, f"finite numbers, at most {LARGEST:g} in magnitude")
        self.column, self.table = column, (words, read_only(rows))
        self._padded = np.concatenate([rows, np.zeros((1, rows.shape[1]))])
        self._index = {word: k for k, word in enumerate(words)}
        self._memory: dict[Any, int] = {}

    def __repr__(self) -> str:
        return f"Embeddings({self.column!r}, <{len(self._index)} vectors of {self.width}>)"

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"{self.column} [{k}]" for k in range(self._padded.shape[1])]

    def _encode(self, records: Records, strict: bool) -> Array:
        values, absent = records.column(self.column), len(self._index)
        rows = remembered(self._memory, values, lambda value: self._index.get(word_of(value), absent))
        if strict and absent in rows:
            raise refuse(f"Embeddings: {self.column}", values[rows.index(absent)], "a key of the table")
        return self._padded[np.array(rows, dtype=np.int64)]


class Vectors(Encoder):
    """Vectors of numbers as they stand in a column; zeros for what is none of the right length.

    Parameters
    ----------
    column: its name.
    length: of the vectors; None: that which is commonest in the fit.

    Examples
    --------
    >>> from banditselect import maps
    >>> maps.Vectors("embedding", length=2).encode([{"embedding": [0.5, 1.0]}, {"embedding": [1.0]}])
    array([[0.5, 1. ],
           [0. , 0. ]])
    """

    state = ("size",)

    def __init__(self, column: str, *, length: int | None = None) -> None:
        check_columns("Vectors", (column,))
        Number(low=1, integer=True, optional=True).check("Vectors: length", length, None)
        self.column, self.length = column, length
        self.size = length

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        if self.size is None:
            raise self._unfitted()
        return [f"{self.column} [{k}]" for k in range(self.size)]

    def _fit(self, records: Records) -> None:
        if self.length is None:
            found = [_vector(value) for value in records.column(self.column)]
            sizes = Counter(len(vector) for vector in found if vector is not None)
            self.size = sizes.most_common(1)[0][0] if sizes else 1

    def _encode(self, records: Records, strict: bool) -> Array:
        if self.size is None:
            raise self._unfitted()
        out = np.zeros((len(records), self.size))
        for row, value in enumerate(records.column(self.column)):
            vector = _vector(value)
            if vector is not None and len(vector) == self.size:
                out[row] = vector
            elif strict:
                raise refuse(f"Vectors: {self.column}", value, f"{self.size} finite numbers")
        return np.clip(out, -LARGEST, LARGEST, out=out)


def _vector(value: Any) -> Array | None:
    """Return a value as a vector of finite numbers, None if it is none."""
    if not isinstance(value, list | tuple | np.ndarray):
        return None
    try:
        vector = np.asarray(value)
        usable = vector.ndim == 1 and vector.size and vector.dtype.kind in "fiub" and np.isfinite(vector).all()
    except (ValueError, OverflowError):
        return None
    return vector.astype(float) if usable else None


def _pair(table: Any, expected: str) -> tuple[list[Any], Any]:
    if not isinstance(table, list | tuple) or len(table) != 2 or not isinstance(table[0], list | tuple | np.ndarray):
        raise refuse("Embeddings: table", table, expected)
    return list(table[0]), table[1]
