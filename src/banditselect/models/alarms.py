"""Tests that no model explains the rewards, or that the noise is larger than stated.

The proofs are in ``docs/math.md``; they hold for all rounds at once.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import inlined
from ..kernels.weights import largest
from ..runtime.lanes import LaneArrays
from ..runtime.quantiles import log_regularized_gamma
from ..types import Array, Index


class Alarm(LaneArrays):
    """An alarm for each lane that no model can be true or the noise is larger than stated: two tests at every round.

    The variance test compares the least penalised sum of squares with the most that noise of constant R allows. The
    challenger test compares it with the loss of a forecaster that is bound to no model. Each has level delta / 2.
    ``screen`` does the cheap part of both in the kernel that learns; the rest is done here.

    A warning is about all N lanes together: it is due when the tests of some lane fire at level delta / (2 N), so that
    right models cause one with probability delta at most, for any number of lanes.

    Attributes
    ----------
    raised: ``(N,)``; an alarm stays raised.  level: the logarithm of one over the level of each test.
    """

    state = ("raised",)

    def __init__(self, lanes: int, delta: float, misspecification: float = 0.0) -> None:
        self.raised = np.zeros(lanes, dtype=bool)
        self._warned = False
        self.level = math.log(2.0 / delta)
        self.misspecification = misspecification

    def judge(self, ids: Index, verdict: Array, updates: Index, noise: Array) -> bool:
        """Raise the alarm where a test fires, by the verdicts of ``screen``; return whether to warn."""
        if self._warned and self.raised[ids].all():
            return False
        fired = verdict[:, 0] == 2.0
        value = np.where(fired, verdict[:, 2], -np.inf)
        for r in np.flatnonzero((verdict[:, 0] == 1.0) & ~(self._warned & self.raised[ids])):
            X, t = float(verdict[r, 1]), int(updates[ids[r]])
            ratio = self.misspecification / float(noise[ids[r]])
            value[r] = log_variance_grid(X, t, ratio) if ratio > 0.0 else log_variance_martingale(X, t)
            fired[r] = value[r] >= self.level
        return self.raise_for(ids, fired, fired & (value >= self.level + math.log(self.raised.size)))

    def raise_for(self, ids: Index, fired: NDArray[np.bool_], certain: NDArray[np.bool_]) -> bool:
        """Raise the alarm of the rows ``fired (n,)``; return whether some ``certain (n,)`` one is the first of all."""
        first = bool(certain.any()) and not self._warned
        self.raised[ids] |= fired
        self._warned = self._warned or first
        return first

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the alarms; where all are raised, the warning has been given."""
        super().restore(arrays)
        self._warned = bool(self.raised.all())


@inlined
def screen(ids: Index, evidence: Array, updates: Index, challenger: Array, sets: Any, level: float) -> Array:
    """Do the cheap part of both tests for ``sets`` of ``models.likelihood``; return verdicts, none if all are 0.

    Verdicts ``(n, 3)``: 2 where the challenger test fires, 1 where the variance test may fire, else 0; ``X = max(0,
    min_i (J_i - penalty_i)) / R^2``; and the value of the challenger test, which fires above the level. The variance
    test can only fire where the largest value of its integrand, ``(t / X)^(t / 2) e^((X - t) / 2)``, reaches the level.
    """
    _, variance, _, penalty, noise, _, drift, _ = sets
    verdict, slack = np.empty((ids.size, 3)), np.empty(evidence.shape[2])
    for r in range(ids.size):
        n = ids[r]
        for i in range(slack.size):
            slack[i] = penalty[n, i] - evidence[n, 1, i]
        least = -largest(slack)
        t = float(updates[n])
        X = max(least, 0.0) / (noise[n] * noise[n])
        verdict[r, 0] = 0.0
        verdict[r, 1] = X
        verdict[r, 2] = (least - challenger[r] - drift * t) / (2.0 * variance[n])
        if least > challenger[r] + 2.0 * variance[n] * level + drift * t:
            verdict[r, 0] = 2.0
        elif t < X and 0.5 * (t * math.log(t / X) + X - t) >= level:
            verdict[r, 0] = 1.0
    return verdict if verdict[:, 0].any() else verdict[:0]


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
