"""What the policies that play optimistically over confidence sets share."""

from typing import Any

from ..kernels.acting import Drawn
from ..kernels.rounds import ALL_OFFERED, play_ridges
from ..parts.exploration import optimism
from ..types import Array, Index, Mask
from .base import Played, Policy


class OptimisticPolicy(Policy):
    """Plays the action whose reward could be highest in any of the confidence sets that are not empty."""

    scale: float
    _bank: Any  # a RidgeBank, where ``_play`` is not written anew
    _sets: Any  # has squared_radii (N, M)

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        return optimism(ids, x, self._bank, self._sets.squared_radii, self.scale, offered), None

    def _play(self, ids: Index, x: Array, offered: Mask, drawn: Drawn, played: Array) -> Played:
        bank, radii, keys, book = self._bank, self._sets.squared_radii, self._streams.keys, self._ledger.book
        mask = offered if offered.size else ALL_OFFERED
        status = play_ridges(
            ids, x, bank.theta, bank.root, bank.dims, radii, float(self.scale), mask, keys, book, drawn, played
        )
        return status, None
