"""The confidence set of PS-OFUL as the paper prints it."""

from functools import partial
from typing import Any

import numpy as np

from ..parts.aggregation import SqAlg
from ..parts.experts import RidgeBank
from ..parts.exploration import optimism
from ..theory import parameter_selection
from ..types import Array, Index, Mask
from .tabulated import Tabulated


class PrintedSet:
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
    center: ``(N, M, d)``.  radius: ``(N, M)``.
    constants: of each lane: noise, feature_bound, reward_bound, delta.
    reward_range: of SqAlg, instead of the printed one.
    """

    def __init__(
        self,
        center: Array,
        radius: Array,
        constants: list[dict[str, float]],
        reward_range: tuple[float, float] | None = None,
    ) -> None:
        N, M, d = center.shape
        lanes: list[dict[str, Any]] = [
            {**constants[n], "dim": d, "radius": radius[n], "form": "printed"} for n in range(N)
        ]
        self._given_range = reward_range
        self._gamma = Tabulated(partial(parameter_selection.gamma, n_models=M), lanes)
        self._prediction_bound = Tabulated(parameter_selection.prediction_bound, lanes)
        self._prediction_range = Tabulated(parameter_selection.prediction_range, lanes)
        ridge = np.array([c["feature_bound"] ** 2 for c in constants])
        reach = (np.linalg.norm(center, axis=2) + radius).max(axis=1)
        self.prior = ridge * reach**2
        self.target = RidgeBank(lanes=N, dims=np.array([d]), regularization=ridge[:, None])
        lower, upper = self._range(np.arange(N), np.zeros(N, dtype=np.int64))
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M)

    def _range(self, ids: Index, updates: Index) -> tuple[Array, Array]:
        """Return the range of rewards and predictions, the printed one (eq:temp06) or what was given, ``(n,)`` each."""
        if self._given_range is not None:
            low, high = self._given_range
            return np.full(ids.size, float(low)), np.full(ids.size, float(high))
        beta, length = self._prediction_range(ids, updates).T
        return beta, beta + length

    def squared_radius(self, ids: Index) -> Array:
        """Return the squared radius of the set around the target's estimate, ``(n,)``; negative if the set is empty."""
        gamma = self._gamma(ids, self.target.updates[ids])
        return gamma + self.prior[ids] - self.target.penalised[ids, 0]

    def distribution(self, ids: Index, x: Array, offered: Mask, scale: float) -> Array:
        """Return the probabilities of optimistic play, ``(n, K)``."""
        squared = np.zeros((self.prior.size, 1))
        squared[ids, 0] = np.maximum(self.squared_radius(ids), 0.0)
        return optimism(ids, x, self.target, squared, scale, offered)

    def learn(self, ids: Index, x: Array, f: Array, y: Array) -> None:
        """Learn what was played ``x (n, 1, d)``, the experts' predictions of it ``f (n, M)`` and its reward."""
        bound = self._prediction_bound(ids, self.target.updates[ids])
        self.sqalg.drop(ids, self.sqalg.admit(ids, np.abs(f) - bound))
        prediction = self.sqalg.predict(ids, np.ascontiguousarray(f[:, :, None]))[:, 0]
        self.target.learn(ids, x, prediction)
        self.sqalg.update(ids, f, y)
        self.sqalg.widen(ids, *self._range(ids, self.target.updates[ids]))

    def covers(self, thetas: Array, scale: float) -> Mask:
        """Tell whether the set of lane n contains ``thetas[n]``, ``(N,)``."""
        squared = self.squared_radius(np.arange(len(thetas)))
        return self.target.distances(thetas)[:, 0] <= scale**2 * squared

    def extend(self, fresh: "PrintedSet") -> None:
        """Append what is not a part: the constants of the new lanes."""
        self._gamma.extend(fresh._gamma)
        self._prediction_bound.extend(fresh._prediction_bound)
        self._prediction_range.extend(fresh._prediction_range)
        self.prior = np.concatenate([self.prior, fresh.prior])
