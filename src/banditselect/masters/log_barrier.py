"""Mirror descent under the log barrier: the weights of CORRAL, and what a master learns by them."""

import math
from operator import attrgetter
from typing import Any

import numpy as np

from ..kernels import kernel
from ..models.reward_range import RewardRange
from ..runtime.arguments import argument
from ..runtime.constraints import Number, YesNo
from ..runtime.lanes import LaneArrays
from ..types import Array, Index
from .master import MasterModel, shape_of

HORIZON = argument(Number(low=2, integer=True, optional=True), default=None)
PROPENSITIES = argument(YesNo(), default=False)


class BarrierModel(MasterModel):
    """Draws bases by weights that follow their losses.

    Parameters
    ----------
    replays: how many earlier states of each base may play in its place; only their rounds are judged then.
    weigh: whether a base learns rewards whose distance from the upper end of the range is divided by its share.
    """

    state = ("plays",)
    nonnegative = ("plays",)
    weights = property(attrgetter("barrier.weights"))

    def __init__(self, master: Any, lanes: int, *, replays: int = 0, weigh: bool = False) -> None:
        super().__init__(shape_of(master))
        M = len(master.bases)
        self.replays, self.weigh = replays, weigh
        self.barrier = LogBarrier(lanes, M, master.learning_rate, master.horizon)
        self.range = RewardRange(master.reward_range, lanes, "losses are clipped to it")
        self.plays = np.zeros((lanes, M), dtype=np.int64)

    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each player to play next, ``(n, M (1 + R))``, and that lanes have a choice."""
        return barrier_shares(ids, self.barrier.weights, self.barrier.horizon, self.replays), True

    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Move the weights by the losses of the bases drawn; other data have no losses, as no base was drawn."""
        if base is None or share is None:
            return y
        self.warnings += self.range.watch(ids, y)
        ends = (self.range.lower, self.range.upper)
        options = (self.replays, self.weigh, self.barrier.rate, self.barrier.doubling)
        return update(ids, base, share, y, ends, self.plays, self.barrier.arrays(), options)


class LogBarrier(LaneArrays):
    r"""Mirror descent under the log barrier, with a rate per alternative that grows as its weight falls.

    Parameters
    ----------
    alternatives: their number M.  rate: c; rates begin at :math:`c \sqrt{M / T}`.
    horizon: T; None to begin with 32 M and to begin anew with twice as much whenever it is over.
    """

    state = ("weights", "rates", "thresholds", "horizon", "seen")
    nonnegative = ("weights", "rates", "thresholds", "horizon", "seen")

    def __init__(self, lanes: int, alternatives: int, rate: float, horizon: int | None) -> None:
        self.rate, self.doubling = float(rate), horizon is None
        T = 32.0 * alternatives if horizon is None else float(horizon)
        self.weights = np.full((lanes, alternatives), 1.0 / alternatives)
        self.rates = np.full((lanes, alternatives), rate * np.sqrt(alternatives / T))
        self.thresholds = np.full((lanes, alternatives), 2.0 * alternatives)
        self.horizon = np.full(lanes, T)
        self.seen = np.zeros(lanes, dtype=np.int64)

    def arrays(self) -> tuple[Array, Array, Array, Array, Index]:
        """Return the arrays that kernels read, ``barrier``."""
        return self.weights, self.rates, self.thresholds, self.horizon, self.seen


@kernel
def barrier_shares(ids: Index, weights: Array, horizon: Array, replays: int) -> Array:
    """Return the probability of each base to play, mixed with the uniform one at 1 / T, ``(n, M (1 + replays))``.

    With ``replays`` a base plays itself in half of its rounds, else as one of its replays, which follow M by M.
    """
    M = weights.shape[1]
    out = np.empty((ids.size, M * (1 + replays)))
    for r in range(ids.size):
        n = ids[r]
        for j in range(M):
            p = weights[n, j] + (1.0 / M - weights[n, j]) / horizon[n]
            out[r, j] = 0.5 * p if replays else p
            for k in range(replays):
                out[r, (k + 1) * M + j] = 0.5 * p / replays
    return out


@kernel
def update(
    ids: Index, base: Index, share: Array, y: Array, expected: Any, plays: Index, barrier: Any, options: Any
) -> Array:
    """Update the weights of the bases drawn, ``(n,)``, with these probabilities by their rewards.

    Return what the bases learn, ``(n,)``; if ``weigh``, with the distance from ``upper`` divided by the probability.

    Losses are ``(upper - y) / (upper - lower)``, clipped to [0, 1], for ``expected = (lower, upper)``. ``barrier``:
    ``LogBarrier.arrays``. ``options = (replays, weigh, rate, doubling)``: with ``replays`` only these are judged, each
    drawn with its probability over ``2 replays``; bases count what they play themselves in ``plays``.
    """
    lower, upper = expected
    weights, rates, thresholds, horizon, seen = barrier
    replays, weigh, rate, doubling = options
    M, learned = weights.shape[1], np.empty(ids.size)
    for r in range(ids.size):
        n = ids[r]
        learned[r] = y[r] + (upper - y[r]) * (1.0 - 1.0 / share[r]) if weigh else y[r]
        if base[r] < M:
            plays[n, base[r]] += 1
            if replays:
                continue
        loss = max(min((upper - y[r]) / (upper - lower), 1.0), 0.0)
        barrier_step(weights[n], rates[n], base[r] % M, loss / (2.0 * replays * share[r] if replays else share[r]))
        T = horizon[n]
        for j in range(M):
            p = weights[n, j] + (1.0 / M - weights[n, j]) / T
            if 1.0 / p > thresholds[n, j]:
                thresholds[n, j] = 2.0 / p
                rates[n, j] *= math.exp(1.0 / math.log(T))
        seen[n] += 1
        if doubling and seen[n] >= T:
            seen[n] = 0
            horizon[n] = 2.0 * T
            for j in range(M):
                weights[n, j] = 1.0 / M
                rates[n, j] = rate * math.sqrt(M / horizon[n])
                thresholds[n, j] = 2.0 * M
    return learned


@kernel
def barrier_step(w: Array, eta: Array, i: int, loss: float) -> None:
    """Move ``w (M,)`` one step of mirror descent under the log barrier; only ``i`` has a loss, which is >= 0.

    ``1 / w_j' = 1 / w_j + eta_j (loss_j - x)``, with the x for which they sum to one: by Newton's method, kept between
    0, where the sum is at most one, and the loss or the first pole, where it is at least one. The others never fall.
    """
    low, high = 0.0, loss
    inverse = np.empty(w.size)
    for j in range(w.size):
        inverse[j] = 1.0 / w[j] + (eta[j] * loss if j == i else 0.0)
        high = min(high, inverse[j] / eta[j])
    x = 0.5 * (low + high)
    for _ in range(100):
        total, slope = 0.0, 0.0
        for j in range(w.size):
            moved = 1.0 / (inverse[j] - eta[j] * x)
            total += moved
            slope += eta[j] * moved * moved
        if abs(total - 1.0) <= 1e-14 or not low < x < high:
            break
        if total > 1.0:
            high = x
        else:
            low = x
        x -= (total - 1.0) / slope
        if not low < x < high:
            x = 0.5 * (low + high)
    total = 0.0
    for j in range(w.size):
        w[j] = 1.0 / (inverse[j] - eta[j] * x)
        total += w[j]
    for j in range(w.size):
        w[j] /= total
