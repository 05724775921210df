"""A bank of ridge regressions over one feature map, most of which share a matrix."""

from typing import Any, Self

import numpy as np

from ..kernels import shared_ridge
from ..kernels.features import Features
from ..runtime.shapes import FeatureShape
from ..types import Array, Index
from .forgetting import fade_shared, pad_groups
from .ridge_bank import Bank, squared_distances, with_zero

WIDEST = 128  #: most models in a panel: with some twenty features it stays in the fastest cache


class SharedRidgeBank(Bank):
    """M biased ridge regressions over one feature map: one matrix per distinct prior precision.

    Parameters
    ----------
    shape: the features, of one map.
    center: ``(N, M, d)``.
    precision: ``(N, G, d, d)``, the distinct prior precisions Lambda_g; an infinite diagonal means a known parameter.
    group: ``(N, M)``, which of them each model has; fastest where models of one group stand side by side.
    constant_precision: of a constant feature, which then stands before the d others, with a prior mean of 0.
    memory: None, or the m of :class:`Forgetting`.

    Attributes
    ----------
    columns: the estimates as columns of panels, ``(N, T, d, B)``: see ``kernels.shared_ridge``.
    """

    state = ("columns", "root", "evidence", "updates")
    growing = ("root",)

    def __init__(
        self,
        shape: FeatureShape,
        center: Array,
        precision: Array,
        group: Index,
        *,
        constant_precision: float | None = None,
        memory: float | None = None,
    ) -> None:
        first = 0 if constant_precision is None else 1
        M, d = center.shape[1], center.shape[2] + first
        root = np.zeros((*precision.shape[:2], d, d))
        known = np.isinf(precision[:, :, 0, 0])
        factor = np.linalg.cholesky(precision[~known])
        root[:, :, first:, first:][~known] = np.swapaxes(np.linalg.inv(factor), 1, 2)
        if constant_precision is not None:
            root[:, :, 0, 0] = 1.0 / np.sqrt(constant_precision)
        self.theta = center if constant_precision is None else with_zero(center)
        super().__init__(shape, root, group, np.full(M, d), np.arange(M + 1), memory)

    @property
    def theta(self) -> Array:
        """Estimates, ``(N, M, d)``, a copy."""
        (N, M), d = self.group.shape, self.columns.shape[2]
        return np.ascontiguousarray(np.swapaxes(self.columns, 2, 3).reshape(N, -1, d)[:, :M])

    @theta.setter
    def theta(self, theta: Array) -> None:
        N, M, d = theta.shape
        T = -(-M // WIDEST)
        B = 16 * -(-M // (16 * T))
        columns = np.zeros((N, T * B, d))
        columns[:, :M] = theta
        self.columns = np.ascontiguousarray(np.swapaxes(columns.reshape(N, T, B, d), 2, 3))

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that kernels read, ``shared`` in ``kernels.shared_ridge``."""
        return self.columns, self.root, self.group, self.evidence, self.updates, self.dims

    def estimates_of(self, ids: Index, models: Index) -> Array:
        """Return the estimate of one model ``models (n,)`` of every row, ``(n, 1, d)``."""
        B = self.columns.shape[3]
        return self.columns[ids, models // B, :, models % B][:, None]

    def step(self, ids: Index, x: Features, y: Array) -> Array:
        """Learn; return the predictions of y made before, ``(n, M)``, after rewards have faded."""
        if self.forgetting is not None:
            self.fade(ids)
        return shared_ridge.learn(ids, x.values, y, self.arrays())

    def fade(self, ids: Index) -> None:
        """Let a round pass in these lanes, and one reward more count."""
        forgetting = self.forgetting
        fade_shared(ids, forgetting.gamma, forgetting.arrays(), self.arrays())  # type: ignore[union-attr]

    def distances(self, points: Array, models: slice = slice(None)) -> Array:
        """Return the squared distances in the norms of V, see ``Bank``."""
        group, theta = self.group[:, models], self.theta[:, models]
        out = np.empty(group.shape)
        for g in range(self.root.shape[1]):
            of_g = (group == g).any(axis=0)
            found = squared_distances(self.root[:, g], points, theta[:, of_g])
            out[:, of_g] = np.where(group[:, of_g] == g, found, out[:, of_g])
        return out

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal bank; it may have another number of distinct precisions."""
        pad_groups(self, other, "root")
        super().extend(other)
