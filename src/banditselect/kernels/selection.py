"""Weights of models from their losses, predictions aggregated from them, radii of confidence sets, alarms.

The rows of ``evidence (N, 3, M)`` are those of ``kernels.ridge``: logdet, J, online loss.
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel

_PER_LOG_2 = 1.4426950408889634  # 1 / log(2)
_LOG_2_HIGH = 0.693147180369123816490  # log(2) to 32 bits, so that its multiples by small whole numbers are exact
_LOG_2_LOW = 1.90821492927058770002e-10  # the rest


@inlined
def _largest(values: Array) -> float:
    """Largest entry, -inf if there is none; four at a time, so that none waits for the one before."""
    a = b = c = e = -np.inf
    whole = values.size - values.size % 4
    for i in range(0, whole, 4):
        a = max(a, values[i])
        b = max(b, values[i + 1])
        c = max(c, values[i + 2])
        e = max(e, values[i + 3])
    for i in range(whole, values.size):
        a = max(a, values[i])
    return max(max(a, b), max(c, e))


@kernel
def exponentials(values: Array, top: float, out: Array) -> float:
    """``out = exp(values - top)`` for ``values <= top``, and its sum; 0 below ``exp(-708)``, about the least normal.

    In steps that become vector instructions: ``exp(z) = 2^k exp(f)`` with a whole number ``k`` and ``|f|`` at most
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


@inlined
def normalise(log_weight: Array, out: Array) -> float:
    """``out = exp(log_weight) / sum``; returns the log of the sum. An entry of -inf has weight 0."""
    top = _largest(log_weight)
    total = exponentials(log_weight, top, out)
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
        normalise(log_weight, out[r])


@kernel
def mix_choices(
    ids: Index,
    bound: Array,
    score: Array,
    total: Array,
    rate: Array,
    share: Array,
    offered: Mask,
    p: Array,
    gain: Array,
) -> None:
    """Probabilities ``p (n, K)`` of M learners' choices by exponential weights, ``share[r]`` of it spread evenly.

    Learner ``i`` plays the actions of highest ``bound[r, i] (K,)``, which ``gain[r, i]`` predicts to earn by the
    ``score (n, K)`` of actions; its weight is proportional to ``exp(rate[r] (total[n, i] + gain[r, i]))``.
    """
    _, M, K = bound.shape
    log_weight, weight = np.empty(M), np.empty(M)
    best, ties = np.empty(M), np.empty(M, dtype=np.int64)
    everything = offered.size < 2
    for r in range(ids.size):
        kappa = 0
        for a in range(K):
            kappa += 1 if everything or offered[r, a] else 0
        for i in range(M):
            best[i] = -np.inf
            for a in range(K):
                if everything or offered[r, a]:
                    best[i] = max(best[i], bound[r, i, a])
            ties[i] = 0
            gain[r, i] = 0.0
            for a in range(K):
                if (everything or offered[r, a]) and bound[r, i, a] == best[i]:
                    ties[i] += 1
                    gain[r, i] += score[r, a]
            gain[r, i] /= ties[i]
            log_weight[i] = rate[r] * (total[ids[r], i] + gain[r, i])
        normalise(log_weight, weight)
        for a in range(K):
            p[r, a] = 0.0
            if everything or offered[r, a]:
                p[r, a] = share[r] / kappa
                for i in range(M):
                    if bound[r, i, a] == best[i]:
                        p[r, a] += (1.0 - share[r]) * weight[i] / ties[i]


@kernel
def share_weights(ids: Index, rate: Array, share: float, loss: Array) -> None:
    """Let every model give a ``share`` of its weight ``exp(-rate[r] loss[n, i])`` to the M - 1 others, equally.

    The losses become those that belong to the new weights; their sum stays.
    """
    M = loss.shape[1]
    each = share / (M - 1)
    log_weight, weight = np.empty(M), np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        for i in range(M):
            log_weight[i] = -rate[r] * loss[n, i]
        total = normalise(log_weight, weight)
        for i in range(M):
            loss[n, i] = -(total + math.log(each + (1.0 - share - each) * weight[i])) / rate[r]


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


