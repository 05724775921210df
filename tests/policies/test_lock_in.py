"""Learners with a block for each arm do not lock themselves out of an arm after one unlucky reward."""

import numpy as np
import pytest

from banditselect import Blocked, LinIDS

RATES = np.array([0.18, 0.08, 0.12, 0.10, 0.10, 0.42])
LANES, ROUNDS = 100, 1000


def played(rates, first=None):
    """Play six arms without features; return mean rewards ``(LANES,)`` and shares of the best arm in the last half.

    ``first``: the reward of round 1, in the place of the one drawn.
    """
    K, coins = rates.size, np.random.default_rng(5).uniform(size=(ROUNDS, LANES))
    policy = LinIDS(dim=1, blocks=K, lanes=LANES, seed=1)
    x = Blocked(np.ones((LANES, K, 1)), np.tile(np.arange(K), (LANES, 1)))
    total, best = np.zeros(LANES), np.zeros(LANES)
    for t in range(ROUNDS):
        decision = policy.act(x)
        y = (coins[t] < rates[decision.action]).astype(float)
        if t == 0 and first is not None:
            y[:] = first
        policy.update(decision, y)
        total += y
        best += (t >= ROUNDS // 2) * (decision.action == rates.argmax())
    return total / ROUNDS, best / (ROUNDS - ROUNDS // 2)


def test_no_learner_locks_the_best_of_six_arms_out():
    reward, share = played(RATES)
    assert share.min() > 0.1
    assert reward.mean() > 0.39  # one-hot features: 0.40; always the best arm: 0.42


@pytest.mark.slow
def test_few_learners_lock_it_out_at_a_tenth_of_the_rates():
    reward, share = played(0.1 * RATES)
    assert (share < 0.1).sum() <= 10
    assert reward.mean() > 0.028


@pytest.mark.slow
def test_the_first_reward_decides_nothing():
    rewards = [played(RATES, first)[0].mean() for first in (0.0, 0.5, 1.0)]
    gap = RATES.max() - RATES.mean()
    assert max(rewards) - min(rewards) < 0.02 * gap
