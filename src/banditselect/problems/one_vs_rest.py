"""One-vs-rest ridge regression: a linear model of each class's indicator, whose predictions can serve as mean rewards.

Written without BLAS, whose number of threads would change the last bits of a problem's parameters.
"""

import numpy as np
from numpy.typing import NDArray

from ..types import Array, Index


def fit_classes(
    table: NDArray[np.generic], labels: Index, *, share: float | None, regularization: float, classes: Index
) -> Array:
    r"""Fit one linear model without intercept for each of these classes by ridge least squares of its indicator.

    .. math:: \theta_s = \arg\min_\theta \sum_j w_j (1[s_j = s] - \langle \phi_j, \theta \rangle)^2
              + \lambda \frac{\operatorname{tr} G_s}{d} |\theta|^2, \quad G_s = \sum_j w_j \phi_j \phi_j'

    Parameters
    ----------
    table, labels: features ``(items, d)`` and classes ``(items,)``.
    share: the sum of the weights of the items of class s, those of the others adding up to 1 - share; None: all items
        weigh the same.
    regularization: lambda.
    classes: the classes to fit.

    Returns
    -------
    ``(len(classes), d)``.
    """
    counts = np.bincount(labels)
    moments = {}
    total = np.zeros((table.shape[1], table.shape[1]))
    for s in range(counts.size):
        x = table[labels == s].astype(float)
        gram = np.einsum("ia,ib->ab", x, x)
        total += gram
        if s in classes:
            moments[s] = gram, x.sum(axis=0)
    theta = np.empty((classes.size, table.shape[1]))
    for row, s in enumerate(classes.tolist()):
        rest = labels.size - counts[s]
        own, other = (1.0 / labels.size,) * 2 if share is None else (share / counts[s], (1.0 - share) / max(rest, 1))
        gram, sums = moments[s]
        G = own * gram + other * (total - gram)
        G[np.diag_indices_from(G)] += regularization * np.trace(G) / table.shape[1]
        theta[row] = solve(G, own * sums)
    return theta


def solve(matrix: Array, right: Array) -> Array:
    """Return ``matrix^-1 right`` for a positive definite matrix, by elimination; 0 for a matrix of zeros."""
    d = right.size
    rows = np.column_stack([matrix, right])
    x = np.zeros(d)
    for j in range(d):
        if rows[j, j] > 0.0:
            rows[j + 1 :, j:] -= (rows[j + 1 :, j] / rows[j, j])[:, None] * rows[j, j:]
    for j in range(d - 1, -1, -1):
        if rows[j, j] > 0.0:
            x[j] = (rows[j, d] - (rows[j, j + 1 : d] * x[j + 1 :]).sum()) / rows[j, j]
    return x
