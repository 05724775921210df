"""The laboratory of the study of defaults computes what the shipped policies play, in another way."""

import numpy as np
import pytest

from banditselect import FSIDS, PSIDS, LinIDS
from benchmarks.defaults_laboratory import Laboratory


def one_map(x):
    return x[0]


def follow(policy, laboratory, features, rewards, offer=one_map):
    """Play the policy; the laboratory must give the same probabilities and, with the same draws, the same actions."""
    for x, y in zip(features, rewards, strict=True):
        offered = offer(x)
        p = policy.probabilities(offered)
        np.testing.assert_allclose(laboratory.probabilities(x), p, rtol=0.0, atol=1e-9)
        decision = policy.act(offered)
        assert p[decision.action] == decision.probability > 0.0
        policy.update(decision, y[decision.action])
        laboratory.learn(x[:, decision.action], y[decision.action])


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("scale", "zero", "noise"), [(1.0, 0.0, 0.3), (50.0, 1e3, 10.0), (1e-3, -2.0, 1e-4)])
def test_one_map(constant, scale, zero, noise):
    rng = np.random.default_rng(1)
    x = scale * rng.normal(size=(300, 1, 6, 4))
    y = zero * constant + x[:, 0].sum(axis=2) + noise * rng.normal(size=(300, 6))
    follow(LinIDS(dim=4, intercept=constant), Laboratory.of_maps([4], constant=constant), x, y)


def test_coins_with_arms_of_their_own():
    """Each arm has a length of its own: of arms that are equal but for rounding, either way may take another."""
    rng = np.random.default_rng(2)
    x = np.tile(np.diag([1.0, 1.1, 1.2, 1.3, 1.4]), (300, 1, 1, 1))
    y = (rng.uniform(size=(300, 5)) < [0.2, 0.3, 0.5, 0.3, 0.2]).astype(float)
    follow(LinIDS(dim=5), Laboratory.of_maps([5]), x, y)


@pytest.mark.parametrize("constant", [True, False])
def test_maps_of_different_widths(constant):
    rng = np.random.default_rng(3)
    widths = [3, 5, 2]
    x = rng.normal(size=(300, 3, 6, 5))
    for i, width in enumerate(widths):
        x[:, i, :, width:] = 0.0
    y = 0.4 * x[:, 1].sum(axis=2) + rng.normal(size=(300, 6))
    policy = FSIDS(n_models=3, dim=widths, intercept=constant)
    laboratory = Laboratory.of_maps(widths, constant=constant)
    for rounds in np.split(np.arange(300), 10):
        follow(policy, laboratory, x[rounds], y[rounds], lambda z: [z[i, :, :w] for i, w in enumerate(widths)])
        np.testing.assert_allclose(laboratory.model_weights, policy.model_weights, rtol=0.0, atol=1e-9)


def test_balls():
    rng = np.random.default_rng(4)
    centers, radii = rng.normal(size=(3, 4)), np.array([0.2, 0.5, 1.0])
    x = rng.normal(size=(300, 1, 6, 4))
    y = x[:, 0] @ (centers[1] + 0.2) + 0.5 * rng.normal(size=(300, 6))
    policy, laboratory = PSIDS(centers=centers, radii=radii), Laboratory.of_regions(centers, radii)
    follow(policy, laboratory, x, y)
    np.testing.assert_allclose(laboratory.model_weights, policy.model_weights, rtol=0.0, atol=1e-9)


def test_the_whole_loop_takes_the_same_steps():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(50, 2, 4, 3)), rng.normal(size=(50, 4))
    actions, weights = Laboratory.of_maps([3, 3]).play(x, y, 7, read=[10, 50])
    draws, laboratory, read = np.random.default_rng(7).uniform(size=50), Laboratory.of_maps([3, 3]), []
    for t in range(50):
        p = laboratory.probabilities(x[t]).cumsum()
        assert actions[t] == np.searchsorted(p, draws[t] * p[-1], side="right")
        laboratory.learn(x[t, :, actions[t]], y[t, actions[t]])
        if t + 1 in (10, 50):
            read.append(laboratory.model_weights)
    np.testing.assert_allclose(weights, read, atol=1e-12)
