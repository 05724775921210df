"""PS-OFUL: OFUL that selects among M regions of the parameter space."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers import validation
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Choice, Constraint, Interval, Number, Numbers
from ..kernels.acting import Drawn
from ..kernels.rounds import ALL_OFFERED, play_tiles
from ..parts.confidence import Alarm, LikelihoodSets, chi_square_quantile
from ..parts.regions import Regions
from ..types import Array, Index, Mask
from .base import Played, Policy, per_lane
from .likelihood import LikelihoodPolicy
from .oful import lane_vectors
from .printed_ps import PrintedSet
from .registry import register


@register
class PSOFUL(LikelihoodPolicy):
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
    predictions (:class:`~banditselect.policies.printed_ps.PrintedSet` lists the corrections that it needs to run).

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
    scale: multiplies the radius of the sets; 1 is the theory, less is practice.
    shapes: positive definite matrices ``(M, d, d)``; costs M d^2 per round where balls cost d^2 + M d.
    prior_weights: of the models, ``(M,)``, equal by default; normalised to sum 1.
    misspecification: eps, for rewards within eps of linear.

    Attributes
    ----------
    model_weights, admissible: ``(M,)``.  squared_radii: ``(M,)``; with ``"paper"`` one number.  parameters: ``(M, d)``.
    covers(theta).
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
        "centers": Numbers(shapes=((None, None), (None, None, None))),
        "radii": Numbers(shapes=((), (None,), (None, None)), low=0.0),
        "center_errors": Numbers(shapes=((), (None,), (None, None)), low=0.0),
        "radius_errors": Numbers(shapes=((), (None,), (None, None)), low=0.0),
        "noise": Number(low=SMALLEST, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "confidence": Choice(("likelihood", "paper")),
        "likelihood": Choice(("evidence", "online")),
        "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_bound": Number(low=0.0, per_lane=True, optional=True),
        "reward_range": Interval(optional=True),
        "scale": Number(low=0.0),
        "shapes": Numbers(shapes=((None, None, None),), optional=True),
        "prior_weights": Numbers(shapes=((None,),), low=0.0, optional=True),
        "misspecification": Number(low=0.0),
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
        scale: float = 1.0,
        shapes: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
        misspecification: float = 0.0,
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
        self.scale = scale
        self.shapes = shapes
        self.prior_weights = prior_weights
        self.misspecification = misspecification
        super().__init__(lanes, seed)

    @classmethod
    def from_mixture(
        cls, means: ArrayLike, covariances: ArrayLike, weights: ArrayLike, *, coverage: float = 0.95, **arguments: Any
    ) -> Self:
        """Build the policy from a Gaussian mixture, e.g. one fitted to the parameters of past tasks.

        Each component becomes an ellipsoid that holds a share ``coverage`` of it, its weight the prior weight.

        Parameters
        ----------
        means: ``(M, d)``.  covariances: ``(M, d, d)``, or variances ``(M, d)``.  weights: ``(M,)``.
        arguments: of the constructor, such as ``noise`` and ``delta``.
        """
        validation.Number(low=0.0, high=1.0, above=True, below=True).check("from_mixture: coverage", coverage, None)
        validation.Numbers(shapes=((None, None),)).check("from_mixture: means", means, None)
        d = np.shape(means)[-1]
        validation.Numbers(shapes=((None, d, d), (None, d))).check("from_mixture: covariances", covariances, None)
        shapes = np.asarray(covariances, dtype=float)
        shapes = shapes[:, :, None] * np.eye(d) if shapes.ndim == 2 else shapes
        radius = float(np.sqrt(chi_square_quantile(coverage, d)))
        return cls(centers=means, radii=radius, shapes=shapes, prior_weights=weights, **arguments)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> Sequence[str]:
        regions = Regions.read(
            "PSOFUL",
            self.lanes,
            self.centers,
            self.shapes,
            radii=self.radii,
            center_errors=self.center_errors,
            radius_errors=self.radius_errors,
        )
        self._rank = np.argsort(regions.order, axis=1)
        printed = self.confidence == "paper"
        self._noise = per_lane(self.noise, lanes)
        lam = regions.printed_regularization() if printed else regions.regularization(self._noise)
        self._bank = regions.bank(lam)
        self._sets = LikelihoodSets(
            self._bank,
            noise=self._noise,
            penalty=regions.penalty(lam),
            prior=self._prior(lam.shape[1])[regions.order],
            delta=self.delta,
            online=self.likelihood == "online",
            misspecification=self.misspecification,
        )
        self._alarm = Alarm(lanes=lanes, delta=self.delta, misspecification=self.misspecification)
        if not printed:
            self._rival = regions.wide_ridge(self._noise)
            return ("_bank", "_sets", "_alarm", "_rival")
        self._printed = PrintedSet(regions.center, regions.radius, self._constants(lanes), self.reward_range)
        self._sqalg, self._target = self._printed.sqalg, self._printed.target
        return ("_bank", "_sets", "_alarm", "_sqalg", "_target")

    def _prior(self, M: int) -> Array:
        weights = np.ones(M) if self.prior_weights is None else np.asarray(self.prior_weights, dtype=float)
        if weights.shape != (M,) or weights.min() <= 0.0:
            raise validation.refuse("PSOFUL: prior_weights", self.prior_weights, f"numbers > 0 of shape ({M},)")
        return weights / weights.sum()

    def _constants(self, lanes: int) -> list[dict[str, float]]:
        """Return what the printed formulas take, per lane; what is missing is asked for by name."""
        for name in ("feature_bound", "reward_bound"):
            if getattr(self, name) is None:
                raise validation.refuse(f"PSOFUL: {name}", None, 'a number, since confidence="paper" was chosen')
        foreign = {
            "shapes": self.shapes,
            "prior_weights": self.prior_weights,
            "misspecification": self.misspecification,
        }
        for name, value in foreign.items():
            if value is not None and np.any(np.asarray(value) != 0.0):
                raise validation.refuse(f"PSOFUL: {name}", value, 'its default, since confidence="paper" was chosen')
        columns = {name: per_lane(getattr(self, name), lanes) for name in ("noise", "feature_bound", "reward_bound")}
        return [{"delta": self.delta, **{k: float(v[n]) for k, v in columns.items()}} for n in range(lanes)]

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        if self.confidence == "paper":
            return self._printed.distribution(ids, x, offered, self.scale), None
        return super()._distribution(ids, x, offered)

    def _play(self, ids: Index, x: Array, offered: Mask, drawn: Drawn, played: Array) -> Played:
        if self.confidence == "paper":
            return Policy._play(self, ids, x, offered, drawn, played)
        bank, radii, keys, book = self._bank, self._sets.squared_radii, self._streams.keys, self._ledger.book
        mask = offered if offered.size else ALL_OFFERED
        status = play_tiles(
            ids, x, bank.tiles, bank.root, bank.group, radii, float(self.scale), mask, keys, book, drawn, played
        )
        return status, None

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        f = self._bank.learn(ids, x, y)
        if self.confidence == "paper":
            self._printed.learn(ids, x, f, y)
            self._say(self._sqalg.warning())
            if self._alarm.sound(ids, self._printed.squared_radius(ids) < 0.0):
                self._say(
                    "the printed confidence set is empty: its constants do not hold. No further warning is given."
                )
        else:
            self._rival.learn(ids, x, y)
            logdet, J, _ = self._rival.evidence[ids, :, 0].T
            self._watch(ids, J + self._sets.variance[ids] * logdet)

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        self._rank = np.concatenate([self._rank, fresh._rank])
        if self.confidence == "paper":
            self._printed.extend(fresh._printed)

    def _per_model(self, array: NDArray[Any]) -> Any:
        rank = self._rank.reshape(self._rank.shape + (1,) * (array.ndim - 2))
        return self._told(np.take_along_axis(array, rank, axis=1))

    def _is_per_lane(self, name: str, value: Any) -> bool:
        axes = {"centers": 3, "radii": 2, "center_errors": 2, "radius_errors": 2}
        return super()._is_per_lane(name, value) or np.ndim(value) == axes.get(name)

    def covers(self, theta: ArrayLike) -> Any:
        """Tell whether the confidence set contains ``theta``, ``(d,)`` or one per lane ``(N, d)``."""
        thetas = lane_vectors(theta, self._size, self._bank.tiles.shape[2])
        if self.confidence == "paper":
            return self._told(self._printed.covers(thetas, self.scale))
        return self._told(np.asarray(self._inside(thetas).any(axis=1)))

    @property
    def model_weights(self) -> Array:
        """Weights of the models, ``(M,)``: posterior, or those of SqAlg with ``"paper"``."""
        if self.confidence == "paper":
            return self._per_model(self._sqalg.weights(self._all))
        return super().model_weights

    @property
    def squared_radii(self) -> Any:
        """The squared radii of the models' sets, ``(M,)``, or of the one set with ``"paper"``; negative if empty."""
        if self.confidence == "paper":
            return self._told(self.scale**2 * self._printed.squared_radius(self._all))
        return super().squared_radii

    @property
    def admissible(self) -> Mask:
        """Which models are not refuted, or with ``"paper"`` admissible, ``(M,)``."""
        if self.confidence == "paper":
            return self._per_model(self._sqalg.alive)
        return super().admissible
