"""From predictions to probabilities by inverse gaps; their rates; many actions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect import FSSquareCB, SquareCB, on_map
from banditselect.plays.inverse_gaps import GapRate, evaluated
from banditselect.plays.schedules import Power
from plays_alone import inverse_gap_weighting

scores = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)
few_values = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=8)  # many ties


def igw(score, alpha, offered=None):
    mask = None if offered is None else np.array([offered])
    return inverse_gap_weighting(np.array([score], dtype=float), np.array([float(alpha)]), mask)[0]


@pytest.mark.parametrize(
    ("score", "alpha", "offered", "expected"),
    [
        ([0.5, 0.7, 0.0], 10, None, [0.2, 0.7, 0.1]),  # gaps .2, 0, .7 -> 1 / (3 + 2), the rest, 1 / (3 + 7)
        ([1.0, 0.5, 1.0], 2, None, [0.375, 0.25, 0.375]),  # ties share
        ([3.0, 3.0, 3.0, 3.0], 7, None, [0.25] * 4),
        ([9.0, 0.7, 0.5, 0.0], 10, [False, True, True, True], [0.0, 0.7, 0.2, 0.1]),  # only what is offered counts
        ([9.0, 0.7], 10, [False, True], [0.0, 1.0]),
        ([0.1, 5.0, -3.0, 0.2, 0.3], 0, None, [0.2] * 5),  # no rate is uniform, a huge one greedy
        ([0.1, 5.0, -3.0], 1e300, None, [0.0, 1.0, 0.0]),
        ([-4.0], 3, None, [1.0]),
    ],
)
def test_inverse_gaps_by_hand(score, alpha, offered, expected):
    np.testing.assert_allclose(igw(score, alpha, offered), expected, rtol=1e-14, atol=1e-290)


def test_rows_have_their_own_rate_and_mask():
    score = np.array([[0.0, 1.0, 2.0]] * 2)
    p = inverse_gap_weighting(score, np.array([0.0, 1.0]), np.array([[True, True, False], [True, True, True]]))
    np.testing.assert_allclose(p, [[0.5, 0.5, 0.0], [0.2, 0.25, 0.55]], rtol=1e-14)


@given(score=scores | few_values, alpha=st.floats(0.0, 1e6), data=st.data())
def test_inverse_gaps_are_probabilities_that_favour_the_better(score, alpha, data):
    offered = data.draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score)).filter(any))
    p = igw(score, alpha, offered)
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    assert p.min() >= 0.0
    assert p[~np.array(offered)].max(initial=0.0) == 0.0
    for a in range(p.size):
        for b in range(p.size):
            if offered[a] and offered[b]:
                if score[a] > score[b]:
                    assert p[a] >= p[b] * (1.0 - 1e-13)
                if score[a] == score[b]:
                    assert p[a] == p[b]


@pytest.mark.parametrize("schedule", [Power(3.0), Power(2.0, 0.0), Power(1.0, 2.0), math.log1p])
def test_rates_of_lanes(schedule):
    updates = np.array([0, 1, 4, 100])
    ids = np.array([3, 0, 2])
    found = evaluated(ids, GapRate(schedule, 2.0)(ids, updates, 5, None))
    np.testing.assert_allclose(found, [schedule(100) / 2.0, schedule(0) / 2.0, schedule(4) / 2.0], rtol=1e-14)


# Thousands of actions


def test_most_actions_are_where_the_best_one_gets_half_of_the_plays():
    """The best of K actions, .1 of a span of 2 above all others, after 10,000 rewards: alpha = 300 * 100 / 2."""
    rate = GapRate(300.0, 2.0)
    assert rate.most_actions == 3000.0
    for K, most in ((3000, 0.51), (3002, 0.5)):
        score = np.zeros((1, K))
        score[0, 7] = 0.2
        p = inverse_gap_weighting(score, np.array([300.0 * 100.0 / 2.0]), None)[0, 7]
        assert most - 0.01 < p < most
    assert GapRate(np.sqrt, 2.0).most_actions == np.inf


@pytest.mark.parametrize(
    ("policy", "features", "instead"),
    [
        (SquareCB(dim=1), np.ones((3001, 1)), 'design="optimal", LinIDS, LinTS or OFUL'),
        (FSSquareCB(n_models=2, dim=1), np.ones((2, 3001, 1)), 'design="optimal", FSIDS, FSTS or FSOFUL'),
        (on_map(SquareCB(dim=1), 0), np.ones((2, 3001, 1)), 'design="optimal", LinIDS, LinTS or OFUL'),
    ],
)
def test_many_actions_are_warned_of_once(policy, features, instead):
    policy.update(policy.act(features[..., :3000, :]), 0.5)
    few = np.arange(3001) < 20
    policy.update(policy.act(features, available=few), 0.5)
    with pytest.warns(RuntimeWarning, match=f"SquareCB: 3001 actions are played nearly uniformly: .* Use {instead}"):
        policy.act(features)
    policy.update(policy.act(features), 0.5)
