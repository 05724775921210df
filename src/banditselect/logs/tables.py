"""Reads tables in batches of rows: CSV and parquet files, DataFrames of any library, mappings from names to columns."""

import ast
import csv
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.features import LIMIT
from ..runtime import errors
from ..runtime.extras import frame_of, need
from ..types import Array, Index

_ROWS = 10_000  #: rows of a file in a batch
Counter = Callable[[int], None] | None  #: counts entries that are skipped; None: they are refused
_FLAGS = {"true": 1, "1": 1, "1.0": 1, "false": 0, "0": 0, "0.0": 0}


class Batch:
    """Some rows of a table. A cell that cannot be used is a fault of its row, see ``good``.

    Parameters
    ----------
    frame: the rows, a DataFrame of pandas.
    path: of the file; None for a table in memory.
    first: the number of the first row, from 0.
    """

    def __init__(self, frame: Any, path: Path | None, first: int) -> None:
        self.frame, self.path, self.first, self.n = frame.reset_index(drop=True), path, first, len(frame)
        self.text = path is not None and is_csv(path)  #: whether lists are text
        self.group = np.arange(self.n)  #: the entry that a row belongs to
        self._faults: dict[int, tuple[str, Any, str]] = {}

    def cells(self, name: str, rows: Any = slice(None)) -> Any:
        """Return a column as an array of numbers, or as a list of values, None where one is missing."""
        column = self.frame[name].iloc[rows]
        missing = column.isna().to_numpy()
        if column.dtype.kind in "iuf" and not missing.any():
            return column.to_numpy()
        return [None if gap else self._value(cell) for cell, gap in zip(column.tolist(), missing, strict=True)]

    def _value(self, cell: Any) -> Any:
        if self.text and isinstance(cell, str):
            return _literal(cell) if cell.lstrip().startswith("[") else cell if cell.strip() else None
        return cell.tolist() if isinstance(cell, np.ndarray) else cell

    def numbers(self, name: str, rows: Any = slice(None)) -> Array:
        """Return finite numbers, in all rows or some."""
        column, parse = self.frame[name].iloc[rows], need("pandas", "experiments").to_numeric
        try:
            x: Array = parse(column, errors="coerce").to_numpy(float, na_value=np.nan)
        except OverflowError:
            x = parse(column.astype(str), errors="coerce").to_numpy(float, na_value=np.nan)
        self.fault(column.index[~(np.abs(x) <= LIMIT)], name, "a finite number such as 0.5, with a point")
        return x

    def probabilities(self, given: str | float, rows: Any = slice(None)) -> Array:
        """Return the probabilities in a column, or the one that was given for all rows."""
        places = self.frame.index[rows]
        p = self.numbers(given, rows) if isinstance(given, str) else np.full(places.size, float(given))
        self.fault(places[(p <= 0.0) | (p > 1.0)], str(given), "a probability in (0, 1]")
        return p

    def flags(self, name: str) -> Index:
        """Return cells that are true or false, 1 or 0."""
        flags = np.array([_FLAGS.get(str(cell).lower(), -1) for cell in self.frame[name].tolist()])
        self.fault(np.flatnonzero(flags < 0), name, "true or false, 1 or 0")
        return flags

    def starts(self, name: str) -> Index:
        """Return the rows whose id is not that of the row before."""
        column = self.frame[name]
        self.fault(np.flatnonzero(column.isna()), name, "an id")
        return np.flatnonzero((column != column.shift()).to_numpy(bool))

    def positions(self, name: str, order: Mapping[Any, int]) -> Index:
        """Return the positions of the ids in a column."""
        column = self.frame[name]
        try:
            codes, different = column.factorize()
        except TypeError:  # lists are no ids
            codes, different = np.arange(self.n), column.tolist()
        found = np.array([*(_position(cell, order) for cell in different), -1])[codes]
        self.fault(np.flatnonzero(found < 0), name, _one_of(order))
        return found

    def menus(self, name: str, order: Mapping[Any, int]) -> Index:
        """Return the positions of the ids in lists of different ids, ``(n, K)``, filled up with -1."""
        found: list[list[int]] = []
        for row, cell in enumerate(self.cells(name)):
            ids = [str(key) for key in cell] if self.text and isinstance(cell, list) else cell
            if not isinstance(ids, list) or not ids or len({str(key) for key in ids}) != len(ids):
                self.fault([row], name, "a list of different ids such as [3, 7] or ['a', 'b']")
                ids = []
            found.append([_position(key, order) for key in ids])
            if -1 in found[-1]:
                self.fault([row], name, _one_of(order), ids[found[-1].index(-1)])
        return padded(found)

    def fault(self, rows: Any, name: str, expected: str, value: Any = None) -> None:
        """Note that a cell, or a value in it, cannot be used; of several faults of a row the first counts."""
        for row in map(int, rows):
            cell = self.frame[name].iloc[row] if value is None else value
            self._faults.setdefault(row, (name, cell, expected))

    def split(self, row: int) -> "tuple[Batch, Batch]":
        """Return the rows before one and those from it on."""
        after = Batch(self.frame.iloc[row:], self.path, self.first + row)
        return Batch(self.frame.iloc[:row], self.path, self.first), after

    def good(self, skipped: Counter) -> "Batch":
        """Return the rows without the entries that have a fault, which are refused or counted."""
        if not self._faults:
            return self
        if skipped is None:
            row = min(self._faults)
            (name, value, expected), n = self._faults[row], self.first + row
            place = f"line {_line(self.path, n)}" if self.path and self.text else f"row {n}"
            table = self.path.name if self.path else "table"
            raise errors.refuse(f"{table}: {place}: column {name!r}", value, expected)
        bad = np.unique(self.group[list(self._faults)])
        skipped(bad.size)
        return Batch(self.frame[~np.isin(self.group, bad)], self.path, self.first)


