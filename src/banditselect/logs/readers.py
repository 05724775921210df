"""Reads tables of logged decisions as rounds, a few rows at a time: parquet, CSV or a DataFrame."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ..runtime import errors
from ..runtime.extras import frame_of, need
from .foreign import csv_rows, number_in, whole_row
from .rounds import Record, Round, Rounds, checked_round, probability_of
from .tables import ids_of, suffix_of

_BATCH = 1000  #: rows of a parquet file that are held at a time


def read_table(
    source: Any,
    *,
    context: Sequence[str] = (),
    items: Any,
    offered: str | None = None,
    action: str = "action",
    propensity: str | float = "propensity",
    reward: str = "reward",
    skip: bool = False,
) -> Rounds:
    """Read a table with one row per decision, whose items are known elsewhere.

    The whole table is never in memory; :meth:`Log.read` reads one that fits, as arrays of features.

    Parameters
    ----------
    source: a ``.parquet`` or ``.csv`` file, or a DataFrame (pandas, polars, pyarrow).
    context: the columns that are the context, under their names. Cells may be words, numbers, truth values or lists. In
        a CSV file, a cell is a number or a list where it can be read as one, and None where it is empty.
    items: from the id of an action to its record, or a DataFrame with the ids as its index (or, without one, in its
        column ``id``); a list of ids where nothing else is known. A record has its ``id`` too, unless it has one.
    offered: a column with the list of the ids that could have been played; None: all of them, in every row.
    action, propensity, reward: the columns with the id of what was played, its probability, what it earned. A number in
        the place of a propensity is that of all.
    skip: False: a row that cannot be read is refused by its line. True: it is left out and counted in ``skipped``.

    Examples
    --------
    >>> _ = Path("visits.csv").write_text("age,banner,p,click\\n31,red,0.5,1\\n,blue,0.25,0\\n")
    >>> rounds = read_table(
    ...     "visits.csv", context=["age"], items=["red", "blue"], action="banner", propensity="p", reward="click"
    ... )
    >>> for logged in rounds:
    ...     print(logged)
    Round(context={'age': 31}, items=[{'id': 'red'}, {'id': 'blue'}], action=0, reward=1.0, probability=0.5)
    Round(context={'age': None}, items=[{'id': 'red'}, {'id': 'blue'}], action=1, reward=0.0, probability=0.25)
    """
    if isinstance(context, str):
        raise errors.refuse("read_table: context", context, "a list of columns")
    if not isinstance(propensity, str):
        probability_of("read_table: propensity", propensity)
    known = _records(items)
    everything = list(known.values())
    columns = [*context, *(c for c in (action, propensity, reward, offered) if isinstance(c, str))]
    text = _is_text(source)
    if text:  # where an id is a number, its cell is still text
        known = {str(key): record for key, record in known.items()}
        if len(known) < len(everything):
            raise errors.refuse("read_table: items", items, "ids that differ as they are written")
    order = {key: k for k, key in enumerate(known)}

    def read(where: str, row: Mapping[str, Any]) -> Round:
        whole_row(where, row, columns, cells=text)
        seen = {name: cell_of(row[name]) if text else row[name] for name in context}
        played = _id(where, action, row[action], known)
        rows, position = everything, order[played]
        if offered is not None:
            menu = [_id(where, offered, key, known) for key in _menu(where, offered, row[offered], text)]
            if played not in menu:
                raise errors.refuse(f"{where}: column {action!r}", played, f"an id in column {offered!r}")
            rows, position = [known[key] for key in menu], menu.index(played)
        earned = _cell_number(where, row, reward, text)
        p = _cell_number(where, row, propensity, text) if isinstance(propensity, str) else propensity
        return checked_round(where, seen, rows, position, earned, p)

    return Rounds(lambda: _rows(source, columns), read, skip)


def read_offers(
    source: Any,
    *,
    context: Sequence[str] = (),
    item: Sequence[str],
    decision: str = "decision",
    chosen: str = "chosen",
    propensity: str | float = "propensity",
    reward: str = "reward",
    skip: bool = False,
) -> Rounds:
    """Read a table with one row per action offered, the rows of a decision one after the other.

    The whole table is never in memory; :meth:`Log.read_offers` reads one that fits, as arrays of features.

    Parameters
    ----------
    source: a ``.parquet`` or ``.csv`` file, or a DataFrame (pandas, polars, pyarrow).
    context: the columns that are the context, read in the first row of a decision; cells as in :func:`read_table`.
    item: the columns that are the record of the item in a row.
    decision: the column that says which rows belong together.
    chosen: the column that is true (or 1) in the row of the action played, once for every decision.
    propensity, reward: columns that are read in the row of what was played only; a number is the propensity of all.
    skip: False: a decision that cannot be read is refused by its row. True: it is left out and counted in ``skipped``.

    Examples
    --------
    >>> rows = "7,31,red,1,0.5,1\\n7,31,blue,0,,\\n8,44,blue,1,0.25,0\\n"
    >>> _ = Path("offers.csv").write_text("decision,age,banner,chosen,propensity,reward\\n" + rows)
    >>> for logged in read_offers("offers.csv", context=["age"], item=["banner"]):
    ...     print(logged)
    Round(context={'age': 31}, items=[{'banner': 'red'}, {'banner': 'blue'}], action=0, reward=1.0, probability=0.5)
    Round(context={'age': 44}, items=[{'banner': 'blue'}], action=0, reward=0.0, probability=0.25)
    """
    for name, names in (("context", context), ("item", item)):
        if isinstance(names, str) or (name == "item" and not names):
            raise errors.refuse(f"read_offers: {name}", names, "a list of columns")
    if not isinstance(propensity, str):
        probability_of("read_offers: propensity", propensity)
    columns = [*context, *item, decision, chosen, reward, *([propensity] if isinstance(propensity, str) else [])]
    text = _is_text(source)

    def read(where: str, rows: Sequence[Mapping[str, Any]]) -> Round:
        for row in rows:
            whole_row(where, row, columns, cells=text)
        seen = [{name: cell_of(row[name]) if text else row[name] for name in (*context, *item)} for row in rows]
        played = [k for k, row in enumerate(rows) if _flag(f"{where}: column {chosen!r}", row[chosen])]
        if len(played) != 1:
            raise errors.refuse(f"{where}: column {chosen!r}", f"{len(played)} rows that are chosen", "one")
        row = rows[played[0]]
        earned = _cell_number(where, row, reward, text)
        p = _cell_number(where, row, propensity, text) if isinstance(propensity, str) else propensity
        items = [{name: record[name] for name in item} for record in seen]
        return checked_round(where, {name: seen[0][name] for name in context}, items, played[0], earned, p)

    return Rounds(lambda: _together(_rows(source, columns), decision), read, skip)


def cell_of(cell: str | None) -> Any:
    """Return what the text of a cell stands for: nothing, a whole number, a number, a list of numbers, or words."""
    if cell is None or not cell.strip():
        return None
    for kind in (int, float):
        try:
            return kind(cell) if "_" not in cell else cell
        except ValueError:
            pass
    return _parsed(cell) if cell.lstrip().startswith("[") else cell


def _parsed(cell: str) -> Any:
    try:
        return ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell


def _rows(source: Any, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a table, each with its place: the line of a CSV file, else a number that counts from 0."""
    if (frame := frame_of("table", source)) is not None:
        names = [name for name in columns if name in frame.columns]
        for k, cells in enumerate(zip(*(frame.get_column(name).to_list() for name in names), strict=True)):
            yield f"table: row {k}", dict(zip(names, map(_plain, cells), strict=True))
    elif suffix_of(source) == ".csv":
        yield from csv_rows(Path(source))
    else:
        file = need("pyarrow.parquet", "experiments").ParquetFile(source)
        names = [name for name in columns if name in file.schema_arrow.names]
        k = 0
        for batch in file.iter_batches(batch_size=_BATCH, columns=names):
            for row in batch.to_pylist():
                yield f"{Path(source).name}: row {k}", row
                k += 1


