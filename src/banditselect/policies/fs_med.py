"""FS-MED: minimum empirical divergence that selects among M feature maps."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..models.map_mixture import MapMixture
from ..plays.divergence import Divergence
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .members import MapPolicy, prior_of


@register
class FSMED(MapPolicy):
    r"""Feature-selection MED: :class:`LinMED` under the mixture of M maps of :class:`FSIDS`.

    With w the weights of the models, :math:`s_k^2` their noise, :math:`g_k(a)` the gap of model k between a and the
    action b of highest mean, and :math:`g(a) = \sum_k w_k g_k(a)`,

    .. math:: f(a) = \exp\left(\frac{-g(a)^2}{\beta_t S(a)}\right), \qquad S(a) = \sum_k w_k \left[ s_k^2
              |\phi_k(a) - \phi_k(b)|^2_{V_k^{-1}} + (g_k(a) - g(a))^2 \right],

    the variance of the gap. :math:`\beta_t` has the mean of the models' logdet, q the designs of the maps by their
    weights.

    Parameters
    ----------
    n_models, dim, blocks, noise, intercept, prior_weights, memory: as :class:`FSIDS` has them.
    best_share: what q has on the action of highest mean, a number >= 0 and < 1.

    Notes
    -----
    Published for one map, see :class:`LinMED`; the mixture is ours. No guarantee.

    Reference: Balagopalan, Jun, "Minimum empirical divergence for sub-Gaussian linear bandits", AISTATS 2025.
    """

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.INTERCEPT
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    best_share: float = shared.BEST_SHARE
    memory: float | None = shared.MEMORY

    noise_estimate = shared.NOISE_ESTIMATE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return all maps at several prior scales, played by minimum empirical divergence."""
        maps, prior = self._maps(), prior_of(self)
        model = MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept, memory=self.memory)
        return model, Divergence(self.best_share)
