"""Linear algebra on features: the discriminant whose accuracy rates a map, and whitening."""

import numpy as np
from numpy.typing import NDArray

from banditselect.types import Array, Index


def with_one(table: NDArray[np.generic]) -> Array:
    """Append a column of ones."""
    return np.column_stack([np.asarray(table, dtype=float), np.ones(len(table))])


def accuracy(table: NDArray[np.generic], labels: Index, head: Array) -> float:
    """Return the share of items whose class scores highest; ``head`` is ``(C, d + 1)``, intercepts last."""
    return float(np.mean(np.argmax(with_one(table) @ head.T, axis=1) == labels))


def discriminant(table: NDArray[np.generic], labels: Index, regularization: float = 1e-3) -> Array:
    r"""Fit the linear discriminant of Gaussian classes with one covariance and equal shares.

    .. math:: \text{score}_s(x) = \mu_s' \Sigma^{-1} x - \tfrac12 \mu_s' \Sigma^{-1} \mu_s

    Unlike least squares of indicators, it does not mask classes if there are more classes than dimensions.

    Parameters
    ----------
    regularization: added to the diagonal of the covariance, as a fraction of its mean.

    Returns
    -------
    ``(C, d + 1)``, intercepts last.
    """
    x = np.asarray(table, dtype=float)
    means = np.stack([x[labels == s].mean(axis=0) for s in range(int(labels.max()) + 1)])
    rest = x - means[labels]
    S = rest.T @ rest / len(x)
    S[np.diag_indices_from(S)] += regularization * np.trace(S) / len(S)
    weights = np.linalg.solve(S, means.T).T
    return np.column_stack([weights, -0.5 * np.sum(weights * means, axis=1)])


def whitening(table: NDArray[np.generic], regularization: float = 1e-3) -> tuple[Array, Array]:
    """Return the mean, and the symmetric matrix after which the centred features have about unit covariance.

    Parameters
    ----------
    regularization: added to the eigenvalues of the covariance, as a fraction of their mean, so that directions in
        which features hardly vary are not blown up.
    """
    x = np.asarray(table, dtype=float)
    mean = x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False, bias=True))
    return mean, (vectors / np.sqrt(values + regularization * values.mean())) @ vectors.T
