"""A log as a problem: the decisions a policy meets, the rewards it learns, and that they are a fair sample."""

import pickle

import numpy as np
import pytest

from banditselect import SquareCB, Uniform, given, maps, simulate, sweep
from banditselect.checks import check_problem
from banditselect.logs import Log, Round
from banditselect.problems import LoggedReplay
from banditselect.simulation.identity import describe

X = np.arange(24.0).reshape(4, 2, 3)
ARGUMENTS = {"features": X, "action": [0, 1, 1, 0], "propensity": [0.5, 0.25, 1.0, 0.5], "reward": [1.0, 0.0, 2.0, 1.0]}


def logged(T, seed, K=3):
    """Return a log under skewed logging with rewards whose mean is known, and that mean, ``(T, K)``."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(T, K, 2))
    means = x @ [0.5, -0.5]
    p = np.exp(means) + 0.3
    p /= p.sum(axis=1, keepdims=True)
    action = (rng.uniform(size=(T, 1)) > p.cumsum(axis=1)).sum(axis=1)
    chosen = np.arange(T), action
    return Log(features=x, action=action, propensity=p[chosen], reward=means[chosen] + rng.normal(0, 0.2, T)), means


def test_replay_keeps_the_contract_of_problems_as_far_as_it_can_be_checked():
    skipped = check_problem(LoggedReplay(log=logged(4000, 0)[0], floor=0.5))
    parameter, means = "it has no constant parameter", "its means are not known"
    assert skipped == {
        "check_parameter_bound": parameter,
        "check_reward_bound": means,
        "check_linear_means": parameter,
        "check_means": means,
    }
    instances = LoggedReplay(log=logged(50, 0)[0]).draw(range(2), 50, seed=7)
    assert sorted(instances.order[0]) == sorted(instances.order[1]) == list(range(50))
    assert not np.array_equal(*instances.order)


def test_rewards_are_the_logged_ones_of_logged_actions():
    log = Log(**ARGUMENTS | {"propensity": [0.5] * 4})
    instances = LoggedReplay(log=log).draw(range(2), 4, seed=0)
    for t in range(4):
        rows = instances.order[:, t]
        np.testing.assert_array_equal(instances.features(t), X[rows])
        np.testing.assert_array_equal(instances.rewards(t, log.action[rows]), log.reward[rows])
        assert np.isnan(instances.rewards(t, 1 - log.action[rows])).all()
    assert instances.constants["reward_range"] == (0.0, 2.0)
    assert instances.constants["noise"] == 1.0
    assert instances.constants["feature_bound"] == pytest.approx(np.linalg.norm([21.0, 22.0, 23.0]))
    constant = LoggedReplay(log=Log(**ARGUMENTS | {"reward": [3.0] * 4})).draw(range(1), 1, seed=0).constants
    assert constant["reward_range"] == (2.5, 3.5)


def test_observed_rewards_are_a_fair_sample_of_what_a_policy_would_earn():
    """Two tests at 4.5 standard errors, false alarm 1.4e-5; without the coins the mean is far off."""
    log, means = logged(60_000, 1)
    rng = np.random.default_rng(2)
    target = np.exp(-means) / np.exp(-means).sum(axis=1, keepdims=True)
    truth = (target * means).sum(axis=1).mean()
    action = (rng.uniform(size=(len(log), 1)) > target.cumsum(axis=1)).sum(axis=1)
    fair = LoggedReplay(log=log).draw(range(1), len(log), seed=3)
    seen = np.array([fair.rewards(t, action[fair.order[:, t]])[0] for t in range(len(log))])
    count = np.isfinite(seen)
    share = log.propensity.min()
    assert abs(count.mean() - share) < 4.5 * np.sqrt(share / len(log))
    error = np.nanstd(seen) / np.sqrt(count.sum())
    assert abs(np.nanmean(seen) - truth) < 4.5 * error
    every = LoggedReplay(log=log, floor=1.0).draw(range(1), len(log), seed=3)
    naive = np.array([every.rewards(t, action[every.order[:, t]])[0] for t in range(len(log))])
    assert np.isfinite(naive).sum() > 5 * count.sum()
    assert abs(np.nanmean(naive) - truth) > 10 * np.nanstd(naive) / np.sqrt(np.isfinite(naive).sum())


def test_replay_offers_what_was_offered():
    rng = np.random.default_rng(3)
    available = np.arange(3) < rng.integers(1, 4, 40)[:, None]
    action = np.array([rng.choice(np.flatnonzero(row)) for row in available])
    logged = {"action": action, "propensity": 1.0 / available.sum(axis=1), "reward": action.astype(float)}
    problem = LoggedReplay(log=Log(features=rng.normal(size=(40, 3, 2)), available=available, **logged))
    instances = problem.draw(range(2), 40, seed=0)
    for t in range(40):
        np.testing.assert_array_equal(instances.available(t), available[instances.order[:, t]])
    policies = {"uniform": Uniform.bind(), "SquareCB": SquareCB.bind(reward_range=given.reward_range)}
    result = simulate(policies, problem, rounds=40, replicates=3)
    assert np.isnan(result.final("uniform", "regret")).all()
    assert (result.final("uniform", "mean_reward") <= 2.0).all()


def test_sweeps_store_logs_whose_features_are_made_by_maps(tmp_path):
    rounds = [Round({"x": float(t)}, [{"id": 0}, {"id": 1}], t % 2, float(t % 3), 0.5) for t in range(40)]
    one, other = (
        LoggedReplay(log=Log.from_rounds(rounds, maps.Disjoint(context=maps.Numbers("x", scale=scale), capacity=2)))
        for scale in (None, "fit")
    )
    policies, options = {"uniform": Uniform.bind()}, {"rounds": 40, "replicates": 2, "out": tmp_path}
    results = sweep(policies, {"one": one, "other": other}, **options)
    again = sweep(policies, {"one": one, "other": other}, **options)
    for name in ("one", "other"):
        rewards = (found[name].final("uniform", "mean_reward") for found in (results, again))
        np.testing.assert_array_equal(*rewards)
    assert describe("log", one.log) != describe("log", other.log)
    assert describe("log", one.log) == describe("log", pickle.loads(pickle.dumps(one.log)))


def test_replay_refuses_by_name():
    log = Log(**ARGUMENTS)
    with pytest.raises(ValueError, match="rounds: got 5, expected at most 4, the decisions of the log"):
        LoggedReplay(log=log).draw(range(1), 5, seed=0)
    with pytest.raises(ValueError, match="LoggedReplay: floor: got 0"):
        LoggedReplay(log=log, floor=0)
    with pytest.raises(ValueError, match="LoggedReplay: log: got 3"):
        LoggedReplay(log=3)
    assert (
        repr(LoggedReplay(log=log)) == "LoggedReplay(log=Log(4 decisions, at most 2 actions, 3 features), floor=None)"
    )
