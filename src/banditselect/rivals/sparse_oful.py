"""Sparse OFUL: one confidence ellipsoid around the predictions of an online learner over M groups of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import ridge
from ..kernels.features import Features, played
from ..models.reward_range import RewardRange
from ..models.ridge_bank import BankModel, RidgeBank, with_zero
from ..models.sqalg import SqAlg
from ..plays.optimism import Optimism
from ..policies import shared
from ..policies.contract import answer
from ..policies.ellipsoid_policy import ridge_per_map
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..runtime.files import register
from ..runtime.inputs import SMALLEST, lane_vectors
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from ..theory import feature_selection, oracle, parameter_selection, trusted
from ..types import Array, Index, Mask

oracle_error, oracle_regret = trusted(feature_selection.D), trusted(oracle.oracle_regret)
gamma_data = trusted(parameter_selection.gamma_data)
self_bound, clipping_width = trusted(oracle.self_bound), trusted(oracle.clipping_width)


@register
class SparseOFUL(Policy):
    r"""Sparse OFUL: optimism over one ellipsoid in all features, which an online learner of sparse parameters shrinks.

    The parameter of the features :math:`\phi` of all maps side by side is 0 outside one of the M maps. SqAlg over M
    ridge regressions, one for every such support, predicts the reward of each action played as
    :math:`\hat y_s` before :math:`y_s` is seen, and its regret is turned into a confidence set:

    .. math:: C_t = \Big\{\theta : \sum_{s \le t} (\hat y_s - \langle \phi_s, \theta \rangle)^2
              + \lambda_0 |\theta|^2 \le \gamma_t + \lambda_0 S^2\Big\}, \qquad
              a_t = \arg\max_a \max_{\theta \in C_{t-1}} \langle \phi(a), \theta \rangle

    Parameters
    ----------
    n_models, dim, noise, regularization, intercept: as :class:`LEADER` has them; the maps are the groups of features,
        and :math:`\lambda_0` is the largest penalty.
    parameter_bound: S, a bound on the norm of the parameter.
    delta: the set fails with at most this probability, over all rounds together.
    confidence: which :math:`\gamma_t`. ``"data"``: from the losses seen, of the predictions and of the ridge
        regressions (``theory.parameter_selection.gamma_data``). ``"corrected"``: from bounds on them
        (``theory.feature_selection.D``). ``"paper"``: from the same bounds, by the step as the reference prints it
        (Theorem 1, ``theory.oracle.self_bound``), with the whole delta for each of its events.
    reward_range: (lo, hi), where rewards are expected: the range of SqAlg with ``"data"``, what lies outside clipped.
    feature_bound (L), reward_bound (G): what the formulas need; asked for by name with ``"corrected"`` and
        ``"paper"``, whose range is :math:`\pm (G + n_t)`, :math:`n_t` a bound on the noise of all rounds.
    scale: multiplies the radius; 1 is the theory, less is practice.

    Notes
    -----
    Of the reference: the conversion, and optimism over its set. Its online learner for entries of which any few are not
    0, SeqSEW, has no exact computation; for supports that are given it is SqAlg. Overlapping supports are maps that
    share columns.

    Guarantee: with ``"data"`` and ``"corrected"`` the set holds at every round with probability 1 - delta, if some map
    is right (for ``"data"`` with any range); log M enters :math:`\gamma_t` alone. But the ellipsoid lies in all
    :math:`D = \sum_i d_i` features, so that the regret is of order :math:`\sqrt{D T (d + \log M)}` up to logarithms:
    it saves a factor :math:`\sqrt M` against OFUL on all features, and pays the other. Where :math:`\gamma_t` is
    negative no map is right, or R or S is too small.

    An act costs :math:`K D^2` products, an update :math:`2 D^2`.

    Reference: Abbasi-Yadkori, Pal, Szepesvari, "Online-to-confidence-set conversions and application to sparse
    stochastic bandits", AISTATS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = SparseOFUL(n_models=3, dim=2, noise=0.1, reward_range=(-4.0, 4.0), seed=0)
    >>> theta = np.array([0.0, 0.0, 0.0, 0.0, 0.6, -0.6])
    >>> for _ in range(200):
    ...     decision = policy.act(rng.normal(size=(3, 5, 2)))
    ...     policy.update(decision, decision.features.ravel() @ theta + 0.1 * rng.normal())
    >>> policy.model_weights.round(2), policy.covers(theta)
    (array([0., 0., 1.]), True)
    """

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    noise: float | ArrayLike = shared.NOISE
    parameter_bound: float | ArrayLike = argument(Number(low=SMALLEST, per_lane=True), default=1.0, unit="reward")
    delta: float = shared.DELTA
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    confidence: str = argument(OneOf(("data", "corrected", "paper")), default="data")
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    feature_bound: float | ArrayLike | None = shared.FEATURE_BOUND_OR_NONE
    reward_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    scale: float = shared.SCALE
    intercept: bool = shared.NO_INTERCEPT

    model_weights = answer("weights", "Weights of SqAlg, ``(M,)``.")
    parameters = answer("parameters", "Ridge estimates of the maps, ``(M, d)``.")
    constants = answer("constants", "Their constant terms, ``(M,)``; 0 without an intercept.")
    squared_radii = answer("squared_radius", "The squared radius of the set, ``scale`` included; negative if empty.")
    clipped = answer("sqalg.clipped", "How many rewards SqAlg had to clip to its range.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the ellipsoid around the predictions of SqAlg, played by optimism."""
        needed = () if self.confidence == "data" else ("feature_bound", "reward_bound")
        self.demand(f'confidence="{self.confidence}"', given=needed)
        bank, terms = ridge_per_map(self, lanes)
        terms |= {name: per_lane(getattr(self, name), lanes) for name in needed}
        return OnlineSet(self, bank, terms), Optimism()

    def covers(self, theta: ArrayLike) -> Any:
        """Return whether the set contains ``theta``, of all maps side by side: ``(D,)``, or one per lane ``(N, D)``.

        With an intercept every map has d_i + 1 entries, the constant first.
        """
        return self._answer(self._model.covers(lane_vectors(theta, self._size, self._model.columns.size)))

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Return for each lane whether the set holds the true ``parameter`` of the true ``model``, ``(N,)``."""
        if model is None:
            return None
        sets = self._model
        parameter = with_zero(parameter) if self.intercept else parameter
        thetas = np.zeros((self._size, *sets.bank.theta.shape[1:]))
        thetas[np.arange(self._size), np.broadcast_to(model, self._size), : parameter.shape[-1]] = parameter
        return np.array(sets.covers(thetas.reshape(self._size, -1)[:, sets.columns]), dtype=float)


class OnlineSet(BankModel):
    """The ellipsoid around the ridge estimate of the predictions that SqAlg made over M ridges.

    Attributes
    ----------
    bank: the ridges.  target: the ridge of all maps side by side, which learns the predictions.
    loss: square loss of the predictions, ``(N,)``.
    columns: those of all maps padded to the widest that are no padding, ``(D,)``.
    noise, bound, regularization, prior, and feature_bound and reward_bound where given: terms of the formulas, a row
        per lane.
    """

    state = ("loss",)
    shared = ("columns",)
    reads_lookups = False
    bound: Array
    prior: Array

    def __init__(self, policy: SparseOFUL, bank: RidgeBank, terms: dict[str, Array]) -> None:
        super().__init__(bank)
        largest, lanes = terms["regularization"].max(axis=1, keepdims=True), len(bank.theta)
        self.confidence, self.delta, self.scale = policy.confidence, policy.delta, float(policy.scale)
        self.expected = RewardRange(policy.reward_range, lanes, "it is clipped where experts are weighted")
        terms = terms | {"prior": largest[:, 0] * terms["bound"] ** 2}
        self.fixed = tuple(terms)
        for name, value in terms.items():
            setattr(self, name, value)
        self.loss = np.zeros(lanes)
        self.columns = np.flatnonzero(np.arange(bank.dims.max()) < bank.dims[:, None])
        D = self.columns.size
        self.target = RidgeBank.of(maps_of(D), lanes, largest)
        lower, upper = self.limits(np.arange(lanes))
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=bank.dims.size)

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        """Return the largest reward that the set allows, ``(n, K)``; that of the estimate where it is empty."""
        squared, seen, target = np.zeros((len(self.loss), 1)), self.side_by_side(x), self.target
        squared[ids, 0] = np.maximum(self.squared(ids), 0.0)
        ellipsoids = (target.theta, target.root, target.dims, target.first, squared)
        return ridge.upper_bounds(ids, seen, x.block, ellipsoids, self.scale, False)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards in the ridges, and the prediction of them in the set."""
        f = self.bank.step(ids, x, y)[0]
        prediction = self.sqalg.predict(ids, np.ascontiguousarray(f[:, :, None]))[:, 0]
        self.target.learn(ids, played(self.side_by_side(x)), prediction)
        self.loss[ids] += (prediction - y) ** 2
        self.sqalg.update(ids, f, y)
        self.sqalg.widen(ids, *self.limits(ids))
        if self.confidence == "data":
            self.warnings += self.expected.watch(ids, y)

    def side_by_side(self, x: Features) -> Array:
        """Return features ``(n, M, ..., d)`` of all maps as those of one, ``(n, 1, ..., D)``."""
        wide = np.moveaxis(x.values, 1, -2)
        return np.ascontiguousarray(wide.reshape(*wide.shape[:-2], -1)[..., self.columns])[:, None]

    def of(self, ids: Index, *names: str) -> dict[str, Any]:
        """Return terms of these lanes, by name."""
        return {name: getattr(self, name)[ids] for name in names}

    def limits(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of SqAlg for the next reward, ``(n,)`` each."""
        if self.confidence == "data":
            return np.full(ids.size, self.expected.lower), np.full(ids.size, self.expected.upper)
        delta = self.delta / 3.0 if self.confidence == "corrected" else self.delta
        terms, t = self.of(ids, "noise", "reward_bound"), self.bank.updates[ids] + 1
        half = np.asarray(clipping_width(t=t, delta=delta, horizon="anytime", **terms)) / 2.0
        return -half, half

    def squared_error(self, ids: Index) -> Array:
        """Return gamma, the bound on the squared error of the predictions so far, ``(n,)``."""
        terms, S = self.of(ids, "noise", "regularization"), self.bound[ids]
        if self.confidence == "data":
            terms |= {"prediction_loss": self.loss[ids], "ridge_loss": self.bank.penalised[ids]}
            return np.asarray(gamma_data(**terms, radius=S[:, None], delta=self.delta))
        terms |= {"t": self.bank.updates[ids], "dim": self.bank.dims, "n_models": self.bank.dims.size}
        terms |= {**self.of(ids, "feature_bound", "reward_bound"), "delta": self.delta, "horizon": "anytime"}
        if self.confidence == "corrected":
            return np.asarray(oracle_error(**terms, parameter_bound=S))
        regret = np.asarray(oracle_regret(**terms, radius=S[:, None]))
        return np.asarray(self_bound(v=1 + regret, noise=terms["noise"], delta=self.delta)) - 1

    def squared(self, ids: Index) -> Array:
        """Return the squared radius around the estimate of the set, without the scale, ``(n,)``; negative if empty."""
        return np.asarray(self.squared_error(ids) + self.prior[ids] - self.target.penalised[ids, 0])

    def squared_radius(self) -> Array:
        """Return the squared radius of every lane, the scale included, ``(N,)``."""
        return self.scale**2 * self.squared(np.arange(len(self.loss)))

    def covers(self, thetas: Array) -> Mask:
        """Return whether the set of lane n holds ``thetas[n]``, ``(N,)``."""
        return self.target.distances(thetas)[:, 0] <= self.squared_radius()

    def weights(self) -> Array:
        """Return the weights of SqAlg, ``(N, M)``."""
        return self.sqalg.weights(np.arange(len(self.loss)))
