"""Candidate maps proposed from examples: the kinds of their columns, and the maps that suit these."""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from operator import add
from typing import Any, Literal

import numpy as np

from ..runtime.errors import warn
from .base import Encoder, FeatureMap
from .categories import Categories
from .disjoint import Disjoint
from .hashing import category_key
from .numbers import Numbers
from .pairs import HashedInteractions, Items, Outer, SideBySide
from .records import Records, as_number, is_missing
from .text import Text
from .transforms import Fourier, Polynomials
from .unknown import is_id, without_examples
from .vectors import Vectors, commonest_length, vector_of

_LOOKED_AT = 5000  # records by which the kind of a column is decided
_ENOUGH = 20  # records from which on a column without repetitions is an id, and one with a single value a constant
_CATEGORIES = 20  # of a column with a separate feature
_WIDE = 100  # features of one side; with more, its categories are hashed
_HASHED = 32  # features of hashed categories, of text
_FEW = 8  # the same where examples do not show how many there are
_WIDEST = 256  # features of a map
_BLOCKS = 500  # items with separate parameters
_LARGEST = 64.0  # megabytes that 256 waves may cost a learner; a block of any map takes as much space as the widest
_NOTHING = "contexts have no columns of use"


class Candidates(dict[str, FeatureMap]):
    """Feature maps by name.

    Attributes
    ----------
    left_out: the reason for every map, and every column, that is left out.
    """

    def __init__(self, maps: Mapping[str, FeatureMap] | None = None, left_out: Mapping[str, str] | None = None) -> None:
        super().__init__(maps or {})
        self.left_out = dict(left_out or {})


def candidates(contexts: Any = None, items: Any = None) -> Candidates:
    """Return fitted maps by name, proposed from examples: choose among them with a policy that selects.

    With features of the items: ``raw`` and ``scaled`` (context and item side by side), ``interactions`` (all products),
    ``hashed`` (products of everything, categories and ids too), ``fourier`` and ``fourier 256`` (smooth functions of
    both, by 64 and by 256 waves) and ``disjoint`` (parameters per item, where there are at most 500). Without:
    parameters per item, for 500 of them, alone (``levels``), or for the ``raw`` or ``scaled`` context, its
    ``products``, ``fourier`` functions of it, by 128 waves, or its ``hashed`` categories.
    Maps that the columns do not allow, or wider than 256 features, are left out; ``left_out`` of the result has the
    reasons, and a RuntimeWarning names maps that are too wide.

    The kind of a column - numbers, categories, text, vectors - follows from its values. Constant columns are left out,
    and so are ids of contexts that never return. Text is hashed; on a side with more than 100 features, so are
    categories. Of a single example, or fewer than 20 that are all alike, every column is used: its numbers are scaled
    online, its categories hashed. Without any example, the maps hash all columns that come (:class:`AnyColumns`).

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
    >>> maps.candidates([{"age": 20 + k} for k in range(30)]).left_out
    {'hashed': 'there are neither categories nor ids that return'}
    """
    left, right = Records.of(contexts, "contexts"), Records.of(items, "items")
    if not len(left) and not len(right):
        return Candidates(without_examples())
    context, item = _Side(left, "context"), _Side(right, "item")
    proposed = _of_both(context, item) if item.has_features else _of_contexts(context, item)
    found = Candidates(left_out=context.left_out | item.left_out)
    large = []
    for name, map in proposed.items():
        if isinstance(map, str):
            found.left_out[name] = map
            continue
        fitted = map.fit(left, right if item.has_features or item.n_ids else None)
        if fitted.width <= _WIDEST + (fitted.blocks > 1):  # blocks have a constant
            found[name] = fitted
        else:
            found.left_out[name] = f"it has {fitted.width} features, more than {_WIDEST}"
            large.append(f"{name} ({fitted.width} features)")
    megabytes = 80e-6 * sum(map.blocks for map in found.values()) * _WIDEST**2  # ten regressions for every block
    if "fourier 256" in found and megabytes > _LARGEST:
        found.left_out["fourier 256"] = f"beside the blocks of other maps it would take {megabytes:.0f} MB a learner"
        del found["fourier 256"]
    if large:
        warn(f"candidates: left out {', '.join(large)}: more than {_WIDEST} features; `left_out` has all reasons")
    return found


def _of_both(context: "_Side", item: "_Side") -> dict[str, FeatureMap | str]:
    """Return maps, not fitted yet, where items have features; for a map that the columns do not allow, the reason."""
    z, waves = item.encoder(), _waves(context, item)
    found: dict[str, FeatureMap | str] = {"raw": "there are no columns of numbers"}
    if not context.has_features:
        if item.numbers:
            found["raw"] = Items(item.encoder(scaled=False))
        levels = item.arms() if item.n_ids else "items have no ids"
        without = dict.fromkeys(("interactions", "hashed", "disjoint"), _NOTHING)
        return found | {"scaled": Items(z), "fourier": Items(waves(z, width=64)), "levels": levels} | without
    x = context.encoder()
    if context.numbers or item.numbers:
        found["raw"] = SideBySide(context=context.encoder(scaled=False), items=item.encoder(scaled=False))
    found["scaled"] = SideBySide(context=x, items=z)
    products = Outer(context=x, items=z).fit(context.records, item.records)
    if products.width > _WIDEST:
        products = Outer(context=context.encoder(text=False), items=item.encoder(text=False))
        products = products.fit(context.records, item.records)
    found["interactions"] = products
    width = 128 if products.width <= _WIDEST else _WIDEST
    found["hashed"] = HashedInteractions(context=context.encoder(hashed=1), items=item.encoder(hashed=1), width=width)
    found["fourier"] = SideBySide(context=x, items=z, then=waves(width=64))
    found["fourier 256"] = SideBySide(context=x, items=z, then=waves(width=_WIDEST))
    some = 1 < item.n_ids <= _BLOCKS
    found["disjoint"] = item.arms(x) if some else f"items have {item.n_ids or 'no'} ids, not 2 to {_BLOCKS}"
    return found


