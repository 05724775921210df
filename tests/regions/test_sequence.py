"""Tasks in sequence: a learner that starts without data, the regions that it finds, its files."""

import numpy as np
import pytest

from banditselect import PSIDS, PSOFUL, LinIDS, Uniform, load
from banditselect.regions import Regions, TaskSequence
from banditselect.runtime import files

CENTERS = np.array([[2.0, 0.0], [-2.0, 1.0]])


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
    one, other = (TaskSequence(dim=2, policy=PSIDS.bind(floor=0.1)) for _ in range(2))
    for task in range(6):
        decisions, rewards = play(one, [task])
        other.end(np.array([d.features for d in decisions]), rewards)
        other.save(tmp_path / "sequence.bsel")
        other = load(tmp_path / "sequence.bsel")
    np.testing.assert_array_equal(one.regions.means, other.regions.means)
    assert other.begin().floor == 0.1
    x = np.random.default_rng(0).normal(size=(4, 2))
    assert [one.begin().act(x).action for _ in range(3)] == [other.begin().act(x).action for _ in range(3)]
    early = TaskSequence(dim=2)
    early.end(np.eye(2), [1.0, 2.0])
    early.save(tmp_path / "early.bsel")
    assert load(tmp_path / "early.bsel").n_tasks == 1
    assert repr(other) == "<TaskSequence: 6 tasks of 2 features>"
    with pytest.raises(ValueError, match="load: worker: got 3, expected None for TaskSequence, which does not act"):
        load(tmp_path / "early.bsel", worker=3)
    settings, arrays = files.read(tmp_path / "sequence.bsel")
    settings["TaskSequence"]["policy"]["tuple"][0] = "Nobody"
    files.write(tmp_path / "sequence.bsel", settings, arrays)
    with pytest.raises(ValueError, match=r"sequence\.bsel: not what save wrote: KeyError: 'Nobody'"):
        load(tmp_path / "sequence.bsel")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dim": 0}, "TaskSequence: dim: got 0"),
        ({"policy": Uniform}, "TaskSequence: policy"),
        ({"noise": -1.0}, "TaskSequence: noise: got -1.0"),
        ({"intercept": "yes"}, "TaskSequence: intercept"),
        ({"max_regions": 0}, "TaskSequence: max_regions"),
        ({"seed": -1}, "TaskSequence: seed"),
        ({"policy": Uniform.bind()}, "TaskSequence: policy"),
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
