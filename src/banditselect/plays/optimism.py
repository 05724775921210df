"""Play the action whose score is highest: an upper bound, or a prediction that is trusted."""

from typing import Any, ClassVar

import numpy as np

from ..kernels import kernel
from ..kernels.features import ALL_OFFERED, Features
from ..types import Array, Index, Mask
from .play import Play


class Best(Play):
    """Plays the action of highest prediction; ties share."""

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        return best(model.predict(ids, x), offered)


class Optimism(Play):
    """Plays the action whose reward could be highest in any confidence set of the model; ties share."""

    asks: ClassVar = ("upper_bounds",)

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        return best_actions(model.upper_bounds(ids, x), ALL_OFFERED if offered is None else offered)


def best(score: Array, offered: Mask | None) -> Array:
    """Return probabilities ``(n, K)`` with everything on the actions of highest score ``(n, K)``."""
    return best_actions(score, ALL_OFFERED if offered is None else offered)


@kernel
def best_actions(score: Array, offered: Mask) -> Array:
    """Put all probability on the actions of highest score; ``offered (1, 1)`` means that every action is offered."""
    p, everything = np.zeros(score.shape), offered.size < 2
    for r in range(score.shape[0]):
        top, ties = -np.inf, 0
        for a in range(score.shape[1]):
            if everything or offered[r, a]:
                if score[r, a] > top:
                    top, ties = score[r, a], 0
                ties += score[r, a] == top
        for a in range(score.shape[1]):
            if (everything or offered[r, a]) and score[r, a] == top:
                p[r, a] = 1.0 / ties
    return p
