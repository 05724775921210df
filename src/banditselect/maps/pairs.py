"""Maps out of encoders of the context and of the items."""

import numpy as np

from ..actions.crossing import crossed_rows
from ..kernels.features import LIMIT
from ..runtime.constraints import YesNo, whole_number
from ..runtime.errors import refuse
from ..types import Array
from .base import FeatureMap
from .columns import cut
from .encoder import Encoder, owned
from .hashes import hashed_products
from .records import Records
from .transforms import Transform

_PAIRS = 500  # pairs of a context and an item that a transformation is fitted to


class Items(FeatureMap):
    """The features of the items alone: what is best is the same in every context.

    Parameters
    ----------
    items: the encoder of the items.

    Examples
    --------
    >>> from banditselect import maps
    >>> cheap = maps.Items(maps.Numbers("price", scale=None))
    >>> cheap.features({"age": 30}, [{"price": 2.5}, {"price": 4}])
    array([[2.5],
           [4. ]])
    """

    takes_pairs = True

    def __init__(self, items: Encoder) -> None:
        self.items: Encoder = owned("Items: items", items)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return self.items.names

    def _features(self, context: Records, items: Records, strict: bool) -> Array:
        return np.array(items.encoded(self.items, "_encode", strict))


class SideBySide(FeatureMap):
    """The features of the context and of the item in one row; what is made of them together, with ``then``.

    Alone, a linear reward of them has the same best item in every context. Interactions come from a transformation of
    both: all products, or random Fourier features.

    Parameters
    ----------
    context, items: their encoders.
    then: None, or a transformation of the row: ``maps.Polynomials()``, ``maps.Fourier(width=64)``.

    Examples
    --------
    >>> from banditselect import maps
    >>> age, price = maps.Numbers("age", scale=None), maps.Numbers("price", scale=None)
    >>> maps.SideBySide(context=age, items=price).features({"age": 30}, [{"price": 2}, {"price": 4}])
    array([[30.,  2.],
           [30.,  4.]])
    >>> maps.SideBySide(context=age, items=price, then=maps.Polynomials(powers=False)).names
    ['age', 'price', 'age * price']
    """

    takes_pairs = True

    def __init__(self, *, context: Encoder, items: Encoder, then: Transform | None = None) -> None:
        self.context: Encoder = owned("SideBySide: context", context)
        self.items: Encoder = owned("SideBySide: items", items)
        if then is not None and not (isinstance(then, Transform) and then.of is None):
            raise refuse("SideBySide: then", then, "Polynomials() or Fourier(), of nothing yet")
        self.then = None if then is None else then._copy()

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        names = self.context.names + self.items.names
        return names if self.then is None else self.then.names_of(names)

    def _fit(self, contexts: Records, items: Records) -> None:
        self.context._fit(contexts)
        self.items._fit(items)
        if self.then is not None:
            x, z = contexts.encoded(self.context, "_encode", False), items.encoded(self.items, "_encode", False)
            rng = np.random.default_rng(0)
            left, right = (rng.integers(0, max(n, 1), _PAIRS if n else 0) for n in (len(x), len(z)))
            n = min(left.size, right.size)
            self.then.learn(np.concatenate([x[left[:n]], z[right[:n]]], axis=1))

    def _observe(self, context: Records, items: Records) -> None:
        self.context.observe(context)
        self.items.observe(items)

    def _features(self, context: Records, items: Records, strict: bool) -> Array:
        x, z = context.encoded(self.context, "_encode", strict), items.encoded(self.items, "_encode", strict)
        row = np.empty((len(z), x.shape[1] + z.shape[1]))
        row[:, : x.shape[1]], row[:, x.shape[1] :] = x, z
        return row if self.then is None else self.then.transform(row)


class Outer(FeatureMap):
    """All products of a feature of the context and one of the item: a parameter for every pair.

    Parameters
    ----------
    context, items: their encoders.
    own: keep the features of both sides among them. Those of the context come first, then every feature of the item,
        followed by its products.

    Examples
    --------
    >>> from banditselect import maps
    >>> age, price = maps.Numbers("age", scale=None), maps.Numbers("price", scale=None)
    >>> taste = maps.Outer(context=age, items=price)
    >>> taste.names
    ['age', 'price', 'age * price']
    >>> taste.features({"age": 30}, [{"price": 2}, {"price": 4}])
    array([[ 30.,   2.,  60.],
           [ 30.,   4., 120.]])
    """

    takes_pairs = True

    def __init__(self, *, context: Encoder, items: Encoder, own: bool = True) -> None:
        self.context: Encoder = owned("Outer: context", context)
        self.items: Encoder = owned("Outer: items", items)
        YesNo().check("Outer: own", own, None)
        self.own = own

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        x, z = self.context.names, self.items.names
        products = [[f"{left} * {right}" for left in x] for right in z]
        if not self.own:
            return [name for row in products for name in row]
        return [*x, *(name for right, row in zip(z, products, strict=True) for name in (right, *row))]

    def _features(self, context: Records, items: Records, strict: bool) -> Array:
        x, z = context.encoded(self.context, "_encode", strict), items.encoded(self.items, "_encode", strict)
        if not self.own:
            return _products(x, z)
        return np.ascontiguousarray(_products(_behind_one(x), _behind_one(z))[:, 1:])


class HashedInteractions(FeatureMap):
    """All products of a feature of the context and one of the item, hashed to some features, whatever their number.

    A category of the context and one of the item meet in a product without either having a feature of its own, so
    that columns may have any number of categories. Two products that share a feature cannot be told apart.

    Parameters
    ----------
    context, items: their encoders. Categories need no fit if they are hashed (``maps.Categories("user", width=1)``:
        here their width does not matter).
    width: the number of features.
    own: hash the features of both sides among them.
    seed: of the hashes.

    Examples
    --------
    >>> from banditselect import maps
    >>> user, movie = maps.Categories("user", width=1), maps.Categories("movie", width=1)
    >>> taste = maps.HashedInteractions(context=user, items=movie, width=4, own=False)
    >>> taste.features({"user": "Ada"}, [{"movie": 17}, {"movie": 4}])
    array([[ 0.,  0.,  1.,  0.],
           [-1.,  0.,  0.,  0.]])
    """

    def __init__(self, *, context: Encoder, items: Encoder, width: int = 256, own: bool = True, seed: int = 0) -> None:
        self.context: Encoder = owned("HashedInteractions: context", context)
        self.items: Encoder = owned("HashedInteractions: items", items)
        whole_number("HashedInteractions: width", width, 1)
        YesNo().check("HashedInteractions: own", own, None)
        whole_number("HashedInteractions: seed", seed, 0)
        self.own, self.seed, self._width = own, seed, width

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"interactions #{k}" for k in range(self._width)]

    def _features(self, context: Records, items: Records, strict: bool) -> Array:
        left, x = context.encoded(self.context, "_tokens", strict)
        right, z = items.encoded(self.items, "_tokens", strict)
        out = np.zeros((len(items), self._width))
        with np.errstate(over="ignore"):
            hashed_products(left[0], x[0], right, z, self.own, np.uint64(self.seed), out)
        cut(out, LIMIT)
        return out


def _products(x: Array, z: Array) -> Array:
    """Return the products of contexts, one for all or one for each, and items ``(K, d)``: ``(K, d p)``."""
    return crossed_rows(x, z) if len(x) == len(z) else crossed_rows(x, z[None])[0]


def _behind_one(x: Array) -> Array:
    """Return features behind a constant 1."""
    out = np.empty((len(x), x.shape[1] + 1))
    out[:, 0], out[:, 1:] = 1.0, x
    return out
