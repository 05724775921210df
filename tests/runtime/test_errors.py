"""Refusals: their words, their fields, their way between processes, and what they say of features."""

import copy
import inspect
import pickle
import re
import threading

import cloudpickle
import numpy as np
import pytest

from banditselect import Catalogue, FSSquareCB, SquareCB
from banditselect.runtime.errors import ArgumentError, refuse, shown, warn


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
    lock = threading.Lock()  # it cannot travel, and arrives as its picture
    assert travel(refuse("lock", lock, "a number")).value == shown(lock)


# Errors name the fault of features: the type, or the first entry that cannot be used.

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


@pytest.mark.parametrize("features", [np.ones((2, 5, 3)), [np.ones((5, 3)), np.ones((5, 8))], "catalogue"])
def test_a_policy_of_one_map_that_is_given_several_is_told_of_on_map(features):
    if isinstance(features, str):
        features = Catalogue(np.ones((2, 5, 3))).offer([0, 1])
    with pytest.raises(ValueError, match=r"\(K, 3\); on_map\(policy, i\) looks at one of several maps$"):
        SquareCB(dim=3).act(features)
    with pytest.raises(ValueError, match=r"expected finite numbers of shape \(K, 3\)$"):
        SquareCB(dim=3).act(np.ones((5, 4)))


def test_a_warning_points_at_the_caller_of_the_package():
    here = inspect.currentframe().f_lineno + 2
    with pytest.warns(RuntimeWarning, match="^range is wide$") as caught:
        warn("range is wide")
    assert (caught[0].filename, caught[0].lineno) == (__file__, here)
