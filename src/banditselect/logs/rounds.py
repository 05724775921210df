"""Logged rounds as records, one after the other: the form in which files of other systems are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..runtime import constraints
from ..types import Array, Index
from .tables import Batch, Counter, joined, padded

Record = Mapping[str, Any]
"""From names to values: words, numbers, truth values, lists of numbers; None where nothing is known."""


class Round(NamedTuple):
    """A decision that was logged.

    Attributes
    ----------
    context: the record of the user or situation served.
    items: the records of the items offered.
    action: the position of the played item among them.
    reward: its reward.
    probability: with which it was drawn, in (0, 1].
    """

    context: Record
    items: Sequence[Record]
    action: int
    reward: float
    probability: float


class Columns(NamedTuple):
    """Rounds column by column.

    Attributes
    ----------
    contexts: records, or columns with a cell per round.
    items: records, or columns with a cell per item.
    offered: the items of every round, ``(n, K)``, filled up with -1; None where every round offers all.
    action: the position of the played item among those of its round, ``(n,)``.
    reward, probability: ``(n,)``.
    """

    contexts: Any
    items: Any
    offered: Index | None
    action: Index
    reward: Array
    probability: Array


class Rounds(Iterable[Round]):
    """Rounds that are read from a file whenever they are iterated over; only a few are in memory at a time.

    Attributes
    ----------
    skipped: how many entries could not be read in the last iteration, with ``skip=True``.
    """

    def __init__(
        self, read: Callable[[Counter], Iterator[Round]], skip: bool, columns: Callable[[Counter], Columns] | None
    ) -> None:
        constraints.YesNo().check("skip", skip, None)
        self._read, self.skip, self.skipped, self._columns = read, skip, 0, columns

    def __iter__(self) -> Iterator[Round]:
        self.skipped = 0
        return self._read(self._count if self.skip else None)

    def columns(self) -> Columns:
        """Return all rounds column by column."""
        self.skipped = 0
        return columns_of(self) if self._columns is None else self._columns(self._count if self.skip else None)

    def _count(self, n: int) -> None:
        self.skipped += n


def rounds_of_table(
    batches: Callable[[Counter], Iterator[Batch]], read: Callable[[Batch], Columns], skip: bool
) -> Rounds:
    """Return the rounds of a table that is read in batches of rows; ``read`` makes columns of some rows."""

    def columns(batch: Batch, skipped: Counter) -> Columns:
        found, good = read(batch), batch.good(skipped)
        return found if good is batch else columns(good, skipped)

    def rows(skipped: Counter) -> Iterator[Round]:
        for batch in batches(skipped):
            contexts, items, offered, *numbers = columns(batch, skipped)
            records = records_of(items, 0)
            menus = repeat(records) if offered is None else ([records[k] for k in row if k >= 0] for row in offered)
            cells = (records_of(contexts, len(numbers[0])), menus, *(part.tolist() for part in numbers))
            yield from map(Round._make, zip(*cells, strict=False))

    return Rounds(rows, skip, lambda skipped: columns(joined(list(batches(skipped))), skipped))


def columns_of(rounds: Iterable[Round]) -> Columns:
    """Return rounds column by column; a record that several rounds offer is kept once."""
    rows = list(rounds)
    items = list({id(record): record for logged in rows for record in logged.items}.values())
    place = {id(record): k for k, record in enumerate(items)}
    offered = padded([[place[id(record)] for record in logged.items] for logged in rows])
    action, reward, probability = (np.array([logged[k] for logged in rows]) for k in (2, 3, 4))
    return Columns([logged.context for logged in rows], items, offered, action, reward, probability)


def records_of(columns: Any, n: int) -> Any:
    """Return columns as a list of records; n empty ones where there are no columns."""
    if not isinstance(columns, Mapping):
        return columns
    cells = [column if isinstance(column, list) else column.tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)] if cells else [{}] * n
