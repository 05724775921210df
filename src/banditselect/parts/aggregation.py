"""SqAlg: aggregates the experts' predictions (paper, Alg. ``alg:expert-prediction``)."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..carriers.lanes import LaneArrays
from ..kernels import ridge, selection
from ..types import Array, Index, Mask
from .experts import Bank, RidgeBank
from .joining import kept_and_new, log_sum, others


class Posterior(LaneArrays):
    r"""Weights of the models of a bank that know the noise: proportional to :math:`\pi_i e^{-L_i / (2 R^2)}`.

    :math:`L_i` is the Gaussian evidence :math:`J_i + R^2 \log\det(V_i \Lambda_i^{-1})`, or the online loss.

    Parameters
    ----------
    variance: R^2, ``(N,)``.  prior: :math:`\pi`, ``(M,)`` or ``(N, M)``.  online: which loss.

    Attributes
    ----------
    log_prior: :math:`\log \pi`, ``(N, M)``; and what models that came and went have left in it, see ``parts.joining``.
    """

    state: tuple[str, ...] = ("log_prior",)
    per_model: ClassVar[dict[str, int]] = {"log_prior": 1}
    fixed: tuple[str, ...] = ("variance",)
    handed: tuple[str, ...] = ("log_prior", "variance")

    def __init__(self, *, variance: Array, prior: Array, online: bool) -> None:
        self.variance = variance
        self.log_prior = np.array(np.broadcast_to(np.log(prior), (variance.size, prior.shape[-1])), order="C")
        self.online = online

    def weigh(self, ids: Index, bank: Bank) -> tuple[Array, Array]:
        r"""Return weights ``(n, M)``, and :math:`-2 R^2 \log \sum_i \pi_i e^{-L_i / (2 R^2)}`, ``(n,)``."""
        weights = np.empty((ids.size, self.log_prior.shape[1]))
        mixture = np.empty(ids.size)
        selection.posterior(ids, bank.evidence, self.log_prior, self.variance, self.online, weights, mixture)
        return weights, mixture

    def total(self, bank: Bank) -> Array:
        r"""Return :math:`\log \sum_i \pi_i e^{-L_i / (2 R^2)}`, ``(N,)``."""
        return self.weigh(np.arange(self.variance.size), bank)[1] / (-2.0 * self.variance)

    def join(self, bank: Bank, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the models when the last have come, with prior ``shares (k,)``, or some have gone: ``parts.joining``.

        ``total``: what it was before, ``(N,)``.  replayed: whether all rewards so far were replayed to the new ones.
        """
        twice, (kept, new) = 2.0 * self.variance, kept_and_new(self.log_prior.shape[1], shares.size)
        before = log_sum(self.log_weights(bank)[:, kept])
        self.log_prior[:, kept] += (total + np.log1p(-shares.sum()) - before)[:, None]
        self.log_prior[:, new] = np.log(shares)
        if new.size and not replayed:
            self._enter(bank, new, -twice * total)

    def _enter(self, bank: Bank, new: Index, loss: Array) -> None:
        """Let models begin with the mixture's ``loss (N,)`` in the place of their own."""
        bank.evidence[:, ridge.LOGDET, new] = 0.0
        bank.penalised[:, new] = bank.online[:, new] = loss[:, None]

    def rest(self, ids: Index, asleep: Index, bank: RidgeBank) -> Callable[[], None]:
        """Return what is to be called once these rows have learned a reward of which models ``asleep`` know nothing."""
        awake, put_back = others(asleep, self.log_prior.shape[1]), bank.rest(ids, asleep)
        before = log_sum(self.log_weights(bank, ids)[:, awake])

        def wake() -> None:
            put_back()
            after = log_sum(self.log_weights(bank, ids)[:, awake])
            loss = 2.0 * self.variance[ids] * (before - after)
            for row in (ridge.PENALISED, ridge.ONLINE):
                bank.evidence[ids[:, None], row, asleep] += loss[:, None]

        return wake

    def log_weights(self, bank: Bank, ids: Index | slice = slice(None)) -> Array:
        """Return the logarithms of the weights before they are normalised, ``(n, M)``."""
        logdet, penalised, online = np.moveaxis(bank.evidence[ids], 1, 0)
        variance = self.variance[ids, None]
        return self.log_prior[ids] - (online if self.online else penalised + variance * logdet) / (2.0 * variance)


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

    Departures from print: weights come from raw cumulative losses instead of a running product, so the range may grow;
    the prediction, which the paper leaves open within an interval, is the substitution above; ``y' = (y - beta) / l``
    where the paper prints ``a`` for beta; what overflows the range is clipped to it and counted.

    Parameters
    ----------
    lower, upper: the range, ``(N,)`` each.
    n_models: number of experts M.
    gamma: what a loss counts in the round after it, of what it counted.  share: alpha, in [0, 1).
    rate: multiplies :math:`\eta`; the guarantee is lost above 1.

    Attributes
    ----------
    loss: cumulative square losses, ``(N, M)``; with a share, those that the weights stand for.
    alive: admissible experts, ``(N, M)``.
    clipped: how many rewards overflowed the range, ``(N,)``.
    """

    state = ("loss", "alive", "lower", "upper", "clipped")
    natural = ("clipped",)
    per_model: ClassVar[dict[str, int]] = {"loss": 1, "alive": 1}

    def __init__(
        self, *, lower: Array, upper: Array, n_models: int, gamma: float = 1.0, share: float = 0.0, rate: float = 1.0
    ) -> None:
        self.gamma, self.rate = gamma, rate
        self.share = share if n_models > 1 else 0.0
        self.lower = np.array(lower, dtype=float)
        self.upper = np.array(upper, dtype=float)
        self.loss = np.zeros((self.lower.size, n_models))
        self.alive = np.ones((self.lower.size, n_models), dtype=bool)
        self.clipped = np.zeros(self.lower.size, dtype=np.int64)
        self.fallen = self._warned = False

    def widen(self, ids: Index, lower: Array, upper: Array) -> None:
        """Let the range of these lanes grow to cover ``[lower, upper]``; it never shrinks."""
        self.lower[ids] = np.minimum(self.lower[ids], lower)
        self.upper[ids] = np.maximum(self.upper[ids], upper)

    def weights(self, ids: Index, alive: Mask | None = None) -> Array:
        """Return the weights ``(n, M)`` over the admissible experts, or over those of ``alive (n, M)``."""
        out = np.empty((ids.size, self.loss.shape[1]))
        selection.exponential_weights(ids, self.loss, self._eta(ids), self.alive[ids] if alive is None else alive, out)
        return out

    def predict(self, ids: Index, f: Array, alive: Mask | None = None) -> Array:
        """Return the prediction ``(n, K)`` for experts' predictions ``f (n, M, K)``."""
        out = np.empty((ids.size, f.shape[2]))
        lower = self.lower[ids]
        selection.substitute(f, self.weights(ids, alive), lower, self.upper[ids] - lower, out)
        return out

    def update(self, ids: Index, f: Array, y: Array) -> None:
        """Charge the experts for their predictions ``f (n, M)`` of rewards ``y (n,)``. Lanes may not repeat."""
        lower, upper = self.lower[ids], self.upper[ids]
        inside = np.clip(y, lower, upper)
        self.clipped[ids] += inside != y
        self.loss[ids] += (np.clip(f, lower[:, None], upper[:, None]) - inside[:, None]) ** 2
        if self.gamma < 1.0:
            self.loss[ids] *= self.gamma
        if self.share > 0.0:
            selection.share_weights(ids, self._eta(ids), self.share, self.loss)

    def admit(self, ids: Index, excess: Array) -> Index:
        """Return which experts stay admissible, ``(n, M)``, if those with ``excess (n, M)`` above 0 fall.

        1 for those that do, 0 for the others. Where all would fall, the one that exceeds its bound least is kept: 2.
        """
        before = self.alive[ids]
        after = (before & (excess <= 0.0)).astype(np.int64)
        empty = np.flatnonzero(~after.any(axis=1))
        if empty.size:
            after[empty, np.where(before, excess, np.inf)[empty].argmin(axis=1)] = 2
        return after

    def drop(self, ids: Index, admitted: Index) -> None:
        """Drop the experts that ``admit`` did not admit, never the last one.

        Decisions that overlap may each have kept another expert; where they disagree entirely, none is dropped.
        """
        before = self.alive[ids]
        after = before & (admitted > 0)
        self.alive[ids] = np.where(after.any(axis=1, keepdims=True), after, before)
        self.fallen = self.fallen or bool((admitted == 2).any())

    def total(self) -> Array:
        r"""Return :math:`\log \frac1M \sum_i e^{-\eta L_i}` over the admissible experts, ``(N,)``."""
        ids = np.arange(len(self.loss))
        return log_sum(self._log_weights(ids)) - np.log(self.loss.shape[1])

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the experts when the last have come, or some have gone; as ``Posterior.join``, with equal shares.

        Where none is left that is admissible, all are.
        """
        (kept, new), eta = kept_and_new(self.loss.shape[1], shares.size), self._eta(np.arange(len(self.loss)))
        self.alive[~self.alive.any(axis=1)] = True
        before = log_sum(self._log_weights(np.arange(eta.size))[:, kept])
        with np.errstate(invalid="ignore"):
            shift = (total + np.log(kept.size) - before) / eta
        self.loss[:, kept] -= np.where(np.isfinite(shift), shift, 0.0)[:, None]
        if not replayed:
            self.loss[:, new] = (-total / eta)[:, None]

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called once these rows have learned a reward that experts ``asleep`` know nothing of."""
        awake, at = others(asleep, self.loss.shape[1]), np.ix_(ids, asleep)
        loss, before = self.loss[at], log_sum(self._log_weights(ids)[:, awake])

        def wake() -> None:
            with np.errstate(invalid="ignore"):
                grown = (before - log_sum(self._log_weights(ids)[:, awake])) / self._eta(ids)
            self.loss[at] = loss + np.where(np.isfinite(grown), grown, 0.0)[:, None]

        return wake

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
        return [
            "no expert predicts within its bound: the one that exceeds it least is kept. "
            "The bounds (noise, feature_bound, reward_bound, parameter_bound or radii) do not hold for these data."
        ]
