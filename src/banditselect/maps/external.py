"""Maps from other code: a fitted transformer of scikit-learn, a plain function. They cannot be saved."""

import contextlib
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.features import LIMIT
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.errors import refuse
from ..runtime.extras import need
from ..types import Array
from .base import ColumnNames, Encoder, FeatureMap
from .records import LARGEST, Records, clipped


class Transformer(Encoder):
    """The output of a fitted transformer of scikit-learn, or a pipeline of them, for some columns.

    Records for which it raises, and values that are not finite, become 0; the first time that it raises, there is a
    RuntimeWarning. It is not fitted here and not saved.

    Parameters
    ----------
    transformer: fitted; anything with ``transform``.
    columns: the columns that it was fitted to, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from banditselect import maps
    >>> table = pd.DataFrame({"country": ["FR", "BR"]})
    >>> country = maps.Transformer(OneHotEncoder(handle_unknown="ignore").fit(table), "country")
    >>> country.encode([{"country": "FR"}, {"country": "IS"}])
    array([[0., 1.],
           [0., 0.]])
    """

    state = ("size",)

    transformer: Any = argument(kw_only=False)
    columns: tuple[str, ...] = argument(ColumnNames(), several=True)

    savable = False

    if TYPE_CHECKING:

        def __init__(self, transformer: Any, *columns: str) -> None: ...

    def _set_up(self) -> None:
        if not callable(getattr(self.transformer, "transform", None)) or isinstance(self.transformer, type):
            raise refuse("Transformer: transformer", self.transformer, "a fitted object with a method transform")
        self._label = f"{type(self.transformer).__name__} of {self.columns}"
        self._names: list[str] = []
        with contextlib.suppress(AttributeError, RuntimeError, TypeError, ValueError):  # not fitted, or not to names
            self._names = [str(name) for name in self.transformer.get_feature_names_out()]
        self.size = len(self._names) or None
        self._warned = False

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        if self.size is None:
            raise self._unfitted()
        return self._names or [f"{type(self.transformer).__name__} {k}" for k in range(self.size)]

    def _fit(self, records: Records) -> None:
        if self.size is None:
            self.size = self._transform(records).shape[1]

    def _transform(self, records: Records) -> Array:
        frame = need("pandas", "experiments").DataFrame({name: records.column(name) for name in self.columns})
        named = hasattr(self.transformer, "feature_names_in_")
        out = self.transformer.transform(frame if named else frame.to_numpy())
        out = np.asarray(out.toarray() if hasattr(out, "toarray") else out, dtype=float)
        if out.ndim != 2 or len(out) != len(records) or self.size not in (None, out.shape[1]):
            raise refuse(f"Transformer: {self._label}", out, f"an array ({len(records)}, {self.size or 'width'})")
        return out

    def _encode(self, records: Records) -> Array:
        if self.size is None:
            raise self._unfitted()
        out = np.zeros((len(records), self.size))
        try:
            out[:] = self._transform(records)
        except Exception as error:  # one record must not cost the others their features
            if len(records) > 1:
                for row in range(len(records)):
                    out[row] = self._encode(records.take([row]))[0]
            elif not self._warned:
                self._warned = True
                what = f"Transformer: {self._label}: zeros for a record that it does not accept ({error})"
                warnings.warn(f"{what}; this is the only warning", RuntimeWarning, stacklevel=2)
        return clipped(np.nan_to_num(out, nan=0.0, posinf=0.0, neginf=0.0), LARGEST)


class Function(FeatureMap):
    """The features that a function returns; values that are not finite become 0. It is not saved.

    Parameters
    ----------
    function: ``function(context, items)`` returns ``(K, width)`` for a dict and a list of K dicts.
    width: the number of features.

    Examples
    --------
    >>> from banditselect import maps
    >>> def distance(visitor, shops):
    ...     return [[abs(visitor["street"] - shop["street"])] for shop in shops]
    >>> near = maps.Function(distance, width=1)
    >>> near.features({"street": 7}, [{"street": 4}, {"street": 9}])
    array([[3.],
           [2.]])
    """

    function: Callable[[Mapping[str, Any], list[Mapping[str, Any]]], Any] = argument(kw_only=False)
    width: int = argument(Number(low=1, integer=True))

    savable = False

    def _set_up(self) -> None:
        if not callable(self.function):
            raise refuse("Function: function", self.function, "a function of a context and a list of items")
        self._label = getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"{self._label} {k}" for k in range(self.width)]

    def _features(self, context: Records, items: Records) -> Array:
        expected = f"finite numbers of shape ({len(items)}, {self.width})"
        try:
            out = np.asarray(self.function(context.rows()[0], items.rows()), dtype=float)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Function: {self._label}: {error}; expected {expected}") from error
        if out.shape != (len(items), self.width):
            raise refuse(f"Function: {self._label}", out, expected)
        return clipped(np.nan_to_num(out, nan=0.0, posinf=0.0, neginf=0.0), LIMIT)
