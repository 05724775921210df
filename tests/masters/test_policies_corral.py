"""CORRAL by hand: its draws, the lessons of its bases, replays, regret."""

import math

import numpy as np
import pytest

from banditselect import OFUL, Greedy, RegretBalancing, SquareCB, Uniform, load
from banditselect.kernels.features import played
from banditselect.masters import Corral
from banditselect.policies.contract import Played
from banditselect.rivals import SEXP3, UCB1
from barrier_by_hand import step_in_decimals

ONE, ZERO = np.ones((1, 1)), np.zeros(1, dtype=np.int64)


def play(policy, rounds, reward):
    for t in range(rounds):
        decision = policy.act(ONE)
        policy.update(decision, reward(t, decision))


# The weights


@pytest.mark.parametrize("feedback", ["plain", "importance"])
def test_the_weights_by_hand_on_scripted_rewards(feedback):
    script = np.random.default_rng(0).uniform(-1.0, 3.0, size=(3, 120)) - [[0.0], [0.5], [1.0]]
    policy = Corral(
        bases=[Uniform()] * 3, feedback=feedback, reward_range=(-2.0, 3.0), horizon=50, learning_rate=2.0, seed=1
    )
    w, eta, rho = np.full(3, 1.0 / 3.0), np.full(3, 2.0 * math.sqrt(3.0 / 50.0)), np.full(3, 6.0)
    for t in range(120):
        decision = policy.act(ONE)
        i, p = decision.base, 0.98 * w + 0.02 / 3.0
        assert decision.note[0, 1] == pytest.approx(p[i], rel=1e-12)
        policy.update(decision, float(script[i, t]))
        w = step_in_decimals(w, eta, i, (3.0 - script[i, t]) / 5.0 / p[i])
        p = 0.98 * w + 0.02 / 3.0
        eta = np.where(1.0 / p > rho, math.exp(1.0 / math.log(50.0)) * eta, eta)
        rho = np.where(1.0 / p > rho, 2.0 / p, rho)
        np.testing.assert_allclose(policy.model_weights, w, rtol=1e-8)
        np.testing.assert_allclose(policy.model.barrier.rates[0], eta)
        np.testing.assert_allclose(policy.model.barrier.thresholds[0], rho, rtol=1e-8)
    assert (rho > 6.0).any()
    assert policy.plays.sum() == 120


def test_rewards_outside_the_range_are_clipped_counted_and_warned_of_once():
    policy, twin = (Corral(bases=[Uniform(), Uniform()], seed=3) for _ in range(2))
    with pytest.warns(RuntimeWarning, match="reward 7 lies outside") as said:
        play(policy, 6, lambda t, d: 7.0 if t < 2 else -3.0)
    play(twin, 6, lambda t, d: 1.0 if t < 2 else 0.0)
    assert len(said) == 1
    assert (policy.outside, twin.outside) == (6, 0)
    np.testing.assert_array_equal(policy.model_weights, twin.model_weights)


# The lessons of a base


def test_importance_weighs_the_distance_from_the_best_reward():
    """p = 1/2 in the first round: a reward of .4 in (0, 1) becomes 1 - .6 / .5 = -.2; the ridge of 1 halves it."""
    policy = Corral(bases=[OFUL(dim=1), OFUL(dim=1)], feedback="importance")
    decision = policy.act(ONE)
    policy.update(decision, 0.4)
    assert policy.bases[decision.base].parameters[0] == pytest.approx(-0.1)
    assert policy.bases[1 - decision.base].rounds == 0
    plain = Corral(bases=[OFUL(dim=1), OFUL(dim=1)])
    decision = plain.act(ONE)
    plain.update(decision, 0.4)
    assert plain.bases[decision.base].parameters[0] == pytest.approx(0.2)


def test_importance_over_sexp3_divides_the_loss_by_both_probabilities():
    policy = Corral(bases=[SEXP3(n_arms=4), SEXP3(n_arms=4)], feedback="importance")
    decision = policy.act(np.ones((4, 1)))
    with pytest.warns(RuntimeWarning, match=r"bases\[.\]: reward .* outside"):
        policy.update(decision, 0.25)
    losses = policy.bases[decision.base].model.arms.losses[0, 0]
    assert losses[decision.action] == pytest.approx(0.75 * 2.0 * 4.0)
    assert losses.sum() == losses[decision.action]


def test_learn_teaches_every_base_and_no_weights():
    policy = Corral(bases=[SquareCB(dim=1), OFUL(dim=1)], feedback="smoothed")
    policy.learn([2.0], 1.0)
    assert [float(b.parameters[0]) for b in policy.bases] == pytest.approx([0.4, 0.4])
    assert policy.plays.tolist() == [0, 0]
    assert policy.model_weights.tolist() == [0.5, 0.5]


# Replays


