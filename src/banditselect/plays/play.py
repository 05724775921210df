"""The contract of a play: how to act on a model."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ..kernels.features import Features
from ..types import Array, Index, Mask


class Play(ABC):
    """From features and a model to probabilities. Changes nothing and draws nothing.

    Attributes
    ----------
    asks: the questions that the model must answer, names of its methods or attributes.
    closed_form: whether the probabilities are those of the actions; False where they depend on random ``normals``, so
        that a decision carries no propensity.
    """

    asks: ClassVar[tuple[str, ...]] = ("predict",)
    closed_form: ClassVar[bool] = True

    @abstractmethod
    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``: rows of sum 1, 0 where an action is not offered. Rows may share a lane."""

    def n_normals(self, model: Any) -> int:
        """Return how many standard normals a row needs."""
        return 0

    def warning(self, n_actions: int) -> str | None:
        """Return a warning to give once for this many actions, or None."""
        return None
