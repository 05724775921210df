"""Several memories of the same rewards, weighed by their forecasts."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import kernel
from ..kernels.features import Features
from ..kernels.weights import normalise
from ..runtime.lanes import parts_of
from ..types import Array, Index, Mask
from . import posterior
from .mixture import Mixture
from .model import Model
from .posterior import FIRST, SQUARES

LARGEST = 1e300  #: so many nats at most may a reward cost, so that differences stay numbers

MEMORIES = (math.inf, 1000.0, 200.0, 50.0)
"""Memories in rounds, as in ``models.forgetting``."""

PRIOR = (0.8, 1.0 / 15.0, 1.0 / 15.0, 1.0 / 15.0)
"""Prior weights of the memories."""

RATE = 1.0 / 3.0
"""A squared error counts this over the noise variance. A normal density has 1/2, too much where the noise varies."""

LOST = 0.2  #: the infinite memory restarts where its weight falls below this part of the weight to be given back

SHARE = 0.3  #: after t rewards, this over t of the weights is given back to the prior


class Memories(Model):
    r"""Mixtures that learn the same rewards, each with another memory, and a weight for each of the memories.

    With :math:`f_g` the forecast of memory g for the reward y of the action played, made before y is learned,
    :math:`s^2` the noise variance that the infinite memory has found, and :math:`\pi` the ``PRIOR``, after t rewards

    .. math:: w_g \leftarrow (1 - \sigma_t) \frac{w_g e^{-(y - f_g)^2 / (3 s^2)}}{\sum_h w_h e^{-(y - f_h)^2 / (3 s^2)}}
              + \sigma_t \pi_g, \qquad \sigma_t = \frac{0.3}{t}.

    So a memory that was bad for long returns. While all rewards are equal the weights stay. Where the fraction of the
    infinite memory is below a fifth of :math:`\sigma_t \pi_g`, it restarts, and learns from y on: else it would never
    forget the world before a change. The posterior is the mixture of those of the memories: a play sees the members of
    all (``docs/math.md``, section 14).

    Parameters
    ----------
    build: returns the mixture of a memory.

    Attributes
    ----------
    weight: of the memories, ``(N, G)``.
    mixtures: of all memories, the infinite one first.  start: that one, before any reward.
    """

    state: tuple[str, ...] = ("weight",)
    nonnegative: tuple[str, ...] = ("weight",)
    unit_free = reads_lookups = True
    fixed_members = "rewards fade: memory has to be None"

    def __init__(self, build: Callable[[float], Mixture]) -> None:
        self.mixtures, self.start = [build(memory) for memory in MEMORIES], build(math.inf)
        super().__init__(self.mixtures[0].shape)
        self.weight = np.tile(PRIOR, (len(self.mixtures[0].size), 1))

    lends = property(lambda self: self.mixtures[0].lends)
    updates = property(lambda self: self.mixtures[-1].updates)  #: the number of rewards learned, ``(N,)``

    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs`` of ``models.posterior``."""
        ridges, beliefs = zip(*(mixture.beliefs(ids, x, offered) for mixture in self.mixtures), strict=True)
        return (ridges, self.weight), beliefs

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, P, d)`` and ``y (n,)``."""
        alone, scaled = x.as_actions(), y / self.mixtures[0]._reward_unit()[ids]
        ridges, beliefs = self.beliefs(ids, alone, None)
        lost = weigh_memories(ids, alone.values, alone.block, scaled, ridges, beliefs, self.updates, np.array(PRIOR))
        if lost.any():
            self._restart(ids[lost])
        for mixture in self.mixtures:
            mixture.learn(ids, x, y, note)

    def _restart(self, ids: Index) -> None:
        """Let the infinite memory begin anew; mean and variance of its rewards count as those of one."""
        endless = self.mixtures[0]
        endless.moments[ids, SQUARES] /= np.maximum(endless.rounds[ids] - 1.0, 1.0)
        endless.level[ids] = self.start.level[ids]
        for (_, part), (_, fresh) in zip(parts_of(endless), parts_of(self.start), strict=True):
            part.copy_lanes(ids, fresh)
        endless.bank.updates[ids] = endless.bank.forgetting.seen[ids] = 1  # type: ignore[union-attr]

    @property
    def memory_weights(self) -> Array:
        """The weights of the memories, ``(N, G)``."""
        return self.weight

    def weights(self) -> Array:
        """Return how probable the maps or regions are, ``(N, M)``."""
        return np.asarray((self.weight.T[..., None] * self._each("weights")).sum(axis=0))

    def noise(self) -> Array:
        """Return the root of the mean noise variance, ``(N,)``; NaN before anything is known of it."""
        return np.asarray(np.sqrt((self.weight.T * self._each("noise") ** 2).sum(axis=0)))

    def constants(self) -> Array:
        """Return the constant terms of the estimates, ``(N, M)``; with blocks of every block, ``(N, cells)``."""
        return np.asarray((self._shares() * self._each("constants")).sum(axis=0))

    def parameters(self) -> Array:
        """Return the mean of the posterior of every map or region, ``(N, M, d)``; with blocks ``(N, cells, d)``."""
        return np.asarray((self._shares()[..., None] * self._each("parameters")).sum(axis=0))

    def _each(self, question: str) -> Array:
        return np.stack([getattr(mixture, question)() for mixture in self.mixtures])

    def _shares(self) -> Array:
        """Return how probable the memories are, given the map or region of each cell, ``(G, N, cells)``."""
        joint = self.weight.T[..., None] * np.maximum(self._each("weights"), 1.0 / LARGEST)
        return np.repeat(joint / joint.sum(axis=0), self.mixtures[0].blocks, axis=2)


def with_memory(memory: float | str | None, build: Callable[[float | None], Mixture]) -> Mixture | Memories:
    """Return what ``build(memory)`` does, or a mixture of all ``MEMORIES`` if it is to be learned."""
    if isinstance(memory, str):
        return Memories(build)
    return build(memory)


@kernel
def weigh_memories(
    ids: Index, x: Array, block: Index, y: Array, ridges: Any, beliefs: Any, updates: Index, prior: Array
) -> Mask:
    """Weigh memories by their forecasts of the rewards ``y (n,)`` of features ``x (n, P, 1, d)``, not yet learned.

    Return in which rows the infinite memory has lost its weight, ``(n,)``.
    """
    of_each, weight = ridges
    allowed, forecast, log_weight = np.ones(1, dtype=np.bool_), np.empty(1), np.empty(prior.size)
    lost = np.zeros(ids.size, dtype=np.bool_)
    for r in range(ids.size):
        n, noise = ids[r], 0.0
        if beliefs[0][2][n, SQUARES] > 0.0:
            for g in range(prior.size):
                counted = posterior.members(r, n, x, block, of_each[g], beliefs[g], allowed, np.empty((2, 0)))
                each = np.empty((counted[0].size, 1))
                _, variance = posterior.predictions(counted, r, block, allowed, each, forecast)
                noise = variance if g == 0 else noise
                error = y[r] - beliefs[g][2][n, FIRST] - forecast[0]
                log_weight[g] = math.log(weight[n, g]) - min(RATE * error**2 / noise, LARGEST)
            normalise(log_weight, weight[n])
        share = SHARE / (updates[n] + 1.0)
        lost[r] = weight[n, 0] < LOST * share * prior[0]
        for g in range(prior.size):
            weight[n, g] = (1.0 - share) * weight[n, g] + share * prior[g]
    return lost
