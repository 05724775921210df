"""The acts that wait for their rewards: those of a policy and those of its workers."""

import numpy as np

from ..types import Index
from .ledger import UNNUMBERED, Ledger, settle, unlearned
from .workers import MAIN, LearnedFromWorkers, Worker


class Acts:
    """The acts of a policy in its own ledger, and which acts of its workers have been learned.

    A worker of None is the policy itself.

    Attributes
    ----------
    worker: the worker that the policy is.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.worker = MAIN
        self.from_workers = LearnedFromWorkers()

    def check_waiting(self, worker: Worker | None, ids: Index, numbers: Index) -> None:
        """Refuse rows that do not wait for their rewards; data without acts have no numbers."""
        if worker is None:
            row = unlearned(ids, numbers, self.ledger.book) if numbers.size else -1
        else:
            row = next((r for r, known in enumerate(self.known(worker, ids, numbers)) if known), -1)
        if row >= 0:
            raise self.not_waiting(worker, ids, numbers, row)

    def not_waiting(self, worker: Worker | None, ids: Index, numbers: Index, row: int) -> ValueError:
        """Return the error for a decision of which one row does not wait for its reward."""
        act, lane = int(numbers[row]), int(ids[row])
        place = f"act {act}, lane {lane}" + ("" if worker is None else f", worker {worker.number}")
        if worker is not None and self.from_workers.is_closed(worker):
            return ValueError(f"the worker that made this decision was closed by close_workers ({place})")
        if worker is None and act >= self.ledger.acts[lane]:
            seen = self.ledger.acts[lane]
            return ValueError(f"this decision was not made here ({place}, but the lane has seen {seen} acts)")
        return ValueError(f"this decision already has a reward ({place})")

    def settle(self, worker: Worker | None, ids: Index, numbers: Index) -> None:
        """Mark rows that wait as learned and count the rounds."""
        if worker is None:
            settle(ids, numbers, self.ledger.book)
        else:
            settle(ids, UNNUMBERED, self.ledger.book)
            self.from_workers.toggle(worker, ids, numbers)

    def drop(self, worker: Worker | None, ids: Index, numbers: Index) -> None:
        """Settle rows that wait without rewards."""
        if worker is None:
            if settle(ids, numbers, self.ledger.book) < 0:
                self.ledger.rounds[ids] -= 1
        else:
            self.from_workers.toggle(worker, ids, numbers)

    def known(self, worker: Worker | None, ids: Index, numbers: Index) -> np.ndarray:
        """Return for each row whether it was learned or dropped, ``(n,)``."""
        if worker is not None:
            return self.from_workers.learned(worker, ids, numbers) | self.from_workers.is_closed(worker)
        rows, book = (slice(r, r + 1) for r in range(ids.size)), self.ledger.book
        settled = np.array([unlearned(ids[row], numbers[row], book) >= 0 for row in rows])
        return settled & (numbers < self.ledger.acts[ids])

    def wait_again(self, worker: Worker | None, ids: Index, numbers: Index) -> None:
        """Let those of a worker's rows wait again that have been marked as learned."""
        if worker is not None:
            again = self.from_workers.learned(worker, ids, numbers)
            self.from_workers.toggle(worker, ids[again], numbers[again])

    def act_as(self, worker: Worker, acts: Index) -> None:
        """Act from here on as this worker, which has acted ``acts (N,)`` times; the acts so far are another's."""
        self.from_workers.put(self.worker, self.ledger.runs())
        self.ledger.resume(acts, self.from_workers.take(worker))
        self.worker = worker
