"""How the arrays of a pack lie in its file: features as whole numbers of few bits, to keep packs small enough to ship.

What comes out of a file is checked here: types, shapes, finite numbers, labels without a gap.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Array, Index

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Coded:
    """Features ``(items, d)`` as whole numbers: column j has the values ``offset[j] + scale[j] * codes[:, j]``.

    Attributes
    ----------
    codes: ``(items, d)``, of 8 or 16 bits, without sign.  scale, offset: ``(d,)``.
    """

    codes: NDArray[Any]
    scale: Features
    offset: Features

    @classmethod
    def of(cls, table: NDArray[Any], bits: int = 8) -> "Coded":
        """Code a table; no value moves by more than half a ``scale``, of which a column's range has 2^bits - 1."""
        x = np.asarray(table, dtype=float)
        low, span = x.min(axis=0), np.ptp(x, axis=0)
        offset = low.astype(np.float32)
        step = span / (2**bits - 1)
        scale = np.where(step > np.finfo(np.float32).tiny, step, 1.0).astype(np.float32)
        codes = np.rint((x - offset) / scale).clip(0, 2**bits - 1)
        return cls(codes.astype({8: np.uint8, 16: np.uint16}[bits]), scale, offset)

    @cached_property
    def values(self) -> Features:
        """The features as numbers, ``(items, d)``, read-only."""
        values = self.offset + self.scale * self.codes.astype(np.float32)
        values.flags.writeable = False
        return values

    def errors(self, table: NDArray[Any]) -> Array:
        """Return for each column the RMS difference to ``table``, as a share of the column's standard deviation."""
        x = np.asarray(table, dtype=float)
        deviation = x.std(axis=0)
        return np.sqrt(np.mean((self.values - x) ** 2, axis=0)) / np.where(deviation > 0.0, deviation, 1.0)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return what a file holds of it."""
        return {f"{name}.{field}": getattr(self, field) for field in ("codes", "scale", "offset")}

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], name: str, items: int) -> "Coded":
        """Return it from the arrays of a file."""
        codes = arrays[f"{name}.codes"]
        if codes.dtype not in (np.uint8, np.uint16) or codes.ndim != 2 or codes.shape[0] != items:
            raise ValueError(f"{name}.codes has type {codes.dtype} and shape {codes.shape}")
        scale, offset = (read_numbers(arrays, f"{name}.{field}", codes.shape[1:]) for field in ("scale", "offset"))
        return cls(codes, scale.astype(np.float32), offset.astype(np.float32))


def read_labels(arrays: Mapping[str, NDArray[Any]]) -> Index:
    """Return the labels of a file: 0, 1, ..., C - 1, all of which occur."""
    labels = arrays["labels"]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size == 0 or np.bincount(labels).min() == 0:
        raise ValueError(f"labels has type {labels.dtype} and shape {labels.shape}, or lacks a class")
    return labels.astype(np.int64)


def read_numbers(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> Array:
    """Return finite numbers of this shape from a file."""
    array = arrays[name]
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ValueError(f"{name} has type {array.dtype} and shape {array.shape}, or is not finite; expected {shape}")
    return array.astype(float)
