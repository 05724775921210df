"""How Gaussian components explain fits of parameters whose precision is known."""

import numpy as np

from ..kernels import kernel
from ..kernels.ridge import cholesky
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
    ``(V + S)^-1`` is ``R (I + R V R)^-1 R = H' H`` with ``H = L^-1 R`` and ``L L' = I + R V R``. Out: ``log_densities
    (n, M)``, ``scores (n, M, d)``, the precisions times the distances of the estimates from the means, and
    ``precisions (n, M, d, d)``.
    """
    n, d = estimates.shape
    half, inner, lower = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    for r in range(n):
        root = roots[r]
        for k in range(means.shape[0]):
            half[:] = inner[:] = 0.0
            for i in range(d):
                for m in range(d):
                    for j in range(d):
                        half[i, j] += covariances[k, i, m] * root[m, j]
            for i in range(d):
                for m in range(d):
                    for j in range(i + 1):
                        inner[i, j] += root[i, m] * half[m, j]
            log_density = log_norms[r] - 0.5 * cholesky(inner, 1.0, 1.0, lower)
            for i in range(d):
                for j in range(d):
                    half[i, j] = root[i, j]
                for m in range(i):
                    for j in range(d):
                        half[i, j] -= lower[i, m] * half[m, j]
                for j in range(d):
                    half[i, j] /= lower[i, i]
            precision, score = precisions[r, k], scores[r, k]
            precision[:] = 0.0
            score[:] = 0.0
            for m in range(d):
                whitened = 0.0
                for i in range(d):
                    whitened += half[m, i] * (estimates[r, i] - means[k, i])
                log_density -= 0.5 * whitened * whitened
                for i in range(d):
                    score[i] += half[m, i] * whitened
                    for j in range(d):
                        precision[i, j] += half[m, i] * half[m, j]
            log_densities[r, k] = log_density
