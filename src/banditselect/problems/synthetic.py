"""The two synthetic problems of the paper's experiments."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from .base import Array, Index, Instances, Problem

NOISE = 1.0 / math.sqrt(12.0)
"""The sub-Gaussian constant of U[-1/2, 1/2], which equals its standard deviation."""


class _Played(Instances):
    """Instances with noise drawn beforehand, ``(N, T)``."""

    noise: Array

    def rewards(self, t: int, action: Index) -> Array:
        """Return the rewards of the actions played, ``(N,)``."""
        return self.means(t)[np.arange(action.size), action] + self.noise[:, t]


class SyntheticFeatureSelection(Problem):
    r"""Feature selection as in the paper (Fig. 1, top): M Gaussian feature maps of 10,000 items, the first one true.

    :math:`\theta_* \sim N(0, 0.01 I_d)`, :math:`\phi^i(a) \sim N(\theta_*, 0.1 I_d)`, rewards
    :math:`\langle \phi^1(a), \theta_* \rangle + U[-1/2, 1/2]`; every round offers ``n_actions`` different items.

    Parameters
    ----------
    n_models, dim, n_actions, n_items: M, d, K and the number of items.

    Notes
    -----
    The paper does not say whether the items of a round are different; here they are. Constants: noise, parameter_bound,
    feature_bound and reward_bound of each instance, reward_range = (-2.5, 2.5) for all, model = 0.
    """

    def __init__(self, *, n_models: int = 10, dim: int = 50, n_actions: int = 10, n_items: int = 10_000) -> None:
        for name, value in (("n_models", n_models), ("dim", dim), ("n_actions", n_actions)):
            validation.whole_number(f"SyntheticFeatureSelection: {name}", value, 1)
        validation.whole_number("SyntheticFeatureSelection: n_items", n_items, n_actions)
        self.n_models, self.dim, self.n_actions, self.n_items = n_models, dim, n_actions, n_items

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"n_models": self.n_models, "dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 4 * self.n_models * self.n_items * self.dim + 8 * rounds * (self.n_actions + 1)

    def draw(self, lanes: range, rounds: int, seed: int) -> "_FeatureSelection":
        """Draw one instance per lane."""
        return _FeatureSelection(self, lanes, rounds, seed)


class _FeatureSelection(_Played):
    def __init__(self, problem: SyntheticFeatureSelection, lanes: range, rounds: int, seed: int) -> None:
        N, K, size = len(lanes), problem.n_actions, (problem.n_models, problem.n_items, problem.dim)
        self.maps: list[NDArray[np.float32]] = []
        self.values = np.empty((N, problem.n_items))
        self.items = np.empty((N, rounds, K), dtype=np.int64)
        self.noise = np.empty((N, rounds))
        bounds = np.empty((3, N))
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            theta = rng.normal(0.0, 0.1, problem.dim)
            maps = rng.standard_normal(size, dtype=np.float32)
            maps *= np.float32(math.sqrt(0.1))
            maps += theta.astype(np.float32)
            self.maps.append(maps)
            self.values[n] = maps[0].astype(float) @ theta
            self.items[n] = _different(rng, rounds, K, problem.n_items)
            self.noise[n] = rng.uniform(-0.5, 0.5, rounds)
            longest = max(float(np.linalg.norm(m, axis=1).max()) for m in maps)
            bounds[:, n] = np.linalg.norm(theta), longest, np.abs(self.values[n]).max()
        self.constants = {
            "noise": NOISE,
            "parameter_bound": bounds[0],
            "feature_bound": bounds[1],
            "reward_bound": bounds[2],
            "reward_range": (-2.5, 2.5),
            "model": 0,
        }

    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, M, K, d)``."""
        return np.stack([m.take(self.items[n, t], axis=1) for n, m in enumerate(self.maps)]).astype(float)

    def means(self, t: int) -> Array:
        """Return the mean reward of every action, ``(N, K)``."""
        return np.take_along_axis(self.values, self.items[:, t], axis=1)


def _different(rng: np.random.Generator, rounds: int, k: int, n: int) -> Index:
    """Return ``k`` different numbers below ``n`` for every round, ``(rounds, k)``."""
    items = rng.integers(0, n, (rounds, k))
    while True:
        ordered = np.sort(items, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not again.size:
            return items
        if k > n // 2:
            items[again] = np.array([rng.permutation(n)[:k] for _ in again])
        else:
            items[again] = rng.integers(0, n, (again.size, k))


class SyntheticParameterSelection(Problem):
    r"""Parameter selection as in the paper (Fig. 2, left): the parameter lies in one of M balls.

    Centres :math:`\mu_i \sim N(0, I_d)`, all radii b; :math:`\theta_*` uniform in the ball of a model drawn uniformly;
    every round offers ``n_actions`` vectors :math:`\phi \sim N(0, 0.01 I_d)`; rewards
    :math:`\langle \phi, \theta_* \rangle + U[-1/2, 1/2]`.

    Parameters
    ----------
    n_models, dim, n_actions: M, d, K.
    radius: b.

    Notes
    -----
    The paper leaves the distribution inside the ball open; uniform is assumed. Constants: noise, centers ``(N, M, d)``,
    radii, parameter_bound = max_i (|mu_i| + b), center and model of the truth, feature_bound and reward_bound.
    """

    def __init__(self, *, n_models: int = 10, dim: int = 20, n_actions: int = 10, radius: float = 0.0) -> None:
        for name, value in (("n_models", n_models), ("dim", dim), ("n_actions", n_actions)):
            validation.whole_number(f"SyntheticParameterSelection: {name}", value, 1)
        validation.Number(low=0.0).check("SyntheticParameterSelection: radius", radius, None)
        self.n_models, self.dim, self.n_actions, self.radius = n_models, dim, n_actions, radius

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * self.n_actions * self.dim

    def draw(self, lanes: range, rounds: int, seed: int) -> "_ParameterSelection":
        """Draw one instance per lane."""
        return _ParameterSelection(self, lanes, rounds, seed)


class _ParameterSelection(_Played):
    def __init__(self, problem: SyntheticParameterSelection, lanes: range, rounds: int, seed: int) -> None:
        N, M, K, d, b = len(lanes), problem.n_models, problem.n_actions, problem.dim, problem.radius
        centers = np.empty((N, M, d))
        self.model = np.empty(N, dtype=np.int64)
        self.theta = np.empty((N, d))
        self.actions = np.empty((N, rounds, K, d))
        self.noise = np.empty((N, rounds))
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            centers[n] = rng.normal(size=(M, d))
            self.model[n] = rng.integers(M)
            direction = rng.normal(size=d)
            direction *= b * rng.uniform() ** (1.0 / d) / np.linalg.norm(direction)
            self.theta[n] = centers[n, self.model[n]] + direction
            self.actions[n] = rng.normal(0.0, 0.1, (rounds, K, d))
            self.noise[n] = rng.uniform(-0.5, 0.5, rounds)
        self.constants = {
            "noise": NOISE,
            "centers": centers,
            "radii": b,
            "parameter_bound": (np.linalg.norm(centers, axis=2) + b).max(axis=1),
            "center": centers[np.arange(N), self.model],
            "model": self.model,
            "feature_bound": np.linalg.norm(self.actions, axis=3).max(axis=(1, 2)),
            "reward_bound": np.array([np.abs(a @ th).max() for a, th in zip(self.actions, self.theta, strict=True)]),
        }

    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, K, d)``."""
        return self.actions[:, t]

    def means(self, t: int) -> Array:
        """Return the mean reward of every action, ``(N, K)``."""
        return np.einsum("nkd,nd->nk", self.actions[:, t], self.theta)
