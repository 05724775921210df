"""A policy of our own: ``sweep.toml`` imports this file."""

from typing import Any, ClassVar

import numpy as np

from banditselect import Policy, Power, register
from banditselect.carriers.shapes import ExactShape
from banditselect.carriers.validation import Constraint, Number, Rate
from banditselect.parts.experts import RidgeBank
from banditselect.parts.exploration import as_schedule


@register
class Softmax(Policy):
    """Plays action a with probability proportional to exp(rate_t * prediction of a), for one ridge regression."""

    constraints: ClassVar[dict[str, Constraint]] = {"dim": Number(low=1, integer=True), "rate": Rate()}

    def __init__(self, *, dim: int, rate: float | Power = 1.0, lanes: int | None = None, seed: Any = 0) -> None:
        self.dim = dim
        self.rate = rate
        super().__init__(lanes, seed)

    def _shape(self) -> ExactShape:
        return ExactShape((self.dim,), many=False)

    def _begin(self, lanes: int) -> None:
        self._bank = RidgeBank(lanes=lanes, dims=np.array([self.dim]), regularization=np.ones((lanes, 1)))

    def _distribution(self, ids: Any, x: Any, offered: Any) -> tuple[Any, None]:
        rate = np.array([as_schedule(self.rate)(t) for t in np.atleast_1d(self.rounds)[ids]])
        scores = rate[:, None] * self._bank.predict(ids, x)[:, 0]
        if offered is not None:
            scores = np.where(offered, scores, -np.inf)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True), None

    def _absorb(self, ids: Any, x: Any, action: Any, y: Any, memo: Any) -> None:
        self._bank.learn(ids, x, y)
