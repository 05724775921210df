"""Tasks in sequence: regions that are not given, but found while playing.

The paper assumes that M regions are known, and leaves to future work how they are learned from the tasks themselves.
Here a learner starts from nothing, plays task after task of 50 rounds, fits each when it has ended, and hands the next
one the regions found so far (regions.TaskSequence, with PS-IDS). The regret is the sum over all tasks; that of a task
is what it grows by in 50 rounds.

Our choices, which the text leaves open: d = 8, M = 5 centres N(0, I), the parameter of a task N(centre, 0.04 I), 10
actions N(0, 0.01 I) a round, noise U[-1/2, 1/2]. A fit of 50 rounds is then off by about twice the width of a region.
Beside it play OFUL and IDS that learn every task alone, BIAS-OFUL that is given the centre of every task and the
largest distance from it, and PS-IDS that is given the true mixture and the noise. Nothing is tuned.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...kernels.features import Features
from ...models.model import Model
from ...policies import OFUL, PSIDS, BiasOFUL, Binding, LinIDS, Policy, given
from ...policies.contract import Chosen, Played
from ...problems import Problem, SyntheticTasks
from ...regions import TaskSequence
from ...runtime import errors
from ...runtime.arguments import argument
from ...runtime.constraints import Number
from ...runtime.shapes import ExactShape
from ...types import Array, Index, Mask
from ..experiment import Experiment, Regime, Scale

LEARNED, TOLD = "PS-IDS, regions learned (ours)", "PS-IDS, true mixture"
CENTRE, ALONE, ALONE_OFUL = "BIAS-OFUL, centre of every task", "IDS, every task alone", "OFUL, every task alone"
TASK_ROUNDS = 50
ONE = np.zeros(1, dtype=np.int64)


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the learner, policies that learn every task alone, and policies that are given the regions."""
    centre = BiasOFUL.bind(center=given.task_centers, radius=given.task_radius, noise=given.noise)
    inside: dict[str, dict[str, Any]] = {
        LEARNED: {},
        TOLD: {"policy": PSIDS.bind(centers=given.centers, radii=given.radii, noise=given.noise)},
        CENTRE: {"policy": centre, "changing": ("center",)},
        ALONE: {"policy": LinIDS.bind()},
        ALONE_OFUL: {"policy": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound)},
    }
    return {name: PolicyPerTask.bind(task_rounds=given.task_rounds, **arguments) for name, arguments in inside.items()}


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return the problem; M = 5 is fixed."""
    return {"M = 5": SyntheticTasks(task_rounds=TASK_ROUNDS)}


EXPERIMENT = Experiment(
    name="meta-tasks",
    title="Tasks in sequence",
    place="future work",
    about=__doc__ or "",
    metric="regret",
    setting="regions M",
    problems=problems,
    regimes={"theory": Regime(policies)},
    scales={"quick": Scale((), 30 * TASK_ROUNDS, 4, 0), "paper": Scale((), 500 * TASK_ROUNDS, 10, 0)},
    of_paper=False,
)


class PolicyPerTask(Policy):
    """Play a sequence of tasks, restarting each from scratch or from the regions learned in earlier tasks.

    It knows when a task ends, and nothing else about it. It keeps objects that no file holds: it cannot be saved, and
    all lanes are served together.

    Parameters
    ----------
    dim: width of the features.
    task_rounds: rounds of a task.
    policy: the binding of a policy that starts from scratch in every task; None for a :class:`TaskSequence` in every
        lane.
    changing: arguments of ``policy`` with one value per task, ``(N, tasks, ...)``.

    Examples
    --------
    >>> from banditselect import LinIDS, given, simulate
    >>> from banditselect.problems import SyntheticTasks
    >>> policies = {
    ...     "regions": PolicyPerTask.bind(task_rounds=given.task_rounds),
    ...     "alone": PolicyPerTask.bind(task_rounds=given.task_rounds, policy=LinIDS.bind()),
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
        """Return the shape of the features, and begin the first task."""
        if self.policy is not None and not isinstance(self.policy, Binding):
            raise errors.refuse("PolicyPerTask: policy", self.policy, "the result of Policy.bind, or None")
        self._tasks = _Tasks(self.policy, self.changing, lanes, self.dim)
        return Model(ExactShape((int(self.dim),), many=False)), None

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        parts = self._tasks.parts(ids, x, offered)
        p = [policy._probabilities(own, x.rows(rows), mask) for policy, own, rows, mask in parts]
        return Chosen(np.concatenate(p), self._streams.keys[ids])

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        if ids.size != self._size:
            raise errors.refuse("PolicyPerTask: lanes", ids, "all lanes together")
        for policy, own, rows, _ in self._tasks.parts(ids, x, None):
            policy._learn(own, x.rows(rows), y[rows], None)
        self._tasks.rounds.append((x.values[:, 0].copy(), y.copy()))
        if len(self._tasks.rounds) == self.task_rounds:
            self._tasks.end()


class _Tasks:
    """The task of every lane, with one policy for all lanes or, after a sequence of tasks, one for each.

    They are apart from the policy that plays them, which looks for policies among its attributes.
    """

    def __init__(self, binding: Binding[Any] | None, changing: tuple[str, ...], lanes: int, dim: int) -> None:
        self.binding, self.changing, self.lanes, self.task = binding, changing, lanes, 0
        self.sequences = [TaskSequence(dim=dim) for _ in range(lanes)] if binding is None else []
        self.begin()

    def begin(self) -> None:
        """Begin a task."""
        self.rounds: list[tuple[Array, Array]] = []  # features and rewards of this task
        if self.binding is None:
            self.policies: list[Policy] = [sequence.begin() for sequence in self.sequences]
        else:
            every = {name: self.binding.arguments[name] for name in self.changing}
            now = {name: values[:, min(self.task, values.shape[1] - 1)] for name, values in every.items()}
            self.policies = [self.binding(**now, lanes=self.lanes, seed=0)]

    def parts(self, ids: Index, x: Features, offered: Mask | None) -> Iterator[tuple[Policy, Index, slice, Any]]:
        """Yield the policies with their lanes and rows of ``x``, and which actions they are offered."""
        if self.binding is not None:
            yield self.policies[0], ids, slice(None), offered
            return
        for r, n in enumerate(ids.tolist()):
            rows = slice(r, r + 1)
            yield self.policies[n], ONE, rows, None if offered is None else offered[rows]

    def end(self) -> None:
        """Let every sequence learn its task, and begin the next."""
        played, rewards = (np.stack(one, axis=1) for one in zip(*self.rounds, strict=True))
        for n, sequence in enumerate(self.sequences):
            sequence.end(played[n], rewards[n])
        self.task += 1
        self.begin()
