"""A policy of our own: ``sweep.py`` imports this file."""

from typing import Any

import numpy as np

from banditselect.authoring import (
    Number,
    Play,
    Policy,
    Power,
    Rate,
    RidgeBank,
    argument,
    as_schedule,
    maps_of,
    register,
)


@register
class Softmax(Policy):
    """Plays action a with probability proportional to exp(rate_t * prediction of a), for one ridge regression."""

    dim: int = argument(Number(low=1, integer=True))
    rate: float | Power = argument(Rate(), default=1.0)

    def build(self, lanes: int) -> tuple[RidgeBank, Play]:
        """Return a ridge regression, played by the exponentials of its predictions."""
        return RidgeBank.of(maps_of(self.dim), lanes, np.ones((lanes, 1))), Exponentials(self.rate)


class Exponentials(Play):
    """Plays by the exponentials of predictions times a rate: a schedule of the rewards so far, or c for c sqrt(t)."""

    asks = ("predict", "rounds")

    def __init__(self, rate: float | Power) -> None:
        self.rate = as_schedule(rate)

    def probabilities(self, model: Any, ids: Any, x: Any, offered: Any, normals: Any = None) -> Any:
        """Return probabilities ``(n, K)``."""
        rate = np.array([self.rate(t) for t in model.rounds[ids].tolist()])
        scores = rate[:, None] * model.predict(ids, x)
        if offered is not None:
            scores = np.where(offered, scores, -np.inf)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)
