"""Counts of plays and sums of rewards of several alternatives: arms, policies."""

import numpy as np

from ..runtime.lanes import LaneArrays
from ..types import Array, Index


class Tally(LaneArrays):
    """Counts and sums, one per alternative, ``(N, M)``."""

    state = ("plays", "earned")
    nonnegative = ("plays",)

    def __init__(self, lanes: int, alternatives: int) -> None:
        self.plays = np.zeros((lanes, alternatives), dtype=np.int64)
        self.earned = np.zeros((lanes, alternatives))

    def arrays(self) -> tuple[Index, Array]:
        """Return the arrays that kernels read."""
        return self.plays, self.earned
