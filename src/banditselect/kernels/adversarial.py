"""What masters repeat that trust no model: mirror descent under the log barrier, exponential weights, a reservoir."""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import kernel
from .acting import uniform


@kernel
def barrier_step(w: Array, eta: Array, i: int, loss: float) -> None:
    """Move ``w (M,)`` one step of mirror descent under the log barrier; only ``i`` has a loss, which is >= 0.

    ``1 / w_j' = 1 / w_j + eta_j (loss_j - x)``, with the x for which they sum to one: by bisection between 0, where the
    sum is at most one, and the loss or the first pole, where it is at least one. The others never fall.
    """
    low, high = 0.0, loss
    for j in range(w.size):
        high = min(high, 1.0 / (eta[j] * w[j]) + (loss if j == i else 0.0))
    for _ in range(100):
        x = 0.5 * (low + high)
        if not low < x < high:
            break
        total = 0.0
        for j in range(w.size):
            total += 1.0 / (1.0 / w[j] + eta[j] * ((loss if j == i else 0.0) - x))
        if total > 1.0:
            high = x
        else:
            low = x
    total = 0.0
    for j in range(w.size):
        w[j] = 1.0 / (1.0 / w[j] + eta[j] * ((loss if j == i else 0.0) - low))
        total += w[j]
    for j in range(w.size):
        w[j] /= total


@kernel
def corral(
    ids: Index,
    base: Index,
    share: Array,
    loss: Array,
    weights: Array,
    rates: Array,
    thresholds: Array,
    horizon: Array,
    seen: Index,
    rate: float,
    doubling: bool,
) -> None:
    """Learn the losses ``(n,)`` in [0, 1] of the bases ``(n,)`` that played with the probabilities ``share (n,)``.

    Every state array is ``(N, M)`` but the horizons and the rounds seen since the last beginning, ``(N,)``. If
    ``doubling``, a lane that has seen its horizon begins anew with twice as long a one.
    """
    M = weights.shape[1]
    for r in range(ids.size):
        n = ids[r]
        barrier_step(weights[n], rates[n], base[r], loss[r] / share[r])
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
