"""Copies of one policy that act in several processes, and the books of what each of them has learned."""

import contextlib
import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from ..carriers import validation
from ..carriers.decisions import Decision, Ledger
from ..carriers.lanes import Kept
from ..carriers.stateful import Stateful
from ..carriers.streams import Seed
from ..carriers.workers import ITSELF, Worker, since
from ..kernels.ledger import MOST, UNNUMBERED
from ..kernels.rounds import DONE
from ..types import Array, Index


class Copies(Stateful, ABC):
    """What numbers its acts, and can be copied to act elsewhere.

    The acts of an object are numbered in its own ledger. Decisions of others, of copies or of what it is a copy of, are
    noted elsewhere once they are learned. Rows come as ``ids (n,)`` and ``numbers (n,)``; a worker of None is this
    object.

    Attributes
    ----------
    _changes: how its list of models has changed, as far as decisions have to be told of it.
    _generation: how often that was.
    """

    _changes: Sequence[Any] = ()
    _generation: int = 0

    def __init__(self, lanes: int | None, seed: Seed) -> None:
        super().__init__(lanes, seed)
        self._ledger = Ledger(self._size)
        self._messages: list[str] = []  # what is to be warned of when nothing is left half done

    @abstractmethod
    def _learn(self, ids: Index, x: Array, action: Index | None, y: Array, numbers: Index, memo: Index | None) -> int:
        """Settle the acts and learn; say how it went, as ``kernels.rounds`` does."""

    def fork(self, worker: "int | str | Copies") -> Self:
        """Return a copy that acts for this policy elsewhere: with random numbers and a count of acts of its own.

        What a copy decides can be learned by any other, and by what any of them was saved to: each decision once in
        each, in any order. One of them learns and is saved, the others act and take over what it has learned with
        ``load(path, worker=copy)``.

        Parameters
        ----------
        worker: a whole number or a name, another one for every process. The copy begins a session of its own, so a
            process that is started again under its number repeats nothing. Or the policy that was this worker so far:
            the copy takes its place, counts its acts on, and knows of them what this policy knows; the other must not
            act again.

        Examples
        --------
        >>> from banditselect import SquareCB
        >>> policy = SquareCB(dim=2)
        >>> copies = [policy.fork(worker) for worker in (0, "shop-7")]
        >>> for decision in [copy.act([[1.0, 0.0], [0.0, 1.0]]) for copy in copies]:
        ...     policy.update(decision, 0.5)
        >>> policy.rounds
        2
        """
        with self._gate:
            twin, acts = copy.deepcopy(self), np.zeros(self._size, dtype=np.int64)
        if isinstance(worker, Copies):
            who, theirs = worker._worker, worker._ledger.acts
            if worker._lineage != self._lineage or who == ITSELF or theirs.size > acts.size:
                raise validation.refuse("worker", worker, "a worker that was forked from this policy")
            acts[: theirs.size] = theirs
            if self._elsewhere.is_closed(who):
                who, acts[:] = Worker.fresh(who.number), 0
        else:
            if not isinstance(worker, str):
                validation.Number(low=0, high=MOST - 1, integer=True).check("worker", worker, None)
                worker = int(worker)
            who = Worker.fresh(worker)
        twin._become(who, acts)
        return twin

    def close_workers(self, before: float) -> None:
        """Learn nothing any more of what workers decided that were forked ``before`` this time (as ``time.time()``).

        What is known of a worker takes 40 bytes in a file and 330 in memory for each of its sessions and lanes, and 40
        and 80 more for each of its decisions of which no reward came and that was not forgotten. Closing sets that
        free. A worker that still runs goes on as a new one when it takes over what was saved after this.
        """
        validation.Number(low=0, high=2.0**32).check("before", before, None)
        with self._gate:
            self._elsewhere.close(since(before))

    def _become(self, worker: Worker, acts: Index) -> None:
        """Act from here on as this worker, which has acted ``acts (N,)`` times; one's own acts so far are another's."""
        self._elsewhere.put(self._worker, self._ledger.learned())
        self._ledger.resume(acts, self._elsewhere.take(worker))
        self._worker = worker
        self._root(worker.channel)

    def _waiting(self, worker: Worker | None, ids: Index, numbers: Index) -> int:
        """Return the first row that cannot be learned, -1 if there is none."""
        if worker is None:
            return self._ledger.waiting(ids, numbers)
        return 0 if self._elsewhere.is_closed(worker) else self._elsewhere.learned(worker, ids, numbers)

    def _drop(self, worker: Worker | None, ids: Index, numbers: Index) -> int:
        """Settle acts without a reward; if some row cannot be, do nothing and return it, else -1."""
        if worker is None:
            return self._ledger.drop(ids, numbers)
        status = self._waiting(worker, ids, numbers)
        if status == DONE:
            self._elsewhere.toggle(worker, ids, numbers)
        return status

    def _learn_other(
        self, worker: Worker, ids: Index, x: Array, action: Index, y: Array, numbers: Index, memo: Index | None
    ) -> int:
        """Learn what another decided; say how it went, as ``_learn`` does."""
        status = self._waiting(worker, ids, numbers)
        if status == DONE:
            status = self._learn(ids, x, action, y, UNNUMBERED, memo)
        if status == DONE:
            self._elsewhere.toggle(worker, ids, numbers)
        return status

    def _renewed(self, decision: Decision) -> Decision:
        """Return a decision of an earlier list of models as one of this list."""
        raise self._unknown(decision.generation)

    def _learn_earlier(self, generation: int, worker: Worker | None, ids: Index, *row: Any) -> int:
        """Learn what was decided with an earlier list of models, as ``_learn`` does; here it stays one."""
        raise self._unknown(generation)

    def _unknown(self, generation: int) -> ValueError:
        """Return the refusal of a decision that was made with a list of models which is not known here."""
        expected = f"at most {self._generation}: take over what the policy that decided has learned"
        return validation.refuse("decision: generation", generation, expected)

    def _restore_changes(self, changes: Any) -> None:
        """Take over how the list of models has changed, of a policy that was saved."""
        if changes:
            raise ValueError("changes of a list of models that does not change")

    @contextlib.contextmanager
    def _whole(self, rows: Sequence[tuple[Worker | None, Index, Index]]) -> Iterator[None]:
        """Learn these rows, which all wait, to the end or not at all, whatever fails."""
        ids = np.unique(np.concatenate([row[1] for row in rows])) if rows else UNNUMBERED
        kept = Kept([part for _, part in self._state()], ids)
        try:
            yield
        except BaseException:
            kept.put_back()
            for worker, lanes, numbers in rows:
                for r in range(lanes.size if worker else 0):
                    row = lanes[r : r + 1], numbers[r : r + 1]
                    if self._waiting(worker, *row) != DONE:
                        self._elsewhere.toggle(worker, *row)  # type: ignore[arg-type]
            self._messages.clear()
            raise

    def _unexpected(self, decision: Decision, ids: Index, numbers: Index, row: int) -> ValueError:
        """Return the error for a decision of which one row is not waiting for its reward."""
        number, lane, worker = numbers[row], ids[row], decision.worker
        what = f"act {number} of lane {lane}" + ("" if worker == ITSELF else f" of worker {worker.number}")
        if self._elsewhere.is_closed(worker):
            return validation.refuse("decision", what, "a decision of a worker that is not closed (close_workers)")
        if worker == self._worker and number >= self._ledger.acts[lane]:
            seen = f"never acted here, where the lane has seen {self._ledger.acts[lane]} acts"
            return validation.refuse("decision", f"{what}: {seen}", "one of this policy, or of a worker forked from it")
        expected = "a decision that has not been learned yet: each is learned once"
        return validation.refuse("decision", f"{what}: already learned", expected)
