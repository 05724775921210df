"""Policies that believe in a mixture of maps or regions: they find the true one, in the units given."""

import math

import numpy as np
import pytest

from banditselect import FSIDS, PSIDS, load

rng_of = np.random.default_rng


def test_rewards_that_never_differ_and_features_that_are_zero():
    policy = FSIDS(n_models=2, dim=2, seed=1)
    rng = np.random.default_rng(6)
    for t in range(30):
        x = rng.normal(size=(2, 3, 2)) * (t >= 5)
        policy.update(policy.act(x), 0.25)
        assert np.isfinite(policy.model_weights).all()
    assert math.isnan(policy.noise_estimate)
    assert policy.constants == pytest.approx([0.25, 0.25])
    policy.update(policy.act(rng.normal(size=(2, 3, 2))), 1.25)
    assert policy.noise_estimate > 0.0
    regions = PSIDS(centers=[[1.0, 0.0], [0.0, 1.0]], radii=[0.0, 0.1])
    regions.update(regions.act(np.zeros((3, 2))), 1.0)  # says nothing: no unit is known yet
    assert regions.model_weights == pytest.approx([0.5, 0.5])
    assert regions.rounds == 1


def test_estimates_are_in_the_units_given(tmp_path):
    rng = np.random.default_rng(7)
    maps = FSIDS(n_models=2, dim=[2, 3], seed=0)
    balls = PSIDS(centers=[[20.0, 0.0], [0.0, 20.0]], radii=3.0, intercept=True, seed=0)
    for _ in range(400):
        x = [rng.normal(size=(4, 2)) * 0.01, rng.normal(size=(4, 3)) * 100.0]
        decision = maps.act(x)
        maps.update(decision, 5.0 + x[0][decision.action] @ [100.0, -50.0] + 0.1 * rng.normal())
        decision = balls.act(x[0])
        balls.update(decision, 7.0 + decision.features @ [1.0, 21.0] + 0.02 * rng.normal())
    assert maps.model_weights[0] > 0.999
    assert maps.parameters[0, :2] == pytest.approx([100.0, -50.0], abs=4.0)
    assert maps.constants[0] == pytest.approx(5.0, abs=0.05)
    assert maps.noise_estimate == pytest.approx(0.1, rel=0.25)
    assert balls.model_weights[1] > 0.99
    assert balls.parameters[1] == pytest.approx([1.0, 21.0], abs=1.0)
    assert balls.constants[1] == pytest.approx(7.0, abs=0.05)
    balls.save(tmp_path / "balls")
    assert load(tmp_path / "balls").parameters.tolist() == balls.parameters.tolist()


def test_the_right_map_is_found_and_noise_favours_none():
    """Seeded: 40 lanes each; a coin of mean .5 + .3 x on the second of three maps, and coins without any meaning."""
    rng = np.random.default_rng(8)
    n, rows = 40, np.arange(40)
    for meaning in (0.3, 0.0):
        policy = FSIDS(n_models=3, dim=5, lanes=n, seed=0)
        for _ in range(300):
            x = rng.uniform(-1.0, 1.0, (n, 3, 5, 5))
            decision = policy.act(x)
            means = 0.5 + meaning * x[rows, 1, decision.action, 0]
            policy.update(decision, (rng.uniform(size=n) < means).astype(float))
        if meaning:
            assert (policy.model_weights.argmax(axis=1) == 1).sum() >= 36
        else:
            assert (policy.model_weights.max(axis=1) > 0.8).sum() <= 4
