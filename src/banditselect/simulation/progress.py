"""The progress of a sweep, and an estimate of the time left."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from .cells import Cell


@dataclass(frozen=True)
class Progress:
    """Where a sweep stands.

    Attributes
    ----------
    cells, cells_done: in all, and those that are done with, from the store or run now.
    cells_reused, cells_failed: of those, from the store; and not finished, because something went wrong in them.
    fraction: the share of the work that is done, by the time it takes.
    seconds_left: an estimate, None before anything is known.
    """

    cells: int
    cells_done: int
    cells_reused: int
    cells_failed: int
    fraction: float
    seconds_left: float | None


OnProgress = Callable[[Progress], None]
Kind = tuple[str, str]  #: problem and policy


class Meter:
    """Counts what is done and estimates the time left.

    A round costs what it cost in finished cells of the same policy on the same problem, in this run or, by the store's
    timings, in earlier ones; before there is one, what it cost on average. The rest is divided by ``workers``, or
    where that is not known by how many cells ran at a time so far.
    """

    def __init__(
        self,
        cells: Collection[Cell],
        reused: Collection[Cell],
        timings: Mapping[str, float],
        workers: int | None,
        tell: OnProgress | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell, self._clock, self._workers = tell, clock, workers
        self._cells, self._reused, self._done, self._failed = len(cells), len(reused), len(reused), 0
        self._all, self._timed = Counter[Kind](), Counter[Kind]()  # rounds of all cells; of those whose time is known,
        self._seconds = defaultdict[Kind, float](float)  # which it took
        self._played: dict[Cell, int] = {}
        self._busy = 0.0
        for cell in cells:
            self._all[_kind(cell)] += cell.size
        self._left = self._all.copy()
        for cell in reused:
            self._left[_kind(cell)] -= cell.size
            if cell.key in timings:
                self._learn(cell, timings[str(cell.key)])
        self._start = clock()
        self._report()

    def playing(self, cell: Cell, rounds: int) -> None:
        """Note that a cell has played so many of its rounds."""
        self._advance(cell, rounds)
        self._report()

    def finished(self, cell: Cell, seconds: float, *, failed: bool = False) -> None:
        """Note that a cell is finished, or has failed."""
        self._failed += failed
        self._advance(cell, cell.rounds)
        del self._played[cell]
        self._busy += seconds
        if not failed:  # how soon a cell failed says nothing about how long others take
            self._learn(cell, seconds)
        self._done += 1
        self._report()

    def _advance(self, cell: Cell, rounds: int) -> None:
        self._left[_kind(cell)] -= (rounds - self._played.get(cell, 0)) * len(cell.lanes)
        self._played[cell] = rounds

    def _learn(self, cell: Cell, seconds: float) -> None:
        self._seconds[_kind(cell)] += seconds
        self._timed[_kind(cell)] += cell.size

    def _cost(self, rounds: Mapping[Kind, int]) -> float:
        """Return the seconds that rounds take, one cell at a time; their number before anything is known."""
        if not self._timed:
            return float(sum(rounds.values()))
        typical = sum(self._seconds.values()) / self._timed.total()
        costs = {kind: self._seconds[kind] / timed for kind, timed in self._timed.items()}
        return sum(count * costs.get(kind, typical) for kind, count in rounds.items())

    def _report(self) -> None:
        if self._tell is None:
            return
        elapsed, cost, left = self._clock() - self._start, self._cost(self._all), self._cost(self._left)
        at_a_time = self._workers or (self._busy / elapsed if elapsed > 0.0 else 1.0)
        fraction = 1.0 - left / cost if cost > 0.0 else 1.0
        seconds = left / max(1.0, min(at_a_time, self._cells - self._done)) if self._timed else None
        self._tell(Progress(self._cells, self._done, self._reused, self._failed, fraction, seconds))


def _kind(cell: Cell) -> Kind:
    return cell.problem, cell.policy
