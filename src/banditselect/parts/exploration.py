"""From a score per action to probabilities: inverse gap weighting, optimism; and the schedules of the former."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..carriers.validation import refuse
from ..kernels import acting
from ..types import Array, Index, Mask
from .experts import Bank


def _check(owner: str, name: str, value: Any, low: float, high: float = math.inf) -> None:
    if hasattr(value, "resolve"):  # given.<constant>: checked when it is known
        return
    number = value if isinstance(value, int | float | np.number) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and low <= number <= high):
        limits = f"a finite number >= {low:g}" if high == math.inf else f"a number in [{low:g}, {high:g}]"
        raise ValueError(f"{owner}: {name}={value!r}: expected {limits}")


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


@dataclass(frozen=True)
class LatentReference:
    r"""The reference of regret balancing over UCB and the greedy policies of M latent models (paper, App. E).

    .. math:: U(n) = \min(\varepsilon n, s \sqrt{K n}) + s \sqrt n

    where :math:`\varepsilon` is the ``error`` of the models, K = ``n_arms``, and s = ``scale`` the size of the noise,
    for which the paper writes 1. ``given.<constant>`` may stand for a number.

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
"""The schedules that a file can hold, by the name that they have in it; every field is a number."""

Schedule = Callable[[float], float]


def as_schedule(value: float | Schedule) -> Schedule:
    """Return a number c as the schedule ``c sqrt(t)``, anything callable as it is."""
    return value if callable(value) else Power(float(value), 0.5)


def rates(schedule: Schedule, ids: Index, updates: Index, span: float) -> Array:
    """Return ``schedule(t) / span`` at the counts of updates ``(N,)`` of these lanes, ``(n,)``."""
    out = np.empty(ids.size)
    if isinstance(schedule, Power):
        acting.power_rates(ids, updates, schedule.scale / span, schedule.exponent, out)
    else:
        out[:] = [schedule(t) / span for t in updates[ids].tolist()]
        if not (np.isfinite(out).all() and out.min() >= 0.0):
            raise refuse("exploration", schedule, "a schedule whose values are finite numbers >= 0")
    return out


def inverse_gap_weighting(score: Array, alpha: Array, offered: Mask) -> Array:
    r"""Return probabilities ``(n, K)`` from predicted rewards ``(n, K)`` and learning rates ``alpha (n,)``.

    .. math:: p(a) = \frac{1}{\kappa + \alpha (\hat y(a') - \hat y(a))}, \quad a \ne a' = \arg\max \hat y
              \qquad (eq:dist\text{-}over\text{-}actions)

    with :math:`\kappa` the number of actions offered and the rest on :math:`a'` (shared equally among ties). The paper
    prints the gap with the opposite sign.
    """
    p = np.empty_like(score)
    acting.inverse_gaps(score, alpha, offered, p)
    return p


def greedy(score: Array, offered: Mask) -> Array:
    """Return probabilities ``(n, K)`` with everything on the actions of highest score ``(n, K)``."""
    p = np.empty_like(score)
    acting.best_actions(score, offered, p)
    return p


def optimism(ids: Index, x: Array, bank: Bank, squared_radii: Array, scale: float, offered: Mask) -> Array:
    r"""Return probabilities ``(n, K)`` with everything on the actions that could be best.

    .. math:: \arg\max_a \max_i \langle \phi_i(a), \hat\theta_i \rangle + s \rho_i |\phi_i(a)|_{V_i^{-1}}

    over the models of the bank with :math:`\rho_i^2 \ge 0` (``squared_radii (N, M)``), s being the ``scale``.
    """
    return greedy(bank.upper_bounds(ids, x, squared_radii, scale), offered)
