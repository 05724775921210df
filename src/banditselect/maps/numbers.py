"""Columns of numbers: as they are, scaled by a fit, or scaled by all numbers so far."""

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..kernels import kernel
from ..runtime.arguments import argument
from ..runtime.constraints import OneOf, YesNo
from ..types import Array, Mask
from .base import ColumnNames, Encoder
from .records import Records

FARTHEST = 10.0  #: standard deviations; a number farther from its mean counts as this far


class Numbers(Encoder):
    """Numbers as they stand in columns, scaled to mean 0 and standard deviation 1.

    A value that is missing, infinite or no number (also a word such as "31") counts as the mean. Scaled numbers are
    clipped at 10 standard deviations, others at 1e15. True is 1.

    Parameters
    ----------
    columns: their names.
    scale: ``"fit"``: by the mean and the standard deviation of the records of the fit. ``"online"``: by those of all
        records met so far, beginning with those of a fit if there is one. None: as they are.
    indicator: add a feature per column that is 1 where there is no number.

    Attributes
    ----------
    count, mean, variance: of the numbers of every column, ``(columns,)``.

    Examples
    --------
    >>> from banditselect import maps
    >>> age = maps.Numbers("age", indicator=True).fit([{"age": 20}, {"age": 40}, {}])
    >>> age.names
    ['age', 'age is missing']
    >>> age.encode([{"age": 50}, {"age": None}, {"age": "old"}])
    array([[2., 0.],
           [0., 1.],
           [0., 1.]])
    """

    state = ("count", "mean", "variance")

    columns: tuple[str, ...] = argument(ColumnNames(), several=True)
    scale: Literal["fit", "online"] | None = argument(OneOf(("fit", "online"), optional=True), default="fit")
    indicator: bool = argument(YesNo(), default=False)

    if TYPE_CHECKING:

        def __init__(
            self, *columns: str, scale: Literal["fit", "online"] | None = ..., indicator: bool = ...
        ) -> None: ...

    def _set_up(self) -> None:
        self.count: Array | None = None if self.scale == "fit" else np.zeros(len(self.columns))
        self.mean, self.variance = np.zeros((2, len(self.columns)))

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [*self.columns, *(f"{name} is missing" for name in self.columns if self.indicator)]

    def observe(self, records: Records) -> None:
        """Update the scale if it is learned online."""
        if self.scale == "online" and len(records):
            self._add(self._numbers(records))

    def _numbers(self, records: Records) -> Array:
        x = np.empty((len(records), len(self.columns)))
        for k, name in enumerate(self.columns):
            x[:, k] = records.numbers(name)
        return x

    def _fit(self, records: Records) -> None:
        self.mean, self.variance = np.zeros((2, len(self.columns)))
        self.count, x = np.zeros(len(self.columns)), self._numbers(records)
        for k, name in enumerate(self.columns):
            self._check_examples(records, name, np.isfinite(x[:, k]), "a number")
        self._add(x)

    def _add(self, x: Array) -> None:
        """Add numbers ``(n, columns)`` to the moments (Chan, Golub and LeVeque)."""
        assert self.count is not None
        there = np.isfinite(x)
        n = there.sum(axis=0).astype(float)
        x = np.where(there, x, 0.0)
        mean = x.sum(axis=0) / np.maximum(n, 1.0)
        square = (np.where(there, x - mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(self.count + n, 1.0)
        step = mean - self.mean
        variance = (self.variance * self.count + square + step**2 * self.count * n / total) / total
        mean, count = self.mean + step * n / total, self.count + n
        self.count, self.mean, self.variance, self._changes = count, mean, variance, self._changes + 1

    def _encode(self, records: Records) -> Array:
        if self.count is None:
            raise self._unfitted()
        x = self._numbers(records)
        out, absent = np.empty(x.shape), np.empty(x.shape, dtype=np.bool_)
        standardize(x, self.mean, self.variance, 0.0 if self.scale is None else FARTHEST, absent, out)
        return np.concatenate([out, absent], axis=1) if self.indicator else out


@kernel
def standardize(x: Array, mean: Array, variance: Array, farthest: float, absent: Mask, out: Array) -> None:
    """Fill ``out (n, m)`` with ``x (n, m)`` scaled to mean 0 and variance 1, cut at ``farthest``; NaN is the mean.

    With ``farthest = 0`` numbers stay as they are. A column without variance is only centred.
    """
    for j in range(x.shape[1]):
        spread = math.sqrt(variance[j])
        for r in range(x.shape[0]):
            absent[r, j] = math.isnan(x[r, j])
            value = mean[j] if absent[r, j] else x[r, j]
            if farthest > 0.0:
                value = (value - mean[j]) / (spread if spread > 0.0 else 1.0)
                value = min(max(value, -farthest), farthest)
            out[r, j] = value
