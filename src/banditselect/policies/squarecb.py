"""SquareCB on one feature map."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.blocks import shape_of
from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, Rate, YesNo
from ..parts.experts import RidgeBank
from ..parts.exploration import Schedule
from ..parts.forgetting import MEMORY, Forgetting
from ..parts.reward_range import RewardRange
from ..types import Array
from .regimes.blocks import answer_by_map
from .regimes.fading import ByFadingEvidence
from .regimes.formulas_fs import FORMS, FORMULA_ARGUMENTS, Corrected, Formulas, refuse_change
from .regimes.inverse_gap import ByEvidence, InverseGapPolicy

EXPLORATION = 300.0
"""Default c of alpha_t = c sqrt(t) / (hi - lo), from the study in docs/defaults.md."""


@register
class SquareCB(InverseGapPolicy):
    r"""SquareCB: plays inverse-gap weights on the predictions of one ridge regression.

    With :math:`\kappa` the number of actions offered, t the number of updates, :math:`\lambda` the ``regularization``,
    and :math:`\alpha_t = c \sqrt t / (hi - lo)` for ``exploration`` c and ``reward_range`` (lo, hi):

    .. math:: p_t(a) = \frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}, \quad a \ne a' = \arg\max \hat y_t

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    blocks: how many separate parameters there are, for disjoint arms: an action has one of them, and features are
        ``Blocked(values, block)``, ``(K, d)`` and ``(K,)``. The intercept, too, is one per block then.
    regularization: ridge penalty lambda > 0.
    exploration: the constant c, a ``Power(scale, exponent)``, any callable of t (then the policy cannot be saved), or,
        as FS-SCB has it for one map, ``"paper"``: :math:`\alpha = \sqrt{K T / D_T}` with the printed :math:`D_T`, or
        ``"corrected"``: :math:`\alpha = \sqrt{8 (K - 1) T / D'}` with predictions clipped to :math:`[-G, G]`.
        Larger means greedier. The default comes from ``docs/defaults.md``.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default. Only the rates with a name ask for it.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the rates with a name need; asked
        for by name.
    intercept: whether a constant feature 1 stands before the features; the rates with a name know none.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        :math:`(1 - 1 / m)^k`, in the estimate and in t. The rates with a name know none.

    Attributes
    ----------
    parameters: the ridge estimate, ``(d,)``, with blocks ``(blocks, d)``.  constant: the constant term, with blocks
    ``(blocks,)``.  rounds: rewards learned.
    outside: rewards outside ``reward_range``.

    Notes
    -----
    Guarantee: with ``exploration="corrected"``, that of FS-SCB for one map:
    ``theory.feature_selection.regret_bound`` with ``n_models=1`` (Theorem 5 of ``docs/math.md``). The other rates, and
    predictions that are not clipped, are practice.

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

    reward_units = ("reward_range", "noise", "reward_bound", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "blocks": Number(low=1, integer=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "exploration": Rate(names=tuple(FORMS)),
        "reward_range": Bounds(),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        **FORMULA_ARGUMENTS,
        "intercept": YesNo(),
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        dim: int,
        blocks: int = 1,
        regularization: float = 1.0,
        exploration: float | Schedule | str = EXPLORATION,
        reward_range: tuple[float, float] = (0.0, 1.0),
        noise: float | ArrayLike | None = None,
        delta: float = 0.05,
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        parameter_bound: float | ArrayLike | None = None,
        horizon: int | None = None,
        intercept: bool = False,
        memory: float | None = None,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.blocks = blocks
        self.regularization = regularization
        self.exploration = exploration
        self.reward_range = reward_range
        self.noise = noise
        self.delta = delta
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.parameter_bound = parameter_bound
        self.horizon = horizon
        self.intercept = intercept
        self.memory = memory
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return shape_of((int(self.dim),), (int(self.blocks),), many=False)

    def _begin(self, lanes: int) -> None:
        B, lam = int(self.blocks), per_lane(self.regularization, lanes)[:, None]
        dims = np.array([int(self.dim) + bool(self.intercept)])
        expected = RewardRange(self.reward_range, lanes, "exploration is scaled to that range")
        bank = RidgeBank(lanes=lanes, dims=dims, regularization=lam, blocks=np.array([B]))
        experts = bank, expected, self._messages, bool(self.intercept)
        self._experts = ByEvidence(*experts)
        if self.memory is not None:
            self.ridge_estimates = False
            self._experts = ByFadingEvidence(Forgetting(bank, self.memory), *experts)
        if isinstance(self.exploration, str):
            refuse_change(self)
            noise = per_lane(expected.span / 2.0 if self.noise is None else self.noise, lanes)
            self._rate = formulas = Formulas(self, self.exploration, (B * int(self.dim),), lam, noise)
            if self.exploration == "corrected":
                self._experts = Corrected(*experts, formulas)
        else:
            self._rate = self._scheduled(self.exploration)

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``; with blocks one for each, ``(blocks, d)``."""
        return answer_by_map(self, self._experts.estimates()[1])

    @property
    def constant(self) -> Any:
        """Estimate of the constant term; 0 without an intercept. With blocks one for each, ``(blocks,)``."""
        return answer_by_map(self, self._experts.estimates()[0])
