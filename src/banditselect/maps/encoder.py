"""Encoders: records in, numbers out, one row per record. They are put side by side with ``+``."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..runtime.errors import refuse
from ..types import Array
from .hashes import hashes_of
from .recipe import Recipe, check_shape
from .records import Records

Tokens = tuple[NDArray[np.uint64], Array]


class Encoder(Recipe):
    """Turns n records into ``(n, width)``; whatever is in them, the numbers are finite and at most 1e15 in magnitude.

    A subclass stores its arguments under their own names, names its features (``names``) and writes ``_encode``; if
    something has to be fitted, ``_fit`` as well, and ``state`` says which attributes that fills.
    """

    def fit(self, records: Any) -> Self:
        """Return a fitted copy; ``records`` are dicts or a DataFrame."""
        made = self._copy()
        made._fit(Records.of(records))
        return made

    def encode(self, records: Any, *, strict: bool = False) -> Array:
        """Return the features of records, ``(n, width)``.

        Parameters
        ----------
        records: n dicts, or a DataFrame.
        strict: raise ValueError, by column and value, for what is missing, unknown or of the wrong type. Otherwise the
            encoder has a number for it.
        """
        return np.array(Records.of(records).encoded(self, "_encode", strict))

    def observe(self, records: Records) -> None:
        """Take note of records before they are encoded, for what is learned online."""
        for _, part in self._parts():
            if isinstance(part, Encoder):
                part.observe(records)

    def _try(self) -> None:
        if self.fitted:
            check_shape(self, self._encode(Records.of([None]), False))

    def _fit(self, records: Records) -> None:
        """Fill the state."""
        for _, part in self._parts():
            if isinstance(part, Encoder):
                part._fit(records)

    @abstractmethod
    def _encode(self, records: Records, strict: bool) -> Array:
        """Return the features of records; nothing is changed."""

    def _tokens(self, records: Records, strict: bool) -> Tokens:
        """Return what hashed interactions are made of: hashes of the features that may not be 0, and their values."""
        values = records.encoded(self, "_encode", strict)
        return np.ascontiguousarray(np.broadcast_to(hashes_of(*self.names), values.shape)), values

    def __add__(self, other: "Encoder") -> "Concat":
        return Concat(self, other) if isinstance(other, Encoder) else NotImplemented


class Concat(Encoder):
    """Several encoders side by side; ``a + b`` is short for it.

    Examples
    --------
    >>> from banditselect import maps
    >>> both = maps.Numbers("age", scale=None) + maps.Categories("country")
    >>> both.fit([{"age": 30, "country": "FR"}]).encode([{"age": 40, "country": "FR"}, {"age": 50}])
    array([[40.,  1.,  0.],
           [50.,  0.,  1.]])
    """

    def __init__(self, *encoders: Encoder) -> None:
        self.encoders: tuple[Encoder, ...] = ()
        for encoder in encoders or (None,):
            mine = owned("Concat: encoders", encoder)
            self.encoders += mine.encoders if type(mine) is Concat else (mine,)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [name for encoder in self.encoders for name in encoder.names]

    @property
    def width(self) -> int:
        """The number of features."""
        return sum(encoder.width for encoder in self.encoders)

    def _encode(self, records: Records, strict: bool) -> Array:
        return np.concatenate([records.encoded(e, "_encode", strict) for e in self.encoders], axis=1)

    def _tokens(self, records: Records, strict: bool) -> Tokens:
        hashes, values = zip(*(records.encoded(e, "_tokens", strict) for e in self.encoders), strict=True)
        return np.concatenate(hashes, axis=1), np.concatenate(values, axis=1)


def owned(name: str, encoder: Any) -> Any:
    """Return a copy of an encoder: of two maps with the same one, each observes for itself. Refuse what is none."""
    if not isinstance(encoder, Encoder):
        raise refuse(name, encoder, 'an encoder of records, such as maps.Numbers("age")')
    return encoder._copy()


def check_columns(owner: str, columns: tuple[Any, ...]) -> None:
    """Refuse what is not one or more names of columns."""
    if not columns or not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise refuse(f"{owner}: columns", columns, "different names of columns")
