"""Logged rounds as records, one after the other: what files of other systems are read as, whatever their format."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..kernels.features import LIMIT
from ..runtime import constraints, errors

Record = Mapping[str, Any]
"""From names to values: words, numbers, truth values, lists of numbers; None where nothing is known."""


class Round(NamedTuple):
    """A decision that was logged.

    Attributes
    ----------
    context: the record of who was served.
    items: the records of what was offered.
    action: the position among them of what was played.
    reward: what it earned.
    probability: with which it was drawn, in (0, 1].
    """

    context: Record
    items: Sequence[Record]
    action: int
    reward: float
    probability: float


class Rounds(Iterable[Round]):
    """Rounds that are read from a file whenever they are gone through; no more than a few are held at a time.

    Attributes
    ----------
    skipped: how many entries could not be read, the last time, with ``skip=True``.
    """

    def __init__(
        self, rows: Callable[[], Iterable[tuple[str, Any]]], read: Callable[[str, Any], Round | None], skip: bool
    ) -> None:
        constraints.YesNo().check("skip", skip, None)
        self._rows, self._read, self.skip, self.skipped = rows, read, skip, 0

    def __iter__(self) -> Iterator[Round]:
        self.skipped = 0
        for where, row in self._rows():
            try:
                found = self._read(where, row)
            except errors.ArgumentError:
                if not self.skip:
                    raise
                self.skipped += 1
                continue
            if found is not None:
                yield found


def checked_round(where: str, context: Record, items: Sequence[Record], action: Any, reward: Any, p: Any) -> Round:
    """Return a round; what cannot be one is refused by its place."""
    if not items:
        raise errors.refuse(f"{where}: items", items, "at least one")
    whole = isinstance(action, int) and not isinstance(action, bool)
    if not whole or not 0 <= action < len(items):
        raise errors.refuse(f"{where}: action", action, f"a position between 0 and {len(items) - 1}")
    return Round(
        context, items, action, _number(f"{where}: reward", reward), probability_of(f"{where}: probability", p)
    )


def probability_of(where: str, value: Any) -> float:
    """Return a probability in (0, 1]."""
    p = _number(where, value)
    if not 0.0 < p <= 1.0:
        raise errors.refuse(where, value, "a probability in (0, 1]")
    return p


def _number(where: str, value: Any) -> float:
    """Return a finite number, which may be a truth value: a click."""
    number = float(value) if isinstance(value, int | float) else math.nan
    if not abs(number) <= LIMIT:
        raise errors.refuse(where, value, "a finite number")
    return number
