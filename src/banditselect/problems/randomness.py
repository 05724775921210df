"""The randomness of instances, drawn before the first round from one generator per lane: all policies meet the same.

Problems share the items of a round, the noise between mean rewards and rewards, and its sub-Gaussian constants.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..actions.catalogue import Catalogue
from ..kernels.features import Offer
from ..runtime.constraints import Number, OneOf
from ..runtime.shapes import stacked
from ..types import Array, Index
from .base import Instances

SIZE = Number(low=1, integer=True)
NOISES = OneOf(("uniform", "gaussian", "bernoulli"))
NOISE_DEVIATION = 1.0 / math.sqrt(12.0)
"""The standard deviation of U[-1/2, 1/2], which is also its sub-Gaussian constant."""


def generators(lanes: range, seed: int) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield for every lane its place in ``lanes`` and a generator of its own."""
    for n, lane in enumerate(lanes):
        yield n, np.random.default_rng((seed, lane))


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


def reward_range(length: float) -> tuple[float, float]:
    """Return four standard deviations of a mean reward on both sides of 0, and the noise.

    Actions are N(0, 0.01 I), and the parameter has this ``length``.
    """
    reach = 0.4 * length + 0.5
    return -reach, reach


def draw_noise(kind: str, rng: np.random.Generator, rounds: int) -> Array:
    """Return the numbers that this kind of noise needs for one lane, ``(rounds,)``."""
    if kind == "uniform":
        return rng.uniform(-0.5, 0.5, rounds)
    return rng.normal(0.0, NOISE_DEVIATION, rounds) if kind == "gaussian" else rng.random(rounds)


class DrawnInstances(Instances):
    """Instances whose means and noise are drawn beforehand: all policies meet the same.

    The noise ``"uniform"`` adds U[-1/2, 1/2] and ``"gaussian"`` adds N(0, 1/12), the same for all actions.
    ``"bernoulli"`` gives one of two values, the high one with the probability that makes the mean right; one uniform
    number a round decides for all actions, so the better of two actions never pays less.

    Parameters
    ----------
    means: of all actions in all rounds, ``(N, T, K)``.
    noise, draws: its kind, and what ``draw_noise`` returned for every lane, ``(N, T)``.
    constants: all but ``noise`` and, where no ``coins`` are given, ``reward_bound``.
    coins: the two values of "bernoulli", low and high, numbers or ``(N,)``, between which the means lie; None for minus
        and plus the largest mean of the instance.
    """

    def __init__(
        self, means: Array, noise: str, draws: Array, constants: Mapping[str, Any], coins: tuple[Any, Any] | None = None
    ) -> None:
        self.constants = dict(constants)
        if coins is None:
            self.constants["reward_bound"] = largest = np.abs(means).max(axis=(1, 2))
            coins = -largest, largest
        self._means, self._draws, self._coins = means, draws, coins if noise == "bernoulli" else None
        self.constants.setdefault("noise", 0.5 * (coins[1] - coins[0]) if self._coins else NOISE_DEVIATION)

    def means(self, t: int) -> Array:
        """Return the mean reward of every action of round ``t``, ``(N, K)``."""
        return self._means[:, t]

    def rewards(self, t: int, action: Index) -> Array:
        """Return the rewards of these actions in round ``t``, ``(N,)``."""
        means, draws = self._means[np.arange(action.size), t, action], self._draws[:, t]
        if self._coins is None:
            return means + draws
        low, high = self._coins
        return np.where(draws * (high - low) < means - low, high, low)


class DrawnActions(DrawnInstances):
    """Instances that also have the features of all actions drawn, ``actions (N, T, ...)``."""

    def __init__(self, actions: Array, *drawn: Any) -> None:
        self.actions = actions
        super().__init__(*drawn)

    def features(self, t: int) -> Array:
        """Return the features of round ``t``."""
        return self.actions[:, t].copy()


class DrawnItems(DrawnInstances):
    """Instances that offer ``items (N, T, K)`` of a catalogue, each lane of its own table or all of the only one."""

    def __init__(self, catalogue: Catalogue, items: Index, *drawn: Any) -> None:
        self.catalogue, self.items = catalogue, items
        self._tables = np.arange(len(items)) % len(catalogue._table)
        super().__init__(*drawn)

    def features(self, t: int) -> Any:
        """Return the features of round ``t``: ``(N, K, d)``, ``(N, M, K, d)``, or a list of M ``(N, K, d_i)``."""
        offer = self.offer(t)
        x = offer.lookup.array()
        return stacked([x[:, i, :, :width] for i, width in enumerate(offer.widths)], offer.many, axis=1)

    def offer(self, t: int) -> Offer:
        """Return the items of round ``t``, of which no copy is made."""
        return self.catalogue._offer(self._tables, self.items[:, t])
