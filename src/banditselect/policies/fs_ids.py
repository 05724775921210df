"""FS-IDS: information-directed play that selects among M feature maps; there is nothing to tune."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..models.map_mixture import MapMixture
from ..models.map_views import MapViews
from ..models.memories import with_memory
from ..plays.information import Information
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .contract import answer
from .members import MapPolicy, prior_of


@register
class FSIDS(MapPolicy):
    r"""Feature-selection IDS: learns which of M maps explains the rewards while it plays. Only shapes have to be given.

    Every map is a linear regression at five prior scales, seven where the noise is given. A member k is a map at one of
    them; its weight :math:`w_k` and its noise variance :math:`s_k^2` follow from the rewards (``models.mixture``). The
    play is ``plays.information``: with :math:`\phi_k(a)` the features of the member's map, in the unit of that map and
    behind a 1 for the constant term, and :math:`f_k(a) = \langle \phi_k(a), \hat\theta_k \rangle` its prediction,

    .. math:: \bar f(a) = \sum_k w_k f_k(a), \qquad s^2 = \sum_k w_k s_k^2, \qquad
              I(a) = \tfrac12 \log\left(1 + \frac{1}{s^2} \sum_k w_k
              \left[ s_k^2 |\phi_k(a)|^2_{V_k^{-1}} + (f_k(a) - \bar f(a))^2 \right]\right) - I_0,

    so that an action also teaches which map is right; I is 0 where this is negative. :math:`I_0` is what any reward
    teaches of the constant term: after t rewards :math:`\tfrac12 \log(1 + 1 / (\epsilon + t))`, with :math:`\epsilon`
    the prior precision ``models.mixture.FLAT``; 0 without a constant term.

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    blocks: how many separate parameters each map has, a number or one per map, for disjoint arms: an action has one of
        them, and the features of a map that has several are ``Blocked(values, block)``, ``(K, d_i)`` and ``(K,)``, in
        the list of maps. Such a map has an intercept per block.
    noise: standard deviation of the rewards, if it is known; learned by default.
    intercept: whether mean rewards have a constant term besides what the features explain.
    prior_weights: of the maps, ``(M,)``, equal by default; normalised to sum 1.
    floor: probability of playing uniformly, for logs that off-policy evaluation is to read.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        ``(1 - 1 / m) ** k``, in the estimates and in the weights of models; or ``"learned"``: no end, 1000, 200 and 50
        rounds, weighed by their forecasts (``memory_weights``).

    Notes
    -----
    Rewards may have a level that all actions of a round share, such as how much a visitor buys, which a map may explain
    without explaining anything about the actions. So every map comes in two views: as given, and centred over the
    actions offered, with a forecast of the level (``models.map_views``, ``docs/math.md``, section 16).
    ``model_weights`` are those of both; ``level_weight`` is that of the centred ones, ``level_weights`` say which map
    explains the level. Without an intercept, or with a ``memory``, there is one view.

    ``model_weights``, how probable each map is, are calibrated: ``docs/defaults.md``.

    Guarantee: for the exact ratio M costs an additive log M in the information; what is played has estimates in it, and
    is measured, not proved: ``docs/math.md``, section 11, and ``docs/defaults.md``.

    Reference: Russo, Van Roy, "Learning to optimize via information-directed sampling", Operations Research 2018.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = FSIDS(n_models=2, dim=3, seed=0)
    >>> for _ in range(300):
    ...     decision = policy.act(rng.normal(size=(2, 5, 3)))
    ...     policy.update(decision, 0.3 * decision.features[1].sum() + rng.normal())
    >>> policy.model_weights.round(3)
    array([0., 1.])
    """

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.INTERCEPT
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    floor: float = shared.FLOOR
    memory: float | str | None = shared.LEARNED_MEMORY

    noise_estimate = shared.NOISE_ESTIMATE
    memory_weights = shared.MEMORY_WEIGHTS
    level_weight = answer("level_weight", "Weight of the centred views: how probable it is that rewards have a level.")
    level_weights = answer("level_weights", "How probable it is of each map that it explains the level, ``(M,)``.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return all maps at several prior scales, played by information-directed play."""
        maps, prior = self._maps(), prior_of(self)
        if self.intercept and self.memory is None:
            return MapViews(maps, lanes, noise=self.noise, prior=prior), Information(self.floor)

        def build(memory: float | None) -> MapMixture:
            return MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept, memory=memory)

        return with_memory(self.memory, build), Information(self.floor)
