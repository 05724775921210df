"""What masters learn that trust no model: weights under the log barrier, exponential weights."""

from typing import Any

import numpy as np

from ..carriers.lanes import LaneArrays
from ..kernels import adversarial
from ..kernels.acting import mask_of
from ..types import Array, Index, Mask


class LogBarrier(LaneArrays):
    r"""Mirror descent under the log barrier, with a rate per alternative that grows as its weight falls.

    Parameters
    ----------
    alternatives: their number M.
    rate: c; rates begin at :math:`c \sqrt{M / T}`.
    horizon: T; None to begin with 32 M and to begin anew with twice as much whenever it is over.

    Attributes
    ----------
    weights, rates, thresholds: ``(N, M)``.  horizon: T, ``(N,)``.  seen: rounds since the last beginning, ``(N,)``.
    """

    state = ("weights", "rates", "thresholds", "horizon", "seen")
    natural = ("weights", "rates", "thresholds", "horizon", "seen")

    def __init__(self, lanes: int, alternatives: int, rate: float, horizon: int | None) -> None:
        self._rate, self._doubling = float(rate), horizon is None
        T = 32.0 * alternatives if horizon is None else float(horizon)
        self.weights = np.full((lanes, alternatives), 1.0 / alternatives)
        self.rates = np.full((lanes, alternatives), rate * np.sqrt(alternatives / T))
        self.thresholds = np.full((lanes, alternatives), 2.0 * alternatives)
        self.horizon = np.full(lanes, T)
        self.seen = np.zeros(lanes, dtype=np.int64)

    def shares(self, ids: Index, replays: int) -> Array:
        """Return the probability of each to be drawn, ``(n, M)``; with R replays ``(n, M (1 + R))``, as kernels say."""
        out = np.empty((ids.size, self.weights.shape[1] * (1 + replays)))
        adversarial.corral_shares(ids, self.weights, self.horizon, replays, out)
        return out

    def learn(
        self, ids: Index, own: Index, y: Array, span: tuple[float, float], replays: int, weigh: bool, plays: Index
    ) -> Array:
        """Learn the rewards ``(n,)`` of a range of who was drawn, ``own (n, 2)``; return what bases learn of them."""
        learned, (lower, upper) = np.empty(ids.size), span
        state: list[Any] = [self.weights, self.rates, self.thresholds, self.horizon, self.seen]
        state += [self._rate, self._doubling, learned]
        adversarial.corral(ids, own, y, lower, upper, replays, weigh, plays, *state)
        return learned


class ExponentialWeights(LaneArrays):
    r"""Weights in proportion to :math:`e^{-\eta L}` of estimated losses L, apart for each of C classes of rounds.

    Attributes
    ----------
    losses: L, of every alternative, ``(N, C, A)``.  visits: rounds learned of each class, ``(N, C)``.  offers: actions
    that were offered in them, ``(N, C)``.
    """

    state = ("losses", "visits", "offers")
    natural = ("visits", "offers")

    def __init__(self, lanes: int, classes: int, alternatives: int) -> None:
        self.losses = np.zeros((lanes, classes, alternatives))
        self.visits = np.zeros((lanes, classes), dtype=np.int64)
        self.offers = np.zeros((lanes, classes), dtype=np.int64)

    def weights(self, ids: Index, cls: Index, eta: Array, offered: Mask | None) -> Array:
        """Return the weights in the classes ``cls (n,)`` at the rates ``eta (n,)``: ``(n, A)``, 0 where not offered."""
        out = np.empty((ids.size, self.losses.shape[2]))
        adversarial.exponential_weights(ids, cls, self.losses, eta, mask_of(offered), out)
        return out

    def count(self, ids: Index, cls: Index, kappa: Index) -> None:
        """Count a round of each of these classes, in which ``kappa (n,)`` actions were offered."""
        self.visits[ids, cls] += 1
        self.offers[ids, cls] += kappa


def counted(x: Array, offered: Mask | None) -> Index:
    """Return how many actions are offered in every row of features ``(n, P, K, d)``: ``(n,)``."""
    return np.full(x.shape[0], x.shape[2]) if offered is None else offered.sum(axis=1)