def batches(source: Any, names: Sequence[str], skipped: Counter = None, ids: Sequence[Any] = ()) -> Iterator[Batch]:
    """Yield the rows of a table in batches.

    Parameters
    ----------
    source: a ``.parquet`` or ``.csv`` file, a DataFrame (pandas, polars, pyarrow), or a mapping from names to columns.
    names: of the columns that are read; one that is missing is refused.
    skipped: counts rows of a CSV file with too many cells; None: they are refused.
    ids: columns of a CSV file that are read as text.
    """
    frame, names = frame_of("table", source), [*dict.fromkeys(names)]
    if frame is not None or isinstance(source, Mapping):
        _check_columns("table", list(source) if frame is None else frame.columns, names)
        table = need("pandas", "experiments").DataFrame(source) if frame is None else frame.select(names).to_pandas()
        if not len(table):
            raise errors.refuse("table", "no row", "at least one")
        yield Batch(table, None, 0)
        return
    text, path, first = is_csv(source), Path(source), 0
    try:
        for part in _csv(path, names, skipped, ids) if text else _parquet(path, names):
            if len(part):
                yield Batch(part, path, first)
            first += len(part)
    except errors.ArgumentError:
        raise
    except UnicodeDecodeError as error:
        raise errors.refuse(f"{path.name}: line {_undecoded(path)}", str(error), "text in UTF-8") from error
    except (ValueError, OverflowError, csv.Error) as error:
        raise errors.refuse(path.name, str(error).strip(), f"a {path.suffix} file") from error
    if not first:
        raise errors.refuse(path.name, "no row", "at least one")


def joined(parts: Sequence[Batch]) -> Batch:
    """Return batches that follow one another as one."""
    if len(parts) < 2:
        return parts[0]
    return Batch(need("pandas", "experiments").concat([part.frame for part in parts]), parts[0].path, parts[0].first)


def padded(menus: Sequence[Sequence[int]]) -> Index:
    """Return lists of positions as an array, filled up with -1."""
    K = max(map(len, menus), default=0)
    return np.array([[*menu, *[-1] * (K - len(menu))] for menu in menus], dtype=np.int64)


def is_csv(source: Any) -> bool:
    """Return whether a table is a CSV file; refuse other files than these and parquet."""
    if frame_of("table", source) is not None or isinstance(source, Mapping):
        return False
    suffix = Path(source).suffix.lower() if isinstance(source, str | os.PathLike) else ""
    if suffix not in (".parquet", ".csv"):
        raise errors.refuse("table", source, "a DataFrame, or a file that ends in .parquet or .csv")
    return suffix == ".csv"


def header(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return next(csv.reader(file), [])


def _csv(path: Path, names: list[str], skipped: Counter, ids: Sequence[Any]) -> Iterator[Any]:
    pandas = need("pandas", "experiments")
    _check_columns(path.name, header(path), names)
    with pandas.read_csv(
        path, chunksize=_ROWS, dtype=dict.fromkeys(ids, str), index_col=False, encoding="utf-8-sig",
        keep_default_na=False, na_values=[""], on_bad_lines="error" if skipped is None else "warn",
    ) as parts:  # fmt: skip
        while True:
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always", pandas.errors.ParserWarning)
                part = next(parts, None)
            for text in (str(warning.message) for warning in found):
                lines = text.count("Skipping line")
                if skipped is None or not lines:
                    expected = "as many cells in the first row as columns, texts with commas in quotes"
                    raise errors.refuse(f"{path.name}: line 2", text, expected)
                skipped(lines)
            if part is None:
                return
            yield part[names]  # usecols would accept rows with too many cells


def _parquet(path: Path, names: Sequence[str]) -> Iterator[Any]:
    file = need("pyarrow.parquet", "experiments").ParquetFile(path)
    _check_columns(path.name, file.schema_arrow.names, names)
    for part in file.iter_batches(batch_size=_ROWS, columns=names):
        yield part.to_pandas()


def _undecoded(path: Path) -> int:
    """Return the first line of a file that is not in UTF-8."""
    with path.open("rb") as file:
        return next(n for n, line in enumerate(file, 1) if "\ufffd" in line.decode("utf-8", "replace"))


def _line(path: Path, row: int) -> int:
    """Return the line at which a row of a CSV file ends; texts in quotes may have several lines."""
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.reader(file)
        next(islice((cells for cells in reader if cells), row + 1, None), None)
        return reader.line_num


def _check_columns(table: str, present: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a table without one of these columns, or with two of one name."""
    for name in names:
        if list(present).count(name) != 1:
            kind = "a" if name not in present else "one"
            raise errors.refuse(f"{table}: columns", list(present), f"{kind} column {name!r}")


def _literal(cell: str) -> Any:
    try:
        return ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell


def _position(key: Any, order: Mapping[Any, int]) -> int:
    try:
        return order.get(key, -1)
    except TypeError:  # a list is no id
        return -1


def _one_of(order: Mapping[Any, int]) -> str:
    return f"one of the {len(order)} ids, such as {next(iter(order))!r}"
