"""Likelihood-ratio sets: the worked numbers and what must hold on any data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from banditselect.kernels.features import played
from banditselect.models.likelihood import MapSets
from banditselect.models.ridge_bank import RidgeBank
from banditselect.models.shared_ridge_bank import SharedRidgeBank
from banditselect.runtime.shapes import maps_of
from sets_by_hand import bank_of, sets_of

LANE = np.array([0])


@pytest.fixture
def two_balls():
    """Return the bank of the worked example: three rounds, two balls of one feature map."""
    precision = np.array([[np.eye(2), 4.0 * np.eye(2)]])
    bank = SharedRidgeBank(maps_of(2), np.array([[[0.0, 0.0], [1.0, 0.0]]]), precision, np.array([[0, 1]]))
    for x, y in [((1.0, 0.0), 0.9), ((0.0, 1.0), 0.2), ((0.6, 0.8), 0.5)]:
        bank.learn(LANE, played(np.array([[x]])), np.array([y]))
    return bank


def test_worked_example_of_the_bank(two_balls):
    np.testing.assert_allclose(two_balls.penalised[0], [0.44, 0.052], rtol=1e-12)
    np.testing.assert_allclose(two_balls.logdet[0], [1.79175947, 0.628608659], rtol=5e-9)
    np.testing.assert_allclose(two_balls.online[0], [0.8725, 0.0644], rtol=1e-12)
    np.testing.assert_allclose(two_balls.theta[0], [[0.48, 0.14], [0.968, 0.024]], rtol=1e-12)


@pytest.mark.parametrize(
    ("online", "B", "squared"),
    [(True, 0.320374734, (2.37824087, 2.76624087)), (False, 0.441248903, (2.49911504, 2.88711504))],
)
def test_worked_example_of_the_sets(two_balls, online, B, squared):
    sets = sets_of(two_balls, penalty=(1.0 * 1.0**2, 4.0 * 0.5**2), prior=(0.5, 0.5), online=online)
    assert sets.posterior.weigh(LANE)[1][0] == pytest.approx(B, rel=5e-9)
    np.testing.assert_allclose(sets.squared[0], squared, rtol=5e-9)


def test_worked_example_with_misspecification(two_balls):
    sets = sets_of(two_balls, misspecification=0.1)
    assert sets.posterior.weigh(LANE)[1][0] == pytest.approx(0.737915966, rel=5e-9)
    np.testing.assert_allclose(sets.squared[0], [4.35364824, 4.74164824], rtol=5e-9)


def test_radius_of_the_example_set():
    """Bounds 7 (c), E1: t=1000, d=10, R=.5, L=S=lam=1, delta=.05, with log det at its bound d log(1 + t / d)."""
    bank = bank_of([[10.0 * math.log(101.0), 123.0, 150.0]], t=1000)
    assert sets_of(bank, penalty=(1.0,)).squared[0, 0] == pytest.approx(14.0356674, rel=5e-9)


def test_the_mixture_runs_over_refuted_models_too():
    evidence = np.array([[0.5, 3.0, 3.5], [0.1, 90.0, 95.0], [0.7, 3.1, 3.9], [0.0, 400.0, 400.0]])
    prior, R_sq = np.array([0.1, 0.2, 0.3, 0.4]), 0.25
    rho = sets_of(bank_of(evidence), penalty=(1.0, 2.0, 3.0, 0.0), prior=prior).squared[0]
    assert list(rho < 0.0) == [False, True, False, True]
    L = evidence[:, 1] + R_sq * evidence[:, 0]
    B = -2.0 * R_sq * special.logsumexp(-L / (2.0 * R_sq), b=prior)
    expected = B + 2.0 * R_sq * math.log(20.0) + np.array([1.0, 2.0, 3.0, 0.0]) - evidence[:, 1]
    np.testing.assert_allclose(rho, expected, rtol=1e-12)
    # an average over the two that stand would be smaller by R^2 2 log(1 / .4)
    alive = -2.0 * R_sq * special.logsumexp(-L[[0, 2]] / (2.0 * R_sq), b=prior[[0, 2]] / 0.4)
    assert B - alive == pytest.approx(2.0 * R_sq * math.log(1.0 / 0.4), rel=1e-9)


coordinate = st.floats(-5.0, 5.0)


@given(
    data=st.lists(st.tuples(coordinate, coordinate, st.floats(-50.0, 50.0)), max_size=15),
    centers=st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=4),
    noise=st.floats(0.05, 5.0),
    online=st.booleans(),
    misspecification=st.sampled_from([0.0, 0.2]),
)
def test_the_leader_is_never_refuted(data, centers, noise, online, misspecification):
    M = len(centers)
    bank = SharedRidgeBank(maps_of(2), np.array([centers]), np.array([[np.eye(2)]]), np.zeros((1, M), dtype=np.int64))
    for a, b, y in data:
        bank.learn(LANE, played(np.array([[[a, b]]])), np.array([y]))
    sets = sets_of(bank, noise=noise, penalty=(0.5,) * M, online=online, misspecification=misspecification)
    variance = noise**2 * (2.0 if misspecification else 1.0)
    loss = bank.online[0] if online else bank.penalised[0] + variance * bank.logdet[0]
    least = 2.0 * variance * math.log(20.0) + 0.5
    assert sets.squared[0, loss.argmin()] >= least - 1e-9 * max(least, loss.max())


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("misspecification", [0.0, 0.3])
def test_the_true_parameter_stays_inside_at_length(online, misspecification):
    """The parameter lies on the edge of its ball. If the sets missed in a share delta of runs, this alarms in 1e-6."""
    lanes, T, R, delta = 400, 60, 0.5, 0.1
    rng = np.random.default_rng(7)
    center, lam, radius = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), np.array([4.0, 1.0, 0.5]), 0.5
    theta = center[1] + radius * np.array([0.6, 0.8])
    bank = RidgeBank.of(
        maps_of([2] * 3, many=True), lanes, np.tile(lam, (lanes, 1)), center=np.tile(center, (lanes, 1, 1))
    )
    arguments = {"penalty": lam * radius**2, "online": online, "misspecification": misspecification}
    sets = sets_of(bank, kind=MapSets, noise=R, delta=delta, **arguments)
    ids, missed = np.arange(lanes), np.zeros(lanes, dtype=bool)
    for _ in range(T):
        x = rng.normal(size=(lanes, 2))
        y = x @ theta + misspecification * np.sign(x[:, 0]) + R * rng.normal(size=lanes)
        sets.learn(ids, played(np.repeat(x[:, None], 3, axis=1)), y)
        missed |= ~sets.covers(np.tile(theta, (lanes, 1)), slice(1, 2))
    assert missed.sum() <= stats.binom.isf(1e-6, lanes, delta)


def test_a_known_parameter_in_the_sets():
    """Infinite regularisation: inside while the squared residuals are at most B + 2 R^2 log(1 / delta)."""
    center, R = np.array([[[1.0], [0.0]]]), 0.2
    bank = SharedRidgeBank(maps_of(1), center, np.array([[[[np.inf]]]]), np.zeros((1, 2), dtype=np.int64))
    x, y = np.array([1.0, -1.0, 2.0]), np.array([0.9, -1.1, 2.1])
    for a, b in zip(x, y, strict=True):
        bank.learn(LANE, played(np.array([[[a]]])), np.array([b]))
    L = np.array([np.sum((y - x) ** 2), np.sum(y**2)])
    B = -2.0 * R**2 * special.logsumexp(-L / (2.0 * R**2), b=0.5)
    rho = sets_of(bank, noise=R, penalty=(0.0, 0.0)).squared[0]
    np.testing.assert_allclose(rho, B + 2.0 * R**2 * math.log(20.0) - L, rtol=1e-12)
    assert list(rho >= 0.0) == [True, False]
