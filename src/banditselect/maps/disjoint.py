"""A block of parameters for every item."""

from typing import Any

import numpy as np

from ..runtime.constraints import whole_number
from ..runtime.errors import refuse
from ..types import Array, Blocked, Index
from .base import FeatureMap
from .encoder import Encoder, check_columns, owned
from .hashes import remembered, word_of
from .records import Records


class Disjoint(FeatureMap):
    """Every item has parameters of its own, which meet the features of the context (disjoint arms).

    Items are known by their id. Those of the fit have a block each; others get one when they are first offered, as long
    as there are free ones; all later ones, and those without an id, share the last block. Which item has which block is
    saved.

    Parameters
    ----------
    context: the encoder of the context; None: every item has one parameter, its mean reward.
    id: the column of the items' ids. An id is known by how it is written: 3, 3.0 and "3" are the same.
    items: None, or an encoder of features of the item that stand beside those of the context.
    capacity: how many items can have a block of their own.
    constant: whether a 1 is the first feature, so that every item has a level of its own.

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

    def __init__(
        self,
        *,
        context: Encoder | None = None,
        id: str = "id",
        items: Encoder | None = None,
        capacity: int = 100,
        constant: bool = True,
    ) -> None:
        self.context: Encoder | None = None if context is None else owned("Disjoint: context", context)
        self.items: Encoder | None = None if items is None else owned("Disjoint: items", items)
        check_columns("Disjoint", (id,))
        whole_number("Disjoint: capacity", capacity, 1)
        if not constant and context is None and items is None:
            raise refuse("Disjoint: constant", constant, "True where there is neither context nor items")
        self.id, self.capacity, self.constant = id, capacity, constant
        self.ids: list[str] = []
        self._index: dict[str, int] = {}
        self._words: dict[Any, str | None] = {}

    @property
    def blocks(self) -> int:
        """How many blocks of parameters there are."""
        return self.capacity + 1

    @property
    def changes(self) -> int:
        """How often what it has observed has changed it."""
        return super().changes + len(self.ids)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        parts = [encoder.names for encoder in (self.context, self.items) if encoder is not None]
        return ["1"] * self.constant + [name for names in parts for name in names]

    def _fit(self, contexts: Records, items: Records) -> None:
        super()._fit(contexts, items)
        self.ids = []
        self._assign(items)

    def _observe(self, context: Records, items: Records) -> None:
        super()._observe(context, items)
        self._assign(items)

    def _assign(self, items: Records) -> None:
        """Give blocks to items that have none, as long as there are some."""
        if len(self.ids) < self.capacity:
            known = self._places()
            words = remembered(self._words, items.column(self.id), word_of)
            fresh = dict.fromkeys(word for word in words if word is not None and word not in known)
            self.ids = [*self.ids, *fresh][: self.capacity]

    def _places(self) -> dict[str, int]:
        """Return the block of every item that has one."""
        if len(self._index) != len(self.ids):
            self._index = {word: k for k, word in enumerate(self.ids)}
        return self._index

    def _blocks(self, items: Records, strict: bool) -> Index:
        values, known = items.column(self.id), self._places()
        words = remembered(self._words, values, word_of)
        if strict and None in words:
            raise refuse(f"Disjoint: {self.id}", values[words.index(None)], "an id")
        return np.array([known.get(word, self.capacity) for word in words], dtype=np.int64)

    def _features(self, context: Records, items: Records, strict: bool) -> Blocked:
        parts: list[Array] = [np.ones((1, 1))] if self.constant else []
        if self.context is not None:
            parts.append(context.encoded(self.context, "_encode", strict))
        if self.items is not None:
            parts.append(items.encoded(self.items, "_encode", strict))
        values = np.empty((len(items), sum(part.shape[1] for part in parts)))
        first = 0
        for part in parts:
            values[:, first : first + part.shape[1]] = part
            first += part.shape[1]
        return Blocked(values, items.encoded(self, "_blocks", strict).copy())
