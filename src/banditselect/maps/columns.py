"""Columns of numbers out of records: what is no number, what is too large, and the scale of the rest."""

import math

from ..kernels import kernel
from ..types import Array, Mask


@kernel
def tidy(x: Array, largest: float) -> None:
    """Make NaN of what is not finite in ``x (n,)``, and cut the rest at ``largest``."""
    for r in range(x.size):
        if not math.isfinite(x[r]):
            x[r] = math.nan
        elif abs(x[r]) > largest:
            x[r] = math.copysign(largest, x[r])


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


@kernel
def cut(x: Array, largest: float) -> None:
    """Cut ``x (n, d)`` at a magnitude."""
    for r in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[r, j] = min(max(x[r, j], -largest), largest)