def _of_contexts(context: "_Side", item: "_Side") -> dict[str, FeatureMap | str]:
    """Return the same where items are known by their id alone."""
    found: dict[str, FeatureMap | str] = {"levels": item.arms()}
    if not context.has_features:
        return found | dict.fromkeys(("raw", "scaled", "products", "fourier", "hashed"), _NOTHING)
    x = context.encoder()
    numbers: dict[str, Encoder] = {"raw": context.encoder(scaled=False)} if context.numbers else {}
    encoders = numbers | {"scaled": x, "products": Polynomials(x), "fourier": _waves(context)(x, width=128)}
    if context.categories or context.returning:
        encoders["hashed"] = context.encoder(hashed=64)
    reasons = {
        "raw": "there are no columns of numbers",
        "hashed": "there are neither categories nor ids that return",
    }
    left_out = {name: reason for name, reason in reasons.items() if name not in encoders}
    return found | {name: item.arms(encoder) for name, encoder in encoders.items()} | left_out


def _waves(*sides: "_Side") -> Callable[..., Fourier]:
    """Return a factory of waves; the examples set their bandwidth, unless those of a side are all alike."""
    columns = sum(len(side.numbers + side.categories) for side in sides)
    return partial(Fourier, bandwidth=np.sqrt(2.0 * max(columns, 1)) if any(s.alike for s in sides) else None)


class _Side:
    """The columns of contexts or of items by kind.

    ``returning``: ids that occur again, so that something can be learned about them. ``id`` names an item among
    ``n_ids``. ``has_features``: there are other columns than ids. ``alike``: the examples are too few to show how
    columns vary. ``left_out``: the reason for every column that is.
    """

    def __init__(self, records: Records, role: str) -> None:
        few = np.unique(np.linspace(0, max(len(records) - 1, 0), min(len(records), _LOOKED_AT)).astype(np.int64))
        self.records = records.take(few)
        columns = {name: self.records.column(name) for name in records.names}
        kinds = {name: _kind(name, values) for name, values in columns.items()}
        self.alike = len(records) == 1 or (0 < len(records) < _ENOUGH and set(kinds.values()) <= {"nothing"})
        if self.alike:
            kinds = {name: _kind(name, values, constant=True) for name, values in columns.items()}
        self.numbers, self.categories, self.texts, self.vectors = (
            tuple(n for n, k in kinds.items() if k == kind) for kind in ("number", "category", "text", "vector")
        )
        ids = [name for name, kind in kinds.items() if kind in ("id", "returning id")]
        self.returning = tuple(n for n in ids if role == "item" or kinds[n] == "returning id")
        self.id = "id" if "id" in kinds or not ids else ids[0]
        self.n_ids = len({category_key(value) for value in records.column(self.id)} - {None})
        self.has_features = bool(self.numbers or self.categories or self.texts or self.vectors)
        reasons = {"nothing": "it has the same value in all examples, or none"}
        if role == "context":
            reasons["id"] = "its ids never return"
        self.left_out = {f"{role} column {name}": reasons[kind] for name, kind in kinds.items() if kind in reasons}

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
            scale: Literal["fit", "online"] = "online" if self.alike else "fit"
            parts.append(Numbers(*self.numbers, scale=scale if scaled else None, indicator=gaps))
        words = self.categories if hashed is None else (*self.categories, *self.returning)
        if words and hashed is None and self.alike:
            parts.append(Categories(*words, width=_FEW))
        elif words and hashed is None:
            plain = Categories(*words, most=_CATEGORIES)
            wide = len(plain.fit(self.records).names) > _WIDE
            parts.append(Categories(*words, width=_HASHED) if wide else plain)
        elif words:
            parts.append(Categories(*words, width=hashed))
        if self.texts and (text or not (parts or self.vectors)):
            parts.append(Text(*self.texts, width=_FEW if self.alike else _HASHED))
        return reduce(add, [*parts, *map(Vectors, self.vectors)])


def _kind(name: str, values: list[Any], constant: bool = False) -> str:
    """Return the kind of a column: number, category, text, vector, id, returning id, or nothing of use.

    With ``constant`` a column with a single value has the kind of that value.
    """
    there = [value for value in values if not is_missing(value)]
    lists = sum(isinstance(value, list | tuple | np.ndarray) for value in there)
    if not there:
        return "nothing"
    if 2 * lists > len(there):
        first = vector_of(there[0])
        if first is not None and first.any() and len(first) == commonest_length(there):
            return "vector"
        return "text" if any(isinstance(value, list | tuple) for value in there) else "nothing"
    numbers = np.array([as_number(value) for value in there])
    words = [category_key(value) for value in there]
    distinct = len(set(words))
    if distinct <= 1 and (not constant or words[0] is None):
        return "nothing"
    named = is_id(name)
    if named and (distinct < len(values) or constant):
        return "returning id"
    if np.isfinite(numbers).mean() > 0.9:
        counted = numbers[0] in (0.0, 1.0) and (np.diff(numbers) > 0.0).all() and len(there) >= _ENOUGH
        return "id" if named or (counted and (numbers == np.floor(numbers)).all()) else "number"
    if np.mean([len((word or "").split()) for word in words]) > 2.5 and 2 * distinct > len(there):
        return "text"
    return "id" if named or (distinct == len(there) >= _ENOUGH) else "category"
