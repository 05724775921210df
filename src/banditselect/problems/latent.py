"""Latent bandits, a case of parameter selection: the means of K arms are one of M known vectors, up to an error."""

import math
from typing import Any

import numpy as np

from ..actions.catalogue import Catalogue
from ..kernels.features import Offer
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..types import Array
from .base import Problem
from .randomness import NOISES, SIZE, DrawnInstances, by_round, draw_noise, generators


class LatentBandit(Problem):
    r"""A K-armed bandit in one of M latent states whose reward vectors are known up to ``error`` (paper, App. E).

    Known vectors :math:`\mu_i \sim U[0, 1]^K`; the state :math:`i_*` is uniform, and the mean of arm k is
    :math:`\mu_{i_*, k} + U[-\varepsilon, \varepsilon]`, moved into [0, 1] where it left it. The features of arm k are
    the k-th unit vector, so the true parameter is the vector of means and policies for parameter selection can play.

    Parameters
    ----------
    n_models, n_arms: M and K.
    error: :math:`\varepsilon`, between 0 and 1.
    noise: "uniform" adds U[-1/2, 1/2], "gaussian" adds N(0, 1/12), "bernoulli" gives 1 with the mean as probability,
        else 0.

    Notes
    -----
    Constants: centers ``(N, M, K)``, the known vectors; radii = error sqrt(K), so that the truth is in its ball; error;
    n_arms; parameter_bound = max_i |mu_i| + radii; center, model and parameter of the truth; true_centers
    ``(N, 1, K)``; feature_bound = reward_bound = 1; noise; reward_range, (0, 1) for coins and (-0.5, 1.5) else (a
    scale, not a bound, for "gaussian").

    Examples
    --------
    >>> instances = LatentBandit(n_models=3, n_arms=8, error=0.1).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.means(0).shape
    ((2, 8, 8), (2, 8))

    References
    ----------
    Hong, Kveton, Zaheer, Chow, Ahmed, Boutilier, "Latent bandits revisited", NeurIPS 2020.
    """

    n_models: int = argument(SIZE, default=5)
    n_arms: int = argument(SIZE, default=20)
    error: float = argument(Number(low=0.0, high=1.0), default=0.05)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"dim": self.n_arms, "n_arms": self.n_arms}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds + 8 * self.n_arms * (self.n_models + 2)

    def draw(self, lanes: range, rounds: int, seed: int) -> "ArmInstances":
        """Draw one instance per lane."""
        N, M, K, eps = len(lanes), self.n_models, self.n_arms, self.error
        centers, model, truth = np.empty((N, M, K)), np.empty(N, dtype=np.int64), np.empty((N, K))
        draws = by_round(N, rounds)
        for n, rng in generators(lanes, seed):
            centers[n] = rng.random((M, K))
            model[n] = rng.integers(M)
            truth[n] = np.clip(centers[n, model[n]] + rng.uniform(-eps, eps, K), 0.0, 1.0)
            draws[n] = draw_noise(self.noise, rng, rounds)
        radius, own = eps * math.sqrt(K), centers[np.arange(N), model]
        constants = {
            "centers": centers,
            "radii": radius,
            "error": eps,
            "n_arms": K,
            "parameter_bound": np.linalg.norm(centers, axis=2).max(axis=1) + radius,
            "center": own,
            "true_centers": own[:, None],
            "model": model,
            "parameter": truth,
            "feature_bound": 1.0,
            "reward_bound": 1.0,
            "reward_range": (0.0, 1.0) if self.noise == "bernoulli" else (-0.5, 1.5),
        }
        means = np.broadcast_to(truth[:, None], (N, rounds, K))
        return ArmInstances(means, self.noise, draws, constants, (0.0, 1.0))


class ArmInstances(DrawnInstances):
    """Instances whose actions are the unit vectors in every round."""

    def __init__(self, means: Array, *drawn: Any) -> None:
        super().__init__(means, *drawn)
        N, _, K = means.shape
        self._arms = Catalogue(np.eye(K)).offer(np.tile(np.arange(K), (N, 1)))

    def features(self, t: int) -> Array:
        """Return the unit vectors, ``(N, K, K)``."""
        return self._arms.lookup.array()[:, 0]

    def offer(self, t: int) -> Offer:
        """Return the arms, of which no copy is made."""
        return self._arms
