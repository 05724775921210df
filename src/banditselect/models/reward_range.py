"""The range in which rewards are expected: a scale, not a law. Rewards outside are counted, the first one warns."""

import numpy as np

from ..kernels import inlined
from ..runtime.lanes import LaneArrays
from ..types import Array, Index


class RewardRange(LaneArrays):
    """The range ``[lower, upper]`` and how many rewards fell outside.

    Parameters
    ----------
    meaning: what a reward outside means for the policy, in words, for the warning.

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
        self._meaning = meaning

    def watch(self, ids: Index, y: Array) -> list[str]:
        """Count the rewards outside; return a warning of the first ever."""
        return self.warnings(y) if count_outside(ids, y, self.lower, self.upper, self.outside) else []

    def warnings(self, y: Array) -> list[str]:
        """Return a warning for rewards of which some lie outside, unless others have been counted before."""
        wrong = y[(y < self.lower) | (y > self.upper)]
        if wrong.size < self.outside.sum():
            return []
        return [
            f"reward {wrong[0]:g} lies outside reward_range=({self.lower:g}, {self.upper:g}): {self._meaning}. "
            "It is counted; no further warning is given."
        ]


@inlined
def count_outside(ids: Index, y: Array, lower: float, upper: float, count: Index) -> bool:
    """Add one to ``count[n]`` for every row with ``y`` outside ``[lower, upper]``; return whether there was one."""
    some = False
    for r in range(ids.size):
        if y[r] < lower or y[r] > upper:
            count[ids[r]] += 1
            some = True
    return some
