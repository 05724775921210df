"""Likelihood-ratio confidence sets that choose among models: over feature maps, and over regions of one map.

The proofs are in ``docs/math.md``; every statement there holds for all rounds at once with probability 1 - delta.
"""

import contextlib
import math
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel, ridge, shared_ridge
from ..kernels.features import Features
from ..kernels.weights import posterior
from ..runtime.lanes import MemberMove
from ..types import Array, Index, Mask
from . import learned_sums
from .alarms import Alarm, screen
from .evidence import Posterior, kept_and_new, log_sum
from .region_layout import Regions
from .ridge_bank import Bank, BankModel, RidgeBank
from .shared_ridge_bank import SharedRidgeBank

ALARM = (
    "no model explains the rewards{lanes} with noise of the constant stated: every model is wrong, or its bound "
    "on the parameter is too small, or noise is. See the property misspecified; no further warning comes."
)


GUESS = (
    "the noise is a guess, {noise:g}, and the rewards{lanes} are within less than a third of it of one map's "
    "predictions: the sets are too wide, so pass noise="
)


class LikelihoodSets(BankModel):
    r"""Sequential likelihood-ratio confidence sets for M models, with no constant to tune.

    Let R be ``noise``, :math:`\pi_i` the prior weights, model i the region
    :math:`(\theta - m_i)^\top \Lambda_i (\theta - m_i) \le r_i^2` and :math:`L_i` its loss (``online``, or the Gaussian
    evidence :math:`J_i + R^2 \log\det(V_i \Lambda_i^{-1})`). Then

    .. math:: B_t = -2 R^2 \log \sum_i \pi_i e^{-L_i / (2 R^2)}, \qquad
              \rho_i^2 = B_t + 2 R^2 \log(1 / \delta) + r_i^2 - J_i

    and, if model i is true, :math:`|\theta_* - \hat\theta_i|^2_{V_i} \le \rho_i^2` for all rounds at once with
    probability 1 - delta. A negative :math:`\rho_i^2` proves model i false; the sum runs over all M models, always.

    With ``misspecification`` eps > 0, R^2 becomes 2 R^2 and 2 t eps^2 is added (Theorem 8 with kappa = 1/2).

    Parameters
    ----------
    bank: M regressions per lane.  noise: R, ``(N,)``.
    penalty: :math:`r_i^2` in the units of :math:`\Lambda_i` (``regularization * radius ** 2`` for balls), ``(N, M)``.
    prior: weights, ``(M,)`` or ``(N, M)``.
    delta: all sets hold with probability 1 - delta.  scale: multiplies the radii; 1 is the theory.

    Attributes
    ----------
    squared: rho_i^2 after the last update, ``(N, M)``; negative where the model is refuted.
    posterior: the weights; its variance is R^2, twice that with misspecification.
    alarm: watches whether any model explains the rewards.
    """

    state: tuple[str, ...] = ("squared",)
    member_axis: ClassVar[dict[str, int]] = {"squared": 1}
    fixed: tuple[str, ...] = ("penalty", "noise")
    one_kernel = True
    fixed_members = None

    def __init__(
        self,
        bank: Bank,
        *,
        noise: Array,
        penalty: Array,
        prior: Array,
        delta: float,
        online: bool = False,
        misspecification: float = 0.0,
        scale: float = 1.0,
    ) -> None:
        super().__init__(bank)
        self.noise, self.penalty, self.scale = noise, penalty, float(scale)
        twice = 2.0 if misspecification > 0.0 else 1.0
        self.posterior = Posterior(bank, variance=twice * noise**2, prior=prior, online=online)
        self.log_term, self.drift = math.log(1.0 / delta), 2.0 * misspecification**2
        self.alarm = Alarm(noise.size, delta, misspecification)
        self.squared = np.empty(penalty.shape)
        self._take_radii(np.arange(noise.size))

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that kernels read: ``sets``."""
        weights = self.posterior.log_prior, self.posterior.variance, self.posterior.online
        return *weights, self.penalty, self.noise, self.squared, self.drift, self.log_term

    def _take_radii(self, ids: Index) -> None:
        """Take the radii for the bank as it is now."""
        take_radii(ids, self.bank.evidence, self.bank.updates, self.arrays())

    def _judge(self, ids: Index, verdict: Array) -> None:
        """Look closer at the lanes that the kernel suspects."""
        if self.alarm.judge(ids, verdict, self.bank.updates, self.noise):
            raised = self.alarm.raised
            lanes = f" of {raised.sum()} of {raised.size} lanes" if raised.size > 1 else ""
            self.warnings.append(ALARM.format(lanes=lanes))

    misspecified = property(attrgetter("alarm.raised"))
    total_weight = property(attrgetter("posterior.total_weight"))

    def weights(self) -> Array:
        """Return the posterior weights of the models, ``(N, M)``."""
        return self.in_given_order(self.posterior.weigh(np.arange(self.noise.size))[0])

    def squared_radii(self) -> Array:
        """Return the squared radii of the sets, scale included, ``(N, M)``; negative where the model is refuted."""
        return self.in_given_order(self.scale**2 * self.squared)

    def admissible(self) -> Mask:
        """Return which models are not refuted, ``(N, M)``."""
        return self.in_given_order(self.squared >= 0.0)

    def covers(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Return whether the set of any of these models holds ``thetas[n]``, ``(N,)``."""
        inside = self.bank.distances(thetas, models) <= self.scale**2 * self.squared[:, models]
        return np.asarray(inside.any(axis=1))


