"""FS-SCB: SquareCB that selects among M feature maps."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import (
    SMALLEST,
    Bounds,
    Constraint,
    Number,
    Numbers,
    OneOf,
    Rate,
    Widths,
    YesNo,
    refuse,
)
from ..parts.aggregation import Posterior
from ..parts.experts import RidgeBank, penalties
from ..parts.exploration import Schedule
from ..parts.forgetting import MEMORY, Forgetting
from ..parts.reward_range import RewardRange
from .regimes.fading import ByFadingEvidence
from .regimes.formulas_fs import FORMS, FORMULA_ARGUMENTS, Corrected, Formulas, Printed, refuse_change
from .regimes.inverse_gap import Aggregate, AggregatePolicy, ByEvidence, ByMixture, BySqAlg
from .regimes.optimal_design import DESIGNS, design_of
from .regimes.roster import MapRoster
from .squarecb import EXPLORATION

SCALED = "exploration and noise are scaled to that range"
MEANING = {
    "range": "it is clipped where experts are weighted",
    "learned": "exploration is scaled to that range",
    "corrected": "noise and a schedule of exploration are scaled to that range where nothing else is told",
}
"""What a reward outside its range means, where it is something else."""


@register
class FSSquareCB(AggregatePolicy, MapRoster):
    r"""Feature-selection SquareCB (FS-SCB): inverse-gap weights on predictions aggregated over M ridge regressions.

    Expert i is a ridge regression on map i; it predicts :math:`f_i(a) = \langle \phi^i(a), \hat\theta^i_t \rangle`.
    The aggregate :math:`\hat y_t(a)` is played as SquareCB does, with :math:`\kappa` the number of actions offered and
    :math:`\alpha_t` the ``exploration`` schedule:

    .. math:: p_t(a) = \frac{1}{\kappa + \alpha_t (\hat y_t(a') - \hat y_t(a))}, \quad a \ne a' = \arg\max \hat y_t
              \qquad (eq:dist\text{-}over\text{-}actions)

    With ``design="optimal"`` it is played as SquareCB with that design does, on the features of the maps that weigh
    most, side by side.

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    blocks: how many separate parameters each map has, a number or one per map, for disjoint arms: an action has one of
        them, and the features of a map that has several are ``Blocked(values, block)``, ``(K, d_i)`` and ``(K,)``, in
        the list of maps. Such a map has an intercept per block.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    regularization: ridge penalty lambda, a number or one per model. By default :math:`\lambda_i = d_i R^2 / S^2` with S
        the ``parameter_bound``, or (hi - lo) / 2 where it is not told; 1, as in the paper, when ``"paper"`` is chosen.
    exploration: c of :math:`\alpha_t = c \sqrt t / (hi - lo)`, a ``Power``, a callable of t, ``"paper"``:
        :math:`\alpha = \sqrt{K T / D_T}` with the printed :math:`D_T`, or ``"corrected"``, which needs the weighting
        of that name: :math:`\alpha = \sqrt{8 (K - 1) T / D'}` (``theory.feature_selection.learning_rate``).
    design: ``"uniform"``, over the actions, or ``"optimal"``, over the directions of their features, for many actions;
        takes no blocks, and neither ``"paper"`` nor ``"corrected"``.
    weighting: how experts are weighted. ``"noise"``: by their Gaussian evidence, :math:`e^{-L_i / (2 R^2)}`, with the
        weighted mean. ``"range"``: the paper's SqAlg (:math:`\eta = 2 / \ell^2`, substitution) on ``reward_range``,
        what lies outside clipped. ``"paper"``: SqAlg on the printed range, with the printed admissibility.
        ``"corrected"``: SqAlg on :math:`\pm (G + n_T)`, :math:`n_T = R \sqrt{2 \log(10 T / \delta)}`, and
        :math:`\hat y_t` clipped to :math:`[-G, G]` before it is played.
        ``"learned"``: by how probable they are when noise and prior scales are learned (``parts.mixtures``), with the
        weighted mean; noise and regularization are not told then.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the formulas need; asked for by
        name when ``"paper"`` or ``"corrected"`` is chosen. Without a horizon the printed range grows with t.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, as
        all blocks do. With
        ``"learned"`` its prior is nearly flat; the formulas know none.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        :math:`(1 - 1 / m)^k`, in the regressions, in the weights of the maps and in t. The formulas know none.
    share: a rate :math:`\alpha` per round, for ``"range"``: the weights of SqAlg can return (fixed-share), since every
        map gives this part of its weight to the others after each reward. It stands for how likely it is that another
        map is best in the next round, 1 / s if one lasts s rounds. Losses do not fade then; with a memory the
        regressions do.
    aggregation_rate: for ``"range"``: multiplies :math:`\eta`; above 1 is practice.

    Attributes
    ----------
    model_weights: ``(M,)``.  admissible: ``(M,)``.  parameters: ridge estimates, or means of the posterior with
        ``"learned"``, ``(M, d)``.  constants: their constant terms, ``(M,)``.  rounds. With blocks both are lists, of a
        map with several blocks ``(blocks, d_i)`` and ``(blocks,)``.
    outside: how many rewards fell outside ``reward_range``.  clipped: how many SqAlg had to clip.

    Notes
    -----
    Algorithm 1 of the paper. Departures from print: the sign of the gap; admissibility two-sided and over all actions
    offered; the range is the largest over the models; the printed :math:`R_{Sq}` is used as it stands, although it
    vanishes with R. ``"corrected"`` plays what is true instead.

    In a world that changes the guarantee is one of SqAlg alone: its loss against that of the best maps of
    each time, with ``share`` or ``memory`` (section 14 of ``docs/math.md``, which also says when to use which).

    An expert found inadmissible when the policy acts is out from the moment that act's reward is learned.

    Guarantee: with ``"corrected"`` for exploration and weighting the regret of T rounds is, with probability
    :math:`1 - \delta`, at most ``theory.feature_selection.regret_bound`` with K the most actions ever offered
    (Theorem 5 of ``docs/math.md``), of order :math:`\sqrt{K T (d + \log M) \log T}`. It asks for rewards that are
    learned before the next act, some map whose parameter has norm at most S, features of norm at most L, mean rewards
    of all actions offered in [-G, G], noise that is R-sub-Gaussian. All else, the defaults too, is practice.

    With ``design="optimal"`` and weights whose mean is played, ``"noise"`` and ``"learned"``, the regret of a round is
    as with 1.5 s actions, up to a constant (Lemma 8 of ``docs/math.md``), s the rank of all maps side by side: at most
    :math:`\sum_i d_i`, whatever the number of actions. The maps left out are those that weigh less than a hundredth of
    the leading one, and those beyond 128 features together, which makes s the width of one map once that has won; this
    is practice, and so is SqAlg's prediction (``"range"``), which is not linear in the features.

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

    reward_units = ("noise", "reward_range", "reward_bound", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "blocks": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True, optional=True),
        "reward_range": Bounds(),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST, optional=True),
        "exploration": Rate(names=tuple(FORMS)),
        "design": OneOf(DESIGNS),
        "weighting": OneOf(("noise", "range", "learned", *FORMS)),
        **FORMULA_ARGUMENTS,
        "intercept": YesNo(),
        "memory": MEMORY,
        "share": Number(low=0.0, high=1.0, below=True),
        "aggregation_rate": Number(low=SMALLEST),
    }

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        blocks: int | Sequence[int] = 1,
        noise: float | ArrayLike | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        regularization: float | ArrayLike | None = None,
        exploration: float | Schedule | str = EXPLORATION,
        design: str = "uniform",
        weighting: str = "noise",
        delta: float = 0.05,
        feature_bound: float | ArrayLike | None = None,
        reward_bound: float | ArrayLike | None = None,
        parameter_bound: float | ArrayLike | None = None,
        horizon: int | None = None,
        intercept: bool = False,
        memory: float | None = None,
        share: float = 0.0,
        aggregation_rate: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.blocks = blocks
        self.noise = noise
        self.reward_range = reward_range
        self.regularization = regularization
        self.exploration = exploration
        self.design = design
        self.weighting = weighting
        self.delta = delta
        self.feature_bound = feature_bound
        self.reward_bound = reward_bound
        self.parameter_bound = parameter_bound
        self.horizon = horizon
        self.intercept = intercept
        self.memory = memory
        self.share = share
        self.aggregation_rate = aggregation_rate
        super().__init__(lanes, seed)

    def _begin(self, lanes: int) -> None:
        (widths, several), M, given = self._maps(), int(self.n_models), self.regularization
        dims, blocks = np.array(widths) + bool(self.intercept), np.array(several)
        if given is None and "paper" in (self.weighting, self.exploration):
            given = 1.0
        expected = RewardRange(self.reward_range, lanes, MEANING.get(self.weighting, SCALED))
        noise = per_lane(expected.span / 2.0 if self.noise is None else self.noise, lanes)
        bound = per_lane(expected.span / 2.0 if self.parameter_bound is None else self.parameter_bound, lanes)
        lam = penalties("FSSquareCB: regularization", given, blocks * dims, noise, bound)
        bank = RidgeBank(lanes=lanes, dims=dims, regularization=lam, blocks=blocks)
        experts = bank, expected, self._messages, bool(self.intercept)
        self._design = design_of(self, np.array(widths))
        if self.weighting in FORMS or isinstance(self.exploration, str):
            refuse_change(self)
        formulas = functools.cache(lambda choice: Formulas(self, choice, tuple(blocks * widths), lam, noise))
        if self.exploration == "corrected" != self.weighting:
            expectation = '"corrected", since exploration="corrected" was chosen'
            raise refuse("FSSquareCB: weighting", self.weighting, expectation)
        if self.share > 0.0 and self.weighting != "range":
            expectation = '0, or weighting="range": the weights of "noise" and "learned" return with a memory'
            raise refuse("FSSquareCB: share", self.share, expectation)
        fading = None if self.memory is None else Forgetting(bank, self.memory)
        self.ridge_estimates = self.memory is None
        if self.weighting == "noise":
            posterior = Posterior(variance=noise**2, prior=np.full(M, 1.0 / M), online=False)
            weighed = *experts, posterior
            self._experts = ByEvidence(*weighed) if fading is None else ByFadingEvidence(fading, *weighed)
        elif self.weighting == "range":
            self._experts = BySqAlg(*experts, fading, float(self.share), float(self.aggregation_rate))
        elif self.weighting == "learned":
            self._experts, self.ridge_estimates = ByMixture(self, widths, several, lanes, expected), False
        else:
            regime = {"paper": Printed, "corrected": Corrected}[self.weighting]
            self._experts = regime(*experts, formulas(self.weighting))
        self._memo_width = self._experts.memo_width
        if isinstance(self.exploration, str):
            self._rate = formulas(self.exploration)
        else:
            self._rate = self._scheduled(self.exploration)

    @property
    def _weighing(self) -> Aggregate:
        return self._experts

    def _free(self) -> None:
        super()._free()
        if self.share > 0.0:
            raise refuse("FSSquareCB: share", self.share, "0: models come and go where weights are not shared")
        for name in ("weighting", "exploration"):
            if self.settings[name] in FORMS:
                expected = 'another choice, since "paper" and "corrected" are formulas for a list of models that stays'
                raise refuse(f"FSSquareCB: {name}", self.settings[name], expected)
