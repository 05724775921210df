"""Ridge regressions weighted by their Gaussian evidence: the models of SquareCB and FS-SCB."""

import contextlib
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel, ridge, weights
from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..types import Array, Index, Mask
from .reward_range import RewardRange, count_outside
from .ridge_bank import Bank, BankModel, RidgeBank


class InRange(BankModel):
    """A model of rewards that are expected in a range, over a bank of regressions whose predictions it aggregates.

    Attributes
    ----------
    expected: the range, and how many rewards fell outside.
    printed: formulas that the rate of the play is computed by, whose numbers per lane grow with the lanes.
    """

    fixed_members = None
    printed: tuple[LaneArrays, ...] = ()
    bank: RidgeBank

    def __init__(self, bank: RidgeBank, expected: RewardRange) -> None:
        super().__init__(bank)
        self.expected = expected
        if bank.forgetting is not None:
            self.fixed_members = "rewards fade: memory has to be None"

    @property
    def clipped(self) -> Index:
        """Number of rewards that had to be clipped, ``(N,)``."""
        return np.zeros(self.updates.size, dtype=np.int64)

    def admissible(self) -> Mask:
        """Return which members may be believed, ``(N, M)``."""
        return np.ones(self.bank.group.shape, dtype=bool)


class EvidenceWeighted(InRange):
    """Predicts with the mean under the posterior of the regressions; a single regression needs none."""

    def __init__(self, bank: RidgeBank, expected: RewardRange, posterior: "Posterior | None" = None) -> None:
        super().__init__(bank, expected)
        self.one_kernel = bank.one_kernel
        self.posterior = posterior

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the mean prediction of every action, ``(n, K)``."""
        bank, posterior = self.bank, self.posterior
        if posterior is None:
            return bank.predict(ids, x)
        known = (bank.evidence, posterior.log_prior, posterior.variance)
        return mean_predictions(ids, x.values, x.block, bank.theta, bank.first, known)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards, and count those outside the range."""
        bank, expected = self.bank, self.expected
        if bank.forgetting is not None:
            bank.step(ids, x, y)
            self.warnings += expected.watch(ids, y)
            return
        limits = expected.lower, expected.upper, expected.outside
        if learn_in_range(ids, x.values, x.block, y, bank.arrays(), limits):
            self.warnings += expected.warnings(y)

    def weights(self) -> Array:
        """Return the weights of the members, ``(N, M)``."""
        n = self.updates.size
        return np.ones((n, 1)) if self.posterior is None else self.posterior.weigh(np.arange(n))[0]

    total_weight = property(attrgetter("posterior.total_weight"))
    reweigh = property(attrgetter("posterior.reweigh"))
    asleep = property(attrgetter("posterior.asleep"))


def log_sum(log_weight: Array) -> Array:
    """Return the logarithm of the sum of weights, ``(n, M)`` -> ``(n,)``; -inf where all are 0."""
    return np.logaddexp.reduce(log_weight, axis=1)


def kept_and_new(n: int, new: int) -> tuple[Index, Index]:
    """Return the positions of the old ones among n models, and of the last ``new``, which have come."""
    return np.arange(n - new), np.arange(n - new, n)


class Posterior(LaneArrays):
    r"""Weights of regressions whose noise is known: proportional to :math:`\pi_i e^{-L_i / (2 R^2)}`.

    :math:`L_i` is the Gaussian evidence :math:`J_i + R^2 \log\det(V_i \Lambda_i^{-1})`, or the online loss.

    Parameters
    ----------
    bank: the regressions.  variance: R^2, ``(N,)``.  prior: :math:`\pi`, ``(M,)`` or ``(N, M)``.  online: which loss.

    Attributes
    ----------
    log_prior: :math:`\log \pi`, ``(N, M)``; models that came and went have changed it.
    """

    state: tuple[str, ...] = ("log_prior",)
    member_axis: ClassVar[dict[str, int]] = {"log_prior": 1}
    fixed: tuple[str, ...] = ("variance",)

    def __init__(self, bank: Bank, *, variance: Array, prior: Array, online: bool) -> None:
        self.bank, self.variance = bank, variance
        self.log_prior = np.array(np.broadcast_to(np.log(prior), (variance.size, prior.shape[-1])), order="C")
        self.online = online

    def weigh(self, ids: Index) -> tuple[Array, Array]:
        r"""Return weights ``(n, M)``, and :math:`-2 R^2 \log \sum_i \pi_i e^{-L_i / (2 R^2)}`, ``(n,)``."""
        return weights.posterior(ids, self.bank.evidence, self.log_prior, self.variance, self.online)

    def log_weights(self, ids: Index | slice = slice(None)) -> Array:
        """Return the logarithms of the weights before they are normalised, ``(n, M)``."""
        logdet, penalised, online = np.moveaxis(self.bank.evidence[ids], 1, 0)
        variance = self.variance[ids, None]
        return self.log_prior[ids] - (online if self.online else penalised + variance * logdet) / (2.0 * variance)

    def total_weight(self) -> Array:
        r"""Return :math:`\log \sum_i \pi_i e^{-L_i / (2 R^2)}`, ``(N,)``."""
        return log_sum(self.log_weights())

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the models when the last have come or some have gone, so that the sum of the weights stays ``total``.

        ``docs/math.md``, section 13, says why. Arguments as in ``models.model``.
        """
        (kept, new), bank = kept_and_new(self.log_prior.shape[1], shares.size), self.bank
        before = log_sum(self.log_weights()[:, kept])
        self.log_prior[:, kept] += (total + np.log1p(-shares.sum()) - before)[:, None]
        self.log_prior[:, new] = np.log(shares)
        if new.size and not replayed:
            bank.logdet[:, new] = 0.0
            bank.penalised[:, new] = bank.online[:, new] = (-2.0 * self.variance * total)[:, None]

    @contextlib.contextmanager
    def asleep(self, ids: Index, members: Index) -> Iterator[None]:
        """Learn a reward that these models know nothing about: it costs them what it costs the others."""
        before = log_sum(np.delete(self.log_weights(ids), members, axis=1))
        with self.bank.asleep(ids, members):  # type: ignore[attr-defined]
            yield
        after = log_sum(np.delete(self.log_weights(ids), members, axis=1))
        loss = 2.0 * self.variance[ids] * (before - after)
        for row in (ridge.PENALISED, ridge.ONLINE):
            self.bank.evidence[ids[:, None], row, members] += loss[:, None]


@kernel
def mean_predictions(ids: Index, x: Any, block: Index, theta: Array, first: Index, known: Any) -> Array:
    """Return the mean predictions under the weights of ``known = (evidence, log_prior, variance)``, ``(n, K)``."""
    evidence, log_prior, variance = known
    weight, _ = weights.posterior(ids, evidence, log_prior, variance, False)
    return ridge.mixtures(ids, x, block, theta, first, weight)


@kernel
def learn_in_range(ids: Index, x: Array, block: Index, y: Array, ridges: Any, expected: Any) -> bool:
    """Learn ``x (n, P, d)`` and ``y (n,)``; count those outside ``(lower, upper)`` and return whether there is one."""
    some = count_outside(ids, y, expected[0], expected[1], expected[2])
    ridge.learn(ids, x, block, y, ridges, np.empty((2, ids.size, ridges[4].size)))
    return some
