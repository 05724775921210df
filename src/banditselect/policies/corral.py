"""CORRAL over any policies."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape, common_shape
from ..carriers.streams import Channel, Seed, Streams
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, OneOf, YesNo
from ..kernels.adversarial import replaced
from ..parts.adversarial import LogBarrier
from ..parts.reward_range import RewardRange
from ..parts.tally import Tally
from ..types import Array, Index
from .base import Policy
from .regimes.meta import MetaPolicy, own_bases


@register
class Corral(MetaPolicy):
    r"""CORRAL: a base is drawn by weights that follow its losses by mirror descent under the log barrier.

    Base I is drawn with probability :math:`p_I`, and its loss :math:`\ell = (hi - y) / (hi - lo)`, clipped to [0, 1],
    moves the weights w; with T the horizon,

    .. math:: \frac{1}{w_i'} = \frac{1}{w_i} + \eta_i \Big( \frac{\ell}{p_I} 1[i = I] - x \Big), \quad \sum_i w_i' = 1,
              \qquad p_i = \Big(1 - \frac{1}{T}\Big) w_i + \frac{1}{M T}.

    Where :math:`1 / p_i` passes its threshold :math:`\rho_i`, at first 2M, the threshold becomes :math:`2 / p_i` and
    the rate :math:`\eta_i`, at first :math:`c \sqrt{M / T}`, is multiplied by :math:`e^{1 / \log T}`: what falls can
    come back.

    Parameters
    ----------
    bases: fresh policies, or factories; copied with this policy's lanes and seed, never shared.
    feedback: what a base learns. ``"plain"``: it plays and learns the reward as it is. ``"smoothed"`` (Pacchiano et
        al.): it does so in half of its rounds, by a coin; in the others it plays as it was after a number of its
        lessons drawn from all so far, and only the weights learn. ``"importance"`` (Agarwal et al.): it learns
        :math:`hi - (hi - y) / p_I`.
    reward_range: (lo, hi) of the rewards.
    horizon: T, the number of rounds; None to take 32 M, and to begin the weights anew with twice as many whenever they
        are over. Bases learn on.
    learning_rate: c.
    snapshots: how many earlier states are kept of each base, for ``"smoothed"``.
    propensities: whether decisions carry the propensity of the action, which asks every base in every round.

    Attributes
    ----------
    bases: the copies.  plays: lessons of each base, ``(M,)``.  model_weights: w, ``(M,)``.
    outside: rewards outside ``reward_range``.

    Notes
    -----
    Guarantee: against M policies that do not learn, expected regret of order :math:`M \log T / \eta + \eta T` with
    :math:`\eta = c \sqrt{M / T}` (the first reference). Bases that learn:

    * ``"importance"`` is for those whose regret grows at most as the root of :math:`\max_t 1 / p_{i,t}` when their
      losses are divided by the probabilities, such as an :class:`SEXP3` whose rate is divided by that root and that
      begins anew when it doubles, which is not done here. A ridge regression is none: what it is told has the mean
      :math:`hi - (hi - \mu) / p_I`, which moves with :math:`p_I` and is not linear in the features, and
      :math:`1 / p_I` times the noise, which its confidence set does not know.
    * ``"smoothed"`` is for any base whose regret is at most :math:`u \sqrt n` after n lessons, with high probability:
      a state drawn from n has an expected regret of :math:`u / \sqrt n`, however seldom the base plays. Then the regret
      is of order :math:`\sqrt T` up to logarithms and powers of M, times u if c is tuned to it, else :math:`u^2`.
    * ``"plain"`` has none: a base that explores by turns may be stuck at a bad one, for :math:`1 / p_i` rounds. It is
      the default because that was not met where it was looked for: over four UCB1 (scales 0, .1, .5, 4) on five arms
      of means .6, .5, .4, .4, .4 the regret after 8,000 rounds was 256 +- 25, with ``"smoothed"`` 440 +- 41, with
      ``"importance"`` 228 +- 29, growing as T to the .64, .78 and .71 from 500 rounds on (24 lanes, standard errors).

    Departures from print: a coin decides between the steps that take turns there, so that late rewards and propensities
    are those of any round; ``snapshots`` states are kept in reservoirs, each of them uniform over the past but the same
    for a while, where the reference draws anew from all; bases are not restarted at thresholds, for none is tuned to
    one. A base that does not play is told nothing: to :class:`SEXP3` that is the loss of 0 of the first reference.
    ``decision.base`` is i, or M (k + 1) + i where snapshot k of base i played. ``learn`` teaches every base.

    References
    ----------
    Agarwal, Luo, Neyshabur, Schapire, "Corralling a band of bandit algorithms", COLT 2017. Pacchiano, Phan,
    Abbasi-Yadkori, Rao, Zimmert, Lattimore, Szepesvari, "Model selection in contextual stochastic bandit problems",
    NeurIPS 2020.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform
    >>> policy = Corral(bases=[Uniform(), OFUL(dim=1)], horizon=300, seed=0)
    >>> for _ in range(300):
    ...     decision = policy.act([[0.1], [0.9]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.model_weights.round(2)
    array([0.09, 0.91])
    """

    reward_units = ("bases", "reward_range")
    constraints: ClassVar[dict[str, Constraint]] = {
        "bases": Constraint(),
        "feedback": OneOf(("plain", "smoothed", "importance")),
        "reward_range": Bounds(),
        "horizon": Number(low=2, integer=True, optional=True),
        "learning_rate": Number(low=SMALLEST),
        "snapshots": Number(low=1, integer=True),
        "propensities": YesNo(),
    }
    _own = 2

    def __init__(
        self,
        *,
        bases: Sequence[Any],
        feedback: str = "plain",
        reward_range: tuple[float, float] = (0.0, 1.0),
        horizon: int | None = None,
        learning_rate: float = 1.0,
        snapshots: int = 1,
        propensities: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.bases = own_bases("Corral", bases, lanes, seed)
        self.feedback = feedback
        self.reward_range = reward_range
        self.horizon = horizon
        self.learning_rate = learning_rate
        self.snapshots = snapshots
        self.propensities = propensities
        super().__init__(lanes, seed)
        self.has_propensity = self.has_propensity and bool(propensities)

    def _shape(self) -> FeatureShape:
        return common_shape("Corral: bases", [b.feature_shape for b in self.bases])

    def _begin(self, lanes: int) -> None:
        M = len(self.bases)
        self._barrier = LogBarrier(lanes, M, self.learning_rate, self.horizon)
        self._tally = Tally(lanes, M)
        self._range = RewardRange(self.reward_range, lanes, "losses are clipped to it")
        self._replays = int(self.snapshots) if self.feedback == "smoothed" else 0
        self._earlier = own_bases("Corral", self.bases * self._replays, self.lanes, self.seed) if self._replays else ()

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self._slots = Streams(self.seed, self._lane_range(first), (*channel, "slots"))

    @property
    def _players(self) -> tuple[Policy, ...]:
        return self.bases + self._earlier

    def _shares(self, ids: Index) -> tuple[Array, bool]:
        return self._barrier.shares(ids, self._replays), True

    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        """Let the weights be, whatever data the bases learn: nobody drew them."""

    def _settle(self, ids: Index, own: Index, y: Array) -> Array:
        expected, weigh = self._range, self.feedback == "importance"
        self._messages += expected.watch(ids, y)
        span = expected.lower, expected.upper
        return self._barrier.learn(ids, own, y, span, self._replays, weigh, self._tally.plays)

    def _teach_base(self, i: int, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if i < len(self.bases):
            if self._replays and action is not None:  # it played
                self._keep(i, ids)
            super()._teach_base(i, ids, x, action, y, memo)

    def _keep(self, i: int, ids: Index) -> None:
        """Keep base i as it is before this lesson: each slot holds any of its states with the same probability."""
        M, R = len(self.bases), self._replays
        taken = np.empty((ids.size, R), dtype=bool)
        replaced(ids, self._slots.keys, self._tally.plays[ids, i], i * R, taken)
        for k in np.flatnonzero(taken.any(axis=0)):
            pairs = zip(self._earlier[k * M + i]._state(), self.bases[i]._state(), strict=True)
            for (_, earlier), (_, now) in pairs:
                earlier.copy_lanes(ids[taken[:, k]], now)

    @property
    def plays(self) -> Index:
        """Lessons of each base from rounds that it played, ``(M,)``."""
        return self._answer(self._tally.plays)

    @property
    def model_weights(self) -> Array:
        """Weight of each base, ``(M,)``."""
        return self._answer(self._barrier.weights)

    @property
    def outside(self) -> Any:
        """How many rewards lay outside ``reward_range``."""
        return self._answer(self._range.outside)
