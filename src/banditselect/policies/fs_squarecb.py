"""FS-SCB: SquareCB that selects among M feature maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import Features
from ..models.evidence import EvidenceWeighted, Posterior
from ..models.map_mixture import MapMixture
from ..models.printed_fs import FIXED, FORMS, CorrectedSqAlg, PrintedFS, PrintedSqAlg
from ..models.reward_range import RewardRange
from ..models.ridge_bank import RidgeBank, penalties
from ..models.sqalg import SqAlgWeighted
from ..plays.inverse_gaps import InverseGaps, OfferedGaps
from ..plays.optimal_design import OptimalGaps
from ..plays.schedules import Schedule
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf, Rate
from ..runtime.errors import refuse
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..types import Array, Index, Mask
from . import shared
from .contract import answer
from .members import MapPolicy, prior_of
from .squarecb import EXPLORATION, demand_choices, formulas, rate_of

SCALED = "exploration and noise are scaled to that range"
MEANING = {
    "range": "it is clipped where experts are weighted",
    "learned": "exploration is scaled to that range",
    "corrected": "noise and a schedule of exploration are scaled to that range where they are not given",
}
"""The meaning of a reward outside its range, where it is something else."""


@register
class FSSquareCB(MapPolicy):
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
    n_models: number of feature maps M.  blocks: as :class:`FSIDS` has them.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    regularization: ridge penalty lambda, a number or one per model. By default :math:`\lambda_i = d_i R^2 / S^2` with S
        the ``parameter_bound``, or (hi - lo) / 2 where it is not given; 1, as in the paper, when ``"paper"`` is chosen.
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
        ``"learned"``: by how probable they are when noise and prior scales are learned (``models.mixture``), with the
        weighted mean; noise and regularization are not given then.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the formulas need; asked for by
        name when ``"paper"`` or ``"corrected"`` is chosen. Without a horizon the printed range grows with t.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, as
        all blocks do. With ``"learned"`` its prior is nearly flat; the formulas know none.
    memory: as for :class:`FSIDS`, in t too; the formulas know none.
    share: a rate :math:`\alpha` per round, for ``"range"``: the weights of SqAlg can return (fixed-share), since every
        map gives this part of its weight to the others after each reward: 1 / s if the best map lasts s rounds. Losses
        do not fade then; with a memory the regressions do.
    aggregation_rate: for ``"range"``: multiplies :math:`\eta`; above 1 is practice.

    Notes
    -----
    Algorithm 1 of the paper. Departures from print: the sign of the gap; admissibility two-sided and over all actions
    offered; the range is the largest over the models; the printed :math:`R_{Sq}` is used as it stands, although it
    vanishes with R. ``"corrected"`` plays what is true instead.

    In a world that changes the guarantee is one of SqAlg alone: its loss against that of the best maps of each time,
    with ``share`` or ``memory`` (section 14 of ``docs/math.md``, which also says when to use which). An expert found
    inadmissible when the policy acts is out from the moment that act's reward is learned. ``parameters`` are ridge
    estimates, with ``"learned"`` means of the posterior.

    Guarantee: with ``"corrected"`` for exploration and weighting the regret of T rounds is, with probability
    :math:`1 - \delta`, at most ``theory.feature_selection.regret_bound`` with K the most actions ever offered
    (Theorem 5 of ``docs/math.md``), of order :math:`\sqrt{K T (d + \log M) \log T}`. It asks for rewards that are
    learned before the next act, some map whose parameter has norm at most S, features of norm at most L, mean rewards
    of all actions offered in [-G, G], noise that is R-sub-Gaussian. All else, the defaults too, is practice.

    With ``design="optimal"`` and weights whose mean is played, ``"noise"`` and ``"learned"``, the regret of a round is
    as with 1.5 s actions, up to a constant (Lemma 8 of ``docs/math.md``), s the rank of all maps side by side: at most
    :math:`\sum_i d_i`, for any number of actions. The maps left out are those that weigh less than a hundredth of
    the leading one, and those beyond 128 features together, which makes s the width of one map once that has won; this
    is practice, and so is SqAlg's prediction (``"range"``), which is not linear in the features.

    Reference: Moradipari, Turan, Abbasi-Yadkori, Alizadeh, Ghavamzadeh, "Feature and parameter selection in stochastic
    linear bandits", ICML 2022.

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

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    blocks: int | Sequence[int] = shared.MAP_BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    exploration: float | Schedule | str = argument(Rate(names=tuple(FORMS)), default=EXPLORATION)
    design: str = argument(OneOf(("uniform", "optimal")), default="uniform")
    weighting: str = argument(OneOf(("noise", "range", "learned", *FORMS)), default="noise")
    delta: float = shared.DELTA
    feature_bound: float | ArrayLike | None = shared.FEATURE_BOUND_OR_NONE
    reward_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    parameter_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    horizon: int | None = shared.HORIZON_OR_NONE
    intercept: bool = shared.NO_INTERCEPT
    memory: float | None = shared.MEMORY
    share: float = argument(Number(low=0.0, high=1.0, below=True), default=0.0)
    aggregation_rate: float = shared.RATE_FACTOR

    admissible = answer("admissible", "Which experts are admissible, ``(M,)``.")
    clipped = answer("clipped", "How many rewards SqAlg had to clip to its range.")
    outside = shared.OUTSIDE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return ridge regressions whose predictions are aggregated, played by inverse gaps."""
        self._refuse_choices()
        maps, prior = self._maps(), prior_of(self)
        expected = RewardRange(self.reward_range, lanes, MEANING.get(self.weighting, SCALED))
        noise = per_lane(expected.span / 2.0 if self.noise is None else self.noise, lanes)
        bound = per_lane(expected.span / 2.0 if self.parameter_bound is None else self.parameter_bound, lanes)
        given = self.regularization
        if given is None and "paper" in (self.weighting, self.exploration):
            given = 1.0
        widths, blocks = np.array(maps.dims), np.array(maps.blocks)
        counts = blocks * widths
        lam = penalties("FSSquareCB: regularization", given, counts + blocks * self.intercept, noise, bound)
        rate = rate_of(self, counts, lam, noise)
        bank = RidgeBank.of(maps, lanes, lam, constant=self.intercept, memory=self.memory)

        model: Any
        if self.weighting == "noise":
            model = EvidenceWeighted(bank, expected, Posterior(bank, variance=noise**2, prior=prior, online=False))
        elif self.weighting == "range":
            model = SqAlgWeighted(bank, expected, share=self.share, rate=self.aggregation_rate)
        elif self.weighting == "learned":
            own = {"noise": None, "prior": prior, "intercept": self.intercept, "memory": self.memory}
            model = MixtureInRange(expected, maps, lanes, **own)
        else:
            aggregation = PrintedSqAlg if self.weighting == "paper" else CorrectedSqAlg
            model = aggregation(bank, expected, formulas(self, self.weighting, counts, lam, noise))
        if isinstance(rate, PrintedFS):
            model.printed, model.fixed_members = (rate,), FIXED
        if self.design == "optimal":
            return model, OptimalGaps(rate, widths, self.intercept)
        play = OfferedGaps if self.weighting == "paper" else InverseGaps
        return model, play(rate, 'design="optimal", FSIDS, FSTS or FSOFUL')

    def _refuse_choices(self) -> None:
        """Refuse arguments that do not go together."""
        demand_choices(self)
        if self.exploration == "corrected" != self.weighting:
            expected = '"corrected", since exploration="corrected" was chosen'
            raise refuse("FSSquareCB: weighting", self.weighting, expected)
        if self.share > 0.0 and self.weighting != "range":
            expected = '0, or weighting="range": the weights of "noise" and "learned" return with a memory'
            raise refuse("FSSquareCB: share", self.share, expected)
        if self.weighting == "learned":
            default = ("noise", "regularization")
            self.demand('weighting="learned" was chosen', default=default, other={"exploration": tuple(FORMS)})


class MixtureInRange(MapMixture):
    """A mixture that learns noise and prior scales, of rewards that are expected in a range."""

    def __init__(self, expected: RewardRange, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.expected = expected
        self.one_kernel = False

    @property
    def clipped(self) -> Index:
        """Number of rewards that had to be clipped, ``(N,)``: none."""
        return np.zeros_like(self.updates)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards, and count those outside the range."""
        super().learn(ids, x, y, note)
        self.warnings += self.expected.watch(ids, y)

    def admissible(self) -> Mask:
        """Return which maps are admissible, ``(N, M)``: all."""
        return np.ones((len(self.size), self.n_models), dtype=bool)
