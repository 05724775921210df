"""Information-directed play over the posterior of several models: the steps, and what can be asked."""

from typing import Any

from ...parts.mixtures import Mixture
from ...types import Array, Index, Mask
from ..base import Policy


class InformedPolicy(Policy):
    """Mixes the two actions whose regret is smallest for what they teach."""

    _mixture: Mixture
    _looks_up = True
    floor: float

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture.informed(ids, x, offered, float(self.floor)), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        self._mixture.learn(ids, x, y)

    @property
    def noise_estimate(self) -> Any:
        """Standard deviation of the rewards: as given, or as learned; NaN until two rewards differ."""
        return self._answer(self._mixture.noise())
