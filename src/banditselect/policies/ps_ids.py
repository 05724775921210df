"""PS-IDS: information-directed play that selects among M regions of the parameter; there is nothing to tune."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, Numbers, prior_weights
from ..parts.mixtures import RegionsMixture
from ..parts.regions import Regions, mixture_shapes
from .regimes.information import INFORMED_ARGUMENTS, InformedSelection


@register
class PSIDS(InformedSelection):
    r"""Parameter-selection IDS: learns near which of M centres the reward parameter lies. Only the balls are told.

    Model i is a Gaussian about the centre :math:`\mu_i` whose mean squared distance from it is :math:`r_i^2`, or, with
    ``shapes`` :math:`P_i`, whose covariance is :math:`r_i^2 P_i / d`: a prior, not a bound, so a parameter outside all
    balls is found too, if late. A radius of 0 is a known parameter. The noise is learned; the play is that of
    :class:`FSIDS`, with regions in the place of maps.

    Parameters
    ----------
    centers: ``(M, d)``, or one set per lane ``(N, M, d)``; features are ``(K, d)``.
    radii: numbers >= 0, one per model ``(M,)``, or ``(N, M)``.
    noise: standard deviation of the rewards, if it is known; learned by default.
    intercept: whether mean rewards have a constant term besides ``<features, parameter>``; regions then leave it free.
    shapes: positive definite matrices ``(M, d, d)``; costs M d^2 per round where balls cost d^2 + M d.
    prior_weights: of the models, ``(M,)``, equal by default; normalised to sum 1.
    floor: probability of playing uniformly, for logs that off-policy evaluation is to read.

    Attributes
    ----------
    model_weights: how probable each region is, ``(M,)``.  parameters: ``(M, d)``.  constants: ``(M,)``.
    noise_estimate.  rounds.

    Notes
    -----
    Guarantee: as for :class:`FSIDS`. Reference: Russo, Van Roy, "Learning to optimize via information-directed
    sampling", Operations Research 2018.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = PSIDS(centers=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], radii=0.2, seed=0)
    >>> for _ in range(100):
    ...     decision = policy.act(rng.normal(size=(5, 2)))
    ...     policy.update(decision, decision.features @ [0.1, 1.1] + 0.1 * rng.normal())
    >>> policy.model_weights.round(3)
    array([0., 1., 0.])
    """

    reward_units = ("centers", "radii", "noise")
    constraints: ClassVar[dict[str, Constraint]] = {
        "centers": Numbers(shapes=((None, None), (None, None, None)), lane_axes=3),
        "radii": Numbers(shapes=((), (None,), (None, None)), low=0.0, lane_axes=2),
        "shapes": Numbers(shapes=((None, None, None),), optional=True),
        **INFORMED_ARGUMENTS,
    }

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
        """Build the policy whose prior is a Gaussian mixture, e.g. one fitted to the parameters of past tasks.

        Parameters
        ----------
        means: ``(M, d)``.  covariances: ``(M, d, d)``, or variances ``(M, d)``.  weights: ``(M,)``.
        arguments: of the constructor, such as ``floor``.
        """
        shapes = mixture_shapes(means, covariances)
        radius = float(np.sqrt(shapes.shape[1]))
        return cls(centers=means, radii=radius, shapes=shapes, prior_weights=weights, **arguments)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        regions = Regions.read("PSIDS", self.lanes, self.centers, self.shapes, radii=self.radii)
        prior = prior_weights("PSIDS: prior_weights", self.prior_weights, regions.radius.shape[1])
        self._mixture = RegionsMixture(regions, constant=bool(self.intercept), noise=self.noise, prior=prior)
