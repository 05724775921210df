"""Every problem keeps the contract of problems, says about how much memory it takes, and refuses arguments by name."""

import tracemalloc

import numpy as np
import pytest

from banditselect.checks import PROBLEM_CHECKS
from banditselect.problems import (
    ClassesAsArms,
    Classification,
    ContextPerMap,
    LatentBandit,
    SwitchingFeatureSelection,
    SwitchingParameterSelection,
    SyntheticFeatureSelection,
    SyntheticParameterSelection,
    SyntheticTasks,
)
from banditselect.problems.randomness import NOISES
from expected_skips import run_or_skip

RNG = np.random.default_rng(0)
LABELS = RNG.permutation(np.repeat(np.arange(4), [20, 60, 100, 60]))
GOOD = (np.eye(4)[LABELS] + 0.15 * RNG.normal(size=(240, 4))).astype(np.float32)
POOR, WIDE = RNG.normal(size=(240, 4)), RNG.normal(size=(240, 6))
SHARED = np.stack([-np.abs(POOR - k) for k in range(4)], axis=1)
SMALL = {"n_models": 3, "dim": 4, "n_actions": 5}
BALLS = {
    "class_constants": {"center": np.eye(4), "model": np.arange(4)},
    "constants": {"centers": np.eye(4), "radii": 0.1},
}
SETTINGS = {
    "feature selection": (SyntheticFeatureSelection, SMALL | {"n_items": 50}, NOISES.names),
    "parameter selection": (SyntheticParameterSelection, SMALL | {"radius": 0.5}, NOISES.names),
    "extremes": (SyntheticParameterSelection, SMALL | {"radius": 0.5, "truth": "extremes"}, ["uniform"]),
    "latent": (LatentBandit, {"n_models": 3, "n_arms": 6, "error": 0.1}, NOISES.names),
    "contexts": (ContextPerMap, {"n_models": 3}, NOISES.names),
    "tasks": (SyntheticTasks, {"n_models": 2, "dim": 3, "task_rounds": 10}, ["uniform", "bernoulli"]),
    "switching balls": (SwitchingParameterSelection, SMALL | {"stay": 4}, ["uniform"]),
    "switching maps": (SwitchingFeatureSelection, SMALL | {"stay": 4}, ["uniform"]),
    "items": (Classification, {"features": GOOD}, [None]),
    "items, labels": (Classification, {"features": GOOD, "reward": "label"}, [None, "uniform"]),
    "items, maps": (Classification, {"features": [POOR, GOOD], "true_map": 1, "balanced": False}, [None, "bernoulli"]),
    "items, widths": (Classification, {"features": [GOOD, WIDE], "targets": [1, 3]}, ["gaussian"]),
    "items, parameters": (Classification, {"features": GOOD, "parameters": np.eye(4)}, [None]),
    "items, labels, constants": (Classification, {"features": GOOD, "reward": "label"} | BALLS, [None]),
    "classes": (ClassesAsArms, {"features": POOR}, []),
    "classes, maps": (ClassesAsArms, {"features": [POOR, 2 * POOR]}, []),
    "classes, widths": (ClassesAsArms, {"features": [GOOD, WIDE]}, []),
    "classes, shared": (ClassesAsArms, {"features": SHARED, "disjoint": False}, []),
    "classes, shared maps": (ClassesAsArms, {"features": [SHARED, SHARED[..., :1]], "disjoint": False}, []),
}
CASES = {
    f"{name} {noise}": cls(**({"labels": LABELS} if "features" in settings else {}), **settings, **given)
    for name, (cls, settings, noises) in SETTINGS.items()
    for noise, given in ({noise: {"noise": noise} for noise in noises} or {"": {}}).items()
}
NO_PARAMETER = ("labels", "tasks", "switching", "classes")  # no one parameter explains the rewards


@pytest.mark.parametrize("check", PROBLEM_CHECKS)
@pytest.mark.parametrize("name", CASES)
def test_common_check(name, check):
    none = any(word in name for word in NO_PARAMETER)
    run_or_skip(check, CASES[name], ("check_parameter_bound", "check_linear_means") if none else ())


def held(problem, lanes, rounds):
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    drawn = problem.draw(lanes, rounds, seed=5)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert drawn is not None
    return taken


@pytest.mark.parametrize("rounds", [12, 200])
@pytest.mark.parametrize("name", ["feature selection", "parameter selection", "contexts", "latent", "tasks"])
def test_lane_bytes_is_neither_half_nor_ten_times_what_an_instance_takes(name, rounds):
    problem = CASES[f"{name} uniform"]
    problem.draw(range(1), 12, seed=5)
    said, slack = problem.lane_bytes(rounds), 200_000  # bytes that no problem has to account for
    taken = (held(problem, range(4), rounds) - held(problem, range(1), rounds)) / 3.0
    assert taken <= 2.0 * said + slack
    assert said <= 10.0 * taken + slack


REFUSED = {
    SyntheticFeatureSelection: {"n_models": [0], "dim": [1.5], "n_items": [9], "noise": ["laplace"]},
    SyntheticParameterSelection: {
        "n_actions": [0],
        "radius": [-1.0, np.nan],
        "noise": [0.1],
        "truth": ["worst"],
        "stay": [0.5],
    },
    SwitchingParameterSelection: {"stay": [0.5], "n_models": [1], "truth": ["extremes"]},
    SwitchingFeatureSelection: {"n_models": [1]},
    LatentBandit: {"n_models": [0], "n_arms": [2.5], "error": [-0.1, 1.1, np.nan], "noise": ["none"]},
    ContextPerMap: {"gap": [0.0]},
    SyntheticTasks: {"task_rounds": [0], "width": [-1.0]},
}


@pytest.mark.parametrize("cls", REFUSED)
def test_arguments_that_cannot_be_are_refused_by_name(cls):
    for name, values in REFUSED[cls].items():
        for value in values:
            with pytest.raises(ValueError, match=f"{cls.__name__}: {name}: got"):
                cls(**{name: value})
    for more in ({"truth": "extremes"}, {"stay": 4.0}):
        with pytest.raises(ValueError, match="SyntheticParameterSelection: n_models: got 1"):
            SyntheticParameterSelection(n_models=1, **more)
