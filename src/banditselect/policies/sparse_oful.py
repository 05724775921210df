"""Sparse OFUL: one confidence ellipsoid around the predictions of an online learner over M groups of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import LaneArrays, PerLane, per_lane
from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import (
    SMALLEST,
    Bounds,
    Constraint,
    Number,
    Numbers,
    OneOf,
    Widths,
    YesNo,
    lane_vectors,
    refuse,
)
from ..kernels.features import prepared
from ..parts.aggregation import SqAlg
from ..parts.experts import RidgeBank, with_zero
from ..parts.exploration import greedy
from ..parts.reward_range import RewardRange
from ..theory import feature_selection, oracle, parameter_selection, trusted
from ..types import Array, Index, Mask
from .regimes.optimism import inside
from .regimes.ridge_per_map import RidgePerMap

oracle_error, oracle_regret = trusted(feature_selection.D), trusted(oracle.oracle_regret)
conversion_error, gamma_data = trusted(oracle.conversion_error), trusted(parameter_selection.gamma_data)
clipping_width = trusted(oracle.clipping_width)


class Forecast(LaneArrays):
    """The square loss of the online predictions so far, ``loss (N,)``."""

    state = ("loss",)

    def __init__(self, lanes: int) -> None:
        self.loss = np.zeros(lanes)


@register
class SparseOFUL(RidgePerMap):
    r"""Sparse OFUL: optimism over one ellipsoid in all features, which an online learner of sparse parameters shrinks.

    The parameter of the features :math:`\phi` of all maps side by side is 0 outside one of the M maps. SqAlg over M
    ridge regressions, one for every such support, predicts :math:`\hat y_s` of what is played before :math:`y_s` is
    seen, and its regret is turned into a confidence set:

    .. math:: C_t = \Big\{\theta : \sum_{s \le t} (\hat y_s - \langle \phi_s, \theta \rangle)^2
              + \lambda_0 |\theta|^2 \le \gamma_t + \lambda_0 S^2\Big\}, \qquad
              a_t = \arg\max_a \max_{\theta \in C_{t-1}} \langle \phi(a), \theta \rangle

    Parameters
    ----------
    n_models: number of maps M, the groups of features.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards.
    parameter_bound: S, a bound on the norm of the parameter.
    delta: the set fails with at most this probability, over all rounds together.
    regularization: ridge penalty, a number or one per map; by default :math:`\lambda_i = d_i R^2 / S^2`. The largest is
        :math:`\lambda_0`.
    confidence: which :math:`\gamma_t`. ``"data"``: from the losses seen, of the predictions and of the ridge
        regressions (``theory.parameter_selection.gamma_data``). ``"corrected"``: from bounds on them
        (``theory.feature_selection.D``). ``"paper"``: from the same bounds, by the step as the reference prints it
        (``theory.oracle.conversion_error``), with the whole delta for each of its events.
    reward_range: (lo, hi), where rewards are expected: the range of SqAlg with ``"data"``, what lies outside clipped.
    feature_bound (L), reward_bound (G): what the formulas need; asked for by name with ``"corrected"`` and
        ``"paper"``, whose range is :math:`\pm (G + n_t)`, :math:`n_t` a bound on the noise of all rounds.
    scale: multiplies the radius; 1 is the theory, less is practice.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and S
        speaks of the whole parameter then.

    Attributes
    ----------
    model_weights: of SqAlg, ``(M,)``.  parameters: of the ridge regressions, ``(M, d)``.  constants: their constant
    terms, ``(M,)``.  squared_radii: of the one set.  covers(theta): for a parameter of all maps side by side.
    clipped: how many rewards SqAlg had to clip.

    Notes
    -----
    Of the reference: the conversion, and optimism over its set. Its online learner for entries of which any few are not
    0, SeqSEW, has no exact computation; for supports that are given it is SqAlg. Overlapping supports are maps that
    share columns.

    Guarantee: with ``"data"`` and ``"corrected"`` the set holds at every round with probability 1 - delta, if some map
    is right (for ``"data"`` whatever the range); log M enters :math:`\gamma_t` alone. But the ellipsoid lies in all
    :math:`D = \sum_i d_i` features, so that the regret is of order :math:`\sqrt{D T (d + \log M)}` up to logarithms:
    it saves a factor :math:`\sqrt M` against OFUL on all features, and pays the other. Where :math:`\gamma_t` is
    negative no map is right, or R or S is too small.

    An act costs :math:`K D^2` products, an update :math:`2 D^2`.

    References
    ----------
    Abbasi-Yadkori, Pal, Szepesvari, "Online-to-confidence-set conversions and application to sparse stochastic
    bandits", AISTATS 2012.

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

    reward_units = ("noise", "parameter_bound", "reward_range", "reward_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=SMALLEST, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST, optional=True),
        "confidence": OneOf(("data", "corrected", "paper")),
        "reward_range": Bounds(),
        "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_bound": Number(low=0.0, per_lane=True, optional=True),
        "scale": Number(low=0.0),
        "intercept": YesNo(),
    }

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike | None = None,
        confidence: str = "data",
        reward_range: tuple[float, float] = (0.0, 1.0),
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        scale: float = 1.0,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.confidence = confidence
        self.reward_range = reward_range
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.scale = scale
        self.intercept = intercept
        super().__init__(lanes, seed)

    def _begin(self, lanes: int) -> None:
        self._bank, told = self._fresh_ridges(lanes)
        dims, lam, bound = self._bank.dims, told["regularization"], told.pop("bound")
        told["parameter_bound"] = bound
        if self.confidence != "data":
            for name in ("feature_bound", "reward_bound"):
                if self.settings[name] is None:
                    raise refuse(f"SparseOFUL: {name}", None, f'a number, since confidence="{self.confidence}"')
                told[name] = per_lane(self.settings[name], lanes)
        self._told = PerLane(**told)
        self._kept = np.flatnonzero(np.arange(dims.max()) < dims[:, None])  # of all maps padded to the widest
        largest = lam.max(axis=1, keepdims=True)
        self._target = RidgeBank(lanes=lanes, dims=np.array([self._kept.size]), regularization=largest)
        self._prior = PerLane(penalty=largest[:, 0] * bound**2)
        self._range = RewardRange(self.reward_range, lanes, "it is clipped where experts are weighted")
        lower, upper = self._limits(np.arange(lanes))
        self._sqalg, self._forecast = SqAlg(lower=lower, upper=upper, n_models=dims.size), Forecast(lanes)

    @property
    def _ridges(self) -> RidgeBank:
        return self._bank

    def _of(self, ids: Index, *names: str) -> dict[str, Any]:
        """Return what was told of these lanes, by name."""
        return {name: getattr(self._told, name)[ids] for name in names}

    def _limits(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of SqAlg for the next reward, ``(n,)`` each."""
        if self.confidence == "data":
            return np.full(ids.size, self._range.lower), np.full(ids.size, self._range.upper)
        delta = self.delta / 3.0 if self.confidence == "corrected" else self.delta
        t, told = self._bank.updates[ids] + 1, self._of(ids, "noise", "reward_bound")
        half = np.asarray(clipping_width(t=t, delta=delta, horizon="anytime", **told)) / 2.0
        return -half, half

    def _gamma(self, ids: Index) -> Array:
        """Return the bound on the squared error of the predictions so far, ``(n,)``."""
        told, S = self._of(ids, "noise", "regularization"), self._told.parameter_bound[ids]
        if self.confidence == "data":
            told |= {"prediction_loss": self._forecast.loss[ids], "ridge_loss": self._bank.penalised[ids]}
            return np.asarray(gamma_data(**told, radius=S[:, None], delta=self.delta))
        told |= {"t": self._bank.updates[ids], "dim": self._bank.dims, "n_models": int(self.n_models)}
        told |= {**self._of(ids, "feature_bound", "reward_bound"), "delta": self.delta, "horizon": "anytime"}
        if self.confidence == "corrected":
            return np.asarray(oracle_error(**told, parameter_bound=S))
        regret = oracle_regret(**told, radius=S[:, None])
        return np.asarray(conversion_error(sq_regret=regret, noise=told["noise"], delta=self.delta))

    def _squared(self, ids: Index) -> Array:
        """Return the squared radius around the estimate of the set, without the scale, ``(n,)``; negative if empty."""
        return np.asarray(self._gamma(ids) + self._prior.penalty[ids] - self._target.penalised[ids, 0])

    def _side_by_side(self, x: Array) -> Array:
        """Return features ``(n, M, ..., d)`` of all maps as those of one, ``(n, 1, ..., D)``."""
        wide = np.moveaxis(x, 1, -2).reshape(len(x), *x.shape[2:-1], -1)
        return np.ascontiguousarray(wide[..., self._kept])[:, None]

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        squared = np.zeros((self._size, 1))
        squared[ids, 0] = np.maximum(self._squared(ids), 0.0)
        seen = self._side_by_side(prepared(ids, x) if self.intercept else x)
        return greedy(self._target.upper_bounds(ids, seen, squared, float(self.scale)), offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        seen = prepared(ids, x) if self.intercept else x
        f = self._bank.learn(ids, seen, y)[0]
        prediction = self._sqalg.predict(ids, np.ascontiguousarray(f[:, :, None]))[:, 0]
        self._target.learn(ids, self._side_by_side(seen), prediction)
        self._forecast.loss[ids] += (prediction - y) ** 2
        self._sqalg.update(ids, f, y)
        self._sqalg.widen(ids, *self._limits(ids))
        if self.confidence == "data":
            self._messages += self._range.watch(ids, y)

    def covers(self, theta: ArrayLike) -> Any:
        """Tell whether the set contains ``theta``, of all maps side by side: ``(D,)``, or one per lane ``(N, D)``.

        With an intercept every map has d_i + 1 entries, the constant first.
        """
        points = lane_vectors(theta, self._size, self._kept.size)
        return self._answer(inside(self._target, points, self._radius()[:, None])[:, 0])

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Tell of each lane whether the set holds the true ``parameter`` of the true ``model``, ``(N,)``."""
        if model is None:
            return None
        parameter = with_zero(parameter) if self.intercept else parameter
        whole = np.zeros((self._size, int(self.n_models), int(self._bank.dims.max())))
        whole[np.arange(self._size), np.broadcast_to(model, self._size), : parameter.shape[-1]] = parameter
        return super().coverage(whole.reshape(self._size, -1)[:, self._kept], model)

    def _radius(self) -> Array:
        return float(self.scale) ** 2 * self._squared(np.arange(self._size))

    @property
    def model_weights(self) -> Array:
        """Weights of SqAlg, ``(M,)``."""
        return self._answer(self._sqalg.weights(np.arange(self._size)))

    @property
    def squared_radii(self) -> Any:
        """The squared radius of the set, ``scale`` included; negative where it is empty."""
        return self._answer(self._radius())

    @property
    def clipped(self) -> Any:
        """How many rewards SqAlg had to clip to its range."""
        return self._answer(self._sqalg.clipped)
