"""What a policy plays against: a problem draws instances, one per lane."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Instances(ABC):
    """Instances of a problem, one per lane, with all their randomness drawn: whoever plays them meets the same.

    Attributes
    ----------
    constants: what a policy may be given with ``given.<name>``: numbers or arrays ``(N, ...)``.
    """

    constants: dict[str, Any]

    @abstractmethod
    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, M, K, d)`` or ``(N, K, d)``."""

    @abstractmethod
    def means(self, t: int) -> Array:
        """Return the mean reward of every action of round ``t``, ``(N, K)``."""

    @abstractmethod
    def rewards(self, t: int, action: Index) -> Array:
        """Return the rewards of the actions played in round ``t``, ``(N,)``."""


class Problem(ABC):
    """A distribution of instances."""

    @property
    @abstractmethod
    def shapes(self) -> dict[str, Any]:
        """The arguments of a policy that follow from the features: ``dim``, ``n_models``."""

    @abstractmethod
    def draw(self, lanes: range, rounds: int, seed: int) -> Instances:
        """Draw one instance per lane; the instance of a lane depends on ``seed`` and the lane's number only."""

    @abstractmethod
    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
