"""How often each of several alternatives - arms, policies - was played, and what it earned."""

import numpy as np

from ..carriers.lanes import LaneArrays


class Tally(LaneArrays):
    """Counts and sums, one per alternative, ``(N, M)``."""

    state = ("plays", "earned")
    natural = ("plays",)

    def __init__(self, lanes: int, alternatives: int) -> None:
        self.plays = np.zeros((lanes, alternatives), dtype=np.int64)
        self.earned = np.zeros((lanes, alternatives))
