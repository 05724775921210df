"""LEADER: optimism by the most cautious of M feature maps, all of which are taken to be right."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..models.confidence import Ellipsoids
from ..plays.optimism import Optimism
from ..policies import shared
from ..policies.contract import answer
from ..policies.ellipsoid_policy import coverage_of_maps, covers_of_maps, ridge_per_map
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.files import register


@register
class LEADER(Policy):
    r"""LEADER: OFUL on M feature maps that are all right; plays the action whose least upper bound is highest.

    With R the ``noise``, S the ``parameter_bound`` and :math:`\lambda_i` the ``regularization``:

    .. math:: a_t = \arg\max_a \min_i \langle \phi^i(a), \hat\theta_i \rangle + \beta_i |\phi^i(a)|_{V_i^{-1}}, \quad
              \beta_i = R \sqrt{\log\det(V_i / \lambda_i) + 2 \log(M / \delta)} + \sqrt{\lambda_i} S

    All maps learn from every reward.

    Parameters
    ----------
    n_models, dim: as :class:`FSIDS` has them.
    noise, scale: as :class:`OFUL` has them.
    parameter_bound: S, a bound on the norm of every map's parameter.
    delta: some set fails with at most this probability, over all rounds and maps together.
    regularization: ridge penalty lambda, a number or one per map; by default :math:`\lambda_i = d_i R^2 / S^2`.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and S
        then bounds the parameter with its constant term.

    Notes
    -----
    Its assumption is stronger than that of any other policy over maps: *every* map is to explain the mean rewards of
    all actions exactly. It then chooses the map that is best to learn with, at every action anew. One map that is
    wrong spoils it: its bounds become tight around rewards that are not true, the least of all bounds is that of the
    wrong map, and the best action may never be played again. Where only some map is right, take :class:`FSOFUL`.

    Guarantee: if all maps are right and every reward is learned before the next act, with probability 1 - delta the
    regret of T rounds is at most

    .. math:: \sum_{t \le T} \min_i 2 \beta_{i,t} |\phi^i(a_t)|_{V_{i,t}^{-1}},

    which is ``regret_bound``, since every bound holds for the best action and for the one that is played. It is at most
    what OFUL on any single map would be charged for the same actions; log M enters the radii alone. In the reference
    the regret is also bounded by a constant where one map, or a combination of maps, has a spectral property.

    Reference: Papini, Tirinzoni, Restelli, Lazaric, Pirotta, "Leveraging good representations in linear contextual
    bandits", ICML 2021. Their code gives every map the whole delta; here each has delta / M.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = LEADER(n_models=2, dim=[2, 4], noise=0.1, seed=0)
    >>> for _ in range(100):
    ...     short = rng.normal(size=(5, 2))
    ...     decision = policy.act([short, np.hstack([short, rng.normal(size=(5, 2))])])
    ...     policy.update(decision, decision.features[0, :2] @ [0.6, -0.6] + 0.1 * rng.normal())
    >>> policy.parameters.round(1)
    array([[ 0.6, -0.6,  0. ,  0. ],
           [ 0.6, -0.6,  0. , -0. ]])
    """

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    noise: float | ArrayLike = shared.NOISE
    parameter_bound: float | ArrayLike = shared.PARAMETER_BOUND
    delta: float = shared.DELTA
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    scale: float = shared.SCALE
    intercept: bool = shared.NO_INTERCEPT

    parameters = answer("parameters", "Ridge estimates of the maps, ``(M, d)``.")
    constants = answer("constants", "Their constant terms, ``(M,)``; 0 without an intercept.")
    squared_radii = answer("squared_radii", "Squared radii of the confidence ellipsoids in the norms of V, ``(M,)``.")
    regret_bound = answer(
        "regret_bound", "Twice the least widths of what was played: bounds the regret while all sets are valid."
    )

    covers, coverage = covers_of_maps, coverage_of_maps

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the ellipsoids of all maps, which all hold, played by optimism."""
        bank, terms = ridge_per_map(self, lanes)
        return Ellipsoids(bank, delta=self.delta / self.n_models, scale=self.scale, least=True, **terms), Optimism()
