"""FS-SCB as it is proved: range, clipping and rate of Theorem 5, side by side with the equations."""

import numpy as np
import pytest

from banditselect import FSSquareCB
from banditselect.plays.inverse_gaps import evaluated
from experts_by_hand import DELTA, DIMS, LAM, Experts, gap_weights, maps_of, played, softmax, substitution

# FSSquareCB, "corrected"

E1 = {"n_models": 5, "dim": 10, "noise": 0.5, "feature_bound": 1.0, "reward_bound": 1.0, "parameter_bound": 1.0}
E1 |= {"regularization": 1.0, "delta": 0.05, "horizon": 1000}
E2 = {"n_models": 3, "dim": 7, "noise": 0.3, "feature_bound": 2.0, "reward_bound": 1.5, "parameter_bound": 1.2}
E2 |= {"regularization": [1.0, 2.0, 4.0], "delta": 0.01, "horizon": 500}
CORRECTED = {"weighting": "corrected", "exploration": "corrected"}


def rates(policy, K):
    """Return the rates of a policy for K actions, ``(N,)``."""
    ids = np.arange(policy.lanes or 1)
    return evaluated(ids, policy._play.rate(ids, policy.model.rounds, K, None))


def corrected_range(*, noise, reward_bound, horizon, delta, **_):
    """Lemma 2 at delta / 5."""
    return reward_bound + noise * np.sqrt(2.0 * np.log(2.0 * horizon / (delta / 5.0)))


@pytest.mark.parametrize(("setting", "K", "alpha"), [(E1, 10, 19.7228675), (E2, 4, 7.81173926)], ids=["E1", "E2"])
def test_corrected_exploration_is_that_of_theorem_5(setting, K, alpha):
    policy = FSSquareCB(**setting, **CORRECTED)
    M, half = setting["n_models"], corrected_range(**setting)
    maps = np.zeros((M, K, setting["dim"]))
    maps[:, 0, 0] = 1.0
    policy.learn(maps[:, 0], 1.0)  # theta = 1 / (1 + lambda); all predicted 0, so all weigh the same
    f = np.broadcast_to(1.0 / (1.0 + np.array(setting["regularization"])), M)
    gap = substitution(np.stack([f, 0.0 * f], axis=1), np.full(M, 1.0 / M), -half, 2.0 * half)
    assert (1.0 / policy.probabilities(maps)[1] - K) / (gap[0] - gap[1]) == pytest.approx(alpha, rel=1e-7)


def test_corrected_weighting_is_sqalg_on_the_range_of_all_rewards_clipped_to_that_of_the_means():
    rng = np.random.default_rng(14)
    G, R = 0.6, 0.1
    setting = {"noise": R, "reward_bound": G, "horizon": 60, "delta": DELTA}
    policy = FSSquareCB(
        n_models=3,
        dim=DIMS,
        regularization=LAM,
        reward_range=(-9.0, 9.0),
        feature_bound=1.0,
        parameter_bound=1.0,
        **setting,
        **CORRECTED,
    )
    half = corrected_range(**setting)
    experts, loss, clipped, cut = Experts(), np.zeros(3), 0, 0
    for t in range(60):
        maps = maps_of(rng, rng.integers(2, 7), scale=0.7)
        f = experts.predict(maps)
        w = softmax(-2.0 / (2.0 * half) ** 2 * loss)
        score = substitution(f, w, -half, 2.0 * half)
        cut += (np.abs(score) > G).any()
        alpha = rates(policy, len(maps[0]))[0]  # that of E1 and E2 above
        np.testing.assert_allclose(policy.model_weights, w, atol=1e-9)
        np.testing.assert_allclose(policy.probabilities(maps), gap_weights(np.clip(score, -G, G), alpha), atol=1e-9)
        decision = policy.act(maps)
        y = float(0.5 * maps[1][decision.action].sum() + R * rng.normal()) + 2.0 * (t % 10 == 9)
        policy.update(decision, y)
        loss += (np.clip(f[:, decision.action], -half, half) - np.clip(y, -half, half)) ** 2
        clipped += abs(y) > half
        experts.add(played(maps, decision.action), y)
    assert cut > 5
    assert policy.clipped == clipped > 3
    assert policy.outside == 0


@pytest.mark.parametrize("weighting", ["noise", "range", "paper"])
def test_the_corrected_rate_belongs_to_the_corrected_weighting(weighting):
    with pytest.raises(ValueError, match=f"FSSquareCB: weighting: got '{weighting}', expected \"corrected\", since"):
        FSSquareCB(**E1, weighting=weighting, exploration="corrected")
