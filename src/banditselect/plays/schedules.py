"""Schedules: rates and references as functions of the number of completed updates, which can be saved and rescaled."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..runtime.constraints import Number
from ..runtime.files import register

Schedule = Callable[[float], float]


@register
@dataclass(frozen=True)
class Power:
    """The schedule ``scale * t ** exponent`` of the number t of completed updates.

    Where policies are bound, a number may be ``given.<constant>``.

    Examples
    --------
    >>> Power(10.0, 0.5)(4)
    20.0
    """

    scale: float
    exponent: float = 0.5

    def __post_init__(self) -> None:
        _check(self, scale=Number(low=0.0), exponent=Number(low=0.0, high=4.0))

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
    for which the paper writes 1. A number may be ``given.<constant>``. It is the reference as printed: a greedy
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
        _check(self, error=Number(low=0.0), n_arms=Number(low=1.0), scale=Number(low=0.0))

    def __call__(self, n: float) -> float:
        """Return the bound after ``n`` rounds."""
        return float(min(self.error * n, self.scale * math.sqrt(self.n_arms * n)) + self.scale * math.sqrt(n))

    def times(self, factor: float) -> "LatentReference":
        """Return the reference for rewards that are ``factor`` times as large."""
        return LatentReference(factor * self.error, self.n_arms, factor * self.scale)


SCHEDULES: tuple[type[Power | LatentReference], ...] = (Power, LatentReference)
"""The schedules of this package; every field is a number."""


def as_schedule(value: float | Schedule) -> Schedule:
    """Return a number c as the schedule ``c sqrt(t)``, anything callable as it is."""
    return value if callable(value) else Power(float(value), 0.5)


def _check(schedule: Power | LatentReference, **constraints: Number) -> None:
    """Refuse numbers that a schedule cannot have; ``given.<constant>`` is checked when it is known."""
    for name, constraint in constraints.items():
        if not hasattr(value := getattr(schedule, name), "resolve"):
            constraint.check(f"{type(schedule).__name__}: {name}", value, None)
