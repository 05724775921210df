"""Reads tables of logged decisions as rounds: CSV, parquet or a DataFrame, a batch of rows at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime import constraints, errors
from ..runtime.extras import frame_of
from .rounds import Columns, Record, Rounds, rounds_of_table
from .tables import Batch, batches, is_csv, joined


def read_decisions(
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
    """Read a table with one row per decision; the items are given by their ids.

    Parameters
    ----------
    source: a ``.parquet`` or ``.csv`` file, or a DataFrame (pandas, polars, pyarrow).
    context: the columns that are the context, under their names. Cells may be words, numbers, truth values or lists. A
        column of a CSV file has numbers if all its cells can be read as such; empty cells are None, and lists have
        brackets.
    items: from the id of an action to its record, or a DataFrame with the ids as its index (or, without one, in its
        column ``id``); a list of ids where nothing else is known. A record has its ``id`` too, unless it has one.
    offered: a column with the list of the ids that could have been played; None: all of them, in every row.
    action, propensity, reward: the columns with the id of the item played, its probability, and its reward. A number
        in the place of a propensity is that of all.
    skip: False: a row that cannot be read is refused by its line. True: it is left out and counted in ``skipped``.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("visits.csv").write_text("age,banner,p,click\\n31,red,0.5,1\\n,blue,0.25,0\\n")
    >>> rounds = read_decisions(
    ...     "visits.csv", context=["age"], items=["red", "blue"], action="banner", propensity="p", reward="click"
    ... )
    >>> for logged in rounds:
    ...     print(logged)
    Round(context={'age': 31.0}, items=[{'id': 'red'}, {'id': 'blue'}], action=0, reward=1.0, probability=0.5)
    Round(context={'age': None}, items=[{'id': 'red'}, {'id': 'blue'}], action=1, reward=0.0, probability=0.25)
    """
    _check("read_decisions", propensity, context=context)
    known, text = _records(items), is_csv(source)
    order = {str(key) if text else key: k for k, key in enumerate(known)}  # in a CSV file ids are text
    if len(order) < len(known):
        raise errors.refuse("read_decisions: items", items, "ids that are written differently")
    records = list(known.values())
    names = [*context, *(name for name in (action, propensity, reward, offered) if isinstance(name, str))]

    def read(batch: Batch) -> Columns:
        position, menus = batch.positions(action, order), None
        if offered is not None:
            menus = batch.menus(offered, order)
            there = menus == position[:, None]
            batch.fault(np.flatnonzero(~there.any(axis=1)), action, f"an id in column {offered!r}")
            position = there.argmax(axis=1) if menus.size else position
        contexts = {name: batch.cells(name) for name in context}
        return Columns(contexts, records, menus, position, batch.numbers(reward), batch.probabilities(propensity))

    return rounds_of_table(lambda skipped: batches(source, names, skipped, (action, offered)), read, skip)


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

    Parameters
    ----------
    source: as in :func:`read_decisions`, and so are cells.
    context: the columns that are the context, read in the first row of a decision.
    item: the columns that are the record of the item in a row.
    decision: the column that says which rows belong together.
    chosen: the column that is true (or 1) in the row of the action played, once for every decision.
    propensity, reward: columns that are read in the row of the chosen action only; a number is the propensity of all.
    skip: False: a decision that cannot be read is refused by its row. True: it is left out and counted in ``skipped``;
        rows of a CSV file with too many or too few cells are refused still.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = "7,31,red,1,0.5,1\\n7,31,blue,0,,\\n8,44,blue,1,0.25,0\\n"
    >>> _ = Path("offers.csv").write_text("decision,age,banner,chosen,propensity,reward\\n" + rows)
    >>> for logged in read_offers("offers.csv", context=["age"], item=["banner"]):
    ...     print(logged)
    Round(context={'age': 31}, items=[{'banner': 'red'}, {'banner': 'blue'}], action=0, reward=1.0, probability=0.5)
    Round(context={'age': 44}, items=[{'banner': 'blue'}], action=0, reward=0.0, probability=0.25)
    """
    _check("read_offers", propensity, context=context, item=item)
    if not item:
        raise errors.refuse("read_offers: item", item, "a list of columns")
    names = [*context, *item, decision, chosen, reward, *([propensity] if isinstance(propensity, str) else [])]

    def read(batch: Batch) -> Columns:
        first = batch.starts(decision)
        size = np.diff(np.append(first, batch.n))
        batch.group = np.repeat(np.arange(first.size), size)
        rows = np.flatnonzero(batch.flags(chosen) == 1)
        times = np.bincount(batch.group[rows], minlength=first.size)
        batch.fault(first[times != 1], chosen, "one row of the decision to be chosen; its rows follow one another")
        played = first.copy()
        played[batch.group[rows]] = rows
        contexts = {name: batch.cells(name, first) for name in context}
        items = {name: batch.cells(name) for name in item}
        places = np.arange(size.max(initial=0))
        offered = np.where(places < size[:, None], first[:, None] + places, -1)
        y, p = batch.numbers(reward, played), batch.probabilities(propensity, played)
        return Columns(contexts, items, offered, played - first, y, p)

    return rounds_of_table(lambda _: _whole_decisions(batches(source, names), decision), read, skip)


def _check(owner: str, propensity: Any, **columns: Any) -> None:
    for name, names in columns.items():
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise errors.refuse(f"{owner}: {name}", names, "a list of columns")
    if not isinstance(propensity, str):
        constraints.Number(low=0.0, above=True, high=1.0).check(f"{owner}: propensity", propensity, None)


def _records(items: Any) -> dict[Any, Record]:
    """Return the records of items by their ids."""
    pairs: list[tuple[Any, Any]] = []
    if (frame := frame_of("read_decisions: items", items)) is not None:
        indexed = frame.implementation.is_pandas_like()
        if not indexed and "id" not in frame.columns:
            raise errors.refuse("read_decisions: items: columns", frame.columns, "a column 'id'")
        ids = frame.to_native().index.tolist() if indexed else frame.get_column("id").to_list()
        pairs = list(zip(ids, frame.rows(named=True), strict=True))
    elif isinstance(items, Mapping):
        pairs = list(items.items())
    elif isinstance(items, Sequence) and not isinstance(items, str):
        pairs = [(key, {}) for key in items]
    found: dict[Any, Record] = {key: {"id": key} | dict(row) for key, row in pairs if isinstance(row, Mapping)}
    if not found or len(found) != len(pairs):
        expected = "records by id, a DataFrame with the ids as its index, or a list of ids; all different, at least one"
        raise errors.refuse("read_decisions: items", items, expected)
    return found


def _whole_decisions(parts: Iterator[Batch], decision: str) -> Iterator[Batch]:
    """Yield batches that end where a decision ends."""
    rest: Batch | None = None
    for part in parts:
        batch = part if rest is None else joined([rest, part])
        last = int(batch.starts(decision)[-1])
        done, rest = batch.split(last)
        if last:
            yield done
    if rest is not None:
        yield rest
