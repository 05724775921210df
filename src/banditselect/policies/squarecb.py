"""SquareCB on one feature map."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Interval, Number, Rate
from ..parts.aggregation import Posterior
from ..parts.experts import RidgeBank
from ..parts.exploration import Schedule, as_schedule, inverse_gap_weighting, rates
from ..types import Array, Index, Mask
from .base import per_lane
from .inverse_gap import InverseGapPolicy, RewardScale
from .printed_fs import PrintedConstants
from .registry import register

EXPLORATION = 300.0
"""Default c of alpha_t = c sqrt(t) / (hi - lo), from the study in docs/exploration.md."""


@register
class SquareCB(InverseGapPolicy):
    r"""SquareCB: plays inverse-gap weights on the predictions of one ridge regression.

    With :math:`\kappa` the number of actions offered, t the number of updates, :math:`\lambda` the ``regularization``,
    and :math:`\alpha_t = c \sqrt t / (hi - lo)` for ``exploration`` c and ``reward_range`` (lo, hi):

    .. math:: p_t(a) = \frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}, \quad a \ne a' = \arg\max \hat y_t

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    regularization: ridge penalty lambda > 0.
    exploration: the constant c, a ``Power(scale, exponent)``, any callable of t (then the policy cannot be saved), or
        ``"paper"``: :math:`\alpha = \sqrt{K T / D_T}` with the printed :math:`D_T` of one map, as FS-SCB has it.
        Larger means greedier. The default comes from ``docs/exploration.md``.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default. Only the printed rate asks for it.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the printed rate needs; asked for
        by name when ``"paper"`` is chosen.

    Attributes
    ----------
    parameters: the ridge estimate, ``(d,)``.  rounds: rewards learned.  outside: rewards outside ``reward_range``.

    Notes
    -----
    Guarantee: ``theory.feature_selection.regret_bound`` with ``n_models=1`` is for a constant rate
    :math:`\alpha = \sqrt{8 (K - 1) T / D'}` and predictions clipped to the range of the mean rewards; the anytime
    schedule and the unclipped predictions used here are practice.

    References
    ----------
    Foster, Rakhlin, "Beyond UCB", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> policy = SquareCB(dim=2, seed=0)
    >>> decision = policy.act([[1.0, 0.0], [0.0, 1.0]])
    >>> decision.probability
    0.5
    >>> policy.update(decision, 1.0)
    >>> policy.rounds
    1
    """

    _meaning = "exploration is scaled to that range"
    reward_units = ("reward_range", "noise", "reward_bound", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "exploration": Rate(names=("paper",)),
        "reward_range": Interval(),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_bound": Number(low=0.0, per_lane=True, optional=True),
        "parameter_bound": Number(low=0.0, per_lane=True, optional=True),
        "horizon": Number(low=1, integer=True, optional=True),
    }

    def __init__(
        self,
        *,
        dim: int,
        regularization: float = 1.0,
        exploration: float | Schedule | str = EXPLORATION,
        reward_range: tuple[float, float] = (0.0, 1.0),
        noise: float | ArrayLike | None = None,
        delta: float = 0.05,
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        parameter_bound: float | ArrayLike | None = None,
        horizon: int | None = None,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.regularization = regularization
        self.exploration = exploration
        self.reward_range = reward_range
        self.noise = noise
        self.delta = delta
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.parameter_bound = parameter_bound
        self.horizon = horizon
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((int(self.dim),), many=False)

    def _begin(self, lanes: int) -> Sequence[str]:
        self._scale = RewardScale(self.reward_range, lanes)
        lam = per_lane(self.regularization, lanes)[:, None]
        self._bank = RidgeBank(lanes=lanes, dims=np.array([self.dim]), regularization=lam)
        self._posterior = Posterior(variance=np.ones(lanes), prior=np.ones(1), online=False)
        self._schedule = None if isinstance(self.exploration, str) else as_schedule(self.exploration)
        if isinstance(self.exploration, str):
            noise = per_lane(self._scale.span / 2.0 if self.noise is None else self.noise, lanes)
            self._printed = PrintedConstants(self, (int(self.dim),), lam, noise)
        return ("_bank", "_scale", "_posterior")

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        prediction = self._bank.predict(ids, x)[:, 0]
        if self._schedule is None:
            alpha = self._printed.learning_rate(ids, x.shape[2], offered)
        else:
            alpha = rates(self._schedule, ids, self._bank.updates, self._scale.span)
        return inverse_gap_weighting(prediction, alpha, offered), None

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        self._bank.learn(ids, x, y)
        self._say(self._scale.watch(ids, y, self._meaning))

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        if self.exploration == "paper":
            self._printed.extend(fresh._printed)

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``."""
        return self._told(self._bank.theta[:, 0])
