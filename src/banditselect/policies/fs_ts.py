"""FS-TS: Thompson sampling that selects among M feature maps."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..models.map_mixture import MapMixture
from ..plays.sampling import Sampling
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .members import MapPolicy, prior_of


@register
class FSTS(MapPolicy):
    r"""Feature-selection Thompson sampling: draws a map by its weight, then its parameter, and plays greedily.

    Over the mixture of :class:`FSIDS`, with w the weights of the models and :math:`s_k^2` their noise,

    .. math:: k \sim w, \qquad \tilde\theta \sim N(\hat\theta_k, s_k^2 V_k^{-1}), \qquad
              a_t = \arg\max_a \langle \phi_k(a), \tilde\theta \rangle

    The probability of an action has no closed form: ``decision.probability`` and ``probabilities`` are None.

    Parameters
    ----------
    n_models, dim, blocks, noise, intercept, prior_weights, memory: as :class:`FSIDS` has them.

    Notes
    -----
    Published: the two draws, for a mixture of priors with a known noise. Ours: a map at five prior scales is a
    component, and the noise of a model is its estimate, as learned. Guarantee: the reference bounds the Bayesian regret
    for a prior that is true and a noise that is known.

    Reference: Hong, Kveton, Zaheer, Ghavamzadeh, Chow, "Thompson sampling with a mixture prior", AISTATS 2022.

    Examples
    --------
    >>> policy = FSTS(n_models=2, dim=3)
    >>> decision = policy.act([[[1.0, 0.0, 0.0]] * 5, [[0.0, 1.0, 0.0]] * 5])
    >>> decision.probability is None
    True
    """

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.INTERCEPT
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    memory: float | None = shared.MEMORY

    noise_estimate = shared.NOISE_ESTIMATE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return all maps at several prior scales, played by Thompson sampling."""
        maps, prior = self._maps(), prior_of(self)
        model = MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept, memory=self.memory)
        return model, Sampling()
