"""Text as hashed n-grams."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import numpy as np

from ..runtime.constraints import OneOf, whole_number
from ..runtime.errors import refuse
from ..types import Array
from .encoder import Encoder, check_columns
from .hashes import hash_of, places, remembered, word_of
from .records import Records

_WORD = re.compile(r"\w+")
_MOST = 4096  # texts whose features are remembered


class Text(Encoder):
    """Text as counts of its n-grams, hashed to some features with signs +1 and -1, scaled to length 1.

    Case does not count. A list of words (tags) is text too. Of what is missing or empty all features are 0.

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

    def __init__(
        self,
        *columns: str,
        width: int = 128,
        ngrams: tuple[int, int] = (1, 2),
        units: Literal["words", "letters"] = "words",
        seed: int = 0,
    ) -> None:
        check_columns("Text", columns)
        whole_number("Text: width", width, 1)
        pair = tuple(ngrams) if isinstance(ngrams, list | tuple) else ()
        if len(pair) != 2 or not all(type(n) is int for n in pair) or not 1 <= pair[0] <= pair[1]:
            raise refuse("Text: ngrams", ngrams, "a pair of whole numbers >= 1, the shortest and the longest")
        OneOf(("words", "letters")).check("Text: units", units, None)
        whole_number("Text: seed", seed, 0)
        self.columns, self.ngrams, self.units, self.seed = columns, pair, units, seed
        self._width = width
        self._memory: list[dict[str | None, Array]] = [{} for _ in columns]

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"{', '.join(self.columns)} #{k}" for k in range(self._width)]

    def _encode(self, records: Records, strict: bool) -> Array:
        total = np.zeros((len(records), self._width))
        for name, memory in zip(self.columns, self._memory, strict=True):
            values = [_text(value) for value in records.column(name)]
            if strict and None in values:
                raise refuse(f"Text: {name}", records.column(name)[values.index(None)], "text, or a list of words")
            rows = remembered(memory, values, partial(self._counts, name), _MOST)
            total += np.array(rows).reshape(total.shape)
        length = np.sqrt((total**2).sum(axis=1, keepdims=True))
        return total / np.where(length > 0.0, length, 1.0)

    def _counts(self, name: str, text: str | None) -> Array:
        """Return the signed counts of the n-grams of a text, ``(width,)``."""
        hashes = np.array([hash_of(str(self.seed), name, *gram) for gram in self._grams(text or "")], dtype=np.uint64)
        place, sign = places(hashes, self._width)
        return np.bincount(place, sign, self._width).astype(float)

    def _grams(self, text: str) -> Iterator[tuple[str, ...]]:
        words = _WORD.findall(text.lower())
        parts = [words] if self.units == "words" else [[*f" {word} "] for word in words]
        for n in range(self.ngrams[0], self.ngrams[1] + 1):
            for part in parts:
                yield from zip(*(part[k:] for k in range(n)), strict=False)


def _text(value: Any) -> str | None:
    """Return a value as text; None for what is missing or none."""
    if isinstance(value, list | tuple):
        words = [word_of(part) for part in value]
        return " ".join(word for word in words if word is not None)
    return word_of(value)
