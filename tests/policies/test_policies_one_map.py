"""Policies on one feature map, side by side with their equations solved afresh in every round."""

import warnings

import numpy as np
import pytest
from scipy import stats

from banditselect import OFUL, BiasOFUL, LinTS, Power, SquareCB, Uniform, on_every_ball
from experts_by_hand import DELTA, Ridge, gap_weights

# Uniform


def test_uniform_looks_at_the_number_of_actions_only():
    policy = Uniform()
    for features in (np.ones((4, 2)), np.ones((3, 4, 2)), [np.ones((4, 2)), np.ones((4, 7))]):
        np.testing.assert_array_equal(policy.probabilities(features), [0.25] * 4)
    np.testing.assert_array_equal(
        policy.probabilities(np.ones((4, 2)), available=[True, False, True, False]), [0.5, 0, 0.5, 0]
    )


# SquareCB


@pytest.mark.parametrize(
    ("exploration", "rate"),
    [
        (7.0, lambda t: 7.0 * np.sqrt(t) / 4.0),
        (Power(2.0, 0.8), lambda t: 2.0 * t**0.8 / 4.0),
        (lambda t: 3.0 + t, lambda t: (3.0 + t) / 4.0),
    ],
    ids=["number", "power", "callable"],
)
def test_squarecb_plays_inverse_gap_weights_on_the_ridge_predictions(exploration, rate):
    rng = np.random.default_rng(0)
    policy = SquareCB(dim=3, regularization=0.6, exploration=exploration, reward_range=(-1.0, 3.0), seed=1)
    ridge = Ridge(np.zeros(3), 0.6 * np.eye(3))
    for t in range(40):
        x = rng.normal(size=(rng.integers(2, 7), 3))
        p = gap_weights(x @ ridge.theta, rate(t))
        np.testing.assert_allclose(policy.probabilities(x), p, atol=1e-10)
        decision = policy.act(x)
        np.testing.assert_allclose(decision.probability, p[decision.action], atol=1e-10)
        reward = float(rng.uniform(-1.0, 3.0))
        policy.update(decision, reward)
        ridge.add(x[decision.action], reward)
    np.testing.assert_allclose(policy.parameters, ridge.theta, atol=1e-10)


