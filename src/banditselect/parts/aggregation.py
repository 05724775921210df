"""SqAlg: aggregates the experts' predictions (paper, Alg. ``alg:expert-prediction``)."""

import numpy as np

from ..carriers.lanes import LaneArrays
from ..kernels import selection
from ..types import Array, Index, Mask
from .experts import Bank


class Posterior(LaneArrays):
    r"""Weights of the models of a bank that know the noise: proportional to :math:`\pi_i e^{-L_i / (2 R^2)}`.

    :math:`L_i` is the Gaussian evidence :math:`J_i + R^2 \log\det(V_i \Lambda_i^{-1})`, or the online loss.

    Parameters
    ----------
    variance: R^2, ``(N,)``.  prior: :math:`\pi`, ``(M,)`` or ``(N, M)``.  online: which loss.
    """

    fixed: tuple[str, ...] = ("variance", "log_prior")
    handed: tuple[str, ...] = ("log_prior", "variance")

    def __init__(self, *, variance: Array, prior: Array, online: bool) -> None:
        self.variance = variance
        self.log_prior = np.array(np.broadcast_to(np.log(prior), (variance.size, prior.shape[-1])))
        self.online = online

    def weigh(self, ids: Index, bank: Bank) -> tuple[Array, Array]:
        r"""Return weights ``(n, M)``, and :math:`-2 R^2 \log \sum_i \pi_i e^{-L_i / (2 R^2)}`, ``(n,)``."""
        weights = np.empty((ids.size, self.log_prior.shape[1]))
        mixture = np.empty(ids.size)
        selection.posterior(ids, bank.evidence, self.log_prior, self.variance, self.online, weights, mixture)
        return weights, mixture


class SqAlg(LaneArrays):
    r"""Exponential weights on square loss with Vovk's substitution, for a range that is known and may grow.

    With :math:`[\beta, \beta + \ell]` the range, :math:`L_i` the cumulative square loss of expert i and
    :math:`\eta = 2 / \ell^2`, the weights are proportional to :math:`e^{-\eta L_i}` over the admissible experts, and

    .. math:: \hat y = \beta + \ell \left(\tfrac12 + \tfrac12 (\Delta(0) - \Delta(1))\right), \quad
              \Delta(y) = -\tfrac12 \log \sum_i v_i e^{-2 (y - h_i)^2}, \quad h_i = (f_i - \beta) / \ell .

    Guarantee: with rewards and predictions in the range, :math:`\sum (\hat y - y)^2 \le \min_i L_i + (\ell^2 / 2)
    \log M` on every sequence, also for a range that grows and for experts removed on the way (``docs/math.md``).

    Departures from print: weights come from raw cumulative losses instead of a running product, so the range may grow;
    the prediction, which the paper leaves open within an interval, is the substitution above; ``y' = (y - beta) / l``
    where the paper prints ``a`` for beta; what overflows the range is clipped to it and counted.

    Parameters
    ----------
    lower, upper: the range, ``(N,)`` each.
    n_models: number of experts M.

    Attributes
    ----------
    loss: cumulative square losses, ``(N, M)``.  alive: admissible experts, ``(N, M)``.
    clipped: how many rewards overflowed the range, ``(N,)``.
    """

    state = ("loss", "alive", "lower", "upper", "clipped")
    natural = ("clipped",)

    def __init__(self, *, lower: Array, upper: Array, n_models: int) -> None:
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
        length = self.upper[ids] - self.lower[ids]
        selection.exponential_weights(ids, self.loss, 2.0 / length**2, self.alive[ids] if alive is None else alive, out)
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

    def warnings(self) -> list[str]:
        """Return a warning, once, if all experts of some lane would have fallen."""
        if not self.fallen or self._warned:
            return []
        self._warned = True
        return [
            "no expert predicts within its bound: the one that exceeds it least is kept. "
            "The bounds (noise, feature_bound, reward_bound, parameter_bound or radii) do not hold for these data."
        ]
