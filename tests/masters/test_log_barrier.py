"""The log barrier, exponential weights and reservoirs against plain arithmetic of many digits."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect import Uniform
from banditselect.masters import Corral
from banditselect.masters.log_barrier import barrier_shares, barrier_step
from banditselect.models.exponential_weights import ExponentialWeights
from barrier_by_hand import step_in_decimals

ONE = np.zeros(1, dtype=np.int64)


@settings(deadline=None, max_examples=60)
@given(
    raw=st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=6),
    rate=st.floats(1e-3, 3.0),
    loss=st.floats(0.0, 1e4),
    pick=st.integers(0, 5),
    seed=st.integers(0, 99),
)
def test_a_step_is_that_of_sixty_digits(raw, rate, loss, pick, seed):
    before = np.array(raw) / np.sum(raw)
    eta = rate * np.random.default_rng(seed).uniform(1.0, 3.0, size=before.size)
    w, i = before.copy(), pick % before.size
    barrier_step(w, eta, i, loss)
    np.testing.assert_allclose(w, step_in_decimals(before, eta, i, loss), rtol=1e-9)
    assert abs(w.sum() - 1.0) < 1e-12
    others = np.arange(before.size) != i
    assert (w[others] >= before[others] * (1.0 - 1e-12)).all()
    assert w[i] <= before[i] * (1.0 + 1e-12)


@settings(deadline=None, max_examples=15)
@given(M=st.integers(1, 5), seed=st.integers(0, 999), rate=st.floats(0.1, 10.0))
def test_weights_stay_a_distribution_and_thresholds_and_rates_only_grow(M, seed, rate):
    rng = np.random.default_rng(seed)
    model = Corral(bases=[Uniform()] * M, learning_rate=rate, horizon=100, lanes=2).model
    barrier, ids = model.barrier, np.array([1, 0])
    for _ in range(80):
        before = barrier.thresholds.copy(), barrier.rates.copy()
        p = model.shares(ids)[0]
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        drawn = np.array([rng.choice(M, p=row / row.sum()) for row in p])
        learned = model.record(ids, drawn, p[[0, 1], drawn], rng.choice([0.0, 1.0, 0.3], size=2))
        assert set(learned) <= {0.0, 1.0, 0.3}
        np.testing.assert_allclose(barrier.weights.sum(axis=1), 1.0, rtol=1e-12)
        assert (barrier.weights > 0.0).all()
        assert (barrier.thresholds >= before[0]).all()
        assert (barrier.rates >= before[1]).all()
        raised = barrier.thresholds > before[0]
        np.testing.assert_array_equal(raised, barrier.rates > before[1])
        np.testing.assert_allclose(barrier.rates[raised] / before[1][raised], math.exp(1.0 / math.log(100.0)))
        assert (1.0 / model.shares(np.arange(2))[0] <= barrier.thresholds * (1.0 + 1e-12)).all()
    assert model.plays.sum(axis=1).tolist() == [80, 80]


def bases_of(**arguments):
    """Return what a CORRAL over two bases learns about them."""
    return Corral(bases=[Uniform(), Uniform()], **arguments).model


def test_an_unknown_horizon_doubles_and_the_weights_begin_anew():
    model = bases_of(learning_rate=0.7)
    barrier = model.barrier
    for t in range(64 + 128 + 3):
        assert barrier.horizon[0] == (64.0 if t < 64 else 128.0 if t < 192 else 256.0)
        if t in (0, 64, 192):
            np.testing.assert_array_equal(barrier.weights, [[0.5, 0.5]])
            np.testing.assert_allclose(barrier.rates, 0.7 * math.sqrt(2.0 / barrier.horizon[0]))
            np.testing.assert_array_equal(barrier.thresholds, [[4.0, 4.0]])
        model.record(ONE, ONE, model.shares(ONE)[0][:, 0].copy(), np.zeros(1))
    assert barrier.weights[0, 0] < 0.5


def test_with_replays_only_they_are_judged_and_only_the_bases_count():
    """Base 1 plays itself: nothing moves. Its second replay plays, drawn with p / 4: the step of a loss of .6 / 4 p."""
    model = bases_of(feedback="smoothed", snapshots=2, horizon=9)
    barrier = model.barrier
    barrier.weights[:], barrier.rates[:] = [0.3, 0.7], 1.0
    y = np.array([0.4])
    assert model.record(ONE, np.array([1]), np.array([0.35]), y).tolist() == [0.4]
    assert (barrier.weights.tolist(), barrier.seen.tolist(), model.plays.tolist()) == ([[0.3, 0.7]], [0], [[0, 1]])
    model.record(ONE, np.array([5]), np.array([0.175]), y)
    expected = step_in_decimals(np.array([0.3, 0.7]), np.ones(2), 1, 0.6 / (4.0 * 0.175))
    np.testing.assert_allclose(barrier.weights[0], expected, rtol=1e-12)
    assert (barrier.seen.tolist(), model.plays.tolist()) == ([1], [[0, 1]])


def test_shares_with_replays():
    out = barrier_shares(np.array([1]), np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([9.0, 4.0]), 2)
    p = np.array([0.275, 0.725])  # three quarters of the weights and an eighth each
    np.testing.assert_allclose(out[0], [*(p / 2), *(p / 4), *(p / 4)])


def test_exponential_weights_with_numbers():
    weights, ids, cls, eta = ExponentialWeights(2, 1, 3), np.array([1, 0]), np.zeros(2, dtype=np.int64), [1.0, 0.5]
    weights.losses[:] = [[[0.0, 1.0, 2.0]], [[1e6, 1e6 + 1.0, 0.0]]]
    out = weights.weights(ids, cls, np.array(eta), None)
    np.testing.assert_allclose(out[0], [0.0, 0.0, 1.0])
    e = np.exp([0.0, -0.5, -1.0])
    np.testing.assert_allclose(out[1], e / e.sum())
    out = weights.weights(ids, cls, np.array(eta), np.array([[True, True, False], [True, False, True]]))
    np.testing.assert_allclose(out[0], [1.0 / (1.0 + math.exp(-1.0)), 1.0 / (1.0 + math.e), 0.0])
    np.testing.assert_allclose(out[1], [e[0] / (e[0] + e[2]), 0.0, e[2] / (e[0] + e[2])])
