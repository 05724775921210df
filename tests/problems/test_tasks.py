"""The problem of tasks in sequence: the parameters of its tasks."""

import numpy as np
import pytest

from banditselect.problems import SyntheticTasks

PROBLEM = SyntheticTasks(n_models=2, dim=3, n_actions=4, task_rounds=10)


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
