"""Forgetting: what a bank of regressions has learned fades, and the prior stays."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..carriers.lanes import LaneArrays
from ..carriers.validation import Number
from ..kernels import forgetting
from ..types import Array, Index, Mask
from .experts import RidgeBank, SharedRidgeBank
from .exploration import Rates, Schedule, Scheduled

MEMORY = Number(low=1.0, above=True, optional=True)
"""What the argument ``memory`` of a policy must satisfy."""


class Forgetting(LaneArrays):
    r"""Lets a reward that is k rounds old count :math:`\gamma^k`, with :math:`\gamma = 1 - 1 / m` for a ``memory`` m.

    V, the estimate and J are then those of the rewards so weighted, and of the prior, whose precision lies between
    :math:`\gamma^{d - 1} \Lambda` and :math:`\Lambda`: in every round it is given back in one direction of d, as far as
    it has faded there. Evidence fades with them, so that no model is ever out for good: what a model has lost, it has
    lost by the rewards of about m rounds. Blocks of parameters fade all in every round, each as if alone, whichever of
    them was played.

    Parameters
    ----------
    bank: the regressions, which have learned nothing yet.
    memory: m, a number of rounds above 1.

    Attributes
    ----------
    seen: the sum of the weights of all rewards learned, ``(N,)``; at most m.
    factor: ``(N, G, d, d)``, of the prior precisions.  center: ``(N, M, d)``.
    """

    state = ("seen",)
    natural = ("seen",)
    fixed = ("factor", "center")
    factor: Array

    def __init__(self, bank: RidgeBank | SharedRidgeBank, memory: float) -> None:
        self.gamma = 1.0 - 1.0 / float(memory)
        d = bank.root.shape[2]
        root = bank.root[..., :d]
        known = ~root.any(axis=(2, 3))
        self.factor = np.zeros(root.shape)
        self.factor[~known] = np.swapaxes(np.linalg.inv(root[~known]), 1, 2)
        self.center = bank.theta.copy()
        self.seen = np.zeros(len(root))
        self._dims = bank.dims[bank.owner] if isinstance(bank, RidgeBank) else bank.dims

    def fade(self, ids: Index, bank: RidgeBank | SharedRidgeBank) -> None:
        """Let a round pass in these lanes."""
        root, dims, n = bank.root, self._dims, ids.size
        u, gain, q = np.empty((n, *root.shape[1:3])), np.empty((n, *root.shape[1:3])), np.empty((n, root.shape[1]))
        forgetting.fade_roots(ids, self.gamma, self.factor, root, bank.updates, dims, u, gain, q)
        if isinstance(bank, RidgeBank):
            model = bank.evidence, bank.owner, dims
            forgetting.fade_ridges(ids, self.gamma, self.center, bank.theta, *model, u, gain, q)
        else:
            forgetting.fade_tiles(ids, self.gamma, self.center, bank.tiles, bank.group, bank.evidence, u, gain, q)
        self.seen[ids] *= self.gamma

    def learn(self, ids: Index, bank: RidgeBank, x: Any, y: Array) -> Array:
        """Let a round pass in these lanes and learn ``x (n, P, d)``, ``y (n,)``; return what the bank tells of it."""
        self.fade(ids, bank)
        self.seen[ids] += 1.0
        return bank.learn(ids, x, y)

    def prior_left(self, t: int) -> Array:
        """Return how much of the prior there is in each direction after t rounds, ``(d,)``."""
        j = np.arange(self.factor.shape[2])
        return np.asarray(self.gamma ** np.where(j < t, (t - 1 - j) % j.size, t))

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal one; it may have another number of distinct precisions."""
        G = max(self.factor.shape[1], other.factor.shape[1])
        for part in (self, other):
            part.factor = np.pad(part.factor, ((0, 0), (0, G - part.factor.shape[1]), (0, 0), (0, 0)), mode="edge")
        super().extend(other)


class ScheduledFading(Scheduled):
    """The rate ``schedule(t) / span`` where t is the sum of the weights of rewards that fade: at most their memory."""

    def __init__(self, exploration: float | Schedule, span: float, forgetting: Forgetting) -> None:
        super().__init__(exploration, span)
        self._forgetting = forgetting

    def __call__(self, ids: Index, updates: NDArray[Any], n_actions: int, offered: Mask | None) -> Rates:
        """Return the rates of these lanes."""
        return super().__call__(ids, self._forgetting.seen, n_actions, offered)
