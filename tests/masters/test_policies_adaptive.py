"""SquareCB under a master over rates, for rewards that are only nearly linear."""

import numpy as np
import pytest

from banditselect.masters import AdaptiveSquareCB
from banditselect.plays.inverse_gaps import evaluated


def play(policy, rounds, rng):
    """Play with rewards that are not linear; return base, probability, features and reward of every round."""
    trace = []
    for _ in range(rounds):
        decision = policy.act(rng.uniform(-1.0, 1.0, size=(6, 3)))
        reward = 0.3 * decision.features.sum() + 0.1 * np.sign(decision.features[0]) + 0.05 * rng.normal()
        policy.update(decision, float(reward))
        trace.append((decision.base, decision.note[0, 1], decision.features, float(reward)))
    return trace


def test_the_caps_are_those_of_the_levels():
    """sqrt(4) / 2^-i for i = 1, 2, 3, and none; in units of a range of 2."""
    policy = AdaptiveSquareCB(dim=4, levels=3, exploration=10.0, reward_range=(-1.0, 1.0))
    ids, N = np.array([0]), 4
    for base, most in zip(policy.bases, [4.0, 8.0, 16.0, np.inf], strict=True):
        for n in (0, 1, 2, 100):
            base.model.bank.updates[:] = n
            rates = evaluated(ids, base._play.rate(ids, base.model.rounds, N, None))
            np.testing.assert_allclose(rates, min(10.0 * n**0.5, most) / 2.0, rtol=1e-14)


def test_a_reward_counts_once_for_every_probability():
    """Each base is the ridge regression in which the reward of a play of probability p counts 1 / p times."""
    policy = AdaptiveSquareCB(dim=3, levels=2, regularization=0.5, reward_range=(-2.0, 2.0), horizon=300, seed=1)
    trace = play(policy, 300, np.random.default_rng(0))
    assert len({p for _, p, _, _ in trace}) > 100
    for i, base in enumerate(policy.bases):
        mine = [(p, x, y) for b, p, x, y in trace if b == i]
        assert policy.plays[i] == len(mine) == base.model.bank.updates[0]
        V = 0.5 * np.eye(3) + sum(np.outer(x, x) / p for p, x, _ in mine)
        theta = np.linalg.solve(V, sum(x * y / p for p, x, y in mine))
        np.testing.assert_allclose(base.parameters, theta, rtol=1e-8)
    assert policy.outside == 0


def test_a_base_that_knows_less_than_its_range_says_nothing():
    """Rewards that count often are larger than the range of a base, which is no news; those outside are."""
    policy = AdaptiveSquareCB(dim=1, levels=1, reward_range=(0.0, 1.0), horizon=100)
    for _ in range(50):
        policy.update(policy.act(np.ones((2, 1))), 1.0)
    with pytest.warns(RuntimeWarning, match="AdaptiveSquareCB: reward 2 lies outside"):
        policy.update(policy.act(np.ones((2, 1))), 2.0)
    assert policy.outside == 1