class MapSets(LikelihoodSets):
    """The sets of M feature maps. The alarm's challenger is the mean prediction under the posterior.

    With ``guessed`` noise there is a warning if it turns out to be far too large, after 100 rewards or 20 for every
    feature of the widest map.

    Attributes
    ----------
    loss: square loss of that prediction, ``(N,)``.
    """

    bank: RidgeBank
    state = (*LikelihoodSets.state, "loss")

    def __init__(self, bank: RidgeBank, *, guessed: bool = False, **arguments: Any) -> None:
        super().__init__(bank, **arguments)
        self.loss = np.zeros(len(bank.group))
        self._watching = True
        self._enough = max(100, 20 * int((np.diff(bank.first) * bank.dims).max())) if guessed else 0

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        """Return the largest reward that any set allows, ``(n, K)``."""
        bank = self.bank
        ellipsoids = bank.theta, bank.root, bank.dims, bank.first, self.squared
        return ridge.upper_bounds(ids, x.values, x.block, ellipsoids, self.scale, False)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards, take the radii, look whether any model explains them."""
        challenger = self.loss, self.alarm.level
        verdict = learn_map_sets(ids, x.values, x.block, y, self.bank.arrays(), challenger, self.arrays())
        if verdict.size and self._watching:
            self._judge(ids, verdict)
        if self._enough:
            ids = ids[self.bank.updates[ids] == self._enough]
            small = self.bank.penalised[ids].min(axis=1) < self._enough * (self.noise[ids] / 3.0) ** 2
            if small.any():
                lanes = f" of {small.sum()} of {len(self.noise)} lanes" if len(self.noise) > 1 else ""
                self.warnings.append(GUESS.format(noise=self.noise[0], lanes=lanes))

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps as ``Posterior.reweigh`` does.

        J of a map that nothing was replayed to begins with the mixture's loss: its set holds the parameter if the map
        is true from then on. It does not begin higher above the penalty than the least of the others, so that the alarm
        stays right if at every time some map of the list was true.
        """
        bank, posterior = self.bank, self.posterior
        posterior.reweigh(total, shares, replayed)
        kept, new = kept_and_new(self.penalty.shape[1], shares.size)
        if new.size and not replayed:
            loss = bank.penalised[:, new]
            least = (bank.penalised - self.penalty)[:, kept].min(axis=1)
            start = np.clip(least[:, None] + self.penalty[:, new], 0.0, np.maximum(loss, 0.0))
            bank.penalised[:, new] = start
            if not posterior.online:
                posterior.log_prior[:, new] += (start - loss) / (2.0 * posterior.variance[:, None])
        self._take_radii(np.arange(total.size))

    @contextlib.contextmanager
    def asleep(self, ids: Index, members: Index) -> Iterator[None]:
        """Learn a reward that these maps know nothing about; J of theirs is not right before the end: no alarm then."""
        self._watching = False
        try:
            with self.posterior.asleep(ids, members):
                yield
        finally:
            self._watching = True
        self._take_radii(ids)


