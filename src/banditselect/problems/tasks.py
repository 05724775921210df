"""Tasks in sequence: each has a new parameter, drawn near one of M centres that the learner does not know."""

import math
from typing import Any

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number
from .base import Problem
from .randomness import NOISES, SIZE, DrawnActions, by_round, draw_noise, generators, reward_range


class SyntheticTasks(Problem):
    r"""Task after task of ``task_rounds`` rounds, each with a parameter near one of M centres.

    Centres :math:`\mu_i \sim N(0, I_d)`; the parameter of a task is :math:`\mu_k + w N(0, I_d)` with k uniform; every
    round offers ``n_actions`` vectors :math:`\phi \sim N(0, 0.01 I_d)`, with rewards
    :math:`\langle \phi, \theta \rangle` and noise, as in :class:`SyntheticParameterSelection`.

    Parameters
    ----------
    n_models, dim, n_actions: M, d, K.
    task_rounds: rounds of a task; ``rounds`` of a simulation are those of all tasks together.
    width: w.
    noise: "uniform", "gaussian" or "bernoulli", as in :class:`SyntheticFeatureSelection`.

    Notes
    -----
    Constants: task_rounds; centers ``(N, M, d)`` and radii = w sqrt(d), root of the mean squared distance from them;
    task_centers and task_parameters, ``(N, tasks, d)``; task_radius, the largest distance of a task's parameter from
    its centre; parameter_bound, feature_bound, reward_bound; noise; reward_range as in
    :class:`SyntheticParameterSelection`.

    Examples
    --------
    >>> instances = SyntheticTasks(n_models=3, dim=4, task_rounds=5).draw(range(2), 20, seed=0)
    >>> instances.features(0).shape, instances.constants["task_centers"].shape
    ((2, 10, 4), (2, 4, 4))
    """

    n_models: int = argument(SIZE, default=5)
    dim: int = argument(SIZE, default=8)
    n_actions: int = argument(SIZE, default=10)
    task_rounds: int = argument(SIZE, default=50)
    width: float = argument(Number(low=0.0), default=0.2)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * (self.n_actions * (self.dim + 1) + 1 + 2 * self.dim // self.task_rounds)

    def draw(self, lanes: range, rounds: int, seed: int) -> DrawnActions:
        """Draw one instance per lane."""
        N, M, K, d, w = len(lanes), self.n_models, self.n_actions, self.dim, self.width
        tasks = -(-rounds // self.task_rounds)
        own = np.arange(rounds) // self.task_rounds
        centers, middle, theta = np.empty((N, M, d)), np.empty((N, tasks, d)), np.empty((N, tasks, d))
        actions, means, draws = by_round(N, rounds, K, d), by_round(N, rounds, K), by_round(N, rounds)
        for n, rng in generators(lanes, seed):
            centers[n] = rng.normal(size=(M, d))
            middle[n] = centers[n, rng.integers(M, size=tasks)]
            theta[n] = middle[n] + w * rng.normal(size=(tasks, d))
            actions[n] = rng.normal(0.0, 0.1, (rounds, K, d))
            draws[n] = draw_noise(self.noise, rng, rounds)
            means[n] = np.einsum("tkd,td->tk", actions[n], theta[n, own])
        constants = {
            "task_rounds": self.task_rounds,
            "centers": centers,
            "radii": w * math.sqrt(d),
            "task_centers": middle,
            "task_parameters": theta,
            "task_radius": np.linalg.norm(theta - middle, axis=2).max(axis=1),
            "parameter_bound": np.linalg.norm(theta, axis=2).max(axis=1),
            "feature_bound": np.sqrt((actions**2).sum(axis=3).max(axis=(1, 2))),
            "reward_range": reward_range(math.sqrt(d * (1.0 + w**2))),
        }
        return DrawnActions(actions, means, self.noise, draws, constants)
