"""Feature maps at several prior scales, with a noise that is learned."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import inlined, kernel, ridge
from ..kernels.features import Features
from ..kernels.ridge import LOGDET
from ..runtime.lanes import Snapshot, per_lane
from ..runtime.shapes import ExactShape
from ..types import Array, Index, Mask
from . import posterior
from .evidence import kept_and_new, log_sum
from .mixture import FLAT, Mixture
from .posterior import INFORMATION, MOMENT, PENALTY, SQUARES, center, take_size
from .ridge_bank import RidgeBank

SCALES = (10.0**-3, 10.0**-1.5, 1.0, 10.0**1.5, 10.0**3)
"""Prior scales of a map: the prior variance of its parameters over that of the noise, for features of norm 1."""

KNOWN_NOISE_SCALES = (*SCALES, 10.0**4.5, 10.0**6)
"""Prior scales where the noise is given: learned noise is large as long as little is known, given noise is not."""

LENT = 2.0  #: small prior scales of a map with B blocks lend all their weight for this times ``B ** 1.5`` rewards

DRIFT = math.log(10.0)  #: by how much the log of a size may be off
NEVER = math.log(1e-300)  #: log prior weight of a model that forecasts nothing for now
OFFSET = 1.0  #: prior precision of the constant of a centred view


class MapMixture(Mixture):
    """M feature maps, each at every prior scale. A map gets a new size when its features drift from it by a factor 10.

    A map may have several blocks of parameters, each with a constant term of its own then. Such constants distinguish
    actions as other features do, and have the prior scale of those; beside them there is the level of all rewards, of
    which as little is known a priori as of the constant term of a map without blocks. So blocks decide as one map does
    that has a constant, an indicator of every block, and the features in the columns of their block.

    Parameters
    ----------
    shape, lanes, intercept: the maps; the number of lanes N; whether there is a constant term.
    noise: standard deviation R of the rewards, a number or ``(N,)``; None if it is to be learned.
    prior: of the maps, ``(M,)``.
    scales: the prior scales.
    centered: None, or the prior weight of a second view of each map, which is centred (``models.map_views``). Member
        ``(2 j + v) M + i`` is then view v of map i at scale j.
    memory: None, or the m of :class:`~banditselect.models.forgetting.Forgetting`.

    Attributes
    ----------
    precisions: prior precisions of the constant term and of the features of every member, ``(2, members)``.
    log_view: log prior weights of the views among those of their map, ``(members,)``; 0 where there is one view.
    """

    member_axis: ClassVar[dict[str, int]] = {"size": 1, "logs": 1, "counts": 1, "log_prior": 1, "level": 2}
    shared = (*Mixture.shared, "precisions", "log_view")
    bank: RidgeBank

    def __init__(
        self,
        shape: ExactShape,
        lanes: int,
        *,
        intercept: bool,
        noise: ArrayLike | None,
        prior: Array,
        scales: Sequence[float] | None = None,
        centered: float | None = None,
        memory: float | None = None,
    ) -> None:
        scales = scales or (SCALES if noise is None else KNOWN_NOISE_SCALES)
        blocks, views = np.array(shape.blocks), 1 if centered is None else 2
        M, J = blocks.size, views * len(scales)
        divided, twin = np.tile(blocks > 1, J), np.arange(J * M) // M % views == 1
        penalties = np.repeat(1.0 / np.array(scales), views * M)
        constants = np.where(divided, penalties, np.where(twin, OFFSET, FLAT))
        center = np.zeros((lanes, J * M, max(shape.dims) + intercept + views - 1))
        center[:, twin, 0] = 1.0
        bank = RidgeBank(
            shape,
            lanes,
            np.tile(np.array(shape.dims) + intercept, J) + twin,
            np.tile(penalties, (lanes, 1)),
            center=center,
            constant_precision=np.where(twin, np.inf, constants) if intercept else None,
            blocks=np.tile(blocks, J),
            memory=memory,
        )
        if views > 1:  # the first coefficient of a centred view is known, the second is its constant
            at = np.repeat(twin, np.tile(blocks, J))
            bank.root[:, at, 1, 1] = 1.0 / np.sqrt(np.repeat(constants, np.tile(blocks, J))[at])
        prior_variance = np.zeros(lanes) if noise is None else per_lane(noise, lanes) ** 2
        super().__init__(
            shape,
            bank,
            intercept=intercept,
            prior=prior,
            prior_variance=np.repeat(prior_variance[:, None], M * J, axis=1),
            limits=np.zeros((2, M * J)),
            views=views,
        )
        self.blocks = blocks
        self.precisions = np.stack([constants, penalties])
        self.log_view = np.log(views * np.where(twin, centered or 0.0, 1.0 - (centered or 0.0)))
        self.log_prior += self.log_view
        if divided.any() or not intercept:
            self.lends = self._lending(shape, scales, intercept)
        if intercept and divided.any():
            self.level[:, PENALTY] = np.where(divided & ~twin, penalties, 0.0)
            self.state, self.fixed = (*Mixture.state, "level"), ("prior_variance",)

    def _lending(self, shape: ExactShape, scales: Sequence[float], intercept: bool) -> Array:
        """Return ``lends`` of ``posterior.lend``: scales below 10^1.5 lend to that one."""
        own, blocks = 1.0 / self.precisions[1], np.array(shape.blocks)
        V = own.size // len(scales)
        to = np.tile(list(scales).index(10.0**1.5) * V + np.arange(V), len(scales))
        rewards = np.full(blocks.size, np.inf)
        if intercept:
            rewards = LENT * blocks**1.5 * ((blocks > 1) & (np.array(shape.dims) > 1))
        return np.stack([np.where(own < own[to], np.tile(rewards, own.size // blocks.size), 0.0), to])

    updates = property(attrgetter("bank.updates"))  #: the number of rewards learned, ``(N,)``

    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs`` of ``models.posterior``."""
        bank = self.bank
        return (bank.theta, bank.root, bank.dims, bank.first), self._beliefs()

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the mean prediction of every action, less the first reward if there is a constant term, ``(n, K)``."""
        return mean_predictions(ids, x.values, x.block, *self.beliefs(ids, x, None))

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn ``x (n, P, d)`` and ``y (n,)``, in one kernel unless a size drifts or rewards fade."""
        forgetting = self.bank.forgetting
        if forgetting is not None:
            self._resize(ids, x.values)
            self.bank.fade(ids)
            self._step(ids, x, y, forgetting.gamma, math.inf)
            if self.level.any():
                left = [forgetting.prior_left(t)[0] for t in self.updates[ids]]
                self.level[ids, PENALTY] = np.outer(left, self.precisions[0]) * (self.level[ids, PENALTY] > 0.0)
                self._sum_level(ids)
        elif not self._step(ids, x, y, 1.0, DRIFT):
            before = Snapshot(((self, ids), (self.bank, ids)))
            try:
                self._resize(ids, x.values)
                self._step(ids, x, y, 1.0, math.inf)
            except BaseException:
                before.restore()
                raise

    def _step(self, ids: Index, x: Features, y: Array, gamma: float, drift: float) -> bool:
        features = x.values, x.block, posterior.ONE_VIEW[0], posterior.ONE_VIEW[0][0]
        return learn_mixture(ids, features, y, self.bank.arrays(), self._sums(), self.level, gamma, drift)

    def _sum_level(self, ids: Index) -> None:
        """Take the sums of the level over the blocks of every member of these lanes."""
        bank, penalty = self.bank, np.repeat(self.level[ids, PENALTY], np.diff(self.bank.first), axis=1)
        theta, square = bank.theta[ids, :, 0], (bank.root[ids, :, 0] ** 2).sum(axis=2)
        first = bank.first[:-1]
        self.level[ids, INFORMATION] = np.add.reduceat(penalty - penalty**2 * square, first, axis=1)
        self.level[ids, MOMENT] = np.add.reduceat(penalty * theta, first, axis=1)

    def _estimates(self) -> Array:
        information, moment, penalty = np.moveaxis(self.level, 1, 0)
        if not penalty.any():
            return self.bank.theta
        shift = np.repeat(penalty * moment / (FLAT + information), np.diff(self.bank.first), axis=1)
        root = self.bank.root
        return np.asarray(self.bank.theta + shift[..., None] * (root @ root[:, :, 0, :, None])[..., 0])

    def _resize(self, ids: Index, x: Array) -> None:
        """Give a map whose size would be off by a factor 10 a new one, before it learns ``x (n, P, d)``.

        That is off the geometric mean of all squared norms, of features learned and of ``x``: this is the new size.
        The posterior becomes what it had been with that size from the start: with C the change of units, the precision
        ``V = Lambda + G`` becomes ``Lambda + C G C``, the moment ``V theta`` becomes ``C V theta``.
        """
        sizes = np.empty(x.shape[:2])
        if not sizes_off(ids, x, self.size, self.logs, self.counts, sizes):
            return
        for r, i in zip(*np.nonzero(sizes), strict=True):
            n = ids[r]
            for k in range(i, self.bank.dims.size, self.size.shape[1]):
                self._change_units(n, k, np.sqrt(self.size[n, i] / sizes[r, i]))
            self.size[n, i] = sizes[r, i]

    def _change_units(self, n: int, k: int, factor: float) -> None:
        """Multiply all features that member k of lane n has learned."""
        bank, centered = self.bank, bool(self.centered[k])
        own = slice(int(centered), int(bank.dims[k]))  # the first coefficient of a centred view is known
        first = [self.precisions[0, k]] * self.intercept
        penalty = np.append(first, np.full(own.stop - own.start - len(first), self.precisions[1, k]))
        change = np.append(np.ones(len(first)), np.full(penalty.size - len(first), factor))
        left = penalty
        if bank.forgetting is not None:
            left = penalty * bank.forgetting.prior_left(int(bank.updates[n]))[: penalty.size]
        prior = np.diag(1.0 / np.sqrt(penalty))
        squares, logdet, explained = float(bank.penalised[n, k]), 0.0, 0.0
        weights = bank.logdet[n, k] if centered else 0.0  # what rewards that count less have added
        for c in range(bank.first[k], bank.first[k + 1]):
            if (bank.root[n, c, own, own] == prior).all():
                continue  # nothing of this block has been learned
            inverse = np.linalg.inv(bank.root[n, c, own, own])
            V = inverse.T @ inverse
            moment = V @ bank.theta[n, c, own]
            squares += float(bank.theta[n, c, own] @ moment)
            lower = np.linalg.cholesky(np.diag(left) + change[:, None] * (V - np.diag(left)) * change)
            root = np.linalg.inv(lower).T
            theta = root @ (root.T @ (change * moment))
            bank.root[n, c, own, own], bank.theta[n, c, own] = root, theta
            explained += float(theta @ (change * moment))
            logdet += 2.0 * np.log(np.diag(lower)).sum() - np.log(penalty).sum()
            weights -= np.linalg.slogdet(V)[1] - np.log(penalty).sum() if centered else 0.0
        bank.penalised[n, k] = max(squares - explained, 0.0)
        bank.logdet[n, k] = logdet + weights
        self._sum_level(np.array([n]))

    # Maps that come and go.

    def total_weight(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return log_sum(self.weigh(np.arange(len(self.size)))[0])

    def count_from(self, other: "MapMixture") -> None:
        """Count rewards from the one that another counts them from; nothing has been learned yet."""
        self.moments[:, posterior.FIRST] = other.moments[:, posterior.FIRST]
        self.bank.updates[:] = other.bank.updates

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps as ``Posterior.reweigh`` does.

        A map that nothing was replayed to also takes over what the mixture believes of the noise: its J is the mean of
        the others', by their weights.
        """
        kept, new = map(self._at_all_scales, kept_and_new(self.n_models, shares.size))
        ids, times = np.arange(len(self.size)), self.log_prior.shape[1] // self.n_models
        before = self.weigh(ids)[0][:, kept]
        self.log_prior[:, kept] += (total + np.log1p(-shares.sum()) - log_sum(before))[:, None]
        self.log_prior[:, new] = np.tile(np.log(shares / times), times) + self.log_view[new]
        new = self._not_replayed(new, replayed)
        if new.size:
            evidence, weight = self.bank.evidence, np.exp(before - log_sum(before)[:, None])
            evidence[:, :, new] = (weight[:, None] * self._evidence()[:, :, kept]).sum(axis=2, keepdims=True)
            evidence[:, ridge.LOGDET, new] = 0.0
            wanted = self.log_prior[:, new] + total[:, None]
            self.log_prior[:, new] += wanted - self.weigh(ids)[0][:, new]

    def _not_replayed(self, new: Index, replayed: bool) -> Index:
        """Return the new members to which nothing was replayed."""
        return new[:0] if replayed else new

    @contextlib.contextmanager
    def asleep(self, ids: Index, models: Index) -> Iterator[None]:
        """Learn a reward that these maps know nothing about."""
        asleep, evidence = self._at_all_scales(models), self.bank.evidence
        awake = np.delete(np.arange(self.log_prior.shape[1]), asleep)
        sums = np.ix_(ids, np.arange(3), awake)
        log_weight, level = self.weigh(ids)[0], self.level[np.ix_(ids, np.arange(3), asleep)]
        before, losses = log_sum(log_weight[:, awake]), self._evidence()[sums]
        weight = np.exp(log_weight[:, awake] - before[:, None])
        gap = log_weight[:, asleep] - before[:, None]
        with self.bank.asleep(ids, asleep):
            yield
        self.level[np.ix_(ids, np.arange(3), asleep)] = level
        grown = (weight[:, None] * (self._evidence()[sums] - losses)).sum(axis=2)
        grown[:, ridge.LOGDET] = 0.0
        evidence[np.ix_(ids, np.arange(3), asleep)] += grown[:, :, None]
        after = self.weigh(ids)[0]
        self.log_prior[np.ix_(ids, asleep)] += gap + log_sum(after[:, awake])[:, None] - after[:, asleep]

    def _evidence(self) -> Array:
        """Return the evidence of the members, that of the level of rewards among it, ``(N, 3, members)``."""
        evidence, known = self.bank.evidence.copy(), FLAT + self.level[:, INFORMATION]
        evidence[:, ridge.LOGDET] += np.log(known / FLAT)
        evidence[:, ridge.PENALISED] -= self.level[:, MOMENT] ** 2 / known
        return evidence

    @property
    def centered(self) -> Mask:
        """Mask of the members that are centred, ``(members,)``."""
        return np.arange(self.log_prior.shape[1]) % self.size.shape[1] >= self.n_models

    def _at_all_scales(self, maps: Index) -> Index:
        """Return the members of these maps."""
        times = self.log_prior.shape[1] // self.n_models
        return (np.arange(times)[:, None] * self.n_models + maps).ravel()


@kernel
def mean_predictions(ids: Index, x: Any, block: Index, ridges: Any, beliefs: Any) -> Array:
    """Return the means of the predictions of all members, by their weights, ``(n, K)``."""
    theta, root, dims, first = ridges
    size, precision, level, views = beliefs[6], beliefs[7], beliefs[8], (beliefs[9], beliefs[10])
    V, K, M = size.shape[1], x.shape[2], dims.size
    scratch, z, allowed = np.empty((3, M)), np.empty((theta.shape[2], K)), np.ones(K, dtype=np.bool_)
    out = np.zeros((ids.size, K))
    for r in range(ids.size):
        n = ids[r]
        posterior.weigh(n, beliefs, scratch[0], scratch[1], scratch[2])
        mean = np.zeros((first[V], theta.shape[2]))  # of the estimates at all scales, whose cells follow each other
        for k in range(M):
            shift = posterior.of_level(n, k, precision, level)[0] if level[n, PENALTY, k] > 0.0 else 0.0
            for c in range(first[k], first[k + 1]):
                for j in range(dims[k]):
                    h = ridge.dot(root[n, c, j], root[n, c, 0]) if shift != 0.0 else 0.0
                    mean[c % first[V], j] += scratch[1, k] * (theta[n, c, j] + shift * h)
        for v in range(V):
            posterior.prepare_view(x, r, v, size[n, v], precision, views, allowed, z)
            for a in range(K):
                c = first[v] + (block[r, v % block.shape[1], a] if block.size > 0 else 0)
                for j in range(dims[v]):
                    out[r, a] += z[j, a] * mean[c, j]
    return out


@kernel
def learn_mixture(
    ids: Index, features: Any, y: Array, ridges: Any, sums: Any, level: Array, gamma: float, drift: float
) -> bool:
    """Learn ``y (n,)``, unless the log of the size of a view would then be off by more than ``drift``.

    Then nothing is done, and False is returned. ``features = (x, block, bar, forecast)``: ``x (n, P, d)``; for centred
    views ``bar (n, P, d)`` as in ``models.posterior``, and mean and variance of the level ``(2, n)``.
    ``ridges`` as in ``kernels.ridge``, ``sums`` those of the mixture. ``gamma``: what earlier rewards count; below 1
    the bank has faded already, and ``seen`` counts this reward.
    """
    x, block, bar, forecast = features
    if drifts(ids, x, bar, sums, drift):
        return False
    seen, moments, size, logs, counted, precision = sums
    P, V, d, first = x.shape[1], size.shape[1], x.shape[2], 1 if precision > 0.0 else 0
    z, squares, centered = np.ones((ids.size, V, ridges[0].shape[2])), np.zeros((ids.size, V)), np.empty(ids.size)
    places = np.zeros((ids.size, V if block.size > 0 else 0), dtype=np.int64)
    for r in range(ids.size):
        for v in range(V):
            c = first if v < P else first + 1
            for j in range(d):
                z[r, v, c + j] = x[r, v, j] if v < P else posterior.apart(x[r, v - P, j], bar[r, v - P, j])
                squares[r, v] += z[r, v, c + j] ** 2
    for r in range(ids.size):
        n = ids[r]
        count = seen[n] if gamma < 1.0 else ridges[3][n] + 1.0
        moments[n, SQUARES] *= gamma
        centered[r] = center(n, y[r], count, moments, precision)
        for v in range(V):
            take_size(n, v, squares[r, v], size, logs, counted)
            factor = 1.0 / math.sqrt(size[n, v]) if size[n, v] > 0.0 else 1.0
            c = first if v < P else first + 1
            for j in range(d):
                z[r, v, c + j] *= factor
            if v >= P:  # the likelihood of a reward whose variance is 1 + forecast[1] times that of the noise
                scale = 1.0 / math.sqrt(1.0 + forecast[1, r])
                for j in range(z.shape[2]):
                    z[r, v, j] *= scale
                z[r, v, 0] = scale * forecast[0, r] + (1.0 - scale) * centered[r]
            if block.size > 0:
                places[r, v] = block[r, v % P]
    _count_level(ids, places, -1.0, ridges, level)
    ridge.learn(ids, z, places, centered, ridges, np.empty((2, ids.size, level.shape[2])))
    _count_level(ids, places, 1.0, ridges, level)
    if V > P:
        for r in range(ids.size):
            for k in range(level.shape[2]):
                ridges[2][ids[r], LOGDET, k] += math.log1p(forecast[1, r]) if k % V >= P else 0.0
    return True


@kernel
def drifts(ids: Index, x: Array, bar: Array, sums: Any, drift: float) -> bool:
    """Return whether the log of the size of a view would be off by more than ``drift`` after ``x (n, P, d)``."""
    _, _, size, logs, counted, _ = sums
    P = x.shape[1]
    for r in range(ids.size if drift < math.inf else 0):
        for v in range(size.shape[1]):
            square = 0.0
            for j in range(x.shape[2]):
                square += (x[r, v, j] if v < P else posterior.apart(x[r, v - P, j], bar[r, v - P, j])) ** 2
            if abs(_off(ids[r], v, square, size, logs, counted)) > drift:
                return True
    return False


@inlined
def _count_level(ids: Index, block: Index, sign: float, ridges: Any, level: Array) -> None:
    """Add to the sums of the level, or subtract from them, the blocks ``block (n, P)`` of every member."""
    theta, root, _, _, _, first = ridges
    if block.size > 0:
        for r in range(ids.size):
            n = ids[r]
            for k in range(level.shape[2]):
                penalty = level[n, PENALTY, k]
                if penalty > 0.0:
                    c = first[k] + block[r, k % block.shape[1]]
                    level[n, INFORMATION, k] += sign * (penalty - penalty**2 * ridge.dot(root[n, c, 0], root[n, c, 0]))
                    level[n, MOMENT, k] += sign * penalty * theta[n, c, 0]


@kernel
def sizes_off(ids: Index, x: Array, size: Array, logs: Array, counted: Index, out: Array) -> bool:
    """Write the sizes that features ``x (n, P, d)`` would bring to maps whose size is off; return whether any is.

    They are the geometric means of all squared norms learned; ``out (n, P)`` is 0 for other maps.
    """
    found = False
    for r in range(ids.size):
        for i in range(x.shape[1]):
            off = _off(ids[r], i, ridge.dot(x[r, i], x[r, i]), size, logs, counted)
            out[r, i] = size[ids[r], i] * math.exp(off) if abs(off) > DRIFT else 0.0
            found |= abs(off) > DRIFT
    return found


@inlined
def _off(n: int, i: int, square: float, size: Array, logs: Array, counted: Index) -> float:
    """Return how far the mean log of the squared norms of a map would be from that of its size."""
    if square == 0.0 or size[n, i] == 0.0:
        return 0.0
    return (logs[n, i] + math.log(square)) / (counted[n, i] + 1.0) - math.log(size[n, i])
