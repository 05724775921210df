"""Tables of features with a label in every row, checked where they come in."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..runtime.constraints import Constraint
from ..runtime.errors import refuse
from ..runtime.settings import read_only
from ..types import Index


class AsGiven(Constraint):
    """Anything, kept as it is: the problem makes tables of its own from it."""

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> Any:
        """Return the value itself."""
        return value


def table_of(name: str, value: Any, expected: str, axes: int = 2) -> NDArray[Any]:
    """Return features, ``(rows, d)`` or with more axes between them, as a read-only view."""
    try:
        table = np.asarray(value).view()
    except ValueError:
        raise refuse(name, value, expected) from None
    if table.ndim != axes or table.size == 0 or table.dtype.kind not in "fiub" or not np.isfinite(table).all():
        raise refuse(name, value, expected)
    table.flags.writeable = False
    return table


def same_rows(name: str, tables: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return maps that have the same number of rows."""
    for i, table in enumerate(tables):
        if table.shape[0] != tables[0].shape[0]:
            raise refuse(f"{name}[{i}]", table, f"{tables[0].shape[0]} rows, as {name.split(': ')[-1]}[0] has")
    return tables


def labels_of(name: str, value: ArrayLike, rows: int) -> Index:
    """Return the labels, one for every row, as a read-only array."""
    labels = np.asarray(value)
    expected = f"whole numbers 0, 1, ..., C - 1 of shape ({rows},), all of which occur"
    fits = labels.shape == (rows,) and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < rows
    if not fits or np.bincount(labels).min() == 0:
        raise refuse(name, value, expected)
    return read_only(labels.astype(np.int64))
