"""Feature maps in two views: as given, and centred over the actions that are offered."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import kernel, ridge
from ..kernels.features import ALL_OFFERED, Features, row_of
from ..runtime.lanes import Snapshot
from ..runtime.shapes import ExactShape, maps_of
from ..types import Array, Index, Mask
from .evidence import log_sum
from .map_mixture import DRIFT, NEVER, MapMixture, drifts, learn_mixture
from .posterior import FIRST, NEGLIGIBLE, ROUNDING, weigh

CENTERED = 0.5  #: prior weight of the centred view of a map
LEVEL_SCALES = (1.0, 1e2)  #: prior scales of the maps that forecast the level
SURE = 0.99  #: weight of a map that has won
LOOKS = frozenset(512 << k for k in range(40))  #: numbers of rewards after which the winner is looked at


class MapViews(MapMixture):
    r"""M feature maps, each as given and centred: which of the two is right is learned as the map is.

    Rewards may have a level that all actions of a round share: who the visitor is, the hour, a trend. Evidence asks
    which map predicts rewards, so a map that explains the level, and nothing about the actions, would win. With
    :math:`\bar\phi_i` the mean of a map over the actions offered, the centred view is the model

    .. math:: y = l + c + \langle \phi_i(a) - \bar\phi_i, \theta \rangle + \text{noise},

    where c is a constant, and l a forecast of the level made before the reward: the mean prediction of a mixture over
    the maps :math:`\bar\phi_1, \dots, \bar\phi_M` at ``LEVEL_SCALES``, which learns every reward. The reward counts as
    one whose variance is :math:`(1 + v) s^2`, with v the variance of the forecast in units of the noise. Both views
    predict the same rewards, so their evidences compare. A map with blocks has no second view: its blocks have nothing
    in common.

    Its note is :math:`\bar\phi_1, \dots, \bar\phi_M`. Data without one, which no policy played, teach both views alike,
    as if these means and the level were 0.

    Parameters
    ----------
    shape, lanes, noise, prior: as for :class:`MapMixture`.

    Attributes
    ----------
    forecaster: the mixture that forecasts the level.
    """

    def __init__(self, shape: ExactShape, lanes: int, *, noise: ArrayLike | None, prior: Array) -> None:
        super().__init__(shape, lanes, intercept=True, noise=noise, prior=prior, centered=CENTERED)
        means = maps_of(shape.dims, many=True)
        self.forecaster = MapMixture(means, lanes, intercept=True, noise=noise, prior=prior, scales=LEVEL_SCALES)
        self.note_width, self._warned = len(shape.dims) * max(shape.dims), False

    def note(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return the means of the maps over the actions offered, ``(n, M d)``."""
        return self._means(x, offered).reshape(ids.size, -1)

    def _means(self, x: Features, offered: Mask | None) -> Array:
        return offered_means(x.values, ALL_OFFERED if offered is None else offered)

    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs`` of ``models.posterior``."""
        bank, level = self.bank, self.forecaster
        forecast = level_forecasts(ids, self._means(x, offered), level.bank.arrays(), level._beliefs(), self.moments)
        return (bank.theta, bank.root, bank.dims, bank.first), self._beliefs(forecast[0])

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, M, d)`` and ``y (n,)``, in one kernel unless a size drifts."""
        bar = np.zeros(x.values.shape) if note is None else np.array(note).reshape(x.values.shape)
        features, noted = (x.values, x.block, bar), note is not None
        if not self._learn_views(ids, features, y, noted, DRIFT):
            self._learn_and_resize(ids, features, y, noted)
        if int(self.updates[ids[0]]) in LOOKS and not self._warned:
            self._look(ids)

    def _learn_and_resize(self, ids: Index, features: Any, y: Array, noted: bool) -> None:
        forecaster, (x, _, bar) = self.forecaster, features
        before = Snapshot((part, ids) for part in (self, self.bank, forecaster, forecaster.bank))
        try:
            gap = x - bar
            gap[np.abs(gap) <= ROUNDING * np.abs(x)] = 0.0
            self._resize(ids, np.concatenate([x, gap], axis=1))
            forecaster._resize(ids, bar)
            self._learn_views(ids, features, y, noted, math.inf)
        except BaseException:
            before.restore()
            raise

    def _learn_views(self, ids: Index, features: Any, y: Array, noted: bool, drift: float) -> bool:
        forecaster = self.forecaster
        maps = self.bank.arrays(), self._sums(), self.level
        means = forecaster.bank.arrays(), forecaster._sums(), forecaster.level, forecaster._beliefs()
        return learn_views(ids, features, y, maps, means, noted, drift)

    def _look(self, ids: Index) -> None:
        """Warn, once, if in some lane a map has won by which actions do not differ, as far as the rewards show."""
        weight, (_, member_weight, variance) = self.weights()[ids], self.weigh(ids)
        estimates, unit = self._mean_estimates(), np.sqrt(self.size)
        for r, n in enumerate(ids):
            i = int(weight[r].argmax())
            if weight[r, i] < SURE or self.blocks[i] > 1:
                continue
            k = max(np.flatnonzero(self.centered)[i :: self.n_models], key=lambda k: member_weight[r, k])
            d, cell = self.bank.dims[k] - 2, int(self.blocks[:i].sum())
            theta = estimates[n, cell, 1 : 1 + d] * unit[n, self.n_models + i] / unit[n, i]
            G = self.bank.precision_of(n, k)[2 : 2 + d, 2 : 2 + d] - self.precisions[1, k] * np.eye(d)
            explained = theta @ G @ theta / (member_weight[r] @ variance[r])  # chi-squared, if it is all chance
            if explained < d + 3.0 * math.sqrt(2.0 * d):
                self._warned = True
                self.warnings.append(
                    f"map {i} explains the rewards (weight {weight[r, i]:.2f}), but after {self.updates[n]} of them it "
                    "predicts nearly the same reward for all actions: no map here distinguishes them. Add features of "
                    "the actions, or interactions of the context with them."
                )
                return

    # Questions of users.

    def level_weight(self) -> Array:
        """Return the weight of the centred views, ``(N,)``."""
        return np.asarray(self.weigh(np.arange(len(self.size)))[1][:, self.centered].sum(axis=1))

    def level_weights(self) -> Array:
        """Return how probable it is of each map that it explains the level, ``(N, M)``."""
        return self.forecaster.weights()

    def _mean_estimates(self) -> Array:
        """Return the estimates of the maps as given, means over scales, ``(N, cells, d)``."""
        N, M, cells = len(self.size), self.n_models, int(self.blocks.sum())
        log_weight = self.weigh(np.arange(N))[0].reshape(N, -1, 2, M)[:, :, 0]
        share = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        share = np.repeat(share / share.sum(axis=1, keepdims=True), self.blocks, axis=2)
        theta = self._estimates().reshape(N, -1, 2, cells, self.bank.theta.shape[2])[:, :, 0, :, :-1]
        return np.asarray((share[..., None] * theta).sum(axis=1))

    def _units(self) -> Array:
        return super()._units()[:, : self.n_models]

    # Maps that come and go.

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps as :class:`MapMixture` does, and in the forecast of the level those that stay as they were."""
        forecaster, kept = self.forecaster, self.n_models - shares.size
        super().reweigh(total, shares, replayed)
        log_weight = forecaster.weigh(np.arange(total.size))[0].reshape(total.size, -1, self.n_models)[:, :, :kept]
        forecaster.reweigh(log_sum(log_weight.reshape(total.size, -1)), shares, False)

    @contextlib.contextmanager
    def asleep(self, ids: Index, models: Index) -> Iterator[None]:
        """Learn a reward that these maps know nothing about."""
        forecaster = self.forecaster
        with super().asleep(ids, models), forecaster.asleep(ids, models):
            at = np.ix_(ids, forecaster._at_all_scales(models))
            kept, forecaster.log_prior[at] = forecaster.log_prior[at], math.log(NEVER)  # they forecast nothing either
            yield
            forecaster.log_prior[at] = kept


@kernel
def offered_means(x: Any, offered: Mask) -> Array:
    """Return the means of features ``(n, P, K, d)`` over the actions offered, ``(n, P, d)``."""
    n, P, K, d = x.shape
    out = np.zeros((n, P, d))
    for r in range(n):
        for p in range(P):
            count = 0
            for a in range(K):
                if offered.size < 2 or offered[r, a]:
                    count += 1
                    row = row_of(x, r, p, a)
                    for j in range(d):
                        out[r, p, j] += row[j]
            for j in range(d):
                out[r, p, j] /= count
    return out


@kernel
def level_forecasts(ids: Index, bar: Array, ridges: Any, beliefs: Any, moments: Array) -> Array:
    """Return the mean f of the level and its variance v over that of the noise, ``(2, n)``, for ``bar (n, P, d)``.

    ``ridges`` and ``beliefs`` are those of the mixture over the means; f is less the first reward of ``moments``. It is
    0 before any reward.
    """
    theta, root, dims = ridges[0], ridges[1], ridges[4]
    seen, own, size = beliefs[1], beliefs[2], beliefs[6]
    P, M, out = bar.shape[1], dims.size, np.zeros((2, ids.size))
    scratch, z = np.empty((3, M)), np.ones(theta.shape[2])
    for r in range(ids.size):
        n = ids[r]
        weigh(n, beliefs, scratch[0], scratch[1], scratch[2])
        total = noise = mean = square = within = 0.0
        for k in range(M):
            if scratch[1, k] * M >= NEGLIGIBLE:
                factor = 1.0 / math.sqrt(size[n, k % P]) if size[n, k % P] > 0.0 else 1.0
                for j in range(dims[k] - 1):
                    z[1 + j] = factor * bar[r, k % P, j]
                f = ridge.dot(theta[n, k, : dims[k]], z[: dims[k]])
                total += scratch[1, k]
                noise += scratch[1, k] * scratch[2, k]
                mean += scratch[1, k] * f
                square += scratch[1, k] * f * f
                within += scratch[1, k] * scratch[2, k] * ridge.leverage(root[n, k], z, dims[k])
        mean /= total
        out[1, r] = (within + max(square - total * mean * mean, 0.0)) / noise if noise > 0.0 else 0.0
        if seen[n] > 0:
            out[0, r] = mean + own[n, FIRST] - moments[n, FIRST]
    return out


@kernel
def learn_views(ids: Index, features: Any, y: Array, maps: Any, means: Any, noted: bool, drift: float) -> bool:
    """Learn ``y (n,)`` in the maps, in both views, and in the mixture over their means.

    ``features = (x, block, bar)``. Where ``bar`` is not ``noted`` it is 0, and so is the forecast: both views learn the
    same then. As ``learn_mixture``, it does nothing and returns False where a size would drift.
    """
    x, block, bar = features
    if drifts(ids, x, bar, maps[1], drift) or drifts(ids, bar, bar[:0], means[1], drift):
        return False
    level = np.zeros((2, ids.size))
    if noted:
        level = level_forecasts(ids, bar, means[0], means[3], maps[1][1])
        none = np.empty((0, 0), np.int64)
        learn_mixture(ids, (bar, none, bar[:0], np.empty((2, 0))), y, means[0], means[1], means[2], 1.0, np.inf)
    return learn_mixture(ids, (x, block, bar, level), y, maps[0], maps[1], maps[2], 1.0, np.inf)