class RegionSets(LikelihoodSets):
    """The sets of M regions over one map. The alarm's challenger is a ridge that is wider than all regions."""

    bank: SharedRidgeBank
    rank: Index
    fixed = (*LikelihoodSets.fixed, "rank")

    def __init__(self, regions: Regions, *, noise: Array, prior: Array, **arguments: Any) -> None:
        lam = regions.regularization(noise[:, None])
        arguments |= {"noise": noise, "prior": prior[regions.order], "penalty": regions.penalty(lam)}
        super().__init__(regions.bank(lam), **arguments)
        self.wide = regions.wide_ridge(noise)
        self.rank = np.argsort(regions.order, axis=1)

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        """Return the largest reward that any set allows, ``(n, K)``."""
        bank = self.bank
        return shared_ridge.upper_bounds(ids, x.values, (bank.columns, bank.root, bank.group, self.squared), self.scale)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards, take the radii, look whether any model explains them."""
        challenger = self.wide.arrays(), self.alarm.level
        verdict = learn_region_sets(ids, x.values, x.block, y, self.bank.arrays(), challenger, self.arrays())
        if verdict.size:
            self._judge(ids, verdict)

    def adopt(self, other: "RegionSets", fresh: "RegionSets", move: MemberMove) -> None:
        """Learn, as sets that have learned nothing, what sets of other regions have, which were ``fresh`` before.

        Losses of new regions are exact but for the online loss, which depends on the order of the rewards: there they
        are taken to have predicted as the mixture did (``docs/math.md``, section 13).
        """
        sums, total, posterior = learned_sums.of(other.wide, fresh.wide), other.total_weight(), self.posterior
        learned_sums.apply(self.bank, sums)
        learned_sums.apply(self.wide, sums)
        prior = self.in_given_order(posterior.log_prior)
        share = np.exp(prior[:, move.new.size :]).sum(axis=1)
        online = np.tile(-2.0 * posterior.variance[:, None] * total[:, None], move.n_new)
        for target, source in ((online, other.bank.online), (prior, other.posterior.log_prior)):
            target[:, move.new] = other.in_given_order(source)[:, move.old]
        np.put_along_axis(self.bank.online, self.rank, online, axis=1)
        np.put_along_axis(posterior.log_prior, self.rank, prior, axis=1)
        kept = log_sum(self.in_given_order(posterior.log_weights())[:, move.new])
        prior[:, move.new] += (total + np.log1p(-share) - kept)[:, None]
        np.put_along_axis(posterior.log_prior, self.rank, prior, axis=1)
        self.alarm.raised[:] = other.alarm.raised
        self._take_radii(np.arange(total.size))


@kernel
def learn_map_sets(ids: Index, x: Array, block: Index, y: Array, ridges: Any, challenger: Any, sets: Any) -> Array:
    """Learn ``x (n, P, d)`` and ``y (n,)`` in ridges over maps, take the radii, return the verdicts of ``screen``.

    ``challenger = (loss, level)``.
    """
    loss, level = challenger
    evidence, updates = ridges[2], ridges[3]
    weight, rival = posterior(ids, evidence, sets[0], sets[1], sets[2])
    before = np.empty((2, weight.shape[0], weight.shape[1]))
    ridge.learn(ids, x, block, y, ridges, before)
    for r in range(ids.size):
        loss[ids[r]] += (y[r] - ridge.dot(weight[r], before[0, r])) ** 2
        rival[r] = loss[ids[r]]
    take_radii(ids, evidence, updates, sets)
    return screen(ids, evidence, updates, rival, sets, level)


@kernel
def learn_region_sets(ids: Index, x: Array, block: Index, y: Array, shared: Any, challenger: Any, sets: Any) -> Array:
    """Do the same for ``x (n, 1, d)`` in ridges over one map.

    ``challenger = (wide, level)``: its loss is the evidence of the one ridge ``wide``.
    """
    wide, level = challenger
    evidence, updates, of_wide, rival = shared[3], shared[4], wide[2], np.empty(ids.size)
    ridge.learn(ids, x, block, y, wide, np.empty((2, ids.size, 1)))
    shared_ridge.learn(ids, x, y, shared)
    for r in range(ids.size):
        rival[r] = of_wide[ids[r], 1, 0] + sets[1][ids[r]] * of_wide[ids[r], 0, 0]
    take_radii(ids, evidence, updates, sets)
    return screen(ids, evidence, updates, rival, sets, level)


@kernel
def take_radii(ids: Index, evidence: Array, updates: Index, sets: Any) -> None:
    """Write ``squared[n, i] = rho_i^2`` of ``LikelihoodSets``."""
    log_prior, variance, online, penalty, _, squared, drift, log_term = sets
    _, mixture = posterior(ids, evidence, log_prior, variance, online)
    for r in range(ids.size):
        n = ids[r]
        level = mixture[r] + 2.0 * variance[n] * log_term + drift * updates[n]
        for i in range(evidence.shape[2]):
            squared[n, i] = level + penalty[n, i] - evidence[n, 1, i]
