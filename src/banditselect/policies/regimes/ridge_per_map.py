"""What policies share that keep one ridge regression for each of M feature maps, which stay the same maps."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...carriers.lanes import per_lane
from ...carriers.shapes import ExactShape, FeatureShape
from ...carriers.validation import map_widths
from ...parts.experts import RidgeBank, penalties, split
from ...types import Array
from ..base import Policy


class RidgePerMap(Policy):
    """A policy with a ridge regression for each of M feature maps."""

    n_models: int
    dim: int | Sequence[int]
    noise: float | ArrayLike
    parameter_bound: float | ArrayLike
    regularization: float | ArrayLike | None
    intercept: bool

    def _shape(self) -> FeatureShape:
        return ExactShape(map_widths(type(self).__name__, self.dim, int(self.n_models)), many=True)

    @property
    @abstractmethod
    def _ridges(self) -> RidgeBank:
        """The regressions."""

    def _fresh_ridges(self, lanes: int) -> tuple[RidgeBank, dict[str, Array]]:
        """Return regressions that have learned nothing; and noise, bound and penalties, as numbers of every lane."""
        owner = type(self).__name__
        dims = np.array(map_widths(owner, self.dim, int(self.n_models))) + bool(self.intercept)
        noise, bound = per_lane(self.noise, lanes), per_lane(self.parameter_bound, lanes)
        lam = penalties(f"{owner}: regularization", self.regularization, dims, noise, bound)
        bank = RidgeBank(lanes=lanes, dims=dims, regularization=lam)
        return bank, {"noise": noise, "bound": bound, "regularization": lam}

    @property
    def parameters(self) -> Array:
        """Ridge estimates of the maps, ``(M, d)``."""
        return self._answer(split(self._ridges.theta, self.intercept)[1])

    @property
    def constants(self) -> Array:
        """Their constant terms, ``(M,)``; 0 without an intercept."""
        return self._answer(split(self._ridges.theta, self.intercept)[0])
