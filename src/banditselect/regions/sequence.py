"""N tasks in sequence: a learner that starts from nothing, and knows the regions of its tasks better after each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..policies import PSIDS, Decision, LinIDS
from ..runtime import constraints, errors, files, inputs
from ..types import Array
from .fits import ARRAYS, Fits
from .found import Regions, find, restored

LOOK = 1.5  #: when so many times as many tasks have ended as at the last look, all of them are looked at afresh


class TaskSequence:
    """Plays task after task, and hands every task a policy that knows what all tasks before have told.

    The first policy learns alone, since nothing is known. From then on a policy chooses among the regions found so far
    and a ball about 0 as large as all parameters, which always stays. A finished task that this ball explains better
    than all regions opens a region of its own; then all regions are refined by EM. Whenever there are half as many
    tasks again, regions are found afresh, with their number by held-out likelihood. Nothing is random but the play.

    Parameters
    ----------
    dim: width d of the features.
    policy: of a task, when there are regions: :class:`~banditselect.PSIDS`, ``PSTS`` or ``PSOFUL``.
    arguments: of that policy, such as ``{"floor": 0.05}``: numbers, words, truth values.
    intercept: whether every task has a constant term of its own.
    noise: standard deviation of the rewards; None pools it over all tasks.
    max_regions: as in :func:`from_tasks`.
    seed: a whole number; the policy of task n has ``seed=(seed, n)``.

    Attributes
    ----------
    regions: of the tasks so far, a :class:`Regions`; None until they tell of the noise.  n_tasks: how many have ended.

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

    def __init__(
        self,
        *,
        dim: int,
        policy: Any = PSIDS,
        arguments: Mapping[str, Any] | None = None,
        intercept: bool = False,
        noise: float | None = None,
        max_regions: int = 10,
        seed: int = 0,
    ) -> None:
        self.dim = constraints.whole_number("TaskSequence: dim", dim, 1)
        if not hasattr(policy, "bind_mixture"):
            raise errors.refuse("TaskSequence: policy", policy, "PSIDS, PSTS or PSOFUL")
        constraints.YesNo().check("TaskSequence: intercept", intercept, None)
        constraints.Number(low=inputs.SMALLEST, optional=True).check("TaskSequence: noise", noise, None)
        self.policy, self.arguments = policy, dict(arguments or {})
        for name, value in self.arguments.items():
            if not (value is None or isinstance(value, bool | int | float | str)):
                raise errors.refuse(f"TaskSequence: arguments[{name!r}]", value, "a number, a word or a truth value")
        self.intercept, self.noise = bool(intercept), noise
        self.max_regions = constraints.whole_number("TaskSequence: max_regions", max_regions, 1)
        self.seed = constraints.whole_number("TaskSequence: seed", seed, 0)
        self.regions: Regions | None = None
        self._fits: Fits | None = None
        self._looked = 0  # how many tasks there were when regions were found afresh

    @property
    def n_tasks(self) -> int:
        """How many tasks have ended."""
        return 0 if self._fits is None else len(self._fits)

    def begin(self) -> Any:
        """Return the policy for the next task; several tasks may run side by side."""
        seed = (self.seed, self.n_tasks)
        if self.regions is not None:
            return self.regions.policy(self.policy, **({"seed": seed} | self.arguments))
        return LinIDS(dim=self.dim, noise=self.noise, intercept=self.intercept, seed=seed)

    def end(self, played: Sequence[Decision] | ArrayLike, rewards: ArrayLike) -> None:
        """Learn a task that has ended.

        Parameters
        ----------
        played: its decisions, or the features of what was played, ``(n, d)``.  rewards: ``(n,)``.
        """
        x, y = _rounds(played, rewards, self.dim)
        tasks = np.zeros(len(y), dtype=np.int64)
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
            self.regions = self.regions.with_fits(new, grow=True)
        self._fits = self.regions.fits

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, without pickle; policies of tasks that still run are saved by themselves."""
        names = ("dim", "arguments", "intercept", "noise", "max_regions", "seed")
        settings: dict[str, Any] = {"task_sequence": {name: getattr(self, name) for name in names}}
        settings |= {"policy": self.policy.__name__, "looked": self._looked}
        arrays: dict[str, Any] = {}
        if self.regions is not None:
            settings["regions"], arrays = self.regions.stored()
        elif self._fits is not None:
            arrays = {f"fits/{name}": getattr(self._fits, name) for name in ARRAYS}
        files.write(path, settings, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TaskSequence:
        """Read what :meth:`save` wrote."""
        settings, arrays = files.read(path)
        known = files.registered()
        if "task_sequence" not in settings or settings.get("policy") not in known:
            raise ValueError(f"{path}: its content is not a task sequence whose policy is registered")
        sequence = cls(policy=known[settings["policy"]], **settings["task_sequence"])
        sequence._looked = int(settings["looked"])
        if "regions" in settings:
            sequence.regions = restored(path, settings["regions"], arrays)
            sequence._fits = sequence.regions.fits
        elif arrays:
            stored: dict[str, Any] = {name: arrays[f"fits/{name}"] for name in ARRAYS}
            sequence._fits = Fits(**stored, noise=sequence.noise)
        return sequence


def _rounds(played: Any, rewards: ArrayLike, dim: int) -> tuple[Array, Array]:
    """Return the features of what was played, ``(n, d)``, and rewards, ``(n,)``."""
    if isinstance(played, list | tuple) and played and all(isinstance(one, Decision) for one in played):
        played = np.array([one.features for one in played])
    x = inputs.as_floats("TaskSequence.end: played", played, f"decisions, or numbers of shape (n, {dim})")
    if x.ndim != 2 or x.shape[1] != dim or not len(x) or not np.isfinite(x).all():
        raise errors.refuse("TaskSequence.end: played", played, f"decisions, or numbers of shape (n, {dim})")
    return x, inputs.rewards(rewards, len(x), True)
