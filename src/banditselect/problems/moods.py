"""A customer whose mood changes: parameter selection in which the true model switches."""

from typing import Any

import numpy as np

from ..carriers.validation import Number, check_all
from ..types import Array
from .base import Problem
from .randomness import NOISES, SIZE, DrawnInstances, by_round, draw_noise
from .synthetic import of_balls


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

    def __init__(
        self,
        *,
        n_models: int = 5,
        dim: int = 20,
        n_actions: int = 10,
        radius: float = 0.5,
        stay: float | None = 300.0,
        noise: str = "uniform",
    ) -> None:
        self.n_models, self.dim, self.n_actions, self.radius = n_models, dim, n_actions, radius
        self.stay, self.noise = stay, noise
        constraints = {
            "n_models": Number(low=2, integer=True),
            "dim": SIZE,
            "n_actions": SIZE,
            "radius": Number(low=0.0),
            "stay": Number(low=1.0, optional=True),
            "noise": NOISES,
        }
        check_all("SwitchingParameterSelection", constraints, vars(self), None)

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
            switch = np.zeros(rounds, dtype=bool) if problem.stay is None else rng.random(rounds) * problem.stay < 1.0
            switch[:1] = True
            steps = rng.integers(1, M, int(switch.sum()))
            steps[:1] = rng.integers(M)
            ends = rng.normal(size=(steps.size, d))
            ends *= b * rng.random((steps.size, 1)) ** (1.0 / d) / np.linalg.norm(ends, axis=1, keepdims=True)
            phase, models = np.cumsum(switch) - 1, np.cumsum(steps) % M
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
