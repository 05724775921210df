"""From a score per action to probabilities: inverse gap weighting, the best; and the schedules of the former."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..carriers.persistence import register
from ..carriers.validation import refuse
from ..kernels import acting, design
from ..types import Array, Index, Mask


def _check(owner: str, name: str, value: Any, low: float, high: float = math.inf) -> None:
    if hasattr(value, "resolve"):  # given.<constant>: checked when it is known
        return
    number = value if isinstance(value, int | float | np.number) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and low <= number <= high):
        limits = f"a finite number >= {low:g}" if high == math.inf else f"a number in [{low:g}, {high:g}]"
        raise ValueError(f"{owner}: {name}={value!r}: expected {limits}")


@register
@dataclass(frozen=True)
class Power:
    """The schedule ``scale * t ** exponent`` of the number t of completed updates.

    Where policies are bound, ``given.<constant>`` may stand for a number.

    Examples
    --------
    >>> Power(10.0, 0.5)(4)
    20.0
    """

    scale: float
    exponent: float = 0.5

    def __post_init__(self) -> None:
        _check("Power", "scale", self.scale, 0.0)
        _check("Power", "exponent", self.exponent, 0.0, 4.0)

    def __call__(self, t: float) -> float:
        """Return the value after ``t`` updates."""
        return float(self.scale * t**self.exponent)

    def times(self, factor: float) -> "Power":
        """Return the schedule for rewards that are ``factor`` times as large."""
        return Power(factor * self.scale, self.exponent)


@register
@dataclass(frozen=True)
class LatentReference:
    r"""The reference of regret balancing over UCB and the greedy policies of M latent models (paper, App. E).

    .. math:: U(n) = \min(\varepsilon n, s \sqrt{K n}) + s \sqrt n

    where :math:`\varepsilon` is the ``error`` of the models, K = ``n_arms``, and s = ``scale`` the size of the noise,
    for which the paper writes 1. ``given.<constant>`` may stand for a number. It is the reference as printed: a greedy
    policy may lose :math:`2 \varepsilon` a round, and the regret of UCB has a logarithm (``docs/paper.md``).

    Examples
    --------
    >>> LatentReference(error=0.1, n_arms=9)(100)
    20.0
    """

    error: float
    n_arms: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        _check("LatentReference", "error", self.error, 0.0)
        _check("LatentReference", "n_arms", self.n_arms, 1.0)
        _check("LatentReference", "scale", self.scale, 0.0)

    def __call__(self, n: float) -> float:
        """Return the bound after ``n`` rounds."""
        return float(min(self.error * n, self.scale * math.sqrt(self.n_arms * n)) + self.scale * math.sqrt(n))

    def times(self, factor: float) -> "LatentReference":
        """Return the reference for rewards that are ``factor`` times as large."""
        return LatentReference(factor * self.error, self.n_arms, factor * self.scale)


SCHEDULES: dict[str, type[Power | LatentReference]] = {"power": Power, "latent_reference": LatentReference}
"""The schedules that a sweep file can name; every field is a number."""

Schedule = Callable[[float], float]


def as_schedule(value: float | Schedule) -> Schedule:
    """Return a number c as the schedule ``c sqrt(t)``, anything callable as it is."""
    return value if callable(value) else Power(float(value), 0.5)


Rates = tuple[NDArray[Any], float, float]
"""Rates ``scale g ** exponent`` of lanes, as kernels take them: g ``(N,)``, the scale, the exponent."""


class Scheduled:
    """The rate ``schedule(t) / span`` after t rewards; a number c stands for the schedule ``c sqrt(t)``.

    Attributes
    ----------
    crowd: of more actions than this, the best one, a tenth of the span above all others, is played in less than half of
        the rounds even after 10,000 rewards; infinite where the schedule is not a :class:`Power`.
    """

    def __init__(self, exploration: float | Schedule, span: float) -> None:
        self._schedule = as_schedule(exploration)
        self._span = span
        power = self._schedule
        self._power = (power.scale / span, float(power.exponent)) if type(power) is Power else None
        self.crowd = power(1e4) / 10.0 if type(power) is Power else math.inf

    def __call__(self, ids: Index, updates: NDArray[Any], n_actions: int, offered: Mask | None) -> Rates:
        """Return the rates of these lanes, which have learned ``updates (N,)`` rewards."""
        if self._power is not None:
            return updates, *self._power
        values = np.array([self._schedule(t) / self._span for t in updates[ids].tolist()], dtype=float)
        if not (np.isfinite(values).all() and values.min() >= 0.0):
            raise refuse("exploration", self._schedule, "a schedule whose values are finite numbers >= 0")
        return as_rates(ids, values, updates.size)


def as_rates(ids: Index, values: Array, lanes: int) -> Rates:
    """Return the rates ``values (n,)`` of these lanes as they are."""
    grown = np.zeros(lanes)
    grown[ids] = values
    return grown, 1.0, 1.0


def evaluated(ids: Index, rates: Rates) -> Array:
    """Return the rates of these lanes as numbers, ``(n,)``."""
    out = np.empty(ids.size)
    acting.rates(ids, *rates, out)
    return out


def inverse_gap_weighting(score: Array, alpha: Array, offered: Mask | None) -> Array:
    r"""Return probabilities ``(n, K)`` from predicted rewards ``(n, K)`` and learning rates ``alpha (n,)``.

    .. math:: p(a) = \frac{1}{\kappa + \alpha (\hat y(a') - \hat y(a))}, \quad a \ne a' = \arg\max \hat y
              \qquad (eq:dist\text{-}over\text{-}actions)

    with :math:`\kappa` the number of actions offered and the rest on :math:`a'` (shared equally among ties). The paper
    prints the gap with the opposite sign.
    """
    p = np.empty_like(score)
    acting.inverse_gaps(score, alpha, acting.mask_of(offered), p)
    return p


def optimal_gap_weighting(x: Array, score: Array, alpha: Array, offered: Mask | None) -> Array:
    r"""Return probabilities ``(n, K)`` of inverse gaps by optimal design, from features ``x (n, K, D)``.

    .. math:: p(a) = \frac{s q(a)}{s + \alpha (\hat y(a') - \hat y(a))}

    with the rest on :math:`a' = \arg\max \hat y` (shared equally among ties), s the rank of the features and q a nearly
    optimal design of those divided by the root of :math:`s + \alpha (\hat y(a') - \hat y(a))` (``kernels.design``).
    """
    p = np.empty_like(score)
    design.optimal_gaps(x, score, alpha, acting.mask_of(offered), p)
    return p


def greedy(score: Array, offered: Mask | None) -> Array:
    """Return probabilities ``(n, K)`` with everything on the actions of highest score ``(n, K)``."""
    p = np.empty_like(score)
    acting.best_actions(score, acting.mask_of(offered), p)
    return p
