"""Uniform play: the floor that every learner must clear."""

import numpy as np

from ..carriers.persistence import register
from ..carriers.shapes import AnyShape, FeatureShape
from ..carriers.streams import Seed
from ..parts.exploration import greedy
from ..types import Array, Index, Mask
from .base import Policy


@register
class Uniform(Policy):
    """Plays every action offered with the same probability and learns nothing.

    Takes the features of any other policy, of which it uses only how many actions there are.

    Examples
    --------
    >>> import numpy as np
    >>> Uniform().probabilities(np.ones((4, 2)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    _looks_up = True

    def __init__(self, *, lanes: int | None = None, seed: Seed = 0) -> None:
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return AnyShape()

    def _begin(self, lanes: int) -> None:
        pass

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return greedy(np.zeros((ids.size, x.shape[2])), offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        pass
