"""Confidence sets as values: OFUL's, the sequential likelihood-ratio sets, and the alarms for wrong assumptions.

The proofs are in ``docs/math.md``; every statement there holds for all rounds at once with probability 1 - delta.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..carriers.lanes import LaneArrays
from ..kernels import selection
from ..types import Array, Index
from .aggregation import Posterior
from .experts import Bank
from .joining import others


class Ellipsoid(LaneArrays):
    r"""OFUL's confidence ellipsoid around the ridge estimate of every model, each of level delta.

    .. math:: \beta_t = R \sqrt{\log\det(V_t \Lambda^{-1}) + 2 \log(1 / \delta)} + \sqrt\lambda S

    Reference: Abbasi-Yadkori, Pal, Szepesvari (2011), Theorem 2.

    Parameters
    ----------
    bank: M ridges per lane.  noise: R, ``(N,)``.  prior: the last term, ``(N, M)``.

    Attributes
    ----------
    constants: noise and priors, ``(N, 1 + M)``.
    squared_radii: beta^2 after the last update, ``(N, M)``.
    spent: the sum of 2 beta |phi|_{V^-1} over what was played, the least of any model, ``(N,)``: bounds the regret of
        whoever plays the action of highest least upper bound while all sets are valid.
    """

    state = ("squared_radii", "spent")
    fixed = ("constants",)
    handed = ("constants", "log_term", "squared_radii", "spent")

    def __init__(self, bank: Bank, *, noise: Array, prior: Array, delta: float) -> None:
        self.constants = np.column_stack([noise, prior])
        self.log_term = math.log(1.0 / delta)
        self.squared_radii = np.zeros(prior.shape)
        self.spent = np.zeros(noise.size)
        self.update(np.arange(noise.size), bank, np.zeros((2, *prior.shape)))

    def update(self, ids: Index, bank: Bank, before: Array) -> None:
        """Take the radii that belong to what the bank has learned; ``before``: what ``bank.learn`` returned."""
        selection.self_normalised(
            ids, bank.evidence, self.constants, self.log_term, before, self.squared_radii, self.spent
        )


class LikelihoodSets(Posterior):
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
    bank: M regressions per lane.
    noise: sub-Gaussian constants, ``(N,)``.
    penalty: :math:`r_i^2` in the units of :math:`\Lambda_i` (``regularization * radius ** 2`` for balls), ``(N, M)``.
    prior: weights, ``(M,)`` or ``(N, M)``.

    Attributes
    ----------
    squared_radii: rho_i^2 after the last update, ``(N, M)``; negative where the model is refuted.
    """

    state = ("squared_radii", "log_prior")
    per_model: ClassVar[dict[str, int]] = {"squared_radii": 1, "log_prior": 1}
    fixed = ("variance", "penalty", "noise")
    handed = ("log_prior", "variance", "penalty", "drift", "log_term", "online", "squared_radii", "noise")

    def __init__(
        self,
        bank: Bank,
        *,
        noise: Array,
        penalty: Array,
        prior: Array,
        delta: float,
        online: bool,
        misspecification: float,
    ) -> None:
        kappa = 0.5 if misspecification > 0.0 else 1.0
        super().__init__(variance=noise**2 / kappa, prior=prior, online=online)
        self.noise = noise
        self.penalty = penalty
        self.log_term = math.log(1.0 / delta)
        self.drift = misspecification**2 / (1.0 - kappa) if misspecification > 0.0 else 0.0
        self.squared_radii = np.empty(penalty.shape)
        self.update(np.arange(noise.size), bank)

    def update(self, ids: Index, bank: Bank) -> None:
        """Take the radii that belong to what the bank has learned."""
        selection.squared_radii(
            ids,
            bank.evidence,
            self.log_prior,
            self.variance,
            self.penalty,
            bank.updates,
            self.drift,
            self.log_term,
            self.online,
            self.squared_radii,
        )

    def join(self, bank: Bank, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the models when some have come or gone, and take the radii.

        J of a model that nothing was replayed to begins with the mixture's loss: its set holds the parameter if the
        model is true from then on. It does not begin higher above the penalty than the least of the others, so that
        the alarm stays right if at every time some model of the list was true.
        """
        super().join(bank, total, shares, replayed)
        self.update(np.arange(self.noise.size), bank)

    def _enter(self, bank: Bank, new: Index, loss: Array) -> None:
        super()._enter(bank, new, loss)
        kept = others(new, self.penalty.shape[1])
        least = (bank.penalised - self.penalty)[:, kept].min(axis=1)
        start = np.clip(least[:, None] + self.penalty[:, new], 0.0, np.maximum(loss, 0.0)[:, None])
        bank.penalised[:, new] = start
        if not self.online:
            self.log_prior[:, new] += (start - loss[:, None]) / (2.0 * self.variance[:, None])


def log_regularized_gamma(a: float, x: float) -> float:
    """Return the log of the regularised lower incomplete gamma function P(a, x), for x > 0."""
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1.0:  # series
        term = total = 1.0 / a
        k = a
        while term > total * 1e-16:
            k += 1.0
            term *= x / k
            total += term
        return front + math.log(total)
    b = x + 1.0 - a  # continued fraction of the upper function, by Lentz' method
    c = 1e300
    d = 1.0 / b
    h = d
    for k in range(1, 1_000_000):
        step = -k * (k - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        h *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return math.log1p(-math.exp(front + math.log(h)))


def log_variance_martingale(excess: float, t: int) -> float:
    r"""Return :math:`\log \int_0^1 s^{t/2} e^{(1-s) X / 2} ds` at X = ``excess``; an alarm is due at log(1 / delta).

    X is the least penalised sum of squares of any model, less its penalty, over R^2; under the assumptions it is at
    most :math:`\sum_s \eta_s^2 / R^2`, and the exponential of the value is then below a supermartingale started at 1.

    Examples
    --------
    >>> round(log_variance_martingale(150.0, 100), 8)
    3.28446947
    """
    if excess <= 0.0:
        return -math.log(t / 2.0 + 1.0)
    a = t / 2.0 + 1.0
    return excess / 2.0 + a * math.log(2.0 / excess) + math.lgamma(a) + log_regularized_gamma(a, excess / 2.0)


def log_variance_grid(excess: float, t: int, ratio: float) -> float:
    """Return the same for rewards within eps of a model, ``ratio`` = eps / R: an average over s = 1/20, ..., 19/20."""
    s = np.arange(1, 20) / 20.0
    terms = t / 2.0 * np.log(s) + (1.0 - s) * excess / 2.0 - t * (1.0 - s) * ratio**2 / (2.0 * s)
    return float(np.logaddexp.reduce(terms) - math.log(s.size))


class Alarm(LaneArrays):
    """Tells when no model can be true or the noise is larger than stated: two tests at level delta / 2, at every round.

    The variance test compares the least penalised sum of squares with what noise of constant R allows. The challenger
    test compares it with the loss of a forecaster that is bound to no model. ``selection.screen`` does both as far as
    that is cheap, in the kernel that learns; the rest is done here.

    Every lane has its own tests. A warning is of all N lanes together: it is due when the tests of some lane fire at
    level delta / (2 N), so that right models are warned of with probability delta at most, however many lanes it has.

    Attributes
    ----------
    raised: ``(N,)``; an alarm stays raised.
    """

    state = ("raised",)

    def __init__(self, *, lanes: int, delta: float, misspecification: float) -> None:
        self.raised = np.zeros(lanes, dtype=bool)
        self._sounded = False
        self.level = math.log(2.0 / delta)
        self.misspecification = misspecification

    def judge(self, ids: Index, verdict: Array, updates: Index, noise: Array) -> bool:
        """Raise the alarm where a test fires, by the verdicts of ``selection.screen``; tell whether to warn."""
        if self._sounded and self.raised[ids].all():
            return False
        fired = verdict[:, 0] == 2.0
        value = np.where(fired, verdict[:, 2], -np.inf)
        for r in np.flatnonzero((verdict[:, 0] == 1.0) & ~(self._sounded & self.raised[ids])):
            X, t = float(verdict[r, 1]), int(updates[ids[r]])
            if self.misspecification > 0.0:
                value[r] = log_variance_grid(X, t, self.misspecification / float(noise[ids[r]]))
            else:
                value[r] = log_variance_martingale(X, t)
            fired[r] = value[r] >= self.level
        return self.sound(ids, fired, fired & (value >= self.level + math.log(self.raised.size)))

    def sound(self, ids: Index, fired: NDArray[np.bool_], loud: NDArray[np.bool_]) -> bool:
        """Raise the alarm of the rows ``fired (n,)``; tell whether some ``loud (n,)`` one is the first of all."""
        first = bool(loud.any()) and not self._sounded
        self.raised[ids] |= fired
        self._sounded = self._sounded or first
        return first

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the alarms; where all are raised, they have sounded."""
        super().restore(arrays)
        self._sounded = bool(self.raised.all())


def chi_square_quantile(share: float, dim: int) -> float:
    """Return the quantile of the chi-square distribution with ``dim`` degrees of freedom, by bisection.

    Examples
    --------
    >>> round(chi_square_quantile(0.95, 1), 6)
    3.841459
    """
    low, high = 0.0, 1.0
    while log_regularized_gamma(dim / 2.0, high / 2.0) < math.log(share):
        low, high = high, 2.0 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2.0
        if log_regularized_gamma(dim / 2.0, middle / 2.0) < math.log(share):
            low = middle
        else:
            high = middle
        if middle in (low, high) and high - low <= 4e-16 * high:
            break
    return high
