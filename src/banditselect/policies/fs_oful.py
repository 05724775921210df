"""FS-OFUL: optimism over the union of the confidence sets of M feature maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import (
    SMALLEST,
    Constraint,
    Number,
    Numbers,
    Widths,
)
from ..parts.experts import RidgeBank, penalties
from ..types import Array
from .regimes.blocks import answer_by_map
from .regimes.likelihood import LIKELIHOOD_ARGUMENTS, MapsUnion, SelectionPolicy
from .regimes.optimism import MapSetsPolicy
from .regimes.roster import MapRoster


@register
class FSOFUL(MapSetsPolicy, SelectionPolicy, MapRoster):
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

    reward_units = ("noise", "parameter_bound", "misspecification")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "blocks": Widths(),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST, optional=True),
        **LIKELIHOOD_ARGUMENTS,
    }

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        blocks: int | Sequence[int] = 1,
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike | None = None,
        likelihood: str = "evidence",
        scale: float = 1.0,
        misspecification: float = 0.0,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.blocks = blocks
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.likelihood = likelihood
        self.scale = scale
        self.misspecification = misspecification
        self.intercept = intercept
        super().__init__(lanes, seed)

    def _begin(self, lanes: int) -> None:
        M, (widths, several) = int(self.n_models), self._maps()
        dims, blocks = np.array(widths) + bool(self.intercept), np.array(several)
        noise, bound = per_lane(self.noise, lanes), per_lane(self.parameter_bound, lanes)
        lam = penalties("FSOFUL: regularization", self.regularization, blocks * dims, noise, bound)
        with np.errstate(invalid="ignore"):
            penalty = np.where(np.isinf(lam), 0.0, lam * bound[:, None] ** 2)
        self._sets: MapsUnion = MapsUnion(
            RidgeBank(lanes=lanes, dims=dims, regularization=lam, blocks=blocks),
            penalty=penalty,
            prior=np.full(M, 1.0 / M),
            **self._set_arguments(lanes),
        )

    def _tell(self, array: Array) -> Any:
        return answer_by_map(self, array)

    _partly = False  # the radius of a set speaks of all rewards that its model has learned

    @property
    def _weighing(self) -> MapsUnion:
        return self._sets
