"""What the policies that play by inverse gaps share: the range of the rewards, and a round in two kernels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..carriers.lanes import LaneArrays
from ..kernels.acting import Drawn
from ..kernels.arrays import count_outside
from ..kernels.rounds import ALL_OFFERED, DONE, OUTSIDE, learn_in_range, play_inverse_gaps
from ..parts.aggregation import Posterior
from ..parts.experts import RidgeBank
from ..parts.exploration import Power, Schedule
from ..types import Array, Index, Mask
from .base import Played, Policy


class RewardScale(LaneArrays):
    """The range in which rewards are expected: a scale, not a law. Counts the rewards outside, warns of the first.

    Attributes
    ----------
    outside: how many rewards fell outside the range, ``(N,)``.
    """

    state = ("outside",)

    def __init__(self, reward_range: tuple[float, float], lanes: int) -> None:
        self.lower, self.upper = float(reward_range[0]), float(reward_range[1])
        self.span = self.upper - self.lower
        self.outside = np.zeros(lanes, dtype=np.int64)
        self._warned = False

    def watch(self, ids: Index, y: Array, meaning: str) -> str | None:
        """Count the rewards outside; of the first ever return a warning that says what it means for this policy."""
        some = count_outside(ids, y, self.lower, self.upper, self.outside)
        return self.warning(y, meaning) if some else None

    def warning(self, y: Array, meaning: str) -> str | None:
        """Return a warning, once, for rewards of which some lie outside."""
        if self._warned:
            return None
        self._warned = True
        first = y[(y < self.lower) | (y > self.upper)][0]
        return (
            f"reward {first:g} lies outside reward_range=({self.lower:g}, {self.upper:g}): {meaning}. "
            "It is counted; no further warning is given."
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the counts; who has counted has warned."""
        super().restore(arrays)
        self._warned = bool(self.outside.any())


class InverseGapPolicy(Policy):
    """Plays inverse-gap weights on predictions of a bank of ridges, weighted by their posterior or otherwise."""

    _bank: RidgeBank
    _scale: RewardScale
    _posterior: Posterior
    _schedule: Schedule | None  # None for one that is not a function of t alone
    _by_posterior: bool = True  # predictions are weighted so
    _meaning: str  # what a reward outside the range means

    def _play(self, ids: Index, x: Array, offered: Mask, drawn: Drawn, played: Array) -> Played:
        schedule = self._schedule
        if not self._by_posterior or type(schedule) is not Power:
            return super()._play(ids, x, offered, drawn, played)
        bank, posterior = self._bank, self._posterior
        weights = (bank.theta, bank.evidence, posterior.log_prior, posterior.variance)
        rate = (bank.updates, schedule.scale / self._scale.span, float(schedule.exponent))
        mask = offered if offered.size else ALL_OFFERED
        book = self._ledger.book
        return play_inverse_gaps(ids, x, *weights, *rate, mask, self._streams.keys, book, drawn, played), None

    def _learn(self, ids: Index, x: Array, y: Array, numbers: Index, memo: Index | None) -> int:
        if not self._by_posterior:
            return super()._learn(ids, x, y, numbers, memo)
        bank, scale, book = self._bank, self._scale, self._ledger.book
        state = (bank.theta, bank.root, bank.evidence, bank.updates, bank.dims)
        status = learn_in_range(ids, x, y, numbers, book, *state, scale.lower, scale.upper, scale.outside)
        if status != OUTSIDE:
            return status
        self._say(scale.warning(y, self._meaning))
        return DONE

    @property
    def outside(self) -> Any:
        """How many rewards fell outside ``reward_range``."""
        return self._told(self._scale.outside)
