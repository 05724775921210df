"""Replay of agents and policies through a log: the rewards they learn, and that these are a fair sample."""

import copy
import math

import numpy as np
import pytest
from scipy import stats

from banditselect import Agent, FSSquareCB, LinIDS, SquareCB, maps, simulate
from banditselect.logs import Log, read_decisions, replay
from banditselect.problems import LoggedReplay
from logs_by_hand import ARMS, Logistic, Wide, Z, by_weight, drawn, two_maps, visits


def test_replay_observes_the_rewards_of_logged_actions():
    agent, twin, rounds = Logistic(), Logistic(), list(by_weight(400))
    found = replay(agent, iter(rounds), floor=0.25, seed=3)
    coins, told = np.random.default_rng(3), []
    for r in rounds:
        action = twin.act(r.context, r.items).action
        if coins.uniform() < 0.25 / r.probability and action == r.action:
            told.append((action, r.reward))
    assert agent.updated == told
    assert (found.n, found.observed, agent.forgotten) == (400, len(told), 400 - len(told))
    rewards = np.array([reward for _, reward in told])
    assert found.mean_reward.estimate == pytest.approx(rewards.mean())
    half = Z * rewards.std(ddof=1) / math.sqrt(rewards.size)
    assert found.mean_reward.high - rewards.mean() == pytest.approx(half)


def test_replay_observes_a_fair_share():
    """The mean reward is that of playing, since each action is observed as often as it is played; two tests at 1e-5."""
    agent, n = Logistic(), 20_000
    found = replay(agent, by_weight(n, seed=7), floor=0.25, seed=8)
    assert stats.binomtest(found.observed, n, 0.25).pvalue > 1e-5
    x = np.random.default_rng(9).normal(size=200_000)
    truth = (x / (1.0 + np.exp(-x))).mean()
    error = (found.mean_reward.high - found.mean_reward.low) / (2.0 * Z)
    assert abs(found.mean_reward.estimate - truth) < 4.42 * math.hypot(error, x.std() / math.sqrt(x.size))


def test_agents_with_a_block_per_item_are_replayed_as_one_wide_parameter():
    wide = LinIDS(dim=8, intercept=False, seed=(3, 0))
    agent, by_hand = Agent(maps={"arms": ARMS}, policy=LinIDS.bind(intercept=False), seed=3), Wide(wide)
    found, wanted = (replay(one, visits(400, seed=2), floor=0.33) for one in (agent, by_hand))
    assert found.observed == wanted.observed > 100
    assert found.mean_reward.estimate == pytest.approx(wanted.mean_reward.estimate, rel=1e-12)
    np.testing.assert_allclose(agent.policy.parameters[0].ravel(), wide.parameters, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_a_policy_replays_a_log(masked):
    log, _ = drawn(np.random.default_rng(0), 400, greed=0.5)
    if masked:
        mask = np.random.default_rng(1).uniform(size=(400, 4)) < 0.6
        mask[np.arange(400), log.action] = True
        log = Log(**vars(log) | {"available": mask})
    policy = SquareCB(dim=3, reward_range=(-3.0, 3.0))
    by_hand, coins, rewards = copy.deepcopy(policy), np.random.default_rng(3), []
    for t in range(400):
        decision, x = by_hand.act(log.offers(t)), log.played(t)
        coin = coins.uniform() < log.propensity.min() / log.propensity[t]
        if coin and np.array_equal(log.offers(t)[decision.action], x):
            by_hand.update(decision, log.reward[t])
            rewards.append(log.reward[t])
    found = replay(policy, log, seed=3)
    assert (found.n, found.observed) == (400, len(rewards))
    assert found.mean_reward.estimate == pytest.approx(np.mean(rewards))
    np.testing.assert_array_equal(policy.parameters, by_hand.parameters)
    several = replay(FSSquareCB(n_models=2, dim=[2, 3], reward_range=(-3.0, 3.0)), two_maps(400)[0], floor=1.0)
    assert several.observed > 50


def test_replay_refuses_by_name():
    with pytest.raises(ValueError, match=r"replay: floor: got 0\.0"):
        replay(Logistic(), by_weight(9), floor=0.0)
    with pytest.raises(ValueError, match="replay: floor: got None, expected a number, at most the smallest"):
        replay(Logistic(), by_weight(9))
    with pytest.raises(ValueError, match="replay: log: got '9 rounds, 0 of them observed'"):
        replay(Logistic(), by_weight(9), floor=1e-9)


def test_arms_of_a_table_are_replayed_with_blocks():
    rng = np.random.default_rng(0)
    context, action = rng.normal(size=(200, 3)), rng.integers(0, 4, 200)
    reward = (context * rng.normal(size=(4, 3))[action]).sum(axis=1) + 0.1 * rng.normal(size=200)
    table = dict(zip("xyz", context.T, strict=True)) | {"action": action, "reward": reward}
    rounds = read_decisions(table, context=[*"xyz"], items=[0, 1, 2, 3], propensity=0.25)
    arms = maps.Disjoint(context=maps.Numbers(*"xyz", scale=None), constant=False, capacity=3)
    policies = {"blocks": LinIDS.bind(intercept=False), "wide": LinIDS.bind(intercept=False, blocks=1)}
    result = simulate(policies, LoggedReplay(log=Log.from_rounds(rounds, arms)), rounds=200, replicates=3)
    np.testing.assert_allclose(result.final("blocks", "mean_reward"), result.final("wide", "mean_reward"), rtol=1e-9)
