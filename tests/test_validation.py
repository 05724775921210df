"""What comes in: accepted or refused, and every refusal names the argument, what was given and what is expected."""

import copy
import math
import pickle
import pydoc
import re
import threading

import cloudpickle
import numpy as np
import pytest

from banditselect import OFUL, PSOFUL, PSTS, Catalogue, FSSquareCB, LinTS, SquareCB
from banditselect.carriers.validation import (
    ArgumentError,
    Bounds,
    Constraint,
    Number,
    Numbers,
    OneOf,
    Rate,
    Widths,
    as_floats,
    check_all,
    lane_ids,
    offered,
    refuse,
    rewards,
    seed,
    shown,
    whole_number,
)
from refusals import HUGE, INF, NAN, refused

# Words.


def test_refusals_show_what_was_given():
    assert str(refuse("rate", -1, "a number")) == "rate: got -1, expected a number"
    assert shown(np.zeros((3, 4))) == "an array of shape (3, 4)"
    assert shown(np.array([1.0, 2.0])) == "array([1., 2.])"
    assert shown([np.float64(0.5), np.zeros((3, 4))]) == "[0.5, an array of shape (3, 4)]"
    assert len(shown("a" * 1000)) == 80


@pytest.mark.parametrize(
    ("name", "owner", "argument"),
    [
        ("rate", "", "rate"),
        ("OFUL: noise", "OFUL", "noise"),
        ("Log.read: items", "Log.read", "items"),
        ("policies['a: b']", "", "policies['a: b']"),
        ("policies['fs']: exploration", "", "policies['fs']: exploration"),
    ],
)
def test_a_refusal_has_fields(name, owner, argument):
    value = [1, 2]
    error = refuse(name, value, "a number")
    assert isinstance(error, ValueError)
    assert str(error) == f"{name}: got [1, 2], expected a number"
    assert (error.owner, error.argument, error.expected) == (owner, argument, "a number")
    assert error.value is value


ROUND_TRIPS = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "cloudpickle": lambda error: cloudpickle.loads(cloudpickle.dumps(error)),
    "copy": copy.deepcopy,
}


