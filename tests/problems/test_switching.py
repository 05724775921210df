"""The problems whose true model switches."""

import numpy as np
import pytest

from banditselect.checks import PROBLEM_CHECKS
from banditselect.problems import SwitchingFeatureSelection, SwitchingParameterSelection, SyntheticParameterSelection
from expected_skips import run_or_skip

PROBLEMS = [
    SwitchingParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5, stay=4),
    SwitchingFeatureSelection(n_models=3, dim=4, n_actions=5, stay=4),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=["balls", "maps"])
@pytest.mark.parametrize("check", PROBLEM_CHECKS)
def test_problem_check(check, problem):
    run_or_skip(check, problem, {"check_parameter_bound", "check_linear_means"})  # it has no one true parameter


def test_models_last_as_long_as_said_and_another_follows():
    """A switch in each of 10,000 rounds with probability 1/20: 131 off 500 is six standard deviations."""
    problem = SwitchingParameterSelection(n_models=3, dim=2, n_actions=2, radius=0.7, stay=20)
    instances = problem.draw(range(1), 10_000, seed=0)
    moved = (np.diff(instances.parameter[0], axis=0) != 0.0).any(axis=1)
    assert abs(moved.sum() - 500) < 131
    assert (np.diff(instances.model[0])[moved] != 0).all()
    assert not np.diff(instances.model[0])[~moved].any()
    apart = instances.parameter[0] - instances.constants["centers"][0][instances.model[0]]
    assert np.linalg.norm(apart, axis=1).max() <= 0.7
    assert (np.bincount(instances.model[0]) > 2000).all()


def test_a_ball_that_stays_true():
    instances = SwitchingParameterSelection(n_models=3, dim=2, stay=None).draw(range(4), 50, seed=0)
    assert (instances.model == instances.model[:, :1]).all()
    t, theta = 7, instances.parameter[:, 7]
    np.testing.assert_allclose(instances.means(t), np.einsum("nkd,nd->nk", instances.features(t), theta))
    with pytest.raises(ValueError, match=r"SwitchingParameterSelection: stay: got 0\.5"):
        SwitchingParameterSelection(stay=0.5)
    with pytest.raises(ValueError, match="n_models: got 1"):
        SwitchingParameterSelection(n_models=1)


def test_the_paper_s_problem_with_a_model_that_switches_is_the_same():
    sizes = {"n_models": 3, "dim": 4, "n_actions": 5, "radius": 0.5, "stay": 4.0}
    ours, same = (
        cls(**sizes).draw(range(3), 20, seed=1) for cls in (SwitchingParameterSelection, SyntheticParameterSelection)
    )
    np.testing.assert_array_equal(ours.features(7), same.features(7))
    np.testing.assert_array_equal(ours.parameter, same.parameter)
    for wrong in ({"truth": "extremes"}, {"n_models": 1}):
        with pytest.raises(ValueError, match=f"SyntheticParameterSelection: {next(iter(wrong))}: got"):
            SyntheticParameterSelection(**(sizes | wrong))


def test_a_map_that_returns_has_its_old_parameter():
    """Means are those of the true map; the mean of 4,000 squares is right within six standard errors."""
    problem = SwitchingFeatureSelection(n_models=3, dim=6, n_actions=2, stay=20)
    instances = problem.draw(range(1), 2000, seed=0)
    theta, model = instances.theta[0], instances.model[0]
    assert (np.diff(model) != 0).sum() > 60
    for t in (0, 500, 1999):
        expected = instances.features(t)[0, model[t]] @ theta[model[t]]
        np.testing.assert_allclose(instances.means(t)[0], expected, rtol=1e-12)
    scaled = instances._means[0] / np.linalg.norm(theta, axis=1)[model, None]
    assert abs((scaled**2).mean() / 0.01 - 1.0) < 6.0 * np.sqrt(2.0 / 4000)
    assert instances.constants["parameter_bound"][0] == pytest.approx(np.linalg.norm(theta, axis=1).max())


def test_a_map_that_stays():
    instances = SwitchingFeatureSelection(n_models=3, dim=2, stay=None).draw(range(4), 50, seed=0)
    assert (instances.model == instances.model[:, :1]).all()
    assert len(set(instances.model[:, 0])) > 1
    with pytest.raises(ValueError, match="SwitchingFeatureSelection: n_models: got 1"):
        SwitchingFeatureSelection(n_models=1)
