"""mUCB by hand, and that mTS is Thompson sampling with known parameters."""

import math

import numpy as np
import pytest
from scipy import stats

from banditselect import PSTS
from banditselect.rivals import MUCB

# mUCB


def mucb_by_hand(centers, x, offered, history, *, horizon, error, noise, scale):
    """The actions that mUCB may play and the model it believes, from the definition; history: (model, x, y)."""
    asked = []
    for s in range(len(centers)):
        mine = [centers[s] @ x_l - error - y for model, x_l, y in history if model in (s, None)]
        if sum(mine) <= scale * noise * math.sqrt(6.0 * len(mine) * math.log(horizon)):
            asked.append(s)
    pairs = [(centers[s] @ x[a], s, a) for s in asked or range(len(centers)) for a in np.flatnonzero(offered)]
    best, believed, _ = max(pairs, key=lambda pair: (pair[0], -pair[1]))
    return [a for value, s, a in pairs if s == believed and math.isclose(value, best, rel_tol=1e-12)], believed


@pytest.mark.parametrize(("error", "scale"), [(0.0, 1.0), (0.1, 1.0), (0.0, 0.05)])
def test_mucb_equals_the_definition_with_late_rewards_and_data_from_elsewhere(error, scale):
    """With a small scale, models are dropped until none is left and all are asked again."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 3))
    truth = centers[3] + 0.2 * error
    settings = {"horizon": 200, "error": error, "noise": 0.3, "scale": scale}
    policy, history, waiting, empty = MUCB(centers=centers, **settings), [], [], 0
    for t in range(200):
        x, offered = rng.normal(size=(4, 3)), rng.random(4) < 0.8
        offered[0] |= not offered.any()
        expected, believed = mucb_by_hand(centers, x, offered, history, **settings)
        empty += not policy.consistent.any()
        decision = policy.act(x, available=offered)
        assert decision.action in expected
        assert decision.probability == pytest.approx(1.0 / len(expected))
        waiting.append((decision, believed, x[decision.action]))
        if t % 3 == 2:  # the last first
            for late, model, played in (waiting.pop() for _ in range(3)):
                y = float(played @ truth + rng.uniform(-0.5, 0.5))
                policy.update(late, y)
                history.append((model, played, y))
        if t % 50 == 49:
            x = rng.normal(size=3)
            y = float(x @ truth + rng.uniform(-0.5, 0.5))
            policy.learn(x, y)
            history.append((None, x, y))
    plays = [sum(model in (s, None) for model, _, _ in history) for s in range(5)]
    np.testing.assert_array_equal(policy.plays, plays)
    assert policy.consistent.sum() < 5
    assert policy.consistent[3] or scale < 1.0
    assert (empty > 0) == (scale < 1.0)


def test_mucb_stays_below_its_bound_and_finds_the_model():
    """K = 30, M = 6, T = 500, R = .5: 18 + sqrt(6 * 6 * 500 log 500) + 2 T eps = 352 + 1000 eps."""
    rng, lanes, rounds = np.random.default_rng(2), 40, 500
    for error in (0.0, 0.05):
        centers, model = rng.uniform(size=(lanes, 6, 30)), rng.integers(6, size=lanes)
        means = centers[np.arange(lanes), model] + rng.uniform(-error, error, (lanes, 30))
        policy, regret = MUCB(centers=centers, horizon=rounds, error=error, lanes=lanes), np.zeros(lanes)
        for _ in range(rounds):
            decision = policy.act(np.tile(np.eye(30), (lanes, 1, 1)))
            earned = means[np.arange(lanes), decision.action]
            policy.update(decision, earned + rng.uniform(-0.5, 0.5, lanes))
            regret += means.max(axis=1) - earned
        assert regret.mean() < 18.0 + math.sqrt(36 * rounds * math.log(rounds)) + 2.0 * error * rounds
        assert regret.mean() < 0.5 * rounds * (means.max(axis=1) - means.mean(axis=1)).mean()
        assert policy.consistent[np.arange(lanes), model].all()


# mTS


def test_ps_ts_with_known_parameters_and_noise_is_mts():
    """Weights are Bayes' rule with N(<x, mu_s>, R^2); an action is played as often as the models for which it is best.

    False alarm 1e-5 for each of the two tests.
    """
    rng = np.random.default_rng(5)
    centers, noise = rng.uniform(size=(4, 6)), 0.3
    policy = PSTS(centers=centers, radii=0.0, noise=noise, seed=2)
    log_weight = np.zeros(4)
    for t in range(30):
        decision = policy.act(np.eye(6))
        y = float(centers[2, decision.action] + noise * rng.normal())
        policy.update(decision, y)
        log_weight -= (y - centers[:, decision.action]) ** 2 / (2.0 * noise**2)
        weight = np.exp(log_weight - log_weight.max())
        np.testing.assert_allclose(policy.model_weights, weight / weight.sum(), atol=1e-12)
        if t in (0, 8):
            share = np.bincount(centers.argmax(axis=1), weights=policy.model_weights, minlength=6)
            played = np.bincount([policy.act(np.eye(6)).action for _ in range(4000)], minlength=6)
            possible = share > 0.0
            assert played[~possible].sum() == 0
            assert possible.sum() > 1
            assert stats.chisquare(played[possible], 4000 * share[possible]).pvalue > 1e-5
