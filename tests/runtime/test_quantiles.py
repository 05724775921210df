"""Special functions and quantiles, against SciPy and by hand."""

import math

import numpy as np
import pytest
from scipy import special, stats

from banditselect.runtime.quantiles import chi_square_quantile, log_regularized_gamma


@pytest.mark.parametrize("a", [0.5, 1.0, 1.5, 6.0, 51.0, 501.0, 5001.0, 50_001.0])
def test_log_regularized_gamma(a):
    for x in a * np.array([1e-3, 0.1, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 3.0]) + 1e-3:
        P, Q = special.gammainc(a, x), special.gammaincc(a, x)
        expected = math.log(P) if 1e-250 < P < 0.5 else math.log1p(-Q) if P >= 0.5 else None
        if expected is not None:
            assert log_regularized_gamma(a, x) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_log_regularized_gamma_far_below_what_a_double_holds():
    """P(a, x) ~ x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + ...) for x << a."""
    a, x = 5000.0, 5.0
    series = math.log1p(x / (a + 1.0) + x**2 / ((a + 1.0) * (a + 2.0)))
    assert log_regularized_gamma(a, x) == pytest.approx(a * math.log(x) - x - math.lgamma(a + 1.0) + series, rel=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 100, 1000])
@pytest.mark.parametrize("share", [1e-9, 0.01, 0.5, 0.9, 0.95, 0.999, 1.0 - 1e-9])
def test_chi_square_quantile(share, dim):
    assert chi_square_quantile(share, dim) == pytest.approx(stats.chi2.ppf(share, dim), rel=1e-7)
