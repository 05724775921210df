"""Banks of ridge regressions that learn side by side.

Both banks tell the same three sums per model (``evidence``: logdet, J, online loss), so whatever is built on them -
weights, confidence sets, alarms - is written once.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from .kernels import ridge
from .lanes import LaneArrays

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def _period(dim: int) -> int:
    """Rank-one steps between two refactorisations: their d^3 is then at most as dear as the d^2 of the steps."""
    return max(128, 2 * dim)


class Bank(LaneArrays):
    """What the two banks share: estimates ``theta (N, M, d)``, inverses ``V_inv (N, G, d, d)``, ``evidence (N, M, 3)``.

    ``group (N, M)`` tells which inverse a model uses.
    """

    theta: Array
    V_inv: Array
    evidence: Array
    updates: Index
    group: Index

    @property
    def logdet(self) -> Array:
        """``log det(V_i Lambda_i^-1)``, ``(N, M)``."""
        return self.evidence[:, :, ridge.LOGDET]

    @property
    def penalised(self) -> Array:
        """``J_i``: the least penalised sum of squares, ``(N, M)``."""
        return self.evidence[:, :, ridge.PENALISED]

    @property
    def online(self) -> Array:
        """Sum of squared errors of the predictions made before each reward, ``(N, M)``."""
        return self.evidence[:, :, ridge.ONLINE]

    def predict(self, ids: Index, x: Array) -> Array:
        """Return ``<x_i(a), theta_i>``, ``(n, M, K)``."""
        out = np.empty((ids.size, self.theta.shape[1], x.shape[2]))
        ridge.predict(ids, x, self.theta, out)
        return out

    def mixture(self, ids: Index, x: Array, weights: Array) -> Array:
        """Return the mean of the predictions under weights ``(n, M)``, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        ridge.mixtures(ids, x, self.theta, weights, out)
        return out

    @abstractmethod
    def distances(self, points: Array) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2``, ``(N, M)``, for ``points (N, d)`` of one map's width.

        For a known parameter it is 0 at that parameter and infinite elsewhere.
        """

    @abstractmethod
    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``."""


def _symmetric(lower: Array) -> Array:
    return np.tril(lower) + np.tril(lower, -1).T


class RidgeBank(Bank):
    """M ridge regressions over M feature maps, of equal or different width.

    Parameters
    ----------
    lanes: number of lanes N.
    dims: width of every map, ``(M,)``; features come padded with zeros to the widest.
    regularization: ``(N, M)``; infinity makes a model a known parameter.
    center: ``(N, M, d)``, where the ridge penalty is centred; zero if not given.
    """

    state = ("theta", "V_inv", "V", "moment", "evidence", "updates")
    fixed = ("group",)

    def __init__(self, *, lanes: int, dims: Index, regularization: Array, center: Array | None = None) -> None:
        N, M, d = lanes, dims.size, int(dims.max())
        self.dims = dims
        self.period = _period(d)
        self.group = np.tile(np.arange(M), (N, 1))
        self.theta = np.zeros((N, M, d)) if center is None else np.array(center, dtype=float, order="C")
        diagonal = np.arange(d)
        self.V = np.zeros((N, M, d, d))
        self.V[:, :, diagonal, diagonal] = regularization[:, :, None]
        self.V_inv = np.zeros((N, M, d, d))
        self.V_inv[:, :, diagonal, diagonal] = 1.0 / regularization[:, :, None]
        finite = np.where(np.isinf(regularization), 0.0, regularization)
        self.moment = finite[:, :, None] * self.theta
        self.evidence = np.zeros((N, M, 3))
        self.updates = np.zeros(N, dtype=np.int64)

    def learn(self, ids: Index, x: Array, y: Array) -> tuple[Array, Array]:
        """Learn ``x (n, M, d)``, ``y (n,)``; return the predictions of y made before and the leverages, ``(n, M)``."""
        told = np.empty((2, ids.size, self.dims.size))
        ridge.learn(
            ids,
            x,
            y,
            self.theta,
            self.V_inv,
            self.V,
            self.moment,
            self.evidence,
            self.updates,
            self.dims,
            self.period,
            told,
        )
        return told[0], told[1]

    def distances(self, points: Array) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2``, ``(N, M)``."""
        out = np.empty(self.theta.shape[:2])
        ridge.distances(self.V, self.theta, points, out)
        return out

    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``."""
        return _symmetric(self.V[lane, model])


class SharedRidgeBank(Bank):
    """M biased ridge regressions over one feature map: one Gram matrix, one inverse per distinct prior precision.

    Parameters
    ----------
    center: ``(N, M, d)``.
    precision: ``(N, G, d, d)``, the distinct prior precisions Lambda_g; an infinite diagonal means a known parameter.
    group: ``(N, M)``, which of them each model has.
    """

    state = ("theta", "V_inv", "gram", "moment", "evidence", "updates")
    fixed = ("center", "precision", "group")

    def __init__(self, *, center: Array, precision: Array, group: Index) -> None:
        N, M, d = center.shape
        self.center = np.array(center, dtype=float, order="C")
        self.period = _period(d)
        self.precision = precision
        self.group = group
        self.theta = self.center.copy()
        self.V_inv = np.zeros_like(precision)
        known = np.isinf(precision[:, :, 0, 0])
        self.V_inv[~known] = np.linalg.inv(precision[~known])
        self.gram = np.zeros((N, d, d))
        self.moment = np.zeros((N, d))
        self.evidence = np.zeros((N, M, 3))
        self.updates = np.zeros(N, dtype=np.int64)

    def learn(self, ids: Index, x: Array, y: Array) -> Array:
        """Learn ``x (n, d)``, ``y (n,)``; return the predictions of y made before, ``(n, M)``."""
        prediction = np.empty((ids.size, self.theta.shape[1]))
        ridge.learn_shared(
            ids,
            x,
            y,
            self.theta,
            self.V_inv,
            self.gram,
            self.moment,
            self.center,
            self.precision,
            self.group,
            self.evidence,
            self.updates,
            self.period,
            prediction,
        )
        return prediction

    def distances(self, points: Array) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2``, ``(N, M)``."""
        out = np.empty(self.theta.shape[:2])
        ridge.distances_shared(self.gram, self.precision, self.group, self.theta, points, out)
        return out

    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``."""
        return self.precision[lane, self.group[lane, model]] + _symmetric(self.gram[lane])
