"""LEADER: optimism by the most cautious of M feature maps, all of which are taken to be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers, Widths, YesNo
from ..kernels.acting import every_bound
from ..kernels.rounds import play_least
from ..parts.experts import RidgeBank
from ..types import Array, Index
from .regimes.optimism import Ellipsoids, MapSetsPolicy
from .regimes.ridge_per_map import RidgePerMap


class LeastBounds(Ellipsoids):
    """The same ellipsoids, all of which hold: a reward is at most the least of their upper bounds."""

    play_kernel = staticmethod(play_least)

    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that every set allows, ``(n, K)``."""
        out = np.empty((ids.size, self.bank.dims.size, x.shape[2]))
        every_bound(ids, x, self.bank.theta, self.bank.root, self.bank.dims, self.radii, self.scale, out)
        return out.min(axis=1)


@register
class LEADER(RidgePerMap, MapSetsPolicy):
    r"""LEADER: OFUL on M feature maps that are all right; plays the action whose least upper bound is highest.

    With R the ``noise``, S the ``parameter_bound`` and :math:`\lambda_i` the ``regularization``:

    .. math:: a_t = \arg\max_a \min_i \langle \phi^i(a), \hat\theta_i \rangle + \beta_i |\phi^i(a)|_{V_i^{-1}}, \quad
              \beta_i = R \sqrt{\log\det(V_i / \lambda_i) + 2 \log(M / \delta)} + \sqrt{\lambda_i} S

    All maps learn from every reward.

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards.
    parameter_bound: S, a bound on the norm of every map's parameter.
    delta: some set fails with at most this probability, over all rounds and maps together.
    regularization: ridge penalty lambda, a number or one per map; by default :math:`\lambda_i = d_i R^2 / S^2`.
    scale: multiplies the radii; 1 is the theory, less is practice.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and S
        speaks of the whole parameter then.

    Attributes
    ----------
    parameters: ``(M, d)``.  constants: ``(M,)``, the constant terms.  squared_radii: ``(M,)``.
    covers(theta, model).
    regret_bound: of the regret so far, with probability 1 - delta, if every reward is learned before the next act.

    Notes
    -----
    Its assumption is stronger than that of any other policy over maps: *every* map is to explain the mean rewards of
    all actions exactly. It then chooses the map that is best to learn with, at every action anew. One map that is
    wrong spoils it: its bounds become tight around rewards that are not true, the least of all bounds is that of the
    wrong map, and the best action may never be played again. Where only some map is right, take :class:`FSOFUL`.

    Guarantee: if all maps are right, with probability 1 - delta the regret of T rounds is at most

    .. math:: \sum_{t \le T} \min_i 2 \beta_{i,t} |\phi^i(a_t)|_{V_{i,t}^{-1}},

    which is ``regret_bound``, since every bound holds for the best action and for the one that is played. It is at most
    what OFUL on any single map would be charged for the same actions; log M enters the radii alone. In the reference
    the regret is also bounded by a constant where one map, or a combination of maps, has a spectral property.

    References
    ----------
    Papini, Tirinzoni, Restelli, Lazaric, Pirotta, "Leveraging good representations in linear contextual bandits", ICML
    2021. Their code gives every map the whole delta; here each has delta / M.

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

    reward_units = ("noise", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST, optional=True),
        "scale": Number(low=0.0),
        "intercept": YesNo(),
    }
    _sets: LeastBounds

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike | None = None,
        scale: float = 1.0,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.scale = scale
        self.intercept = intercept
        super().__init__(lanes, seed)

    def _begin(self, lanes: int) -> None:
        bank, told = self._fresh_ridges(lanes)
        self._sets = LeastBounds(bank, delta=self.delta / int(self.n_models), scale=self.scale, **told)

    @property
    def _ridges(self) -> RidgeBank:
        return self._sets.bank

    @property
    def squared_radii(self) -> Array:
        """Squared radii of the confidence ellipsoids in the norms of V, ``(M,)``."""
        return self._answer(self._sets.scale**2 * self._sets.radii)

    @property
    def regret_bound(self) -> Any:
        """Twice the least widths of what was played: bounds the regret while all sets are valid."""
        return self._answer(self._sets.scale * self._sets.ellipsoid.spent)
