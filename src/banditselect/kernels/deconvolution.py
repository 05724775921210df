"""How Gaussian components explain fits of parameters whose precision is known."""

import numpy as np

from ..types import Array
from . import kernel


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
    half, lower, apart = np.empty((d, d)), np.empty((d, d)), np.empty(d)
    for r in range(n):
        root = roots[r]
        for k in range(means.shape[0]):
            covariance, precision = covariances[k], precisions[r, k]
            for i in range(d):
                apart[i] = estimates[r, i] - means[k, i]
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
            for i in range(d):  # half = lower^-1 root
                for j in range(d):
                    half[i, j] = root[i, j]
                for m in range(i):
                    for j in range(d):
                        half[i, j] -= lower[i, m] * half[m, j]
                for j in range(d):
                    half[i, j] /= lower[i, i]
            for i in range(d):
                for j in range(d):
                    precision[i, j] = 0.0
            for m in range(d):
                for i in range(d):
                    for j in range(d):
                        precision[i, j] += half[m, i] * half[m, j]
            square = 0.0
            for i in range(d):
                total = 0.0
                for j in range(d):
                    total += precision[i, j] * apart[j]
                scores[r, k, i] = total
                square += total * apart[i]
            log_densities[r, k] = log_norms[r] - logdet - 0.5 * square
