"""What masters repeat that trust no model: mirror descent under the log barrier, exponential weights, a reservoir."""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import kernel
from .acting import uniform
from .arrays import UNIT


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


@kernel
def corral(
    ids: Index,
    own: Index,
    y: Array,
    lower: float,
    upper: float,
    replays: int,
    weigh: bool,
    plays: Index,
    weights: Array,
    rates: Array,
    thresholds: Array,
    horizon: Array,
    seen: Index,
    rate: float,
    doubling: bool,
    learned: Array,
) -> None:
    """Learn the rewards ``y (n,)`` of who played with which probability, ``own (n, 2)``, as a memo carries them.

    Losses are :math:`(upper - y) / (upper - lower)`, clipped to [0, 1]. Every state array is ``(N, M)`` but the
    horizons and the rounds seen since the last beginning, ``(N,)``. If ``doubling``, a lane that has seen its horizon
    begins anew with twice as long a one. With ``replays`` only these are judged, each drawn with its probability over
    ``2 replays``; bases count what they play themselves in ``plays``. ``learned (n,)``: what the bases learn; if
    ``weigh``, with the distance from ``upper`` divided by the probability.
    """
    M = weights.shape[1]
    for r in range(ids.size):
        n, player = ids[r], own[r, 0]
        share = own[r, 1] / UNIT
        learned[r] = y[r] + (upper - y[r]) * (1.0 - 1.0 / share) if weigh else y[r]
        if player < M:
            plays[n, player] += 1
            if replays:
                continue
        loss = max(min((upper - y[r]) / (upper - lower), 1.0), 0.0)
        barrier_step(weights[n], rates[n], player % M, loss / (2.0 * replays * share if replays else share))
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


@kernel
def corral_shares(ids: Index, weights: Array, horizon: Array, replays: int, out: Array) -> None:
    """``out[r]``: the probability of each base to play, mixed with the uniform one at 1 / T; ``(n, M)`` or wider.

    With ``replays`` a base plays itself in half of its rounds, else as one of its replays, which follow M by M.
    """
    M = weights.shape[1]
    for r in range(ids.size):
        n = ids[r]
        for j in range(M):
            p = weights[n, j] + (1.0 / M - weights[n, j]) / horizon[n]
            out[r, j] = 0.5 * p if replays else p
            for k in range(replays):
                out[r, (k + 1) * M + j] = 0.5 * p / replays


@kernel
def replaced(ids: Index, keys: Index, counts: Array, first: int, out: Mask) -> None:
    """``out[r, k]``: whether slot k of a reservoir takes the newest of ``counts[r]`` things, by one chance in so many.

    Slot k then holds each of them with the same probability. The numbers of slot k are those of draw ``first + k``.
    """
    for r in range(ids.size):
        for k in range(out.shape[1]):
            out[r, k] = uniform(int(keys[ids[r]]), int(counts[r]), first + k) * counts[r] < 1.0


@kernel
def exponential_weights(ids: Index, cls: Index, losses: Array, eta: Array, offered: Mask, out: Array) -> None:
    """``out[r, a]`` in proportion to ``exp(-eta_r losses[n, cls_r, a])``, over what is offered."""
    everything = offered.size < 2
    for r in range(ids.size):
        row = losses[ids[r], cls[r]]
        best = np.inf
        for a in range(row.size):
            if everything or offered[r, a]:
                best = min(best, row[a])
        total = 0.0
        for a in range(row.size):
            out[r, a] = math.exp(eta[r] * (best - row[a])) if everything or offered[r, a] else 0.0
            total += out[r, a]
        for a in range(row.size):
            out[r, a] /= total
