"""A bank of ridge regressions that learn side by side, over one feature map or several."""

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import ridge
from ..kernels.features import Features
from ..runtime.inputs import SMALLEST, model_numbers
from ..runtime.lanes import LaneArrays, MemberMove
from ..runtime.shapes import FeatureShape
from ..types import Array, Index
from .forgetting import Forgetting, fade_ridges
from .model import Model


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
    """Return points ``(..., d)`` behind a zero, for features that have a constant before them."""
    return np.insert(points, 0, 0.0, axis=-1)


class Bank(Model):
    """Regressions with three sums each, on which weights, confidence sets and alarms are built.

    Attributes
    ----------
    theta: estimates, ``(N, M, d)``.
    root: square roots of the inverses of ``V_g = Lambda_g + sum x x'``: ``V_g^-1 = root_g root_g'``, ``(N, G, d, d)``,
        with columns of zeros behind (``ridge.padded``), which files do not have.
    group: which of them a model has, ``(N, M)``.
    dims: how many features a model has, ``(M,)``.
    first: the first cell of every model among the estimates, and the number of cells, ``(M + 1,)``.
    evidence: logdet, J and online loss of every model, ``(N, 3, M)``.
    updates: rewards learned, ``(N,)``.
    forgetting: how rewards fade; None where they do not.
    """

    nonnegative = ("updates",)
    fixed: tuple[str, ...] = ("group",)
    shared: tuple[str, ...] = ("dims", "first")
    reads_lookups = True

    theta: Array
    updates: Index

    def __init__(self, shape: FeatureShape, root: Array, group: Index, dims: Index, first: Index) -> None:
        super().__init__(shape)
        N, M = group.shape
        self.root = ridge.padded(root)
        self.group = group
        self.dims = dims
        self.first = first
        self.evidence = np.zeros((N, 3, M))
        self.updates = np.zeros(N, dtype=np.int64)
        self.forgetting: Forgetting | None = None

    def _forget(self, memory: float | None) -> None:
        """Let rewards fade; with several kernels a round, ``learn`` is not one kernel then."""
        if memory is not None:
            self.forgetting = Forgetting(memory, self.root, self.theta)
        self.one_kernel = self.ridge_estimates = memory is None

    @property
    def rounds(self) -> Array:
        """Number of rewards that count, ``(N,)``."""
        return self.updates if self.forgetting is None else self.forgetting.seen  # type: ignore[return-value]

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the learned arrays by name, the roots without spare columns."""
        return super().learned() | {"root": self.root[..., : self.root.shape[2]]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the learned arrays of an equal bank."""
        super().restore(arrays)
        self.root = ridge.padded(self.root)

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal bank."""
        super().extend(other)
        self.root = ridge.padded(self.root)

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

    def predictions(self, ids: Index, x: Features) -> Array:
        """Return the predictions of all models, ``<x_i(a), theta_i>``, ``(n, M, K)``."""
        out = np.empty((ids.size, self.dims.size, x.values.shape[2]))
        ridge.predict(ids, x.values, x.block, self.theta, self.first, out)
        return out

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the predictions of the first model, ``(n, K)``."""
        return self.predictions(ids, x)[:, 0]

    def mixture(self, ids: Index, x: Features, weights: Array) -> Array:
        """Return the mean of the predictions under weights ``(n, M)``, ``(n, K)``."""
        out = np.empty((ids.size, x.values.shape[2]))
        ridge.mixtures(ids, x.values, x.block, self.theta, self.first, weights, out)
        return out

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, P, d)`` and ``y (n,)``."""
        self.step(ids, x, y)

    @abstractmethod
    def step(self, ids: Index, x: Features, y: Array) -> Array:
        """Learn; return the predictions of y made before, after rewards have faded."""

    @property
    def widths(self) -> Index:
        """Number of parameters that a model has, those of all blocks together, ``(M,)``."""
        return self.dims * np.diff(self.first)

    def constants(self) -> Array:
        """Return the constant terms of the estimates, ``(N, cells)``."""
        return split(self.theta, self.constant)[0]

    def parameters(self) -> Array:
        """Return the estimates without their constant terms, ``(N, cells, d)``."""
        return split(self.theta, self.constant)[1]

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; ``points (N, d)`` of one map's width.

        For a known parameter it is 0 at that parameter and infinite elsewhere.
        """
        theta, group = np.ascontiguousarray(self.theta[:, models]), np.ascontiguousarray(self.group[:, models])
        out = np.empty(theta.shape[:2])
        ridge.distances(theta, self.root, group, points, out)
        return out

    def precision_of(self, lane: int, model: int) -> Array:
        """Return the matrix ``V`` of one model, ``(d, d)``; its diagonal is infinite for a known parameter."""
        root = self.root[lane, self.group[lane, model]]
        if not root.any():
            return np.diag(np.full(len(root), np.inf))
        inverse = np.linalg.inv(root[:, : len(root)])
        return inverse.T @ inverse


