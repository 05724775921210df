"""FS-SCB: SquareCB that selects among M feature maps."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Choice, Constraint, Interval, Number, Numbers, Rate, Widths
from ..parts.aggregation import Posterior, SqAlg
from ..parts.experts import RidgeBank
from ..parts.exploration import Schedule, as_schedule, inverse_gap_weighting, rates
from ..types import Array, Index, Mask
from .base import per_lane
from .inverse_gap import InverseGapPolicy, RewardScale
from .printed_fs import PrintedConstants
from .registry import register
from .squarecb import EXPLORATION


def map_widths(owner: str, dim: int | Sequence[int], n_models: int) -> tuple[int, ...]:
    """Return the width of each of the M maps."""
    widths = (dim,) * n_models if np.ndim(dim) == 0 else tuple(dim)  # type: ignore[arg-type]
    if len(widths) != n_models:
        raise validation.refuse(f"{owner}: dim", dim, f"a whole number, or one for each of n_models={n_models} models")
    return tuple(int(w) for w in widths)  # type: ignore[arg-type]


def model_numbers(name: str, value: ArrayLike, lanes: int, n_models: int) -> Array:
    """Return a number, or one per model, as ``(N, M)``."""
    values = np.asarray(value, dtype=float)
    if values.shape not in ((), (n_models,)):
        raise validation.refuse(name, value, f"a number, or one for each of n_models={n_models} models")
    return np.array(np.broadcast_to(values, (lanes, n_models)))


@register
class FSSquareCB(InverseGapPolicy):
    r"""Feature-selection SquareCB (FS-SCB): inverse-gap weights on predictions aggregated over M ridge regressions.

    Expert i is a ridge regression on map i; it predicts :math:`f_i(a) = \langle \phi^i(a), \hat\theta^i_t \rangle`.
    The aggregate :math:`\hat y_t(a)` is played as SquareCB does, with :math:`\kappa` the number of actions offered and
    :math:`\alpha_t` the ``exploration`` schedule:

    .. math:: p_t(a) = \frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}, \quad a \ne a' = \arg\max \hat y_t
              \qquad (eq:dist\text{-}over\text{-}actions)

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    regularization: ridge penalty lambda, a number or one per model.
    exploration: c of :math:`\alpha_t = c \sqrt t / (hi - lo)`, a ``Power``, a callable of t, or ``"paper"``:
        :math:`\alpha = \sqrt{K T / D_T}` with the printed :math:`D_T`.
    weighting: how experts are weighted. ``"noise"``: by their Gaussian evidence, :math:`e^{-L_i / (2 R^2)}`, with the
        weighted mean. ``"range"``: the paper's SqAlg (:math:`\eta = 2 / \ell^2`, substitution) on ``reward_range``,
        what lies outside clipped. ``"paper"``: SqAlg on the printed range, with the printed admissibility.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the printed formulas need; asked
        for by name when ``"paper"`` is chosen. Without a horizon the printed range grows with t.

    Attributes
    ----------
    model_weights: ``(M,)``.  admissible: ``(M,)``.  parameters: ridge estimates, ``(M, d)``.  rounds.
    outside: how many rewards fell outside ``reward_range``.  clipped: how many SqAlg had to clip.

    Notes
    -----
    Algorithm 1 of the paper. Departures from print: the sign of the gap; admissibility two-sided and over all actions
    offered; the range is the largest over the models; the printed :math:`R_{Sq}` is used as it stands, although it
    vanishes with R. ``form="corrected"`` in :mod:`banditselect.theory` has what is true instead.

    An expert found inadmissible when the policy acts is out from the moment that act's reward is learned.

    Guarantee: regret of order :math:`\sqrt{K T \log M}` for ``weighting="range"`` at a constant rate: Theorem 5 of
    ``docs/math.md``, section 10, which has the constants that belong to predictions clipped to ``reward_range``
    (``theory.feature_selection.regret_bound`` is for predictions clipped to the range of the mean rewards).
    ``weighting="noise"`` is proved for clipped online losses at a reduced rate; with evidence at the full rate, as
    here, and with the anytime schedule, it is practice without a proof.

    References
    ----------
    Moradipari, Turan, Abbasi-Yadkori, Alizadeh, Ghavamzadeh, "Feature and parameter selection in stochastic linear
    bandits", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = FSSquareCB(n_models=2, dim=3, noise=0.1, reward_range=(-2.0, 2.0), seed=0)
    >>> for _ in range(300):
    ...     features = rng.normal(size=(2, 5, 3))
    ...     decision = policy.act(features)
    ...     policy.update(decision, 0.3 * decision.features[1].sum())
    >>> policy.model_weights.round(3)
    array([0., 1.])
    """

    _meaning = "exploration and noise are scaled to that range"
    reward_units = ("noise", "reward_range", "reward_bound", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_range": Interval(),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST),
        "exploration": Rate(names=("paper",)),
        "weighting": Choice(("noise", "range", "paper")),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_bound": Number(low=0.0, per_lane=True, optional=True),
        "parameter_bound": Number(low=0.0, per_lane=True, optional=True),
        "horizon": Number(low=1, integer=True, optional=True),
    }

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        regularization: float | ArrayLike = 1.0,
        exploration: float | Schedule | str = EXPLORATION,
        weighting: str = "noise",
        delta: float = 0.05,
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        parameter_bound: float | ArrayLike | None = None,
        horizon: int | None = None,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.reward_range = reward_range
        self.regularization = regularization
        self.exploration = exploration
        self.weighting = weighting
        self.delta = delta
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.parameter_bound = parameter_bound
        self.horizon = horizon
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        self._dims = map_widths("FSSquareCB", self.dim, int(self.n_models))
        return ExactShape(self._dims, many=True)

    def _begin(self, lanes: int) -> Sequence[str]:
        M, dims = int(self.n_models), np.array(self._dims)
        self._scale = RewardScale(self.reward_range, lanes)
        self._schedule = None if isinstance(self.exploration, str) else as_schedule(self.exploration)
        self._by_posterior = self.weighting == "noise"
        clipped = self.weighting == "range"
        self._meaning = "it is clipped where experts are weighted" if clipped else self._meaning
        noise = per_lane(self._scale.span / 2.0 if self.noise is None else self.noise, lanes)
        lam = model_numbers("FSSquareCB: regularization", self.regularization, lanes, M)
        self._bank = RidgeBank(lanes=lanes, dims=dims, regularization=lam)
        self._posterior = Posterior(variance=noise**2, prior=np.full(M, 1.0 / M), online=False)
        self._memo_width = M if self.weighting == "paper" else 0
        if "paper" in (self.weighting, self.exploration):
            self._printed = PrintedConstants(self, self._dims, lam, noise)
        lower, upper = self._range(np.arange(lanes))
        self._sqalg = SqAlg(lower=lower, upper=upper, n_models=M)
        return ("_bank", "_scale", "_posterior", "_sqalg")

    def _range(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of SqAlg for what has been learned, ``(n,)`` each."""
        if self.weighting == "paper":
            return self._printed.range(ids, self._bank.updates[ids])
        return np.full(ids.size, self._scale.lower), np.full(ids.size, self._scale.upper)

    def _rates(self, ids: Index, K: int, offered: Mask) -> Array:
        """Return alpha_t, ``(n,)``."""
        if self._schedule is None:
            return self._printed.learning_rate(ids, K, offered)
        return rates(self._schedule, ids, self._bank.updates, self._scale.span)

    def _admit(self, ids: Index, f: Array, offered: Mask) -> Index | None:
        """Return the experts ``(n, M)`` that stay admissible at predictions ``f (n, M, K)`` (eq:addmisable-experts)."""
        if self.weighting != "paper":
            return None
        largest = np.where(offered[:, None] if offered.size else True, np.abs(f), 0.0).max(axis=2)
        return self._sqalg.admit(ids, largest - self._printed.prediction_bound(ids, self._bank.updates[ids]))

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, Index | None]:
        admitted = None
        if self.weighting == "noise":
            weights, _ = self._posterior.weigh(ids, self._bank)
            prediction = self._bank.mixture(ids, x, weights)
        else:
            f = self._bank.predict(ids, x)
            admitted = self._admit(ids, f, offered)
            prediction = self._sqalg.predict(ids, f, None if admitted is None else admitted > 0)
        p = inverse_gap_weighting(prediction, self._rates(ids, x.shape[2], offered), offered)
        return p, admitted

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        f, _ = self._bank.learn(ids, x, y)
        if self.weighting != "noise":
            if memo is not None:
                self._sqalg.drop(ids, memo)
            self._sqalg.update(ids, f, y)
            self._sqalg.widen(ids, *self._range(ids))
        self._say(self._scale.watch(ids, y, self._meaning))
        self._say(self._sqalg.warning())

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        if "paper" in (self.weighting, self.exploration):
            self._printed.extend(fresh._printed)

    @property
    def model_weights(self) -> Array:
        """Weights of the models, ``(M,)``."""
        if self.weighting == "noise":
            return self._told(self._posterior.weigh(self._all, self._bank)[0])
        return self._told(self._sqalg.weights(self._all))

    @property
    def admissible(self) -> Mask:
        """Which experts are admissible, ``(M,)``."""
        return self._told(self._sqalg.alive)

    @property
    def parameters(self) -> Array:
        """Ridge estimates, ``(M, d)``."""
        return self._told(self._bank.theta)

    @property
    def clipped(self) -> Index:
        """How many rewards SqAlg had to clip to its range."""
        return self._told(self._sqalg.clipped)
