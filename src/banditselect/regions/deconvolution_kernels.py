"""How Gaussian components explain fits of parameters whose precision is known."""

import numpy as np

from ..kernels import kernel
from ..types import Array


@kernel
def explain_fits(
    estimates: Array,
    roots: Array,
    log_norms: Array,
    means: Array,
    covariances: Array,
    log_densities: Array,
    scores: Array,
    precisions: Array,
) -> None:
    """Write log densities of fits, scores and precisions: those of ``V + S``, where the fit has the noise S.

    ``estimates (n, d)`` have the precisions ``R R``, ``roots (n, d, d)`` symmetric, which may be singular:
    ``(V + S)^-1`` is ``R (I + R V R)^-1 R``. Out: ``log_densities (n, M)``, ``scores (n, M, d)``, the precisions times
    what the estimates are apart from the means, and ``precisions (n, M, d, d)``.
    """
    n, d = estimates.shape
    half, lower, room = np.empty((d, d)), np.empty((d, d)), np.empty(d)
    for r in range(n):
        for k in range(means.shape[0]):
            density = _explain(estimates[r], roots[r], means[k], covariances[k], half, lower, room, scores[r, k])
            log_densities[r, k] = log_norms[r] + density
            for i in range(d):
                for j in range(d):
                    precisions[r, k, i, j] = 0.0
            for m in range(d):
                for i in range(d):
                    for j in range(d):
                        precisions[r, k, i, j] += half[m, i] * half[m, j]


@kernel
def expect(
    estimates: Array,
    roots: Array,
    log_norms: Array,
    means: Array,
    covariances: Array,
    log_weights: Array,
    counts: Array,
    pulls: Array,
    squares: Array,
) -> float:
    """Add what a step of EM has to know of all fits, and return their log likelihood; the arguments as above.

    With q the probability that a fit belongs to a component, s its score and P its precision: sums of q, ``counts
    (M,)``, of q s, ``pulls (M, d)``, and of q (s s' - P), ``squares (M, d, d)``.
    """
    n, d = estimates.shape
    M = means.shape[0]
    halves, scores, joint = np.empty((M, d, d)), np.empty((M, d)), np.empty(M)
    lower, room = np.empty((d, d)), np.empty(d)
    likelihood = 0.0
    for r in range(n):
        largest = -np.inf
        for k in range(M):
            density = _explain(estimates[r], roots[r], means[k], covariances[k], halves[k], lower, room, scores[k])
            joint[k] = log_weights[k] + log_norms[r] + density
            largest = max(largest, joint[k])
        total = 0.0
        for k in range(M):
            joint[k] = np.exp(joint[k] - largest)
            total += joint[k]
        likelihood += largest + np.log(total)
        for k in range(M):
            q, score, half, square = joint[k] / total, scores[k], halves[k], squares[k]
            counts[k] += q
            for i in range(d):
                pulls[k, i] += q * score[i]
                for j in range(d):
                    square[i, j] += q * score[i] * score[j]
            for m in range(d):
                for i in range(d):
                    weighed = q * half[m, i]
                    for j in range(d):
                        square[i, j] -= weighed * half[m, j]
    return likelihood


@kernel
def _explain(
    estimate: Array,
    root: Array,
    mean: Array,
    covariance: Array,
    half: Array,
    lower: Array,
    room: Array,
    score: Array,
) -> float:
    """Write the score of a fit and ``half``, whose square ``half' half`` is its precision; return the log density.

    Without the norm of the fit. ``half`` is ``L^-1 R`` with ``L L' = I + R V R``.
    """
    d = estimate.shape[0]
    for i in range(d):
        room[i] = estimate[i] - mean[i]
        for j in range(d):
            half[i, j] = 0.0
        for m in range(d):
            for j in range(d):
                half[i, j] += covariance[i, m] * root[m, j]
    for i in range(d):
        for j in range(i + 1):
            lower[i, j] = 1.0 if i == j else 0.0
        for m in range(d):
            for j in range(i + 1):
                lower[i, j] += root[i, m] * half[m, j]
    logdet = 0.0
    for i in range(d):
        for j in range(i):
            total = lower[i, j]
            for m in range(j):
                total -= lower[i, m] * lower[j, m]
            lower[i, j] = total / lower[j, j]
        total = lower[i, i]
        for m in range(i):
            total -= lower[i, m] * lower[i, m]
        lower[i, i] = np.sqrt(total)
        logdet += np.log(lower[i, i])
    for i in range(d):
        for j in range(d):
            half[i, j] = root[i, j]
        for m in range(i):
            for j in range(d):
                half[i, j] -= lower[i, m] * half[m, j]
        for j in range(d):
            half[i, j] /= lower[i, i]
    for i in range(d):
        score[i] = 0.0
    square = 0.0
    for m in range(d):
        whitened = 0.0
        for i in range(d):
            whitened += half[m, i] * room[i]
        square += whitened * whitened
        for i in range(d):
            score[i] += half[m, i] * whitened
    return -logdet - 0.5 * square
