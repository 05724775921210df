"""Tasks in sequence as one policy, for simulation: whoever plays a task begins anew, or with what tasks before told."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..carriers import validation
from ..carriers.binding import Binding
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, Number
from ..policies import Policy
from ..types import Array, Index, Mask
from .sequence import TaskSequence

ONE = np.zeros(1, dtype=np.int64)


class InTasks(Policy):
    """Plays a problem whose parameter changes every ``task_rounds`` rounds, and knows when; for ``simulate`` only.

    It is told when a task ends and nothing else of it. It keeps objects that no file holds: it cannot be saved, and all
    lanes are served together.

    Parameters
    ----------
    dim: width of the features.
    task_rounds: rounds of a task.
    policy: what ``bind`` returned, of a policy that begins anew in every task; None for a :class:`TaskSequence` in
        every lane, which keeps what it has learned.
    changing: arguments of ``policy`` that are another one in every task, ``(N, tasks, ...)``.

    Examples
    --------
    >>> from banditselect import LinIDS, given, simulate
    >>> from banditselect.problems import SyntheticTasks
    >>> policies = {
    ...     "regions": InTasks.bind(task_rounds=given.task_rounds),
    ...     "alone": InTasks.bind(task_rounds=given.task_rounds, policy=LinIDS.bind()),
    ... }
    >>> result = simulate(policies, SyntheticTasks(n_models=2, dim=3, task_rounds=25), rounds=250, replicates=4)
    >>> bool(result.final("regions", "regret").mean() < result.final("alone", "regret").mean())
    True
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "task_rounds": Number(low=1, integer=True),
    }

    def __init__(
        self,
        *,
        dim: int,
        task_rounds: int,
        policy: Any = None,
        changing: tuple[str, ...] = (),
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim, self.task_rounds, self.policy, self.changing = dim, task_rounds, policy, tuple(changing)
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((int(self.dim),), many=False)

    def _begin(self, lanes: int) -> None:
        if self.policy is not None and not isinstance(self.policy, Binding):
            raise validation.refuse("InTasks: policy", self.policy, "what Policy.bind returned, or None")
        self._learners = _Learners(lanes, int(self.dim)) if self.policy is None else None
        self._rounds, self._task = 0, 0
        self._now = self._first(lanes)

    def _first(self, lanes: int) -> Any:
        """Return what plays the next task: a policy with a lane for every lane, or the sequences."""
        if self._learners is not None:
            return self._learners
        changed = {name: self.policy.arguments[name][:, self._task] for name in self.changing}
        # kept out of sight of the parts that are saved and rooted: its probabilities need no random numbers
        return _Hidden(self.policy(**changed, lanes=lanes, seed=0))

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._now.distribution(ids, x, offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if ids.size != self._size:
            raise validation.refuse("InTasks: lanes", ids, "all lanes together")
        self._now.learn(ids, x, y)
        self._rounds += 1
        if self._rounds % int(self.task_rounds) == 0:
            self._task += 1
            if self._learners is not None:
                self._learners.end()
            elif not self.changing or self._task < len(self.policy.arguments[self.changing[0]][0]):
                self._now = self._first(self._size)


class _Hidden:
    """A policy that begins anew in every task."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def distribution(self, ids: Index, x: Array, offered: Mask | None) -> Array:
        return self.policy._distribution(ids, x, offered)[0]

    def learn(self, ids: Index, x: Array, y: Array) -> None:
        self.policy._teach(ids, x, None, y, None)


class _Learners:
    """A sequence of tasks in every lane, with the policies and the rounds of the present task."""

    def __init__(self, lanes: int, dim: int) -> None:
        self.sequences = [TaskSequence(dim=dim) for _ in range(lanes)]
        self._start()

    def _start(self) -> None:
        self.policies = [sequence.begin() for sequence in self.sequences]
        self.played: list[Array] = []
        self.rewards: list[Array] = []

    def distribution(self, ids: Index, x: Array, offered: Mask | None) -> Array:
        rows = (slice(r, r + 1) for r in range(ids.size))
        each = [
            self.policies[n]._distribution(ONE, x[row], None if offered is None else offered[row])[0]
            for n, row in zip(ids.tolist(), rows, strict=True)
        ]
        return np.concatenate(each)

    def learn(self, ids: Index, x: Array, y: Array) -> None:
        self.played.append(x[:, 0].copy())
        self.rewards.append(y.copy())
        for r, n in enumerate(ids.tolist()):
            self.policies[n]._teach(ONE, x[r : r + 1], None, y[r : r + 1], None)

    def end(self) -> None:
        """Let every sequence learn its task, and begin the next."""
        played, rewards = np.stack(self.played, axis=1), np.stack(self.rewards, axis=1)
        for n, sequence in enumerate(self.sequences):
            sequence.end(played[n], rewards[n])
        self._start()
