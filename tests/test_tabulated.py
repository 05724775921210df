"""What is looked up is what would have been computed, for lanes of any constants at any t."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect import PSOFUL, FSSquareCB, SquareCB
from banditselect.policies.tabulated import Tabulated
from banditselect.theory import feature_selection, parameter_selection

M = 3
BOUNDS = {"feature_bound": [0.5, 2.0, 0.5], "reward_bound": [1.0, 3.0, 1.0], "noise": [0.2, 1.0, 0.2]}
LANES = [{"delta": 0.05, "form": "printed", **{k: v[n] for k, v in BOUNDS.items()}} for n in range(3)]
BALLS = [{**lane, "dim": 4, "radius": np.array([0.0, 0.5, r])} for lane, r in zip(LANES, (1.0, 7.0, 1.0), strict=True)]
MAPS = [
    {**lane, "dim": np.array([2, 5, 9]), "regularization": np.array([0.5, 1.0, 8.0]), "parameter_bound": 0.7}
    for lane in LANES
]
times = st.lists(st.integers(0, 1 << 40) | st.integers(0, 2000), min_size=3, max_size=3)


@pytest.mark.parametrize(
    ("function", "constants"),
    [
        (parameter_selection.gamma, [{**c, "n_models": M} for c in BALLS]),
        (parameter_selection.prediction_bound, BALLS),
        (parameter_selection.prediction_range, BALLS),
        (feature_selection.prediction_bound, MAPS),
        (feature_selection.prediction_range, MAPS),
        (feature_selection.learning_rate, [{**c, "n_models": M, "n_actions": 5} for c in MAPS]),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.parametrize("length", [1, 512])
def test_it_answers_what_the_function_would(function, constants, length):
    table = Tabulated(function, constants, length=length)

    @given(times)
    def check(t):
        for ids in ([0, 1, 2], [2, 0], [1]):
            expected = [function(t=t[n], **constants[n]) for n in ids]
            np.testing.assert_allclose(table(np.array(ids), np.array(t)[ids]), expected, rtol=1e-12, atol=0.0)

    check()


class Counted:
    """``scale * t``, which notes how often it is asked, and refuses t from ``limit`` on."""

    def __init__(self, limit=10**9):
        self.calls, self.limit = [], limit

    def __call__(self, *, t, scale):
        self.calls.append((scale, int(t[0])))
        if t[0] >= self.limit:
            raise ValueError("too late")
        return scale * t


def lanes(*scales):
    return [{"scale": float(s)} for s in scales]


def test_lanes_with_equal_constants_share_a_page_and_each_is_written_once():
    function = Counted()
    table, ids = Tabulated(function, lanes(1, 2, 1, 1), length=4), np.arange(4)
    for t in range(8):
        assert table(ids, np.full(4, t)).tolist() == [t, 2 * t, t, t]
    assert function.calls == [(1.0, 0), (2.0, 0), (1.0, 4), (2.0, 4)]


def test_memory_does_not_grow_with_t():
    table, ids = Tabulated(Counted(), lanes(*range(5)), length=4), np.arange(5)
    for t in range(400):
        table(ids, t + 4 * ids)
    assert len(table._rows) <= 5
    assert len(table._table) <= 8


def test_lanes_far_apart_do_not_take_pages_from_each_other():
    function = Counted()
    table = Tabulated(function, lanes(1, 1), length=4)
    for t in range(4):
        assert table(np.array([0]), np.array([t])) == t
        assert table(np.array([1]), np.array([100 + t])) == 100 + t
    assert function.calls == [(1.0, 0), (1.0, 100)]


def test_lanes_that_are_added_have_their_own_constants():
    function = Counted()
    table = Tabulated(function, lanes(1, 2), length=4)
    table(np.arange(2), np.array([1, 1]))
    table.extend(Tabulated(function, lanes(3, 1), length=4))
    assert table(np.array([3, 0, 2, 1]), np.array([2, 3, 1, 9])).tolist() == [2, 3, 3, 18]
    assert function.calls == [(1.0, 0), (2.0, 0), (3.0, 0), (2.0, 8)]


def test_what_the_function_refuses_changes_nothing():
    table, ids = Tabulated(Counted(limit=8), lanes(1, 2), length=4), np.arange(2)
    table(ids, np.array([1, 1]))
    with pytest.raises(ValueError, match="too late"):
        table(ids, np.array([4, 8]))
    assert table(ids, np.array([3, 2])).tolist() == [3, 4]


SCB = {**BOUNDS, "parameter_bound": 0.7, "exploration": "paper", "horizon": 700}
POLICIES = {
    "PSOFUL": lambda lanes, **k: PSOFUL(centers=np.eye(2), radii=[0.5, 1.0], confidence="paper", lanes=lanes, **k),
    "FSSquareCB": lambda lanes, **k: FSSquareCB(n_models=2, dim=2, weighting="paper", lanes=lanes, **SCB | k),
    "SquareCB": lambda lanes, **k: SquareCB(dim=2, lanes=lanes, **SCB | k),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.filterwarnings("ignore:.*reward_range:RuntimeWarning")
def test_lanes_in_step_and_out_of_step_agree(name):
    """Lane 1 alone, far behind lane 0, gets what it gets when all play together."""
    shape = (2, 4, 2) if name == "FSSquareCB" else (4, 2)
    rng = np.random.default_rng(0)
    together, apart = (POLICIES[name](3, **BOUNDS) for _ in range(2))
    played = [(rng.normal(size=(3, *shape[:-2], 2)), rng.normal(size=3)) for _ in range(20)]
    for x, y in played:
        together.learn(x, y)
    for n in (0, 2, 1):
        for x, y in played:
            apart.learn(x[[n]], y[[n]], lanes=[n])
    probe = rng.normal(size=(3, *shape))
    available = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 0]], dtype=bool)
    for mask in (None, available):
        expected = together.probabilities(probe, available=mask)
        np.testing.assert_array_equal(apart.probabilities(probe, available=mask), expected)
