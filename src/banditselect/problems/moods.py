"""A customer whose mood changes: the true ball, or the true feature map, is another from time to time."""

import math
from typing import Any

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..types import Array, Index
from .base import Problem
from .randomness import NOISES, SIZE, DrawnInstances, Noise, by_round, draw_noise
from .synthetic import of_balls

SEVERAL = Number(low=2, integer=True)
STAY = Number(low=1.0, optional=True)


def _phases(rng: np.random.Generator, rounds: int, n_models: int, stay: float | None) -> tuple[Index, Index]:
    """Draw when the model changes: the phase that every round is in, ``(T,)``, and the true model of every phase."""
    switch = np.zeros(rounds, dtype=bool) if stay is None else rng.random(rounds) * stay < 1.0
    switch[:1] = True
    steps = rng.integers(1, n_models, int(switch.sum()))
    steps[:1] = rng.integers(n_models)
    return np.cumsum(switch) - 1, np.cumsum(steps) % n_models


class SwitchingParameterSelection(Problem):
    r"""Parameter selection as in :class:`SyntheticParameterSelection`, where another ball is true from time to time.

    Centres :math:`\mu_i \sim N(0, I_d)`, all radii b. In each round the model changes with probability 1 / ``stay``: to
    one of the others, drawn uniformly, and :math:`\theta_*` is drawn uniformly in its ball. Every round offers
    ``n_actions`` vectors :math:`\phi \sim N(0, 0.01 I_d)`; rewards are
    :math:`\langle \phi, \theta_* \rangle + U[-1/2, 1/2]`. Regret is against the best action of the round.

    Parameters
    ----------
    n_models, dim, n_actions: M >= 2, d, K.
    radius: b.
    stay: how many rounds a model stays true, on average; None for a world that does not change.
    noise: as in :class:`SyntheticFeatureSelection`.

    Notes
    -----
    Constants: centers ``(N, M, d)``; radii; parameter_bound = max_i (|mu_i| + b); feature_bound and reward_bound over
    the actions offered, noise, and reward_range as in :class:`SyntheticParameterSelection`. There is no one true model.

    Examples
    --------
    >>> instances = SwitchingParameterSelection(n_models=3, dim=4, n_actions=5, stay=5).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.model[0]
    ((2, 5, 4), array([1, 0, 0, 2, 2, 2, 2, 2, 1, 2]))
    """

    n_models: int = argument(SEVERAL, default=5)
    dim: int = argument(SIZE, default=20)
    n_actions: int = argument(SIZE, default=10)
    radius: float = argument(Number(low=0.0), default=0.5)
    stay: float | None = argument(STAY, default=300.0)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * (self.n_actions * (self.dim + 1) + self.dim + 2) + 8 * self.dim * self.n_models

    def draw(self, lanes: range, rounds: int, seed: int) -> "_SwitchingInstances":
        """Draw one instance per lane."""
        return _SwitchingInstances(self, lanes, rounds, seed)


