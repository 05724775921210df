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

NOTHING: tuple[Any, Any] = (object(), None)
"""Handed out last: what no decision is."""


class Door:
    """Checks features of ``shape`` for a policy with N ``lanes``, or without any.

    Whether the numbers are finite is left to whoever reads them first.

    Attributes
    ----------
    looks_up: whether items of a catalogue may come as a lookup, in the place of the array that it stands for.
    last: the decision that was handed out last, and the features of what it plays, ``(n, P, d)``; or ``NOTHING``.
    """

    def __init__(self, shape: FeatureShape, lanes: bool) -> None:
        self.shape = shape
        self.looks_up = False
        self.last = NOTHING
        self._lanes = lanes
        self._array: tuple[int, ...] | None = None  # the shape of the array that was accepted last,
        self._axes: tuple[Any, ...] = ()  # and what brings it to four axes
        self._maps: list[tuple[int, ...]] | None = None  # the shapes of the list of maps that was accepted last,
        self._widths: Index = np.empty(0, dtype=np.int64)  # how wide they are,
        self._joined: tuple[int, ...] = ()  # and the shape of all side by side

    def actions(self, features: Any, n: int) -> Array:
        """Return the features of all actions that n rows are offered: ``(n, P, K, d)``, or a lookup in its place."""
        if type(features) is np.ndarray:
            shape, plain = features.shape, features.dtype is FLOAT and features.flags.carray
            if plain and shape == self._array and (not self._lanes or shape[0] == n):
                return features[self._axes]
        elif type(features) is list:
            x = self._listed(features)
            if x is not None and len(x) == n:
                return x
        x = self.shape.shaped_actions(features, n if self._lanes else None)
        if isinstance(x, Lookup):
            return x if self.looks_up else x.array()
        self._remember(features)
        return x

    def _listed(self, features: list[Any]) -> Array | None:
        """Return a list of maps as one array if it is like the last one, else None."""
        try:
            if self._maps is None:
                if self._array is None or self._lanes:
                    return None
                x = np.array(features)
                return x[self._axes] if x.shape == self._array and x.dtype is FLOAT else None
            if [m.shape for m in features] != self._maps:
                return None
            joined = np.concatenate(features, axis=-1)
        except (AttributeError, TypeError, ValueError):  # no arrays, not of one shape, or not of numbers
            return None
        right = joined.dtype is FLOAT and joined.shape == self._joined
        return laid_out(joined, self._widths) if right else None

    def _remember(self, features: Any) -> None:
        """Keep what an array or a list of maps looked like that was accepted."""
        front = 1 if self._lanes else 0
        shapes = [m.shape for m in features if isinstance(m, np.ndarray)] if type(features) is list else []
        if shapes and len(shapes) == len(features) and {len(shape) for shape in shapes} == {front + 2}:
            alike = len(set(shapes)) == 1 and not front
            self._maps = None if alike else shapes
            self._widths = np.array([shape[-1] for shape in shapes])
            self._joined = (*shapes[0][:-1], int(self._widths.sum()))
            self._array, self._axes = ((len(shapes), *shapes[0]), (None,)) if alike else (None, ())
        elif type(features) is np.ndarray and features.ndim < front + 4:
            self._array, self._maps = features.shape, None
            self._axes = (*(slice(None),) * front, *(None,) * (4 - features.ndim))

    def unusable(self, features: Any, n: int) -> ValueError:
        """Return the error for features of the right shape that are not finite."""
        return self.shape.unusable(features, n if self._lanes else None)
