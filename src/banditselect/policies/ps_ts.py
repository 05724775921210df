"""PS-TS: Thompson sampling that selects among M regions of the parameter."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..models.region_layout import Regions
from ..models.region_mixture import RegionMixture
from ..plays.sampling import Sampling
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .members import RegionPolicy, prior_of


@register
class PSTS(RegionPolicy):
    r"""Parameter-selection Thompson sampling: draws a region by its weight, then the parameter, and plays greedily.

    The models are those of :class:`PSIDS`: Gaussians about the centres, whose noise is learned. The play is that of
    :class:`FSTS`, with regions in the place of maps: no closed form for the probability of an action.

    Parameters
    ----------
    centers, radii, noise, intercept, shapes, prior_weights, memory: as :class:`PSIDS` has them.

    Notes
    -----
    Published for a mixture of Gaussian priors, which ``from_mixture`` takes, and a known noise; learning the noise, at
    six levels, is ours. With the noise given, ``radii=0`` is the mTS of latent bandits, which samples one of M known
    models, and radii that say how far off the models are make it mmTS. Guarantee: as for :class:`FSTS`.

    References: Hong, Kveton, Zaheer, Chow, Ahmed, Boutilier, "Latent bandits revisited", NeurIPS 2020. Hong, Kveton,
    Zaheer, Ghavamzadeh, Chow, "Thompson sampling with a mixture prior", AISTATS 2022.
    """

    centers: ArrayLike = argument(shared.CENTERS, unit="reward")
    radii: float | ArrayLike = shared.RADII
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.NO_INTERCEPT
    shapes: ArrayLike | None = shared.SHAPES
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    memory: float | None = shared.MEMORY

    noise_estimate = shared.NOISE_ESTIMATE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return all regions at several levels of noise, played by Thompson sampling."""
        regions = Regions.read("PSTS", self.lanes, self.centers, self.shapes, radii=self.radii)
        prior = prior_of(self)
        model = RegionMixture(regions, noise=self.noise, prior=prior, intercept=self.intercept, memory=self.memory)
        return model, Sampling()
