"""The range in which rewards are expected: a scale, not a law. Rewards outside are counted, the first one warns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import inlined
from ..runtime.lanes import LaneArrays
from ..types import Array, Index


class RewardRange(LaneArrays):
    """The range ``[lower, upper]`` and how many rewards fell outside.

    Parameters
    ----------
    reward_range: (lower, upper).  meaning: of a reward outside for the policy, in words, for the warning.

    Attributes
    ----------
    outside: how many rewards fell outside the range, ``(N,)``.
    """

    state = ("outside",)
    nonnegative = ("outside",)

    def __init__(self, reward_range: tuple[float, float], lanes: int, meaning: str) -> None:
        self.lower, self.upper = float(reward_range[0]), float(reward_range[1])
        self.span = self.upper - self.lower
        self.outside = np.zeros(lanes, dtype=np.int64)
        self._meaning, self._warned = meaning, False

    def watch(self, ids: Index, y: Array) -> list[str]:
        """Count the rewards outside; return a warning of the first ever."""
        return self.warnings(y) if count_outside(ids, y, self.lower, self.upper, self.outside) else []

    def warnings(self, y: Array) -> list[str]:
        """Return a warning for rewards of which some lie outside, once."""
        if self._warned:
            return []
        self._warned, first = True, y[(y < self.lower) | (y > self.upper)][0]
        return [
            f"reward {first:g} lies outside reward_range=({self.lower:g}, {self.upper:g}): {self._meaning}. "
            "It is counted; no further warning is given."
        ]

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the counts; where a reward was counted, the warning was given."""
        super().restore(arrays)
        self._warned = bool(self.outside.any())


@inlined
def count_outside(ids: Index, y: Array, lower: float, upper: float, count: Index) -> bool:
    """Add one to ``count[n]`` for every row with ``y`` outside ``[lower, upper]``; return whether there was one."""
    some = False
    for r in range(ids.size):
        if y[r] < lower or y[r] > upper:
            count[ids[r]] += 1
            some = True
    return some
