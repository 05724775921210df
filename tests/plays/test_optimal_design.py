"""Inverse gaps by optimal design: the design, what is played, its guarantee."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect.kernels.features import NO_BLOCK, Features
from banditselect.plays.optimal_design import TOLERANCE, OptimalGaps
from plays_alone import designed, inverse_gap_weighting, optimal_gap_weighting


def leverages(x, slope, q, rank):
    """Return the leverages of all actions offered, by a pseudo-inverse in units in which columns are at most 1."""
    seen = slope >= 0.0
    y = x[seen] / np.sqrt(rank + slope[seen])[:, None]
    y = y / np.where(np.abs(y).max(axis=0) > 0.0, np.abs(y).max(axis=0), 1.0)
    V = (y * q[seen, None]).T @ y
    return np.einsum("ai,ij,aj->a", y, np.linalg.pinv(V, rcond=1e-13, hermitian=True), y)


def played(x, score, alpha, offered=None):
    """Return the probabilities of actions with features ``(K, d)``."""
    mask = None if offered is None else offered[None]
    return optimal_gap_weighting(x[None].astype(float), score[None], np.array([alpha]), mask)[0]


SETS = {
    "few": lambda rng: rng.normal(size=(3, 6)),
    "many": lambda rng: rng.normal(size=(300, 6)),
    "of rank 2": lambda rng: rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)),
    "in units of their own": lambda rng: rng.normal(size=(200, 6)) * 10.0 ** np.array([-9, -5, 0, 3, 6, 9]),
    "skewed": lambda rng: np.exp(3.0 * rng.normal(size=(300, 4))),
    "behind a constant": lambda rng: np.insert(rng.normal(size=(300, 3)), 0, 1.0, axis=1),
    "one hot": lambda rng: np.eye(5)[rng.integers(5, size=100)],
    "with a column of zeros": lambda rng: rng.normal(size=(50, 4)) * [1.0, 0.0, 1.0, 1.0],
    "one far from all": lambda rng: np.vstack([np.eye(4)[0] + 1e-3 * rng.normal(size=(100, 4)), np.eye(4)[1] * 50.0]),
    "of more columns than actions": lambda rng: rng.normal(size=(20, 40)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("steepness", [0.0, 1.0, 1e4])
def test_no_leverage_exceeds_that_of_the_optimal_design_by_more_than_the_tolerance(name, steepness):
    rng = np.random.default_rng(len(name))
    x = SETS[name](rng)
    slope = steepness * rng.exponential(size=len(x))
    slope[rng.integers(len(x), size=len(x) // 4)] = -1.0  # not offered
    slope[0] = 0.0
    q, rank = designed(x, slope)
    assert rank == np.linalg.matrix_rank(x[slope >= 0.0] / np.maximum(np.abs(x).max(axis=0), 1e-300), tol=1e-6)
    assert q.min() >= 0.0
    assert abs(q.sum() - 1.0) < 1e-12
    assert q[slope < 0.0].sum() == 0.0
    assert leverages(x, slope, q, rank).max() <= (1.0 + TOLERANCE) * rank * (1.0 + 1e-5)


def test_twenty_thousand_actions_at_length():
    rng = np.random.default_rng(0)
    x, slope = rng.normal(size=(20_000, 12)), 100.0 * rng.exponential(size=20_000)
    q, rank = designed(x, slope)
    assert rank == 12
    assert np.count_nonzero(q) <= 60
    assert leverages(x, slope, q, rank).max() <= (1.0 + TOLERANCE) * rank * (1.0 + 1e-5)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5), st.sampled_from([0.0, 3.0, 1e3]))
@settings(max_examples=40, deadline=None)
def test_a_design_of_whole_numbers(seed, K, d, steepness):
    """With many ties and copies, at every rank."""
    rng = np.random.default_rng(seed)
    x, slope = rng.integers(-2, 3, size=(K, d)).astype(float), steepness * rng.integers(3, size=K)
    q, rank = designed(x, slope)
    assert rank == np.linalg.matrix_rank(x)
    if rank:
        assert abs(q.sum() - 1.0) < 1e-12
        assert leverages(x, slope, q, rank).max() <= (1.0 + TOLERANCE) * rank * (1.0 + 1e-5)


def test_a_line_by_hand():
    """Actions 2 and -3 at theta = .5 have a gap of 2.5: 3 / sqrt(1 + .4 * 2.5) > 2, but 3 / sqrt(1 + 2.5) < 2."""
    x = np.array([[2.0], [-3.0], [0.5]])
    score = 0.5 * x[:, 0]
    np.testing.assert_allclose(played(x, score, 0.4), [0.5, 0.5, 0.0], rtol=1e-15)
    np.testing.assert_allclose(played(x, score, 1.0), [1.0, 0.0, 0.0], rtol=1e-15)


@pytest.mark.parametrize("K", [1, 4, 9])
def test_actions_with_independent_features_are_played_as_by_plain_inverse_gaps(K):
    rng = np.random.default_rng(K)
    x, score = rng.normal(size=(K, 9)), rng.normal(size=(1, K))
    for alpha in (0.0, 2.0, 500.0):
        plain = inverse_gap_weighting(score, np.array([alpha]), None)[0]
        np.testing.assert_allclose(played(x, score[0], alpha), plain, rtol=1e-9, atol=1e-15)


def test_what_is_not_explained_by_features_goes_to_the_best():
    assert played(np.zeros((3, 2)), np.array([0.0, 1.0, 1.0]), 5.0).tolist() == [0.0, 0.5, 0.5]


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_copies_of_actions_change_nothing(seed):
    """They share what the action had."""
    rng = np.random.default_rng(seed)
    K, d = rng.integers(1, 40), rng.integers(1, 5)
    x, score = rng.normal(size=(K, d)), rng.normal(size=K)
    of = np.concatenate([np.arange(K), rng.integers(K, size=3 * K)])
    rng.shuffle(of)
    p, copied = played(x, score, 20.0), played(x[of], score[of], 20.0)
    np.testing.assert_allclose(np.bincount(of, weights=copied), p, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(copied, (p / np.bincount(of))[of], rtol=1e-9, atol=1e-14)


@given(st.integers(0, 10**6), st.sampled_from([0.5, 30.0, 3000.0]))
@settings(max_examples=40, deadline=None)
def test_the_regret_of_a_round_is_bounded_by_the_rank_and_the_error(seed, alpha):
    """Lemma 8 of docs/math.md, for any two parameters: the bound holds against every action."""
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 300)), int(rng.integers(1, 6))
    x, theta, truth = rng.normal(size=(K, d)), rng.normal(size=d), rng.normal(size=d)
    if rng.integers(2):
        truth = theta + 0.1 * truth
    p, mu = played(x, x @ theta, alpha), x @ truth
    s = np.linalg.matrix_rank(x)
    error = float(p @ (x @ (theta - truth)) ** 2)
    assert mu.max() - p @ mu <= 3.0 * s / alpha + 1.5 * (1.0 + 1.0 / s) * alpha / 4.0 * error + 1e-9


def test_of_several_maps_the_heaviest_side_by_side_are_explored():
    maps = OptimalGaps(None, np.array([60, 60, 60, 5]), constant=False)
    weights = np.array([[0.25] * 4, [0.1, 0.895, 0.005, 0.0], [0.02, 0.3, 0.34, 0.34]])
    expected = [[True, True, False, False], [True, True, False, False], [False, True, True, True]]
    assert maps._explored(weights).tolist() == expected
    wide = OptimalGaps(None, np.array([500, 3]), constant=True)
    assert wide._explored(np.array([[0.6, 0.4], [0.4, 0.6]])).tolist() == [[True, False], [False, True]]


def test_the_design_of_several_maps_is_that_of_their_features_side_by_side():
    """In lanes that choose other maps too."""
    rng = np.random.default_rng(0)
    x, score, alpha = rng.normal(size=(3, 2, 40, 3)), rng.normal(size=(3, 40)), np.array([9.0, 3.0, 1.0])
    weights = np.array([[0.5, 0.5], [1.0, 0.0], [0.6, 0.4]])
    ids, model = np.arange(3), SimpleNamespace(predict=lambda ids, x: score, weights=lambda: weights, rounds=alpha)
    play = OptimalGaps(lambda ids, rounds, K, offered: (rounds, 1.0, 1.0), np.array([3, 2]), constant=False)
    both = play.probabilities(model, ids, Features(x, NO_BLOCK), None)
    for r, features in enumerate([np.hstack([x[0, 0], x[0, 1, :, :2]]), x[1, 0], np.hstack([x[2, 0], x[2, 1, :, :2]])]):
        np.testing.assert_allclose(both[r], played(features, score[r], alpha[r]), rtol=1e-12, atol=1e-15)
