"""The draw of an act: by p, numbered, with the features of the action drawn, for all rows or for none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from banditselect.kernels.features import NO_BLOCK, Lookup
from banditselect.runtime.drawing import Streams, commit, philox
from banditselect.runtime.ledger import RING, Ledger

ALARM = 1e-6  # false-alarm rate of each statistical assertion below; the seeds are fixed besides
P, K, D = 2, 4, 3


def committed(ledger, ids, p, x=None, block=NO_BLOCK, keys=None):
    """Run the kernel until there is room; return what it has drawn, or None if it refused."""
    ids = np.array(ids)
    x = np.zeros((ids.size, P, np.shape(p)[1], D)) if x is None else x
    keys = Streams(1, range(len(ledger.book))).keys[ids] if keys is None else keys
    drawn, share = np.full((2, ids.size), -7), np.full(ids.size, np.nan)
    played = np.full((ids.size, x.shape[1], x.shape[3] + (block.size > 0)), np.nan)
    while not commit(ids, x, block, np.array(p), keys, ledger.book, drawn, share, played):
        if (ledger.acts[ids] - ledger.book[ids, 1] < 64 * (ledger.book.shape[1] - RING)).all():
            assert (drawn == -7).all()
            assert np.isnan(share).all()
            assert np.isnan(played).all()
            return None
        ledger.grow()
    np.testing.assert_array_equal(share, np.array(p)[np.arange(ids.size), drawn[0]])
    return drawn[0], drawn[1], played


def test_actions_follow_their_probabilities():
    lanes, p = 10_000, np.array([0.5, 0.0, 0.2, 0.3])
    action, _, _ = committed(Ledger(lanes), range(lanes), np.tile(p, (lanes, 1)))
    counts = np.bincount(action, minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[p > 0], lanes * p[p > 0]).pvalue > ALARM


def test_actions_are_drawn_by_inversion_with_the_key_of_a_row_and_the_number_of_the_act():
    rng, ledger = np.random.default_rng(0), Ledger(300)
    keys = rng.integers(-(2**63), 2**63 - 1, size=300)
    for number in range(3):
        p = rng.dirichlet(np.ones(5), size=300)
        action, numbers, _ = committed(ledger, range(300), p, keys=keys)
        assert (numbers == number).all()
        words = [philox(int(key), number, 0) for key in keys]
        u = [((high >> 5) * 2**26 + (low >> 6)) / 2**53 for high, low, _, _ in words]
        np.testing.assert_array_equal(
            action, [np.searchsorted(np.cumsum(row), v, side="right") for row, v in zip(p, u, strict=True)]
        )


def test_what_rounding_leaves_over_goes_to_an_action_with_probability():
    """The sum of a row may be off by 1e-9: no draw falls behind it, and none on an action of probability 0."""
    lanes = 500
    p = np.tile([0.0, 0.25 - 4e-10, 0.75 - 4e-10, 0.0], (lanes, 1))
    assert set(committed(Ledger(lanes), range(lanes), p)[0].tolist()) == {1, 2}
    p = np.tile([0.0, 1e-300, 1.0, 0.0], (lanes, 1))
    assert set(committed(Ledger(lanes), range(lanes), p)[0].tolist()) == {2}


def test_a_lane_draws_the_same_whatever_stands_beside_it():
    p = np.full((6, K), 0.25)
    together = committed(Ledger(6), range(6), p)[0]
    np.testing.assert_array_equal(committed(Ledger(6), [5, 1, 2], p[:3])[0], together[[5, 1, 2]])


@pytest.mark.parametrize(
    "bad",
    [
        [0.5, 0.6, 0.0, 0.0],
        [1.5, -0.5, 0.0, 0.0],
        [1.0, -1e-300, 0.0, 0.0],
        [np.nan, 1.0, 0.0, 0.0],
        [np.inf, 0.0, 0.0, 0.0],
        [0.2] * 4,
        [0.0] * 4,
        [0.5, 0.5 + 1e-8, 0.0, 0.0],
    ],
)
@pytest.mark.parametrize("row", [0, 2])
def test_a_row_that_is_no_distribution_is_refused_and_nothing_changes(bad, row):
    good = [[0.25, 0.0, 0.25, 0.5], [0.0, 0.0, 0.0, 1.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]]
    ledger = Ledger(4)
    assert committed(ledger, [3, 0, 1], good) is not None
    before = ledger.book.copy()
    assert committed(ledger, [3, 0, 1], [*good[:row], bad, *good[row + 1 :]]) is None
    np.testing.assert_array_equal(ledger.book, before)


def test_a_full_ring_changes_nothing():
    ledger = Ledger(2)
    for _ in range(64):
        committed(ledger, [1], [[1.0]])
    before, ids, x = ledger.book.copy(), np.array([0, 1]), np.zeros((2, 1, 1, 1))
    drawn, share, played = np.full((2, 2), -7), np.empty(2), np.zeros((2, 1, 1))
    assert not commit(ids, x, NO_BLOCK, np.ones((2, 1)), ids, ledger.book, drawn, share, played)
    np.testing.assert_array_equal(ledger.book, before)
    assert (drawn == -7).all()


@given(seed=st.integers(0, 2**32), n=st.integers(1, 4))
def test_the_features_and_the_block_are_those_of_the_action(seed, n):
    rng = np.random.default_rng(seed)
    x, block = rng.normal(size=(n, P, K, D)), rng.integers(0, 5, size=(n, P, K))
    p = rng.dirichlet(np.ones(K), size=n)
    keys = rng.integers(-(2**63), 2**63 - 1, size=n)
    action, _, played = committed(Ledger(n), range(n), p, x, keys=keys)
    rows = np.arange(n)
    np.testing.assert_array_equal(played, x[rows, :, action])
    again = committed(Ledger(n), range(n), p, x, block, keys=keys)
    np.testing.assert_array_equal(again[0], action)
    np.testing.assert_array_equal(again[2][..., :-1], x[rows, :, action])
    np.testing.assert_array_equal(again[2][..., -1], block[rows, :, action])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_are_looked_up_in_a_catalogue(dtype):
    rng = np.random.default_rng(2)
    table = rng.normal(size=(2, 6, P + 1, D + 1)).astype(dtype)
    items = rng.integers(0, 6, size=(3, K))
    x = Lookup(table, np.array([1, 0, 1]), items, 1, (3, P, K, D))
    action, _, played = committed(Ledger(3), range(3), rng.dirichlet(np.ones(K), size=3), x)
    np.testing.assert_array_equal(played, x.array()[np.arange(3), :, action])
