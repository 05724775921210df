"""Regret balancing's kernels against plain loops."""

import math

import numpy as np
import pytest

from banditselect.masters.balancing import fill_powers, radius, record, share_least, stale
from banditselect.masters.data_driven import record_regret

IDS = np.array([2, 0])
PLAYS = np.array([[2, 1, 1], [0, 3, 0], [4, 0, 4]])
EARNED = np.array([[2.0, 0.5, 0.0], [0.0, 9.0, 0.0], [3.0, 0.0, 3.0]])
EVERY_BASE = np.ones((3, 3), dtype=bool)
UNKNOWN = np.full((2, 3), np.nan)  # the powers of bounds that have another form


def test_a_bound_is_asked_for_once_a_base_has_learned():
    bounds = np.full((3, 3), np.nan)
    found = stale(IDS, PLAYS, bounds).tolist()
    assert found == [[2, 0], [2, 2], [0, 0], [0, 1], [0, 2]]  # not the one of lane 2 that has not played
    fill_powers(IDS, PLAYS, (bounds, *UNKNOWN))
    assert np.isnan(bounds).all()
    fill_powers(IDS, PLAYS, (bounds, np.array([3.0, 3.0, 2.0]), np.array([0.5, 0.5, 0.9])))
    np.testing.assert_allclose(bounds[0], [3.0 * np.sqrt(2.0), 3.0, 2.0])
    np.testing.assert_allclose(bounds[2], [6.0, 0.0, 2.0 * 4.0**0.9])
    assert np.isnan(bounds[1]).all()
    assert stale(IDS, PLAYS, bounds).size == 0
    plays, earned = PLAYS.copy(), EARNED.copy()
    record(IDS, np.array([1, 0]), np.array([0.25, -1.0]), (plays, earned), bounds, bounds)
    assert (plays - PLAYS).tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert (earned - EARNED).tolist() == [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.0]]
    assert stale(IDS, plays, bounds).tolist() == [[2, 1], [0, 0]]


def test_the_radius_by_hand():
    """log log 2 = -0.366513, log log 200 = 1.667389; 0.72 log(10.4 x 3 / 0.05) = 4.634028; 1.7 x 0.5 = 0.85."""
    assert radius(1, 0.85, 4.634028) == pytest.approx(1.755927, abs=1e-5)
    assert radius(100, 0.85, 4.634028) == pytest.approx(0.213373, abs=1e-5)


def test_the_first_of_the_least_plays_and_before_it_who_has_not():
    value = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 0.0], [5.0, np.nan, 4.0]])
    assert share_least(IDS, PLAYS, value, EVERY_BASE[:2]).tolist() == [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    share = share_least(IDS, PLAYS, value, np.array([[True, False, True], [True, False, True]]))
    assert share.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("doubling", [False, True])
def test_regrets_are_estimated_from_what_another_has_shown(doubling):
    """Base 0 of lane 0 has earned 1 of 2, base 1 has earned 4 of 4, base 2 nothing yet; the width is 0."""
    plays, earned = np.array([[1, 4, 0]]), np.array([[1.0, 4.0, 0.0]])
    coefficient, potential, spread = np.full((1, 3), 0.5), np.full((1, 3), 0.5), np.full((1, 3), np.nan)
    state = (plays, earned), (coefficient, potential, 0.5), (spread, np.zeros(1), 9.0), doubling
    rows = np.array([0]), np.array([0]), np.array([0.0])
    record_regret(*rows, *state)
    excess = math.sqrt(2.0) * (1.0 - 0.5)  # 0.707 > 0.5
    assert plays.tolist() == [[2, 4, 0]]
    assert earned.tolist() == [[1.0, 4.0, 0.0]]
    assert coefficient[0] == pytest.approx([1.0 if doubling else excess, 0.5, 0.5])
    assert potential[0] == pytest.approx([math.sqrt(2.0) if doubling else 1.0, 0.5, 0.5])  # 0.707 sqrt 2, twice 0.5
    record_regret(*rows, *state)
    excess = math.sqrt(3.0) * (1.0 - 1.0 / 3.0)  # 1.155
    assert coefficient[0, 0] == pytest.approx(2.0 if doubling else excess)
    assert potential[0, 0] == pytest.approx(2.0 * math.sqrt(3.0) if doubling else 2.0)  # 1.155 sqrt 3 = 2, twice 1
    rows = np.array([0]), np.array([0]), np.array([99.0])
    record_regret(*rows, *state)
    assert coefficient[0, 0] == (2.0 if doubling else 0.5)
    assert potential[0, 0] == pytest.approx(4.0 if doubling else 2.0)  # 2 sqrt 4; not below what it was
