"""Banks of ridge regressions that learn side by side.

Both banks tell the same three sums per model (``evidence``: logdet, J, online loss), so whatever is built on them -
weights, confidence sets, alarms - is written once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers.lanes import LaneArrays, Move
from ..carriers.validation import SMALLEST, model_numbers
from ..kernels import acting, ridge, tiles
from ..kernels.features import InBlocks
from ..types import Array, Index

WIDEST = 128  #: most models in a tile: with some twenty features it stays in the fastest cache


def penalties(name: str, given: ArrayLike | None, dims: Index, noise: Array, bound: Array) -> Array:
    """Return the ridge penalties of M maps, ``(N, M)``: what is given, a number or one per model, or d_i R^2 / S^2.

    That nearly minimises lambda S^2 + R^2 logdet(V / lambda) for noise R ``(N,)`` and a bound S ``(N,)`` on the norm of
    the parameter; it is infinite, for a known parameter, where S is 0. ``name``: of the argument, for errors.
    """
    if given is not None:
        return model_numbers(name, given, noise.size, dims.size)
    with np.errstate(divide="ignore", over="ignore"):
        return np.maximum(dims * (noise / bound)[:, None] ** 2, SMALLEST)


def split(theta: Array, constant: bool) -> tuple[Array, Array]:
    """Return the constant terms of estimates ``(N, M, d)``, ``(N, M)``, and the rest; 0 where there is no constant."""
    return (theta[..., 0], theta[..., 1:]) if constant else (np.zeros(theta.shape[:-1]), theta)


def with_zero(points: Array) -> Array:
    """Return points ``(..., d)`` behind a zero: where they lie once there is a constant before the features."""
    return np.insert(points, 0, 0.0, axis=-1)


class Bank(LaneArrays, ABC):
    """What the two banks share.

    Attributes
    ----------
    theta: estimates, ``(N, M, d)``.
    root: square roots of the inverses of ``V_g = Lambda_g + sum x x'``: ``V_g^-1 = root_g root_g'``, ``(N, G, d, d)``,
        with columns of zeros behind (``ridge.roomy``), which files do not have.
    group: which of them a model has, ``(N, M)``.
    dims: how many features a model has, ``(M,)``.
    evidence: logdet, J and online loss of every model, ``(N, 3, M)``.
    updates: rewards learned, ``(N,)``.
    """

    state = ("theta", "root", "evidence", "updates")
    natural = ("updates",)
    fixed = ("group",)

    theta: Array

    def __init__(self, *, root: Array, group: Index, dims: Index) -> None:
        N, M = group.shape
        self.root = ridge.roomy(root)
        self.group = group
        self.dims = dims
        self.evidence = np.zeros((N, 3, M))
        self.updates = np.zeros(N, dtype=np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the learned arrays by name, the roots without spare columns."""
        return super().arrays() | {"root": self.root[..., : self.root.shape[2]]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the learned arrays of an equal bank."""
        super().restore(arrays)
        self.root = ridge.roomy(self.root)

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal bank."""
        super().extend(other)
        self.root = ridge.roomy(self.root)

    @property
    def logdet(self) -> Array:
        """``log det(V_i Lambda_i^-1)``, ``(N, M)``."""
        return self.evidence[:, ridge.LOGDET]

    @property
    def penalised(self) -> Array:
        """``J_i``: the least penalised sum of squares, ``(N, M)``."""
        return self.evidence[:, ridge.PENALISED]

    @property
    def online(self) -> Array:
        """Sum of squared errors of the predictions made before each reward, ``(N, M)``."""
        return self.evidence[:, ridge.ONLINE]

    def predict(self, ids: Index, x: Array) -> Array:
        """Return ``<x_i(a), theta_i>``, ``(n, M, K)``."""
        out = np.empty((ids.size, self.dims.size, x.shape[2]))
        ridge.predict(ids, x, self.theta, out)
        return out

    @abstractmethod
    def estimates(self, ids: Index, models: Index) -> Array:
        """Return the estimate of one model ``models (n,)`` of every row, ``(n, 1, d)``."""

    def mixture(self, ids: Index, x: Array, weights: Array) -> Array:
        """Return the mean of the predictions under weights ``(n, M)``, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        ridge.mixtures(ids, x, self.theta, weights, out)
        return out

    @abstractmethod
    def upper_bounds(self, ids: Index, x: Array, squared_radii: Array, scale: float) -> Array:
        r"""Return :math:`\max_i \langle \phi_i(a), \hat\theta_i \rangle + s \rho_i |\phi_i(a)|_{V_i^{-1}}`, ``(n, K)``.

        The maximum is over the models with :math:`\rho_i^2 \ge 0` (``squared_radii (N, M)``), s being the ``scale``.
        """

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; ``points (N, d)`` of one map's width.

        For a known parameter it is 0 at that parameter and infinite elsewhere.
        """
        theta, group = np.ascontiguousarray(self.theta[:, models]), np.ascontiguousarray(self.group[:, models])
        out = np.empty(theta.shape[:2])
        ridge.distances(theta, self.root, group, points, out)
        return out

    @property
    def widths(self) -> Index:
        """How many parameters a model has, ``(M,)``."""
        return self.dims

    def read(self, x: Array) -> Any:
        """Return features as kernels read them."""
        return x

    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``; its diagonal is infinite for a known parameter."""
        root = self.root[lane, self.group[lane, model]]
        if not root.any():
            return np.diag(np.full(len(root), np.inf))
        inverse = np.linalg.inv(root[:, : len(root)])
        return inverse.T @ inverse


class RidgeBank(Bank):
    """M ridge regressions over M feature maps, of equal or different width.

    A model may have several blocks: separate parameters, each with a ridge of its own, of which every action has one.
    Then ``theta`` and ``root`` have a cell for every block of every model, ``(N, cells, d)`` and ``(N, cells, d, d)``,
    an update touches one of them per model, and the sums of a model are those of its cells together: all is as with one
    parameter for the features that are 0 outside the block.

    Parameters
    ----------
    lanes: number of lanes N.
    dims: width of every map, ``(M,)``; features come padded with zeros to the widest.
    regularization: ``(N, M)``; infinity makes a model a known parameter.
    center: ``(N, M, d)``, where the ridge penalty is centred; zero if not given.
    constant: prior precision of the first feature, where that is a constant with a prior of its own; a number, or one
        for every model.
    blocks: how many every model has, ``(M,)``; one by default.

    Attributes
    ----------
    first: the first cell of every model, and the number of cells, ``(M + 1,)``; None where each has one block.
    owner: the model that a cell belongs to, ``(cells,)``.
    """

    per_model: ClassVar[dict[str, int]] = {"theta": 1, "root": 1, "evidence": 2}
    handed = ("theta", "root", "evidence", "updates", "dims")

    def __init__(
        self,
        *,
        lanes: int,
        dims: Index,
        regularization: Array,
        center: Array | None = None,
        constant: float | Array | None = None,
        blocks: Index | None = None,
    ) -> None:
        each = np.ones(dims.size, dtype=np.int64) if blocks is None else blocks
        first = np.append(0, np.cumsum(each))
        self.first = None if each.max() == 1 else first
        self.owner = np.repeat(np.arange(dims.size), each)
        N, cells, d = lanes, int(first[-1]), int(dims.max())
        root = np.zeros((N, cells, d, d))
        root[:, :, np.arange(d), np.arange(d)] = 1.0 / np.sqrt(np.repeat(regularization, each, axis=1))[:, :, None]
        if constant is not None:
            root[:, :, 0, 0] = 1.0 / np.sqrt(np.repeat(np.broadcast_to(constant, dims.shape), each))
        self.theta = np.zeros((N, cells, d))
        if center is not None:
            self.theta[:] = np.repeat(center, each, axis=1)
        super().__init__(root=root, group=np.tile(first[:-1], (N, 1)), dims=dims)

    @property
    def widths(self) -> Index:
        """How many parameters a model has, those of all blocks together, ``(M,)``."""
        return self.dims if self.first is None else self.dims * np.diff(self.first)

    def read(self, x: Array) -> Any:
        """Return features as kernels read them: with blocks, those behind which the block of an action stands."""
        return x if self.first is None else InBlocks(x, self.first)

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; of all blocks, one after the other."""
        if self.first is None:
            return super().distances(points, models)
        N, first = len(points), self.first
        out = np.zeros((N, self.dims[models].size))
        for k, i in enumerate(np.arange(self.dims.size)[models]):
            of_block = np.ascontiguousarray(np.swapaxes(points.reshape(N, first[i + 1] - first[i], -1), 0, 1))
            for c, part in enumerate(of_block, start=first[i]):
                own, theta = np.empty((N, 1)), np.ascontiguousarray(self.theta[:, c : c + 1])
                ridge.distances(theta, self.root, np.full((N, 1), c), part, own)
                out[:, k] += own[:, 0]
        return out

    def estimates(self, ids: Index, models: Index) -> Array:
        """Return the estimates of the blocks of one model ``models (n,)`` of every row, ``(n, B, d)``.

        B is the largest number of blocks; what stands behind those of a model is not to be read.
        """
        if self.first is None:
            return self.theta[ids, models][:, None]
        cells = self.first[models, None] + np.arange(np.diff(self.first).max())
        return self.theta[ids[:, None], np.minimum(cells, self.first[-1] - 1)]

    def learn(self, ids: Index, x: Array, y: Array) -> Array:
        """Learn ``x (n, P, d)``, ``y (n,)``; return ``(2, n, M)``: predictions of y made before, and leverages.

        Model i reads map i modulo P. With blocks, x is what ``read`` returns.
        """
        before = np.empty((2, ids.size, self.dims.size))
        ridge.learn(*(ids, x, y, *self.hand(), before))
        return before

    def place(self, theta: Array) -> None:
        """Take these estimates, ``(N, M, d)``."""
        self.theta[:] = theta

    def _move_of(self, name: str, other: LaneArrays, move: Move) -> Move:
        if name == "evidence" or not isinstance(other, RidgeBank):
            return move
        models = move.repeated(self.dims.size // move.after)
        there, here = other._cells(models.there), self._cells(models.here)
        return Move(there, here, other.owner.size, self.owner.size)

    def _cells(self, models: Index) -> Index:
        """Return the cells of these models, those of one after those of the other."""
        return np.concatenate([self.owner[:0], *(np.flatnonzero(self.owner == i) for i in models)])

    def rest(self, ids: Index, models: Index) -> Callable[[], None]:
        """Return what puts these models of these lanes back to what they are now."""
        at = np.ix_(ids, self._cells(models))
        theta, root, evidence = self.theta[at], self.root[at], self.evidence[np.ix_(ids, np.arange(3), models)]

        def put_back() -> None:
            self.theta[at], self.root[at] = theta, root
            self.evidence[np.ix_(ids, np.arange(3), models)] = evidence

        return put_back

    def upper_bounds(self, ids: Index, x: Array, squared_radii: Array, scale: float) -> Array:
        """Return the upper bounds of all actions, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        acting.upper_bounds(ids, x, self.theta, self.root, self.dims, squared_radii, scale, out)
        return out


class SharedRidgeBank(Bank):
    """M biased ridge regressions over one feature map: one matrix per distinct prior precision.

    Parameters
    ----------
    center: ``(N, M, d)``.
    precision: ``(N, G, d, d)``, the distinct prior precisions Lambda_g; an infinite diagonal means a known parameter.
    group: ``(N, M)``, which of them each model has; fastest where models of one group stand side by side.
    constant: None, or the prior precision of a constant feature, which then stands before the d others.

    Attributes
    ----------
    tiles: the estimates as columns of tiles, ``(N, T, d, B)``: see ``kernels.tiles``.
    """

    state = ("tiles", "root", "evidence", "updates")
    elastic = ("root",)
    handed = ("tiles", "root", "group", "evidence", "updates", "dims")

    def __init__(self, *, center: Array, precision: Array, group: Index, constant: float | None = None) -> None:
        first = 0 if constant is None else 1
        M, d = center.shape[1], center.shape[2] + first
        root = np.zeros((*precision.shape[:2], d, d))
        known = np.isinf(precision[:, :, 0, 0])
        factor = np.linalg.cholesky(precision[~known])
        root[:, :, first:, first:][~known] = np.swapaxes(np.linalg.inv(factor), 1, 2)
        if constant is not None:
            root[:, :, 0, 0] = 1.0 / np.sqrt(constant)
        super().__init__(root=root, group=group, dims=np.full(M, d))
        self.place(center if constant is None else with_zero(center))

    def place(self, theta: Array) -> None:
        """Take these estimates, ``(N, M, d)``."""
        N, M, d = theta.shape
        T = -(-M // WIDEST)
        B = 16 * -(-M // (16 * T))
        columns = np.zeros((N, T * B, d))
        columns[:, :M] = theta
        self.tiles = np.ascontiguousarray(np.swapaxes(columns.reshape(N, T, B, d), 2, 3))
        self._hand = self._show = None

    @property
    def theta(self) -> Array:  # type: ignore[override]
        """The estimates, ``(N, M, d)``, a copy."""
        (N, M), d = self.group.shape, self.tiles.shape[2]
        return np.ascontiguousarray(np.swapaxes(self.tiles, 2, 3).reshape(N, -1, d)[:, :M])

    def estimates(self, ids: Index, models: Index) -> Array:
        """Return the estimate of one model ``models (n,)`` of every row, ``(n, 1, d)``."""
        B = self.tiles.shape[3]
        return self.tiles[ids, models // B, :, models % B][:, None]

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal bank; it may have another number of distinct precisions."""
        G = max(self.root.shape[1], other.root.shape[1])
        for bank in (self, other):
            spare = ((0, 0), (0, G - bank.root.shape[1]), (0, 0), (0, 0))
            bank.root = np.pad(bank.root, spare, mode="edge")
        super().extend(other)

    def learn(self, ids: Index, x: Array, y: Array) -> Array:
        """Learn ``x (n, 1, d)``, ``y (n,)``; return the predictions of y made before, ``(n, M)``."""
        before = np.empty((ids.size, self.group.shape[1]))
        tiles.learn(*(ids, x, y, *self.hand(), before))
        return before

    def upper_bounds(self, ids: Index, x: Array, squared_radii: Array, scale: float) -> Array:
        """Return the upper bounds of all actions, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        tiles.upper_bounds(ids, x, self.tiles, self.root, self.group, squared_radii, scale, out)
        return out
