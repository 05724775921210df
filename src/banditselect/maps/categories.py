"""Columns of categories: a feature for each that a fit has met, or a place for each by its hash."""

from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.constraints import Number, whole_number
from ..runtime.errors import refuse
from ..types import Array
from .encoder import Encoder, Tokens, check_columns
from .hashes import hash_of, hashes_of, places, remembered, word_of
from .records import Records


class Categories(Encoder):
    """Categories: one feature for each that the fit has met and one for all others; or hashed, without a fit.

    A category is known by how it is written: 3, 3.0 and "3" are the same. What is missing, or no category (a list),
    counts as unknown; hashed it has no feature.

    Parameters
    ----------
    columns: their names.
    width: None, or the number of features that the categories of all columns are hashed to, each to one of them with
        sign +1 or -1.
    most: so many categories of a column get a feature of their own, those that the fit has met most often.
    seed: of the hashes.

    Attributes
    ----------
    known: the categories of every column that have a feature, a list each.

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

    def __init__(self, *columns: str, width: int | None = None, most: int = 50, seed: int = 0) -> None:
        check_columns("Categories", columns)
        Number(low=1, integer=True, optional=True).check("Categories: width", width, None)
        whole_number("Categories: most", most, 1)
        whole_number("Categories: seed", seed, 0)
        self.columns, self.most, self.seed = columns, most, seed
        self._width = width
        self.known: list[list[str]] | None = None if width is None else []
        self._memory: list[dict[Any, int]] = [{} for _ in columns]

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
        if self._width is None:
            met = [Counter(map(word_of, records.column(name))) for name in self.columns]
            self.known = [[w for w, _ in counts.most_common() if w is not None][: self.most] for counts in met]
            self._memory = [{} for _ in self.columns]

    def _encode(self, records: Records, strict: bool) -> Array:
        n, rows = len(records), np.arange(len(records))
        if self._width is not None:
            out = np.zeros((n, self._width))
            for k in range(len(self.columns)):
                hashes, there = self._hashes(records, k, strict)
                place, sign = places(hashes, self._width)
                out[rows, place] += sign * there
            return out
        *firsts, width = self._firsts()
        out = np.zeros((n, width))
        for k, first in enumerate(firsts):
            out[rows, np.array(self._slots(records, k, strict), dtype=np.int64) + first] = 1.0
        return out

    def _slots(self, records: Records, k: int, strict: bool) -> list[int]:
        """Return the feature of every record among those of column k, the last one for what is unknown."""
        assert self.known is not None
        words, values = self.known[k], records.column(self.columns[k])

        def slot(value: Any) -> int:
            word = word_of(value)
            return words.index(word) if word in words else len(words)

        slots = remembered(self._memory[k], values, slot)
        if strict and len(words) in slots:
            value = values[slots.index(len(words))]
            raise refuse(f"Categories: {self.columns[k]}", value, "a category that the fit has met")
        return slots

    def _hashes(self, records: Records, k: int, strict: bool) -> tuple[NDArray[np.uint64], Array]:
        """Return the hashes of column k, and 1.0 where there is a category."""
        name, values = self.columns[k], records.column(self.columns[k])

        def hashed(value: Any) -> int:
            word = word_of(value)
            return 0 if word is None else hash_of(str(self.seed), name, word)

        hashes = np.array(remembered(self._memory[k], values, hashed), dtype=np.uint64)
        there = hashes != 0
        if strict and not there.all():
            raise refuse(f"Categories: {name}", values[int(there.argmin())], "a category")
        return hashes, there.astype(float)

    def _tokens(self, records: Records, strict: bool) -> Tokens:
        columns = range(len(self.columns))
        if self._width is not None:
            parts = [self._hashes(records, k, strict) for k in columns]
            return np.stack([hashes for hashes, _ in parts], axis=1), np.stack([there for _, there in parts], axis=1)
        hashes = np.empty((len(records), len(self.columns)), dtype=np.uint64)
        for k, first in enumerate(self._firsts()[:-1]):
            hashes[:, k] = hashes_of(*self.names)[first + np.array(self._slots(records, k, strict), dtype=np.int64)]
        return hashes, np.ones(hashes.shape)

    def _firsts(self) -> list[int]:
        """Return the first feature of every column, and the number of all."""
        if self.known is None:
            raise self._unfitted()
        return [0, *accumulate(len(words) + 1 for words in self.known)]
