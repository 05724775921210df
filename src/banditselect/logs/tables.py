"""Reads and writes tables of logged decisions: parquet, CSV or a DataFrame, by decision or by action offered.

Logs come from other people's systems, so whatever cannot be used is refused with the file, the column and the row; rows
are counted from 0, and the header is not one.
"""

import ast
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime import errors
from ..runtime.extras import frame_of, need
from ..types import Array, Index, Mask
from .features import CrossedItems, DisjointArms, LogFeatures, OfferedItems, PerDecision

if TYPE_CHECKING:
    from .log import Log


def decisions(
    source: Any,
    context: Sequence[Any] | None,
    items: Any,
    actions: Sequence[Any] | None,
    offered: str | None,
    columns: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of a log from a table with one row per decision."""
    if context is None and items is None:
        raise errors.refuse("Log.read: context, items", None, "one of them, or both")
    if items is not None and actions is not None:
        raise errors.refuse("Log.read: actions", actions, "None: the order is that of items")
    table = _Table(source)
    played = table.ids(columns["action"]).tolist()
    lists = [] if offered is None else table.lists(offered)
    for t, row in enumerate(lists):
        if played[t] not in row:
            raise table.refuse(columns["action"], t, played[t], f"an id in column {offered!r}")
    maps = None
    if items is not None:
        ids, maps = _item_maps(items)
    elif actions is not None:
        ids = list(actions)
    else:
        ids = sorted({*played, *chain(*lists)}, key=lambda action_id: (isinstance(action_id, str), action_id))
    place = {action_id: k for k, action_id in enumerate(ids)}
    if len(place) != len(ids) or not ids:
        raise errors.refuse("Log.read: actions", ids, "different ids, at least one")
    positions = np.array([table.known(place, action_id, columns["action"], t) for t, action_id in enumerate(played)])
    menus = [[table.known(place, action_id, str(offered), t) for action_id in row] for t, row in enumerate(lists)]
    available: Mask | None = None
    features: LogFeatures
    if maps is None:
        features = DisjointArms(context=table.maps(context or []), n_actions=len(ids))
        if menus:
            available = np.zeros((len(played), len(ids)), dtype=bool)
            for t, menu in enumerate(menus):
                available[t, menu] = True
    else:
        width = max(map(len, menus), default=0)
        features = OfferedItems(items=maps, offered=[menu + [-1] * (width - len(menu)) for menu in menus] or None)
        if context is not None:
            features = CrossedItems(context=table.maps(context), items=features)
        if menus:
            positions = np.array([row.index(action_id) for row, action_id in zip(lists, played, strict=True)])
    return {
        "features": features,
        "action": positions,
        "propensity": table.propensity(columns["propensity"]),
        "reward": table.single(columns["reward"]),
        "available": available,
        "where": lambda name, t: table.place(columns[name], t),
    }


def offers(source: Any, features: Sequence[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a log from a table with one row per action offered."""
    table = _Table(source)
    decision = table.ids(columns["decision"])
    codes, found = need("pandas", "experiments").factorize(decision)
    T, position = len(found), decision.groupby(codes).cumcount().to_numpy()
    flags = table.single(columns["chosen"])
    for odd in np.flatnonzero((flags != 0.0) & (flags != 1.0))[:1]:
        raise table.refuse(columns["chosen"], int(odd), flags[odd].item(), "true or false, 1 or 0")
    chosen = np.flatnonzero(flags)
    times = np.bincount(codes[chosen], minlength=T)
    for t in np.flatnonzero(times != 1)[:1]:
        where = f"{table.name}: column {columns['chosen']!r}, decision {found[t]!r}"
        raise errors.refuse(where, f"{times[t]} rows that are chosen", "one")
    rows = np.empty(T, dtype=np.int64)
    rows[codes[chosen]] = chosen
    many = several(features)
    maps = []
    for values in table.maps(features) if many else [table.maps(features)]:
        block = np.zeros((T, int(position.max()) + 1, values.shape[1]))
        block[codes, position] = values
        maps.append(block)
    available = np.zeros(maps[0].shape[:2], dtype=bool)
    available[codes, position] = True
    return {
        "features": PerDecision(maps if many else maps[0]),
        "action": position[rows],
        "propensity": table.propensity(columns["propensity"], rows),
        "reward": table.single(columns["reward"], rows),
        "available": available,
        "where": lambda name, t: table.place(columns["chosen" if name == "action" else name], int(rows[t])),
    }


def write(log: "Log", path: str | os.PathLike[str]) -> None:
    """Write a table with one row per action offered."""
    offered = log.offered
    row, position = np.nonzero(offered)
    chosen = position == log.action[row]
    content: dict[str, Any] = {
        "decision": row,
        "chosen": chosen,
        "propensity": np.where(chosen, log.propensity[row], np.nan),
        "reward": np.where(chosen, log.reward[row], np.nan),
    }
    for i, m in enumerate(log.features.maps(np.arange(len(log)))):
        content[f"features_{i}" if log.features.many else "features"] = m[offered].tolist()
    table = need("pandas", "experiments").DataFrame(content)
    if suffix_of(path) == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)


