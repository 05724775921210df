"""``lane_bytes`` is about what an instance takes, since chunks of a sweep are sized by it."""

import tracemalloc

import pytest

from banditselect import problems

SLACK = 200_000  # bytes that no problem has to account for
SMALL = {
    "SyntheticFeatureSelection": {"n_models": 3, "dim": 5},
    "SyntheticParameterSelection": {"n_models": 3, "dim": 5, "radius": 1.0},
    "ContextPerMap": {"n_models": 3},
    "LatentBandit": {},
    "SyntheticTasks": {"task_rounds": 20},
}


def held(problem, lanes, rounds):
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    drawn = problem.draw(lanes, rounds, seed=5)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert drawn is not None
    return taken


@pytest.mark.parametrize("rounds", [12, 200])
@pytest.mark.parametrize("name", SMALL)
def test_lane_bytes_is_neither_half_nor_ten_times_what_an_instance_takes(name, rounds):
    problem = getattr(problems, name)(**SMALL[name])
    problem.draw(range(1), 12, seed=5)
    said = problem.lane_bytes(rounds)
    taken = (held(problem, range(4), rounds) - held(problem, range(1), rounds)) / 3.0
    assert taken <= 2.0 * said + SLACK
    assert said <= 10.0 * taken + SLACK
