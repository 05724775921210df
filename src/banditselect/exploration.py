"""From a score per action to probabilities: inverse gap weighting, optimism; and the schedules of the former."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .experts import Bank
from .kernels import acting
from .validation import refuse

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Power:
    """The schedule ``scale * t ** exponent`` of the number t of completed updates.

    Examples
    --------
    >>> Power(10.0, 0.5)(4)
    20.0
    """

    scale: float
    exponent: float = 0.5

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale >= 0.0):
            raise ValueError(f"Power: scale={self.scale!r}: expected a finite number >= 0")
        if not (math.isfinite(self.exponent) and 0.0 <= self.exponent <= 4.0):
            raise ValueError(f"Power: exponent={self.exponent!r}: expected a number in [0, 4]")

    def __call__(self, t: float) -> float:
        """Return the value after ``t`` updates."""
        return float(self.scale * t**self.exponent)


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
    p = np.empty((ids.size, x.shape[2]))
    acting.optimistic(ids, x, bank.theta, bank.root, bank.group, squared_radii, scale, offered, p)
    return p