@inlined
def _log_weights(evidence: Array, log_prior: Array, variance: float, online: bool, out: Array) -> None:
    """``out[i] = log pi_i - L_i / (2 R^2)`` of one lane.

    ``L_i`` is the online loss, or the Gaussian evidence ``J_i + R^2 logdet(V_i Lambda_i^-1)``.
    """
    if online:
        for i in range(out.size):
            out[i] = log_prior[i] - evidence[2, i] / (2.0 * variance)
    else:
        for i in range(out.size):
            out[i] = log_prior[i] - (evidence[1, i] + variance * evidence[0, i]) / (2.0 * variance)


@kernel
def posterior(
    ids: Index, evidence: Array, log_prior: Array, variance: Array, online: bool, weight: Array, mixture: Array
) -> None:
    """Posterior weights of the models and the mixture loss ``B = -2 R^2 log sum_i pi_i exp(-L_i / (2 R^2))``."""
    log_weight = np.empty(evidence.shape[2])
    for r in range(ids.size):
        n = ids[r]
        _log_weights(evidence[n], log_prior[n], variance[n], online, log_weight)
        mixture[r] = -2.0 * variance[n] * normalise(log_weight, weight[r])


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
    """``out[n, i] = rho_i^2 = B + 2 R^2 log(1 / delta) + drift t + penalty_i - J_i``; ``log_term = log(1 / delta)``.

    ``B`` is the mixture loss that ``posterior`` tells.
    """
    M = evidence.shape[2]
    log_weight, weight = np.empty(M), np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        _log_weights(evidence[n], log_prior[n], variance[n], online, log_weight)
        top = _largest(log_weight)
        mixture = -2.0 * variance[n] * (top + math.log(exponentials(log_weight, top, weight)))
        level = mixture + 2.0 * variance[n] * log_term + drift * updates[n]
        for i in range(M):
            out[n, i] = level + penalty[n, i] - evidence[n, 1, i]


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

    ``verdict (n, 3)`` holds that, ``X = max(0, min_i (J_i - penalty_i)) / R^2``, and the value of the challenger test,
    which fires above the level. The variance test can only fire where the largest value of its integrand,
    ``(t / X)^(t / 2) e^((X - t) / 2)``, reaches the level. Returns whether any verdict is not 0.
    """
    some = False
    slack = np.empty(evidence.shape[2])
    for r in range(ids.size):
        n = ids[r]
        for i in range(slack.size):
            slack[i] = penalty[n, i] - evidence[n, 1, i]
        least = -_largest(slack)
        t = float(updates[n])
        X = max(least, 0.0) / (noise[n] * noise[n])
        verdict[r, 0] = 0.0
        verdict[r, 1] = X
        verdict[r, 2] = (least - challenger[r] - drift * t) / (2.0 * variance[n])
        if least > challenger[r] + 2.0 * variance[n] * level + drift * t:
            verdict[r, 0] = 2.0
        elif t < X and 0.5 * (t * math.log(t / X) + X - t) >= level:
            verdict[r, 0] = 1.0
        some = some or verdict[r, 0] > 0.0
    return some


@inlined
def self_normalised(
    ids: Index,
    evidence: Array,
    constants: Array,
    log_term: float,
    before: Array,
    out: Array,
    spent: Array,
) -> None:
    """``spent[n] += min_i 2 beta_i sqrt(q_i)``, then ``beta_i^2 = out[n, i]`` for what has been learned since.

    ``beta_i = R sqrt(logdet_i + 2 log(1 / delta)) + prior_i`` with R and the priors in ``constants (N, 1 + M)``,
    ``log_term = log(1 / delta)``, ``q_i = before[1, r, i]``.
    """
    for r in range(ids.size):
        n = ids[r]
        least = np.inf
        for i in range(out.shape[1]):
            least = min(least, math.sqrt(out[n, i] * before[1, r, i]))
            radius = constants[n, 0] * math.sqrt(evidence[n, 0, i] + 2.0 * log_term) + constants[n, 1 + i]
            out[n, i] = radius * radius
        spent[n] += 2.0 * least
