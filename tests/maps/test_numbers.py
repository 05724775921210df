"""Columns of numbers: missing values, scales, clipping, entry by entry."""

import numpy as np

from banditselect.maps.numbers import standardize
from banditselect.maps.records import clipped, tidy


def test_what_is_no_number_is_nan_and_the_rest_is_cut():
    x = np.array([1.0, -2.0, np.nan, np.inf, -np.inf, 1e20, -1e20, 0.0])
    tidy(x, 1e15)
    np.testing.assert_array_equal(x, [1.0, -2.0, np.nan, np.nan, np.nan, 1e15, -1e15, 0.0])


def test_columns_are_scaled_and_what_is_missing_is_the_mean():
    """Means 2 and 5, standard deviations 4 and none."""
    x, out = np.array([[10.0, 7.0], [np.nan, np.nan], [100.0, -100.0]]), np.empty((3, 2))
    absent = np.empty((3, 2), dtype=bool)
    standardize(x, np.array([2.0, 5.0]), np.array([16.0, 0.0]), 10.0, absent, out)
    assert out.tolist() == [[2.0, 2.0], [0.0, 0.0], [10.0, -10.0]]
    assert absent.tolist() == [[False, False], [True, True], [False, False]]
    standardize(x, np.array([2.0, 5.0]), np.array([16.0, 0.0]), 0.0, absent, out)
    assert out.tolist() == [[10.0, 7.0], [2.0, 5.0], [100.0, -100.0]]


def test_features_are_clipped():
    x = np.array([[1.0, -3.0], [2.5, 0.0]])
    assert clipped(x, 2.0) is x
    assert x.tolist() == [[1.0, -2.0], [2.0, 0.0]]
