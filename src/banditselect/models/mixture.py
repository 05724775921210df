"""Regressions with unknown noise, and how probable each is."""

import math
from abc import abstractmethod
from operator import attrgetter
from typing import Any

import numpy as np

from ..kernels import kernel
from ..kernels.features import Features
from ..kernels.ridge import dot
from ..runtime.shapes import ExactShape
from ..types import Array, Index, Mask
from . import posterior
from .model import Model
from .posterior import SQUARES
from .ridge_bank import RidgeBank
from .shared_ridge_bank import SharedRidgeBank

FLAT = 1e-4
"""Prior precision of a constant term, for noise of variance 1: nearly none."""


class Mixture(Model):
    r"""Conjugate regressions with unknown noise, and how probable each is; docs/defaults.md says why these.

    A member is a pair (feature map, prior scale) or (region, noise level). Everything is counted in units that the data
    bring. The features of a map are all divided by the norm of the first learned that is not 0; before, by the root
    mean square norm of those offered; maps may get another unit later (``MapMixture``). With a constant term the first
    reward is subtracted from all. Rewards are not divided: their variance is the v below. So no decision depends on the
    unit of a map or of rewards, nor, with a constant term, on the zero of rewards.

    Member k has features :math:`\phi`, prior precisions :math:`\Lambda_k` (diagonal; of a map without blocks ``FLAT``
    for the constant term and one over the prior scale for features), :math:`V_k = \Lambda_k + \sum \phi \phi'`, logdet
    :math:`\log(\det V_k / \det \Lambda_k)`, and :math:`J_k = |y|^2 - \hat\theta_k' V_k \hat\theta_k`, the least
    penalised sum of squares. With t rewards, prior weight :math:`\pi_k`, of a map in equal parts for its scales, and a
    noise variance that is inverse gamma of shape a (``posterior.TRUST``) and scale :math:`b_k = a v_k`:

    .. math:: s_k^2 = \frac{b_k + J_k / 2}{a + t / 2}, \qquad
              w_k \propto \pi_k b_k^a e^{-\text{logdet}_k / 2} (b_k + J_k / 2)^{-(a + t / 2)}

    and :math:`\theta \mid s_k \sim N(\hat\theta_k, s_k^2 V_k^{-1})`. :math:`v_k` is the ``prior_variance`` (of the
    noise, not of parameters), or where that is 0 the variance of the rewards so far: their sum of squares about the
    mean over ``t - 1``, without a constant term that about 0 over t. While this is 0, :math:`s_k = 1` and
    :math:`w_k \propto \pi_k e^{-\text{logdet}_k / 2}`. A variance that is given is also known to lie within ``limits``
    about it, and w has one more factor: how probable that is. Noise that is known has :math:`s_k = R` and the Gaussian
    evidence, :math:`w_k \propto \pi_k e^{-\text{logdet}_k / 2 - J_k / (2 R^2)}`.

    Parameters
    ----------
    shape: the features, as given.
    bank: the regressions: of every one of M maps or regions at the first scale or level, then at the second, ...
    intercept: whether a constant term stands before the features.
    prior: of the M models, ``(M,)`` or ``(N, M)``.
    prior_variance: v, ``(N, members)``; 0 where it is to be learned.
    limits: rows ``LOW`` and ``HIGH`` of ``models.posterior``, ``(2, members)``.
    views: of every map: as given, or also centred (``models.map_views``).

    Attributes
    ----------
    n_models: M.  blocks: how many blocks of parameters each of them has, ``(M,)``.
    size: a squared norm of features of each view, by whose root they are divided, ``(N, V)``; 0 until known.
    logs, counts: sum of the logarithms of squared norms learned that are not zero, and how many they are, ``(N, V)``.
    moments: the first reward, the mean of all rewards less the first, their sum of squares about it, ``(N, 3)``;
        without a constant term the first two are 0.
    log_prior: of the members, ``(N, members)``; and what models that came and went have left in it.
    lends: which members lend weight to which in information-directed play, see ``posterior.lend``.
    level: the level of rewards where a map has blocks, ``(N, 3, members)``, as in ``models.posterior``.
    """

    state: tuple[str, ...] = ("size", "logs", "counts", "moments", "log_prior")
    nonnegative: tuple[str, ...] = ("size", "counts")
    fixed: tuple[str, ...] = ("prior_variance", "level")
    shared: tuple[str, ...] = ("limits", "blocks", "lends")
    unit_free = True
    reads_lookups = True
    fixed_members = None
    bank: RidgeBank | SharedRidgeBank

    def __init__(
        self,
        shape: ExactShape,
        bank: RidgeBank | SharedRidgeBank,
        *,
        intercept: bool,
        prior: Array,
        prior_variance: Array,
        limits: Array,
        views: int = 1,
    ) -> None:
        super().__init__(shape)
        (N, members), P = bank.group.shape, views * len(shape.dims)
        self.bank, self.intercept = bank, intercept
        self.n_models = prior.shape[-1]
        self.blocks = np.ones(self.n_models, dtype=np.int64)
        self.size, self.logs, self.counts = np.zeros((N, P)), np.zeros((N, P)), np.zeros((N, P), dtype=np.int64)
        self.moments = np.zeros((N, 3))
        times = members // self.n_models
        self.log_prior = np.array(np.broadcast_to(np.tile(np.log(prior / times), times), (N, members)), order="C")
        self.prior_variance, self.limits = prior_variance, limits
        self.level = np.zeros((N, 3, members))
        self.lends = np.empty((2, 0))
        self.one_kernel = bank.forgetting is None
        if bank.forgetting is not None:
            self.fixed_members = "rewards fade: memory has to be None"

    rounds = property(attrgetter("bank.rounds"))  #: the number of rewards that count, ``(N,)``

    @property
    def memory_weights(self) -> Array:
        """No weights: a mixture has one memory."""
        raise AttributeError("memory_weights: this policy has one memory; with memory='learned' it has several")

    # Questions of plays.

    @abstractmethod
    def beliefs(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs``, the tuples of arrays that are described in ``models.posterior``."""

    def _beliefs(self, views: tuple[Array, Array] = posterior.ONE_VIEW) -> tuple[Any, ...]:
        bank, precision = self.bank, FLAT if self.intercept else 0.0
        seen = bank.updates if bank.forgetting is None else bank.forgetting.seen
        sums = bank.evidence, seen, self.moments
        return *sums, self.log_prior, self.prior_variance, self.limits, self.size, precision, self.level, *views

    def _sums(self) -> tuple[Any, ...]:
        """Return what kernels learn besides the regressions: ``(seen, moments, size, logs, counts, precision)``."""
        precision = FLAT if self.intercept else 0.0
        return self.bank.rounds, self.moments, self.size, self.logs, self.counts, precision

    @property
    def n_normals(self) -> int:
        """Number of normals that ``sampled`` takes."""
        return 1 + int(self.blocks.max()) * self.bank.root.shape[2] + int(self.blocks.max() > 1)

    def sampled(self, ids: Index, x: Features, normals: Array) -> Array:
        """Return the rewards of actions under a member and a parameter drawn from the posterior, ``(n, K)``.

        The first of the normals chooses the member, the others its parameter; the last its level, if it has blocks.
        """
        bank, beliefs = self.bank, self._beliefs()
        member, deviation = draw_members(ids, beliefs, normals)
        information, moment, penalty = self.level[ids, :, member].T
        known = FLAT + information
        shift = penalty * (moment / known + deviation * normals[:, -1] / np.sqrt(known))
        theta = np.ascontiguousarray(bank.estimates_of(ids, member))
        drawn = member, deviation, theta, bank.group[ids, member], shift
        return sampled_scores(ids, x.values, x.block, drawn, bank.root, beliefs, normals)

    # Questions of users, about the M maps or regions in the order in which they were given.

    def weigh(self, ids: Index) -> Array:
        """Return log weights up to a constant, weights, and noise variances of the members, ``(3, n, members)``."""
        return posterior.weigh_rows(ids, self._beliefs())

    def weights(self) -> Array:
        """Return how probable the maps or regions are, ``(N, M)``."""
        weight = self.weigh(np.arange(len(self.size)))[1]
        return self.in_given_order(weight.reshape(len(weight), -1, self.n_models).sum(axis=1))

    def noise(self) -> Array:
        """Return the root of the mean noise variance, ``(N,)``; NaN before anything is known of it."""
        _, weight, variance = self.weigh(np.arange(len(self.size)))
        known = self.limits[posterior.LOW, 0] == self.limits[posterior.HIGH, 0]
        found = np.sqrt((weight * variance).sum(axis=1)) * self._reward_unit()
        return np.where((known & (self.prior_variance[:, 0] > 0.0)) | (self.moments[:, SQUARES] > 0.0), found, np.nan)

    def constants(self) -> Array:
        """Return the constant terms of the estimates, ``(N, M)``; with blocks of every block, ``(N, cells)``."""
        theta = self._mean_estimates()
        constants = theta[..., 0] + self.moments[:, None, posterior.FIRST] if self.intercept else 0.0 * theta[..., 0]
        return self.in_given_order(constants * self._reward_unit()[:, None])

    def parameters(self) -> Array:
        """Return the mean of the posterior of every map or region, ``(N, M, d)``; with blocks ``(N, cells, d)``."""
        unit = self._units()
        unit = np.repeat(unit, self.blocks, axis=1) if unit.shape[1] == self.n_models else unit
        parameters = self._mean_estimates()[..., int(self.intercept) :] / unit[..., None]
        return self.in_given_order(parameters * self._reward_unit()[:, None, None])

    def _mean_estimates(self) -> Array:
        """Return the estimates, means over scales or levels, ``(N, cells, d)``."""
        log_weight = self.weigh(np.arange(len(self.size)))[0]
        share = log_weight.reshape(len(log_weight), -1, self.n_models)
        share = np.exp(share - share.max(axis=1, keepdims=True))
        share = np.repeat(share / share.sum(axis=1, keepdims=True), self.blocks, axis=2)
        theta = self._estimates()
        return np.asarray((share[..., None] * theta.reshape(*share.shape, theta.shape[2])).sum(axis=1))

    def _estimates(self) -> Array:
        """Return the estimates of all members, ``(N, cells, d)``."""
        return self.bank.theta

    def _units(self) -> Array:
        """Return the units of the features of each map, ``(N, P)``."""
        return np.sqrt(np.where(self.size > 0.0, self.size, 1.0))

    def _reward_unit(self) -> Array:
        """Return the unit in which rewards are learned, ``(N,)``."""
        return np.ones(len(self.size))


@kernel
def draw_members(ids: Index, beliefs: Any, z: Array) -> tuple[Index, Array]:
    """Draw members ``(n,)`` by weight, inverting ``P(Z < z[r, 0])``, which is uniform; with their noise deviations."""
    member, deviation = np.empty(ids.size, dtype=np.int64), np.empty(ids.size)
    scratch = np.empty((3, beliefs[3].shape[1]))
    for r in range(ids.size):
        posterior.weigh(ids[r], beliefs, scratch[0], scratch[1], scratch[2])
        u = 0.5 * math.erfc(-posterior.ROOT_HALF * z[r, 0])
        reached = 0.0
        for k in range(scratch.shape[1]):
            if scratch[1, k] > 0.0:
                reached += scratch[1, k]
                member[r], deviation[r] = k, math.sqrt(scratch[2, k])
                if u < reached:
                    break
    return member, deviation


@kernel
def sampled_scores(ids: Index, x: Any, block: Index, drawn: Any, root: Array, beliefs: Any, z: Array) -> Array:
    """Return ``<x_i(a), theta[r] + shift h + s root z[r, 1:]>`` for ``drawn = (member, s, theta, place, shift)``.

    ``theta (n, B, d)`` and ``z (n, 1 + B d)``: of every block; ``place (n,)`` is the root of the first; ``shift h`` is
    what the level of rewards adds, as in ``models.posterior``.
    """
    member, deviation, theta, place, shift = drawn
    size, precision, views = beliefs[6], beliefs[7], (beliefs[9], beliefs[10])
    K, d = x.shape[2], theta.shape[2]
    rows, parameter, allowed = np.zeros((d, K)), np.empty(d), np.ones(K, dtype=np.bool_)
    out = np.zeros((ids.size, K))
    for r in range(ids.size):
        v = member[r] % size.shape[1]
        n, p = ids[r], v % x.shape[1]
        posterior.prepare_view(x, r, v, size[n, v], precision, views, allowed, rows)
        last = -1
        for a in range(K):
            b = block[r, p, a] if block.size > 0 else 0
            if b != last:
                own, last = root[n, place[r] + b], b
                for j in range(d):
                    total = 0.0
                    for m in range(d):
                        total += own[j, m] * z[r, 1 + b * d + m]
                    parameter[j] = theta[r, b, j] + deviation[r] * total
                    if shift[r] != 0.0:
                        parameter[j] += shift[r] * dot(own[j], own[0])
            for j in range(d):
                out[r, a] += rows[j, a] * parameter[j]
    return out
