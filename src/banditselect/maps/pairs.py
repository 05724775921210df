"""Maps that combine an encoder of the context and one of the items."""

import numpy as np

from ..actions.crossing import crossed_rows
from ..kernels.features import LIMIT
from ..runtime.arguments import argument
from ..runtime.constraints import Number, YesNo
from ..runtime.errors import refuse
from ..types import Array
from .base import AnEncoder, Encoder, FeatureMap
from .hashing import hashed_products
from .records import Records, clipped
from .transforms import Transform

_PAIRS = 500  # pairs of a context and an item that a transformation is fitted to


class Items(FeatureMap):
    """The features of the items alone: the best item is the same in every context.

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

    items: Encoder = argument(AnEncoder(), kw_only=False)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return self.items.names

    def _features(self, context: Records, items: Records) -> Array:
        return np.array(items.encoded(self.items))


class SideBySide(FeatureMap):
    """The features of the context and of the item in one row, or with ``then`` a transformation of that row.

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

    context: Encoder = argument(AnEncoder())
    items: Encoder = argument(AnEncoder())
    then: Transform | None = argument(AnEncoder(optional=True), default=None)

    def _set_up(self) -> None:
        if self.then is not None and not (isinstance(self.then, Transform) and self.then.of is None):
            raise refuse("SideBySide: then", self.then, "Polynomials() or Fourier(), of nothing yet")

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        names = self.context.names + self.items.names
        return names if self.then is None else self.then._names_of(names)

    def _fit(self, contexts: Records, items: Records) -> None:
        self.context._fit(contexts)
        self.items._fit(items)
        if self.then is not None:
            x, z = contexts.encoded(self.context), items.encoded(self.items)
            rng = np.random.default_rng(0)
            left, right = (rng.integers(0, max(n, 1), _PAIRS if n else 0) for n in (len(x), len(z)))
            n = min(left.size, right.size)
            self.then._learn(np.concatenate([x[left[:n]], z[right[:n]]], axis=1))

    def _features(self, context: Records, items: Records) -> Array:
        x, z = context.encoded(self.context), items.encoded(self.items)
        row = np.empty((len(z), x.shape[1] + z.shape[1]))
        row[:, : x.shape[1]], row[:, x.shape[1] :] = x, z
        return row if self.then is None else self.then._transform(row)


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

    context: Encoder = argument(AnEncoder())
    items: Encoder = argument(AnEncoder())
    own: bool = argument(YesNo(), default=True)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        x, z = self.context.names, self.items.names
        products = [[f"{left} * {right}" for left in x] for right in z]
        if not self.own:
            return [name for row in products for name in row]
        return [*x, *(name for right, row in zip(z, products, strict=True) for name in (right, *row))]

    def _features(self, context: Records, items: Records) -> Array:
        x, z = context.encoded(self.context), items.encoded(self.items)
        if self.own:
            x, z = _behind_one(x), _behind_one(z)
        products = crossed_rows(x, z) if len(x) == len(z) else crossed_rows(x, z[None])[0]  # a context each, or one
        return np.ascontiguousarray(products[:, 1:]) if self.own else products


class HashedInteractions(FeatureMap):
    """All products of a feature of the context and one of the item, hashed to a given number of features.

    A category of the context and one of the item form a product without a separate feature for either, so columns may
    have any number of categories. Two products that share a feature have the same parameter, up to its sign.

    Parameters
    ----------
    context, items: their encoders. Categories need no fit if they are hashed (``maps.Categories("user", width=1)``:
        the width does not matter here).
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

    context: Encoder = argument(AnEncoder())
    items: Encoder = argument(AnEncoder())
    width: int = argument(Number(low=1, integer=True), default=256)
    own: bool = argument(YesNo(), default=True)
    seed: int = argument(Number(low=0, integer=True), default=0)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"interactions #{k}" for k in range(self.width)]

    def _features(self, context: Records, items: Records) -> Array:
        left, x = context.encoded(self.context, "_tokens")
        right, z = items.encoded(self.items, "_tokens")
        out = np.zeros((len(items), self.width))
        with np.errstate(over="ignore"):
            hashed_products(left[0], x[0], right, z, self.own, np.uint64(self.seed), out)
        return clipped(out, LIMIT)


def _behind_one(x: Array) -> Array:
    """Return features behind a constant 1."""
    out = np.empty((len(x), x.shape[1] + 1))
    out[:, 0], out[:, 1:] = 1.0, x
    return out
