"""What the policies that play optimistically over confidence sets share."""

from typing import Any

from ..exploration import optimism
from .base import Array, Index, Mask, Policy
from .decision import Begun


class OptimisticPolicy(Policy):
    """Plays the action whose reward could be highest in any of the confidence sets that are not empty."""

    scale: float
    _bank: Any  # a Bank; each policy has its own kind
    _sets: Any  # has squared_radii (N, M)

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        return optimism(ids, x, self._bank, self._sets.squared_radii, self.scale, offered), None

    def _play(self, ids: Index, x: Array, offered: Mask) -> tuple[Begun, None]:
        radii, keys = self._sets.squared_radii, self._streams.keys
        return self._ledger.draw_optimistic(ids, keys, x, offered, self._bank, radii, self.scale), None
