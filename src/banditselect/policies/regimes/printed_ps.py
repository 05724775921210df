"""The confidence set of PS-OFUL as the paper prints it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...carriers import validation
from ...carriers.lanes import PerLane, per_lane
from ...kernels.features import clean
from ...kernels.ledger import settle
from ...kernels.rounds import DONE, UNUSABLE, play_ridges
from ...parts.aggregation import SqAlg
from ...parts.confidence import Alarm
from ...parts.experts import RidgeBank, SharedRidgeBank
from ...parts.regions import Regions, in_order
from ...theory import parameter_selection, trusted
from ...types import Array, Index, Mask
from ..base import Policy
from .likelihood import SelectionRegime
from .optimism import inside

prediction_bound, gamma = trusted(parameter_selection.prediction_bound), trusted(parameter_selection.gamma)
EMPTY = "the printed confidence set is empty: its constants do not hold. No further warning is given."


class PrintedSet(SelectionRegime):
    r"""One ellipsoid around the predictions of SqAlg (eq:PS-OFUL:ConfidenceSet), for N lanes.

    With :math:`\hat y_s` the aggregated predictions of what was played, :math:`\gamma_t` the printed radius
    (eq:final-conf-set), L the feature bound, :math:`\lambda_0 = L^2` and S the largest :math:`|\hat\mu_i| + r_i`:

    .. math:: C_t = \Big\{\theta : \sum_{s \le t} (\hat y_s - \langle \phi_s, \theta \rangle)^2 + \lambda_0 |\theta|^2
              \le \gamma_t + \lambda_0 S^2\Big\}

    Corrections without which it does not run: the ridge :math:`\lambda_0` replaces the first d rounds of actions
    :math:`L e_i`, which given action sets do not offer; data up to t go with :math:`\gamma_t`; the residual is kept,
    which makes the set exact; admissibility is two-sided (ps-oful-admissible-expert), the range of SqAlg is the largest
    over the models and grows with t; y' is scaled with beta; the prediction is Vovk's substitution.

    Parameters
    ----------
    policy: a policy with the arguments noise, delta, scale, feature_bound, reward_bound and reward_range (of SqAlg,
        instead of the printed one); what is missing is asked for by name, what the paper does not know is refused.
    regions: the balls.
    """

    bank: SharedRidgeBank
    play_kernel = staticmethod(play_ridges)

    def __init__(self, policy: Policy, regions: Regions) -> None:
        given, owner = policy.settings, type(policy).__name__
        for name in ("feature_bound", "reward_bound"):
            if given[name] is None:
                raise validation.refuse(f"{owner}: {name}", None, 'a number, since confidence="paper" was chosen')
        for name in ("shapes", "prior_weights", "misspecification", "intercept"):
            if given[name] is not None and np.any(np.asarray(given[name]) != 0.0):
                expected = 'its default, since confidence="paper" was chosen'
                raise validation.refuse(f"{owner}: {name}", given[name], expected)
        N, M, d = regions.center.shape
        self.scale = float(given["scale"])
        self._messages = policy._messages
        self._model = {"dim": d, "delta": given["delta"], "form": "printed"}
        self._given_range = given["reward_range"]
        feature_bound = per_lane(given["feature_bound"], N)
        reach = (np.linalg.norm(regions.center, axis=2) + regions.radius).max(axis=1)
        self.constants = PerLane(
            noise=per_lane(given["noise"], N),
            feature_bound=feature_bound,
            reward_bound=per_lane(given["reward_bound"], N),
            radius=regions.radius,
            prior=feature_bound**2 * reach**2,
            rank=np.argsort(regions.order, axis=1),
        )
        self.formulas = PerLane(bounds=np.full((N, M), np.nan), gamma=np.full(N, np.nan))  # NaN until asked for
        self.bank = regions.bank(regions.printed_regularization())
        self.target = RidgeBank(lanes=N, dims=np.array([d]), regularization=feature_bound[:, None] ** 2)
        lower, upper = self._range(np.arange(N))
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M, rate=float(given["aggregation_rate"]))
        self.alarm = Alarm(lanes=N, delta=given["delta"], misspecification=0.0)
        self.formulas.bounds[:] = np.nan  # whoever loads a policy learns from then on, not from the first round

    def _arguments(self, ids: Index) -> dict[str, Any]:
        """Return the arguments that every printed formula has, for what these lanes have learned."""
        constants = self.constants
        own = {name: getattr(constants, name)[ids] for name in ("noise", "feature_bound", "reward_bound", "radius")}
        return {"t": self.target.updates[ids], **self._model, **own}

    def _range(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of rewards and predictions, the printed one (eq:temp06) or what was given, ``(n,)`` each."""
        if self._given_range is not None:
            low, high = self._given_range
            return np.full(ids.size, float(low)), np.full(ids.size, float(high))
        largest = self._bounds(ids).max(axis=1)
        return -largest, largest

    def _bounds(self, ids: Index) -> Array:
        """Return the bounds of admissible predictions, ``(n, M)``."""
        return self._kept(ids, "bounds", lambda some: prediction_bound(**self._arguments(some)))

    def _squared(self, ids: Index) -> Array:
        """Return the squared radius around the target's estimate without the scale, ``(n,)``; negative if empty."""
        M = self.bank.dims.size
        errors = self._kept(ids, "gamma", lambda some: gamma(n_models=M, **self._arguments(some)))
        return errors + self.constants.prior[ids] - self.target.penalised[ids, 0]

    def _kept(self, ids: Index, name: str, formula: Callable[[Index], Any]) -> Array:
        """Return the value of a formula for what these lanes have learned; it is evaluated once after each reward."""
        kept = getattr(self.formulas, name)
        asked = ids[np.isnan(kept[ids].reshape(ids.size, -1)[:, 0])]
        if asked.size:
            kept[asked] = formula(asked)
        return kept[ids]

    def _radii(self, ids: Index) -> Array:
        """Return the squared radii of these lanes' sets, 0 for an empty one, as ``(N, 1)``."""
        squared = np.zeros((self.target.updates.size, 1))
        squared[ids, 0] = np.maximum(self._squared(ids), 0.0)
        return squared

    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that the set allows, ``(n, K)``."""
        return self.target.upper_bounds(ids, x, self._radii(ids), self.scale)

    def show(self, ids: Index) -> tuple[Any, ...]:
        """Return what ``play_kernel`` is shown of the set of these lanes."""
        return self.target.theta, self.target.root, self.target.dims, self._radii(ids), self.scale

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index) -> int:
        """Settle acts and learn their rewards: the experts, SqAlg, and the ridge on the aggregated predictions."""
        if not clean(x):
            return UNUSABLE
        status = settle(ids, numbers, book)
        if status >= 0:
            return status
        f = self.bank.learn(ids, x, y)
        self.sqalg.drop(ids, self.sqalg.admit(ids, np.abs(f) - self._bounds(ids)))
        prediction = self.sqalg.predict(ids, np.ascontiguousarray(f[:, :, None]))[:, 0]
        self.target.learn(ids, x, prediction)
        self.formulas.bounds[ids] = self.formulas.gamma[ids] = np.nan
        self.sqalg.update(ids, f, y)
        self.sqalg.widen(ids, *self._range(ids))
        self._messages += self.sqalg.warnings()
        empty = self._squared(ids) < 0.0
        if self.alarm.sound(ids, empty, empty):
            self._messages.append(EMPTY)
        return DONE

    def holds(self, thetas: Array) -> Mask:
        """Tell whether the set of lane n holds ``thetas[n]``, ``(N,)``."""
        return inside(self.target, thetas, self.squared_radii()[:, None])[:, 0]

    def weights(self) -> Array:
        """Return the weights of SqAlg, ``(N, M)``."""
        return in_order(self.sqalg.weights(np.arange(self.target.updates.size)), self.constants.rank)

    def squared_radii(self) -> Array:
        """Return the squared radius of the set, ``(N,)``."""
        return self.scale**2 * self._squared(np.arange(self.target.updates.size))

    def admissible(self) -> Mask:
        """Return which experts are admissible, ``(N, M)``."""
        return in_order(self.sqalg.alive, self.constants.rank)

    def estimates(self) -> Array:
        """Return the experts' estimates, ``(N, M, d)``."""
        return in_order(self.bank.theta, self.constants.rank)