class _Table:
    """A table whose columns are asked for by name, and refused by name and row."""

    def __init__(self, source: Any, name: str = "table") -> None:
        pandas = need("pandas", "experiments")
        self.name = name
        if isinstance(source, pandas.DataFrame):
            self.frame = source
        elif (frame := frame_of(name, source)) is not None:
            self.frame = frame.to_pandas()
        else:
            suffix, self.name = suffix_of(source), Path(source).name
            self.frame = pandas.read_parquet(source) if suffix == ".parquet" else _read_csv(source)
        if not len(self.frame):
            raise errors.refuse(self.name, "no row", "at least one")

    def place(self, column: str, row: int) -> str:
        return f"{self.name}: column {column!r}, row {row}"

    def refuse(self, column: str, row: int, value: object, expected: str) -> ValueError:
        return errors.refuse(self.place(column, row), value, expected)

    def column(self, name: str) -> Any:
        if name not in self.frame.columns:
            raise errors.refuse(f"{self.name}: columns", list(self.frame.columns), f"a column {name!r}")
        if self.frame[name].ndim != 1:
            raise errors.refuse(f"{self.name}: columns", list(self.frame.columns), f"one column {name!r}")
        return self.frame[name]

    def ids(self, name: str) -> Any:
        """Return a column without gaps."""
        column = self.column(name)
        for row in np.flatnonzero(column.isna())[:1]:
            raise self.refuse(name, int(row), None, "an id; in a CSV file, texts such as NA and null count as missing")
        return column

    def numbers(self, names: Sequence[str], rows: Index | None = None) -> Array:
        """Return these columns side by side, ``(n, p)``, in all rows or some; one of lists has several numbers."""
        if isinstance(names, str) or not len(names):
            raise errors.refuse(f"{self.name}: columns", names, "a list of names, at least one")
        return np.concatenate([self._one(name, rows) for name in names], axis=1)

    def maps(self, names: Sequence[Any]) -> Any:
        """Return columns side by side, ``(n, p)``, or, of M lists of names, M such arrays."""
        return [self.numbers(part) for part in names] if several(names) else self.numbers(names)

    def single(self, name: str, rows: Index | None = None) -> Array:
        """Return a column with one number in a cell, in all rows or some, ``(n,)``."""
        values = self._one(name, rows)
        if values.shape[1] != 1:
            row = 0 if rows is None else int(rows[0])
            raise self.refuse(name, row, self.column(name).iloc[row], "one number")
        return values[:, 0]

    def propensity(self, given: Any, rows: Index | None = None) -> Any:
        """Return the probabilities of what was played: a column, ``(n,)``, or the one number that was given."""
        return self.single(given, rows) if isinstance(given, str) else given

    def _one(self, name: str, rows: Index | None) -> Array:
        column = self.column(name)
        at = np.arange(len(column)) if rows is None else rows
        values: Array
        if column.dtype.kind in "biuf":
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)[at][:, None]
        else:
            found = column.iloc[at].tolist()
            parts = [self._vector(name, int(row), value) for row, value in zip(at, found, strict=True)]
            for row, part in zip(at, parts, strict=True):
                if len(part) != len(parts[0]):
                    raise self.refuse(name, int(row), f"{len(part)} numbers", f"{len(parts[0])}, as in row {at[0]}")
            values = np.array(parts)
        for row, k in np.argwhere(~np.isfinite(values))[:1]:
            raise self.refuse(name, int(at[row]), values[row, k].item(), "a finite number")
        return values

    def _vector(self, name: str, row: int, value: Any) -> Array:
        try:
            parsed = _parsed(value)
            vector: Array = np.atleast_1d(np.array(parsed, dtype=np.float64))
            if vector.ndim != 1 or np.asarray(parsed).dtype.kind in "US":
                raise ValueError
        except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
            expected = "a number such as 0.5, with a point, or a list of numbers such as [0.5, 1.0]"
            raise self.refuse(name, row, value, expected) from None
        return vector

    def lists(self, name: str) -> list[list[Any]]:
        """Return a column of lists of different ids, at least one in each."""
        found = []
        for row, value in enumerate(self.column(name).tolist()):
            try:
                parsed = _parsed(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                parsed = None
            ids = parsed.tolist() if isinstance(parsed, np.ndarray) else parsed
            if not isinstance(ids, list | tuple) or not ids or len(set(ids)) != len(ids):
                raise self.refuse(name, row, value, "a list of different ids such as [3, 7] or ['a', 'b']")
            found.append(list(ids))
        return found

    def known(self, place: Mapping[Any, int], action_id: Any, column: str, row: int) -> int:
        """Return the position of an id."""
        if action_id not in place:
            raise self.refuse(column, row, action_id, f"one of the {len(place)} ids, such as {next(iter(place))!r}")
        return place[action_id]


def several(names: Sequence[Any]) -> bool:
    """Tell whether these are lists of names of columns, one for each map, and not names."""
    return not isinstance(names, str) and not all(isinstance(name, str) for name in names)


def _parsed(value: Any) -> Any:
    """Return what a CSV file has as text; a list has brackets, and 0,9 is none but a number that cannot be read."""
    if not isinstance(value, str):
        return value
    parsed = ast.literal_eval(value.strip())
    if isinstance(parsed, tuple) and not value.strip().startswith("("):
        raise ValueError("a comma outside of brackets")
    return parsed


def _read_csv(path: Any) -> Any:
    """Return a CSV file; pandas would give a second column of the same name another one."""
    pandas = need("pandas", "experiments")
    header = pandas.read_csv(path, header=None, nrows=1, dtype=str).iloc[0].tolist()
    for name in header:
        if isinstance(name, str) and header.count(name) > 1:
            raise errors.refuse(f"{Path(path).name}: columns", header, f"one column {name!r}")
    return pandas.read_csv(path)


def _item_maps(items: Any) -> tuple[list[Any], Any]:
    """Return the ids of all items and their features: ``(n, d)``, or a list of M arrays ``(n, d_i)``."""
    if (frame := frame_of("Log.read: items", items)) is not None:
        ids, names = ids_of("Log.read: items", frame)
        return ids, _Table(items, "Log.read: items").numbers(names)
    if isinstance(items, list | tuple) and items and not any(isinstance(part, list | tuple) for part in items):
        return _joined_maps([_item_maps(part) for part in items])
    expected = "a DataFrame with the ids as index, or a vector of one width for every id, or equally many vectors"
    if not isinstance(items, Mapping):
        raise errors.refuse("Log.read: items", items, expected)
    rows = list(items.values())
    try:
        one = np.ndim(rows[0][0]) == 0
        maps = [np.array(m, dtype=np.float64) for m in ([rows] if one else zip(*rows, strict=True))]
        if any(m.ndim != 2 for m in maps):
            raise ValueError
    except (TypeError, ValueError, IndexError, KeyError):
        raise errors.refuse("Log.read: items", items, expected) from None
    return list(items), maps[0] if one else maps


def ids_of(name: str, frame: Any) -> tuple[list[Any], list[str]]:
    """Return the ids of a table of items and its other columns: the index of pandas, a column ``id`` elsewhere."""
    if frame.implementation.is_pandas_like():
        return frame.to_native().index.tolist(), frame.columns
    if "id" not in frame.columns:
        raise errors.refuse(f"{name}: columns", frame.columns, "a column 'id'")
    return frame.get_column("id").to_list(), [column for column in frame.columns if column != "id"]


def _joined_maps(parts: list[tuple[list[Any], Any]]) -> tuple[list[Any], Any]:
    """Return the ids as the first map has them, and the features of all maps in that order."""
    ids, maps = parts[0][0], []
    for i, (own, found) in enumerate(parts):
        place = {item: k for k, item in enumerate(own)}
        if len(place) != len(own) or set(place) != set(ids):
            raise errors.refuse(f"Log.read: items[{i}]", own, f"the ids of the first map, {len(ids)} different ones")
        order = [place[item] for item in ids]
        maps += [m[order] for m in (found if isinstance(found, list) else [found])]
    return ids, maps


def suffix_of(path: Any) -> str:
    """Return the kind of a file, by the end of its name."""
    suffix = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ""
    if suffix not in (".parquet", ".csv"):
        raise errors.refuse("Log: path", path, "a file that ends in .parquet or .csv")
    return suffix
