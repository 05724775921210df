"""A million rounds: estimates as good as a fresh solve, memory as on the first day."""

import numpy as np
import pytest

from banditselect import FSSquareCB


@pytest.mark.slow
def test_a_million_rounds():
    rng = np.random.default_rng(0)
    d, block, blocks = 5, 10_000, 100
    policy = FSSquareCB(n_models=2, dim=d, regularization=0.3, noise=0.5, reward_range=(-6.0, 6.0))
    theta = rng.normal(size=d)
    V, b = [0.3 * np.eye(d) for _ in range(2)], [np.zeros(d) for _ in range(2)]
    sizes = None
    for _ in range(blocks):
        features = rng.normal(size=(block, 2, 3, d)) * np.geomspace(0.01, 1.0, d)
        noise = rng.uniform(-0.5, 0.5, block)
        played, rewards = np.empty((block, 2, d)), np.empty(block)
        for t in range(block):
            decision = policy.act(features[t])
            played[t], rewards[t] = decision.features, decision.features[0] @ theta + noise[t]
            policy.update(decision, rewards[t])
        for i in range(2):
            V[i] += played[:, i].T @ played[:, i]
            b[i] += played[:, i].T @ rewards
        now = {name: a.shape for part, content in policy._parts for name, a in content.learned().items()}
        assert sizes in (None, now)
        sizes = now
    assert policy.rounds == block * blocks
    probe = rng.normal(size=(1000, d)) * np.geomspace(0.01, 1.0, d)
    for i in range(2):
        expected = probe @ np.linalg.solve(V[i], b[i])
        assert np.abs(probe @ policy.parameters[i] - expected).max() < 1e-8
