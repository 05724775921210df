"""Lanes that are made fresh again are as new, and the others notice nothing."""

import numpy as np
import pytest

from banditselect import SquareCB
from banditselect.checks.game import Game, make, play, snapshot
from policies_under_check import NAMES, POLICIES


def rows(policy, lane):
    """Everything that a lane has learned, but for the count of its acts."""
    learned = snapshot(policy, slice(lane, lane + 1))
    return {name: content for name, content in learned.items() if "_ledger" not in name}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*lies outside")
def test_a_lane_is_as_new_and_the_others_as_before(name):
    policy, game = make(POLICIES[name][0], lanes=3)
    play(policy, game, 15)
    kept = rows(policy, 0), rows(policy, 2)
    policy.reset_lanes([1])
    fresh, _ = make(POLICIES[name][0], lanes=3)
    assert rows(policy, 1) == rows(fresh, 1)
    assert (rows(policy, 0), rows(policy, 2)) == kept
    assert policy.rounds.tolist() == [15, 0, 15]
    features = Game(policy, range(3)).features()
    if policy.has_propensity:
        mine, new = (p.probabilities(game.shown([m[1:2] for m in features]), lanes=[1]) for p in (policy, fresh))
        np.testing.assert_array_equal(mine, new)


def test_what_a_lane_decided_before_is_refused_afterwards():
    policy = SquareCB(dim=2, lanes=2)
    early, late = (policy.act(np.ones((1, 3, 2)), lanes=[1]) for _ in range(2))
    policy.update(late, [0.5])
    of_a_worker = policy.fork("shop").act(np.ones((1, 3, 2)), lanes=[1])
    policy.update(of_a_worker, [0.5])
    policy.reset_lanes([1])
    assert not policy.has_learned(of_a_worker)
    for decision in (early, late):
        with pytest.raises(ValueError, match="decision"):
            policy.update(decision, [0.5])
    again = policy.act(np.ones((1, 3, 2)), lanes=[1])
    assert again.number.tolist() == [2]
    policy.update(again, [1.0])
    assert policy.rounds.tolist() == [0, 1]


def test_settings_of_a_lane_stay():
    policy = SquareCB(dim=1, regularization=[1.0, 3.0], lanes=2)
    for _ in range(2):
        policy.learn([[1.0]], [1.0], lanes=[1])
        assert policy.parameters[1].item() == pytest.approx(0.25)
        policy.reset_lanes([1])


def test_a_reward_outside_the_range_is_warned_of_once_even_if_its_lane_is_reset():
    policy = SquareCB(dim=1, lanes=1)
    with pytest.warns(RuntimeWarning, match="no further warning"):
        policy.learn([[1.0]], [5.0])
    policy.reset_lanes([0])
    policy.learn([[1.0]], [5.0])  # a second warning would be an error


def test_a_policy_without_lanes_and_lanes_that_are_none():
    with pytest.raises(ValueError, match="reset_lanes"):
        SquareCB(dim=2).reset_lanes([0])
    with pytest.raises(ValueError, match="lanes"):
        SquareCB(dim=2, lanes=2).reset_lanes([2])
