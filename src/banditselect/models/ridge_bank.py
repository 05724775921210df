"""A bank of ridge regressions that learn side by side, over one feature map or several."""

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from operator import attrgetter
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
    the parameter; it is infinite where S is 0. ``name``: of the argument, for errors.
    """
    if given is not None:
        return model_numbers(name, given, noise.size, dims.size)
    with np.errstate(divide="ignore", over="ignore"):
        return np.maximum(dims * (noise / bound)[:, None] ** 2, SMALLEST)


def known_as_zero(regularization: Array) -> Array:
    """Return ridge penalties with 0 for those that are infinite, of known parameters, which cost no radius."""
    return np.where(np.isinf(regularization), 0.0, regularization)


def with_zero(points: Array) -> Array:
    """Return points ``(..., d)`` behind a zero, for features that have a constant before them."""
    return np.insert(points, 0, 0.0, axis=-1)


def squared_distances(root: Array, points: Array, theta: Array) -> Array:
    """Return ``|points[n] - theta[n, i]|^2`` in the norm of ``V = (root root')^-1``, ``(N, m)``.

    ``root (N, ., .)``, ``points (N, d)``, ``theta (N, m, .)``. For a known parameter, whose root is 0, it is 0 at that
    parameter, up to rounding, and infinite elsewhere.
    """
    d = points.shape[1]
    root, theta = root[:, :d, :d], theta[..., :d]
    with np.errstate(over="ignore", invalid="ignore"):
        gap, singular = points[:, None] - theta, np.linalg.slogdet(root)[0] == 0.0
        solved = np.linalg.solve(np.where(singular[:, None, None], np.eye(d), root), np.swapaxes(gap, 1, 2))
        same = np.abs(gap).max(axis=2) <= 1e-12 * np.abs(theta).max(axis=2)
        if_known = np.where((root[:, :1, 0] == 0.0) & same, 0.0, np.inf)
        return np.where(singular[:, None], if_known, (solved**2).sum(axis=1))


class Bank(Model):
    """Regressions with three sums each, on which weights, confidence sets and alarms are built.

    Attributes
    ----------
    theta: estimates, ``(N, M, d)``.
    root: square roots of the inverses of ``V_g = Lambda_g + sum x x'``: ``V_g^-1 = root_g root_g'``, ``(N, G, d, d)``,
        with columns of zeros behind (``ridge.padded``), which files do not have.
    group: which of them a model has, ``(N, M)``.  dims: how many features a model has, ``(M,)``.
    first: the first cell of every model among the estimates, and the number of cells, ``(M + 1,)``.
    evidence: of every model, ``(N, 3, M)``: ``logdet``, ``log det(V_i Lambda_i^-1)``; ``penalised``, J, the least
        penalised sum of squares; ``online``, the sum of squared errors of the predictions made before each reward.
    updates: rewards learned, ``(N,)``.  rounds: how many of them count.
    forgetting: how rewards fade; None where they do not.
    """

    nonnegative = ("updates",)
    fixed: tuple[str, ...] = ("group",)
    shared: tuple[str, ...] = ("dims", "first")
    reads_lookups = True

    theta: Array
    updates: Index

    def __init__(
        self, shape: FeatureShape, root: Array, group: Index, dims: Index, first: Index, memory: float | None
    ) -> None:
        super().__init__(shape)
        N, M = group.shape
        self.root = ridge.padded(root)
        self.group, self.dims, self.first = group, dims, first
        self.evidence = np.zeros((N, 3, M))
        self.updates = np.zeros(N, dtype=np.int64)
        self.forgetting = None if memory is None else Forgetting(memory, self.root, self.theta)
        self.one_kernel = self.ridge_estimates = memory is None  # a round that fades takes several kernels

    logdet = property(lambda self: self.evidence[:, ridge.LOGDET])
    penalised = property(lambda self: self.evidence[:, ridge.PENALISED])
    online = property(lambda self: self.evidence[:, ridge.ONLINE])
    rounds = property(lambda self: self.updates if self.forgetting is None else self.forgetting.seen)

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

    def predictions(self, ids: Index, x: Features) -> Array:
        """Return the predictions of all models, ``<x_i(a), theta_i>``, ``(n, M, K)``."""
        return ridge.predict(ids, x.values, x.block, self.theta, self.first)

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the predictions of the first model, ``(n, K)``."""
        return self.predictions(ids, x)[:, 0]

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
        theta = self.theta
        return theta[..., 0] if self.constant else np.zeros(theta.shape[:-1])

    def parameters(self) -> Array:
        """Return the estimates without their constant terms, ``(N, cells, d)``."""
        return self.theta[..., int(self.constant) :]

    @abstractmethod
    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return ``|points[n] - theta_i|_{V_i}^2`` for these models, ``(N, M)``; ``points (N, d)`` of one map's width.

        With blocks, ``points (N, B d)`` has their parameters one after the other. For a known parameter the distance is
        0 at that parameter and infinite elsewhere.
        """

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

    updates = property(attrgetter("bank.updates"))

    def constants(self) -> Array:
        """Return the constant terms of the estimates, ``(N, cells)``."""
        return self.in_given_order(self.bank.constants())

    def parameters(self) -> Array:
        """Return the estimates without their constant terms, ``(N, cells, d)``."""
        return self.in_given_order(self.bank.parameters())


class RidgeBank(Bank):
    """M ridge regressions over M feature maps, of equal or different width.

    A model may have several blocks: separate parameters, each with a ridge of its own, of which every action has one.
    Then ``theta`` and ``root`` have a cell for every block of every model, ``(N, cells, d)`` and ``(N, cells, d, d)``,
    an update touches one of them per model, and the sums of a model are those of its cells together: all is as with one
    parameter for the features that are 0 outside the block.

    Parameters
    ----------
    shape, lanes: the features, of P maps, where model i reads map i modulo P; and the number of lanes.
    dims: width of every model, ``(M,)``; features come padded with zeros to the widest.
    regularization: ``(N, M)``; infinity makes a model a known parameter.
    center: ``(N, M, d)``, where the ridge penalty is centred; zero if not given. The d of all arrays may be above dims.
    constant: whether a constant 1 stands before the features; it counts in ``dims``.
    constant_precision: prior precisions of a constant with one of its own, the first feature of every model, ``(M,)``.
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
        constant_precision: Array | None = None,
        blocks: Index | None = None,
        memory: float | None = None,
    ) -> None:
        each = np.ones(dims.size, dtype=np.int64) if blocks is None else blocks
        first = np.append(0, np.cumsum(each))
        self.owner = np.repeat(np.arange(dims.size), each)
        N, cells, d = lanes, int(first[-1]), int(dims.max()) if center is None else center.shape[2]
        root = np.zeros((N, cells, d, d))
        root[:, :, np.arange(d), np.arange(d)] = 1.0 / np.sqrt(np.repeat(regularization, each, axis=1))[:, :, None]
        if constant_precision is not None:
            root[:, :, 0, 0] = 1.0 / np.sqrt(np.repeat(constant_precision, each))
        self.theta = np.zeros((N, cells, d))
        self.theta[:] = 0.0 if center is None else np.repeat(center, each, axis=1)
        super().__init__(shape, root, np.tile(first[:-1], (N, 1)), dims, first, memory)
        self.constant = constant

    @classmethod
    def of(cls, shape: Any, lanes: int, regularization: Array, *, constant: bool = False, **arguments: Any) -> Self:
        """Return a bank with a model for every map of a shape; arguments as in the constructor."""
        dims, blocks = np.array(shape.dims) + constant, np.array(shape.blocks)
        return cls(shape, lanes, dims, regularization, constant=constant, blocks=blocks, **arguments)

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

    def distances(self, points: Array, models: slice = slice(None), root: Array | None = None) -> Array:
        """Return the squared distances in the norms of V, or of matrices that have other roots; see ``Bank``."""
        root, first = self.root if root is None else root, self.first
        out = np.zeros((len(points), self.dims.size))
        for i in range(self.dims.size)[models]:
            for c, part in enumerate(np.split(points, first[i + 1] - first[i], axis=1), start=first[i]):
                out[:, i] += squared_distances(root[:, c], part, self.theta[:, c : c + 1])[:, 0]
        return out[:, models]

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
