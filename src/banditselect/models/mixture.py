"""Regressions with unknown noise, and how probable each is."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import Features
from ..runtime.shapes import FeatureShape
from ..types import Array, Index
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
    n_models, n_maps: M; and P, the number of feature maps.
    intercept: whether a constant term stands before the features.
    prior: of the M models, ``(M,)`` or ``(N, M)``.
    prior_variance: v, ``(N, members)``; 0 where it is to be learned.
    limits: rows ``LOW`` and ``HIGH`` of ``models.posterior``, ``(2, members)``.

    Attributes
    ----------
    size: a squared norm of features of each map, by whose root they are divided, ``(N, P)``; 0 until known.
    logs, counts: sum of the logarithms of squared norms learned that are not zero, and how many they are, ``(N, P)``.
    moments: the first reward, the mean of all rewards less the first, their sum of squares about it, ``(N, 3)``;
        without a constant term the first two are 0.
    log_prior: of the members, ``(N, members)``; and what models that came and went have left in it.
    blocks: how many blocks of parameters each of the M models has, ``(M,)``.
    level: the level of rewards where a map has blocks, ``(N, 3, members)``, as in ``models.posterior``.
    """

    state: tuple[str, ...] = ("size", "logs", "counts", "moments", "log_prior")
    nonnegative: tuple[str, ...] = ("size", "counts")
    fixed: tuple[str, ...] = ("prior_variance", "level")
    shared: tuple[str, ...] = ("limits", "blocks")
    unit_free = True
    reads_lookups = True
    fixed_members = None
    bank: RidgeBank | SharedRidgeBank

    def __init__(
        self,
        shape: FeatureShape,
        bank: RidgeBank | SharedRidgeBank,
        *,
        n_models: int,
        n_maps: int,
        intercept: bool,
        prior: Array,
        prior_variance: Array,
        limits: Array,
    ) -> None:
        super().__init__(shape)
        N, M = bank.group.shape
        self.bank = bank
        self.n_models = n_models
        self.blocks = np.ones(n_models, dtype=np.int64)
        self.intercept = intercept
        self.size, self.logs = np.zeros((N, n_maps)), np.zeros((N, n_maps))
        self.counts = np.zeros((N, n_maps), dtype=np.int64)
        self.moments = np.zeros((N, 3))
        times = M // n_models
        self.log_prior = np.array(np.broadcast_to(np.tile(np.log(prior / times), times), (N, M)), order="C")
        self.prior_variance = prior_variance
        self.limits = limits
        self.level = np.zeros((N, 3, M))
        self.one_kernel = bank.forgetting is None
        if bank.forgetting is not None:
            self.fixed_members = "rewards fade: memory has to be None"

    @property
    def rounds(self) -> Array:
        """Number of rewards that count, ``(N,)``."""
        return self.bank.rounds

    # Questions of plays.

    @abstractmethod
    def beliefs(self) -> tuple[Any, Any]:
        """Return ``ridges`` and ``beliefs``, the tuples of arrays that are described in ``models.posterior``."""

    def _beliefs(self) -> tuple[Any, ...]:
        bank, precision = self.bank, FLAT if self.intercept else 0.0
        seen = bank.updates if bank.forgetting is None else bank.forgetting.seen
        sums = bank.evidence, seen, self.moments
        return *sums, self.log_prior, self.prior_variance, self.limits, self.size, precision, self.level

    @property
    def n_normals(self) -> int:
        """Number of normals that ``sampled`` takes."""
        return 1 + int(self.blocks.max()) * self.bank.root.shape[2] + int(self.blocks.max() > 1)

    def sampled(self, ids: Index, x: Features, normals: Array) -> Array:
        """Return the rewards of actions under a member and a parameter drawn from the posterior, ``(n, K)``.

        The first of the normals chooses the member, the others its parameter; the last its level, if it has blocks.
        """
        bank, beliefs = self.bank, self._beliefs()
        member, deviation = np.empty(ids.size, dtype=np.int64), np.empty(ids.size)
        posterior.draw_members(ids, beliefs, normals, member, deviation)
        information, moment, penalty = self.level[ids, :, member].T
        known = FLAT + information
        shift = penalty * (moment / known + deviation * normals[:, -1] / np.sqrt(known))
        theta = np.ascontiguousarray(bank.estimates_of(ids, member))
        drawn = member, deviation, theta, bank.group[ids, member], shift
        score = np.empty((ids.size, x.values.shape[2]))
        posterior.sampled_scores(ids, x.values, x.block, drawn, bank.root, beliefs, normals, score)
        return score

    # Questions of users, about the M maps or regions in the order in which they were given.

    def weigh(self, ids: Index) -> Array:
        """Return log weights up to a constant, weights, and noise variances of the members, ``(3, n, members)``."""
        out = np.empty((3, ids.size, self.log_prior.shape[1]))
        posterior.weigh_rows(ids, self._beliefs(), out)
        return out

    def weights(self) -> Array:
        """Return how probable the maps or regions are, ``(N, M)``."""
        weight = self.weigh(np.arange(len(self.size)))[1]
        return self._as_given(weight.reshape(len(weight), -1, self.n_models).sum(axis=1))

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
        return self._as_given(constants * self._reward_unit()[:, None])

    def parameters(self) -> Array:
        """Return the mean of the posterior of every map or region, ``(N, M, d)``; with blocks ``(N, cells, d)``."""
        size = np.sqrt(np.where(self.size > 0.0, self.size, 1.0))
        if size.shape[1] == self.n_models:
            size = np.repeat(size, self.blocks, axis=1)
        parameters = self._mean_estimates()[..., int(self.intercept) :] / size[..., None]
        return self._as_given(parameters * self._reward_unit()[:, None, None])

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

    def _reward_unit(self) -> Array:
        """Return the unit in which rewards are learned, ``(N,)``."""
        return np.ones(len(self.size))

    def _as_given(self, array: NDArray[Any]) -> Any:
        """Return an array ``(N, M, ...)`` with the models in the order in which they were given."""
        return array
