"""Feature maps in two views: as given, and centred over the actions that are offered."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import kernel
from ..kernels.features import ALL_OFFERED, Features, rows_of_map
from ..kernels.ridge import LOGDET, PENALISED
from ..runtime.lanes import Snapshot
from ..runtime.shapes import ExactShape, maps_of
from ..types import Array, Index, Mask
from .evidence import log_sum
from .map_mixture import DRIFT, NEVER, MapMixture, drifts, learn_mixture
from .posterior import FIRST, INFORMATION, MOMENT, NEGLIGIBLE, PENALTY, ROUNDING, weigh

CENTERED = 0.9  #: prior weight of the centred view of a map
LEVEL_SCALES = (3.0, 1e3)  #: prior scales of the maps that forecast the level
SURE = 0.99  #: weight of a map that explains the level for certain
VARIED = 0.1  #: it warns if more of the rewards came from actions unlike the mean of those offered
LOOKS = frozenset(512 << k for k in range(40))  #: numbers of rewards after which ``_look`` is called


class MapViews(MapMixture):
    r"""M feature maps, each as given and centred: which of the two is right is learned as the map is.

    Rewards may have a level that all actions of a round share: who the visitor is, the hour, a trend. Evidence asks
    which map predicts rewards, so a map that explains the level, and nothing about the actions, would win. With
    :math:`\bar\phi_i` the mean of a map over the actions offered, the centred view is the model

    .. math:: y = l + c + \langle \phi_i(a) - \bar\phi_i, \theta \rangle + \text{noise},

    where c is a constant of prior precision ``OFFSET``, and l a forecast of the level made before the reward: the mean
    prediction of a mixture over the maps :math:`\bar\phi_1, \dots, \bar\phi_M` at ``LEVEL_SCALES``, which learns every
    reward. The reward counts as one whose variance is :math:`(1 + v) s^2`, with v the variance of the forecast in units
    of the noise. Both views predict the same rewards, so their evidences compare. A map with blocks is not centred,
    since its blocks have nothing in common: its second view has the forecast, and a constant of every block for c.

    Its note is :math:`\bar\phi_1, \dots, \bar\phi_M`. Data without one, which no policy played, say nothing of the
    level: both views learn them, less the mean of the rewards so far in the second, and their weights keep the ratio.

    Parameters
    ----------
    shape, lanes, noise, prior: as for :class:`MapMixture`.

    Attributes
    ----------
    forecaster: the mixture that forecasts the level.
    unnoted: the number of rewards without a note, and their sum less the first reward of all, ``(N, 2)``.
    """

    shared = (*MapMixture.shared, "single")

    def __init__(self, shape: ExactShape, lanes: int, *, noise: ArrayLike | None, prior: Array) -> None:
        super().__init__(shape, lanes, intercept=True, noise=noise, prior=prior, centered=CENTERED)
        means = maps_of(shape.dims, many=True)
        self.forecaster = MapMixture(means, lanes, intercept=True, noise=noise, prior=prior, scales=LEVEL_SCALES)
        self.unnoted, self.state = np.zeros((lanes, 2)), (*self.state, "unnoted")
        self.single = (self.blocks == 1)[:, None].astype(float)
        self.note_width, self._warned = len(shape.dims) * max(shape.dims), False

    def note(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return the means of the maps over the actions offered, ``(n, M d)``."""
        return offered_means(x.values, ALL_OFFERED if offered is None else offered).reshape(ids.size, -1)

    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs`` of ``models.posterior``."""
        bank, level = self.bank, self.forecaster.bank
        means = offered_means(x.values, ALL_OFFERED if offered is None else offered)
        ridges = level.theta, level.root, level.dims
        forecast = level_forecasts(ids, means, ridges, self.forecaster._beliefs(), self.moments)
        views = means * self.single, forecast[0]
        return (bank.theta, bank.root, bank.dims, bank.first), self._beliefs(views)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, M, d)`` and ``y (n,)``, in one kernel unless a size drifts."""
        means = np.zeros(x.values.shape) if note is None else np.array(note).reshape(x.values.shape)
        features, noted = (x.values, x.block, means, means * self.single), note is not None
        if not self._learn_views(ids, features, y, noted, DRIFT):
            self._learn_and_resize(ids, features, y, noted)
        if int(self.updates[ids[0]]) in LOOKS and not self._warned:
            self._look(ids)

    def _learn_and_resize(self, ids: Index, features: Any, y: Array, noted: bool) -> None:
        forecaster, (x, _, means, bar) = self.forecaster, features
        before = Snapshot((part, ids) for part in (self, self.bank, forecaster, forecaster.bank))
        try:
            gap = np.where(np.abs(x - bar) <= ROUNDING * np.abs(x), 0.0, x - bar)
            self._resize(ids, np.concatenate([x, gap], axis=1))
            forecaster._resize(ids, means)
            self._learn_views(ids, features, y, noted, math.inf)
        except BaseException:
            before.restore()
            raise

    def _learn_views(self, ids: Index, features: Any, y: Array, noted: bool, drift: float) -> bool:
        forecaster = self.forecaster
        maps = self.bank.arrays(), self._sums(), self.level
        means = forecaster.bank.arrays(), forecaster._sums(), forecaster.level, forecaster._beliefs(), self.unnoted
        return learn_views(ids, features, y, maps, means, noted, drift)

    def _look(self, ids: Index) -> None:
        """Warn, once, if in some lane a map explains the level, and no map shows that actions differ."""
        _, weight, variance = self.weigh(ids)
        of_map, of_level = self.weights()[ids], self.level_weights()[ids]
        estimates, unit = self._mean_estimates(), np.sqrt(np.where(self.size > 0.0, self.size, 1.0))
        for r, n in enumerate(ids):
            heavy = np.flatnonzero(of_map[r] > 1.0 - SURE)
            varied = self.counts[n, self.n_models :].max() > VARIED * self.updates[n]
            if of_level[r].max() < SURE or not varied or (self.blocks[heavy] > 1).any():
                continue
            explained = [self._explained(int(n), int(i), estimates[n], unit[n], weight[r]) for i in heavy]
            chance = [self.bank.dims[i] + 3.0 * math.sqrt(2.0 * self.bank.dims[i]) for i in heavy]
            if (np.array(explained) < np.array(chance) * (weight[r] @ variance[r])).all():
                self._warned = True
                self.warnings.append(
                    f"map {of_level[r].argmax()} explains a level that all actions of a round share, but after "
                    f"{self.updates[n]} rewards no map shows that the actions differ. Add features of the actions, or "
                    "interactions of the context with them."
                )
                return

    def _explained(self, n: int, i: int, estimates: Array, unit: Array, weight: Array) -> float:
        """Return the sum of squares that the actions of lane n explain by map i: chi-squared, if that is all chance."""
        k = max(np.flatnonzero(self.centered)[i :: self.n_models], key=lambda k: weight[k])
        d = int(self.bank.dims[k]) - 2
        inverse = np.linalg.inv(self.bank.root[n, self.bank.first[k], 1 : 2 + d, 1 : 2 + d])
        G = (inverse.T @ inverse)[1:, 1:] - self.precisions[1, k] * np.eye(d)
        theta = estimates[int(self.blocks[:i].sum()), 1 : 1 + d] * unit[self.n_models + i] / unit[i]
        return float(theta @ G @ theta)

    # Questions of users.

    def level_weight(self) -> Array:
        """Return the weight of the centred views, ``(N,)``."""
        return np.asarray(self.weigh(np.arange(len(self.size)))[1][:, self.centered].sum(axis=1))

    def level_weights(self) -> Array:
        """Return how probable it is of each map that it explains the level, ``(N, M)``."""
        return self.forecaster.weights()

    def _estimates(self) -> Array:
        """Return the estimates of all members in the units of the maps as given, with the constants of these."""
        unit, N, M = np.sqrt(np.where(self.size > 0.0, self.size, 1.0)), len(self.size), self.n_models
        views = super()._estimates().reshape(N, -1, 2, int(self.blocks.sum()), self.bank.theta.shape[2])
        given, centered = views[:, :, 0, :, :-1], views[:, :, 1, :, 1:].copy()
        centered[..., 1:] *= np.repeat(unit[:, :M] / unit[:, M:], self.blocks, axis=1)[:, None, :, None]
        centered[..., 0] = given[..., 0]
        return np.stack([given, centered], axis=2).reshape(N, -1, given.shape[-1])

    def _units(self) -> Array:
        return super()._units()[:, : self.n_models]

    # Maps that come and go.

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps as :class:`MapMixture` does, and in the forecast of the level those that stay as they were."""
        forecaster, kept = self.forecaster, self.n_models - shares.size
        super().reweigh(total, shares, replayed)
        log_weight = forecaster.weigh(np.arange(total.size))[0].reshape(total.size, -1, self.n_models)[:, :, :kept]
        forecaster.reweigh(log_sum(log_weight.reshape(total.size, -1)), shares, False)

    def _not_replayed(self, new: Index, replayed: bool) -> Index:
        """Return the new members to which nothing was replayed: centred ones, where the others had forecasts."""
        forecasts = replayed and self.forecaster.bank.updates.any()
        return new[self.centered[new]] if forecasts else super()._not_replayed(new, replayed)

    @contextlib.contextmanager
    def asleep(self, ids: Index, models: Index) -> Iterator[None]:
        """Learn a reward that these maps know nothing about."""
        forecaster = self.forecaster
        with super().asleep(ids, models), forecaster.asleep(ids, models):
            at = np.ix_(ids, forecaster._at_all_scales(models))
            kept, forecaster.log_prior[at] = forecaster.log_prior[at], NEVER  # they forecast nothing either
            yield
            forecaster.log_prior[at] = kept


@kernel
def offered_means(x: Any, offered: Mask) -> Array:
    """Return the means of features ``(n, P, K, d)`` over the actions offered, ``(n, P, d)``; 0 if that is rounding."""
    n, P, K, d = x.shape
    out, largest = np.zeros((n, P, d)), np.empty(d)
    for r in range(n):
        for p in range(P):
            count, rows = 0, rows_of_map(x, r, p)
            largest[:] = 0.0
            for a in range(K):
                if offered.size < 2 or offered[r, a]:
                    count += 1
                    for j in range(d):
                        out[r, p, j] += rows[a, j]
                        largest[j] = max(largest[j], abs(rows[a, j]))
            for j in range(d):
                out[r, p, j] = out[r, p, j] / count if abs(out[r, p, j]) > ROUNDING * count * largest[j] else 0.0
    return out


@kernel
def level_forecasts(ids: Index, bar: Array, ridges: Any, beliefs: Any, moments: Array) -> Array:
    """Return the mean f of the level and its variance v over that of the noise, ``(2, n)``, for ``bar (n, P, d)``.

    ``ridges = (theta, root, dims)`` and ``beliefs`` are those of the mixture over the means; f is less the first reward
    of ``moments``. It is 0 before any reward.
    """
    theta, root, dims = ridges
    seen, own, size = beliefs[1], beliefs[2], beliefs[6]
    P, M, out = bar.shape[1], dims.size, np.zeros((2, ids.size))
    scratch, z = np.empty((3, M)), np.ones(theta.shape[2])
    for r in range(ids.size):
        n = ids[r]
        weigh(n, beliefs, scratch[0], scratch[1], scratch[2])
        total = noise = mean = squares = within = 0.0
        for k in range(M):
            if scratch[1, k] * M >= NEGLIGIBLE:
                square = size[n, k % P]
                for j in range(dims[k] - 1 if square == 0.0 else 0):
                    square += bar[r, k % P, j] ** 2  # nothing is known of the map: its size would be this
                for j in range(dims[k] - 1):
                    z[1 + j] = bar[r, k % P, j] / math.sqrt(square) if square > 0.0 else 0.0
                f = width = 0.0
                for c in range(root.shape[3]):
                    w = 0.0
                    for j in range(dims[k]):
                        w += root[n, k, j, c] * z[j]
                    width += w * w
                for j in range(dims[k]):
                    f += theta[n, k, j] * z[j]
                total += scratch[1, k]
                noise += scratch[1, k] * scratch[2, k]
                mean += scratch[1, k] * f
                squares += scratch[1, k] * f * f
                within += scratch[1, k] * scratch[2, k] * width
        mean /= total
        out[1, r] = (within + max(squares - total * mean * mean, 0.0)) / noise if noise > 0.0 else 0.0
        if seen[n] > 0:
            out[0, r] = mean + own[n, FIRST] - moments[n, FIRST]
    return out


@kernel
def learn_views(ids: Index, features: Any, y: Array, maps: Any, means: Any, noted: bool, drift: float) -> bool:
    """Learn ``y (n,)`` in the maps, in both views, and in the mixture over their means.

    ``features = (x, block, means, bar)``. Where the means are not ``noted`` they are 0; the forecast is then the mean
    of such rewards so far, and centred members have the evidence of the others. As ``learn_mixture``, it does nothing
    and returns False where a size would drift.
    """
    x, block, mean, bar = features
    ridges, sums, blocks = maps
    if drifts(ids, x, bar, sums, drift) or drifts(ids, mean, mean[:0], means[1], drift):
        return False
    evidence, before, blocks_before, level = ridges[2], ridges[2][ids], blocks[ids], np.zeros((2, ids.size))
    if noted:
        theta, root, _, _, dims, _ = means[0]
        level = level_forecasts(ids, mean, (theta, root, dims), means[3], sums[1])
        none = np.empty((0, 0), np.int64)
        learn_mixture(ids, (mean, none, mean[:0], np.empty((2, 0))), y, means[0], means[1], means[2], 1.0, np.inf)
    P, precision, unnoted = x.shape[1], sums[5], means[4]
    for r in range(0 if noted else ids.size):
        level[0, r] = unnoted[ids[r], 1] / max(unnoted[ids[r], 0], 1.0)
    learn_mixture(ids, (x, block, bar, level), y, ridges, sums, blocks, 1.0, np.inf)
    for r in range(0 if noted else ids.size):
        n = ids[r]
        unnoted[n, 0] += 1.0
        unnoted[n, 1] += y[r] - sums[1][n, FIRST]
        for k in range(P, evidence.shape[2]):
            if k % (2 * P) >= P:
                for row in range(3):
                    evidence[n, row, k] = before[r, row, k] + evidence[n, row, k - P] - before[r, row, k - P]
                if blocks[n, PENALTY, k - P] > 0.0:  # what the level of all rewards adds to the evidence of blocks
                    for sign, known in ((1.0, blocks[n, :, k - P]), (-1.0, blocks_before[r, :, k - P])):
                        evidence[n, LOGDET, k] += sign * math.log1p(known[INFORMATION] / precision)
                        evidence[n, PENALISED, k] -= sign * known[MOMENT] ** 2 / (precision + known[INFORMATION])
    return True
