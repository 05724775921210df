"""PS-IDS"""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers, YesNo, prior_weights
from ..parts.mixtures import RegionsMixture
from ..parts.regions import Regions
from .regimes.information import InformedPolicy


@register
class PSIDS(InformedPolicy):
    constraints: ClassVar[dict[str, Constraint]] = {
        "centers": Numbers(shapes=((None, None), (None, None, None)), lane_axes=3),
        "radii": Numbers(shapes=((), (None,), (None, None)), low=0.0, lane_axes=2),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "intercept": YesNo(),
        "shapes": Numbers(shapes=((None, None, None),), optional=True),
        "prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True),
        "floor": Number(low=0.0, high=1.0),
    }
    reward_units = ("centers", "radii", "noise")

    def __init__(
        self,
        *,
        centers: ArrayLike,
        radii: float | ArrayLike = 1.0,
        noise: float | ArrayLike | None = None,
        intercept: bool = False,
        shapes: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
        floor: float = 0.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.centers = centers
        self.radii = radii
        self.noise = noise
        self.intercept = intercept
        self.shapes = shapes
        self.prior_weights = prior_weights
        self.floor = floor
        super().__init__(lanes, seed)

    @classmethod
    def from_mixture(cls, means: ArrayLike, covariances: ArrayLike, weights: ArrayLike, **arguments: Any) -> Self:
        raise NotImplementedError

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        regions = Regions.read("PSIDS", self.lanes, self.centers, self.shapes, radii=self.radii)
        prior = prior_weights("PSIDS: prior_weights", self.prior_weights, regions.radius.shape[1])
        self._mixture = RegionsMixture(regions, constant=bool(self.intercept), noise=self.noise, prior=prior)

    @property
    def model_weights(self):
        return self._answer(self._mixture.weights())