def test_half_of_the_rounds_are_replays_which_teach_the_weights_alone():
    """A base of k rewards of 1 has the estimate k / (k + 1); the coin errs by 4 standard errors in 6e-5 of seeds."""
    policy = Corral(bases=[OFUL(dim=1), OFUL(dim=1)], feedback="smoothed", snapshots=2, horizon=1000)
    lessons, replays = np.zeros(2), 0
    for _ in range(400):
        before = policy.model_weights
        decision = policy.act(ONE)
        policy.update(decision, 1.0 if decision.base % 2 else 0.5)
        if decision.base < 2:
            lessons[decision.base] += 1
            np.testing.assert_array_equal(policy.model_weights, before)
        else:
            replays += 1
        np.testing.assert_array_equal(policy.plays, lessons)
        np.testing.assert_allclose([b.parameters[0] for b in policy.bases], lessons / (lessons + 1.0) * [0.5, 1.0])
        for k in range(4):
            level = policy._earlier[k].parameters[0] / [0.5, 1.0][k % 2]
            count = level / (1.0 - level)
            assert count == pytest.approx(round(count), abs=1e-6)
            assert 0 <= round(count) <= max(lessons[k % 2] - 1, 0)
    assert abs(replays - 200) < 40
    assert policy.model_weights[1] > 0.6


def test_a_snapshot_is_any_state_so_far_with_the_same_probability():
    """There are 5 states before 5 lessons; chi-square with 4 degrees of freedom, false alarm below 1e-4."""
    lanes = 2000
    policy, ids = Corral(bases=[OFUL(dim=1)], feedback="smoothed", lanes=lanes), np.arange(lanes)
    x = played(np.ones((lanes, 1, 1)))
    for _ in range(5):
        policy._learn(ids, x, np.ones(lanes), Played(np.zeros_like(ids), None, np.tile([0.0, 0.5], (lanes, 1))))
    level = policy._earlier[0].parameters[:, 0]
    counts = np.bincount(np.rint(level / (1.0 - level)).astype(int), minlength=5)
    assert counts.size == 5
    assert ((counts - lanes / 5) ** 2 / (lanes / 5)).sum() < 23.5


def test_a_replay_plays_as_the_base_played_then():
    policy = Corral(bases=[UCB1(n_arms=2)], feedback="smoothed", propensities=True, seed=2)
    policy._earlier[0].model.tally.plays[0] = 1, 1
    policy._earlier[0].model.tally.earned[0] = 1.0, 0.0  # then the first arm was the best, now the second is
    policy.bases[0].model.tally.plays[0] = 9, 9
    policy.bases[0].model.tally.earned[0] = 0.0, 9.0
    for _ in range(20):
        decision = policy.act(np.eye(2))
        assert decision.action == 1 - decision.base
        assert decision.probability == 0.5
    np.testing.assert_array_equal(policy.probabilities(np.eye(2)), [0.5, 0.5])


def test_a_master_inside_keeps_its_own_past(tmp_path):
    """The bounds of a balancing inside belong to the state that is replayed: loaded, it computes them anew."""
    inner = RegretBalancing(bases=[OFUL(dim=1), OFUL(dim=1)], reference="own")
    policy = Corral(bases=[inner, Uniform()], feedback="smoothed", seed=1)
    for _ in range(15):
        play(policy, 4, lambda t, d: 0.5)
        policy.save(tmp_path / "policy.bsel")
        again = load(tmp_path / "policy.bsel")
        np.testing.assert_array_equal(policy._earlier[0].model.shares(ZERO)[0], again._earlier[0].model.shares(ZERO)[0])
    assert 0 < policy._earlier[0].plays.sum() < policy.bases[0].plays.sum()


# Regret


@pytest.mark.parametrize("feedback", ["plain", "importance", "smoothed"])
def test_regret_against_fixed_policies_is_below_the_bound(feedback):
    """The mean regret of 40 lanes and 5 standard errors, against losses that change sides: M log T / eta + eta T + 2.

    Where half of the rounds are replays the weights learn from half of them: twice the bound for half of T.
    """
    T, lanes, M = 1000, 40, 4
    policy = Corral(bases=[Greedy(center=row) for row in np.eye(M)], feedback=feedback, horizon=T, lanes=lanes, seed=4)
    losses = np.ones((T, M))
    losses[: T // 4, 1] = 0.0
    losses[T // 5 :, 2] = 0.0
    regret, ids = np.zeros(lanes), np.tile(np.eye(M), (lanes, 1, 1))
    for t in range(T):
        decision = policy.act(ids)
        policy.update(decision, 1.0 - losses[t, decision.action])
        regret += losses[t, decision.action] - losses[t, 2]
    eta = math.sqrt(M / T)
    bound = M * math.log(T) / eta + eta * T + 2.0
    if feedback == "smoothed":
        bound = 2.0 * (M * math.log(T) / eta + eta * T / 2.0 + 2.0)
    mean, error = regret.mean(), regret.std(ddof=1) / math.sqrt(lanes)
    assert mean + 5.0 * error < bound
    assert mean < 0.6 * (losses.mean() - losses[:, 2].mean()) * T  # uniform play loses this much
