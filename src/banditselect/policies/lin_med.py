"""LinMED: minimum empirical divergence on one feature map."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..models.map_mixture import MapMixture
from ..plays.divergence import Divergence
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.shapes import maps_of
from . import shared
from .policy import Policy


@register
class LinMED(Policy):
    r"""Linear minimum empirical divergence: plays an action by how well its gap is explained by chance.

    With b the action of highest mean, g(a) the gap of the means of b and a, R the noise and K actions,

    .. math:: p(a) \propto q(a) f(a), \qquad
              f(a) = \exp\left(\frac{-g(a)^2}{\beta_t R^2 |\phi(a) - \phi(b)|^2_{V_t^{-1}}}\right), \qquad
              q(a) = \alpha 1[a = b] + \frac{1 - \alpha}{2} q^*(a) + \frac{1 - \alpha}{2 K}

    where :math:`q^*` is nearly the G-optimal design over the features :math:`\sqrt{f(a)} \phi(a)`, :math:`\alpha` the
    ``best_share`` and :math:`\beta_t = (\sqrt{\log\det(V_t V_0^{-1}) + 2 \log(t + 1)} + 1)^2`.

    Parameters
    ----------
    dim, blocks, noise, intercept, memory: as :class:`LinIDS` has them.
    best_share: :math:`\alpha`, a number >= 0 and < 1; the authors' experiments have .99, .9 and .5.

    Notes
    -----
    Published, here after the authors' code: f, q and p; features scaled by :math:`\sqrt f` before a design is sought;
    a design that is uniform for K <= 2 d, and for more actions stops where the largest leverage is a multiple of d.
    Ours: the posterior, that of :class:`LinIDS`, of which f has the variance of the gap and :math:`\beta_t` the mean
    logdet, without the constant term; confidence 1 / (t + 1), because the horizon is not known;
    :math:`\sqrt\lambda |\theta| = R`, as in the authors' experiments; the design is found by multiplying weights by
    leverages up to twice the optimum, which treats equal actions equally; the best share :math:`\alpha`.

    With .99 one round in a hundred explores. That is the best of the three published values on average, but it sticks
    where arms share nothing: regret on ten coins of .9 and .1 is 300 ± 80, and 97 ± 21 with .9 (1,000 rounds, n = 20).

    Guarantee: with the true noise and a bound on the parameter, regret of order :math:`d \sqrt T` up to logarithms; for
    what is learned here it is not proved.

    Reference: Balagopalan, Jun, "Minimum empirical divergence for sub-Gaussian linear bandits", AISTATS 2025.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = LinMED(dim=3, seed=0)
    >>> for _ in range(20):
    ...     decision = policy.act(rng.normal(size=(5, 3)))
    ...     policy.update(decision, 7.0 + decision.features @ [1.0, 0.0, -1.0] + 0.5 * rng.normal())
    >>> policy.probabilities(np.eye(3)).round(3)
    array([0.995, 0.003, 0.002])
    """

    dim: int = argument(shared.SIZE)
    blocks: int = shared.BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.INTERCEPT
    best_share: float = shared.BEST_SHARE
    memory: float | None = shared.MEMORY

    parameters = shared.PARAMETERS
    constant = shared.CONSTANT
    noise_estimate = shared.NOISE_ESTIMATE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return one map at several prior scales, played by minimum empirical divergence."""
        maps, prior = maps_of(self.dim, self.blocks), np.ones(1)
        model = MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept, memory=self.memory)
        return model, Divergence(self.best_share)
