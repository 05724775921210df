"""ALEXP by its definition with a group lasso found by other means; its rates; what its note carries."""

import math

import numpy as np
import pytest

from banditselect.rivals import ALEXP, group_lasso


@pytest.mark.parametrize("M", [2, 20])
def test_the_number_of_maps_enters_the_rates(M):
    policy = ALEXP(n_models=M, dim=3, noise=0.2, reward_range=(-1.0, 3.0), learning_rate=5.0, penalty=0.1)
    first = (
        0.1
        * 1.6
        * math.sqrt(1 + 5 / math.sqrt(2) * math.sqrt(3 * math.log(160 * M)) + 12 / math.sqrt(2) * math.log(160 * M))
    )
    assert policy.model.lasso.penalty[0] == pytest.approx(first, rel=1e-12)
    policy.model.gained[0, 0] = 2.0  # one learner is ahead by 2 of a range of 4, in round 1
    share = math.exp(5.0 * math.sqrt(math.log(M)) * 0.5)
    assert policy.model_weights[0] == pytest.approx(share / (share + M - 1), rel=1e-12)


def test_first_round_with_numbers():
    """Two learners play the longest features of their maps; a tenth of the round is uniform over three actions."""
    x = np.array([[[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0], [0.0, 1.0]]])
    policy = ALEXP(n_models=2, dim=2, exploration=0.1)
    np.testing.assert_allclose(policy.probabilities(x), [0.45 + 0.1 / 3, 0.45 + 0.1 / 3, 0.1 / 3], rtol=1e-12)
    tied = x[:, [0, 0, 1]]
    np.testing.assert_allclose(policy.probabilities(tied)[:2], 0.225 + 0.1 / 3, rtol=1e-12)
    few = policy.probabilities(x, available=[True, False, True])  # of the second map, both are as long
    np.testing.assert_allclose(few, [0.45 + 0.225 + 0.05, 0.0, 0.225 + 0.05], rtol=1e-12)


def lasso_by_proximal_gradient(X, y, threshold):
    """Minimise |y - X theta|^2 / 2 + sum_i threshold_i |theta_i| over ``X (T, M, d)`` by many small steps."""
    T, M, d = X.shape
    F, theta = X.reshape(T, M * d), np.zeros((M, d))
    step = 1.0 / np.linalg.eigvalsh(F.T @ F).max()
    for _ in range(20_000):
        moved = theta - step * (F.T @ (F @ theta.ravel() - y)).reshape(M, d)
        size = np.linalg.norm(moved, axis=1)
        new = moved * np.maximum(1.0 - step * threshold / np.maximum(size, 1e-300), 0.0)[:, None]
        if np.abs(new - theta).max() < 1e-14:
            return new
        theta = new
    return theta


def test_plays_by_its_definition_with_late_rewards(monkeypatch):
    """Every round against the definition: learners, lasso, what each would have earned, weights, exploration."""
    monkeypatch.setattr(group_lasso, "TOLERANCE", 1e-11)
    monkeypatch.setattr(group_lasso, "PASSES", 10_000)
    rng = np.random.default_rng(0)
    M, d, K, R, S, delta, (low, high) = 2, 2, 4, 0.3, 1.2, 0.1, (-4.0, 5.0)
    exploration, rate, penalty, scale = 0.4, 7.0, 0.03, 0.6
    policy = ALEXP(
        n_models=M, dim=d, noise=R, parameter_bound=S, delta=delta, reward_range=(low, high), scale=scale,
        exploration=exploration, learning_rate=rate, penalty=penalty, seed=4,
    )  # fmt: skip
    lam, log_M = d * R**2 / S**2, math.log(8 * M / delta)
    c = penalty * 8 * R * math.sqrt(1 + 5 / math.sqrt(2) * math.sqrt(d * log_M) + 12 / math.sqrt(2) * log_M)
    X, Y, total, waiting = np.zeros((0, M, d)), np.zeros(0), np.zeros(M), []
    for s in range(24):
        x = rng.normal(size=(M, K, d))
        t, theta = len(Y) + 1, np.zeros((M, d))
        if len(Y):
            theta = lasso_by_proximal_gradient(X, Y, c * np.sqrt((X**2).sum(axis=(0, 2))))
        score, choice, gain = np.einsum("mkd,md->k", x, theta), np.zeros(M, dtype=int), np.zeros(M)
        for i in range(M):
            V = lam * np.eye(d) + X[:, i].T @ X[:, i]
            beta = R * math.sqrt(np.linalg.slogdet(V / lam)[1] + 2 * math.log(1 / delta)) + math.sqrt(lam) * S
            width = np.sqrt(np.einsum("kd,kd->k", x[i], np.linalg.solve(V, x[i].T).T))
            choice[i] = (x[i] @ np.linalg.solve(V, X[:, i].T @ Y) + scale * beta * width).argmax()
            gain[i] = score[choice[i]]
        weight = np.exp(rate / (high - low) * math.sqrt(math.log(M) / t) * (total + gain))
        share, p = min(1.0, exploration * t**-0.25), np.zeros(K)
        np.add.at(p, choice, (1.0 - share) * weight / weight.sum())
        np.testing.assert_allclose(policy.probabilities(x), p + share / K, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(policy.lasso, theta, atol=1e-7)
        decision = policy.act(x)
        waiting.append((decision, x[:, decision.action], gain))
        for decision, played, gain in reversed(waiting if s % 2 else []):
            y = float(played[1] @ [0.8, -0.5] + R * rng.normal())
            policy.update(decision, y)
            X, Y, total = np.concatenate([X, played[None]]), np.append(Y, y), total + gain
        waiting = [] if s % 2 else waiting
    before = policy.model_weights
    X, Y = np.concatenate([X, np.ones((1, M, d))]), np.append(Y, 0.5)
    policy.learn(np.ones((M, d)), 0.5)  # estimates change, weights only with the rate of the next round
    np.testing.assert_allclose(policy.model.gained[0], total, rtol=1e-6)
    np.testing.assert_allclose(policy.model_weights, before, atol=0.05)
    V = lam * np.eye(d) + X[:, 0].T @ X[:, 0]
    np.testing.assert_allclose(policy.parameters[0], np.linalg.solve(V, X[:, 0].T @ Y), rtol=1e-9)


def test_finds_the_right_map_among_eight_at_length():
    """400 rounds, 8 lanes, seeded: most of the weight on map 5 in all lanes but one at most."""
    rng = np.random.default_rng(2)
    policy = ALEXP(n_models=8, dim=3, noise=0.2, reward_range=(-3.0, 3.0), lanes=8, seed=0)
    for _ in range(400):
        decision = policy.act(rng.normal(size=(8, 8, 6, 3)) / math.sqrt(3))
        policy.update(decision, decision.features[:, 5] @ [0.6, -0.6, 0.5] + 0.2 * rng.normal(size=8))
    assert (policy.model_weights[:, 5] > 0.5).sum() >= 7
