"""Records as columns; each column is read once, and encodings are cached with the records."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import kernel
from ..runtime.errors import refuse
from ..runtime.extras import frame_of
from ..types import Array, Index

if TYPE_CHECKING:
    from .base import Part

ROW = "a record (a dict, a row of a DataFrame, a named tuple) or an id (a word, a number)"
ROWS = "a DataFrame, or a list of records (dicts, rows of a DataFrame, named tuples) or of ids (words, numbers)"
LARGEST = 1e15  #: larger numbers are cut to it, so that a policy takes the product of two of them


class Records:
    """A batch of records with their encodings, each computed once.

    Use it for items that do not change from decision to decision (``map.features(context, records)``): then only the
    part that depends on the context is computed. ``take`` selects the items offered now.

    Parameters
    ----------
    rows: a DataFrame (pandas, polars, pyarrow), or a list of dicts, rows of a pandas DataFrame, named tuples. A word or
        a number is an id, ``{"id": value}``; None has no columns. Not changed afterwards.
    name: of the argument, for errors.

    Examples
    --------
    >>> from banditselect import maps
    >>> movies = maps.Records([{"year": 1994}, {"year": 2001}, {"year": None}])
    >>> movies.numbers("year")
    array([1994., 2001.,   nan])
    >>> movies.take([1]).column("year")
    [2001]
    """

    def __init__(self, rows: Any, name: str = "records") -> None:
        self._frame = frame_of(name, rows)
        self._rows: list[Any] = []
        if self._frame is not None:
            self._labels = {str(label): label for label in self._frame.columns}
            if len(self._labels) < len(self._frame.columns):
                raise refuse(f"{name}: columns", self._frame.columns, "columns of different names")
        else:
            unread = isinstance(rows, str | bytes) or hasattr(rows, "_asdict")
            if unread or not isinstance(rows, Sequence | np.ndarray):
                raise refuse(name, rows, f"{ROWS}, not a value of type {type(rows).__name__}")
            self._rows = [row if type(row) is dict else _record(row, name) for row in rows]
        self._size = len(self._rows if self._frame is None else self._frame)
        self._columns: dict[str, list[Any]] = {}
        self._numbers: dict[str, Array] = {}
        self._encoded: dict[tuple[Part, str], tuple[int, Any]] = {}
        self._whole: tuple[Records, Index] | None = None

    @classmethod
    def of(cls, rows: Any, name: str = "records") -> Records:
        """Return records; None is no record at all."""
        return rows if isinstance(rows, Records) else cls(() if rows is None else rows, name)

    @classmethod
    def one(cls, record: Any) -> Records:
        """Return a single record, a context, in the same form."""
        several = isinstance(record, Records) or frame_of("context", record) is not None
        made = cls.of(record if several else (record,), "context")
        if len(made) != 1:
            raise refuse("context", made, "one record")
        return made

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<{self._size} records>"

    @property
    def names(self) -> list[str]:
        """The names of all columns, in the order in which they first appear."""
        if self._whole is not None:
            return self._whole[0].names
        rows: Iterable[Any] = [self._labels] if self._frame is not None else self._rows
        return list(dict.fromkeys(str(name) for row in rows for name in row))

    def has_any(self, names: Collection[str]) -> bool:
        """Return whether one of the records, or of the whole that they were taken from, has a column of these names."""
        if self._whole is not None:
            return self._whole[0].has_any(names)
        rows: Iterable[Any] = [self._labels] if self._frame is not None else self._rows
        return any(name in row for row in rows for name in names)

    def rows(self) -> list[Mapping[str, Any]]:
        """Return the records as dicts."""
        if self._whole is not None:
            rows = self._whole[0].rows()
            return [rows[k] for k in self._whole[1]]
        if self._frame is not None and not self._rows:
            self._rows = [{str(label): cell for label, cell in row.items()} for row in self._frame.rows(named=True)]
        return self._rows

    def take(self, positions: Sequence[int] | Index) -> Records:
        """Return some of the records, which share the cache of these."""
        chosen = np.asarray(positions, dtype=np.int64).reshape(-1)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < self._size):
            raise refuse("take: positions", positions, f"whole numbers between 0 and {self._size - 1}")
        made = Records(())
        whole, before = (self, None) if self._whole is None else self._whole
        made._whole, made._size = (whole, chosen if before is None else before[chosen]), chosen.size
        return made

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, None where a record has none."""
        found = self._columns.get(name)
        if found is None:
            if self._whole is not None:
                values = self._whole[0].column(name)
                found = [values[k] for k in self._whole[1].tolist()]
            elif self._frame is not None:
                has = name in self._labels
                found = self._frame.get_column(self._labels[name]).to_list() if has else [None] * self._size
            else:
                found = [row.get(name) for row in self._rows]
            self._columns[name] = found
        return found

    def numbers(self, name: str) -> Array:
        """Return a column of numbers; NaN for a value that is missing, infinite or no number."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = _as_numbers(self.column(name))
        return found

    def encoded(self, part: Part, how: str = "_encode") -> Any:
        """Return the result of a method of an encoder or a map for these records; it is cached until that changes."""
        kept, changes = self._encoded.get((part, how)), part.changes
        if kept is None or kept[0] != changes:
            kept = self._encoded[part, how] = (changes, self._made(part, how, changes))
        return kept[1]

    def _made(self, part: Part, how: str, changes: int) -> Any:
        """Compute it; for part of a catalogue from the cache of the whole, if that is new or up to date."""
        if self._whole is None:
            return getattr(part, how)(self)
        whole, chosen = self._whole
        if whole._encoded.get((part, how), (changes,))[0] != changes:
            return getattr(part, how)(self)
        made = whole.encoded(part, how)
        return tuple(array[chosen] for array in made) if isinstance(made, tuple) else made[chosen]


def _record(row: Any, name: str) -> Mapping[str, Any]:
    """Return a record or an id as a record."""
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "_asdict"):
        return row._asdict()
    if hasattr(row, "to_dict") and not hasattr(type(row), "columns"):
        return {str(label): value for label, value in row.to_dict().items()}
    if row is None or isinstance(row, str | Number | np.generic):
        return {} if row is None else {"id": row}
    raise refuse(name, row, f"{ROW}, not a value of type {type(row).__name__}")


def _as_numbers(values: list[Any]) -> Array:
    """Return values as numbers, NaN for any other value."""
    try:
        array = np.array(values)
        plain = array.ndim == 1 and array.dtype.kind in "fiub"
    except Exception:  # an object may raise anything when it is made an array
        plain = False
    numbers = array.astype(float) if plain else np.array([as_number(value) for value in values], dtype=float)
    tidy(numbers, LARGEST)
    return numbers


@kernel
def tidy(x: Array, largest: float) -> None:
    """Replace entries of ``x (n,)`` that are not finite by NaN, and clip the others at ``largest``."""
    for r in range(x.size):
        if not math.isfinite(x[r]):
            x[r] = math.nan
        elif abs(x[r]) > largest:
            x[r] = math.copysign(largest, x[r])


def as_number(value: Any) -> float:
    """Return a real number as a float, NaN for everything else: words are not read as numbers."""
    if isinstance(value, int | float | np.integer | np.floating | np.bool_ | Decimal):
        with contextlib.suppress(OverflowError, ValueError):
            return float(value)
    return np.nan


def clipped(x: Array, largest: float) -> Array:
    """Return numbers clipped to a magnitude, in place."""
    return np.minimum(np.maximum(x, -largest, out=x), largest, out=x)


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or the missing values of pandas."""
    if value is None:
        return True
    if isinstance(value, str | int | list | tuple | dict):
        return False
    try:
        return bool(value != value)
    except Exception:  # pandas' NA and arrays have no truth value, a signalling NaN raises
        return type(value).__name__ in ("NAType", "Decimal")
