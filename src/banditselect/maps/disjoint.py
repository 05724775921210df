"""A map with separate parameters for every item."""

from typing import Any

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number, YesNo
from ..runtime.errors import refuse
from ..types import Array, Blocked, Index
from .base import AnEncoder, ColumnNames, Encoder, FeatureMap
from .hashing import cached_map, category_key
from .records import Records


class Disjoint(FeatureMap):
    """Features of the context, with a separate block of parameters for every item (disjoint arms).

    Items are identified by their id. Those of the fit have a block each; others get one when they are first offered, as
    long as there are free ones; all later ones, and those without an id, share the last block. Blocks are saved.

    Parameters
    ----------
    context: the encoder of the context; None: every item has one parameter, its mean reward.
    id: the column of the items' ids; 3, 3.0 and "3" are the same.
    items: None, or an encoder of features of the item, placed behind those of the context.
    capacity: the number of items that can have a separate block.
    constant: begin with a feature that is 1, so that every item has a separate level.

    Attributes
    ----------
    ids: the items that have a block, in its order.

    Examples
    --------
    >>> from banditselect import maps
    >>> arms = maps.Disjoint(context=maps.Numbers("age", scale=None), capacity=2)
    >>> arms.observe({"age": 30}, [{"id": "red"}, {"id": "blue"}, {"id": "green"}])
    >>> arms.features({"age": 30}, [{"id": "green"}, {"id": "blue"}])
    Blocked(values=array([[ 1., 30.],
           [ 1., 30.]]), block=array([2, 1]))
    >>> arms.blocks, arms.names, arms.ids
    (3, ['1', 'age'], ['red', 'blue'])
    """

    state = ("ids",)
    takes_pairs = True

    context: Encoder | None = argument(AnEncoder(optional=True), default=None)
    id: str = argument(ColumnNames(), default="id")
    items: Encoder | None = argument(AnEncoder(optional=True), default=None)
    capacity: int = argument(Number(low=1, integer=True), default=100)
    constant: bool = argument(YesNo(), default=True)

    def _set_up(self) -> None:
        if not self.constant and self.context is None and self.items is None:
            raise refuse("Disjoint: constant", self.constant, "True where there is neither context nor items")
        self.ids: list[str] = []
        self._index: dict[str, int] = {}
        self._keys: dict[Any, str | None] = {}

    @property
    def blocks(self) -> int:
        """The number of blocks of parameters."""
        return self.capacity + 1

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        parts = [encoder.names for encoder in (self.context, self.items) if encoder is not None]
        return ["1"] * self.constant + [name for names in parts for name in names]

    def _fit(self, contexts: Records, items: Records) -> None:
        super()._fit(contexts, items)
        if len(items) and all(category_key(value) is None for value in items.column(self.id)):
            raise refuse(f"Disjoint.fit: {self.id}", items.column(self.id)[0], "an id in at least one example")
        self.ids = []
        self._assign(items)

    def _observe(self, context: Records, items: Records) -> None:
        super()._observe(context, items)
        self._assign(items)

    def _assign(self, items: Records) -> None:
        """Give blocks to items that have none, as long as there are some."""
        if len(self.ids) < self.capacity:
            known, keys = self._places(), cached_map(self._keys, items.column(self.id), category_key)
            fresh = dict.fromkeys(key for key in keys if key is not None and key not in known)
            self.ids = [*self.ids, *fresh][: self.capacity]
            self._changes += len(fresh)

    def _places(self) -> dict[str, int]:
        """Return the block of every item that has one."""
        if len(self._index) != len(self.ids):
            self._index = {word: k for k, word in enumerate(self.ids)}
        return self._index

    def _blocks(self, items: Records) -> Index:
        known, keys = self._places(), cached_map(self._keys, items.column(self.id), category_key)
        return np.array([known.get(key, self.capacity) for key in keys], dtype=np.int64)

    def _features(self, context: Records, items: Records) -> Blocked:
        parts: list[Array] = [np.ones((1, 1))] if self.constant else []
        if self.context is not None:
            parts.append(context.encoded(self.context))
        if self.items is not None:
            parts.append(items.encoded(self.items))
        rows = [np.broadcast_to(part, (len(items), part.shape[1])) for part in parts]
        return Blocked(np.ascontiguousarray(np.concatenate(rows, axis=1)), items.encoded(self, "_blocks").copy())
