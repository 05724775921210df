"""Regrets estimated from the rewards of the bases: the model of D3RB and ED2RB."""

import math
from typing import Any

import numpy as np

from ..kernels import kernel
from ..types import Array, Index
from .balancing import MeanWidths, TalliedBases, radius, share_least


class EstimatedRegrets(TalliedBases):
    """The base plays whose potential is smallest; what it earns changes its own.

    Parameters
    ----------
    master: with ``bases``, the smallest ``coefficient``, ``noise``, ``delta`` and ``scale``.
    doubling: whether a coefficient that is too small is doubled; else it is estimated.

    Attributes
    ----------
    coefficient: the regret of a base is thought to be ``coefficient sqrt(n)``, ``(N, M)``.
    potential: what is balanced in its place, ``(N, M)``. Both begin with the smallest coefficient.
    """

    state = ("coefficient", "potential")
    nonnegative = ("coefficient", "potential")

    def __init__(self, master: Any, lanes: int, *, doubling: bool) -> None:
        super().__init__(master, lanes)
        self.widths = MeanWidths(master, lanes)
        self.smallest, self.doubling = float(master.coefficient), doubling
        self.coefficient, self.potential = (np.full((lanes, len(master.bases)), self.smallest) for _ in range(2))

    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return shares ``(n, M)`` that are 1 for the base to play, and that no lane has a choice."""
        among = np.ones((ids.size, self.potential.shape[1]), dtype=bool)
        return share_least(ids, self.tally.plays, self.potential, among), False

    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Count rewards, and estimate regrets from them."""
        if base is not None:
            regrets = (self.coefficient, self.potential, self.smallest)
            record_regret(ids, base, y, self.tally.arrays(), regrets, self.widths.arrays(), self.doubling)
        return y


@kernel
def record_regret(ids: Index, base: Index, y: Array, tally: Any, regrets: Any, widths: Any, doubling: bool) -> None:
    """Count rewards, and estimate from them the regret ``coefficient_i sqrt(plays_i)`` of the bases that played.

    ``excess_i = sqrt(plays_i) (max_j (earned_j / plays_j - spread_j) - earned_i / plays_i - spread_i)``. If
    ``doubling``, a coefficient below it is doubled and the potential is the regret; else the coefficient is
    ``max(smallest, excess)`` and the potential the regret, but at least what it was and at most twice that.
    ``spread`` is the ``radius``, NaN where it is not known.
    """
    plays, earned = tally
    coefficient, potential, smallest = regrets
    spread, width, log_term = widths
    for r in range(ids.size):
        n, i = ids[r], base[r]
        plays[n, i] += 1
        earned[n, i] += y[r]
        spread[n, i] = np.nan
        level = -np.inf
        for j in range(plays.shape[1]):
            if plays[n, j] > 0:
                if np.isnan(spread[n, j]):
                    spread[n, j] = radius(plays[n, j], width[n], log_term)
                level = max(level, earned[n, j] / plays[n, j] - spread[n, j])
        root = math.sqrt(plays[n, i])
        excess = root * (level - earned[n, i] / plays[n, i] - spread[n, i])
        if not doubling:
            coefficient[n, i] = max(smallest, excess)
            potential[n, i] = max(potential[n, i], min(coefficient[n, i] * root, 2.0 * potential[n, i]))
        else:
            if coefficient[n, i] < excess:
                coefficient[n, i] *= 2.0
            potential[n, i] = coefficient[n, i] * root
