"""Read the features that users pass into one form."""

from typing import Any

import numpy as np

from ..kernels.features import LIMIT, NO_BLOCK, NO_BLOCK_PLAYED, Features, Lookup, usable
from .errors import refuse
from .inputs import FLOAT
from .shapes import ExactShape, FeatureShape


class Reader:
    """Checks features of ``shape`` for a policy with ``lanes``, or without any.

    Attributes
    ----------
    reads_lookups: whether items of a catalogue may stay a lookup; else they become an array.
    """

    def __init__(self, shape: FeatureShape, lanes: bool) -> None:
        self.shape = shape
        self.lanes = lanes
        self.reads_lookups = False
        self.blocked = shape.blocked
        exact = isinstance(shape, ExactShape) and len(set(shape.dims)) == 1
        exact = exact and shape.n_actions is None and not shape.blocked
        self._ndim = 2 + shape.many + lanes if exact else -1
        self._maps, self._width = (len(shape.dims), shape.dims[0]) if exact else (0, 0)  # type: ignore[attr-defined,var-annotated]
        # an index that adds the axes of rows and of maps where the features have none
        self._axes = slice(None) if lanes else None, slice(None) if shape.many else None

    def actions(self, features: Any, n: int) -> Features:
        """Return the features of all actions that n rows are offered, every number checked."""
        if type(features) is np.ndarray and features.ndim == self._ndim and features.dtype is FLOAT:
            x = features[self._axes]
            rows, maps, K, d = x.shape
            fits = rows == n and maps == self._maps and d == self._width and K > 0 and x.flags.carray
            if fits and usable(x):
                return Features(x, NO_BLOCK)
        x = self.shape.shaped_actions(features, n if self.lanes else None)
        if isinstance(x, Lookup):
            return Features(x if self.reads_lookups else x.array(), NO_BLOCK)
        return self._checked(x, features, n, NO_BLOCK)

    def played(self, features: Any, n: int) -> Features:
        """Return the features of the actions that n rows played, every number checked, in an array of their own."""
        if type(features) is np.ndarray and features.ndim == self._ndim - 1 and features.dtype is FLOAT:
            x = features.copy()[self._axes]
            if x.shape == (n, self._maps, self._width) and usable(x):
                return Features(x, NO_BLOCK_PLAYED)
        return self._checked(self.shape.shaped_one(features, n if self.lanes else None), features, n, NO_BLOCK_PLAYED)

    def _checked(self, x: Any, given: Any, n: int, none: Any) -> Features:
        if not usable(x.reshape(-1)):
            words = self.shape.words(n if self.lanes else None)
            raise refuse("features", given, f"{words}, every entry finite and at most {LIMIT:g}")
        if not self.blocked:
            return Features(x, none)
        return Features(np.ascontiguousarray(x[..., :-1]), np.ascontiguousarray(x[..., -1]).astype(np.int64))
