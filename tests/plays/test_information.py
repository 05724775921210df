"""Information-directed play against formulas written out again: batch solves, grids, integrals, draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from banditselect import LinIDS
from banditselect.plays.information import excess, expected_regret, mix_two

ALL = np.ones(50, dtype=bool)


@pytest.mark.parametrize("deviation", [1e-3, 1.0, 50.0])
def test_excess_is_exact_within_seven_deviations(deviation):
    for z in np.linspace(-6.99, 6.99, 141):
        gain, above, at_zero = excess(z * deviation, deviation)
        assert gain == pytest.approx(deviation * (z * stats.norm.cdf(z) + stats.norm.pdf(z)), abs=1e-14 * deviation)
        assert above == pytest.approx(stats.norm.cdf(z), rel=1e-8)
        assert at_zero == pytest.approx(stats.norm.pdf(z) / deviation, rel=1e-10)
    for small in (deviation, 0.0):  # of one sign
        assert excess(-7.01 * deviation, small) == (0.0, 0.0, 0.0)
        assert excess(7.01 * deviation, small) == (7.01 * deviation, 1.0, 0.0)


@pytest.mark.parametrize("K", [2, 5, 40, 1000])
def test_expected_regret_is_the_middle_of_bounds_that_hold(K):
    """They hold for any correlation; here against draws of independent actions."""
    rng, weight = np.random.default_rng(5), np.array([0.3, 0.7])
    gap, deviation = rng.normal(-0.5, 1.0, (2, K)), rng.uniform(0.1, 2.0, (2, K))
    gap[:, 0] = deviation[:, 0] = 0.0

    def gains(c):
        z = (gap[:, 1:] - c) / deviation[:, 1:]
        return weight @ ((gap[:, 1:] - c) * stats.norm.cdf(z) + deviation[:, 1:] * stats.norm.pdf(z))

    lower, upper = gains(0.0).max(), min(c + gains(c).sum() for c in np.linspace(0.0, 9.0, 1001))
    model = rng.choice(2, p=weight, size=20_000)
    true = (gap[model] + deviation[model] * rng.normal(size=(20_000, K))).max(axis=1).mean()
    assert lower * 0.99 <= true <= upper * 1.01
    found = expected_regret(0, weight, gap, deviation, np.ones(K, dtype=bool))
    assert found == pytest.approx(0.5 * (lower + upper), rel=5e-3)


@given(st.integers(2, 6), st.integers(0, 10_000), st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_mix_two_minimises_the_ratio(K, seed, regret):
    rng = np.random.default_rng(seed)
    mean, taught = rng.normal(size=K), rng.uniform(0.01, 1.0, K)
    b = int(mean.argmax())
    p = np.empty(K)
    mix_two(b, mean, taught, regret, ALL[:K], 0.0, p)
    assert p.sum() == pytest.approx(1.0)
    assert (p > 0).sum() <= 2

    def ratio(p):
        return (regret + mean[b] - p @ mean) ** 2 / (p @ taught)

    q = np.linspace(0.0, 1.0, 1001)[:, None]
    grid = [ratio((1 - q_i) * np.eye(K)[b] + q_i * np.eye(K)[a]) for a in range(K) for q_i in q[:, 0]]
    assert ratio(p) <= min(grid) * (1 + 1e-9) + 1e-15


def test_ties_share_floor_and_mask():
    p = np.empty(4)
    mix_two(0, np.zeros(4), np.ones(4), 1.0, ALL[:4], 0.0, p)
    assert p == pytest.approx(0.25)
    mix_two(0, np.array([1.0, 0.5, 0.5, 0.5]), np.array([0.1, 2.0, 2.0, 0.1]), 1.0, ALL[:4], 0.0, p)
    assert p[1] == p[2] > 0.0  # D / g = 2, 2 I(b) / (I(a) - I(b)) = .105: played always, each half of the time
    assert p[1] == pytest.approx(0.5)
    mix_two(0, np.array([1.0, 0.5, 0.5, 0.5]), np.array([0.1, 2.0, 2.0, 0.1]), 1.0, ALL[:4], 0.4, p)
    assert p == pytest.approx([0.1, 0.4, 0.4, 0.1])
    policy = LinIDS(dim=2, floor=0.2)
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    offered = [True, False, True]
    assert policy.probabilities(x, available=offered)[1] == 0.0
    assert policy.probabilities(x, available=offered).min() == 0.0
    assert policy.probabilities(x, available=offered)[[0, 2]].min() >= 0.1 - 1e-12
