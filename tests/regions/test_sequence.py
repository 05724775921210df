"""Tasks in sequence: a learner that starts from nothing, the policy that simulates it, the problem it plays."""

import numpy as np
import pytest

from banditselect import PSIDS, PSOFUL, BiasOFUL, LinIDS, Uniform, given, simulate
from banditselect.checks import PROBLEM_CHECKS
from banditselect.problems import SyntheticTasks
from banditselect.regions import Regions, TaskSequence
from banditselect.regions.in_tasks import InTasks
from expected_skips import run_or_skip

CENTERS = np.array([[2.0, 0.0], [-2.0, 1.0]])
PROBLEM = SyntheticTasks(n_models=2, dim=3, n_actions=4, task_rounds=10)
SKIPPED = ("check_parameter_bound", "check_linear_means")  # its parameter is another in every task


def play(sequence, tasks, rounds=12, first=0):
    """Play tasks that belong to the centres in turn; return what was played and earned in the last."""
    for task in tasks:
        rng = np.random.default_rng(first + task)
        theta = CENTERS[task % 2] + 0.1 * rng.normal(size=2)
        policy, decisions, rewards = sequence.begin(), [], []
        for _ in range(rounds):
            decisions.append(policy.act(rng.normal(size=(4, 2))))
            rewards.append(float(decisions[-1].features @ theta + 0.2 * rng.normal()))
            policy.update(decisions[-1], rewards[-1])
        sequence.end(decisions, rewards)
    return decisions, rewards


def test_it_starts_alone_and_finds_the_regions():
    sequence = TaskSequence(dim=2)
    assert isinstance(sequence.begin(), LinIDS)
    assert (sequence.n_tasks, sequence.regions) == (0, None)
    play(sequence, range(1))
    assert isinstance(sequence.begin(), PSIDS)
    assert sequence.regions.n_regions == 1
    np.testing.assert_allclose(sequence.begin().model_weights, 0.5)  # the task, and that of a newcomer
    play(sequence, range(1, 10))
    assert sequence.n_tasks == sequence.regions.n_tasks == 10
    assert sequence.regions.n_regions == 2
    off = np.linalg.norm(sequence.regions.means[:, None] - CENTERS, axis=2).min(axis=0)
    assert off.max() < 0.3


def test_a_task_that_none_explains_opens_a_region():
    sequence = TaskSequence(dim=2)
    play(sequence, range(10))
    looked = sequence._looked
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 2))
    sequence.end(x, x @ [0.0, -3.0] + 0.2 * rng.normal(size=12))
    assert sequence._looked == looked  # it was opened, not found afresh
    assert sequence.regions.n_regions == 3
    np.testing.assert_allclose(sequence.regions.means[-1], [0.0, -3.0], atol=0.3)


def test_until_the_noise_is_known_it_learns_alone():
    sequence = TaskSequence(dim=2)
    sequence.end(np.eye(2), [1.0, 2.0])
    assert (sequence.n_tasks, sequence.regions) == (1, None)
    assert isinstance(sequence.begin(), LinIDS)
    play(sequence, range(1))
    assert isinstance(sequence.regions, Regions)
    assert sequence.regions.n_tasks == 2
    told = TaskSequence(dim=2, noise=0.2)
    told.end(np.eye(2), [1.0, 2.0])
    assert told.regions.n_tasks == 1


