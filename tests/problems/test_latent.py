"""Latent bandits: K arms, M known vectors of means, one of them true up to an error."""

import numpy as np
import pytest
from scipy import stats

from banditselect import PSOFUL, Uniform, given, simulate
from banditselect.problems import LatentBandit
from banditselect.problems.randomness import NOISES


@pytest.mark.parametrize("noise", NOISES.names)
def test_the_truth_is_the_known_vector_of_the_model_up_to_the_error(noise):
    problem = LatentBandit(n_models=4, n_arms=9, error=0.2, noise=noise)
    assert problem.shapes == {"dim": 9, "n_arms": 9}
    instances = problem.draw(range(50), 3, seed=0)
    constants = instances.constants
    lane = np.arange(50)
    np.testing.assert_array_equal(constants["center"], constants["centers"][lane, constants["model"]])
    gap = constants["parameter"] - constants["center"]
    assert 0.15 < np.abs(gap).max() <= 0.2
    assert constants["radii"] == pytest.approx(0.2 * 3.0)
    assert (np.linalg.norm(gap, axis=1) <= constants["radii"]).all()
    assert (constants["error"], constants["n_arms"]) == (0.2, 9)
    assert 0.0 <= constants["parameter"].min() <= constants["parameter"].max() <= 1.0
    longest = np.linalg.norm(constants["centers"], axis=2).max(axis=1)
    np.testing.assert_allclose(constants["parameter_bound"], longest + 0.6)
    for t in range(3):
        np.testing.assert_array_equal(instances.features(t), np.tile(np.eye(9), (50, 1, 1)))
        np.testing.assert_array_equal(instances.means(t), constants["parameter"])
    coins = noise == "bernoulli"
    assert constants["reward_range"] == ((0.0, 1.0) if coins else (-0.5, 1.5))
    assert constants["noise"] == pytest.approx(0.5 if coins else np.sqrt(1.0 / 12.0))


def test_distributions():
    """False alarm 2e-5 for each of the four tests."""
    instances = LatentBandit(n_models=3, n_arms=5, error=0.1).draw(range(2000), 1, seed=1)
    constants = instances.constants
    assert stats.kstest(constants["centers"].ravel(), "uniform").pvalue > 2e-5
    assert stats.chisquare(np.bincount(constants["model"], minlength=3)).pvalue > 2e-5
    inside = (constants["center"] > 0.1) & (constants["center"] < 0.9)  # where nothing had to be moved into [0, 1]
    gap = (constants["parameter"] - constants["center"])[inside]
    assert stats.kstest(gap, "uniform", (-0.1, 0.2)).pvalue > 2e-5
    low = constants["center"] < 0.05
    stuck = (constants["parameter"][low] == 0.0).sum()
    expected = ((0.1 - constants["center"][low]) / 0.2).sum()
    assert abs(stuck - expected) < 4.3 * 0.5 * np.sqrt(low.sum())


def test_without_error_the_known_vector_is_the_truth():
    constants = LatentBandit(error=0.0).draw(range(3), 1, seed=0).constants
    np.testing.assert_array_equal(constants["parameter"], constants["center"])
    assert constants["radii"] == 0.0


def test_knowing_the_vectors_pays():
    ours = PSOFUL.bind(centers=given.centers, radii=given.radii, noise=given.noise)
    problem = LatentBandit(n_models=4, n_arms=10, error=0.01)
    result = simulate({"ps": ours, "uniform": Uniform.bind()}, problem, rounds=200, replicates=4)
    assert (result.final("ps", "regret") < 0.25 * result.final("uniform", "regret")).all()