class _SwitchingInstances(DrawnInstances):
    """Attributes: ``actions (N, T, K, d)``; ``model (N, T)``, the true one in every round; ``parameter (N, T, d)``."""

    def __init__(self, problem: SwitchingParameterSelection, lanes: range, rounds: int, seed: int) -> None:
        N, M, K, d, b = len(lanes), problem.n_models, problem.n_actions, problem.dim, problem.radius
        centers, self.model = np.empty((N, M, d)), np.empty((N, rounds), dtype=np.int64)
        self.parameter, self.actions = np.empty((N, rounds, d)), by_round(N, rounds, K, d)
        self._means, draws, longest = by_round(N, rounds, K), by_round(N, rounds), np.empty(N)
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            centers[n] = rng.normal(size=(M, d))
            phase, models = _phases(rng, rounds, M, problem.stay)
            ends = rng.normal(size=(models.size, d))
            ends *= b * rng.random((models.size, 1)) ** (1.0 / d) / np.linalg.norm(ends, axis=1, keepdims=True)
            self.model[n], self.parameter[n] = models[phase], (centers[n, models] + ends)[phase]
            self.actions[n] = rng.normal(0.0, 0.1, (rounds, K, d))
            longest[n] = np.linalg.norm(self.actions[n], axis=2).max()
            self._means[n] = np.einsum("tkd,td->tk", self.actions[n], self.parameter[n])
            draws[n] = draw_noise(problem.noise, rng, rounds)
        self._noise, told = of_balls(problem.noise, draws, self._means, centers, b)
        self.constants = told | {"feature_bound": longest}

    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, K, d)``."""
        return self.actions[:, t].copy()


class SwitchingFeatureSelection(Problem):
    r"""Feature selection in which another map is true from time to time, and a map that returns has its old parameter.

    Parameters :math:`\theta_i \sim N(0, I_d)`, one for each of M maps. In each round the true map changes with
    probability 1 / ``stay``: to one of the others, drawn uniformly. Every round offers ``n_actions`` actions with
    features :math:`\phi^i \sim N(0, 0.01 I_d)` in every map; rewards are
    :math:`\langle \phi^i, \theta_i \rangle + U[-1/2, 1/2]` for the map i that is true. Regret is against the best
    action of the round.

    Parameters
    ----------
    n_models, dim, n_actions: M >= 2, d, K.
    stay: how many rounds a map stays true, on average; None for a world that does not change.
    noise: as in :class:`SyntheticFeatureSelection`.

    Notes
    -----
    Constants: parameter_bound = max_i |theta_i|; feature_bound and reward_bound over the actions offered, noise, and
    reward_range, which holds four standard deviations of a mean reward, and the noise. There is no one true model.

    Examples
    --------
    >>> instances = SwitchingFeatureSelection(n_models=3, dim=4, n_actions=5, stay=5).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.model[0]
    ((2, 3, 5, 4), array([1, 0, 0, 2, 2, 2, 2, 2, 1, 2]))
    """

    n_models: int = argument(SEVERAL, default=5)
    dim: int = argument(SIZE, default=10)
    n_actions: int = argument(SIZE, default=10)
    stay: float | None = argument(STAY, default=300.0)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"n_models": self.n_models, "dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * (self.n_actions * (self.n_models * self.dim + 1) + 2) + 8 * self.dim * self.n_models

    def draw(self, lanes: range, rounds: int, seed: int) -> "_SwitchingMaps":
        """Draw one instance per lane."""
        return _SwitchingMaps(self, lanes, rounds, seed)


class _SwitchingMaps(DrawnInstances):
    """Attributes: ``actions (N, T, M, K, d)``; ``model (N, T)``, the true map in every round; ``theta (N, M, d)``."""

    def __init__(self, problem: SwitchingFeatureSelection, lanes: range, rounds: int, seed: int) -> None:
        N, M, K, d = len(lanes), problem.n_models, problem.n_actions, problem.dim
        self.theta, self.model = np.empty((N, M, d)), np.empty((N, rounds), dtype=np.int64)
        self.actions, self._means, draws = by_round(N, rounds, M, K, d), by_round(N, rounds, K), by_round(N, rounds)
        longest, times = np.empty(N), np.arange(rounds)
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            self.theta[n] = rng.normal(size=(M, d))
            phase, models = _phases(rng, rounds, M, problem.stay)
            self.model[n] = true = models[phase]
            self.actions[n] = rng.normal(0.0, 0.1, (rounds, M, K, d))
            longest[n] = np.linalg.norm(self.actions[n], axis=3).max()
            self._means[n] = np.einsum("tkd,td->tk", self.actions[n, times, true], self.theta[n, true])
            draws[n] = draw_noise(problem.noise, rng, rounds)
        largest, reach = np.abs(self._means).max(axis=(1, 2)), 0.4 * math.sqrt(d) + 0.5
        self._noise = Noise(problem.noise, draws, low=-largest, high=largest)
        self.constants = {
            "noise": self._noise.constant,
            "parameter_bound": np.linalg.norm(self.theta, axis=2).max(axis=1),
            "feature_bound": longest,
            "reward_bound": largest,
            "reward_range": (-reach, reach),
        }

    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, M, K, d)``."""
        return self.actions[:, t].copy()
