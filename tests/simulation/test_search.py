"""Where tuning looks: on landscapes whose best place is known."""

import itertools
import math

import numpy as np
import pytest

from banditselect import given
from banditselect.runtime.binding import Constant
from banditselect.simulation.search import Search, Steps

WALK = Steps(1.0, factor=10.0, reach=6)


def searched(axes, replicates, value, noise=0.0):
    """Run a search on a landscape; return it with what it asked for."""
    search, asked = Search(axes, replicates), []
    shocks = np.random.default_rng(0).normal(size=replicates)
    while (request := search.next()) is not None:
        asked.append(request)
        lanes = np.arange(request.start, request.stop)
        search.learn({p: value(p) + shocks[lanes] + noise * np.cos(7.0 * lanes + sum(p)) for p in request.places})
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


def test_a_list_is_tried_as_a_whole_and_the_first_of_equals_is_chosen():
    search, asked = searched({"a": [5, 6, 7], "b": ["x", "y"]}, 20, lambda p: (p[0] - 1) ** 2)
    assert [request.places for request in asked] == [tuple(itertools.product(range(3), range(2)))]
    assert search.arguments(search.best) == {"a": 6, "b": "x"}
    assert search.ends() == []  # x and y tie


def test_the_walk_ends_where_every_neighbour_is_worse():
    search, asked = searched({"a": WALK}, 20, lambda p: (p[0] + 3.2) ** 2)
    assert search.best == (-3,)
    assert sorted(search.reached) == [(-6,), (-5,), (-4,), (-3,), (-2,), (0,), (2,)]  # by two, then by one
    assert {(request.start, request.stop) for request in asked} == {(0, 20)}
    assert search.ends() == []


