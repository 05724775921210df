"""The posterior over regions of the parameter whose noise is learned too: see ``mixtures``."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers.lanes import Move, PerLane, per_lane
from ..carriers.validation import refuse
from ..kernels import information, posterior
from ..types import Array, Index
from .experts import SharedRidgeBank
from .mixtures import FLAT, Mixture
from .regions import Regions, in_order
from .retelling import is_known, learned_by, tell

LEVELS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""Noise levels of a region: the variance of the noise over that of the rewards that the regions allow."""


class RegionsMixture(Mixture):
    """M regions of the parameter, each at every noise level.

    A region has a size in units of rewards, so the noise cannot share a scale with the prior as it does with maps: the
    levels span it, and within a level it is learned. Features and rewards are both divided by the size of the first
    features, which leaves parameters as they are. Before a feature is met that is not zero, nothing is learned.

    Attributes
    ----------
    given: ``rank (N, M)``, where the regions stand in the bank.
    """

    bank: SharedRidgeBank
    _inform = staticmethod(information.informed_tiles)

    def __init__(
        self, regions: Regions, *, constant: bool, noise: ArrayLike | None, prior: Array, memory: float | None = None
    ) -> None:
        N, M, _ = regions.center.shape
        levels = regions.spread[:, None] * np.array(LEVELS) if noise is None else per_lane(noise, N)[:, None] ** 2
        variance = np.repeat(levels, M, axis=1)
        repeated = regions.repeated(levels.shape[1])
        bank = repeated.bank(repeated.regularization(np.sqrt(variance)), FLAT if constant else None)
        super().__init__(
            bank,
            n_models=M,
            n_maps=1,
            constant=constant,
            noise=noise,
            prior=prior[regions.order],
            expected=variance,
            window=np.repeat(_windows(levels.shape[1]), M, axis=1),
            memory=memory,
        )
        if noise is not None:
            self.size[:] = 1.0
        self.given = PerLane(rank=np.argsort(regions.order, axis=1))

    def _models(self) -> tuple[Any, ...]:
        return self.bank.tiles, self.bank.root, self.bank.group

    def learn(self, ids: Index, x: Array, y: Array) -> None:
        """Learn features ``x (n, 1, d)`` and rewards ``y (n,)``."""
        posterior.meet(ids, x, self.size, self.logs, self.counts)
        met = self.size[ids, 0] > 0.0
        if not met.all():
            ids, x, y = ids[met], x[met], y[met]
        self._learn(ids, x, y / np.sqrt(self.size[ids, 0]))

    def carry(self, other: "RegionsMixture", begun: "RegionsMixture", move: Move) -> None:
        """Learn, as a mixture that has learned nothing, what another of other regions has; ``begun``: that one before.

        It is then what it had been with these regions from the first. Regions that are all known parameters do not
        know what they have learned: they cannot be told to others, only taken over.
        """
        for name in ("size", "logs", "counts", "moments"):
            getattr(self, name)[:] = getattr(other, name)
        if not is_known(begun.bank):
            tell(self.bank, learned_by(other.bank, begun.bank))
        elif move.after > move.here.size:
            expected = "a policy whose regions are not all known parameters: these do not keep what they have learned"
            raise refuse("add_models", "radii of 0", expected)
        else:
            times = self.log_prior.shape[1] // self.n_models
            for level in range(times):
                mine, theirs = (slice(level * M, (level + 1) * M) for M in (move.after, move.before))
                found = other._given(other.bank.evidence[:, :, theirs].swapaxes(1, 2))[:, move.there]
                np.put_along_axis(
                    self.bank.evidence[:, :, mine], self.given.rank[:, None], found.swapaxes(1, 2), axis=2
                )
            self.bank.updates[:] = other.bank.updates

    def _reward_unit(self) -> Array:
        size = self.size[:, 0]
        return np.sqrt(np.where(size > 0.0, size, 1.0))

    def _given(self, array: NDArray[Any]) -> Any:
        return in_order(array, self.given.rank)


def _windows(levels: int) -> Array:
    """Return how far the noise of a level may be from it, in logarithms, ``(2, J)``: half way to the next level."""
    half = 0.5 * np.log(LEVELS[1] / LEVELS[0])
    windows = np.tile([[-half], [half]], levels)
    windows[0, 0], windows[1, -1] = -np.inf, np.inf
    return windows
