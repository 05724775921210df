"""Play an action the less, the further its prediction lies below the best: inverse gaps."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..kernels.features import ALL_OFFERED, Features
from ..runtime.errors import refuse
from ..types import Array, Index, Mask
from .play import Play
from .schedules import Power, Schedule, as_schedule

Rates = tuple[NDArray[Any], float, float]
"""The rates ``scale grown ** exponent`` of all lanes, as kernels read them: ``(grown (N,), scale, exponent)``."""


class InverseGaps(Play):
    r"""Plays predictions :math:`\hat y` by their gaps to the best.

    .. math:: p(a) = \frac{1}{\kappa + \alpha (\hat y(a') - \hat y(a))}, \quad a \ne a' = \arg\max \hat y
              \qquad (eq:dist\text{-}over\text{-}actions)

    with :math:`\kappa` the number of actions offered and the rest on :math:`a'` (shared equally among ties). The paper
    prints the gap with the opposite sign.

    Parameters
    ----------
    rate: returns alpha, see :class:`GapRate`.
    instead: the design that plays fewer actions, in words, for the warning that there are many.
    """

    asks: ClassVar = ("predict", "rounds")
    by_offer = False

    def __init__(self, rate: Callable[[Index, Array, int, Mask | None], Rates], instead: str = "") -> None:
        self.rate = rate
        self.instead = instead

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        score = model.predict_offered(ids, x, offered) if self.by_offer else model.predict(ids, x)
        rates = self.rate(ids, model.rounds, score.shape[1], offered)
        return inverse_gaps(ids, score, *rates, ALL_OFFERED if offered is None else offered)

    def warning(self, n_actions: int) -> str | None:
        """Return a warning where the rate is too low for this many actions."""
        if n_actions <= getattr(self.rate, "most_actions", math.inf):
            return None
        return (
            f"{n_actions} actions are played nearly uniformly: the best one, if all others earn a tenth of "
            "reward_range less, in less than half of the rounds even after 10,000 rewards. "
            f"Use {self.instead}, or a larger exploration, which plays the best more often."
        )


class OfferedGaps(InverseGaps):
    """Plays by inverse gaps predictions that depend on which actions are offered."""

    asks: ClassVar = ("predict_offered", "rounds")
    by_offer = True


@kernel
def inverse_gaps(ids: Index, score: Array, grown: NDArray[Any], scale: float, exponent: float, offered: Mask) -> Array:
    """Return the probabilities ``(n, K)`` of the play, at rates ``alpha = scale grown[n] ** exponent``."""
    p, everything = np.zeros(score.shape), offered.size < 2
    for r in range(score.shape[0]):
        alpha = scale * float(grown[ids[r]]) ** exponent
        best, kappa = -np.inf, 0
        for a in range(score.shape[1]):
            if everything or offered[r, a]:
                kappa += 1
                best = max(best, score[r, a])
        ties, spent = 0, 0.0
        for a in range(score.shape[1]):
            if everything or offered[r, a]:
                if score[r, a] == best:
                    ties += 1
                else:
                    p[r, a] = 1.0 / (kappa + alpha * (best - score[r, a]))
                    spent += p[r, a]
        for a in range(score.shape[1]):
            if (everything or offered[r, a]) and score[r, a] == best:
                p[r, a] = (1.0 - spent) / ties
    return p


class GapRate:
    """The rate ``schedule(t) / span`` after t rewards; a number c means the schedule ``c sqrt(t)``.

    Attributes
    ----------
    most_actions: of more actions than this, the best one, a tenth of the span above all others, is played in less than
        half of the rounds even after 10,000 rewards; infinite where the schedule is not a :class:`Power`.
    """

    def __init__(self, exploration: float | Schedule, span: float) -> None:
        self._schedule = power = as_schedule(exploration)
        self._span = span
        self._power = (power.scale / span, float(power.exponent)) if type(power) is Power else None
        self.most_actions = power(1e4) / 10.0 if type(power) is Power else math.inf

    def __call__(self, ids: Index, rounds: NDArray[Any], n_actions: int, offered: Mask | None) -> Rates:
        """Return the rates of these lanes, in which ``rounds (N,)`` rewards count."""
        if self._power is not None:
            return rounds, *self._power
        values = np.array([self._schedule(t) / self._span for t in rounds[ids].tolist()], dtype=float)
        if not (np.isfinite(values).all() and values.min() >= 0.0):
            raise refuse("exploration", self._schedule, "a schedule whose values are finite numbers >= 0")
        return as_rates(ids, values, rounds.size)


def as_rates(ids: Index, values: Array, lanes: int) -> Rates:
    """Return the rates ``values (n,)`` of these lanes as they are."""
    grown = np.zeros(lanes)
    grown[ids] = values
    return grown, 1.0, 1.0


def evaluated(ids: Index, rates: Rates) -> Array:
    """Return the rates of these lanes as numbers, ``(n,)``."""
    grown, scale, exponent = rates
    return np.asarray(scale * grown[ids].astype(float) ** exponent)
