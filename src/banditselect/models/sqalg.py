"""SqAlg (paper, Alg. ``alg:expert-prediction``), and ridge regressions whose predictions it aggregates."""

import contextlib
import math
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel, ridge, weights
from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..types import Array, Index, Mask
from .evidence import InRange, kept_and_new, log_sum
from .reward_range import RewardRange, count_outside
from .ridge_bank import RidgeBank

ALL_FALLEN = (
    "no expert predicts within its bound: the one that exceeds it least is kept. "
    "The bounds (noise, feature_bound, reward_bound, parameter_bound or radii) do not hold for these data."
)


class SqAlgWeighted(InRange):
    """Predicts as SqAlg does on the range of the rewards, what lies outside clipped.

    Where rewards fade, so do its losses, unless a ``share`` of the weights lets them return.
    """

    def __init__(
        self, bank: RidgeBank, expected: RewardRange, formulas: Any = None, *, share: float = 0.0, rate: float = 1.0
    ) -> None:
        super().__init__(bank, expected)
        self.formulas = formulas
        self.one_kernel = bank.one_kernel
        N, M = bank.group.shape
        if share > 0.0:
            self.fixed_members = "weights are shared: share has to be 0"
        gamma = 1.0 if bank.forgetting is None or share > 0.0 else bank.forgetting.gamma
        lower, upper = self._range(np.arange(N))
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M, gamma=gamma, share=share, rate=rate)

    def _range(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of SqAlg after the rewards so far, ``(n,)`` each."""
        return np.full(ids.size, self.expected.lower), np.full(ids.size, self.expected.upper)

    def predict(self, ids: Index, x: Features) -> Array:
        """Return SqAlg's prediction for every action, ``(n, K)``."""
        return self.sqalg.predict(ids, self.bank.predictions(ids, x))

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards, and charge the experts for their predictions of them."""
        bank, sqalg, expected = self.bank, self.sqalg, self.expected
        if note is not None:
            sqalg.drop(ids, note)
            self.warnings += sqalg.warnings()
        if bank.forgetting is None:
            limits = expected.lower, expected.upper, expected.outside
            outside = learn_experts(ids, x.values, x.block, y, bank.arrays(), sqalg.arrays(), limits)
        else:
            f = bank.predictions(ids, x.as_actions())[:, :, 0]  # as it was played, before the round has faded
            bank.step(ids, x, y)
            sqalg.update(ids, f, y)
            outside = count_outside(ids, y, expected.lower, expected.upper, expected.outside)
        if outside:
            self.warnings += expected.warnings(y)

    def weights(self) -> Array:
        """Return the weights of the experts, ``(N, M)``."""
        return self.sqalg.weights(np.arange(self.updates.size))

    admissible = property(attrgetter("sqalg.alive"))
    clipped = property(attrgetter("sqalg.clipped"))
    total_weight = property(attrgetter("sqalg.total_weight"))
    reweigh = property(attrgetter("sqalg.reweigh"))

    @contextlib.contextmanager
    def asleep(self, ids: Index, members: Index) -> Iterator[None]:
        """Learn a reward that these experts know nothing about."""
        with self.sqalg.asleep(ids, members), self.bank.asleep(ids, members):
            yield


class SqAlg(LaneArrays):
    r"""Exponential weights on square loss with Vovk's substitution, for a range that is known and may grow.

    With :math:`[\beta, \beta + \ell]` the range, :math:`L_i` the cumulative square loss of expert i and
    :math:`\eta = 2 / \ell^2`, the weights are proportional to :math:`e^{-\eta L_i}` over the admissible experts, and

    .. math:: \hat y = \beta + \ell \left(\tfrac12 + \tfrac12 (\Delta(0) - \Delta(1))\right), \quad
              \Delta(y) = -\tfrac12 \log \sum_i v_i e^{-2 (y - h_i)^2}, \quad h_i = (f_i - \beta) / \ell .

    Guarantee: with rewards and predictions in the range, :math:`\sum (\hat y - y)^2 \le \min_i L_i + (\ell^2 / 2)
    \log M` on every sequence, also for a range that grows and for experts removed on the way (``docs/math.md``).

    Losses may fade: with ``gamma`` below 1 the same holds at every time if what happened k rounds ago counts
    :math:`\gamma^k` on both sides. Or weights may return (fixed-share): with a ``share`` :math:`\alpha`, every expert
    gives that part of its weight to the others, equally, after each reward. Then, on every sequence and against every
    choice of experts that changes k times in T rounds, the loss is at most theirs and

    .. math:: \frac{\ell^2}2 \left(\log M + k \log \frac{M - 1}\alpha + (T - 1 - k) \log \frac1{1 - \alpha}\right).

    Reference for the last: Herbster, Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Departures from print: weights come from raw cumulative losses, so the range may grow; the prediction, which the
    paper leaves open within an interval, is the substitution above; ``y' = (y - beta) / l`` where the paper prints
    ``a`` for beta; what overflows the range is clipped to it and counted.

    Parameters
    ----------
    lower, upper: the range, ``(N,)`` each.  n_models: number of experts M.
    gamma: the factor by which losses fade in every round.  share: alpha, in [0, 1).
    rate: multiplies :math:`\eta`; the guarantee is lost above 1.

    Attributes
    ----------
    loss: cumulative square losses, ``(N, M)``; with a share, those that belong to the weights.
    alive: admissible experts, ``(N, M)``.  clipped: how many rewards overflowed the range, ``(N,)``.
    """

    state = ("loss", "alive", "lower", "upper", "clipped")
    nonnegative = ("clipped",)
    member_axis: ClassVar[dict[str, int]] = {"loss": 1, "alive": 1}

    def __init__(
        self, *, lower: Array, upper: Array, n_models: int, gamma: float = 1.0, share: float = 0.0, rate: float = 1.0
    ) -> None:
        self.gamma, self.rate = gamma, rate
        self.share = share if n_models > 1 else 0.0
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self.loss = np.zeros((self.lower.size, n_models))
        self.alive = np.ones((self.lower.size, n_models), dtype=bool)
        self.clipped = np.zeros(self.lower.size, dtype=np.int64)
        self.fallen = self._warned = False

    def widen(self, ids: Index, lower: Array, upper: Array) -> None:
        """Let the range of these lanes grow to cover ``[lower, upper]``."""
        self.lower[ids] = np.minimum(self.lower[ids], lower)
        self.upper[ids] = np.maximum(self.upper[ids], upper)

    def arrays(self) -> tuple[Any, ...]:
        """Return what kernels read: ``experts``."""
        return self.loss, self.lower, self.upper, self.clipped, self.gamma, self.share, self.rate

    def weights(self, ids: Index, alive: Mask | None = None) -> Array:
        """Return the weights ``(n, M)`` over the admissible experts, or over those of ``alive (n, M)``."""
        return weights.exponential_weights(ids, self.loss, self._eta(ids), self.alive[ids] if alive is None else alive)

    def predict(self, ids: Index, f: Array, alive: Mask | None = None) -> Array:
        """Return the prediction ``(n, K)`` for the experts' ``f (n, M, K)``."""
        lower = self.lower[ids]
        return substitute(f, self.weights(ids, alive), lower, self.upper[ids] - lower)

    def update(self, ids: Index, f: Array, y: Array) -> None:
        """Charge the experts for their predictions ``f (n, M)`` of rewards ``y (n,)``. Lanes may not repeat."""
        charge(ids, f, y, self.arrays())

    def admit(self, ids: Index, excess: Array) -> Array:
        """Return 1 for experts that stay admissible, ``(n, M)``, 0 for those that fall: ``excess (n, M)`` above 0.

        Where all would fall, the one that exceeds its bound least is kept: 2.
        """
        before = self.alive[ids]
        after = (before & (excess <= 0.0)).astype(float)
        empty = np.flatnonzero(~after.any(axis=1))
        if empty.size:
            after[empty, np.where(before, excess, np.inf)[empty].argmin(axis=1)] = 2.0
        return after

    def drop(self, ids: Index, admitted: Array) -> None:
        """Drop the experts that ``admit`` did not admit.

        Decisions that overlap may each have kept another expert; where they disagree entirely, none is dropped.
        """
        before = self.alive[ids]
        after = before & (admitted > 0)
        self.alive[ids] = np.where(after.any(axis=1, keepdims=True), after, before)
        self.fallen = self.fallen or bool((admitted == 2).any())

    def total_weight(self) -> Array:
        r"""Return :math:`\log \frac1M \sum_i e^{-\eta L_i}` over the admissible experts, ``(N,)``."""
        ids = np.arange(len(self.loss))
        return log_sum(self._log_weights(ids)) - np.log(self.loss.shape[1])

    def reweigh(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the experts as ``Posterior.reweigh`` does, with equal shares; where none is admissible, all are."""
        (kept, new), eta = kept_and_new(self.loss.shape[1], shares.size), self._eta(np.arange(len(self.loss)))
        self.alive[~self.alive.any(axis=1)] = True
        before = log_sum(self._log_weights(np.arange(eta.size))[:, kept])
        with np.errstate(invalid="ignore"):
            shift = (total + np.log(kept.size) - before) / eta
        self.loss[:, kept] -= np.where(np.isfinite(shift), shift, 0.0)[:, None]
        if not replayed:
            self.loss[:, new] = (-total / eta)[:, None]

    @contextlib.contextmanager
    def asleep(self, ids: Index, members: Index) -> Iterator[None]:
        """Learn a reward that these experts know nothing about: it costs them what it costs the others."""
        at, before = np.ix_(ids, members), log_sum(np.delete(self._log_weights(ids), members, axis=1))
        loss = self.loss[at]
        yield
        after = log_sum(np.delete(self._log_weights(ids), members, axis=1))
        with np.errstate(invalid="ignore"):
            grown = (before - after) / self._eta(ids)
        self.loss[at] = loss + np.where(np.isfinite(grown), grown, 0.0)[:, None]

    def _eta(self, ids: Index) -> Array:
        return self.rate * 2.0 / (self.upper[ids] - self.lower[ids]) ** 2

    def _log_weights(self, ids: Index) -> Array:
        """Return the logarithms of the weights without their sum, ``(n, M)``."""
        return np.where(self.alive[ids], -self._eta(ids)[:, None] * self.loss[ids], -np.inf)

    def warnings(self) -> list[str]:
        """Return a warning, once, if all experts of some lane would have fallen."""
        if not self.fallen or self._warned:
            return []
        self._warned = True
        return [ALL_FALLEN]


@kernel
def learn_experts(ids: Index, x: Array, block: Index, y: Array, ridges: Any, experts: Any, expected: Any) -> bool:
    """Learn ``x (n, P, d)`` and ``y (n,)`` in a bank of ridges, and charge these experts for their predictions.

    Counts the rewards outside ``expected = (lower, upper, outside)``; returns whether there is one.
    """
    before = np.empty((2, ids.size, ridges[4].size))
    ridge.learn(ids, x, block, y, ridges, before)
    charge(ids, before[0], y, experts)
    return count_outside(ids, y, expected[0], expected[1], expected[2])


@kernel
def charge(ids: Index, f: Array, y: Array, experts: Any) -> None:
    """Charge experts for their predictions ``f (n, M)`` of ``y (n,)``, both clipped to the range; let losses fade.

    ``experts = (loss, lower, upper, clipped, gamma, share, rate)`` as in :class:`SqAlg`. With a share, every expert
    gives that part of its weight to the others, equally: the losses become those that belong to the new weights, whose
    sum stays.
    """
    loss, lower, upper, clipped, gamma, share, rate = experts
    M = loss.shape[1]
    each, log_weight, weight = share / max(M - 1, 1), np.empty(M), np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        inside = min(max(y[r], lower[n]), upper[n])
        clipped[n] += inside != y[r]
        eta = 2.0 * rate / (upper[n] - lower[n]) ** 2
        for i in range(M):
            error = min(max(f[r, i], lower[n]), upper[n]) - inside
            loss[n, i] = gamma * (loss[n, i] + error * error)
            log_weight[i] = -eta * loss[n, i]
        if share > 0.0:
            total = weights.normalise(log_weight, weight)
            for i in range(M):
                loss[n, i] = -(total + math.log(each + (1.0 - share - each) * weight[i])) / eta


@kernel
def substitute(f: Array, weight: Array, lower: Array, length: Array) -> Array:
    """Return Vovk's substitution, ``(n, K)``, for predictions ``f (n, M, K)``, clipped to the range, and weights.

    It satisfies both conditions of the paper's Alg. 3 (``docs/math.md``, Theorem 1).
    """
    out = np.empty((f.shape[0], f.shape[2]))
    for r in range(f.shape[0]):
        for a in range(f.shape[2]):
            at_0 = 0.0
            at_1 = 0.0
            for i in range(f.shape[1]):
                if weight[r, i] > 0.0:
                    h = min(max((f[r, i, a] - lower[r]) / length[r], 0.0), 1.0)
                    at_0 += weight[r, i] * math.exp(-2.0 * h * h)
                    at_1 += weight[r, i] * math.exp(-2.0 * (1.0 - h) * (1.0 - h))
            delta_0 = max(-0.5 * math.log(at_0), 0.0)
            delta_1 = max(-0.5 * math.log(at_1), 0.0)
            out[r, a] = lower[r] + length[r] * (0.5 + 0.5 * (delta_0 - delta_1))
    return out
