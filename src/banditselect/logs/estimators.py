"""Estimates of the reward of a policy from sums over decisions, which are added block by block and not kept."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ..runtime import errors
from ..types import Array

TOLERANCE = 1e-6  #: how far probabilities may be from summing to 1


@dataclass(frozen=True)
class Estimate:
    """An estimate and its confidence interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Estimates:
    """The estimates that :func:`evaluate` returns.

    Attributes
    ----------
    ips, snips, dr: the mean reward that the policy would have earned, by three estimators.
    mean_reward: what was earned in the log.
    n: decisions in the log.
    effective_sample_size: how many decisions of weight 1 would estimate as precisely, (sum w)^2 / sum w^2.
    mean_weight, largest_weight: of the importance weights as they were used; the mean is 1 but for chance.
    """

    ips: Estimate
    snips: Estimate
    dr: Estimate
    mean_reward: float
    n: int
    effective_sample_size: float
    mean_weight: float
    largest_weight: float

    def __str__(self) -> str:
        return (
            f"ips    {self.ips}\nsnips  {self.snips}\ndr     {self.dr}\n"
            f"logged {self.mean_reward:.4g}; {self.n} decisions, effective {self.effective_sample_size:.1f}; "
            f"weights: mean {self.mean_weight:.3f}, largest {self.largest_weight:.3g}"
        )


class RunningMoments:
    """Means and standard errors of several quantities, from blocks of them that are not kept (Chan, Golub, LeVeque).

    Attributes
    ----------
    n: how many were added.  mean: ``(k,)``.
    """

    def __init__(self, width: int) -> None:
        self.n, self.mean, self._squares = 0, np.zeros(width), np.zeros(width)

    def add(self, block: Array) -> None:
        """Add values ``(m, k)``."""
        m, middle = len(block), block.mean(axis=0)
        apart, total = middle - self.mean, self.n + m
        self._squares += ((block - middle) ** 2).sum(axis=0) + apart**2 * (self.n * m / total)
        self.mean += apart * (m / total)
        self.n = total

    @property
    def spread(self) -> Array:
        """The standard deviations of the values, ``(k,)``."""
        return np.sqrt(self._squares / self.n)

    @property
    def error(self) -> Array:
        """The standard errors of the means, ``(k,)``."""
        return np.sqrt(self._squares / (self.n * (self.n - 1)))

    def interval(self, k: int, z: float) -> Estimate:
        """Return a mean and its interval, z standard errors to each side."""
        middle, deviation = float(self.mean[k]), float(self.error[k])
        return Estimate(middle, middle - z * deviation, middle + z * deviation)


class ImportanceSums:
    """Sums of weights w, rewards y and doubly robust terms v of decisions, for the three estimators.

    Parameters
    ----------
    clip: weights above it count as ``clip``; None for none.
    """

    def __init__(self, clip: float | None) -> None:
        self._clip, self._first, self._largest = clip, math.nan, 0.0
        self._sums = RunningMoments(5)  # w y, v, w, w as it was, y
        self._moments = np.zeros(4)  # of w: w^2, w z, w^2 z, w^2 z^2, where z is y less the first reward

    @property
    def n(self) -> int:
        """Number of decisions added."""
        return self._sums.n

    def add(self, w: Array, y: Array, direct: Array, rest: Array) -> None:
        """Add decisions, ``(m,)`` each; ``direct``: the policy's reward by the model, ``rest``: the model's error."""
        used = w if self._clip is None else np.minimum(w, self._clip)
        if not self._sums.n:
            self._first = float(y[0])
        self._sums.add(np.column_stack([used * y, direct + used * rest, used, w, y]))
        z = y - self._first
        self._moments += [used @ used, used @ z, (used * used) @ z, (used * used) @ (z * z)]
        self._largest = max(self._largest, float(used.max()))

    def estimates(self, delta: float) -> Estimates:
        """Return the estimates; warn where the weights cannot be those of exact propensities and full support."""
        tally, n = self._sums, self._sums.n
        self._warn_if_weights_off()
        z = NormalDist().inv_cdf(1.0 - 0.5 * delta)
        total, (squares, first, second, third) = float(tally.mean[2]) * n, self._moments.tolist()
        middle = first / total if total else math.nan
        spread = third - 2.0 * middle * second + middle**2 * squares
        deviation = math.sqrt(n / (n - 1) * max(spread, 0.0)) / total if total else math.nan
        normalised = self._first + middle
        return Estimates(
            ips=tally.interval(0, z),
            snips=Estimate(normalised, normalised - z * deviation, normalised + z * deviation),
            dr=tally.interval(1, z),
            mean_reward=float(tally.mean[4]),
            n=n,
            effective_sample_size=total**2 / squares if total else 0.0,
            mean_weight=total / n,
            largest_weight=self._largest,
        )

    def _warn_if_weights_off(self) -> None:
        mean, error = float(self._sums.mean[3]), float(self._sums.error[3])
        if abs(mean - 1.0) > 5.0 * error + TOLERANCE:
            errors.warn(
                f"evaluate: the importance weights have mean {mean:.3g}, more than 5 standard errors ({error:.2g}) "
                "from 1: the propensities are not those of the draws, the policy plays what could not be logged, or "
                "too few decisions of the log are ones that it would make. The estimates cannot be trusted."
            )
