"""Features of features: products, and random Fourier features."""

from abc import abstractmethod
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.arguments import argument
from ..runtime.constraints import Number, YesNo
from ..runtime.errors import refuse
from ..types import Array, Index
from .base import AnEncoder, Encoder
from .records import LARGEST, Records, clipped

_FEW = 500  # records whose median distance is the bandwidth


class Transform(Encoder):
    """Features computed from those of an encoder; without one, from those of the map that takes it as ``then=``."""

    of: Encoder | None = argument(AnEncoder(optional=True), default=None, kw_only=False)

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return self._names_of(self._source().names)

    @abstractmethod
    def _names_of(self, names: list[str]) -> list[str]:
        """Return the names of the new features, from those of the features that they are computed from."""

    def columns_read(self, of: str = "") -> frozenset[str] | None:
        """Return the columns that it reads; None: any."""
        return frozenset() if self.of is None else self.of.columns_read()

    def _learn(self, x: Array) -> None:
        """Fit to features ``(n, d)``."""

    @abstractmethod
    def _transform(self, x: Array) -> Array:
        """Return the features computed from ``(n, d)``."""

    def _source(self) -> Encoder:
        if self.of is None:
            raise refuse(f"{type(self).__name__}: of", None, "an encoder, unless it is given to a map as then=")
        return self.of

    def _fit(self, records: Records) -> None:
        source = self._source()
        source._fit(records)
        self._learn(records.encoded(source))

    def _encode(self, records: Records) -> Array:
        return self._transform(records.encoded(self._source()))


class Polynomials(Transform):
    """The features themselves and their products, up to a degree.

    Parameters
    ----------
    of: the encoder whose features are multiplied.
    degree: the most factors of a product.
    powers: allow a feature to be multiplied by itself.

    Examples
    --------
    >>> from banditselect import maps
    >>> area = maps.Polynomials(maps.Numbers("height", "width", scale=None), powers=False)
    >>> area.names
    ['height', 'width', 'height * width']
    >>> area.encode([{"height": 2, "width": 3}])
    array([[2., 3., 6.]])
    """

    degree: int = argument(Number(low=2, high=4, integer=True), default=2)
    powers: bool = argument(YesNo(), default=True)

    def _set_up(self) -> None:
        self._factors: dict[int, Index] = {}

    def _names_of(self, names: list[str]) -> list[str]:
        factors = self._products(len(names)).T.tolist()
        return [" * ".join(names[k - 1] for k in row if k) for row in factors]

    def _products(self, d: int) -> Index:
        """Return the factors of every product of d features, numbered from 1, ``(degree, products)``; 0 is a 1."""
        if d not in self._factors:
            rows = [
                row
                for row in combinations_with_replacement(range(d + 1), self.degree)
                if row[-1] and (self.powers or len({k for k in row if k}) == sum(k > 0 for k in row))
            ]
            rows.sort(key=lambda row: (sum(k > 0 for k in row), row))
            self._factors[d] = np.array(rows, dtype=np.int64).T
        return self._factors[d]

    def _transform(self, x: Array) -> Array:
        first, *others = self._products(x.shape[1])
        padded = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        out = np.take(padded, first, axis=1)
        for factor in others:
            out *= np.take(padded, factor, axis=1)
        return clipped(out, LARGEST)


class Fourier(Transform):
    r"""Random Fourier features: linear functions of them approximate any smooth function of the underlying features.

    With directions :math:`w_j` and shifts :math:`b_j` drawn once, :math:`\ell` the bandwidth and D the width,

    .. math:: \phi_j(x) = \sqrt{2 / D} \, \cos(w_j^\top x / \ell + b_j),

    whose products approach the Gaussian kernel :math:`\exp(-\|x - x'\|^2 / (2 \ell^2))` as D grows.

    Parameters
    ----------
    of: the encoder of the underlying features; they need a common scale, since there is one bandwidth for all.
    width: how many.
    bandwidth: None: the median distance of records of the fit.
    seed: of the directions.

    Attributes
    ----------
    directions, shifts: ``(d, width)`` and ``(width,)``, divided by the bandwidth.

    Examples
    --------
    >>> from banditselect import maps
    >>> smooth = maps.Fourier(maps.Numbers("age"), width=1000).fit([{"age": 20}, {"age": 30}, {"age": 40}])
    >>> features = smooth.encode([{"age": 25}, {"age": 26}, {"age": 40}])
    >>> (features @ features.T).round(1)
    array([[1. , 1. , 0.4],
           [1. , 1. , 0.4],
           [0.4, 0.4, 1. ]])

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.
    """

    state = ("directions", "shifts")

    width: int = argument(Number(low=1, integer=True), default=64)
    bandwidth: float | None = argument(Number(low=0.0, above=True, optional=True), default=None)
    seed: int = argument(Number(low=0, integer=True), default=0)

    def _set_up(self) -> None:
        self.directions: Array | None = None
        self.shifts: Array | None = None

    def _names_of(self, names: list[str]) -> list[str]:
        return [f"wave {k}" for k in range(self.width)]

    def _learn(self, x: Array) -> None:
        rng = np.random.default_rng(self.seed)
        bandwidth = self.bandwidth or median_distance(rng.permutation(x)[:_FEW])
        self.directions = rng.normal(size=(x.shape[1], self.width)) / bandwidth
        self.shifts = rng.uniform(0.0, 2.0 * np.pi, self.width)

    def _transform(self, x: Array) -> Array:
        if self.directions is None or self.shifts is None:
            raise self._unfitted()
        phase = x @ self.directions
        phase += self.shifts
        np.cos(phase, out=phase)
        phase *= np.sqrt(2.0 / self.width)
        return phase


def median_distance(x: NDArray[Any]) -> float:
    """Return the median of the distances between different rows; 1 if all rows are equal."""
    squares = (x**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * x @ x.T, 0.0))[np.triu_indices(len(x), 1)]
    apart = distances[distances > 1e-9 * distances.max(initial=0.0)]
    return float(np.median(apart)) if apart.size else 1.0
