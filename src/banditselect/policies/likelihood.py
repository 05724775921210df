"""What the policies over likelihood-ratio sets share: the alarm, and what can be asked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..carriers import validation
from ..parts.confidence import Alarm, LikelihoodSets
from ..types import Array, Index, Mask
from .optimistic import OptimisticPolicy


class LikelihoodPolicy(OptimisticPolicy):
    """Plays optimistically over the union of the likelihood-ratio sets of the models that are not refuted."""

    _noise: Array
    _sets: LikelihoodSets
    _alarm: Alarm

    def _watch(self, ids: Index, challenger: Array) -> None:
        """Take the new radii, give the alarm the loss ``(n,)`` of a forecaster bound to no model, warn of the first."""
        self._sets.update(ids, self._bank)
        if self._alarm.watch(ids, self._sets, self._bank, challenger, self._noise):
            self._say(
                "no model explains the rewards with noise of the constant stated: every model is wrong, or its bound "
                "on the parameter is too small, or noise is. See the property misspecified; no further warning comes."
            )

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        self._noise = np.concatenate([self._noise, fresh._noise])

    def _per_model(self, array: NDArray[Any]) -> Any:
        """Return what can be asked of every model, ``(N, M, ...)``, in the order in which the models were given."""
        return self._told(array)

    @property
    def model_weights(self) -> Array:
        """Posterior weights of the models, ``(M,)``."""
        return self._per_model(self._sets.weigh(self._all, self._bank)[0])

    @property
    def squared_radii(self) -> Array:
        """The squared radii of the models' sets, ``scale`` included, ``(M,)``; negative where the model is refuted."""
        return self._per_model(self.scale**2 * self._sets.squared_radii)

    @property
    def admissible(self) -> Mask:
        """Which models are not refuted, ``(M,)``."""
        return self._per_model(self._sets.squared_radii >= 0.0)

    @property
    def parameters(self) -> Array:
        """Estimates of the models, ``(M, d)``."""
        return self._per_model(self._bank.theta)

    @property
    def misspecified(self) -> Any:
        """Whether it is proved, at level delta, that no model is true or that the noise is larger than stated."""
        return self._told(self._alarm.raised)

    def _inside(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Tell which of these models' sets contain ``thetas[n]``, ``(N, M)``."""
        return self._bank.distances(thetas, models) <= self.scale**2 * self._sets.squared_radii[:, models]


def model_index(model: int, n_models: int) -> int:
    """Return the index of a model."""
    validation.Number(low=0, high=n_models - 1, integer=True).check("model", model, None)
    return int(model)
