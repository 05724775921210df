"""The problem that all contestants meet: a linear bandit whose rewards lie in [-1.5, 1.5]."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REWARD_RANGE = (-1.5, 1.5)
NOISE = 1 / np.sqrt(12)  #: standard deviation of the noise, uniform on [-1/2, 1/2]


@dataclass(frozen=True)
class LinearProblem:
    """Features of unit length, a parameter of unit length on the first map, uniform noise.

    Everything is drawn before play: all contestants meet the same rounds, and a reward is one lookup.
    """

    features: Array  #: ``(T, M, K, d)``
    means: Array  #: ``(T, K)``
    rewards: list[list[float]]  #: T lists of K: the mean of an action and the noise of the round

    @classmethod
    def draw(cls, *, rounds: int, dim: int, n_actions: int = 10, n_models: int = 1, seed: int = 0) -> Self:
        """Draw T rounds; of the M maps the first is true."""
        rng = np.random.default_rng((seed, dim))
        theta = _units(rng, (dim,))
        first = _units(rng, (rounds, 1, n_actions, dim))
        noise = rng.uniform(-0.5, 0.5, (rounds, 1))
        means = first[:, 0] @ theta
        others = _units(rng, (rounds, n_models - 1, n_actions, dim))
        return cls(np.concatenate([first, others], axis=1), means, (means + noise).tolist())

    @property
    def first_map(self) -> Array:
        """Return the features of the true map, ``(T, K, d)``."""
        return np.ascontiguousarray(self.features[:, 0])

    def regret(self, actions: NDArray[np.int64]) -> float:
        return float((self.means.max(axis=1) - self.means[np.arange(len(actions)), actions]).sum())


def _units(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    values = rng.normal(size=shape)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)