@pytest.mark.parametrize("travel", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
@pytest.mark.parametrize("value", [-1.5, None, "x" * 500, np.arange(20.0), {"a": (1, 2)}], ids=type)
def test_a_refusal_keeps_its_fields_on_the_way_between_processes(travel, value):
    error = refuse("OFUL: noise", value, "a number > 0")
    error.add_note("on problem 3")
    arrived = travel(error)
    assert type(arrived) is ArgumentError
    assert (str(arrived), repr(arrived)) == (str(error), repr(error))
    assert (arrived.owner, arrived.argument, arrived.expected) == ("OFUL", "noise", "a number > 0")
    np.testing.assert_equal(arrived.value, value)
    assert arrived.__notes__ == ["on problem 3"]


@pytest.mark.parametrize("travel", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_a_value_that_cannot_travel_arrives_as_its_picture(travel):
    lock = threading.Lock()
    arrived = travel(refuse("lock", lock, "a number"))
    assert arrived.value == shown(lock)
    assert str(arrived) == f"lock: got {lock!r}, expected a number"


def test_all_arguments_are_checked_under_their_owner():
    constraints = {"a": Number(low=0.0), "b": OneOf(("x", "y"))}
    check_all("Policy", constraints, {"a": 1.0, "b": "x", "more": None}, None)
    refused(check_all, "Policy", constraints, {"a": -1.0, "b": "x"}, None, name="Policy: a", given="-1.0")
    refused(check_all, "Policy", constraints, {"a": 1.0, "b": "z"}, None, name="Policy: b", given="'z'")


# Constraints.


@pytest.mark.parametrize(
    ("constraint", "values"),
    [
        (Number(), [0, -3, 2.5, np.float32(1.5), np.int8(-1), 1e30, 10**20]),
        (Number(low=0.0), [0, 0.0, 5e-324, 7]),
        (Number(low=0.0, above=True), [5e-324, 7]),
        (Number(low=0.0, high=1.0, above=True, below=True), [0.5, 1e-9, 1.0 - 1e-9]),
        (Number(high=1.0), [1, -1e20]),
        (Number(low=1, integer=True), [1, 7, 3.0, np.int64(9), np.uint8(3)]),
        (Number(optional=True), [None, 1.0]),
        (OneOf(("a", "b")), ["a", "b"]),
        (Bounds(), [(0, 1), (0, 2e-30), [-1.5, 2], np.array([0.0, 1.0]), (np.float32(0), np.int64(3))]),
        (Widths(), [1, 5, 3.0, [1, 2, 3], (4,), np.array([2, 2]), np.int64(2)]),
        (Rate(), [0, 10.0, np.float32(2.0), 10**20, math.sqrt]),
        (Rate(("paper",)), ["paper", 3]),
        (Numbers(shapes=((), (None,))), [1.0, [1.0, 2.0], (3,), np.zeros(4), True]),
        (Numbers(shapes=((None, 2),)), [[[1, 2]], np.zeros((5, 2), dtype=np.float32)]),
        (Numbers(shapes=((None,),), low=0.0), [[0.0, 1.0]]),
        (Numbers(shapes=((None,),), optional=True), [None]),
        (Constraint(), [None, "anything", object()]),
    ],
)
def test_constraints_accept(constraint, values):
    for value in values:
        constraint.check("x", value, None)


@pytest.mark.parametrize(
    ("constraint", "expected", "values"),
    [
        (Number(), "a finite number", [NAN, INF, -INF, HUGE, -HUGE, "1", None, True, 1j, [1.0], np.array([1.0])]),
        (Number(low=0.0), "a finite number >= 0", [-1e-300, -1]),
        (Number(low=0.0, above=True), "a finite number > 0", [0, 0.0, -1]),
        (
            Number(low=0.0, high=1.0, above=True, below=True),
            "a finite number > 0 and < 1",
            [0, 1, 0.0, 1.0, 2, -1, NAN],
        ),
        (Number(high=1.0), "a finite number <= 1", [1.0001]),
        (Number(low=1, integer=True), "a whole number >= 1", [0, 1.5, -2, None, "2", True]),
        (Number(optional=True), "a finite number or None", [NAN, "none"]),
        (OneOf(("a", "b")), "one of 'a', 'b'", ["c", "", None, 1, ["a"], "A"]),
        (
            Bounds(),
            "a pair (low, high) of finite numbers with high - low >= 2e-30",
            [
                (1, 0),
                (1, 1),
                (0, 1e-200),
                (0, 1e-30),
                (0,),
                (0, 1, 2),
                (0, INF),
                (NAN, 1),
                (0, HUGE),
                3,
                None,
                "ab",
                ("a", "b"),
                [[0, 1], [2, 3]],
            ],
        ),
        (Widths(), "a whole number >= 1, or one for each model", [0, -1, 1.5, [], [1, 0], [2, 2.5], None, "3", True]),
        (Rate(), "a finite number >= 0, a schedule", [-1.0, NAN, INF, HUGE, None, "paper", True]),
        (Rate(("paper",)), "'paper'", ["printed", -1]),
        (
            Numbers(shapes=((), (None,))),
            "a number or shape (any)",
            [[[1.0]], "a", None, [], NAN, [1.0, INF], [HUGE], [1j]],
        ),
        (Numbers(shapes=((None, 2),)), "shape (any, 2)", [[1, 2], np.zeros((2, 3)), np.zeros((0, 2)), [[1, 2], [3]]]),
        (Numbers(shapes=((None,),), low=0.0), "finite numbers >= 0", [[-1.0, 2.0], [NAN]]),
    ],
)
def test_constraints_refuse(constraint, expected, values):
    for value in values:
        refused(constraint.check, "x", value, None, expected=expected)


@pytest.mark.parametrize("value", [NAN, INF, -INF, np.float32(NAN), 10**400, -(10**400)], ids=lambda v: f"{v!r:.7}")
@pytest.mark.parametrize(
    "constraint",
    [Number(), Number(low=1, integer=True), Widths(), Rate(), Bounds(), Numbers(shapes=((),))],
    ids=["number", "whole", "widths", "rate", "bounds", "numbers"],
)
def test_no_constraint_stumbles_over_what_has_no_end(constraint, value):
    refused(constraint.check, "x", (0.0, value) if isinstance(constraint, Bounds) else value, None)


def test_numbers_per_lane():
    number = Number(low=0.0, above=True, per_lane=True)
    for value in (2.0, [1.0, 2.0, 3.0], np.array([1, 2, 3])):
        number.check("x", value, 3)
    number.check("x", 2.0, None)
    wrong = [[1.0, 2.0], [1.0, 0.0, 2.0], [1.0, NAN, 2.0], [[1.0, 2.0, 3.0]], ["a", "b", "c"], [1.0, [2.0], 3.0], -1.0]
    for value in wrong:
        refused(number.check, "x", value, 3, expected="a finite number > 0 (or one per lane)")
    refused(number.check, "x", [1.0, 2.0, 3.0], None)
    refused(Number().check, "x", [1.0, 2.0, 3.0], 3, expected="a finite number")
    refused(Number(integer=True, per_lane=True).check, "x", [1, INF], 2)


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


@pytest.mark.parametrize("value", [0, 7, np.int64(3), (0,), (1, 2), [3, np.int32(4)], 2**70])
def test_seeds_accepted(value):
    seed("seed", value)


@pytest.mark.parametrize(
    "value", [-1, 1.0, None, "1", (), [], (1, -1), (1, 2.0), True, (True,), np.array([1, 2]), {1, 2}, NAN]
)
def test_seeds_refused(value):
    refused(seed, "seed", value, name="seed", expected="a whole number >= 0, or a tuple of them")


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


# What is wrong with features is named: the type, or the first entry that will not do.

ONES = np.ones((5, 3))


def with_entry(value, dtype=float):
    features = ONES.astype(dtype)
    features[2, 1] = value
    return features


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (with_entry(np.nan), "an array of shape (5, 3) with nan at [2, 1]"),
        (with_entry(1e40), "an array of shape (5, 3) with 1e+40 at [2, 1]"),
        (with_entry(np.inf).tolist(), "values of shape (5, 3) with inf at [2, 1]"),
        (with_entry(None, object), "an array of shape (5, 3) and dtype object, with None at [2, 1]"),
        (ONES.astype(object), "an array of shape (5, 3) and dtype object"),
        (ONES.astype(complex), "an array of shape (5, 3) and dtype complex128"),
        (ONES.astype("U3"), "an array of shape (5, 3) and dtype <U3"),
        (ONES.astype("U3").tolist(), "an array of shape (5, 3) and dtype <U3"),
    ],
)
def test_a_refusal_of_features_names_the_fault(features, words):
    with pytest.raises(ValueError, match=f"^features: got {re.escape(words)}, expected finite numbers of shape"):
        SquareCB(dim=3).act(features)


