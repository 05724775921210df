"""Weights of models from their losses."""

import math

import numpy as np
import pytest

from banditselect.kernels.weights import exponentials


def test_exponentials_are_those_of_the_library():
    """To an ulp where the result is a normal number, and 0 below."""
    rng = np.random.default_rng(0)
    top = 3.0
    z = -np.concatenate(
        [[0.0, 1e-300, 707.9, 708.1, 745.0, 1e300, np.inf], rng.uniform(0, 708, 400), rng.uniform(0, 1, 94)]
    )
    out = np.empty(z.size)
    total = exponentials(top + z, top, out)
    expected = [math.exp((top + v) - top) if (top + v) - top > -708.0 else 0.0 for v in z]
    np.testing.assert_allclose(out, expected, rtol=4e-16, atol=0.0)
    assert total == pytest.approx(sum(expected), rel=1e-14)
