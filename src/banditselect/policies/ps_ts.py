"""PS-TS: Thompson sampling that selects among M regions of the parameter."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..models.model import Model
from ..models.region_layout import Regions
from ..models.region_mixture import RegionMixture
from ..plays.play import Play
from ..plays.sampling import Sampling
from ..runtime.arguments import argument
from ..runtime.constraints import Numbers, YesNo
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
    centers: ``(M, d)``, or one set per lane ``(N, M, d)``; features are ``(K, d)``.
    radii: numbers >= 0, one per model ``(M,)``, or ``(N, M)``.
    noise: standard deviation of the rewards, if it is known; learned by default.
    intercept: whether mean rewards have a constant term besides ``<features, parameter>``; regions then leave it free.
    shapes: positive definite matrices ``(M, d, d)``; costs M d^2 per round where balls cost d^2 + M d.
    prior_weights: of the models, ``(M,)``, equal by default; normalised to sum 1.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        ``(1 - 1 / m) ** k``, in the estimates and in the weights of models (``docs/math.md``, section 14).

    Attributes
    ----------
    model_weights: how probable each region is, ``(M,)``.  parameters: ``(M, d)``.  constants: ``(M,)``.
    noise_estimate.  rounds.

    Notes
    -----
    Published for a mixture of Gaussian priors, which ``from_mixture`` takes, and a known noise; learning the noise, at
    six levels, is ours. With the noise given, ``radii=0`` is the mTS of latent bandits, which samples one of M known
    models, and radii that say how far off the models are make it mmTS. Guarantee: as for :class:`FSTS`.

    References
    ----------
    Hong, Kveton, Zaheer, Chow, Ahmed, Boutilier, "Latent bandits revisited", NeurIPS 2020.
    Hong, Kveton, Zaheer, Ghavamzadeh, Chow, "Thompson sampling with a mixture prior", AISTATS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = PSTS(centers=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], radii=0.2, seed=0)
    >>> for _ in range(100):
    ...     decision = policy.act(rng.normal(size=(5, 2)))
    ...     policy.update(decision, decision.features @ [0.1, 1.1] + 0.1 * rng.normal())
    >>> policy.model_weights.round(3)
    array([0., 1., 0.])
    """

    centers: ArrayLike = argument(Numbers(shapes=((None, None), (None, None, None)), lane_axes=3), unit="reward")
    radii: float | ArrayLike = shared.RADII
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = argument(YesNo(), default=False)
    shapes: ArrayLike | None = shared.SHAPES
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    memory: float | None = shared.MEMORY

    noise_estimate = shared.NOISE_ESTIMATE

    def build(self, lanes: int) -> tuple[Model, Play]:
        """Return all regions at several levels of noise, played by Thompson sampling."""
        regions = Regions.read("PSTS", self.lanes, self.centers, self.shapes, radii=self.radii)
        prior = prior_of(self)
        model = RegionMixture(regions, noise=self.noise, prior=prior, intercept=self.intercept, memory=self.memory)
        return model, Sampling()
