"""Weights of models from their losses, predictions aggregated from them, radii of confidence sets, alarms.

The columns of ``evidence (N, M, 3)`` are those of ``kernels.ridge``: logdet, J, online loss.
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@kernel
def _normalise(log_weight: Array, out: Array) -> float:
    """``out = exp(log_weight) / sum``; returns the log of the sum. An entry of -inf has weight 0."""
    top = -np.inf
    for i in range(log_weight.size):
        top = max(top, log_weight[i])
    total = 0.0
    for i in range(log_weight.size):
        out[i] = math.exp(log_weight[i] - top)
        total += out[i]
    for i in range(log_weight.size):
        out[i] /= total
    return top + math.log(total)


@kernel
def exponential_weights(ids: Index, loss: Array, rate: Array, alive: Mask, out: Array) -> None:
    """``out[r, i]`` proportional to ``exp(-rate[r] loss[n, i])`` over the models alive in row ``r``, 0 elsewhere."""
    M = loss.shape[1]
    log_weight = np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        for i in range(M):
            log_weight[i] = -rate[r] * loss[n, i] if alive[r, i] else -np.inf
        _normalise(log_weight, out[r])


@kernel
def substitute(f: Array, weight: Array, lower: Array, length: Array, out: Array) -> None:
    """Vovk's substitution on ``[lower, lower + length]``: ``f (n, M, K)``, weights ``(n, M)`` -> ``(n, K)``.

    With h the predictions scaled to [0, 1] and clipped, ``Delta(y) = -1/2 log sum_i w_i exp(-2 (y - h_i)^2)`` and
    ``1/2 + (Delta(0) - Delta(1)) / 2`` satisfies both conditions of the paper's Alg. 3 (bounds, Theorem 1).
    """
    for r in range(f.shape[0]):
        for a in range(f.shape[2]):
            at_0 = 0.0
            at_1 = 0.0
            for i in range(f.shape[1]):
                if weight[r, i] > 0.0:
                    h = min(max((f[r, i, a] - lower[r]) / length[r], 0.0), 1.0)
                    at_0 += weight[r, i] * math.exp(-2.0 * h * h)
                    at_1 += weight[r, i] * math.exp(-2.0 * (1.0 - h) * (1.0 - h))
            delta_0 = max(-0.5 * math.log(at_0), 0.0)
            delta_1 = max(-0.5 * math.log(at_1), 0.0)
            out[r, a] = lower[r] + length[r] * (0.5 + 0.5 * (delta_0 - delta_1))


@kernel
def posterior(
    ids: Index, evidence: Array, log_prior: Array, variance: Array, online: bool, weight: Array, mixture: Array
) -> None:
    """Posterior weights of the models and the mixture loss ``B = -2 R^2 log sum_i pi_i exp(-L_i / (2 R^2))``.

    ``L_i`` is the online loss, or the Gaussian evidence ``J_i + R^2 logdet(V_i Lambda_i^-1)``; see ``kernels.ridge``
    for the columns of ``evidence (N, M, 3)``.
    """
    M = evidence.shape[1]
    log_weight = np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        for i in range(M):
            loss = evidence[n, i, 2] if online else evidence[n, i, 1] + variance[n] * evidence[n, i, 0]
            log_weight[i] = log_prior[n, i] - loss / (2.0 * variance[n])
        mixture[r] = -2.0 * variance[n] * _normalise(log_weight, weight[r])


@kernel
def squared_radii(
    ids: Index,
    evidence: Array,
    log_prior: Array,
    variance: Array,
    penalty: Array,
    updates: Index,
    drift: float,
    log_term: float,
    online: bool,
    out: Array,
) -> None:
    """``out[n, i] = rho_i^2 = B + 2 R^2 log(1 / delta) + drift t + penalty_i - J_i``; ``log_term = log(1 / delta)``."""
    M = evidence.shape[1]
    weight = np.empty((1, M))
    mixture = np.empty(1)
    for r in range(ids.size):
        n = ids[r]
        posterior(ids[r : r + 1], evidence, log_prior, variance, online, weight, mixture)
        level = mixture[0] + 2.0 * variance[n] * log_term + drift * updates[n]
        for i in range(M):
            out[n, i] = level + penalty[n, i] - evidence[n, i, 1]


@kernel
def screen(
    ids: Index,
    evidence: Array,
    penalty: Array,
    variance: Array,
    noise: Array,
    updates: Index,
    challenger: Array,
    drift: float,
    level: float,
    verdict: Array,
) -> bool:
    """First look of the alarms: 2 where the challenger test fires, 1 where the variance test may fire, else 0.

    ``verdict (n, 2)`` holds that and ``X = max(0, min_i (J_i - penalty_i)) / R^2``. The variance test can only fire
    where the largest value of its integrand, ``(t / X)^(t / 2) e^((X - t) / 2)``, reaches the level. Returns whether
    any verdict is not 0.
    """
    some = False
    for r in range(ids.size):
        n = ids[r]
        least = np.inf
        for i in range(evidence.shape[1]):
            least = min(least, evidence[n, i, 1] - penalty[n, i])
        t = float(updates[n])
        X = max(least, 0.0) / (noise[n] * noise[n])
        verdict[r, 0] = 0.0
        verdict[r, 1] = X
        if least > challenger[r] + 2.0 * variance[n] * level + drift * t:
            verdict[r, 0] = 2.0
        elif t < X and 0.5 * (t * math.log(t / X) + X - t) >= level:
            verdict[r, 0] = 1.0
        some = some or verdict[r, 0] > 0.0
    return some


@kernel
def self_normalised(
    ids: Index,
    evidence: Array,
    noise: Array,
    prior: Array,
    log_term: float,
    told: Array,
    out: Array,
    spent: Array,
) -> None:
    """``spent[n] += 2 beta sqrt(q)`` with the old beta, then ``beta^2 = out[n, 0]`` for what has been learned since.

    ``beta = R sqrt(logdet + 2 log(1 / delta)) + prior``, ``log_term = log(1 / delta)``, ``q = told[1, r, 0]``.
    """
    for r in range(ids.size):
        n = ids[r]
        spent[n] += 2.0 * math.sqrt(out[n, 0] * told[1, r, 0])
        radius = noise[n] * math.sqrt(evidence[n, 0, 0] + 2.0 * log_term) + prior[n]
        out[n, 0] = radius * radius
