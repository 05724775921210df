"""Candidate maps proposed from examples: the kinds of their columns, and the maps that suit these."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .base import Encoder, FeatureMap
from .categories import Categories
from .disjoint import Disjoint
from .hashing import category_key
from .numbers import Numbers
from .pairs import HashedInteractions, Items, Outer, SideBySide
from .records import Records, as_number, is_missing
from .text import Text
from .transforms import Fourier, Polynomials
from .vectors import Vectors, commonest_length, vector_of

_LOOKED_AT = 5000  # records by which the kind of a column is decided
_ENOUGH = 20  # records from which on a column without repetitions is an id
_CATEGORIES = 20  # of a column with a separate feature
_WIDE = 100  # features of one side; with more, its categories are hashed
_WIDEST = 256  # features of a map
_BLOCKS = 500  # items with separate parameters


def candidates(contexts: Any, items: Any = None) -> dict[str, FeatureMap]:
    """Return fitted maps by name, proposed from examples: choose among them with a policy that selects.

    With features of the items: ``raw`` and ``scaled`` (context and item side by side), ``interactions`` (all products),
    ``hashed`` (products of everything, categories and ids too), ``fourier`` (smooth functions of both) and ``disjoint``
    (parameters per item, where there are at most 500). Without: parameters per item, for 500 of them, alone
    (``levels``), or for the ``raw`` or ``scaled`` context, its ``products``, ``fourier`` functions of it, or its
    ``hashed`` categories. Maps that the columns do not allow, or wider than 256 features, are left out.

    The kind of a column - numbers, categories, text, vectors - follows from its values. Constant columns are left out,
    and so are ids of contexts that never return. Text is hashed; on a side with more than 100 features, so are
    categories.

    Parameters
    ----------
    contexts: examples of contexts, dicts or a DataFrame, or None.
    items: examples of items, the same; None, or with nothing but an id, where items are known by their id alone.

    Examples
    --------
    >>> from banditselect import maps
    >>> visitors = [{"age": 20 + k, "country": "FR" if k % 3 else "BR"} for k in range(30)]
    >>> movies = [{"id": k, "genre": "western" if k % 2 else "drama", "year": 1950 + 7 * (k % 9)} for k in range(12)]
    >>> for name, map in maps.candidates(visitors, movies).items():
    ...     print(name, map.width, map.blocks)
    raw 8 1
    scaled 8 1
    interactions 24 1
    hashed 128 1
    fourier 64 1
    disjoint 5 25
    >>> list(maps.candidates(visitors))
    ['levels', 'raw', 'scaled', 'products', 'fourier', 'hashed']
    """
    left, right = Records.of(contexts, "contexts"), Records.of(items, "items")
    context, item = _Side(left, "context"), _Side(right, "item")
    proposed = _of_both(context, item) if item.has_features else _of_contexts(context, item)
    fitted = {name: map.fit(left, right) for name, map in proposed.items()}
    return {name: map for name, map in fitted.items() if map.width <= _WIDEST}


def _of_both(context: "_Side", item: "_Side") -> dict[str, FeatureMap]:
    """Return maps, not fitted yet, where items have features."""
    found: dict[str, FeatureMap] = {}
    z = item.encoder()
    if not context.has_features:
        if item.numbers:
            found["raw"] = Items(item.encoder(scaled=False))
        return found | {"scaled": Items(z), "fourier": Items(Fourier(z)), "levels": item.arms()}
    x = context.encoder()
    if context.numbers or item.numbers:
        found["raw"] = SideBySide(context=context.encoder(scaled=False), items=item.encoder(scaled=False))
    found["scaled"] = SideBySide(context=x, items=z)
    found["interactions"] = Outer(context=x, items=z)
    if found["interactions"].fit(context.records, item.records).width > _WIDEST:
        found["interactions"] = Outer(context=context.encoder(text=False), items=item.encoder(text=False))
    found["hashed"] = HashedInteractions(context=context.encoder(hashed=1), items=item.encoder(hashed=1), width=128)
    found["fourier"] = SideBySide(context=x, items=z, then=Fourier())
    if 1 < item.n_ids <= _BLOCKS:
        found["disjoint"] = item.arms(x)
    return found


def _of_contexts(context: "_Side", item: "_Side") -> dict[str, FeatureMap]:
    """Return maps, not fitted yet, where items are known by their id alone."""
    found: dict[str, FeatureMap] = {"levels": item.arms()}
    if not context.has_features:
        return found
    x = context.encoder()
    encoders: dict[str, Encoder] = {"raw": context.encoder(scaled=False)} if context.numbers else {}
    encoders |= {"scaled": x, "products": Polynomials(x), "fourier": Fourier(x, width=128)}
    if context.categories or context.returning:
        encoders["hashed"] = context.encoder(hashed=64)
    return found | {name: item.arms(encoder) for name, encoder in encoders.items()}


class _Side:
    """The columns of contexts or of items by kind.

    ``returning``: ids that occur again, so that something can be learned about them. ``id`` names an item among
    ``n_ids``. ``has_features``: there are other columns than ids.
    """

    def __init__(self, records: Records, role: str) -> None:
        few = np.unique(np.linspace(0, max(len(records) - 1, 0), min(len(records), _LOOKED_AT)).astype(np.int64))
        self.records = records.take(few)
        kinds = {name: _kind(name, self.records.column(name)) for name in records.names}
        self.numbers, self.categories, self.texts, self.vectors = (
            tuple(n for n, k in kinds.items() if k == kind) for kind in ("number", "category", "text", "vector")
        )
        ids = [name for name, kind in kinds.items() if kind in ("id", "returning id")]
        self.returning = tuple(n for n in ids if role == "item" or kinds[n] == "returning id")
        self.id = "id" if "id" in kinds or not ids else ids[0]
        self.n_ids = len({category_key(value) for value in records.column(self.id)} - {None})
        self.has_features = bool(self.numbers or self.categories or self.texts or self.vectors)

    @property
    def capacity(self) -> int:
        """The number of items with separate parameters: twice as many as there are, for those to come."""
        return min(max(2 * self.n_ids, 10), _BLOCKS) if self.n_ids else 100

    def arms(self, context: Encoder | None = None) -> FeatureMap:
        """Return the map with separate parameters for every item, not fitted yet."""
        return Disjoint(context=context, id=self.id, capacity=self.capacity)

    def encoder(self, *, scaled: bool = True, hashed: int | None = None, text: bool = True) -> Encoder:
        """Return the features side by side, not fitted yet.

        With ``hashed`` the categories, and ids that return, are hashed to so many features. Without ``text`` it is left
        out, unless there is nothing else.
        """
        parts: list[Encoder] = []
        if self.numbers:
            gaps = any(np.isnan(self.records.numbers(name)).any() for name in self.numbers)
            parts.append(Numbers(*self.numbers, scale="fit" if scaled else None, indicator=gaps))
        words = self.categories if hashed is None else (*self.categories, *self.returning)
        if words and hashed is None:
            plain = Categories(*words, most=_CATEGORIES)
            wide = len(plain.fit(self.records).names) > _WIDE
            parts.append(Categories(*words, width=32) if wide else plain)
        elif words:
            parts.append(Categories(*words, width=hashed))
        if self.texts and (text or not (parts or self.vectors)):
            parts.append(Text(*self.texts, width=32))
        return reduce(add, [*parts, *map(Vectors, self.vectors)])


def _kind(name: str, values: list[Any]) -> str:
    """Return the kind of a column: number, category, text, vector, id, returning id, or nothing of use."""
    there = [value for value in values if not is_missing(value)]
    lists = sum(isinstance(value, list | tuple | np.ndarray) for value in there)
    if not there:
        return "nothing"
    if 2 * lists > len(there):
        first = vector_of(there[0])
        return "text" if first is None or not first.any() or len(first) != commonest_length(there) else "vector"
    numbers = np.array([as_number(value) for value in there])
    words = [category_key(value) for value in there]
    distinct = len(set(words))
    if distinct <= 1:
        return "nothing"
    named = name.lower() in ("id", "key") or name.endswith(("_id", " id", "Id", "ID"))
    if named and distinct < len(values):
        return "returning id"
    if np.isfinite(numbers).mean() > 0.9:
        counted = numbers[0] in (0.0, 1.0) and (np.diff(numbers) > 0.0).all() and len(there) >= _ENOUGH
        return "id" if named or (counted and (numbers == np.floor(numbers)).all()) else "number"
    if np.mean([len((word or "").split()) for word in words]) > 2.5 and 2 * distinct > len(there):
        return "text"
    return "id" if named or (distinct == len(there) >= _ENOUGH) else "category"