class BankModel(Model):
    """A model of a bank of regressions, with the rewards that the bank has learned and its estimates."""

    reads_lookups = True

    def __init__(self, bank: Bank) -> None:
        super().__init__(bank.shape)
        self.bank = bank
        self.constant, self.ridge_estimates = bank.constant, bank.ridge_estimates

    @property
    def updates(self) -> Index:
        """Rewards learned, ``(N,)``."""
        return self.bank.updates

    def constants(self) -> Array:
        """Return the constant terms of the estimates, ``(N, cells)``."""
        return self.bank.constants()

    def parameters(self) -> Array:
        """Return the estimates without their constant terms, ``(N, cells, d)``."""
        return self.bank.parameters()


class RidgeBank(Bank):
    """M ridge regressions over M feature maps, of equal or different width.

    A model may have several blocks: separate parameters, each with a ridge of its own, of which every action has one.
    Then ``theta`` and ``root`` have a cell for every block of every model, ``(N, cells, d)`` and ``(N, cells, d, d)``,
    an update touches one of them per model, and the sums of a model are those of its cells together: all is as with one
    parameter for the features that are 0 outside the block.

    Parameters
    ----------
    shape: the features, of P maps; model i reads map i modulo P.
    lanes: number of lanes N.
    dims: width of every model, ``(M,)``; features come padded with zeros to the widest.
    regularization: ``(N, M)``; infinity makes a model a known parameter.
    center: ``(N, M, d)``, where the ridge penalty is centred; zero if not given.
    constant: whether a constant 1 stands before the features; it counts in ``dims``.
    constant_precision: prior precision of the first feature, where that is a constant with a prior of its own; a
        number, or one for every model.
    blocks: how many every model has, ``(M,)``; one by default.
    memory: None, or the m of :class:`Forgetting`.

    Attributes
    ----------
    owner: the model that a cell belongs to, ``(cells,)``.
    """

    state = ("theta", "root", "evidence", "updates")
    shared = ("dims", "first", "owner")
    member_axis: ClassVar[dict[str, int]] = {"theta": 1, "root": 1, "evidence": 2}

    def __init__(
        self,
        shape: FeatureShape,
        lanes: int,
        dims: Index,
        regularization: Array,
        *,
        center: Array | None = None,
        constant: bool = False,
        constant_precision: float | Array | None = None,
        blocks: Index | None = None,
        memory: float | None = None,
    ) -> None:
        each = np.ones(dims.size, dtype=np.int64) if blocks is None else blocks
        first = np.append(0, np.cumsum(each))
        self.owner = np.repeat(np.arange(dims.size), each)
        N, cells, d = lanes, int(first[-1]), int(dims.max())
        root = np.zeros((N, cells, d, d))
        root[:, :, np.arange(d), np.arange(d)] = 1.0 / np.sqrt(np.repeat(regularization, each, axis=1))[:, :, None]
        if constant_precision is not None:
            root[:, :, 0, 0] = 1.0 / np.sqrt(np.repeat(np.broadcast_to(constant_precision, dims.shape), each))
        self.theta = np.zeros((N, cells, d))
        if center is not None:
            self.theta[:] = np.repeat(center, each, axis=1)
        super().__init__(shape, root, np.tile(first[:-1], (N, 1)), dims, first)
        self.constant = constant
        self._forget(memory)

    @classmethod
    def of(
        cls,
        shape: Any,
        lanes: int,
        regularization: Array,
        *,
        center: Array | None = None,
        constant: bool = False,
        memory: float | None = None,
    ) -> Self:
        """Return a bank with a model for every map of a shape; arguments as in the constructor."""
        dims, blocks = np.array(shape.dims) + constant, np.array(shape.blocks)
        return cls(shape, lanes, dims, regularization, center=center, constant=constant, blocks=blocks, memory=memory)

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that kernels read, ``ridges`` in ``kernels.ridge``."""
        return self.theta, self.root, self.evidence, self.updates, self.dims, self.first

    def step(self, ids: Index, x: Features, y: Array) -> Array:
        """Learn; return predictions of y made before and leverages, ``(2, n, M)``, after rewards have faded."""
        before = np.empty((2, ids.size, self.dims.size))
        if self.forgetting is not None:
            self.fade(ids)
        ridge.learn(ids, x.values, x.block, y, self.arrays(), before)
        return before

    def fade(self, ids: Index) -> None:
        """Let a round pass in these lanes, and one reward more count."""
        forgetting = self.forgetting
        fade_ridges(ids, forgetting.gamma, forgetting.arrays(), self.arrays(), self.owner)  # type: ignore[union-attr]

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; of all blocks, one after the other."""
        if self.owner.size == self.dims.size:
            return super().distances(points, models)
        N, first = len(points), self.first
        out = np.zeros((N, self.dims[models].size))
        for k, i in enumerate(np.arange(self.dims.size)[models]):
            of_block = np.ascontiguousarray(np.swapaxes(points.reshape(N, first[i + 1] - first[i], -1), 0, 1))
            for c, part in enumerate(of_block, start=first[i]):
                square, theta = np.empty((N, 1)), np.ascontiguousarray(self.theta[:, c : c + 1])
                ridge.distances(theta, self.root, np.full((N, 1), c), part, square)
                out[:, k] += square[:, 0]
        return out

    def estimates_of(self, ids: Index, models: Index) -> Array:
        """Return the estimates of the blocks of one model ``models (n,)`` of every row, ``(n, B, d)``.

        B is the largest number of blocks; entries behind those of a model have no meaning.
        """
        cells = self.first[models, None] + np.arange(np.diff(self.first).max())
        return self.theta[ids[:, None], np.minimum(cells, self.first[-1] - 1)]

    def _move_of(self, name: str, other: LaneArrays, move: MemberMove) -> MemberMove:
        if name == "evidence" or not isinstance(other, RidgeBank):
            return move
        models = move.repeated(self.dims.size // move.n_new)
        old, new = other.cells(models.old), self.cells(models.new)
        return MemberMove(old, new, other.owner.size, self.owner.size)

    def cells(self, models: Index) -> Index:
        """Return the cells of these models, model after model."""
        return np.concatenate([self.owner[:0], *(np.flatnonzero(self.owner == i) for i in models)])

    @contextlib.contextmanager
    def asleep(self, ids: Index, models: Index) -> Iterator[None]:
        """Learn a reward that these models know nothing about."""
        at = np.ix_(ids, self.cells(models))
        sums = np.ix_(ids, np.arange(3), models)
        theta, root, evidence = self.theta[at], self.root[at], self.evidence[sums]
        yield
        self.theta[at], self.root[at], self.evidence[sums] = theta, root, evidence
