"""PS-IDS: information-directed play that selects among M regions of the parameter; there is nothing to tune."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..models.memories import with_memory
from ..models.region_layout import Regions
from ..models.region_mixture import RegionMixture
from ..plays.information import Information
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .members import RegionPolicy, prior_of


@register
class PSIDS(RegionPolicy):
    r"""Parameter-selection IDS: learns near which of M centres the reward parameter lies. Only the balls are given.

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
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        ``(1 - 1 / m) ** k``, in the estimates and in the weights of models; or ``"learned"``: no end, 1000, 200 and 50
        rounds, weighed by their forecasts (``memory_weights``).

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

    centers: ArrayLike = argument(shared.CENTERS, unit="reward")
    radii: float | ArrayLike = shared.RADII
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.NO_INTERCEPT
    shapes: ArrayLike | None = shared.SHAPES
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    floor: float = shared.FLOOR
    memory: float | str | None = shared.LEARNED_MEMORY

    noise_estimate = shared.NOISE_ESTIMATE
    memory_weights = shared.MEMORY_WEIGHTS

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return all regions at several levels of noise, played by information-directed play."""
        regions = Regions.read("PSIDS", self.lanes, self.centers, self.shapes, radii=self.radii)

        def build(memory: float | None) -> RegionMixture:
            return RegionMixture(
                regions, noise=self.noise, prior=prior_of(self), intercept=self.intercept, memory=memory
            )

        return with_memory(self.memory, build), Information(self.floor)
