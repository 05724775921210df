"""FS-OFUL: optimism over the union of the confidence sets of M feature maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..models.likelihood import MapSets
from ..models.model import Model
from ..models.ridge_bank import RidgeBank, known_as_zero, penalties
from ..plays.optimism import Optimism
from ..plays.play import Play
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf, Widths, YesNo
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..types import Array
from . import shared
from .contract import answer
from .ellipsoid_policy import coverage_of_maps, covers_of_maps
from .members import MapPolicy, prior_of


@register
class FSOFUL(MapPolicy):
    r"""FS-OFUL: likelihood-ratio confidence sets for M feature maps, optimism over those not refuted.

    .. math:: a_t = \arg\max_a \max_{i : \rho_i^2 \ge 0}
              \langle \phi^i(a), \hat\theta_i \rangle + \rho_i |\phi^i(a)|_{V_i^{-1}}

    with :math:`\rho_i^2` as in ``LikelihoodSets``. No range, no horizon and no radius to
    tune; a map that is refuted is no longer played.

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    blocks: how many separate parameters each map has, a number or one per map, for disjoint arms: an action has one of
        them, and the features of a map that has several are ``Blocked(values, block)``, ``(K, d_i)`` and ``(K,)``, in
        the list of maps. Such a map has an intercept per block; all blocks count in :math:`d_i`.
    noise: sub-Gaussian constant R of the rewards.
    parameter_bound: S, a bound on the norm of the true map's parameter.
    delta: the sets fail with at most this probability, over all rounds together.
    regularization: ridge penalty lambda, a number or one per model; by default :math:`\lambda_i = d_i R^2 / S^2`, which
        nearly minimises the radii.
    likelihood: ``"evidence"`` or ``"online"``, the loss :math:`L_i`; both are valid.
    scale: multiplies the radii; 1 is the theory, less is practice.
    misspecification: eps, for rewards within eps of linear.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and S
        speaks of the whole parameter then.

    Attributes
    ----------
    model_weights, admissible, squared_radii: ``(M,)``.  parameters: ``(M, d)``.  constants: ``(M,)``, the constant
    terms; with blocks both are lists, of a map with several blocks ``(blocks, d_i)`` and ``(blocks,)``.
    covers(theta, model).  misspecified.

    Notes
    -----
    Guarantee: the sets hold at every round with probability 1 - delta. The regret bound
    ``theory.feature_selection.union_regret_bound`` grows with sqrt(M) in the worst case, and an example in
    ``docs/math.md`` has regret linear in M; on the paper's problems it grows far slower (``docs/results.md``). FS-SCB
    with ``"corrected"`` has log M in its bound.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = FSOFUL(n_models=3, dim=2, noise=0.1, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act(rng.normal(size=(3, 5, 2)))
    ...     policy.update(decision, decision.features[2] @ [0.6, -0.6] + 0.1 * rng.normal())
    >>> policy.admissible
    array([False, False,  True])
    >>> policy.covers([0.6, -0.6], model=2)
    True
    """

    n_models: int = argument(Number(low=1, integer=True))
    dim: int | Sequence[int] = argument(Widths())
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike = shared.NOISE
    parameter_bound: float | ArrayLike = shared.PARAMETER_BOUND
    delta: float = shared.DELTA
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    likelihood: str = argument(OneOf(("evidence", "online")), default="evidence")
    scale: float = shared.SCALE
    misspecification: float = shared.MISSPECIFICATION
    intercept: bool = argument(YesNo(), default=False)

    _needs_every_reward = True  # the radius of a set speaks of all rewards that its model has learned

    squared_radii = answer(
        "squared_radii", "Squared radii of the sets, ``scale`` included, ``(M,)``; negative where the model is refuted."
    )
    admissible = shared.ADMISSIBLE
    misspecified = shared.MISSPECIFIED

    def build(self, lanes: int) -> tuple[Model, Play]:
        """Return the likelihood-ratio sets of all maps, played by optimism."""
        maps, noise, bound = self._maps(), per_lane(self.noise, lanes), per_lane(self.parameter_bound, lanes)
        widths = np.array(maps.blocks) * (np.array(maps.dims) + self.intercept)
        lam = penalties("FSOFUL: regularization", self.regularization, widths, noise, bound)
        sets = MapSets(
            RidgeBank.of(maps, lanes, lam, constant=self.intercept),
            noise=noise,
            penalty=known_as_zero(lam) * bound[:, None] ** 2,
            prior=prior_of(self),
            delta=self.delta,
            online=self.likelihood == "online",
            misspecification=self.misspecification,
            scale=self.scale,
        )
        return sets, Optimism()

    def covers(self, theta: ArrayLike, model: int | None = None) -> Any:
        """Return whether the set of ``model`` (of any, by default) contains ``theta``, ``(d_i,)`` or ``(N, d_i)``.

        With an intercept it has d_i + 1 entries, the constant first; with blocks those of one after those of the other.
        """
        return covers_of_maps(self, theta, model)

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Return for each lane whether the set of the true ``model`` holds the true ``parameter``, ``(N,)``."""
        return coverage_of_maps(self, parameter, model)
