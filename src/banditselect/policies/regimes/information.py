"""Information-directed play over the posterior of several models: the steps, and what can be asked."""

from typing import Any

from ...carriers.validation import SMALLEST, Constraint, Number, Numbers, YesNo
from ...parts.mixtures import Mixture
from ...types import Array, Index, Mask
from ..base import Policy

INFORMED_ARGUMENTS: dict[str, Constraint] = {
    "noise": Number(low=SMALLEST, per_lane=True, optional=True),
    "intercept": YesNo(),
    "prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True),
    "floor": Number(low=0.0, high=1.0),
}
"""The arguments that information-directed policies share, and what they must satisfy."""


class InformedPolicy(Policy):
    """Mixes two actions: the one that looks best, and the one whose regret is smallest for what it teaches."""

    ridge_estimates = False
    unit_free = True
    _mixture: Mixture
    _looks_up = True
    floor: float

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture.informed(ids, x, offered, float(self.floor)), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        self._mixture.learn(ids, x, y)

    @property
    def noise_estimate(self) -> Any:
        """Standard deviation of the rewards as given, or as learned; NaN until two rewards differ."""
        return self._answer(self._mixture.noise())


class InformedSelection(InformedPolicy):
    """What can be asked of one that chooses among models."""

    @property
    def model_weights(self) -> Array:
        """How probable each model is, ``(M,)``."""
        return self._answer(self._mixture.weights())

    @property
    def parameters(self) -> Array:
        """Estimates of the models, ``(M, d)``."""
        return self._answer(self._mixture.estimates()[1])

    @property
    def constants(self) -> Array:
        """Their constant terms, ``(M,)``; 0 without an intercept."""
        return self._answer(self._mixture.estimates()[0])
