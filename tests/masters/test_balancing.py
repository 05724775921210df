"""Regret balancing's kernels against plain loops."""

import math

import numpy as np
import pytest

from banditselect import Uniform
from banditselect.masters import DynamicBalancing
from banditselect.masters.balancing import candidates, fill_powers, radius, record, share_least, stale
from banditselect.masters.data_driven import record_regret
from banditselect.masters.regret_balancing import share_best

IDS = np.array([2, 0])
PLAYS = np.array([[2, 1, 1], [0, 3, 0], [4, 0, 4]])
EARNED = np.array([[2.0, 0.5, 0.0], [0.0, 9.0, 0.0], [3.0, 0.0, 3.0]])
EVERY_BASE = np.ones((3, 3), dtype=bool)
UNKNOWN = np.full((2, 3), np.nan)  # the powers of bounds that have another form


def shares(plays, earned, bounds, balancing):
    """Return the shares of the bases of one lane, with the formulas as they are written in the policy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(plays == 0, np.inf, (earned + bounds) / plays)
    if balancing and np.isfinite(value).all():
        value = -(plays * value.max() - earned)
    best = value == value.max()
    return best / best.sum()


@pytest.mark.parametrize("balancing", [False, True])
def test_the_best_share_the_next_round(balancing):
    rng = np.random.default_rng(0)
    for _ in range(200):
        plays = rng.integers(0, 4, size=(3, 3))
        earned, bounds = rng.integers(0, 3, size=(3, 3)) / 2.0, rng.integers(0, 3, size=(3, 3)) / 4.0
        found = np.empty((2, 3))
        ties = share_best(IDS, (plays, earned), (bounds, *UNKNOWN), balancing, found)
        for r, n in enumerate(IDS):
            np.testing.assert_allclose(found[r], shares(plays[n], earned[n], bounds[n], balancing), atol=1e-12)
        assert ties == bool((found.max(axis=1) < 1.0).any())


def test_a_bound_is_asked_for_once_a_base_has_learned():
    bounds = np.full((3, 3), np.nan)
    found = np.empty((6, 2), dtype=np.int64)
    assert stale(IDS, PLAYS, bounds, found) == 5
    assert found[:5].tolist() == [[2, 0], [2, 2], [0, 0], [0, 1], [0, 2]]  # not the one of lane 2 that has not played
    fill_powers(IDS, PLAYS, (bounds, *UNKNOWN))
    assert np.isnan(bounds).all()
    fill_powers(IDS, PLAYS, (bounds, np.array([3.0, 3.0, 2.0]), np.array([0.5, 0.5, 0.9])))
    np.testing.assert_allclose(bounds[0], [3.0 * np.sqrt(2.0), 3.0, 2.0])
    np.testing.assert_allclose(bounds[2], [6.0, 0.0, 2.0 * 4.0**0.9])
    assert np.isnan(bounds[1]).all()
    assert stale(IDS, PLAYS, bounds, found) == 0
    plays, earned = PLAYS.copy(), EARNED.copy()
    record(IDS, np.array([1, 0]), np.array([0.25, -1.0]), (plays, earned), bounds, bounds)
    assert (plays - PLAYS).tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert (earned - EARNED).tolist() == [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.0]]
    assert stale(IDS, plays, bounds, found) == 2
    assert found[:2].tolist() == [[2, 1], [0, 0]]


def test_what_follows_from_the_count_of_a_base_is_forgotten_when_it_learns():
    model = DynamicBalancing(bases=[Uniform()] * 3, lanes=3)._model
    model.bounds.U[:] = model.widths.spread[:] = 0.0
    y = np.array([0.25, -1.0])
    np.testing.assert_array_equal(model.record(IDS, np.array([1, 0]), None, y), y)
    assert model.plays.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert model.tally.earned.tolist() == [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.0]]
    for forgotten in (model.bounds.U, model.widths.spread):
        assert np.isnan(forgotten).tolist() == [[True, False, False], [False, False, False], [False, True, False]]


def test_the_radius_by_hand():
    """log log 2 = -0.366513, log log 200 = 1.667389; 0.72 log(10.4 x 3 / 0.05) = 4.634028; 1.7 x 0.5 = 0.85."""
    assert radius(1, 0.85, 4.634028) == pytest.approx(1.755927, abs=1e-5)
    assert radius(100, 0.85, 4.634028) == pytest.approx(0.213373, abs=1e-5)


@pytest.mark.parametrize("bias", [0.0, 0.7])
def test_bases_are_candidates_while_no_other_refutes_their_bound(bias):
    rng = np.random.default_rng(1)
    scale, exponent, width = np.array([0.3, 0.5, 0.1]), np.array([0.5, 0.5, 0.8]), np.array([0.1, 9.0, 0.05])
    fallen = 0
    for _ in range(200):
        plays = rng.integers(0, 20, size=(3, 3))
        earned, before = plays * rng.uniform(size=(3, 3)), rng.uniform(size=(2, 3)) < 0.8
        (U, spread), alive = np.full((2, 3, 3), np.nan), EVERY_BASE.copy()
        alive[IDS] = before
        among = candidates(IDS, (plays, earned), (U, scale, exponent), (spread, width, 2.0), bias, alive)
        assert (alive[IDS] == before).all()
        assert alive[1].all()
        for r, n in enumerate(IDS):
            N, t = plays[n], plays[n].sum()
            known = [i for i in range(3) if before[r, i] and N[i]]
            mean = {i: earned[n, i] / N[i] - bias * scale[i] * t ** exponent[i] / t for i in known}
            off = {i: width[n] * math.sqrt((math.log(math.log(2 * N[i])) + 2.0) / N[i]) for i in known}
            level = max((mean[i] - off[i] for i in known), default=-np.inf)
            for i in range(3):
                bound = scale[i] * N[i] ** exponent[i]
                stays = before[r, i] and (i not in known or mean[i] + off[i] + bound / N[i] >= level)
                assert among[r, i] == stays
        fallen += before.sum() - among.sum()
        assert (among.any(axis=1) | ~before.any(axis=1)).all()
    assert fallen > 100


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
