"""Track decisions made by other workers, and which of them have been learned."""

import bisect
import hashlib
import secrets
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..types import Index, Mask
from .drawing import Channel

_RANDOM = 21  #: bits of a session that are drawn; 32 are the second in which it began, so that it fits a double


class Worker(NamedTuple):
    """The copy of a policy that decides: the policy itself, ``(0, 0)``, or one that was forked for a worker.

    Attributes
    ----------
    number: of the worker, or a digest of its name.
    session: of the copies for this worker; 0 for the policy itself.
    """

    number: int
    session: int

    @property
    def channel(self) -> Channel:
        """The channel of the random streams that it draws from."""
        return ("worker", *self) if self != MAIN else ()

    @classmethod
    def fresh(cls, worker: int | str) -> "Worker":
        """Return a new session: the second in which it begins, followed by random bits."""
        if isinstance(worker, str):  # six bytes of a digest, so that they fit a double
            worker = int.from_bytes(hashlib.sha256(worker.encode()).digest()[:6], "big")
        return cls(worker, since(time.time()) | secrets.randbits(_RANDOM))


MAIN = Worker(0, 0)


def since(seconds: float) -> int:
    """Return the smallest number that a session has that begins at this time, in seconds since 1970."""
    return int(seconds) << _RANDOM


class LearnedFromWorkers:
    """The decisions of workers that have been learned here: runs of acts, for every worker and lane.

    A run of acts learned without a gap takes two numbers, however long it is. Memory goes to the sessions, and to
    the gaps: acts whose reward did not come although that of a later act did.

    Attributes
    ----------
    closed: of sessions with a smaller number than this nothing is learned any more, nor remembered.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[Worker, int], list[int]] = {}  # begin, end, begin, end, ... in ascending order
        self.closed = 0

    def is_closed(self, worker: Worker) -> bool:
        """Return whether decisions of this worker are no longer learned."""
        return worker != MAIN and worker.session < self.closed

    def learned(self, worker: Worker, ids: Index, numbers: Index) -> Mask:
        """Return which of these acts have been learned, ``(n,)``."""
        acts = zip(ids.tolist(), numbers.tolist(), strict=True)
        return np.array([bisect.bisect_right(self._runs.get((worker, n), ()), k) % 2 for n, k in acts], dtype=bool)

    def toggle(self, worker: Worker, ids: Index, numbers: Index) -> None:
        """Note that these acts have been learned; once more, that they have not."""
        for lane, number in zip(ids.tolist(), numbers.tolist(), strict=True):
            runs = self._runs.setdefault((worker, lane), [])
            i, j = bisect.bisect_left(runs, number), bisect.bisect_right(runs, number + 1)
            runs[i:j] = sorted({number, number + 1}.symmetric_difference(runs[i:j]))

    def put(self, worker: Worker, runs: dict[int, list[int]]) -> None:
        """Put in the runs of a worker, by lane."""
        self._runs |= {(worker, lane): own for lane, own in runs.items() if own}

    def take(self, worker: Worker) -> dict[int, list[int]]:
        """Take out the runs of a worker, by lane."""
        mine = [key for key in self._runs if key[0] == worker]
        return {key[1]: self._runs.pop(key) for key in mine}

    def clear(self, lanes: set[int]) -> None:
        """Forget what was learned of these lanes."""
        self._runs = {key: runs for key, runs in self._runs.items() if key[1] not in lanes}

    def close(self, session: int) -> None:
        """Learn nothing any more of sessions with a smaller number, and forget what was learned of them."""
        self.closed = max(self.closed, session)
        self._runs = {key: runs for key, runs in self._runs.items() if not self.is_closed(key[0])}

    def table(self) -> Index:
        """Return every run as a row: worker, session, lane, first act, the act behind the last."""
        return np.array(list(self._rows()), dtype=np.int64).reshape(-1, 5)

    def _rows(self) -> Iterator[tuple[int, ...]]:
        for (worker, lane), runs in sorted(self._runs.items()):
            yield from ((*worker, lane, *run) for run in zip(runs[::2], runs[1::2], strict=True))

    def restore(self, table: Any, closed: int, lanes: int) -> None:
        """Take over what ``table`` returned, of a policy with so many lanes."""
        right = table.dtype == np.int64 and table.ndim == 2 and table.shape[1] == 5 and table.min(initial=0) >= 0
        if not right or closed < 0 or table[:, 2].max(initial=0) >= lanes:
            raise ValueError("what workers have decided: not a table of runs of acts")
        self.closed, self._runs = closed, {}
        for number, session, lane, begin, end in table.tolist():
            runs = self._runs.setdefault((Worker(number, session), lane), [])
            if begin >= end or (runs and runs[-1] >= begin):
                raise ValueError(f"what workers have decided: acts {begin} to {end} of lane {lane}, not in order")
            runs += (begin, end)
