"""The regions of parameter selection, estimated as in the paper: balls around the linear models of past tasks.

Many small data sets are drawn, a linear model is fitted to each, and a Gaussian mixture to the models; every component
is a ball with a centre, a radius and an error of the centre.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from banditselect.experiments.packs import Balls
from banditselect.runtime.quantiles import chi_square_quantile
from banditselect.types import Array, Index

REGULARIZATION = 1e-3  #: of every fit, as a fraction of the mean eigenvalue of the second moments
COVERAGE = 0.95  #: of the errors of centres


def calibrated(parameters: Array, high: float = 0.9, low: float = 0.1) -> Array:
    """Return the linear models of the rewards ``high`` and ``low`` from those of 1 and 0; the last feature is 1."""
    scaled = (high - low) * parameters
    scaled[..., -1] += low
    return scaled


def fit_data_sets(
    features: NDArray[np.generic], labels: Index, *, models: int, sets: int, size: int, rng: np.random.Generator
) -> tuple[Array, Index]:
    r"""Draw data sets, and fit to each the indicator of one class by ridge least squares.

    Each data set draws a class s below ``models`` and ``size`` different images of any class (they are not
    balanced), and fits :math:`\theta = (X'X + \lambda n I)^{-1} X'y` with y = 1 for images of class s, else 0.

    Returns
    -------
    The parameters ``(sets, d)`` and the classes ``(sets,)``.
    """
    x = np.asarray(features, dtype=float)
    d = x.shape[1]
    chosen = rng.integers(models, size=sets)
    theta = np.empty((sets, d))
    for j, s in enumerate(chosen):
        own = rng.choice(len(x), size, replace=False)
        G = x[own].T @ x[own]
        G[np.diag_indices(d)] += REGULARIZATION * np.trace(G) / d
        theta[j] = np.linalg.solve(G, x[own].T @ (labels[own] == s))
    return theta, chosen


def fit_balls(parameters: Array, classes: Index, *, models: int, seed: int, shared: float = 0.0) -> Balls:
    r"""Fit a Gaussian mixture of spherical components to the parameters of data sets; each component is a ball.

    With n_i data sets in component i and its variance :math:`v_i` in each of d directions, the radius is the RMS
    distance :math:`b_i = \sqrt{d v_i}` to the centre, and the error of the centre is

    .. math:: c_i = \sqrt{q v_i (1 / n_i + \text{shared})}

    where q is the 95 % quantile of the chi-square distribution with d degrees of freedom. Components are spherical
    because regions are balls, and few data sets do not determine d (d + 1) / 2 covariances.

    Parameters
    ----------
    parameters, classes: ``(sets, d)`` and ``(sets,)``.
    shared: the part of a data set's variance that an average over data sets does not lose because all are drawn from
        the same images: size / (number of these images), and likewise for the images on which the balls are used.
    """
    mixture = GaussianMixture(models, covariance_type="spherical", n_init=20, random_state=seed)
    found = mixture.fit_predict(parameters)
    counts = np.zeros((models, models), dtype=np.int64)
    np.add.at(counts, (classes, found), 1)
    order, components = _matched(counts)
    d, share = parameters.shape[1], mixture.weights_[order]
    variances = mixture.covariances_[order]
    q = chi_square_quantile(COVERAGE, d)
    return Balls(
        centers=mixture.means_[order],
        radii=np.sqrt(d * variances),
        center_errors=np.sqrt(q * variances * (1.0 / (share * len(parameters)) + shared)),
        components=components,
        weights=share / share.sum(),
        purity=float(np.mean(np.argsort(order)[found] == components[classes])),
    )


def _matched(counts: Index) -> tuple[Index, Index]:
    """Return an order of components, that of class i in place i if possible, and the component of each class.

    Parameters
    ----------
    counts: ``(classes, components)``, how many data sets of a class lie in a component.
    """
    left = counts.astype(float)
    order = np.empty(len(counts), dtype=np.int64)
    for _ in range(len(counts)):
        s, i = np.unravel_index(np.argmax(left), left.shape)
        order[s] = i
        left[s], left[:, i] = -1.0, -1.0
    return order, np.argmax(counts[:, order], axis=1)
