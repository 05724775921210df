"""The search of the tuner, on landscapes whose best place is known, and against brute force."""

import itertools
import math

import numpy as np
import pytest

from banditselect import given
from banditselect.runtime.binding import Constant
from banditselect.simulation.tuning import Search, Steps

WALK = Steps(1.0, factor=10.0, reach=6)


def searched(axes, replicates, value):
    """Run a search; ``value`` is from a place to its results on all replicates. Return it with its requests."""
    search, asked = Search(axes, replicates), []
    for request in search.requests:
        asked.append(request)
        for place in request.places:
            search.learn(place, np.broadcast_to(value(place), replicates)[request.start : request.stop])
    return search, asked


def test_steps_are_powers_of_a_factor_and_a_range_is_scaled_about_its_middle():
    assert [Steps(300.0)[k] for k in (-1, 0, 1, 2)] == [94.86, 300.0, 948.6, 3000.0]
    half = Steps(given.reward_range, factor=2.0)[-1]
    assert repr(half) == "given.reward_range * 0.5"
    assert half.resolve({}, {"reward_range": (-1.0, 3.0)}) == (0.0, 2.0)
    assert (given.noise * 3.0).resolve({}, {"noise": 0.5}) == 1.5
    assert (2 * given.radii).resolve({}, {"radii": (1.0, 3.0, 9.0)}).tolist() == [2.0, 6.0, 18.0]
    for factor in (math.nan, "x", np.ones(2)):
        with pytest.raises(ValueError, match=r"given\.noise \* factor: got"):
            given.noise * factor
    with pytest.raises(ValueError, match=r"given\.label: got .*, expected numbers, since they are to be multiplied"):
        (given.label * 2.0).resolve({}, {"label": "cat"})
    assert Steps(given.reward_range)[0] == Constant("reward_range")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"start": 0.0}, "Steps: start: got 0.0"),
        ({"start": 1.0, "factor": 1.001}, "Steps: factor: got 1.001"),
        ({"start": 1.0, "reach": 0}, "Steps: reach: got 0"),
    ],
)
def test_steps_that_lead_nowhere_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        Steps(**arguments)


@pytest.mark.parametrize("replicates", [1, 20, 30, 100])
@pytest.mark.parametrize("slant", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_the_best_of_all_combinations_is_found(replicates, slant):
    """On a bowl that may be slanted, with the same noise for all, the choice is that of brute force."""
    grid, shocks = range(-6, 7), np.random.default_rng(0).normal(size=replicates)

    def value(p):
        a, b = p[0] - 2.8, p[1] + 3.1
        return a * a + b * b + 1.9 * slant * a * b + shocks

    search, _ = searched({"a": WALK, "b": WALK}, replicates, value)
    assert search.best == min(itertools.product(grid, grid), key=lambda p: value(p).mean())
    assert search.ends() == []
    assert len(search.reached) < 13 * 13 / 2


@pytest.mark.parametrize("replicates", [5, 100])
def test_of_two_lists_every_combination_is_tried_on_a_few_replicates(replicates):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(4, 3))
    search, asked = searched({"a": [5, 6, 7, 8], "b": ["x", "y", "z"]}, replicates, lambda p: table[p])
    assert search.best == np.unravel_index(table.argmin(), table.shape)
    assert len(search.reached) == 12
    for request in asked:
        assert (request.start, request.stop) in ({(0, 5)} if replicates == 5 else {(0, 11), (11, 33), (33, 100)})


def test_the_first_of_equals_in_a_list_is_chosen():
    search, _ = searched({"a": [5, 6, 7], "b": ["x", "y"]}, 20, lambda p: (p[0] - 1.0) ** 2)
    assert search.arguments(search.best) == {"a": 6, "b": "x"}
    assert search.ends() == []  # x and y tie


def test_two_lists_that_interact_are_searched_together():
    """From (0, 0) no change of one argument is better; only (2, 2) is."""
    search, _ = searched({"a": [0, 1, 2], "b": [0, 1, 2]}, 5, lambda p: -1.0 * (p == (2, 2)) + 1.0 * (p != (0, 0)))
    assert search.best == (0, 0)
    search, _ = searched({"a": [0, 1, 2], "b": [0, 1, 2]}, 5, lambda p: -2.0 * (p == (2, 2)) + 1.0 * (p != (0, 0)))
    assert search.best == (2, 2)


