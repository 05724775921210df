"""An encoder of any columns, and the maps for a start without examples."""

from functools import lru_cache

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..types import Array
from .base import Encoder, FeatureMap, Tokens
from .disjoint import Disjoint
from .hashing import MOST, bucket_and_sign, category_key, hash_of
from .numbers import FARTHEST
from .pairs import HashedInteractions, SideBySide
from .records import Records, clipped
from .transforms import Fourier

_SETTLED = 1000  # numbers of a column after which its scale stays as it is
_COLUMNS = 1000  # columns of numbers; others are left out
_BANDWIDTH = 3.0  # the distance of two records with four or five scaled numbers

_hash = lru_cache(maxsize=MOST)(hash_of)


class AnyColumns(Encoder):
    """All columns of a record, hashed to a number of features: neither their names nor examples are needed.

    A number is scaled by the mean and the standard deviation of the first 1,000 numbers of its column, and goes to one
    feature, with sign +1 or -1. Words are categories, and so are numbers in a column of ids (called id, or ending in
    _id). Missing values and lists are left out.

    Parameters
    ----------
    width: the number of features.
    seed: of the hashes.

    Attributes
    ----------
    columns: those of numbers.
    moments: the count, the mean and the variance of the numbers of every column.

    Examples
    --------
    >>> from banditselect import maps
    >>> anything = maps.AnyColumns(width=4)
    >>> anything.observe(maps.Records([{"age": 20, "country": "FR"}, {"age": 40}]))
    >>> anything.encode([{"age": 50}, {"country": "FR"}, {"country": None, "height": 2}])
    array([[ 0.,  0.,  0.,  2.],
           [ 0., -1.,  0.,  0.],
           [ 0.,  0.,  0.,  0.]])
    """

    state = ("columns", "moments")

    width: int = argument(Number(low=1, integer=True), default=64)
    seed: int = argument(Number(low=0, integer=True), default=0)

    def _set_up(self) -> None:
        self.columns: list[str] = []
        self.moments: list[list[float]] = []

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [f"columns #{k}" for k in range(self.width)]

    def observe(self, records: Records) -> None:
        """Update the scales of the columns."""
        scales = dict(zip(self.columns, self.moments, strict=True))
        for name in records.names:
            count, mean, variance = scales.get(name, (0.0, 0.0, 0.0))
            if count >= _SETTLED or is_id(name) or (name not in scales and len(scales) >= _COLUMNS):
                continue
            x = records.numbers(name)
            x = x[np.isfinite(x)]
            if x.size:
                total, step = count + x.size, float(x.mean()) - mean
                variance = (variance * count + float(x.var()) * x.size + step**2 * count * x.size / total) / total
                scales[name] = [total, mean + step * x.size / total, variance]
                self._changes += 1
        self.columns, self.moments = list(scales), list(scales.values())

    def _fit(self, records: Records) -> None:
        self._set_up()
        self.observe(records)

    def _encode(self, records: Records) -> Array:
        hashes, values = self._tokens(records)
        bucket, sign = bucket_and_sign(hashes, self.width)
        out = np.zeros((len(records), self.width))
        np.add.at(out, (np.arange(len(records))[:, None], bucket), sign * values)
        return out

    def _tokens(self, records: Records) -> Tokens:
        scales, seed = dict(zip(self.columns, self.moments, strict=True)), str(self.seed)
        hashes = np.zeros((len(records), len(records.names)), dtype=np.uint64)
        values = np.zeros(hashes.shape)
        for k, name in enumerate(records.names):
            x = np.full(len(records), np.nan) if is_id(name) else records.numbers(name)
            _, mean, variance = scales.get(name, (0.0, 0.0, np.inf))
            values[:, k] = clipped((x - mean) / (np.sqrt(variance) or 1.0), FARTHEST)
            hashes[:, k] = _hash(seed, name)
            for row in np.flatnonzero(np.isnan(x)).tolist():
                word = category_key(records.column(name)[row])
                values[row, k] = word is not None
                hashes[row, k] = 0 if word is None else _hash(seed, name, word)
        return hashes, values


def is_id(name: str) -> bool:
    """Return whether a column is called as columns of ids are."""
    return name.lower() in ("id", "key") or name.endswith(("_id", " id", "Id", "ID"))


def without_examples(id: str = "id") -> dict[str, FeatureMap]:
    """Return maps that need no examples; ``id`` is the column of items that names them."""
    few = AnyColumns(width=32)
    waves = Fourier(width=64, bandwidth=_BANDWIDTH)
    return {
        "levels": Disjoint(id=id),
        "side by side": SideBySide(context=few, items=few),
        "hashed": HashedInteractions(context=AnyColumns(), items=AnyColumns(), width=64),
        "fourier": SideBySide(context=few, items=few, then=waves).fit(None, None),
        "disjoint": Disjoint(context=few, id=id),
    }
