"""Regions of the parameter at several levels of noise, which is learned."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import kernel, shared_ridge
from ..kernels.features import Features
from ..kernels.ridge import dot
from ..runtime.errors import refuse
from ..runtime.lanes import MemberMove, per_lane
from ..types import Array, Index, Mask
from . import learned_sums
from .mixture import FLAT, Mixture
from .posterior import HIGH, LOW, SQUARES, center, take_size
from .region_layout import Regions
from .shared_ridge_bank import SharedRidgeBank

LEVELS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""Noise levels of a region: the variance of the noise over that of the rewards that the regions allow."""


class RegionMixture(Mixture):
    """M regions of the parameter, each at every noise level.

    A region has a size in units of rewards, so the noise cannot share a scale with the prior as it does with maps: the
    levels span it, and within a level it is learned. Features and rewards are both divided by the size of the first
    features, which leaves parameters as they are. Rewards of features that are zero teach nothing until there is one.

    Parameters
    ----------
    regions, intercept: the regions; whether there is a constant term.
    noise: standard deviation R of the rewards, a number or ``(N,)``; None if it is to be learned.
    prior: of the regions, ``(M,)``.
    memory: None, or the m of :class:`~banditselect.models.forgetting.Forgetting`.

    Attributes
    ----------
    updates: rewards learned, ``(N,)``, those that taught nothing too.
    """

    state = (*Mixture.state, "updates")
    nonnegative = (*Mixture.nonnegative, "updates")
    fixed = (*Mixture.fixed, "rank")
    bank: SharedRidgeBank
    rank: Index

    def __init__(
        self, regions: Regions, *, intercept: bool, noise: ArrayLike | None, prior: Array, memory: float | None = None
    ) -> None:
        N, M, _ = regions.center.shape
        levels = regions.spread[:, None] * np.array(LEVELS) if noise is None else per_lane(noise, N)[:, None] ** 2
        prior_variance, repeated = np.repeat(levels, M, axis=1), regions.repeated(levels.shape[1])
        limits = np.zeros((2, prior_variance.shape[1]))
        if noise is None:  # half way to the next level
            limits[HIGH] = 0.5 * np.log(LEVELS[1] / LEVELS[0])
            limits[LOW] = -limits[HIGH]
            limits[LOW, :M], limits[HIGH, -M:] = -np.inf, np.inf
        lam = repeated.regularization(np.sqrt(prior_variance))
        super().__init__(
            regions.feature_shape,
            repeated.bank(lam, constant_precision=FLAT if intercept else None, memory=memory),
            intercept=intercept,
            prior=prior[regions.order],
            prior_variance=prior_variance,
            limits=limits,
        )
        if noise is not None:
            self.size[:] = 1.0
        self.updates = np.zeros(N, dtype=np.int64)
        self.rank = np.argsort(regions.order, axis=1)

    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs`` of ``models.posterior``."""
        bank = self.bank
        return (bank.columns, bank.root, bank.group), self._beliefs()

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, 1, d)`` and ``y (n,)``, in one kernel unless rewards fade."""
        gamma, forgetting = 1.0, self.bank.forgetting
        if forgetting is not None:
            gamma = forgetting.gamma
            known = (self.size[ids, 0] > 0.0) | x.values[:, 0].any(axis=1)
            self.bank.fade(ids[known])
        learn_mixture(ids, x.values, y, self.bank.arrays(), self._sums(), self.updates, gamma)

    def adopt(self, other: "RegionMixture", fresh: "RegionMixture", move: MemberMove) -> None:
        """Learn, as a mixture that has learned nothing, what another of other regions has, which was ``fresh`` before.

        It is then what it had been with these regions from the first. Regions that are all known parameters do not
        keep sums of rewards: new regions cannot learn from them, old ones are taken over.
        """
        for name in ("size", "logs", "counts", "moments", "updates"):
            getattr(self, name)[:] = getattr(other, name)
        if not learned_sums.is_known(fresh.bank):
            learned_sums.apply(self.bank, learned_sums.of(other.bank, fresh.bank))
        elif move.n_new > move.new.size:
            expected = "a policy whose regions are not all known parameters: these do not keep what they have learned"
            raise refuse("add_models", "radii of 0", expected)
        else:
            for level in range(self.log_prior.shape[1] // self.n_models):
                target, source = (slice(level * M, (level + 1) * M) for M in (move.n_new, move.n_old))
                found = other.in_given_order(other.bank.evidence[:, :, source].swapaxes(1, 2))[:, move.old]
                np.put_along_axis(self.bank.evidence[:, :, target], self.rank[:, None], found.swapaxes(1, 2), axis=2)
            self.bank.updates[:] = other.bank.updates

    def _reward_unit(self) -> Array:
        return self._units()[:, 0]


@kernel
def learn_mixture(ids: Index, x: Array, y: Array, shared: Any, sums: Any, updates: Index, gamma: float) -> None:
    """Learn ``x (n, 1, d)``, ``y (n,)``, both divided by the size of the features, as far as it is known.

    ``updates`` are those of the mixture; all else as for ``map_mixture.learn_mixture``.
    """
    known = shared[4]
    seen, moments, size, logs, counted, precision = sums
    first, d = 1 if precision > 0.0 else 0, x.shape[2]
    z, scaled, taught = np.ones((ids.size, 1, first + d)), np.empty(ids.size), np.empty(ids.size, dtype=np.int64)
    t = 0
    for r in range(ids.size):
        n = ids[r]
        take_size(n, 0, dot(x[r, 0], x[r, 0]), size, logs, counted)
        if size[n, 0] == 0.0:
            continue
        unit = math.sqrt(size[n, 0])
        moments[n, SQUARES] *= gamma
        scaled[t] = center(n, y[r] / unit, seen[n] if gamma < 1.0 else known[n] + 1.0, moments, precision)
        for j in range(d):
            z[t, 0, first + j] = x[r, 0, j] / unit
        taught[t] = n
        t += 1
    shared_ridge.learn(taught[:t], z[:t], scaled[:t], shared)
    for r in range(ids.size):
        updates[ids[r]] += 1
