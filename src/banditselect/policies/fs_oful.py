"""FS-OFUL: optimism over the union of the confidence sets of M feature maps."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..models.likelihood import MapSets
from ..models.ridge_bank import known_as_zero
from ..plays.optimism import Optimism
from ..runtime.arguments import argument
from ..runtime.files import register
from . import shared
from .contract import answer
from .ellipsoid_policy import coverage_of_maps, covers_of_maps, ridge_per_map
from .members import MapPolicy, prior_of


@register
class FSOFUL(MapPolicy):
    r"""FS-OFUL: likelihood-ratio confidence sets for M feature maps, optimism over those not refuted.

    .. math:: a_t = \arg\max_a \max_{i : \rho_i^2 \ge 0}
              \langle \phi^i(a), \hat\theta_i \rangle + \rho_i |\phi^i(a)|_{V_i^{-1}}

    with :math:`\rho_i^2` as for :class:`PSOFUL`. No range, no horizon and no radius to tune; a map that is refuted is
    no longer played.

    Parameters
    ----------
    n_models, dim, blocks: as :class:`FSIDS` has them; all blocks of a map count in :math:`d_i`.
    noise: standard deviation of the rewards, or a bound on it. None: 0.5, a guess, with a warning if the rewards prove
        to be closer to a map than a third of it, since the sets are then far too wide.
    delta, scale: as :class:`OFUL` has them.
    parameter_bound: S, a bound on the norm of the true map's parameter.
    regularization: ridge penalty lambda, a number or one per model; by default :math:`\lambda_i = d_i R^2 / S^2`, which
        nearly minimises the radii.
    likelihood: ``"evidence"`` or ``"online"``, the loss :math:`L_i`; both are valid.
    misspecification: eps, for rewards within eps of linear.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and S
        speaks of the whole parameter then.

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

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike | None = shared.GUESSED_NOISE
    parameter_bound: float | ArrayLike = shared.PARAMETER_BOUND
    delta: float = shared.DELTA
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    likelihood: str = shared.LIKELIHOOD
    scale: float = shared.SCALE
    misspecification: float = shared.MISSPECIFICATION
    intercept: bool = shared.NO_INTERCEPT

    _needs_every_reward = True  # the radius of a set speaks of all rewards that its model has learned

    squared_radii = answer(
        "squared_radii", "Squared radii of the sets, ``scale`` included, ``(M,)``; negative where the model is refuted."
    )
    admissible = shared.ADMISSIBLE
    misspecified = shared.MISSPECIFIED
    covers, coverage = covers_of_maps, coverage_of_maps

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the likelihood-ratio sets of all maps, played by optimism."""
        bank, terms = ridge_per_map(self, lanes)
        sets = MapSets(
            bank,
            guessed=self.noise is None,
            noise=terms["noise"],
            penalty=known_as_zero(terms["regularization"]) * terms["bound"][:, None] ** 2,
            prior=prior_of(self),
            delta=self.delta,
            online=self.likelihood == "online",
            misspecification=self.misspecification,
            scale=self.scale,
        )
        return sets, Optimism()