def _together(rows: Iterator[tuple[str, Mapping[str, Any]]], decision: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the rows of one decision after the other, with the place of the first."""
    for _, group in groupby(rows, key=lambda pair: pair[1].get(decision)):
        found = list(group)
        yield found[0][0], [row for _, row in found]


def _is_text(source: Any) -> bool:
    """Tell whether the cells of a table are text that is still to be read."""
    return frame_of("table", source) is None and suffix_of(source) == ".csv"


def _cell_number(where: str, row: Mapping[str, Any], name: str, text: bool) -> Any:
    return number_in(f"{where}: column {name!r}", row[name]) if text else row[name]


def _flag(where: str, value: Any) -> bool:
    """Return what a cell says that is true or false, 1 or 0."""
    flag = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(str(value).lower())
    if flag is None:
        raise errors.refuse(where, value, "true or false, 1 or 0")
    return flag


def _plain(value: Any) -> Any:
    """Return a value of NumPy as one of Python."""
    return value.tolist() if hasattr(value, "tolist") else value


def _records(items: Any) -> dict[Any, Record]:
    """Return the records of items by their ids."""
    if (frame := frame_of("read_table: items", items)) is not None:
        pairs = list(zip(ids_of("read_table: items", frame)[0], frame.rows(named=True), strict=True))
    elif isinstance(items, Mapping):
        pairs = list(items.items())
    elif isinstance(items, Sequence) and not isinstance(items, str):
        pairs = [(key, {}) for key in items]
    else:
        pairs = []
    found: dict[Any, Record] = {key: {"id": key} | dict(row) for key, row in pairs if isinstance(row, Mapping)}
    if not found or len(found) != len(pairs):
        expected = "records by id, a DataFrame with the ids as its index, or a list of ids; all different, at least one"
        raise errors.refuse("read_table: items", items, expected)
    return found


def _id(where: str, column: str, key: Any, known: Mapping[Any, Record]) -> Any:
    try:
        if key in known:
            return key
    except TypeError:
        pass
    raise errors.refuse(
        f"{where}: column {column!r}", key, f"one of the {len(known)} ids, such as {next(iter(known))!r}"
    )


def _menu(where: str, column: str, cell: Any, text: bool) -> list[Any]:
    """Return the ids of what was offered."""
    found = _parsed(cell) if text and isinstance(cell, str) else cell
    ids = [str(key) for key in found] if text and isinstance(found, list) else found
    if not isinstance(ids, list) or not ids or len({str(key) for key in ids}) != len(ids):
        raise errors.refuse(f"{where}: column {column!r}", cell, "a list of different ids such as [3, 7] or ['a']")
    return ids
