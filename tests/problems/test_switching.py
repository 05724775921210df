"""The problems whose true model switches."""

import numpy as np
import pytest

from banditselect.problems import SwitchingFeatureSelection, SwitchingParameterSelection, SyntheticParameterSelection


def test_models_last_as_long_as_said_and_another_follows():
    """A switch in each of 10,000 rounds with probability 1/20: 131 off 500 is six standard deviations."""
    problem = SwitchingParameterSelection(n_models=3, dim=2, n_actions=2, radius=0.7, stay=20)
    constants = problem.draw(range(1), 10_000, seed=0).constants
    (model,), (theta,), (centers,) = (constants[name] for name in ("models", "parameters", "centers"))
    moved = (np.diff(theta, axis=0) != 0.0).any(axis=1)
    assert abs(moved.sum() - 500) < 131
    assert (np.diff(model)[moved] != 0).all()
    assert not np.diff(model)[~moved].any()
    assert np.linalg.norm(theta - centers[model], axis=1).max() <= 0.7
    assert (np.bincount(model) > 2000).all()


def test_a_ball_that_stays_true():
    instances = SwitchingParameterSelection(n_models=3, dim=2, stay=None).draw(range(4), 50, seed=0)
    model = instances.constants["models"]
    assert (model == model[:, :1]).all()
    t, theta = 7, instances.constants["parameters"][:, 7]
    np.testing.assert_allclose(instances.means(t), np.einsum("nkd,nd->nk", instances.features(t), theta))


def test_the_paper_s_problem_with_a_model_that_switches_is_the_same():
    sizes = {"n_models": 3, "dim": 4, "n_actions": 5, "radius": 0.5, "stay": 4.0}
    ours, same = (
        cls(**sizes).draw(range(3), 20, seed=1) for cls in (SwitchingParameterSelection, SyntheticParameterSelection)
    )
    np.testing.assert_array_equal(ours.features(7), same.features(7))
    np.testing.assert_array_equal(ours.constants["parameters"], same.constants["parameters"])


def test_a_map_that_returns_has_its_old_parameter():
    """Means are those of the true map; the mean of 4,000 squares is right within six standard errors."""
    problem = SwitchingFeatureSelection(n_models=3, dim=6, n_actions=2, stay=20)
    instances = problem.draw(range(1), 2000, seed=0)
    theta, model = instances.constants["parameters"][0], instances.constants["models"][0]
    assert (np.diff(model) != 0).sum() > 60
    for t in (0, 500, 1999):
        expected = instances.features(t)[0, model[t]] @ theta[model[t]]
        np.testing.assert_allclose(instances.means(t)[0], expected, rtol=1e-12)
    scaled = instances._means[0] / np.linalg.norm(theta, axis=1)[model, None]
    assert abs((scaled**2).mean() / 0.01 - 1.0) < 6.0 * np.sqrt(2.0 / 4000)
    assert instances.constants["parameter_bound"][0] == pytest.approx(np.linalg.norm(theta, axis=1).max())


def test_a_map_that_stays():
    instances = SwitchingFeatureSelection(n_models=3, dim=2, stay=None).draw(range(4), 50, seed=0)
    model = instances.constants["models"]
    assert (model == model[:, :1]).all()
    assert len(set(model[:, 0])) > 1
