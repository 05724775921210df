"""Regret balancing's kernels against plain loops."""

import numpy as np
import pytest

from banditselect.carriers.decisions import Ledger
from banditselect.kernels.balancing import ready, record, refresh, share_out, stale
from banditselect.kernels.rounds import DONE, FULL, UNUSABLE

IDS = np.array([2, 0])
PLAYS = np.array([[2, 1, 1], [0, 3, 0], [4, 0, 4]])
EARNED = np.array([[2.0, 0.5, 0.0], [0.0, 9.0, 0.0], [3.0, 0.0, 3.0]])


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
        ties = share_out(IDS, plays, earned, bounds, balancing, found)
        for r, n in enumerate(IDS):
            np.testing.assert_allclose(found[r], shares(plays[n], earned[n], bounds[n], balancing), atol=1e-12)
        assert ties == bool((found.max(axis=1) < 1.0).any())


def test_a_bound_is_asked_for_once_a_base_has_learned():
    bounds = np.full((3, 3), np.nan)
    found = np.empty((6, 2), dtype=np.int64)
    assert stale(IDS, PLAYS, bounds, found) == 5
    assert found[:5].tolist() == [[2, 0], [2, 2], [0, 0], [0, 1], [0, 2]]  # not the one of lane 2 that has not played
    refresh(IDS, PLAYS, bounds, 3.0, 0.5)
    np.testing.assert_allclose(bounds[0], 3.0 * np.sqrt([2.0, 1.0, 1.0]))
    assert np.isnan(bounds[1]).all()
    assert stale(IDS, PLAYS, bounds, found) == 0
    plays, earned = PLAYS.copy(), EARNED.copy()
    record(IDS, np.array([1, 0]), np.array([0.25, -1.0]), plays, earned, bounds)
    assert (plays - PLAYS).tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert (earned - EARNED).tolist() == [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.0]]
    assert stale(IDS, plays, bounds, found) == 2
    assert found[:2].tolist() == [[2, 1], [0, 0]]


def test_what_several_bases_play_is_played_as_a_whole_or_not():
    ledger, x = Ledger(3), np.ones((2, 1, 2, 1))
    assert ready(IDS, x, ledger.book) == DONE
    x[1, 0, 1, 0] = np.nan
    assert ready(IDS, x, ledger.book) == UNUSABLE
    x[1, 0, 1, 0] = 0.0
    ledger.acts[0] = 64  # none of them settled
    assert ready(IDS, x, ledger.book) == FULL
    assert ready(IDS[:1], x[:1], ledger.book) == DONE
