"""A policy per task, as the experiment of tasks in sequence plays it."""

import numpy as np
import pytest

from banditselect import BiasOFUL, Uniform, given, simulate
from banditselect.experiments.beyond.task_sequence import PolicyPerTask
from banditselect.problems import SyntheticTasks

PROBLEM = SyntheticTasks(n_models=2, dim=3, n_actions=4, task_rounds=10)


def test_a_policy_begins_anew_in_every_task():
    """One task after the other equals each played alone, with its own centre and radius."""
    bound = BiasOFUL.bind(center=given.task_centers, radius=given.task_radius, noise=given.noise)
    policies = {"anew": PolicyPerTask.bind(task_rounds=10, policy=bound, changing=("center",))}
    result = simulate(policies, PROBLEM, rounds=20, replicates=2, seed=3, workers=1)
    instances = PROBLEM.draw(range(2), 20, seed=3)
    told, regret = instances.constants, np.zeros(2)
    for task in range(2):
        radius, center = told["task_radius"], told["task_centers"][:, task]
        policy = BiasOFUL(center=center, radius=radius, noise=told["noise"], lanes=2)
        for t in range(10 * task, 10 * task + 10):
            decision = policy.act(instances.features(t))
            policy.update(decision, instances.rewards(t, decision.action))
            means = instances.means(t)
            regret += means.max(axis=1) - means[np.arange(2), decision.action]
    np.testing.assert_allclose(result.final("anew", "pseudo_regret"), regret)


def test_lanes_learn_as_if_alone():
    told = {"task_rounds": 10}
    both = simulate({"r": PolicyPerTask.bind(**told)}, PROBLEM, rounds=40, replicates=3, seed=0, workers=1)
    one = simulate({"r": PolicyPerTask.bind(**told)}, PROBLEM, rounds=40, replicates=1, seed=0, workers=1)
    np.testing.assert_array_equal(both.final("r", "regret")[0], one.final("r", "regret")[0])


def test_what_a_simulation_cannot_use_is_refused():
    with pytest.raises(ValueError, match="PolicyPerTask: policy"):
        PolicyPerTask(dim=2, task_rounds=3, policy=Uniform())
    policy = PolicyPerTask(dim=2, task_rounds=3, lanes=2)
    with pytest.raises(ValueError, match="PolicyPerTask: lanes"):
        policy.update(policy.act(np.ones((1, 2, 2)), lanes=[1]), [0.0])
