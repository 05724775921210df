"""Weights of models from their losses.

The rows of ``evidence (N, 3, M)`` are those of ``kernels.ridge``: logdet, J, online loss.
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel

_PER_LOG_2 = 1.4426950408889634  # 1 / log(2)
_LOG_2_HIGH = 0.693147180369123816490  # log(2) to 32 bits, so that its multiples by small integers are exact
_LOG_2_LOW = 1.90821492927058770002e-10  # the rest


@kernel
def exponential_weights(ids: Index, loss: Array, rate: Array, alive: Mask) -> Array:
    """Return weights in proportion to ``exp(-rate[r] loss[n, i])``, 0 for models not alive in row ``r``, ``(n, M)``."""
    M = loss.shape[1]
    out, log_weight = np.empty((ids.size, M)), np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        for i in range(M):
            log_weight[i] = -rate[r] * loss[n, i] if alive[r, i] else -np.inf
        normalise(log_weight, out[r])
    return out


@kernel
def posterior(ids: Index, evidence: Array, log_prior: Array, variance: Array, online: bool) -> tuple[Array, Array]:
    """Return weights of the models ``(n, M)`` and ``B = -2 R^2 log sum_i pi_i exp(-L_i / (2 R^2))``, ``(n,)``.

    ``L_i`` is the online loss, or the Gaussian evidence ``J_i + R^2 logdet(V_i Lambda_i^-1)``.
    """
    n, M = ids.size, evidence.shape[2]
    weight, mixture, log_weight = np.empty((n, M)), np.empty(n), np.empty(M)
    for r in range(n):
        lane, square = ids[r], variance[ids[r]]
        for i in range(M):
            loss = evidence[lane, 2, i] if online else evidence[lane, 1, i] + square * evidence[lane, 0, i]
            log_weight[i] = log_prior[lane, i] - loss / (2.0 * square)
        mixture[r] = -2.0 * square * normalise(log_weight, weight[r])
    return weight, mixture


@inlined
def normalise(log_weight: Array, out: Array) -> float:
    """Write ``out = exp(log_weight) / sum``; return the log of the sum. An entry of -inf has weight 0."""
    top = largest(log_weight)
    total = exponentials(log_weight, top, out)
    for i in range(log_weight.size):
        out[i] /= total
    return top + math.log(total)


@inlined
def largest(values: Array) -> float:
    """Return the largest entry, -inf without entries; four at a time, so that no step waits for the one before."""
    a = b = c = e = -np.inf
    fours = values.size - values.size % 4
    for i in range(0, fours, 4):
        a = max(a, values[i])
        b = max(b, values[i + 1])
        c = max(c, values[i + 2])
        e = max(e, values[i + 3])
    for i in range(fours, values.size):
        a = max(a, values[i])
    return max(max(a, b), max(c, e))


@kernel
def exponentials(values: Array, top: float, out: Array) -> float:
    """Write ``out = exp(values - top)`` for ``values <= top``; return the sum. Below ``exp(-708)`` it is 0.

    In steps that become vector instructions: ``exp(z) = 2^k exp(f)`` with an integer ``k`` and ``|f|`` at most
    ``log(2) / 2``, by Taylor's series to ``f^13 / 13!``; then ``k`` is added to the exponent of the result.
    """
    power = np.empty(values.size, dtype=np.int64)
    for i in range(values.size):
        z = values[i] - top
        z = z if z > -708.0 else -708.0
        k = np.floor(z * _PER_LOG_2 + 0.5)
        f = (z - k * _LOG_2_HIGH) - k * _LOG_2_LOW
        series = 1.0 / 479001600.0 + f * (1.0 / 6227020800.0)
        series = 1.0 / 3628800.0 + f * (1.0 / 39916800.0 + f * series)
        series = 1.0 / 40320.0 + f * (1.0 / 362880.0 + f * series)
        series = 1.0 / 720.0 + f * (1.0 / 5040.0 + f * series)
        series = 1.0 / 24.0 + f * (1.0 / 120.0 + f * series)
        series = 0.5 + f * (1.0 / 6.0 + f * series)
        out[i] = 1.0 + (f + f * f * series)
        power[i] = np.int64(np.int32(k)) << 52
    bits = out.view(np.int64)
    for i in range(values.size):
        bits[i] += power[i]
    total = 0.0
    for i in range(values.size):
        out[i] = out[i] if values[i] - top > -708.0 else 0.0
        total += out[i]
    return total
