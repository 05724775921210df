"""The door of a policy: features come in here, are looked at, and leave in the one form that kernels read.

Most calls bring what the call before brought: an array of the same shape, the decision that was just handed out. Such a
call is recognised by that, and what has been found out is not found out twice; what can differ is always looked at.
"""

from typing import Any

import numpy as np

from ..kernels.features import Lookup
from ..types import Array, Index
from .shapes import FeatureShape, laid_out
from .validation import FLOAT


class Door:
    """Checks features of ``shape`` for a policy with N ``lanes``, or without any.

    Whether the numbers are finite is left to whoever reads them first.
    """

    def __init__(self, shape: FeatureShape, lanes: bool) -> None:
        self.shape = shape
        self._lanes = lanes
        self._array: tuple[int, ...] | None = None  # the shape of the array that was accepted last,
        self._axes: tuple[Any, ...] = ()  # and what brings it to four axes
        self._maps: list[tuple[int, ...]] | None = None  # the shapes of the list of maps that was accepted last,
        self._widths: Index = np.empty(0, dtype=np.int64)  # how wide they are,
        self._alike = False  # and whether all are as wide, so that they can stand one after another
        self._played: Array | None = None  # what was played last,
        self._handed: Any = None  # and what of it the decision carries

    def actions(self, features: Any, n: int) -> Array:
        """Return the features of all actions that n rows are offered: ``(n, P, K, d)``, or a lookup in its place."""
        if type(features) is np.ndarray:
            shape, plain = features.shape, features.dtype is FLOAT and features.flags.carray
            if plain and shape == self._array and (not self._lanes or shape[0] == n):
                return features[self._axes]
        elif self._maps is not None and type(features) in (list, tuple):
            x = self._joined(features)
            if x is not None and len(x) == n:
                return x
        x = self.shape.shaped_actions(features, n if self._lanes else None)
        self._remember(features, x)
        return x

    def _joined(self, features: Any) -> Array | None:
        """Return a list of maps as one array if it is like the last one, else None."""
        try:
            if [m.shape for m in features] != self._maps:
                return None
        except AttributeError:
            return None
        alike = self._alike
        flat = np.concatenate(features, axis=0 if alike else None)  # along an axis is twice as fast
        if flat.dtype is not FLOAT:
            return None
        *front, K, d = self._maps[0]
        if alike:
            return flat.reshape(1, len(features), K, d)
        return laid_out(flat, front[0] if front else 1, K, self._widths)

    def _remember(self, features: Any, x: Array) -> None:
        """Keep what an array or a list of maps looked like that was accepted."""
        front = 1 if self._lanes else 0
        if type(features) is np.ndarray and features.ndim < front + 4 and not isinstance(x, Lookup):
            self._array = features.shape
            self._axes = (*(slice(None),) * front, *(None,) * (4 - features.ndim))
        elif type(features) in (list, tuple) and all(getattr(m, "ndim", 0) == front + 2 for m in features):
            self._maps = [m.shape for m in features]
            self._widths = np.array([shape[-1] for shape in self._maps])
            self._alike = len(set(self._maps)) == 1 and not self._lanes

    def hand_out(self, played: Array, handed: Array) -> None:
        """Remember what was played ``(n, P, d)`` and what of it the decision will carry."""
        if self.shape.plain:
            self._played, self._handed = played, handed

    def played(self, features: Any, n: int) -> Array:
        """Return the features of what was played, ``(n, P, d)``, read-only, from those that a decision carries."""
        known = self._played
        if known is not None and features is self._handed and len(known) == n:
            return known
        return self.shape.shaped_one(features, n if self._lanes else None)

    def forget(self) -> None:
        """Know no decision by its identity any more, as a copy must."""
        self._played = self._handed = None

    def unusable(self, features: Any, n: int) -> ValueError:
        """Return the error for features of the right shape that are not finite."""
        return self.shape.unusable(features, n if self._lanes else None)
