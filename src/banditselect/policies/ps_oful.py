"""PS-OFUL: OFUL that selects among M regions of the parameter space."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.binding import Binding
from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, Numbers, OneOf, prior_weights
from ..parts.confidence import chi_square_quantile
from ..parts.regions import Regions, mixture_shapes
from .regimes.likelihood import LIKELIHOOD_ARGUMENTS, RegionsUnion, SelectionPolicy
from .regimes.printed_ps import PrintedSet
from .regimes.roster import RegionRoster

PER_MODEL = Numbers(shapes=((), (None,), (None, None)), low=0.0, lane_axes=2)


@register
class PSOFUL(SelectionPolicy, RegionRoster):
    r"""Parameter-selection OFUL (PS-OFUL): the reward parameter lies in one of M balls or ellipsoids, unknown in which.

    Model i is the ball about :math:`\hat\mu_i` (``centers``) of radius :math:`r_i = b_i + c_i + c'_i` (``radii``,
    ``center_errors``, ``radius_errors``), or, with ``shapes`` :math:`P_i`, the ellipsoid
    :math:`(\theta - \hat\mu_i)^\top P_i^{-1} (\theta - \hat\mu_i) \le r_i^2`. Its expert is the ridge regression about
    :math:`\hat\mu_i`. A radius of 0 is a known parameter.

    ``confidence="likelihood"`` plays optimistically over the union of the sequential likelihood-ratio sets

    .. math:: |\theta - \hat\theta_i|^2_{V_i} \le \rho_i^2 = B_t + 2 R^2 \log(1 / \delta) + \lambda_i r_i^2 - J_i

    of the models that are not refuted (``LikelihoodSets``). Any :math:`\lambda_i` is
    valid; :math:`d R^2 / r_i^2`, rounded to a power of two so that few inverses are kept, nearly minimises the radius.

    ``confidence="paper"`` is Algorithm 2 as printed: one ellipsoid of radius :math:`\gamma_t` around the aggregated
    predictions (``regimes.printed_ps.PrintedSet`` lists the corrections that it needs to run).

    Parameters
    ----------
    centers: ``(M, d)``, or one set per lane ``(N, M, d)``; features are ``(K, d)``.
    radii, center_errors, radius_errors: numbers >= 0, one per model ``(M,)``, or ``(N, M)``.
    noise: sub-Gaussian constant R of the rewards.
    delta: the sets fail with at most this probability, over all rounds together.
    confidence: ``"likelihood"`` or ``"paper"``.
    likelihood: ``"evidence"`` or ``"online"``, the loss in :math:`B_t`; both are valid. Online may win for wide balls.
    feature_bound (L), reward_bound (G): needed for ``confidence="paper"`` only.
    reward_range: for ``confidence="paper"``: the range that SqAlg weighs experts on; None for the printed one, which is
        so wide that weights hardly move.
    aggregation_rate: for ``confidence="paper"``: multiplies the rate :math:`\eta` of SqAlg; above 1 is practice.
    scale: multiplies the radius of the sets; 1 is the theory, less is practice.
    shapes: positive definite matrices ``(M, d, d)``; costs M d^2 per round where balls cost d^2 + M d.
    prior_weights: of the models, ``(M,)``, equal by default; normalised to sum 1.
    misspecification: eps, for rewards within eps of linear.
    intercept: whether a constant feature 1 stands before the features. The centres are 0 there, the radii those of the
        whole parameter, and ``shapes`` are ``(M, d + 1, d + 1)``, the constant first; the paper knows none.

    Attributes
    ----------
    model_weights, admissible: ``(M,)``.  squared_radii: ``(M,)``; with ``"paper"`` one number.  parameters: ``(M, d)``.
    constants: ``(M,)``, the constant terms.  covers(theta).
    misspecified: whether it is proved at level delta that no model is true or the noise larger; with ``"paper"`` only
        whether the printed set became empty.

    Notes
    -----
    Guarantee: the sets hold at every round with probability 1 - delta, and choosing among M models costs an additive
    :math:`2 R^2 \log M` in the squared radius, with constant one. The regret is bounded by
    ``theory.parameter_selection.likelihood_regret_bound`` at twice this delta and this policy's :math:`\lambda_i`. For
    ``"paper"`` nothing is claimed: the printed :math:`\gamma_t` rests on steps that fail (``docs/paper.md``).

    References
    ----------
    Moradipari, Turan, Abbasi-Yadkori, Alizadeh, Ghavamzadeh, "Feature and parameter selection in stochastic linear
    bandits", ICML 2022.

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

    reward_units = (
        "centers",
        "radii",
        "center_errors",
        "radius_errors",
        "noise",
        "reward_bound",
        "reward_range",
        "misspecification",
    )
    constraints: ClassVar[dict[str, Constraint]] = {
        "centers": Numbers(shapes=((None, None), (None, None, None)), lane_axes=3),
        "radii": PER_MODEL,
        "center_errors": PER_MODEL,
        "radius_errors": PER_MODEL,
        "confidence": OneOf(("likelihood", "paper")),
        "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_bound": Number(low=0.0, per_lane=True, optional=True),
        "reward_range": Bounds(optional=True),
        "aggregation_rate": Number(low=SMALLEST),
        "shapes": Numbers(shapes=((None, None, None),), optional=True),
        "prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True),
        **LIKELIHOOD_ARGUMENTS,
    }

    def __init__(
        self,
        *,
        centers: ArrayLike,
        radii: float | ArrayLike = 1.0,
        center_errors: float | ArrayLike = 0.0,
        radius_errors: float | ArrayLike = 0.0,
        noise: float | ArrayLike = 0.5,
        delta: float = 0.05,
        confidence: str = "likelihood",
        likelihood: str = "evidence",
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        reward_range: tuple[float, float] | None = None,
        aggregation_rate: float = 1.0,
        scale: float = 1.0,
        shapes: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
        misspecification: float = 0.0,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.centers = centers
        self.radii = radii
        self.center_errors = center_errors
        self.radius_errors = radius_errors
        self.noise = noise
        self.delta = delta
        self.confidence = confidence
        self.likelihood = likelihood
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.reward_range = reward_range
        self.aggregation_rate = aggregation_rate
        self.scale = scale
        self.shapes = shapes
        self.prior_weights = prior_weights
        self.misspecification = misspecification
        self.intercept = intercept
        super().__init__(lanes, seed)

    @classmethod
    def from_mixture(cls, means: ArrayLike, covariances: ArrayLike, weights: ArrayLike, **arguments: Any) -> Self:
        """Build the policy from a Gaussian mixture, e.g. one fitted to the parameters of past tasks.

        The arguments are those of :meth:`bind_mixture`.
        """
        return cls.bind_mixture(means, covariances, weights, **arguments)()

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

        Each component becomes an ellipsoid that holds a share ``coverage`` of it, its weight the prior weight.

        Parameters
        ----------
        means: ``(M, d)``.  weights: ``(M,)``.
        covariances: ``"full"`` ``(M, d, d)``, ``"tied"`` ``(d, d)``, ``"diag"`` ``(M, d)`` or ``"spherical"`` ``(M,)``;
            with an intercept of d + 1 entries, the constant first.
        covariance_type: which of these, in the words of scikit-learn; must be told where M = d, else their shape tells.
        arguments: of the constructor, such as ``noise`` and ``delta``.
        """
        validation.Number(low=0.0, high=1.0, above=True, below=True).check("from_mixture: coverage", coverage, None)
        shapes = mixture_shapes(means, covariances, covariance_type, bool(arguments.get("intercept", False)))
        radius = float(np.sqrt(chi_square_quantile(coverage, shapes.shape[1])))
        return cls.bind(centers=means, radii=radius, shapes=shapes, prior_weights=weights, **arguments)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        radii = {name: getattr(self, name) for name in ("radii", "center_errors", "radius_errors")}
        constant = bool(self.intercept)
        regions = Regions.read("PSOFUL", self.lanes, self.centers, self.shapes, constant=constant, **radii)
        if self.confidence == "paper":
            self._sets = PrintedSet(self, regions)
        else:
            prior = prior_weights("PSOFUL: prior_weights", self.prior_weights, regions.radius.shape[1])
            self._sets = RegionsUnion(regions, prior=prior, **self._set_arguments(lanes))

    _holder = "_sets"

    def _free(self) -> None:
        super()._free()
        if self.confidence == "paper":
            expected = '"likelihood", since the printed set is a formula for a list of models that stays'
            raise validation.refuse("PSOFUL: confidence", self.confidence, expected)