def test_squarecb_counts_in_kappa_only_what_is_offered():
    policy = SquareCB(dim=1, exploration=1.0)
    policy.learn([1.0], 1.0)  # theta = 1/2, alpha = 1
    p = policy.probabilities([[0.0], [1.0], [5.0]], available=[True, True, False])
    np.testing.assert_allclose(p, [1.0 / 2.5, 1.5 / 2.5, 0.0])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_squarecb_refuses_a_schedule_that_is_not_a_rate(value):
    policy = SquareCB(dim=2, exploration=lambda t: value)
    policy.learn([1.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="exploration"):
        policy.probabilities(np.eye(2))
    with pytest.raises(ValueError, match="exploration"):
        policy.act(np.eye(2))


def test_squarecb_counts_rewards_outside_their_range_and_warns_once():
    policy = SquareCB(dim=1, reward_range=(0.0, 1.0), lanes=2)
    rewards = [(0.0, 1.0), (1.5, 0.5), (-0.1, 2.0), (0.3, 1.0 + 1e-9)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for pair in rewards:
            policy.update(policy.act(np.ones((2, 1, 1))), pair)
    assert [str(w.message)[:60] for w in caught] == ["SquareCB: reward 1.5 lies outside reward_range=(0, 1): explo"]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(policy.outside, [2, 2])
    ridge = np.sum([y for y, _ in rewards]) / (1.0 + len(rewards))
    np.testing.assert_allclose(policy.parameters[0], [ridge])  # a scale, not a law: nothing was clipped


# OFUL and BiasOFUL


@pytest.mark.parametrize(
    ("factory", "center", "lam", "bound"),
    [
        (OFUL.bind(dim=3, regularization=0.7, parameter_bound=1.2), np.zeros(3), 0.7, 1.2),
        (BiasOFUL.bind(center=[0.4, -0.6, 0.1], radius=0.8), np.array([0.4, -0.6, 0.1]), 1.0 / 0.64, 0.8),
    ],
    ids=["OFUL", "BiasOFUL"],
)
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_optimistic_play_against_brute_force(factory, center, lam, bound, scale):
    rng = np.random.default_rng(1)
    noise, theta = 0.3, center + np.array([0.3, 0.2, -0.4])
    policy = factory(noise=noise, delta=DELTA, scale=scale)
    ridge = Ridge(center, lam * np.eye(3))
    regret = spent = 0.0
    for _ in range(50):
        x = rng.normal(size=(rng.integers(2, 8), 3))
        beta = noise * np.sqrt(ridge.logdet + 2.0 * np.log(1.0 / DELTA)) + np.sqrt(lam) * bound
        radius = scale * beta
        ucb = x @ ridge.theta + radius * ridge.widths(x)
        decision = policy.act(x)
        assert decision.action == np.argmax(ucb)
        assert decision.probability == 1.0
        assert policy.squared_radii == pytest.approx(radius**2, rel=1e-10)
        for factor in (0.999, 1.001):  # a point just inside the ellipsoid, and one just outside
            z = rng.normal(size=3)
            point = ridge.theta + factor * radius * z / np.sqrt(z @ ridge.V @ z)
            assert policy.covers(point) == (factor < 1.0)
        spent += 2.0 * radius * ridge.widths(x[decision.action][None])[0]
        regret += (x @ theta).max() - x[decision.action] @ theta
        reward = float(x[decision.action] @ theta + noise * rng.normal())
        policy.update(decision, reward)
        ridge.add(x[decision.action], reward)
    assert policy.regret_bound == pytest.approx(spent, rel=1e-10)
    np.testing.assert_allclose(policy.parameters, ridge.theta, atol=1e-10)
    if scale == 1.0:
        assert policy.covers(theta)
        assert regret <= policy.regret_bound


def test_a_radius_of_zero_is_a_known_parameter():
    rng = np.random.default_rng(2)
    center = np.array([0.5, -1.0])
    policy = BiasOFUL(center=center, radius=0.0, noise=0.3)
    for _ in range(20):
        x = rng.normal(size=(4, 2))
        decision = policy.act(x)
        assert decision.action == np.argmax(x @ center)
        policy.update(decision, float(rng.normal()))
    np.testing.assert_array_equal(policy.parameters, center)
    assert policy.covers(center)
    assert not policy.covers([0.5, -1.001])
    assert policy.regret_bound == 0.0


@pytest.mark.parametrize("radius", [1e-20, 1e-150, 1e-156, 1e-170, 1e-300])
def test_a_tiny_radius_is_nearly_a_known_parameter(radius):
    policy = BiasOFUL(center=[0.5, -1.0], radius=radius, noise=0.3)
    for _ in range(3):
        decision = policy.act(np.eye(2))
        assert decision.action == 0
        policy.update(decision, 1.0)
    np.testing.assert_allclose(policy.parameters, [0.5, -1.0])
    assert np.isfinite(policy.squared_radii)
    assert policy.covers([0.5, -1.0])
    assert not policy.covers([0.5, -1.1])


def test_centres_per_lane_need_as_many_lanes():
    for lanes in (None, 3):
        with pytest.raises(ValueError, match="center"):
            BiasOFUL(center=np.ones((2, 4)), lanes=lanes)


# LinTS


def test_thompson_draws_follow_the_posterior():
    """20,000 lanes with one history; seven tests, each of false alarm 1e-5."""
    lanes, noise, scale, lam = 20_000, 0.4, 1.5, 0.5
    rng = np.random.default_rng(5)
    ridge = Ridge(np.zeros(3), lam * np.eye(3))
    policy = LinTS(dim=3, noise=noise, scale=scale, regularization=lam, lanes=lanes, seed=6)
    for _ in range(6):
        x, y = rng.normal(size=3), 0.3 * float(rng.normal())
        policy.learn(np.tile(x, (lanes, 1)), np.full(lanes, y))
        ridge.add(x, y)
    picks = []
    for _ in range(6):  # six directions determine the covariance of three coordinates
        x = 0.3 * rng.normal(size=(2, 3))
        gap = x[0] - x[1]
        spread = scale * noise * np.sqrt(gap @ np.linalg.solve(ridge.V, gap))
        chance = stats.norm.cdf(gap @ ridge.theta / spread)
        decision = policy.act(np.tile(x, (lanes, 1, 1)))
        assert decision.probability is None
        picks.append(decision.action == 0)
        assert 0.05 < chance < 0.95
        assert stats.binomtest(int(picks[-1].sum()), lanes, chance).pvalue > 1e-5
    first, second = picks[0] - picks[0].mean(), picks[1] - picks[1].mean()
    correlation = (first @ second) / np.sqrt((first @ first) * (second @ second))
    assert abs(correlation) * np.sqrt(lanes) < stats.norm.isf(0.5e-5)  # one act is independent of the other


def test_thompson_draws_one_parameter_for_all_actions():
    """x and -x are ranked by one draw, so that 2x, which is never between them, wins when x does."""
    policy = LinTS(dim=2, lanes=500, seed=7)
    x = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0], [-2.0, -2.0]])
    assert set(policy.act(np.tile(x, (500, 1, 1))).action) == {2, 3}


@pytest.mark.parametrize("intercept", [False, True])
def test_thompson_about_a_centre(intercept):
    """Without spread: the estimate is h + V^-1 sum x (y - <x, h>), and before any reward it is h."""
    rng = np.random.default_rng(10)
    h, lam = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]), 2.0
    policy = LinTS(dim=3, scale=0.0, regularization=lam, center=h, intercept=intercept, lanes=2)
    x = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(policy.parameters, h)
    np.testing.assert_array_equal(policy.act(np.array([x, x])).action, (x @ h.T).argmax(axis=0))
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    for t in range(20):
        policy.learn(np.array([X[t], X[t]]), [y[t], y[t]])
    Z = np.hstack([np.ones((20, int(intercept))), X])
    for n in range(2):
        start = np.hstack([np.zeros(int(intercept)), h[n]])
        expected = start + np.linalg.solve(lam * np.eye(Z.shape[1]) + Z.T @ Z, Z.T @ (y - Z @ start))
        np.testing.assert_allclose(policy.parameters[n], expected[int(intercept) :], atol=1e-12)
    np.testing.assert_array_equal(LinTS(dim=3, center=h[0], intercept=intercept).parameters, h[0])


def test_a_centre_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"LinTS: center: got .*, expected 3 numbers, as dim says"):
        LinTS(dim=3, center=[1.0, 2.0])
    with pytest.raises(ValueError, match="LinTS: center"):
        LinTS(dim=3, center=np.ones((2, 3)))


def test_thompson_on_every_ball():
    bases = on_every_ball(LinTS.bind(), centers=np.eye(3)).resolve({"dim": 3}, {})
    np.testing.assert_array_equal([base().parameters for base in bases], np.eye(3))


def test_a_set_does_not_cover_a_parameter_that_is_too_large_to_square():
    assert not OFUL(dim=2).covers([1e200, 0.0])
