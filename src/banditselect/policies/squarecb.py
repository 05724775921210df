"""SquareCB on one feature map."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.blocks import shape_of
from ..carriers.decisions import Decision
from ..carriers.ellipsoids import Ellipsoid
from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, OneOf, Rate, YesNo, refuse
from ..parts.experts import RidgeBank
from ..parts.exploration import Schedule
from ..parts.forgetting import MEMORY, Forgetting
from ..parts.reward_range import RewardRange
from ..types import Array
from .regimes.blocks import answer_by_map
from .regimes.fading import ByFadingEvidence
from .regimes.formulas_fs import FORMS, FORMULA_ARGUMENTS, Corrected, Formulas, refuse_change
from .regimes.inverse_gap import ByEvidence, InverseGapPolicy
from .regimes.optimal_design import DESIGNS, design_of

EXPLORATION = 300.0
"""Default c of alpha_t = c sqrt(t) / (hi - lo), from the study in docs/defaults.md."""


@register
class SquareCB(InverseGapPolicy):
    r"""SquareCB: plays inverse-gap weights on the predictions of one ridge regression.

    With :math:`\kappa` the number of actions offered, t the number of updates, :math:`\lambda` the ``regularization``,
    and :math:`\alpha_t = c \sqrt t / (hi - lo)` for ``exploration`` c and ``reward_range`` (lo, hi):

    .. math:: p_t(a) = \frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}, \quad a \ne a' = \arg\max \hat y_t

    and the rest on :math:`a'`. With ``design="optimal"`` few actions are played, whose features explain those of all:
    with s the rank of the features offered, at most d, and q a nearly optimal design of the features divided by
    :math:`\sqrt{s + \alpha_t (\hat y_t(a') - \hat y_t(a))}`,

    .. math:: p_t(a) = \frac{s q_t(a)}{s + \alpha_t (\hat y_t(a') - \hat y_t(a))}

    and the rest on :math:`a'`: the number of actions is gone, and :math:`\alpha_t` means what it meant. Where the
    features of :math:`\kappa` actions are linearly independent both are the same.

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
    design: ``"uniform"``, over the actions, or ``"optimal"``, over the directions of their features: for many actions,
        and for the :class:`~banditselect.Ball` and the :class:`~banditselect.Ellipsoid`, which ``act`` takes in the
        place of features then. Takes no blocks and none of the rates with a name.
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
    predictions that are not clipped, are practice. With ``design="optimal"`` the regret of a round is as with 1.5 s
    actions, up to a constant (Lemma 8 of ``docs/math.md``): of order :math:`d \sqrt{T \log T}` whatever their number.

    References
    ----------
    Foster, Rakhlin, "Beyond UCB", ICML 2020. Zhu, Foster, Langford, Mineiro, "Contextual bandits with large action
    spaces: made practical", ICML 2022, which has a barycentric spanner where a nearly optimal design is here.

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

    The unit ball in the place of features:

    >>> from banditselect import Ball
    >>> policy = SquareCB(dim=20, design="optimal", reward_range=(-1.0, 1.0))
    >>> target = np.full(20, 0.05)
    >>> for _ in range(200):
    ...     decision = policy.act(Ball(20))
    ...     policy.update(decision, target @ decision.features)
    >>> best = np.linalg.norm(target)
    >>> round(float(target @ policy.act(Ball(20)).features / best), 2)
    1.0
    """

    reward_units = ("reward_range", "noise", "reward_bound", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "blocks": Number(low=1, integer=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "exploration": Rate(names=tuple(FORMS)),
        "design": OneOf(DESIGNS),
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
        design: str = "uniform",
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
        self.design = design
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
        self._design = design_of(self, np.array([int(self.dim)]))
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

    def act(self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None) -> Decision:
        """Choose an action, as every policy does; with ``design="optimal"`` also of an ellipsoid."""
        if isinstance(features, Ellipsoid):
            features = self.points(features, lanes=lanes)
        return super().act(features, available=available, lanes=lanes)

    def points(self, ellipsoid: Ellipsoid, *, lanes: ArrayLike | None = None) -> Array:
        """Return the points of an ellipsoid that ``act`` chooses among now, ``(d + 1, d)``, the best of them first.

        With lanes, ``(n, d + 1, d)``.
        """
        owner, ids = type(self).__name__, self._ids(lanes)
        if self._design is None:
            raise refuse(f"{owner}: design", self.design, '"optimal", for an ellipsoid')
        if self.intercept:
            raise refuse(f"{owner}: intercept", True, "False, for an ellipsoid, which lies about the origin")
        if ellipsoid.axes.shape[0] != self.dim:
            raise refuse("features", ellipsoid, f"an ellipsoid in {self.dim} dimensions")
        alpha, theta = self._rates(ids, 1, None), self._experts.bank.theta[ids, 0]
        points = np.array([ellipsoid.points(theta[r], alpha[r]) for r in range(ids.size)])
        return points[0] if self.lanes is None else points

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``; with blocks one for each, ``(blocks, d)``."""
        return answer_by_map(self, self._experts.estimates()[1])

    @property
    def constant(self) -> Any:
        """Estimate of the constant term; 0 without an intercept. With blocks one for each, ``(blocks,)``."""
        return answer_by_map(self, self._experts.estimates()[0])
