"""FS-IDS"""

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers, Widths, YesNo, map_widths, prior_weights
from ..parts.mixtures import MapsMixture
from ..types import Array
from .regimes.information import InformedPolicy


@register
class FSIDS(InformedPolicy):
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "intercept": YesNo(),
        "prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True),
        "floor": Number(low=0.0, high=1.0),
    }
    reward_units = ("noise",)

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike | None = None,
        intercept: bool = True,
        prior_weights: ArrayLike | None = None,
        floor: float = 0.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.intercept = intercept
        self.prior_weights = prior_weights
        self.floor = floor
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape(map_widths("FSIDS", self.dim, int(self.n_models)), many=True)

    def _begin(self, lanes: int) -> None:
        M = int(self.n_models)
        self._mixture = MapsMixture(
            lanes=lanes,
            dims=map_widths("FSIDS", self.dim, M),
            constant=bool(self.intercept),
            noise=self.noise,
            prior=prior_weights("FSIDS: prior_weights", self.prior_weights, M),
        )

    @property
    def model_weights(self) -> Array:
        """How probable each map is, ``(M,)``."""
        return self._answer(self._mixture.weights())
