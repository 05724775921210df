"""Numbers, masks, lanes and rewards that users pass: brought into one form, or refused by name."""

import numpy as np
import pytest

from banditselect.runtime.constraints import whole_number
from banditselect.runtime.inputs import as_floats, lane_ids, offered, rewards
from refusals import HUGE, INF, NAN, refused


def test_as_floats():
    for value in (1, True, [1, 2], np.zeros(2, dtype=np.float32), np.uint8(3)):
        assert as_floats("x", value, "n").dtype == np.float64
    x = np.zeros(3)
    assert as_floats("x", x, "n") is x
    for value in ("1", None, [1, "a"], [[1], [1, 2]], 1j, object(), np.array(["1"]), np.array([None])):
        refused(as_floats, "x", value, "numbers", expected="numbers")


def test_whole_numbers():
    assert whole_number("n", 3.0, 1) == 3
    assert isinstance(whole_number("n", np.int64(3), 1), int)
    for value in (0, 2.5, "3", None, True):
        refused(whole_number, "n", value, 1, name="n", expected="a whole number >= 1")


# Masks, lanes, rewards.


def test_offered():
    mask = offered([True, False, True], 2, 3)
    np.testing.assert_array_equal(mask, [[True, False, True]] * 2)
    assert mask.flags.c_contiguous
    np.testing.assert_array_equal(offered([[True, False], [False, True]], 2, 2), [[True, False], [False, True]])
    np.testing.assert_array_equal(offered(np.array([True]), 1, 1), [[True]])


@pytest.mark.parametrize(
    "value",
    [
        [1, 0, 1],
        [1.0, 0.0, 1.0],
        "yes",
        True,
        [True, False],
        [[True, False, True]],
        [[True, True, True], [False, False, False]],
        [False, False, False],
        [[True, True], [True, True], [True, True]],
        [[True], [True, False]],
        [],
    ],
)
def test_masks_refused(value):
    refused(offered, value, 2, 3, name="available", expected="booleans of shape (3,) or (2, 3)")


def test_lane_ids():
    for value in ([2, 0], (2, 0), np.array([2, 0], dtype=np.uint8)):
        ids = lane_ids(value, 3)
        np.testing.assert_array_equal(ids, [2, 0])
        assert ids.dtype == np.int64
    np.testing.assert_array_equal(lane_ids(1, 3), [1])


@pytest.mark.parametrize(
    "value", [[3], [-1], [0, 0], [], [[0, 1]], [0.0], [True, False, True], "0", None, [0, 1.5], [[0], [1, 2]], [10**30]]
)
def test_lane_ids_refused(value):
    refused(lane_ids, value, 3, name="lanes", expected="different lanes between 0 and 2")


def test_rewards():
    for value in (1.5, np.float32(1.5), np.array(1.5)):
        np.testing.assert_array_equal(rewards(value, 1, False), [1.5])
    np.testing.assert_array_equal(rewards(1, 1, False), [1.0])
    np.testing.assert_array_equal(rewards(True, 1, False), [1.0])
    for value in ([1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8)):
        y = rewards(value, 2, True)
        np.testing.assert_array_equal(y, [1.0, 2.0])
        assert y.dtype == np.float64
    given = np.array([1.0, 2.0])
    rewards(given, 2, True)[0] = 9.0
    assert given[0] == 1.0


@pytest.mark.parametrize(
    "value", [NAN, INF, HUGE, -HUGE, np.float64(NAN), "1", None, 1j, [1.0], np.zeros(1), [[1], [2, 3]]]
)
def test_a_reward_refused(value):
    refused(rewards, value, 1, False, name="reward", expected="a finite number")


@pytest.mark.parametrize(
    "value", [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [1.0, NAN], [INF, 1.0], ["a", "b"], [1, [2, 3]]]
)
def test_rewards_of_lanes_refused(value):
    refused(rewards, value, 2, True, name="reward", expected="finite numbers of shape (2,)")
