"""Thompson sampling: draw a member and a parameter from the posterior, play greedily."""

from typing import Any, ClassVar

from ..kernels.features import Features
from ..types import Array, Index, Mask
from .optimism import best
from .play import Play


class Sampling(Play):
    """Draws a member and its parameter from the beliefs of the model, and plays greedily for them."""

    asks: ClassVar = ("sampled", "n_normals")
    closed_form: ClassVar = False

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``, all on the best action of the draw."""
        return best(model.sampled(ids, x, normals), offered)

    def n_normals(self, model: Any) -> int:
        """Return how many standard normals a row needs."""
        return int(model.n_normals)
