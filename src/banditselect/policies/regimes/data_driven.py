"""Balancing of regrets that are estimated from what the bases earn: the steps that D3RB and ED2RB share."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...carriers.lanes import LaneArrays
from ...carriers.streams import Seed
from ...carriers.validation import SMALLEST, Constraint, Number
from ...kernels import balancing
from ...types import Array, Index
from .balancing import WIDTH_ARGUMENTS, BalancingPolicy, Widths


class Regrets(LaneArrays):
    """What is thought of the regret of bases: ``coefficient sqrt(n)``, and the ``potential`` in its place, ``(N, M)``.

    Both begin with the smallest coefficient.
    """

    state = ("coefficient", "potential")
    natural = ("coefficient", "potential")

    def __init__(self, lanes: int, bases: int, smallest: float) -> None:
        self.coefficient = np.full((lanes, bases), smallest)
        self.potential = np.full((lanes, bases), smallest)


class DataDrivenPolicy(BalancingPolicy):
    """The base plays whose potential is smallest; what it earns changes its own."""

    reward_units = ("bases", "coefficient", "noise")
    constraints: ClassVar[dict[str, Constraint]] = {
        "bases": Constraint(),
        "coefficient": Number(low=SMALLEST),
        **WIDTH_ARGUMENTS,
    }
    _doubling: ClassVar[bool]  #: whether a coefficient that is too small is doubled; else it is estimated

    def __init__(
        self,
        *,
        bases: Sequence[Any],
        coefficient: float = 1.0,
        noise: float | ArrayLike = 0.5,
        delta: float = 0.05,
        scale: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.coefficient = coefficient
        self.noise = noise
        self.delta = delta
        self.scale = scale
        super().__init__(bases, lanes, seed)

    def _begin(self, lanes: int) -> None:
        super()._begin(lanes)
        M = len(self.bases)
        self._regrets = Regrets(lanes, M, float(self.coefficient))
        self._widths = Widths(self.noise, self.delta, self.scale, M, lanes)

    def _shares(self, ids: Index) -> tuple[Array, bool]:
        shares = np.empty((ids.size, len(self.bases)))
        balancing.share_potential(ids, self._tally.plays, self._regrets.potential, shares)
        return shares, False

    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        if chosen is not None:
            tally, regrets = self._tally, self._regrets
            learned = tally.plays, tally.earned, regrets.coefficient, regrets.potential
            smallest, (spread, width, log_term) = float(self.coefficient), self._widths.known
            balancing.record_regret(ids, chosen, y, *learned, smallest, self._doubling, spread, width, log_term)

    @property
    def coefficients(self) -> Array:
        """Estimated regret of each base over the root of its number of rounds, ``(M,)``."""
        return self._answer(self._regrets.coefficient)

    @property
    def potentials(self) -> Array:
        """What is balanced: the base with the smallest plays next, ``(M,)``."""
        return self._answer(self._regrets.potential)