def test_decisions_and_arrays_tell_the_same_and_a_file_goes_on(tmp_path):
    one, other = TaskSequence(dim=2, arguments={"floor": 0.1}), TaskSequence(dim=2, arguments={"floor": 0.1})
    for task in range(6):
        decisions, rewards = play(one, [task])
        other.end(np.array([d.features for d in decisions]), rewards)
        other.save(tmp_path / "sequence.bsel")
        other = TaskSequence.load(tmp_path / "sequence.bsel")
    np.testing.assert_array_equal(one.regions.means, other.regions.means)
    assert other.begin().floor == 0.1
    x = np.random.default_rng(0).normal(size=(4, 2))
    assert [one.begin().act(x).action for _ in range(3)] == [other.begin().act(x).action for _ in range(3)]
    early = TaskSequence(dim=2)
    early.end(np.eye(2), [1.0, 2.0])
    early.save(tmp_path / "early.bsel")
    assert TaskSequence.load(tmp_path / "early.bsel").n_tasks == 1
    Uniform().save(tmp_path / "policy.bsel")
    with pytest.raises(ValueError, match="its content is not a task sequence"):
        TaskSequence.load(tmp_path / "policy.bsel")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dim": 0}, "TaskSequence: dim: got 0"),
        ({"policy": Uniform}, "TaskSequence: policy"),
        ({"noise": -1.0}, "TaskSequence: noise: got -1.0"),
        ({"intercept": "yes"}, "TaskSequence: intercept"),
        ({"max_regions": 0}, "TaskSequence: max_regions"),
        ({"seed": -1}, "TaskSequence: seed"),
        ({"arguments": {"noise": [1.0]}}, r"TaskSequence: arguments\['noise'\]"),
    ],
)
def test_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        TaskSequence(**({"dim": 2} | arguments))


def test_rounds_are_refused_by_name():
    sequence = TaskSequence(dim=2, policy=PSOFUL)
    for played in ([], np.ones((2, 3)), [[np.nan, 0.0]]):
        with pytest.raises(ValueError, match=r"TaskSequence\.end: played"):
            sequence.end(played, [1.0])
    with pytest.raises(ValueError, match="reward"):
        sequence.end(np.eye(2), [1.0])
    assert sequence.n_tasks == 0


# In simulations


@pytest.mark.parametrize("check", PROBLEM_CHECKS)
@pytest.mark.parametrize("noise", ["uniform", "bernoulli"])
def test_common_check(check, noise):
    run_or_skip(check, SyntheticTasks(**(PROBLEM.settings | {"noise": noise})), SKIPPED)


def test_every_task_has_a_parameter_near_a_centre():
    instances = PROBLEM.draw(range(2), 35, seed=0)
    told = instances.constants
    assert told["task_parameters"].shape == (2, 4, 3)
    for n in range(2):
        for t in (0, 9, 10, 34):
            theta = told["task_parameters"][n, t // 10]
            np.testing.assert_allclose(instances.means(t)[n], instances.features(t)[n] @ theta)
        assert all((told["centers"][n] == center).all(axis=1).any() for center in told["task_centers"][n])
    apart = np.linalg.norm(told["task_parameters"] - told["task_centers"], axis=2)
    np.testing.assert_allclose(told["task_radius"], apart.max(axis=1))
    many = SyntheticTasks(dim=3, task_rounds=1, n_actions=1).draw(range(1), 4000, seed=1).constants
    apart = many["task_parameters"] - many["task_centers"]
    # 12,000 squares: their mean is off by more than a tenth with probability below 1e-13
    assert (apart**2).mean() == pytest.approx(0.04, rel=0.1)


def test_a_policy_begins_anew_in_every_task():
    """One task after the other equals each played alone, with what is told of it."""
    bound = BiasOFUL.bind(center=given.task_centers, radius=given.task_radius, noise=given.noise)
    policies = {"anew": InTasks.bind(task_rounds=10, policy=bound, changing=("center",))}
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
    both = simulate({"r": InTasks.bind(**told)}, PROBLEM, rounds=40, replicates=3, seed=0, workers=1)
    one = simulate({"r": InTasks.bind(**told)}, PROBLEM, rounds=40, replicates=1, seed=0, workers=1)
    np.testing.assert_array_equal(both.final("r", "regret")[0], one.final("r", "regret")[0])


def test_what_a_simulation_cannot_use_is_refused():
    with pytest.raises(ValueError, match="InTasks: policy"):
        InTasks(dim=2, task_rounds=3, policy=Uniform())
    policy = InTasks(dim=2, task_rounds=3, lanes=2)
    with pytest.raises(ValueError, match="InTasks: lanes"):
        policy.update(policy.act(np.ones((1, 2, 2)), lanes=[1]), [0.0])
