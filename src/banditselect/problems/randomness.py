"""The randomness of instances, drawn before the first round from one generator per lane: all policies meet the same.

Problems share the items of a round, the noise between mean rewards and rewards, and its sub-Gaussian constants.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.constraints import Number, OneOf
from ..types import Array, Index
from .base import Instances

SIZE = Number(low=1, integer=True)
NOISES = OneOf(("uniform", "gaussian", "bernoulli"))
NOISE_DEVIATION = 1.0 / math.sqrt(12.0)
"""The standard deviation of U[-1/2, 1/2], which is also its sub-Gaussian constant."""


def random_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a state for ``instances.random_words``."""
    return rng.integers(0, 2**64, 1, dtype=np.uint64)


def by_round(lanes: int, rounds: int, *shape: int, dtype: type = float) -> NDArray[Any]:
    """Return an empty array ``(lanes, rounds, *shape)`` whose memory holds round after round, each with all lanes."""
    return np.empty((rounds, lanes, *shape), dtype=dtype).swapaxes(0, 1)


def distinct_items(rng: np.random.Generator, rounds: int, k: int, n: int) -> Index:
    """Return ``k`` different numbers below ``n`` for every round, ``(rounds, k)``, all orders equally likely."""
    if k * k > n:
        return np.array([rng.choice(n, k, replace=False) for _ in range(rounds)]).reshape(rounds, k)
    items = rng.integers(0, max(n, 1), (rounds, k))
    again = np.arange(rounds)
    while again.size:
        ordered = np.sort(items[again], axis=1)
        again = again[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        items[again] = rng.integers(0, n, (again.size, k))
    return items


def renumbered(items: Index) -> tuple[Index, int]:
    """Return the items numbered as they first appear, and how many there are."""
    _, first, inverse = np.unique(items, return_index=True, return_inverse=True)
    return first.argsort().argsort()[inverse].reshape(items.shape), first.size


def coin_constant(probability: float) -> float:
    r"""Return the smallest sub-Gaussian constant of a coin with values 0 and 1.

    .. math:: R^2 = \frac{1 - 2p}{2 \log((1 - p) / p)}, \quad R^2 = 1/4 \text{ for } p = 1/2, \quad 0 \text{ for } p = 0

    References
    ----------
    Kearns, Saul, "Large deviation methods for approximate probabilistic inference", UAI 1998.
    """
    p = min(probability, 1.0 - probability)
    if p <= 0.0:
        return 0.0
    return 0.5 if p == 0.5 else math.sqrt((1.0 - 2.0 * p) / (2.0 * math.log((1.0 - p) / p)))


def draw_noise(kind: str, rng: np.random.Generator, rounds: int) -> Array:
    """Return what ``Noise`` of this kind needs for one lane, ``(rounds,)``."""
    if kind == "uniform":
        return rng.uniform(-0.5, 0.5, rounds)
    return rng.normal(0.0, NOISE_DEVIATION, rounds) if kind == "gaussian" else rng.random(rounds)


class Noise:
    """The noise between mean rewards and rewards, drawn beforehand: all policies meet the same.

    ``"uniform"`` adds U[-1/2, 1/2] and ``"gaussian"`` adds N(0, 1/12), the same for all actions. ``"bernoulli"`` gives
    one of two values, ``high`` with the probability that makes the mean right; one uniform number a round decides for
    all actions, so the better of two actions never pays less.

    Parameters
    ----------
    kind: one of these names.
    draws: what ``draw_noise`` returned for every lane, ``(N, T)``.
    low, high: the two values, numbers or ``(N,)``; the means lie between them.
    """

    def __init__(self, kind: str, draws: Array, *, low: float | Array, high: float | Array) -> None:
        self.kind, self.draws, self.low, self.high = kind, draws, low, high

    @property
    def constant(self) -> Any:
        """A sub-Gaussian constant that holds for all means: a number, or ``(N,)``."""
        return 0.5 * (self.high - self.low) if self.kind == "bernoulli" else NOISE_DEVIATION

    def rewards(self, t: int, means: Array) -> Array:
        """Return rewards of round ``t`` with these means, ``(N,)``."""
        if self.kind == "bernoulli":
            return np.where(self.draws[:, t] * (self.high - self.low) < means - self.low, self.high, self.low)
        return means + self.draws[:, t]


class DrawnInstances(Instances):
    """Instances that know the means of all rounds, ``(N, T, K)``, and have their noise drawn."""

    _means: Array
    _noise: Noise

    def means(self, t: int) -> Array:
        """Return the mean reward of every action of round ``t``, ``(N, K)``."""
        return self._means[:, t]

    def rewards(self, t: int, action: Index) -> Array:
        """Return the rewards of these actions in round ``t``, ``(N,)``."""
        return self._noise.rewards(t, self._means[np.arange(action.size), t, action])


class DrawnActions(DrawnInstances):
    """Instances that also have the features of all actions drawn, ``actions (N, T, ...)``."""

    actions: Array

    def features(self, t: int) -> Array:
        """Return the features of round ``t``."""
        return self.actions[:, t].copy()
