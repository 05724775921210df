"""Columns of categories: a feature for each category of a fit, or hashed to a number of features."""

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..types import Array, Index
from .base import ColumnNames, Encoder, Tokens
from .hashing import bucket_and_sign, cached_map, category_key, hash_of, hashes_of
from .records import Records


class Categories(Encoder):
    """Categories: one feature for each in the examples of the fit and one for all others; or hashed, without a fit.

    3, 3.0 and "3" are the same category. A value that is missing, or no category (a list), counts as unknown; hashed it
    gives zeros.

    Parameters
    ----------
    columns: their names.
    width: None, or the number of features that the categories of all columns are hashed to, each to one of them with
        sign +1 or -1.
    most: the number of categories of a column that get a separate feature, the most frequent ones of the fit.
    seed: of the hashes.

    Attributes
    ----------
    known: the categories with a feature, a list for every column.

    Examples
    --------
    >>> from banditselect import maps
    >>> country = maps.Categories("country").fit([{"country": "FR"}, {"country": "BR"}, {"country": "FR"}])
    >>> country.names
    ['country = FR', 'country = BR', 'country is unknown']
    >>> country.encode([{"country": "BR"}, {"country": "IS"}])
    array([[0., 1., 0.],
           [0., 0., 1.]])
    >>> maps.Categories("country", width=4).encode([{"country": "IT"}, {"country": "FR"}])
    array([[ 1.,  0.,  0.,  0.],
           [ 0., -1.,  0.,  0.]])
    """

    state = ("known",)

    columns: tuple[str, ...] = argument(ColumnNames(), several=True)
    width: int | None = argument(Number(low=1, integer=True, optional=True), default=None)  # type: ignore[assignment]
    most: int = argument(Number(low=1, integer=True), default=50)
    seed: int = argument(Number(low=0, integer=True), default=0)

    if TYPE_CHECKING:

        def __init__(self, *columns: str, width: int | None = None, most: int = 50, seed: int = 0) -> None: ...

    def _set_up(self) -> None:
        self._width = self.settings["width"]
        self.known: list[list[str]] | None = None if self._width is None else []
        self._memory: list[dict[Any, int]] = [{} for _ in self.columns]

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        if self._width is not None:
            return [f"{', '.join(self.columns)} #{k}" for k in range(self._width)]
        if self.known is None:
            raise self._unfitted()
        pairs = zip(self.columns, self.known, strict=True)
        return [name for c, words in pairs for name in (*(f"{c} = {w}" for w in words), f"{c} is unknown")]

    def _fit(self, records: Records) -> None:
        met = [Counter(map(category_key, records.column(name))) for name in self.columns]
        for name, counts in zip(self.columns, met, strict=True):
            self._check_examples(records, name, (key is not None for key in counts), "a category")
        if self._width is None:
            self.known = [[key for key, _ in c.most_common() if key is not None][: self.most] for c in met]
            self._memory = [{} for _ in self.columns]

    def _encode(self, records: Records) -> Array:
        n, rows = len(records), np.arange(len(records))
        if self._width is not None:
            out = np.zeros((n, self._width))
            for k in range(len(self.columns)):
                hashes, there = self._hashes(records, k)
                bucket, sign = bucket_and_sign(hashes, self._width)
                out[rows, bucket] += sign * there
            return out
        *firsts, width = self._firsts()
        out = np.zeros((n, width))
        for k, first in enumerate(firsts):
            out[rows, self._slots(records, k) + first] = 1.0
        return out

    def _slots(self, records: Records, k: int) -> Index:
        """Return the feature of every record among those of column k; the last is for unknown categories."""
        assert self.known is not None
        known = self.known[k]

        def slot(value: Any) -> int:
            key = category_key(value)
            return known.index(key) if key in known else len(known)

        return np.array(cached_map(self._memory[k], records.column(self.columns[k]), slot), dtype=np.int64)

    def _hashes(self, records: Records, k: int) -> tuple[NDArray[np.uint64], Array]:
        """Return the hashes of column k, and 1.0 where there is a category."""
        name = self.columns[k]

        def hashed(value: Any) -> int:
            key = category_key(value)
            return 0 if key is None else hash_of(str(self.seed), name, key)

        hashes = np.array(cached_map(self._memory[k], records.column(name), hashed), dtype=np.uint64)
        return hashes, (hashes != 0).astype(float)

    def _tokens(self, records: Records) -> Tokens:
        columns = range(len(self.columns))
        if self._width is not None:
            parts = [self._hashes(records, k) for k in columns]
            return np.stack([hashes for hashes, _ in parts], axis=1), np.stack([there for _, there in parts], axis=1)
        hashes = np.empty((len(records), len(self.columns)), dtype=np.uint64)
        for k, first in enumerate(self._firsts()[:-1]):
            hashes[:, k] = hashes_of(*self.names)[first + self._slots(records, k)]
        return hashes, np.ones(hashes.shape)

    def _firsts(self) -> list[int]:
        """Return the first feature of every column, and the number of all."""
        if self.known is None:
            raise self._unfitted()
        return [0, *accumulate(len(words) + 1 for words in self.known)]
