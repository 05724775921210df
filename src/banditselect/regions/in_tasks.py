"""Tasks in sequence as one policy, for simulation: whoever plays a task begins anew, or with what tasks before told."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.features import Features
from ..models.model import Model
from ..policies import Policy
from ..policies.contract import Chosen, Played
from ..runtime import errors
from ..runtime.arguments import argument
from ..runtime.binding import Binding
from ..runtime.constraints import Number
from ..runtime.shapes import ExactShape
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

    dim: int = argument(Number(low=1, integer=True))
    task_rounds: int = argument(Number(low=1, integer=True))
    policy: Any = argument(default=None)
    changing: tuple[str, ...] = argument(default=())

    savable = False

    def build(self, lanes: int) -> tuple[Model, None]:
        """Return the shape of the features; who plays the first task is kept beside it."""
        if self.policy is not None and not isinstance(self.policy, Binding):
            raise errors.refuse("InTasks: policy", self.policy, "what Policy.bind returned, or None")
        self._learners = _Learners(lanes, int(self.dim)) if self.policy is None else None
        self._rounds, self._task = 0, 0
        self._now = self._first(lanes)
        return Model(ExactShape((int(self.dim),), many=False)), None

    def _first(self, lanes: int) -> Any:
        """Return what plays the next task: a policy with a lane for every lane, or the sequences."""
        if self._learners is not None:
            return self._learners
        changed = {name: self.policy.arguments[name][:, self._task] for name in self.changing}
        return _Hidden(self.policy(**changed, lanes=lanes, seed=0))

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        return Chosen(self._now.probabilities(ids, x, offered), self._streams.keys[ids])

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        if ids.size != self._size:
            raise errors.refuse("InTasks: lanes", ids, "all lanes together")
        self._now.learn(ids, x, y)
        self._rounds += 1
        if self._rounds % int(self.task_rounds) == 0:
            self._task += 1
            if self._learners is not None:
                self._learners.end()
            elif not self.changing or self._task < len(self.policy.arguments[self.changing[0]][0]):
                self._now = self._first(self._size)


class _Hidden:
    """A policy that begins anew in every task, out of sight of the policy around it: it draws no random numbers."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def probabilities(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        return self.policy._probabilities(ids, x, offered)

    def learn(self, ids: Index, x: Features, y: Array) -> None:
        self.policy._learn(ids, x, y, None)


class _Learners:
    """A sequence of tasks in every lane, with the policies and the rounds of the present task."""

    def __init__(self, lanes: int, dim: int) -> None:
        self.sequences = [TaskSequence(dim=dim) for _ in range(lanes)]
        self._start()

    def _start(self) -> None:
        self.policies: list[Policy] = [sequence.begin() for sequence in self.sequences]
        self.played: list[Array] = []
        self.rewards: list[Array] = []

    def probabilities(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        rows = (slice(r, r + 1) for r in range(ids.size))
        each = [
            self.policies[n]._probabilities(ONE, x.rows(row), None if offered is None else offered[row])
            for n, row in zip(ids.tolist(), rows, strict=True)
        ]
        return np.concatenate(each)

    def learn(self, ids: Index, x: Features, y: Array) -> None:
        self.played.append(x.values[:, 0].copy())
        self.rewards.append(y.copy())
        for r, n in enumerate(ids.tolist()):
            self.policies[n]._learn(ONE, x.rows(slice(r, r + 1)), y[r : r + 1], None)

    def end(self) -> None:
        """Let every sequence learn its task, and begin the next."""
        played, rewards = np.stack(self.played, axis=1), np.stack(self.rewards, axis=1)
        for n, sequence in enumerate(self.sequences):
            sequence.end(played[n], rewards[n])
        self._start()
