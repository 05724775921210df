"""CORRAL over any policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel
from ..kernels.features import Features
from ..policies import shared
from ..policies.contract import Played
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..runtime.drawing import Channel, Streams, philox
from ..runtime.files import register
from ..runtime.lanes import LaneArrays
from ..types import Array, Index, Mask
from .log_barrier import HORIZON, PROPENSITIES, BarrierModel
from .master import BASES, Master, copies


@register
class Corral(Master):
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
    bases: as :class:`RegretBalancing` has them.
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

    Notes
    -----
    Guarantee: against M policies that do not learn, expected regret of order :math:`M \log T / \eta + \eta T` with
    :math:`\eta = c \sqrt{M / T}` (the first reference). Bases that learn:

    * ``"importance"`` is for those whose regret grows at most as the root of :math:`\max_t 1 / p_{i,t}` when their
      losses are divided by the probabilities, such as an :class:`SEXP3` whose rate is divided by that root and that
      begins anew when it doubles, which is not done here. A ridge regression is not: its rewards have the mean
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
    one. A base that does not play learns nothing: for :class:`SEXP3` that is the loss of 0 of the first reference.
    ``plays`` counts the lessons of a base. ``decision.base`` is i, or M (k + 1) + i where snapshot k of base i played.
    ``learn`` teaches every base.

    References: Agarwal, Luo, Neyshabur, Schapire, "Corralling a band of bandit algorithms", COLT 2017. Pacchiano, Phan,
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

    bases: Sequence[Any] = argument(BASES, unit="reward")
    feedback: str = argument(OneOf(("plain", "smoothed", "importance")), default="plain")
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    horizon: int | None = HORIZON
    learning_rate: float = shared.RATE_FACTOR
    snapshots: int = argument(Number(low=1, integer=True), default=1)
    propensities: bool = PROPENSITIES

    notes_share: ClassVar[bool] = True

    outside = shared.OUTSIDE_OF_RANGE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return weights under the log barrier."""
        replays = int(self.snapshots) if self.feedback == "smoothed" else 0
        self._earlier = copies("Corral: bases", [*self.bases] * replays, self.lanes, self.seed)
        self._slots = Streams(self.seed, self._lane_range(0))
        return BarrierModel(self, lanes, replays=replays, weigh=self.feedback == "importance"), None

    def _seed_streams(self, channel: Channel, first: int = 0) -> None:
        super()._seed_streams(channel, first)
        self._slots.start(self.seed, self._lane_range(first), (*channel, "slots"))

    @property
    def _players(self) -> Sequence[Policy]:
        return (*self.bases, *self._earlier) if self._earlier else self.bases

    def _learn_base(self, i: int, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        if i < len(self.bases):
            if self._earlier and played is not None:
                self._keep(i, ids)
            super()._learn_base(i, ids, x, y, played)

    def _keep(self, i: int, ids: Index) -> None:
        """Keep base i as it is before this lesson: each slot holds any of its states with the same probability."""
        M, plays = len(self.bases), self._model.plays[ids, i]
        slots = len(self._earlier) // M
        taken = replaced(ids, self._slots.keys, plays, i * slots, slots)
        for k in np.flatnonzero(taken.any(axis=0)).tolist():
            for (_, earlier), (_, now) in zip(self._earlier[k * M + i]._parts, self.bases[i]._parts, strict=True):
                earlier.copy_lanes(ids[taken[:, k]], now)

    def _parts_of_player(self, i: int) -> Iterable[LaneArrays]:
        if i >= len(self.bases):
            return ()
        earlier = (part for policy in self._earlier[i :: len(self.bases)] for _, part in policy._parts)
        return [*super()._parts_of_player(i), *earlier]


@kernel
def replaced(ids: Index, keys: Index, counts: Array, first: int, slots: int) -> Mask:
    """Return which slots of a reservoir take the newest of ``counts[r]`` things, by one chance in so many, ``(n, k)``.

    Slot k then holds each of them with the same probability. The numbers of slot k are those of draw ``first + k``.
    """
    out = np.empty((ids.size, slots), dtype=np.bool_)
    for r in range(ids.size):
        for k in range(slots):
            high, low, _, _ = philox(int(keys[ids[r]]), int(counts[r]), first + k)
            u = ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0
            out[r, k] = u * counts[r] < 1.0
    return out
