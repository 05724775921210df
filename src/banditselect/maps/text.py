"""Text as hashed n-grams."""

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..runtime.errors import refuse
from ..types import Array
from .base import ColumnNames, Encoder
from .hashing import bucket_and_sign, cached_map, category_key, hash_of
from .records import Records

Units = Literal["words", "letters"]

_WORD = re.compile(r"\w+")
_MOST = 4096  # texts whose features are remembered


class Text(Encoder):
    """Text as counts of its n-grams, hashed to some features with signs +1 and -1, scaled to length 1.

    Case does not count. A list of words (tags) is text too. Missing or empty text gives all-zero features.

    Parameters
    ----------
    columns: their names; the n-grams of all columns share the features.
    width: the number of features.
    ngrams: shortest and longest, in ``units``.
    units: ``"words"``, or ``"letters"`` within words, for short texts with variants and misspellings.
    seed: of the hashes.

    Examples
    --------
    >>> from banditselect import maps
    >>> title = maps.Text("title", width=8, ngrams=(1, 1))
    >>> title.encode([{"title": "The the"}, {"title": None}])
    array([[0., 0., 1., 0., 0., 0., 0., 0.],
           [0., 0., 0., 0., 0., 0., 0., 0.]])
    """

    columns: tuple[str, ...] = argument(ColumnNames(), several=True)
    width: int = argument(Number(low=1, integer=True), default=128)
    ngrams: tuple[int, int] = argument(default=(1, 2))
    units: Units = argument(OneOf(("words", "letters")), default="words")
    seed: int = argument(Number(low=0, integer=True), default=0)

    if TYPE_CHECKING:

        def __init__(
            self, *columns: str, width: int = ..., ngrams: tuple[int, int] = ..., units: Units = ..., seed: int = ...
        ) -> None: ...

    def _set_up(self) -> None:
        pair = self.ngrams if isinstance(self.ngrams, list | tuple) else ()
        if len(pair) != 2 or not all(type(n) is int for n in pair) or not 1 <= pair[0] <= pair[1]:
            raise refuse("Text: ngrams", self.ngrams, "a pair of whole numbers >= 1, the shortest and the longest")
        self._memory: list[dict[str | None, Array]] = [{} for _ in self.columns]

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"{', '.join(self.columns)} #{k}" for k in range(self.width)]

    def _fit(self, records: Records) -> None:
        for name in self.columns:
            texts = (_text(value) is not None for value in records.column(name))
            self._check_examples(records, name, texts, "text, or a list of words,")

    def _encode(self, records: Records) -> Array:
        total = np.zeros((len(records), self.width))
        for name, memory in zip(self.columns, self._memory, strict=True):
            texts = [_text(value) for value in records.column(name)]
            total += np.array(cached_map(memory, texts, partial(self._counts, name), _MOST)).reshape(total.shape)
        length = np.sqrt((total**2).sum(axis=1, keepdims=True))
        return total / np.where(length > 0.0, length, 1.0)

    def _counts(self, name: str, text: str | None) -> Array:
        """Return the signed counts of the n-grams of a text, ``(width,)``."""
        hashes = np.array([hash_of(str(self.seed), name, *gram) for gram in self._grams(text or "")], dtype=np.uint64)
        bucket, sign = bucket_and_sign(hashes, self.width)
        return np.bincount(bucket, sign, self.width).astype(float)

    def _grams(self, text: str) -> Iterator[tuple[str, ...]]:
        words = _WORD.findall(text.lower())
        parts = [words] if self.units == "words" else [[*f" {word} "] for word in words]
        for n in range(self.ngrams[0], self.ngrams[1] + 1):
            for part in parts:
                yield from zip(*(part[k:] for k in range(n)), strict=False)


def _text(value: Any) -> str | None:
    """Return a value as text; None if it is missing or no text."""
    if isinstance(value, list | tuple):
        words = [category_key(part) for part in value]
        return " ".join(word for word in words if word is not None)
    return category_key(value)
