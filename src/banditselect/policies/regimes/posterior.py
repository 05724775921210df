"""Policies over the posterior of several models: what they learn, three ways to play, what can be asked."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...carriers.binding import Binding
from ...carriers.blocks import shape_of
from ...carriers.shapes import ExactShape, FeatureShape
from ...carriers.validation import (
    SMALLEST,
    Constraint,
    Number,
    Numbers,
    Widths,
    YesNo,
    prior_weights,
)
from ...parts.exploration import greedy
from ...parts.forgetting import MEMORY
from ...parts.mixtures import MapsMixture, Mixture
from ...parts.region_mixtures import RegionsMixture
from ...parts.regions import Regions, mixture_shapes
from ...types import Array, Index, Mask
from ..base import Chosen, Policy
from .blocks import answer_by_map
from .roster import MapRoster, RegionRoster

_NOISE: dict[str, Constraint] = {
    "noise": Number(low=SMALLEST, per_lane=True, optional=True),
    "intercept": YesNo(),
    "memory": MEMORY,
}
_PRIOR: dict[str, Constraint] = {"prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True)}

MAP_ARGUMENTS: dict[str, Constraint] = {
    "dim": Number(low=1, integer=True),
    "blocks": Number(low=1, integer=True),
    **_NOISE,
}
"""The arguments of every policy over one map, and what they must satisfy."""

MAPS_ARGUMENTS: dict[str, Constraint] = {
    "n_models": Number(low=1, integer=True),
    "dim": Widths(),
    "blocks": Widths(),
    **_NOISE,
    **_PRIOR,
}
"""The same over several maps."""

REGIONS_ARGUMENTS: dict[str, Constraint] = {
    "centers": Numbers(shapes=((None, None), (None, None, None)), lane_axes=3),
    "radii": Numbers(shapes=((), (None,), (None, None)), low=0.0, lane_axes=2),
    "shapes": Numbers(shapes=((None, None, None),), optional=True),
    **_NOISE,
    **_PRIOR,
}
"""The same over regions of the parameter."""

FLOOR: dict[str, Constraint] = {"floor": Number(low=0.0, high=1.0)}
BEST_SHARE: dict[str, Constraint] = {"best_share": Number(low=0.0, high=1.0, below=True)}


class PosteriorPolicy(Policy):
    """Learns a mixture of regressions with unknown noise."""

    ridge_estimates = False
    unit_free = True
    _mixture: Mixture
    noise: float | ArrayLike | None
    intercept: bool
    memory: float | None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        self._mixture.learn(ids, x, y)

    @property
    def noise_estimate(self) -> Any:
        """Standard deviation of the rewards as given, or as learned; NaN until rewards tell anything of it."""
        return self._answer(self._mixture.noise())


# Three ways to play.


class InformedPlay(PosteriorPolicy):
    """Mixes two actions: the one that looks best, and the one whose regret is smallest for what it teaches."""

    _looks_up = True
    floor: float

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture.informed(ids, x, offered, float(self.floor)), None


class DivergentPlay(PosteriorPolicy):
    """Plays every action by how probable it is that it is the best, up to a design."""

    _looks_up = True
    _mixture: MapsMixture
    best_share: float

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture.divergent(ids, x, offered, float(self.best_share)), None


class SampledPlay(PosteriorPolicy):
    """Draws a model, then its parameter, and plays greedily."""

    has_propensity = False
    _looks_up = True

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        score = self._mixture.sampled(ids, x, self._streams.normals(ids, numbers, self._mixture.draws))
        action, _ = self._streams.draw(ids, numbers, greedy(score, offered))
        return action, None, None

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return np.full((ids.size, x.shape[2]), np.nan), None


# What the models are.


class OverMap(PosteriorPolicy):
    """One feature map."""

    dim: int
    blocks: int

    def _shape(self) -> FeatureShape:
        return shape_of((int(self.dim),), (int(self.blocks),), many=False)

    def _begin(self, lanes: int) -> None:
        self._mixture = MapsMixture(
            lanes=lanes,
            dims=(int(self.dim),),
            constant=bool(self.intercept),
            noise=self.noise,
            prior=np.ones(1),
            blocks=(int(self.blocks),),
            memory=self.memory,
        )

    @property
    def parameters(self) -> Array:
        """Estimate of the parameter, ``(d,)``; with blocks one for each, ``(blocks, d)``."""
        return answer_by_map(self, self._mixture.estimates()[1])

    @property
    def constant(self) -> Any:
        """Estimate of the constant term; 0 without an intercept. With blocks one for each, ``(blocks,)``."""
        return answer_by_map(self, self._mixture.estimates()[0])


class Selection(PosteriorPolicy):
    """What can be asked of one that chooses among models."""

    prior_weights: ArrayLike | None

    @property
    def model_weights(self) -> Array:
        """How probable each model is, ``(M,)``."""
        return self._answer(self._mixture.weights())

    def _tell(self, array: Array) -> Any:
        """Return what was asked of the models, ``(M, ...)``."""
        return self._answer(array)

    @property
    def parameters(self) -> Any:
        """Estimates of the models, ``(M, d)``; with blocks a list, ``(blocks, d_i)`` of a map that has several."""
        return self._tell(self._mixture.estimates()[1])

    @property
    def constants(self) -> Any:
        """Their constant terms, ``(M,)``; 0 without an intercept. With blocks a list."""
        return self._tell(self._mixture.estimates()[0])


class OverMaps(Selection, MapRoster):
    """M feature maps."""

    _mixture: MapsMixture

    @property
    def _weighing(self) -> MapsMixture:
        return self._mixture

    def _begin(self, lanes: int) -> None:
        owner, M = type(self).__name__, int(self.n_models)
        dims, blocks = self._maps()
        self._mixture = MapsMixture(
            lanes=lanes,
            dims=dims,
            constant=bool(self.intercept),
            noise=self.noise,
            prior=prior_weights(f"{owner}: prior_weights", self.prior_weights, M),
            blocks=blocks,
            memory=self.memory,
        )

    def _tell(self, array: Array) -> Any:
        return answer_by_map(self, array)


class OverRegions(Selection, RegionRoster):
    """M regions of the parameter."""

    _holder = "_mixture"
    radii: float | ArrayLike
    shapes: ArrayLike | None

    @classmethod
    def from_mixture(cls, means: ArrayLike, covariances: ArrayLike, weights: ArrayLike, **arguments: Any) -> Self:
        """Build the policy whose prior is a Gaussian mixture, e.g. one fitted to the parameters of past tasks.

        The arguments are those of :meth:`bind_mixture`.
        """
        return cls.bind_mixture(means, covariances, weights, **arguments)()

    @classmethod
    def bind_mixture(
        cls,
        means: ArrayLike,
        covariances: ArrayLike,
        weights: ArrayLike,
        *,
        covariance_type: str | None = None,
        **arguments: Any,
    ) -> Binding[Self]:
        """Return a factory of the policy whose prior is a Gaussian mixture, as ``bind`` does, for ``simulate``.

        Parameters
        ----------
        means: ``(M, d)``.  weights: ``(M,)``.
        covariances: ``"full"`` ``(M, d, d)``, ``"tied"`` ``(d, d)``, ``"diag"`` ``(M, d)`` or ``"spherical"`` ``(M,)``.
        covariance_type: which of these, in the words of scikit-learn; must be told where M = d, else their shape tells.
        arguments: of the constructor, such as ``noise``.
        """
        shapes = mixture_shapes(means, covariances, covariance_type)
        radius = float(np.sqrt(shapes.shape[1]))
        given: dict[str, Any] = {"centers": means, "radii": radius, "shapes": shapes, "prior_weights": weights}
        return cls.bind(**given, **arguments)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        owner = type(self).__name__
        regions = Regions.read(owner, self.lanes, self.centers, self.shapes, radii=self.radii)
        prior = prior_weights(f"{owner}: prior_weights", self.prior_weights, regions.radius.shape[1])
        self._mixture = RegionsMixture(
            regions, constant=bool(self.intercept), noise=self.noise, prior=prior, memory=self.memory
        )