@pytest.mark.parametrize("end", [(3, 3), (3, -3), (-3, 3), (-3, -3)])
@pytest.mark.parametrize("replicates", [20, 100])
def test_a_narrow_diagonal_valley_is_followed_downhill(end, replicates):
    """From (0, 0) every step along one argument is uphill; along both it goes down to the end."""
    turn = end[0] // end[1]

    def value(p):
        return 10.0 * (p[0] - turn * p[1]) ** 2 + (p[0] - end[0]) ** 2

    assert all(value(p) > value((0, 0)) for k in (-2, -1, 1, 2) for p in ((k, 0), (0, k)))
    assert searched({"a": WALK, "b": WALK}, replicates, value)[0].best == end


def test_the_grid_grows_until_the_best_has_worse_neighbours():
    search, asked = searched({"a": WALK}, 20, lambda p: (p[0] + 3.2) ** 2)
    assert search.best == (-3,)
    assert sorted(search.reached) == [(-6,), (-5,), (-4,), (-3,), (-2,), (0,), (2,)]  # by two, then by one
    assert {(request.start, request.stop) for request in asked} == {(0, 20)}
    assert search.ends() == []


def test_the_end_of_the_reach_is_marked_and_so_is_that_of_a_list():
    search, _ = searched({"a": WALK, "b": [1, 2, 3]}, 20, lambda p: -p[0] - p[1])
    assert search.arguments(search.best) == {"a": 1e6, "b": 3}
    assert search.ends() == ["a", "b"]


def test_values_that_tie_on_the_first_replicates_only_have_an_end():
    late = np.arange(100) >= 11
    search, _ = searched({"a": [1, 2]}, 100, lambda p: (p[0] == 0) * late.astype(float))
    assert (search.best, search.ends()) == ((1,), ["a"])


def test_where_nothing_matters_it_stays_at_the_start():
    search, _ = searched({"a": WALK, "b": WALK}, 100, lambda p: 1.0)
    assert search.best == (0, 0)
    assert len(search.reached) == 13


def test_every_place_plays_the_first_replicates_in_order_and_the_worse_ones_stop_early():
    sign = (-1.0) ** np.arange(100)

    def value(p):
        return (p[0] - 5) ** 2 + p[0] * sign

    search, asked = searched({"a": WALK}, 100, value)
    assert search.best == (5,)
    played = {place[0]: values.size for place, values in search.reached.items()}
    assert {played[k] for k in (-2, 0, 2)} == {11}
    assert played[5] == 100
    assert {(r.start, r.stop) for r in asked} == {(0, 11), (11, 33), (33, 100)}
    for place, values in search.reached.items():
        np.testing.assert_array_equal(values, value(place)[: values.size])


def test_a_place_that_only_looked_worse_on_the_first_replicates_is_found_later():
    """Place 1 is the best on all replicates, and worse than 0, though not clearly, on the first eleven."""
    k = np.arange(100)
    late = np.where(k < 11, 1.0 + 4.0 * (-1.0) ** k, -1.0)
    search, _ = searched({"a": WALK}, 100, lambda p: (p[0] == 1) * late + (p[0] == -2) * 2.0)
    assert search.best == (1,)
    assert (2,) in search.reached  # what lies beyond it was tried then


def test_a_walk_that_followed_a_few_lucky_replicates_comes_back():
    """On the first eleven it goes up, wavering; on all the others -1 is best, which looked a little worse at first."""
    k = np.arange(100)
    search, _ = searched(
        {"a": WALK}, 100, lambda p: np.where(k < 11, -p[0] * (1.0 + 3.0 * (-1.0) ** k), 5.0 * (p[0] + 1) ** 2)
    )
    assert (6,) in search.reached  # the last step that it may take, on the first replicates
    assert search.best == (-1,)


@pytest.mark.parametrize(("spread", "chosen"), [(0.05, 5), (0.15, 4), (1.0, 0)])
def test_of_what_is_as_good_as_the_best_within_a_standard_error_the_nearest_to_the_start_is_chosen(spread, chosen):
    """Place p is worse than 5 by (p - 5)^2 / 100, known up to a standard error of ``spread |p - 5| / 10``.

    So 4 is within one of them where the spread is above 0.1, and 0 where it is above 0.5.
    """
    sign = (-1.0) ** np.arange(100)
    search, _ = searched({"a": WALK}, 100, lambda p: (p[0] - 5) ** 2 / 100 + spread * p[0] * sign)
    assert search.best == (chosen,)


def test_a_refused_place_is_never_chosen():
    search, _ = searched({"a": WALK}, 30, lambda p: np.inf if p[0] > 2 else (p[0] - 5) ** 2)
    assert search.best == (2,)
    assert search.ends() == []  # what lies beyond was tried, and refused
