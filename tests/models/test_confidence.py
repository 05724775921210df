"""OFUL's ellipsoids: the worked numbers."""

import math

import numpy as np
import pytest

from banditselect.models.confidence import SelfNormalizedRadii, take_radii


def test_radius_of_the_example_set():
    """Bounds 7 (c), E1: t=1000, d=10, R=.5, L=S=lam=1, delta=.05, with log det at its bound d log(1 + t / d)."""
    radii, evidence = SelfNormalizedRadii(np.array([0.5]), np.array([[1.0]]), 0.05), np.zeros((1, 3, 1))
    evidence[0, 0, 0] = 10.0 * math.log(101.0)
    take_radii(np.array([0]), evidence, np.zeros((2, 1, 1)), radii.arrays())
    assert radii.squared[0, 0] == pytest.approx(21.2566556, rel=5e-9)


def test_radii_by_hand():
    radii = SelfNormalizedRadii(np.array([9.0, 0.5]), np.array([[9.0], [2.0]]), math.exp(-2.0))
    np.testing.assert_allclose(radii.squared, [[27.0**2], [3.0**2]], rtol=1e-14)
    np.testing.assert_array_equal(radii.spent, 0.0)
    evidence = np.array([[[0.0]] * 3, [[5.0], [0.0], [0.0]]])
    take_radii(np.array([1]), evidence, np.array([[[7.0]], [[0.25]]]), radii.arrays())
    np.testing.assert_allclose(radii.spent, [0.0, 2.0 * 3.0 * 0.5], rtol=1e-14)  # under the old radius
    np.testing.assert_allclose(radii.squared, [[27.0**2], [3.5**2]], rtol=1e-14)
