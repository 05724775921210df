"""N tasks in sequence: a learner that starts without data and refines the regions of its tasks after each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..policies import PSIDS, Binding, Decision, LinIDS
from ..runtime import constraints, errors, files, inputs
from ..runtime.arguments import Configured, argument
from .fits import Fits
from .regions import Regions, find

LOOK = 1.5  #: regions are found from scratch each time the number of tasks has grown by this factor


@files.register
class TaskSequence(Configured):
    """Plays task after task, each with a policy that starts from the regions found in all tasks before.

    The first policy learns alone. From then on a policy chooses among the regions found so far and a ball about 0 as
    large as all parameters. A finished task that this ball explains better than all regions adds a region; then all
    regions are refined by EM. Each time the number of tasks has grown by half, regions are found from scratch, with
    their number by held-out likelihood.

    Parameters
    ----------
    dim: width d of the features.
    policy: of a task, when there are regions: :class:`~banditselect.PSIDS`, ``PSTS`` or ``PSOFUL``, or the result of
        ``bind``, such as ``PSIDS.bind(floor=0.05)``.
    intercept: fit a separate constant for every task.
    noise: standard deviation of the rewards; None pools it over all tasks.
    max_regions: as in :func:`from_tasks`.
    seed: a whole number; the policy of task n has ``seed=(seed, n)``.

    Attributes
    ----------
    regions: of the tasks so far, a :class:`Regions`; None until the noise can be estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from banditselect.regions import TaskSequence
    >>> rng, sequence = np.random.default_rng(0), TaskSequence(dim=2)
    >>> for task in range(12):
    ...     theta = np.array([[1.0, 0.0], [-1.0, 1.0]])[task % 2] + 0.1 * rng.normal(size=2)
    ...     policy, decisions, rewards = sequence.begin(), [], []
    ...     for _ in range(15):
    ...         decisions.append(policy.act(rng.normal(size=(5, 2))))
    ...         rewards.append(decisions[-1].features @ theta + 0.3 * rng.normal())
    ...         policy.update(decisions[-1], rewards[-1])
    ...     sequence.end(decisions, rewards)
    >>> sequence.regions
    Regions(2 regions of 2 features, from 12 tasks)
    """

    dim: int = argument(constraints.Number(low=1, integer=True))
    policy: Any = argument(default=PSIDS)
    intercept: bool = argument(constraints.YesNo(), default=False)
    noise: float | None = argument(constraints.Number(low=inputs.SMALLEST, optional=True), default=None)
    max_regions: int = argument(constraints.Number(low=1, integer=True), default=10)
    seed: int = argument(constraints.Number(low=0, integer=True), default=0)

    def _set_up(self) -> None:
        self._bound = self.policy if isinstance(self.policy, Binding) else Binding(self.policy, {})
        if not hasattr(self._bound.cls, "bind_mixture"):
            raise errors.refuse("TaskSequence: policy", self.policy, "PSIDS, PSTS or PSOFUL, or the result of its bind")
        self.regions: Regions | None = None
        self._fits: Fits | None = None
        self._looked = 0  # the number of tasks when regions were last found from scratch

    def __repr__(self) -> str:
        return f"<TaskSequence: {self.n_tasks} tasks of {self.dim} features>"

    @property
    def n_tasks(self) -> int:
        """The number of tasks that have ended."""
        return 0 if self._fits is None else len(self._fits)

    def begin(self) -> Any:
        """Return the policy for the next task; several tasks may run side by side."""
        seed = (self.seed, self.n_tasks)
        if self.regions is not None:
            return self.regions.policy(self._bound.cls, **({"seed": seed} | self._bound.arguments))
        return LinIDS(dim=self.dim, noise=self.noise, intercept=self.intercept, seed=seed)

    def end(self, played: Sequence[Decision] | ArrayLike, rewards: ArrayLike) -> None:
        """Learn a task that has ended.

        Parameters
        ----------
        played: its decisions, or the features of the actions played, ``(n, d)``.  rewards: ``(n,)``.
        """
        if isinstance(played, list | tuple) and played and all(isinstance(one, Decision) for one in played):
            played = np.array([one.features for one in played])
        expected = f"decisions, or numbers of shape (n, {self.dim})"
        x = inputs.as_floats("TaskSequence.end: played", played, expected)
        if x.ndim != 2 or x.shape[1] != self.dim or not len(x) or not np.isfinite(x).all():
            raise errors.refuse("TaskSequence.end: played", played, expected)
        tasks, y = np.zeros(len(x), dtype=np.int64), inputs.rewards(rewards, len(x), True)
        new = Fits.of_rounds(tasks, x, y, intercept=self.intercept, noise=self.noise)
        fits = new if self._fits is None else self._fits.joined(new)
        if np.isnan(fits.deviation):
            self._fits = fits
            return
        if self.regions is None or len(fits) >= LOOK * self._looked:
            how: dict[str, Any] = {"n_regions": None, "max_regions": self.max_regions, "shrinkage": None}
            how |= {"restarts": 3, "folds": 5, "seed": self.seed}
            self.regions = find("TaskSequence", fits, self.intercept, **how)
            self._looked = len(fits)
        else:
            self.regions = self.regions.extended(new, grow=True)
        self._fits = self.regions.fits

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, without pickle; policies of tasks that still run are saved by themselves."""
        files.save(self, path)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments as files have them: the policy by name, with its arguments."""
        return super().settings | {"policy": (self._bound.cls.__name__, self._bound.arguments)}

    def learned(self) -> dict[str, Any]:
        """Return the state as files have it."""
        return {"regions": self.regions, "fits": None if self.regions else self._fits, "looked": self._looked}

    @classmethod
    def restored(cls, settings: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """Return the sequence of a file."""
        name, arguments = settings["policy"]
        sequence = cls(**{**settings, "policy": files.registered()[name].bind(**arguments)})
        sequence.regions, sequence._looked = learned["regions"], int(learned["looked"])
        sequence._fits = learned["fits"] if sequence.regions is None else sequence.regions.fits
        return sequence