@pytest.mark.parametrize("end", [(3, 3), (3, -3), (-3, 3), (-3, -3)])
def test_a_narrow_diagonal_valley_is_followed_downhill(end):
    """From (0, 0) every step along one argument is uphill; along both it goes down to the end, and not back."""
    turn = end[0] // end[1]
    search, _ = searched({"a": WALK, "b": WALK}, 20, lambda p: 10.0 * (p[0] - turn * p[1]) ** 2 + (p[0] - end[0]) ** 2)
    assert search.best == end
    assert (-end[0] // 3, -end[1] // 3) not in search.reached


def test_the_end_of_the_reach_is_told_and_so_is_that_of_a_list():
    search, _ = searched({"a": WALK, "b": [1, 2, 3]}, 20, lambda p: -p[0] - p[1])
    assert search.arguments(search.best) == {"a": 1e6, "b": 3}
    assert search.ends() == ["a", "b"]


def test_values_that_tie_on_the_first_replicates_only_have_an_end():
    late = np.arange(100) >= 8
    search = Search({"a": [1, 2]}, 100)
    while (request := search.next()) is not None:
        search.learn({p: (p[0] == 0) * late[request.start : request.stop].astype(float) for p in request.places})
    assert (search.best, search.ends()) == ((1,), ["a"])


def test_where_nothing_matters_it_stays_at_the_start():
    search, _ = searched({"a": WALK, "b": WALK}, 100, lambda p: 1.0)
    assert search.best == (0, 0)
    assert len(search.reached) == 13


@pytest.mark.parametrize(
    ("spread", "played"),
    [
        (1.0, {-2: 8, 0: 25, 2: 8, 3: 8, 4: 8, 5: 100, 6: 8}),  # 4 and 6 are clearly worse on eight replicates
        (2.0, {-2: 8, 0: 25, 2: 8, 3: 8, 4: 25, 5: 100, 6: 25}),  # not on eight, but on 25
    ],
)
def test_of_many_replicates_most_places_play_a_twelfth_the_start_a_quarter_and_the_best_all(spread, played):
    """Place p is worse than 5 by |p - 5| / spread / c standard errors: c is .38 on 8 replicates, .20 on 25."""
    sign = (-1.0) ** np.arange(100)
    asked, search = [], Search({"a": WALK}, 100)
    while (request := search.next()) is not None:
        asked.append(request)
        now = sign[request.start : request.stop]
        search.learn({p: (p[0] - 5) ** 2 + spread * p[0] * now for p in request.places})
    assert search.best == (5,)
    assert {place[0]: values.size for place, values in search.reached.items()} == played
    for place, values in search.reached.items():  # every replicate once, in order
        np.testing.assert_array_equal(values, ((place[0] - 5) ** 2 + spread * place[0] * sign)[: values.size])
    assert [(r.start, r.stop) for r in asked[-2:]] == [(8, 25), (25, 100)]


def test_what_only_looked_worse_on_the_first_replicates_is_found_later():
    """Place 1 is the best on all replicates and the fourth, but not clearly worse, on the first eight: it goes on."""
    k = np.arange(100)
    late = np.where(k < 8, 1.0 + 4.0 * (-1.0) ** k, -1.0)
    search = Search({"a": WALK}, 100)
    while (request := search.next()) is not None:
        now = late[request.start : request.stop]
        search.learn({p: (p[0] == 1) * now + (p[0] == -2) * 2.0 for p in request.places})
    assert search.best == (1,)
    assert search.reached[2,].size >= 8  # and what lies beyond it was tried then


def test_a_walk_that_followed_a_few_lucky_replicates_comes_back():
    """On the first eight it goes up, wavering; on all the others -1 is best, which looked a little worse at first."""
    k = np.arange(100)

    def value(place):
        return np.where(k < 8, -place * (1.0 + 3.0 * (-1.0) ** k), 5.0 * (place + 1) ** 2)

    search = Search({"a": WALK}, 100)
    while (request := search.next()) is not None:
        search.learn({p: value(p[0])[request.start : request.stop] for p in request.places})
    assert search.reached[6,].size >= 8  # the end of what it may reach, where the first replicates led
    assert search.best == (-1,)


@pytest.mark.parametrize(("spread", "chosen"), [(0.05, 5), (0.15, 4), (1.0, 0)])
def test_of_what_is_as_good_as_the_best_within_a_standard_error_the_nearest_to_the_start_is_chosen(spread, chosen):
    """Place p is worse than 5 by (p - 5)^2 / 100, known up to a standard error of ``spread |p - 5| / 10``.

    So 4 is within one of them where the spread is above 0.1, and 0 where it is above 0.5.
    """
    sign = (-1.0) ** np.arange(100)
    search = Search({"a": WALK}, 100)
    while (request := search.next()) is not None:
        found = {p: (p[0] - 5) ** 2 / 100 + spread * p[0] * sign[request.start : request.stop] for p in request.places}
        search.learn(found)
    assert search.best == (chosen,)
    assert search.reached[5,].mean() < search.reached[search.best].mean() or chosen == 5


def test_a_single_replicate_has_no_standard_error_and_the_best_is_chosen():
    search, _ = searched({"a": WALK}, 1, lambda p: (p[0] - 3) ** 2)
    assert search.best == (3,)


def test_a_hint_saves_the_walk_and_is_no_start():
    """From (0, 0) the walk to (-4, 4) goes by two, then by one; from a hint next to it by one."""

    def value(place):
        return (place[0] + 4) ** 2 + (place[1] - 4) ** 2

    tried = {}
    for hint in ((), (-4, 3), (6, -6)):
        search = Search({"a": WALK, "b": WALK}, 20, hint)
        while (request := search.next()) is not None:
            search.learn({p: np.full(20, value(p)) for p in request.places})
        assert search.best == (-4, 4)
        tried[hint] = len(search.reached)
    assert tried == {(): 22, (-4, 3): 11, (6, -6): 23}
    search = Search({"a": WALK, "b": WALK}, 20, (5, 5))
    while (request := search.next()) is not None:
        search.learn({p: np.ones(20) for p in request.places})
    assert search.best == (0, 0)  # where nothing matters
