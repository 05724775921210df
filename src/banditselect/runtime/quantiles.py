"""Numbers of statistics that policies and regions need, without SciPy."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def chi_square_quantile(share: float, dim: int) -> float:
    """Return the quantile of the chi-square distribution with ``dim`` degrees of freedom, by bisection.

    Examples
    --------
    >>> round(chi_square_quantile(0.95, 1), 6)
    3.841459
    """
    low, high = 0.0, 1.0
    while log_regularized_gamma(dim / 2.0, high / 2.0) < math.log(share):
        low, high = high, 2.0 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2.0
        below = log_regularized_gamma(dim / 2.0, middle / 2.0) < math.log(share)
        low, high = (middle, high) if below else (low, middle)
    return high


def log_regularized_gamma(a: float, x: float) -> float:
    """Return the log of the regularised lower incomplete gamma function P(a, x), for x > 0."""
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1.0:  # series
        term = total = 1.0 / a
        k = a
        while term > total * 1e-16:
            k += 1.0
            term *= x / k
            total += term
        return front + math.log(total)
    b = x + 1.0 - a  # continued fraction of the upper function, by Lentz' method
    c = 1e300
    d = 1.0 / b
    h = d
    for k in range(1, 1_000_000):
        step = -k * (k - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        h *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return math.log1p(-math.exp(front + math.log(h)))


def standard_error(values: NDArray[np.floating]) -> Any:
    """Return the standard error of the mean over the last axis, NaN for a single value.

    Examples
    --------
    >>> standard_error(np.array([1.0, 2.0, 3.0, 6.0])), standard_error(np.ones((2, 1)))
    (np.float64(1.08...), array([nan, nan]))
    """
    n = values.shape[-1]
    return values.std(axis=-1, ddof=1) / math.sqrt(n) if n > 1 else np.full(values.shape[:-1], np.nan)[()]
