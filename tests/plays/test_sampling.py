"""Thompson sampling: draws of a member and a parameter against the posterior solved afresh."""

import math

import numpy as np
from scipy import stats

from banditselect import FSTS, PSTS
from mixtures_by_hand import LANE, Maps, offered, teach

rng_of = np.random.default_rng


def normal_of(u):
    return float(stats.norm.ppf(u))


def test_fsts_draws_a_model_by_its_weight_and_a_parameter_from_its_posterior():
    """Under the unit vectors as normals the scores move by the columns of s times the root of V^-1."""
    rng = rng_of(3)
    policy, posterior = FSTS(n_models=2, dim=[2, 3], seed=1), Maps([2, 3], [0.5, 0.5])
    mixture, _ = policy.build(1)
    for _ in range(12):
        x = [rng.normal(size=(4, 2)), rng.normal(size=(4, 3))]
        decision = policy.act(x)
        assert decision.probability is None
        played = [features[decision.action] for features in x]
        reward = 0.3 * played[1].sum() + rng.normal()
        policy.update(decision, reward)
        posterior.add(played, reward)
        teach(mixture, played, reward, 3)
    x = [rng.normal(size=(4, 2)), rng.normal(size=(4, 3))]
    weights = mixture.weigh(LANE)[1][0]
    assert mixture.n_normals == 5
    for i, weight, variance, theta, V, _ in posterior.solve():
        k = int(np.argmin(np.abs(weights - weight * weights[weights * weights.size >= 1e-3].sum())))
        reached = weights[:k].sum() + 0.5 * weights[k]
        z = np.zeros((1, 5))
        z[0, 0] = normal_of(reached)
        mean = mixture.sampled(LANE, offered(x, 3), z)[0]
        features = posterior.of(i, x[i])
        np.testing.assert_allclose(mean, features @ theta, atol=1e-9)
        moves = []
        for j in range(4):
            z[0, 1:] = np.eye(4)[j]
            moves.append(mixture.sampled(LANE, offered(x, 3), z)[0] - mean)
        covariance = variance * features @ np.linalg.solve(V, features.T)
        np.testing.assert_allclose(np.transpose(moves) @ moves, covariance, rtol=1e-7, atol=1e-9)


def test_psts_draws_from_the_posterior_about_the_centre():
    """One region, known noise: theta ~ N((lam I + X'X)^-1 (lam mu + X'y), R^2 (lam I + X'X)^-1), lam = d R^2 / r^2."""
    rng = rng_of(4)
    mu, R = np.array([1.0, -1.0]), 0.5
    model, _ = PSTS(centers=[mu], radii=np.sqrt(0.5), noise=R, seed=1).build(1)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    for row, reward in zip(X, y, strict=True):
        teach(model, [row], reward, 2)
    V = np.eye(2) + X.T @ X
    x = rng.normal(size=(3, 2))
    mean = model.sampled(LANE, offered([x], 2), np.zeros((1, 3)))[0]
    np.testing.assert_allclose(mean, x @ np.linalg.solve(V, mu + X.T @ y), rtol=1e-10)
    moves = [model.sampled(LANE, offered([x], 2), np.array([[0.0, *e]]))[0] - mean for e in np.eye(2)]
    np.testing.assert_allclose(np.transpose(moves) @ moves, R**2 * x @ np.linalg.solve(V, x.T), rtol=1e-9)


def test_psts_chooses_regions_by_their_weights():
    """Two known parameters, weights .2 and .8 before any reward: the first normal decides at P(Z < z) = .2."""
    model, _ = PSTS(centers=[[1.0, 0.0], [0.0, 1.0]], radii=0.0, noise=1.0, prior_weights=[0.2, 0.8]).build(1)
    for u, expected in [(0.001, [1.0, 0.0]), (0.199, [1.0, 0.0]), (0.201, [0.0, 1.0]), (0.999, [0.0, 1.0])]:
        z = np.array([[normal_of(u), 3.0, -3.0]])
        np.testing.assert_array_equal(model.sampled(LANE, offered([np.eye(2)], 2), z)[0], expected)


def test_psts_plays_as_often_as_the_posterior_says():
    """4,000 acts against the probability by quadrature; false alarms below 1e-4 (four standard deviations)."""
    policy = PSTS(centers=[[0.3, 0.0]], radii=np.sqrt(2.0), noise=1.0, lanes=40, seed=5)
    x = np.tile([[1.0, 0.0], [0.0, 1.0]], (40, 1, 1))
    played = np.mean([policy.act(x).action == 0 for _ in range(100)])
    expected = stats.norm.cdf(0.3 / math.sqrt(2.0))  # theta ~ N((.3, 0), I)
    assert abs(played - expected) < 4.0 * math.sqrt(expected * (1.0 - expected) / 4000)
