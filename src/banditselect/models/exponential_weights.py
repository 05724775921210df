"""Exponential weights of alternatives by estimated losses, apart for each class of rounds."""

import numpy as np

from ..kernels import weights
from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..types import Array, Index, Mask


class ExponentialWeights(LaneArrays):
    r"""Weights in proportion to :math:`e^{-\eta L}` of estimated losses L, apart for each of C classes of rounds.

    Attributes
    ----------
    losses: L, of every alternative, ``(N, C, A)``.  visits: rounds learned of each class, ``(N, C)``.  offers: actions
    that were offered in them, ``(N, C)``.
    """

    state = ("losses", "visits", "offers")
    nonnegative = ("visits", "offers")

    def __init__(self, lanes: int, classes: int, alternatives: int) -> None:
        self.losses = np.zeros((lanes, classes, alternatives))
        self.visits = np.zeros((lanes, classes), dtype=np.int64)
        self.offers = np.zeros((lanes, classes), dtype=np.int64)

    def weights(self, ids: Index, cls: Index, eta: Array, offered: Mask | None) -> Array:
        """Return the weights in the classes ``cls (n,)`` at the rates ``eta (n,)``: ``(n, A)``, 0 where not offered."""
        _, C, A = self.losses.shape
        mask = np.ones((ids.size, A), dtype=bool) if offered is None else offered
        return weights.exponential_weights(ids * C + cls, self.losses.reshape(-1, A), eta, mask)

    def count(self, ids: Index, cls: Index, kappa: Index) -> None:
        """Count a round of each of these classes, in which ``kappa (n,)`` actions were offered."""
        self.visits[ids, cls] += 1
        self.offers[ids, cls] += kappa


def counted(x: Features, offered: Mask | None) -> Index:
    """Return how many actions are offered in every row of features, ``(n,)``."""
    n, _, K, _ = x.values.shape
    return np.full(n, K) if offered is None else offered.sum(axis=1)
