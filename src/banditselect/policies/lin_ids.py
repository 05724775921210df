"""LinIDS: information-directed play on one feature map, with nothing to tune."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, YesNo
from ..parts.mixtures import MapsMixture
from ..types import Array
from .regimes.information import InformedPolicy


@register
class LinIDS(InformedPolicy):
    dim: int
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "intercept": YesNo(),
        "floor": Number(low=0.0, high=1.0),
    }
    reward_units = ("noise",)

    def __init__(
        self,
        *,
        dim: int,
        noise: float | ArrayLike | None = None,
        intercept: bool = True,
        floor: float = 0.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.noise = noise
        self.intercept = intercept
        self.floor = floor
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((int(self.dim),), many=False)

    def _begin(self, lanes: int) -> None:
        self._mixture = MapsMixture(
            lanes=lanes, dims=(int(self.dim),), constant=bool(self.intercept), noise=self.noise, prior=np.ones(1)
        )
