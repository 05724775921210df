"""SquareCB on one feature map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..actions.ellipsoid import Ellipsoid
from ..models.evidence import EvidenceWeighted
from ..models.printed_fs import FORMS, CorrectedSqAlg, PrintedFS
from ..models.reward_range import RewardRange
from ..models.ridge_bank import RidgeBank
from ..plays.inverse_gaps import GapRate, InverseGaps, evaluated
from ..plays.optimal_design import OptimalGaps
from ..plays.schedules import Schedule
from ..runtime.arguments import argument
from ..runtime.constraints import OneOf, Rate
from ..runtime.decisions import Decision
from ..runtime.errors import refuse
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from ..types import Array, Index
from . import shared
from .policy import Policy

EXPLORATION = 300.0
"""Default c of alpha_t = c sqrt(t) / (hi - lo), from the study in docs/defaults.md."""

BOUNDS = ("feature_bound", "reward_bound", "parameter_bound")
"""The bounds that the formulas of the paper need."""


@register
class SquareCB(Policy):
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
    dim: number of features d; features are ``(K, d)``.  blocks: as :class:`LinIDS` has them.
    regularization: ridge penalty lambda > 0.
    exploration: the constant c, a ``Power(scale, exponent)``, any callable of t (then the policy cannot be saved), or,
        as FS-SCB has it for one map, ``"paper"``: :math:`\alpha = \sqrt{K T / D_T}` with the printed :math:`D_T`, or
        ``"corrected"``: :math:`\alpha = \sqrt{8 (K - 1) T / D'}` with predictions clipped to :math:`[-G, G]`.
        Larger means greedier. The default comes from ``docs/defaults.md``.
    design: ``"uniform"``, over the actions, or ``"optimal"``, over the directions of their features: for many actions,
        and for a ``Ball`` or an ``Ellipsoid`` of :mod:`banditselect.actions`, which ``act`` then takes in the place of
        features. Takes no blocks and none of the rates with a name.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    noise: sub-Gaussian constant R of the rewards; (hi - lo) / 2 by default. Only the rates with a name ask for it.
    delta, feature_bound (L), reward_bound (G), parameter_bound (S), horizon (T): what the rates with a name need; asked
        for by name.
    intercept: whether a constant feature 1 stands before the features; the rates with a name know none.
    memory: as for :class:`LinIDS`, in t too; the rates with a name know none.

    Notes
    -----
    Guarantee: with ``exploration="corrected"``, that of FS-SCB for one map:
    ``theory.feature_selection.regret_bound`` with ``n_models=1`` (Theorem 5 of ``docs/math.md``). The other rates, and
    predictions that are not clipped, are practice. With ``design="optimal"`` the regret of a round is as with 1.5 s
    actions, up to a constant (Lemma 8 of ``docs/math.md``): of order :math:`d \sqrt{T \log T}` for any number.

    Reference: Foster, Rakhlin, "Beyond UCB", ICML 2020. Zhu, Foster, Langford, Mineiro, "Contextual bandits with large
    action spaces: made practical", ICML 2022, which has a barycentric spanner where a nearly optimal design is here.

    Examples
    --------
    >>> policy = SquareCB(dim=2, seed=0)
    >>> decision = policy.act([[1.0, 0.0], [0.0, 1.0]])
    >>> decision.probability
    0.5
    >>> policy.update(decision, 1.0)
    >>> policy.rounds
    1

    The unit ball in the place of features:

    >>> from banditselect.actions import Ball
    >>> SquareCB(dim=20, design="optimal").act(Ball(20)).features.shape
    (20,)
    """

    dim: int = argument(shared.SIZE)
    blocks: int = shared.BLOCKS
    regularization: float | ArrayLike = shared.REGULARIZATION
    exploration: float | Schedule | str = argument(Rate(names=tuple(FORMS)), default=EXPLORATION)
    design: str = argument(OneOf(("uniform", "optimal")), default="uniform")
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    delta: float = shared.DELTA
    feature_bound: float | ArrayLike | None = shared.FEATURE_BOUND_OR_NONE
    reward_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    parameter_bound: float | ArrayLike | None = shared.REWARD_BOUND_OR_NONE
    horizon: int | None = shared.HORIZON_OR_NONE
    intercept: bool = shared.NO_INTERCEPT
    memory: float | None = shared.MEMORY

    parameters = shared.PARAMETERS
    constant = shared.CONSTANT
    outside = shared.OUTSIDE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return a ridge regression, played by inverse gaps."""
        demand_choices(self)
        maps, lam = maps_of(self.dim, self.blocks), per_lane(self.regularization, lanes)[:, None]
        expected = RewardRange(self.reward_range, lanes, "exploration is scaled to that range")
        noise = per_lane(expected.span / 2.0 if self.noise is None else self.noise, lanes)
        rate = rate_of(self, np.array([self.dim * self.blocks]), lam, noise)
        bank = RidgeBank.of(maps, lanes, lam, constant=self.intercept, memory=self.memory)
        if self.exploration == "corrected":
            return CorrectedSqAlg(bank, expected, rate), InverseGaps(rate)
        model = EvidenceWeighted(bank, expected)
        if isinstance(rate, PrintedFS):
            model.printed = (rate,)
        if self.design == "optimal":
            return model, OptimalGaps(rate, np.array(maps.dims), self.intercept)
        return model, InverseGaps(rate, 'design="optimal", LinIDS, LinTS or OFUL')

    def act(self, features: Any, *, available: ArrayLike | None = None, lanes: ArrayLike | None = None) -> Decision:
        """Choose an action, as every policy does; with ``design="optimal"`` also of an ellipsoid."""
        if isinstance(features, Ellipsoid):
            features = self.points(features, lanes=lanes)
        return super().act(features, available=available, lanes=lanes)

    def points(self, ellipsoid: Ellipsoid, *, lanes: ArrayLike | None = None) -> Array:
        """Return the points of an ellipsoid that ``act`` chooses among now, ``(d + 1, d)``, the best of them first.

        With lanes, ``(n, d + 1, d)``.
        """
        owner, ids, model, play = type(self).__name__, self._ids(lanes), self._model, self._play
        if not isinstance(play, OptimalGaps):
            raise refuse(f"{owner}: design", self.design, '"optimal", for an ellipsoid')
        if self.intercept:
            raise refuse(f"{owner}: intercept", True, "False, for an ellipsoid, which lies about the origin")
        if ellipsoid.axes.shape[0] != self.dim:
            raise refuse("features", ellipsoid, f"an ellipsoid in {self.dim} dimensions")
        alpha = evaluated(ids, play.rate(ids, model.rounds, 1, None))
        theta = model.bank.theta[ids, 0]
        points = np.array([ellipsoid.points(theta[r], alpha[r]) for r in range(ids.size)])
        return points[0] if self.lanes is None else points


def demand_choices(policy: Any) -> None:
    """Refuse what does not go with the formulas of the paper, or with a design."""
    names = [name for name in ("weighting", "exploration") if name in policy.arguments]
    if any(getattr(policy, name) in FORMS for name in names):
        reason = '"paper" and "corrected" are formulas for a world that does not change'
        policy.demand(reason, default=[name for name in ("memory", "share") if name in policy.arguments])
    if policy.design == "optimal":
        other = dict.fromkeys(names, tuple(FORMS))
        policy.demand('design="optimal" was chosen', default=("blocks",), other=other)


def rate_of(policy: Any, dims: Index, regularization: Array, noise: Array) -> Any:
    """Return the rate of inverse gaps that a policy has chosen, by a schedule or by a name."""
    if isinstance(policy.exploration, str):
        return formulas(policy, policy.exploration, dims, regularization, noise)
    low, high = policy.reward_range
    return GapRate(policy.exploration, float(high) - float(low))


def formulas(policy: Any, choice: str, dims: Index, regularization: Array, noise: Array) -> PrintedFS:
    """Return the formulas of this name; refuse arguments that they do not know, ask for those that they need."""
    horizon = ("horizon",) if choice in ("corrected", policy.exploration) else ()
    policy.demand(f'"{choice}" was chosen', default=("intercept",), given=BOUNDS + horizon)
    arrays: dict[str, Any] = {name: per_lane(getattr(policy, name), noise.size) for name in BOUNDS}
    known = {"delta": policy.delta, "horizon": policy.horizon, "noise": noise, "regularization": regularization}
    return PrintedFS(choice, dims, **known, **arrays)