def test_the_fault_is_named_behind_many_sound_maps():
    maps = [np.ones((5, 3)) for _ in range(6)]
    maps[4][1, 2] = np.nan
    words = r"a list of 6 with, at \[4\], an array of shape \(5, 3\) with nan at \[1, 2\]"
    with pytest.raises(ValueError, match=f"features: got {words}, expected"):
        FSSquareCB(n_models=6, dim=3).act(maps)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: OFUL(dim=3, noise=1e300), "noise"),
        (lambda: OFUL(dim=3, noise=10**400), "noise"),
        (lambda: OFUL(dim=3, noise=[1.0, 1e300], lanes=2), "noise"),
        (lambda: SquareCB(dim=3, reward_range=(0.0, 1e300)), "reward_range"),
        (lambda: SquareCB(dim=3, exploration=1e300), "exploration"),
        (lambda: PSOFUL(centers=np.full((3, 3), 1e300), radii=0.1, noise=0.1), "centers"),
    ],
)
def test_what_is_too_large_is_told_how_large_it_may_be(make, argument):
    with pytest.raises(ValueError, match=rf"^\w+: {argument}: got .*; at most 1e\+30 in magnitude$"):
        make()


@pytest.mark.parametrize("features", [np.ones((2, 5, 3)), [np.ones((5, 3)), np.ones((5, 8))], "catalogue"])
def test_a_policy_of_one_map_that_is_given_several_is_told_of_on_map(features):
    if isinstance(features, str):
        features = Catalogue(np.ones((2, 5, 3))).offer([0, 1])
    with pytest.raises(ValueError, match=r"\(K, 3\); on_map\(policy, i\) looks at one of several maps$"):
        SquareCB(dim=3).act(features)
    with pytest.raises(ValueError, match=r"expected finite numbers of shape \(K, 3\)$"):
        SquareCB(dim=3).act(np.ones((5, 4)))


@pytest.mark.parametrize("cls", [FSSquareCB, OFUL, PSOFUL, PSTS, LinTS])
def test_help_opens_with_a_short_signature(cls):
    page = pydoc.render_doc(cls, renderer=pydoc.plaintext).splitlines()
    assert max(map(len, page)) < 750
    assert "'float | ArrayLike | None'" in page[3] or cls is not FSSquareCB
