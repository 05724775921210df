"""The contract of a feature map: a context and K items in, features ``(K, d)`` out, one call for all items."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from ..runtime.errors import refuse
from ..runtime.settings import is_foreign
from ..runtime.shapes import values_of
from ..types import Array, Blocked
from .recipe import Recipe, check_shape
from .records import Records


class FeatureMap(Recipe):
    """Turns a context record and K item records into features ``(K, width)`` that a policy can use.

    Whatever the records hold - unknown columns and categories, missing values, words instead of numbers - the features
    are finite and of the right shape; ``strict=True`` raises instead. Records are dicts, rows of a DataFrame or named
    tuples; a word or a number in the place of one is an id, ``{"id": value}``.

    A subclass stores its arguments under their own names, names its features (``names``) and writes ``_features``; the
    encoders among its arguments are fitted and observed without another line if they are called ``context`` or
    ``items``.

    Attributes
    ----------
    width: the number of features; where something has to be fitted, only after the fit.
    blocks: of parameters. With more than one, ``features`` returns a :class:`~banditselect.types.Blocked`.
    names: a name of every feature.
    unsaved: what of it cannot be saved, by name; None if all of it can.
    """

    takes_pairs: ClassVar[bool] = False  #: whether ``_features`` also takes a context for every item

    @property
    def blocks(self) -> int:
        """How many blocks of parameters there are."""
        return 1

    def fit(self, contexts: Any, items: Any) -> Self:
        """Return a fitted copy.

        Parameters
        ----------
        contexts, items: examples, dicts or a DataFrame each; None where there are none. They need not belong together.
        """
        made = self._copy()
        made._fit(Records.of(contexts, "contexts"), Records.of(items, "items"))
        return made

    def features(self, context: Any, items: Any, *, strict: bool = False) -> Array | Blocked:
        """Return the features of K items in a context, ``(K, width)``; nothing is changed.

        Parameters
        ----------
        context: a record; None for one without columns.
        items: K records, or a :class:`Records` that keeps what is made of them.
        strict: raise ValueError, by column and value, for what is missing, unknown or of the wrong type.
        """
        rows = Records.of(items, "items")
        found = self._features(Records.one(context), rows, strict)
        if is_foreign(type(self)):
            values, shape = values_of(found), (len(rows), self.width)
            if np.shape(values) != shape or not np.isfinite(values).all():
                expected = f"finite numbers of shape {shape}: a row for every item, a column for every name"
                raise refuse(f"{type(self).__name__}: features", values, expected)
        return found

    def features_many(self, contexts: Records, items: Records) -> Array | Blocked:
        """Return the features of n K items, the K in one of n contexts after those in another, ``(n K, width)``."""
        n, K = len(contexts), len(items) // len(contexts)
        if self.takes_pairs and not is_foreign(type(self)):
            return self._features(contexts.take(np.repeat(np.arange(n), K)), items, False)
        parts = [self.features(contexts.take([t]), items.take(range(t * K, t * K + K))) for t in range(n)]
        if isinstance(parts[0], Blocked):
            return Blocked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return np.concatenate(parts)

    def observe(self, context: Any, items: Any) -> None:
        """Take note of what is about to be decided, for what is learned online: scales, and blocks of new items.

        To be called before ``features``, once for every decision. A map that learns nothing online ignores it.
        """
        self._observe(Records.one(context), Records.of(items, "items"))

    def _try(self) -> None:
        if self.fitted:
            features = self._features(Records.one(None), Records.of([None]), False)
            check_shape(self, features.values if isinstance(features, Blocked) else features)

    def _fit(self, contexts: Records, items: Records) -> None:
        """Fit the encoders."""
        for name, part in self._parts():
            part._fit(contexts if name == "context" else items)  # type: ignore[attr-defined]

    def _observe(self, context: Records, items: Records) -> None:
        """Let the encoders take note."""
        for name, part in self._parts():
            part.observe(context if name == "context" else items)  # type: ignore[attr-defined]

    @abstractmethod
    def _features(self, context: Records, items: Records, strict: bool) -> Array | Blocked:
        """Return the features of the items in a context of one record; nothing is changed."""
