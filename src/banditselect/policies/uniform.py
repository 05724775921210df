"""Uniform play: the floor that every learner must clear."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..kernels.features import Features
from ..models.model import Model
from ..plays.optimism import best
from ..plays.play import Play
from ..runtime.files import register
from ..runtime.shapes import AnyShape
from ..types import Array, Index, Mask
from .policy import Policy


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

    def build(self, lanes: int) -> tuple[Model, Play]:
        """Return a model that learns nothing, played evenly."""
        model = Model(AnyShape())
        model.reads_lookups = True
        return model, Evenly()


class Evenly(Play):
    """Plays every action offered with the same probability."""

    asks: ClassVar = ()

    def probabilities(
        self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Array | None = None
    ) -> Array:
        """Return probabilities ``(n, K)``."""
        return best(np.zeros((ids.size, x.values.shape[2])), offered)
