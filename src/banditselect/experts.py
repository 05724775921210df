"""Banks of ridge regressions that learn side by side.

Both banks tell the same three sums per model (``evidence``: logdet, J, online loss), so whatever is built on them -
weights, confidence sets, alarms - is written once.
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .kernels import ridge
from .lanes import LaneArrays

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Bank(LaneArrays):
    """What the two banks share.

    Attributes
    ----------
    theta: estimates, ``(N, M, d)``.
    root: square roots of the inverses of ``V_g = Lambda_g + sum x x'``: ``V_g^-1 = root_g root_g'``, ``(N, G, d, d)``.
    group: which of them a model has, ``(N, M)``.
    dims: how many features a model has, ``(M,)``.
    evidence: logdet, J and online loss of every model, ``(N, M, 3)``.
    updates: rewards learned, ``(N,)``.
    """

    state: ClassVar[tuple[str, ...]] = ("theta", "root", "evidence", "updates")
    fixed: ClassVar[tuple[str, ...]] = ("group",)

    def __init__(self, *, theta: Array, root: Array, group: Index, dims: Index) -> None:
        N, M, _ = theta.shape
        self.theta = np.array(theta, dtype=float, order="C")
        self.root = root
        self.group = group
        self.dims = dims
        self.evidence = np.zeros((N, M, 3))
        self.updates = np.zeros(N, dtype=np.int64)

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

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; ``points (N, d)`` of one map's width.

        For a known parameter it is 0 at that parameter and infinite elsewhere.
        """
        theta, group = (np.ascontiguousarray(part[:, models]) for part in (self.theta, self.group))
        out = np.empty(theta.shape[:2])
        ridge.distances(theta, self.root, group, points, out)
        return out

    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``; its diagonal is infinite for a known parameter."""
        root = self.root[lane, self.group[lane, model]]
        if not root.any():
            return np.diag(np.full(len(root), np.inf))
        inverse = np.linalg.inv(root)
        return inverse.T @ inverse


class RidgeBank(Bank):
    """M ridge regressions over M feature maps, of equal or different width.

    Parameters
    ----------
    lanes: number of lanes N.
    dims: width of every map, ``(M,)``; features come padded with zeros to the widest.
    regularization: ``(N, M)``; infinity makes a model a known parameter.
    center: ``(N, M, d)``, where the ridge penalty is centred; zero if not given.
    """

    def __init__(self, *, lanes: int, dims: Index, regularization: Array, center: Array | None = None) -> None:
        N, M, d = lanes, dims.size, int(dims.max())
        root = np.zeros((N, M, d, d))
        root[:, :, np.arange(d), np.arange(d)] = 1.0 / np.sqrt(regularization)[:, :, None]
        theta = np.zeros((N, M, d)) if center is None else center
        super().__init__(theta=theta, root=root, group=np.tile(np.arange(M), (N, 1)), dims=dims)

    def learn(self, ids: Index, x: Array, y: Array) -> Array:
        """Learn ``x (n, M, d)``, ``y (n,)``; return ``(2, n, M)``: predictions of y made before, and leverages."""
        told = np.empty((2, ids.size, self.dims.size))
        ridge.learn(ids, x, y, self.theta, self.root, self.evidence, self.updates, self.dims, told)
        return told


class SharedRidgeBank(Bank):
    """M biased ridge regressions over one feature map: one matrix per distinct prior precision.

    Parameters
    ----------
    center: ``(N, M, d)``.
    precision: ``(N, G, d, d)``, the distinct prior precisions Lambda_g; an infinite diagonal means a known parameter.
    group: ``(N, M)``, which of them each model has.
    """

    elastic = ("root",)

    def __init__(self, *, center: Array, precision: Array, group: Index) -> None:
        root = np.zeros_like(precision)
        known = np.isinf(precision[:, :, 0, 0])
        factor = np.linalg.cholesky(precision[~known])
        root[~known] = np.swapaxes(np.linalg.inv(factor), 1, 2)
        super().__init__(theta=center, root=root, group=group, dims=np.full(center.shape[1], center.shape[2]))

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal bank; it may have another number of distinct precisions."""
        G = max(self.root.shape[1], other.root.shape[1])
        for bank in (self, other):
            spare = ((0, 0), (0, G - bank.root.shape[1]), (0, 0), (0, 0))
            bank.root = np.pad(bank.root, spare, mode="edge")
        super().extend(other)

    def learn(self, ids: Index, x: Array, y: Array) -> Array:
        """Learn ``x (n, d)``, ``y (n,)``; return the predictions of y made before, ``(n, M)``."""
        prediction = np.empty((ids.size, self.theta.shape[1]))
        ridge.learn_shared(ids, x, y, self.theta, self.root, self.group, self.evidence, self.updates, prediction)
        return prediction
