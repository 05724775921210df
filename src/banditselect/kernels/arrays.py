"""Small services on arrays: is every entry usable, what lies outside a range, maps laid out side by side."""

import numpy as np
from numpy.typing import NDArray

from . import inlined, kernel

LIMIT = 1e30  #: larger magnitudes are refused, so that squares and products of what comes in stay finite
UNIT = 2.0**52  #: a memo carries a number p from 0 to 2 as ``round(p UNIT)``: whole, and small enough for doubles


@inlined
def usable(values: NDArray[np.float64]) -> bool:
    """Tell whether all entries of a contiguous array are finite and at most ``LIMIT`` in magnitude."""
    good = True
    flat = values.reshape(-1)
    for j in range(flat.size):
        good &= abs(flat[j]) <= LIMIT
    return good


@inlined
def count_outside(
    ids: NDArray[np.int64], y: NDArray[np.float64], lower: float, upper: float, count: NDArray[np.int64]
) -> bool:
    """Add one to ``count[n]`` for every row with ``y`` outside ``[lower, upper]``; tell whether there was one."""
    some = False
    for r in range(ids.size):
        if y[r] < lower or y[r] > upper:
            count[ids[r]] += 1
            some = True
    return some


@kernel
def sums_to_one(p: NDArray[np.float64]) -> bool:
    """Tell whether every row of ``p (n, K)`` has no entry below 0 and sums to 1, up to 1e-9."""
    for r in range(p.shape[0]):
        total = 0.0
        for a in range(p.shape[1]):
            if not p[r, a] >= 0.0:
                return False
            total += p[r, a]
        if not abs(total - 1.0) <= 1e-9:
            return False
    return True


@kernel
def lay_out(joined: NDArray[np.float64], widths: NDArray[np.int64], x: NDArray[np.float64]) -> None:
    """Fill ``x (n, P, K, d)`` from maps joined along their features, ``(n, K, sum of widths)``; the rest is 0."""
    n, P, K, d = x.shape
    for r in range(n):
        first = 0
        for i in range(P):
            w = widths[i]
            for a in range(K):
                for j in range(w):
                    x[r, i, a, j] = joined[r, a, first + j]
                for j in range(w, d):
                    x[r, i, a, j] = 0.0
            first += w
