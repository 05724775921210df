"""PS-OFUL: OFUL that selects among M regions of the parameter space."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..models.likelihood import RegionSets
from ..models.printed_ps import PrintedSet
from ..models.region_layout import Regions, mixture_shapes
from ..plays.optimism import Optimism
from ..runtime.arguments import argument
from ..runtime.binding import Binding
from ..runtime.constraints import Bounds, Number, OneOf
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.quantiles import chi_square_quantile
from . import shared
from .contract import answer
from .ellipsoid_policy import covers_of_maps
from .members import RegionPolicy, prior_of


@register
class PSOFUL(RegionPolicy):
    r"""Parameter-selection OFUL (PS-OFUL): the reward parameter lies in one of M balls or ellipsoids, unknown in which.

    Model i is the ball about :math:`\hat\mu_i` (``centers``) of radius :math:`r_i = b_i + c_i + c'_i` (``radii``,
    ``center_errors``, ``radius_errors``), or, with ``shapes`` :math:`P_i`, the ellipsoid
    :math:`(\theta - \hat\mu_i)^\top P_i^{-1} (\theta - \hat\mu_i) \le r_i^2`. Its expert is the ridge regression about
    :math:`\hat\mu_i`. A radius of 0 is a known parameter.

    ``confidence="likelihood"`` plays optimistically over the union of the sequential likelihood-ratio sets

    .. math:: |\theta - \hat\theta_i|^2_{V_i} \le \rho_i^2 = B_t + 2 R^2 \log(1 / \delta) + \lambda_i r_i^2 - J_i

    of the models that are not refuted (``models.likelihood``). Any :math:`\lambda_i` is valid;
    :math:`d R^2 / r_i^2`, rounded to a power of two so that few inverses are kept, nearly minimises the radius.

    ``confidence="paper"`` is Algorithm 2 as printed: one ellipsoid of radius :math:`\gamma_t` around the aggregated
    predictions (``models.printed_ps.PrintedSet`` lists the corrections that it needs to run).

    Parameters
    ----------
    centers: ``(M, d)``, or one set per lane ``(N, M, d)``; features are ``(K, d)``.
    shapes, prior_weights: as :class:`PSIDS` has them.
    radii, center_errors, radius_errors: numbers >= 0, one per model ``(M,)``, or ``(N, M)``.
    noise, delta, scale: as :class:`OFUL` has them.
    confidence: ``"likelihood"`` or ``"paper"``.
    likelihood: ``"evidence"`` or ``"online"``, the loss in :math:`B_t`; both are valid. Online may win for wide balls.
    feature_bound (L), reward_bound (G): needed for ``confidence="paper"`` only.
    reward_range: for ``confidence="paper"``: the range that SqAlg weighs experts on; None for the printed one, which is
        so wide that weights hardly move.
    aggregation_rate: for ``confidence="paper"``: multiplies the rate :math:`\eta` of SqAlg; above 1 is practice.
    misspecification: eps, for rewards within eps of linear.
    intercept: whether a constant feature 1 stands before the features. The centres are 0 there, the radii those of the
        whole parameter, and ``shapes`` are ``(M, d + 1, d + 1)``, the constant first; the paper knows none.

    Notes
    -----
    Guarantee: the sets hold at every round with probability 1 - delta, and choosing among M models costs an additive
    :math:`2 R^2 \log M` in the squared radius, with constant one. The regret is bounded by
    ``theory.parameter_selection.likelihood_regret_bound`` at twice this delta and this policy's :math:`\lambda_i`. For
    ``"paper"`` nothing is claimed: the printed :math:`\gamma_t` rests on steps that fail (``docs/paper.md``); there is
    one squared radius, and ``misspecified`` says whether the printed set became empty.

    Reference: Moradipari, Turan, Abbasi-Yadkori, Alizadeh, Ghavamzadeh, "Feature and parameter selection in stochastic
    linear bandits", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = PSOFUL(centers=[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], radii=0.2, noise=0.1, seed=0)
    >>> for _ in range(100):
    ...     decision = policy.act(rng.normal(size=(5, 2)))
    ...     policy.update(decision, decision.features @ [0.1, 1.1] + 0.1 * rng.normal())
    >>> policy.admissible
    array([False,  True, False])
    >>> policy.covers([0.1, 1.1])
    True
    """

    centers: ArrayLike = argument(shared.CENTERS, unit="reward")
    radii: float | ArrayLike = shared.RADII
    center_errors: float | ArrayLike = shared.RADIUS_ERRORS
    radius_errors: float | ArrayLike = shared.RADIUS_ERRORS
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    confidence: str = argument(OneOf(("likelihood", "paper")), default="likelihood")
    likelihood: str = shared.LIKELIHOOD
    feature_bound: float | ArrayLike | None = shared.FEATURE_BOUND_OR_NONE
    reward_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    reward_range: tuple[float, float] | None = argument(Bounds(optional=True), default=None, unit="reward")
    aggregation_rate: float = shared.RATE_FACTOR
    scale: float = shared.SCALE
    shapes: ArrayLike | None = shared.SHAPES
    prior_weights: ArrayLike | None = shared.PRIOR_WEIGHTS
    misspecification: float = shared.MISSPECIFICATION
    intercept: bool = shared.NO_INTERCEPT

    squared_radii = answer(
        "squared_radii",
        "Squared radii of the sets, ``scale`` included, ``(M,)``; negative where one is refuted. The paper has one.",
    )
    admissible = shared.ADMISSIBLE
    misspecified = shared.MISSPECIFIED

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the likelihood-ratio sets of all regions, or the printed set, played by optimism."""
        radii = {name: getattr(self, name) for name in ("radii", "center_errors", "radius_errors")}
        regions = Regions.read("PSOFUL", self.lanes, self.centers, self.shapes, constant=self.intercept, **radii)
        if self.confidence == "paper":
            self.demand(
                'confidence="paper" was chosen',
                given=("feature_bound", "reward_bound"),
                default=("shapes", "prior_weights", "misspecification", "intercept"),
            )
            bounds: dict[str, Any] = {"feature_bound": self.feature_bound, "reward_bound": self.reward_bound}
            printed = PrintedSet(
                regions,
                noise=self.noise,
                delta=self.delta,
                reward_range=self.reward_range,
                rate=self.aggregation_rate,
                scale=self.scale,
                **bounds,
            )
            return printed, Optimism()
        noise, prior, online = per_lane(self.noise, lanes), prior_of(self), self.likelihood == "online"
        eps, scale = self.misspecification, self.scale
        sets = RegionSets(
            regions, noise=noise, prior=prior, delta=self.delta, online=online, misspecification=eps, scale=scale
        )
        return sets, Optimism()

    @classmethod
    def bind_mixture(
        cls,
        means: ArrayLike,
        covariances: ArrayLike,
        weights: ArrayLike,
        *,
        covariance_type: str | None = None,
        coverage: float = 0.95,
        **arguments: Any,
    ) -> Binding[Self]:
        """Return a factory of the policy of a Gaussian mixture, as ``bind`` does, for ``simulate``.

        The arguments are as :class:`PSIDS` has them; covariances are of the constant, first, and the parameter if there
        is an intercept. Each component becomes an ellipsoid that holds a share ``coverage`` of it, its weight the prior
        weight.
        """
        Number(low=0.0, high=1.0, above=True, below=True).check("from_mixture: coverage", coverage, None)
        shapes = mixture_shapes(means, covariances, covariance_type, bool(arguments.get("intercept", False)))
        radius = float(np.sqrt(chi_square_quantile(coverage, shapes.shape[1])))
        return cls.bind(centers=means, radii=radius, shapes=shapes, prior_weights=weights, **arguments)

    def covers(self, theta: ArrayLike) -> Any:
        """Return whether the confidence set contains ``theta``, ``(d,)`` or one per lane ``(N, d)``.

        With an intercept it has d + 1 entries, the constant first.
        """
        return covers_of_maps(self, theta, None)
