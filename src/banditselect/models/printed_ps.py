"""The confidence set of PS-OFUL as the paper prints it."""

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import ridge
from ..kernels.features import Features
from ..runtime.lanes import per_lane
from ..theory import parameter_selection, trusted
from ..types import Array, Index, Mask
from .alarms import Alarm
from .region_layout import Regions
from .ridge_bank import BankModel, RidgeBank
from .sqalg import SqAlg

prediction_bound, gamma = trusted(parameter_selection.prediction_bound), trusted(parameter_selection.gamma)
EMPTY = "the printed confidence set is empty: its constants do not hold. No further warning is given."


class PrintedSet(BankModel):
    r"""One ellipsoid around the predictions of SqAlg (eq:PS-OFUL:ConfidenceSet), for N lanes.

    With :math:`\hat y_s` the aggregated predictions of the actions played, :math:`\gamma_t` the printed radius
    (eq:final-conf-set), L the feature bound, :math:`\lambda_0 = L^2` and S the largest :math:`|\hat\mu_i| + r_i`:

    .. math:: C_t = \Big\{\theta : \sum_{s \le t} (\hat y_s - \langle \phi_s, \theta \rangle)^2 + \lambda_0 |\theta|^2
              \le \gamma_t + \lambda_0 S^2\Big\}

    Corrections without which it does not run: the ridge :math:`\lambda_0` replaces the first d rounds of actions
    :math:`L e_i`, which given action sets do not offer; data up to t go with :math:`\gamma_t`; the residual is kept,
    which makes the set exact; admissibility is two-sided (ps-oful-admissible-expert), the range of SqAlg is the largest
    over the models and grows with t; y' is scaled with beta; the prediction is Vovk's substitution.

    Parameters
    ----------
    regions: the balls.
    noise, feature_bound, reward_bound: R, L and G, numbers or ``(N,)``.  delta: the set fails with this probability.
    reward_range: the range of SqAlg, instead of the printed one.  rate: multiplies the rate of SqAlg.
    scale: multiplies the radius.

    Attributes
    ----------
    bank: the experts.  target: the ridge on the aggregated predictions.
    bounds: of admissible predictions after the last update, ``(N, M)``.
    squared: the squared radius around the estimate of the target without the scale, ``(N,)``; negative if empty.
    """

    state = ("bounds", "squared")
    fixed = ("noise", "feature_bound", "reward_bound", "radius", "prior", "rank")
    fixed_members = 'confidence="paper" was chosen, whose set is a formula for a list of models that stays'

    def __init__(
        self,
        regions: Regions,
        *,
        noise: ArrayLike,
        feature_bound: ArrayLike,
        reward_bound: ArrayLike,
        delta: float,
        reward_range: tuple[float, float] | None = None,
        rate: float = 1.0,
        scale: float = 1.0,
    ) -> None:
        with np.errstate(divide="ignore", over="ignore"):
            regularization = 1.0 / regions.radius**2  # infinite for a known parameter
        super().__init__(regions.bank(regularization))
        N, M, d = regions.center.shape
        self.scale, self.reward_range = float(scale), reward_range
        self._formula: dict[str, Any] = {"dim": d, "delta": delta, "form": "printed"}
        self.noise, self.feature_bound = per_lane(noise, N), per_lane(feature_bound, N)
        self.reward_bound, self.radius = per_lane(reward_bound, N), regions.radius
        self.prior = (self.feature_bound * (np.linalg.norm(regions.center, axis=2) + regions.radius).max(axis=1)) ** 2
        self.rank = np.argsort(regions.order, axis=1)
        self.target = RidgeBank.of(regions.feature_shape, N, self.feature_bound[:, None] ** 2)
        ids, self.bounds, self.squared = np.arange(N), np.empty((N, M)), np.empty(N)
        self._evaluate(ids)
        lower, upper = self._range(ids)
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M, rate=float(rate))
        self.alarm = Alarm(N, delta)

    def _evaluate(self, ids: Index) -> None:
        """Take the printed bounds and radii for the rewards that these lanes have learned."""
        terms = {name: getattr(self, name)[ids] for name in ("noise", "feature_bound", "reward_bound", "radius")}
        arguments = {"t": self.target.updates[ids], **self._formula, **terms}
        self.bounds[ids] = prediction_bound(**arguments)
        errors = gamma(n_models=self.radius.shape[1], **arguments)
        self.squared[ids] = errors + self.prior[ids] - self.target.penalised[ids, 0]

    def _range(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of rewards and predictions, the printed one (eq:temp06) or what was given, ``(n,)`` each."""
        if self.reward_range is not None:
            low, high = self.reward_range
            return np.full(ids.size, float(low)), np.full(ids.size, float(high))
        largest = self.bounds[ids].max(axis=1)
        return -largest, largest

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        """Return the largest reward that the set allows, ``(n, K)``; an empty set is a point."""
        target = self.target
        ellipsoids = target.theta, target.root, target.dims, target.first, np.maximum(self.squared, 0.0)[:, None]
        return ridge.upper_bounds(ids, x.values, x.block, ellipsoids, self.scale, False)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards: the experts, SqAlg, and the ridge on the aggregated predictions."""
        f = self.bank.step(ids, x, y)
        self.sqalg.drop(ids, self.sqalg.admit(ids, np.abs(f) - self.bounds[ids]))
        prediction = self.sqalg.predict(ids, np.ascontiguousarray(f[:, :, None]))[:, 0]
        self.target.step(ids, x, prediction)
        self._evaluate(ids)
        self.sqalg.update(ids, f, y)
        self.sqalg.widen(ids, *self._range(ids))
        self.warnings += self.sqalg.warnings()
        empty = self.squared[ids] < 0.0
        if self.alarm.raise_for(ids, empty, empty):
            self.warnings.append(EMPTY)

    misspecified = property(attrgetter("alarm.raised"))  #: in lanes in which the set became empty

    def covers(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Return whether the set of lane n holds ``thetas[n]``, ``(N,)``."""
        return self.target.distances(thetas)[:, 0] <= self.squared_radii()

    def weights(self) -> Array:
        """Return the weights of SqAlg, ``(N, M)``."""
        return self.in_given_order(self.sqalg.weights(np.arange(self.squared.size)))

    def squared_radii(self) -> Array:
        """Return the squared radius of the set, ``(N,)``."""
        return self.scale**2 * self.squared

    def admissible(self) -> Mask:
        """Return which experts are admissible, ``(N, M)``."""
        return self.in_given_order(self.sqalg.alive)
