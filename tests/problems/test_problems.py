"""The synthetic problems and what problems share: what is drawn, and that it is what the paper says."""

import numpy as np
import pytest
from scipy import stats

from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.problems.instances import gaussian_items
from banditselect.problems.randomness import NOISES, DrawnActions, coin_constant, distinct_items, random_state
from banditselect.problems.synthetic import EXTREMES, extremes

FS = SyntheticFeatureSelection(n_models=3, dim=4, n_actions=5, n_items=50)
PS = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5)


# Feature selection


def test_feature_selection_has_the_means_and_constants_that_it_says():
    instances = FS.draw(range(4), 30, seed=0)
    assert FS.shapes == {"n_models": 3, "dim": 4}
    constants = instances.constants
    assert constants["noise"] == pytest.approx(np.sqrt(1.0 / 12.0))
    assert (constants["model"], constants["reward_range"]) == (0, (-2.5, 2.5))
    x = np.array([instances.features(t) for t in range(30)])  # (T, N, M, K, d)
    means = np.array([instances.means(t) for t in range(30)])
    assert x.shape == (30, 4, 3, 5, 4)
    for n in range(4):
        theta, residual, _, _ = np.linalg.lstsq(x[:, n, 0].reshape(-1, 4), means[:, n].ravel(), rcond=None)
        assert residual[0] < 1e-20  # the first map explains the means
        np.testing.assert_allclose(theta, constants["parameter"][n])
        assert np.linalg.norm(theta) == pytest.approx(constants["parameter_bound"][n])
        wrong = np.linalg.lstsq(x[:, n, 1].reshape(-1, 4), means[:, n].ravel(), rcond=None)[1]
        assert wrong[0] > 1e-3
    table = np.zeros(instances.catalogue._table.shape)  # (N, items, M, d)
    counts = instances.items.max(axis=(1, 2)) + 1
    for n, count in enumerate(counts):  # every item below was offered
        assert np.array_equal(np.unique(instances.items[n]), np.arange(count))
        table[n, :count] = instances.catalogue._table[n, :count]
    np.testing.assert_allclose(np.linalg.norm(table, axis=3).max(axis=(1, 2)), constants["feature_bound"])
    values = np.einsum("nid,nd->ni", table[:, :, 0], constants["parameter"])
    np.testing.assert_allclose(np.abs(values).max(axis=1), constants["reward_bound"])
    for t in (0, 29):
        for n in range(4):
            np.testing.assert_array_equal(x[t, n], np.swapaxes(table[n, instances.items[n, t]], 0, 1))


def test_feature_selection_draws_the_paper_s_distributions():
    """Kolmogorov and Smirnov, four tests of false alarm 2e-5."""
    problem = SyntheticFeatureSelection(n_models=2, dim=30, n_items=300)
    instances = problem.draw(range(40), 50, seed=2)
    theta = instances.constants["parameter"]
    assert stats.kstest(theta.ravel() / 0.1, "norm").pvalue > 2e-5
    drawn = [
        table[:count] - mean
        for table, count, mean in zip(
            instances.catalogue._table, instances.items.max(axis=(1, 2)) + 1, theta, strict=True
        )
    ]
    around = np.concatenate(drawn) / np.sqrt(0.1)  # (items of all lanes, M, d)
    for i in range(2):
        assert stats.kstest(around[:, i].ravel(), "norm").pvalue > 2e-5
    covariance = np.cov(around.reshape(-1, 60).T)  # of the two maps together
    assert np.abs(covariance - np.eye(60)).max() < 6.5 * np.sqrt(2.0 / len(around))


# Parameter selection


def test_parameter_selection_has_the_means_and_constants_that_it_says():
    instances = PS.draw(range(6), 20, seed=3)
    constants = instances.constants
    assert PS.shapes == {"dim": 4}
    assert constants["noise"] == pytest.approx(np.sqrt(1.0 / 12.0))
    assert constants["radii"] == 0.5
    x = np.array([instances.features(t) for t in range(20)])  # (T, N, K, d)
    means = np.array([instances.means(t) for t in range(20)])
    for n in range(6):
        theta, residual, _, _ = np.linalg.lstsq(x[:, n].reshape(-1, 4), means[:, n].ravel(), rcond=None)
        assert residual[0] < 1e-20
        np.testing.assert_allclose(theta, constants["parameter"][n])
        center = constants["centers"][n, constants["model"][n]]
        np.testing.assert_array_equal(constants["center"][n], center)
        assert np.linalg.norm(theta - center) <= 0.5 * (1 + 1e-9)
    assert constants["parameter_bound"] == pytest.approx(np.linalg.norm(constants["centers"], axis=2).max(axis=1) + 0.5)
    assert constants["feature_bound"] == pytest.approx(np.linalg.norm(x, axis=3).max(axis=(0, 2)))
    assert constants["reward_bound"] == pytest.approx(np.abs(means).max(axis=(0, 2)))
    reward = np.array([instances.rewards(t, np.full(6, 2)) for t in range(20)])
    assert np.abs(reward - means[:, :, 2]).max() <= 0.5


def test_parameter_selection_draws_uniformly_in_the_ball():
    """False alarm 2e-5 for each of the five tests."""
    lanes, d, b = 4000, 3, 1.7
    problem = SyntheticParameterSelection(n_models=4, dim=d, n_actions=2, radius=b)
    instances = problem.draw(range(lanes), 2, seed=4)
    gap = instances.constants["parameter"] - instances.constants["center"]
    radius = np.linalg.norm(gap, axis=1)
    assert stats.kstest((radius / b) ** d, "uniform").pvalue > 2e-5  # P(|z| <= r) = (r / b)^d
    assert stats.kstest(gap[:, 0] / radius, "uniform", (-1.0, 2.0)).pvalue > 2e-5  # Archimedes: flat for d = 3
    assert stats.chisquare(np.bincount(instances.constants["model"], minlength=4)).pvalue > 2e-5
    assert stats.kstest(instances.constants["centers"].ravel(), "norm").pvalue > 2e-5
    assert stats.kstest(instances.actions.ravel() / 0.1, "norm").pvalue > 2e-5


def test_the_extremes_with_numbers():
    """The longest centre is (0, 6), the shortest (1, 0); the closest two are (1, 0) and (3, 0)."""
    centers = np.array([[3.0, 0.0], [0.0, 6.0], [1.0, 0.0], [-4.0, 3.0]])
    models, thetas = extremes(centers, 0.5)
    np.testing.assert_array_equal(models, [1, 2, 0, 0, 0])
    np.testing.assert_allclose(thetas, [[0.0, 6.5], [0.5, 0.0], [2.5, 0.0], [3.5, 0.0], [3.0, 0.0]])
    assert len(thetas) == EXTREMES
    lengths = np.linalg.norm(centers, axis=1) + 0.5
    assert np.linalg.norm(thetas[0]) == pytest.approx(lengths.max())


def test_extremes_are_met_with_the_same_balls_actions_and_noise():
    problem = SyntheticParameterSelection(n_models=4, dim=3, n_actions=5, radius=0.7, truth="extremes")
    instances, drawn = problem.draw(range(10), 8, seed=3), PS.draw(range(2), 8, seed=3)
    constants, nobody = instances.constants, np.zeros(10, dtype=np.int64)
    for start in (0, 5):
        block = slice(start, start + 5)
        assert np.ptp(constants["centers"][block], axis=0).max() == 0.0
        models, thetas = extremes(constants["centers"][start], 0.7)
        np.testing.assert_array_equal(constants["model"][block], models)
        np.testing.assert_array_equal(constants["parameter"][block], thetas)
        for t in range(8):
            assert np.ptp(instances.features(t)[block], axis=0).max() == 0.0
            noise = instances.rewards(t, nobody) - instances.means(t)[:, 0]
            assert np.ptp(noise[block]) < 1e-12
    assert (constants["centers"][0] != constants["centers"][5]).all()
    again = SyntheticParameterSelection(**(PS.settings | {"truth": "extremes"})).draw(range(5, 6), 8, seed=3)
    np.testing.assert_array_equal(again.features(3)[0], drawn.features(3)[1])  # as for a parameter drawn at random


def test_a_radius_of_zero_puts_the_parameter_on_a_centre():
    instances = SyntheticParameterSelection(n_models=3, dim=2).draw(range(5), 3, seed=0)
    np.testing.assert_array_equal(instances.constants["parameter"], instances.constants["center"])


# Noise of both


@pytest.mark.parametrize("problem", [FS, PS], ids=["features", "parameters"])
def test_the_noise_asked_for_is_the_noise_there_is(problem):
    """False alarm 2e-5 for each of the tests; only the rewards change with the noise."""
    lanes, rounds = 40, 100
    drawn = {n: type(problem)(**(problem.settings | {"noise": n})).draw(range(lanes), rounds, 1) for n in NOISES.names}
    action = np.zeros(lanes, dtype=int)
    residual = {}
    for name, instances in drawn.items():
        np.testing.assert_array_equal(instances.constants["parameter"], drawn["uniform"].constants["parameter"])
        rows = [instances.rewards(t, action) - instances.means(t)[:, 0] for t in range(rounds)]
        residual[name] = np.array(rows).T  # (N, T)
    assert stats.kstest(residual["uniform"].ravel(), "uniform", (-0.5, 1.0)).pvalue > 2e-5
    assert stats.kstest(residual["gaussian"].ravel() * np.sqrt(12.0), "norm").pvalue > 2e-5
    coins = drawn["bernoulli"]
    B = coins.constants["reward_bound"]
    np.testing.assert_array_equal(coins.constants["noise"], B)
    for t in range(rounds):
        reward = np.array([coins.rewards(t, np.full(lanes, a)) for a in range(5)]).T
        np.testing.assert_array_equal(np.abs(reward), np.repeat(B[:, None], 5, axis=1))
        order = np.argsort(coins.means(t), axis=1)
        assert (np.diff(np.take_along_axis(reward, order, axis=1), axis=1) >= 0.0).all()  # one number decides for all


def test_coins_by_hand():
    draws = np.array([[0.10, 0.60], [0.74, 0.76]])
    means = np.array([[[0.0, 2.0], [0.0, 2.0]], [[0.75, 0.0], [0.75, 0.0]]])  # (N, T, K)
    coins = np.array([-2.0, 0.0]), np.array([2.0, 1.0])
    instances = DrawnActions(means, means, "bernoulli", draws, {}, coins)
    np.testing.assert_array_equal(instances.constants["noise"], [2.0, 0.5])
    # P(high) = (mean - low) / (high - low) = 1/2 and 3/4
    np.testing.assert_array_equal(instances.rewards(0, np.array([0, 0])), [2.0, 1.0])
    np.testing.assert_array_equal(instances.rewards(1, np.array([0, 0])), [-2.0, 0.0])
    np.testing.assert_array_equal(instances.rewards(1, np.array([1, 1])), [2.0, 0.0])  # certain


def test_added_noise_by_hand():
    means = np.array([[[1.0, -2.0]] * 2])
    instances = DrawnActions(means, means, "uniform", np.array([[0.25, -0.5]]), {})
    assert instances.rewards(0, np.array([0]))[0] == 1.25
    assert instances.rewards(1, np.array([0]))[0] == 0.5
    assert instances.constants["noise"] == pytest.approx(0.288675, abs=1e-6)
    assert instances.constants["reward_bound"] == [2.0]


def test_the_constant_of_a_coin_is_the_smallest_that_is_sub_gaussian():
    assert coin_constant(0.1) == coin_constant(0.9) == pytest.approx(np.sqrt(0.8 / (2.0 * np.log(9.0))))
    assert coin_constant(0.9) == pytest.approx(0.427, abs=5e-4)
    assert (coin_constant(0.5), coin_constant(0.0), coin_constant(1.0)) == (0.5, 0.0, 0.0)
    assert coin_constant(0.5 + 1e-9) == pytest.approx(0.5)
    s = np.linspace(-40.0, 40.0, 4001)[np.arange(4001) != 2000]
    for p in (0.01, 0.1, 0.3, 0.8):  # log E exp(s (y - p)) <= s^2 R^2 / 2, with equality somewhere
        needed = 2.0 * (np.log(1.0 - p + p * np.exp(s)) - s * p) / s**2
        assert needed.max() == pytest.approx(coin_constant(p) ** 2, rel=1e-4)
        assert needed.max() <= coin_constant(p) ** 2 * (1.0 + 1e-12)


# Draws shared by several problems


@pytest.mark.parametrize("n", [5, 7, 25, 26, 50])
def test_the_items_of_a_round_are_different_and_equally_likely(n):
    """False alarm 1e-5 for each of three tests (chi-square over the items, and over neighbouring pairs)."""
    items = distinct_items(np.random.default_rng(1), 6000, 5, n)
    assert items.min() >= 0
    assert all(len(set(row)) == 5 for row in items.tolist())
    for column in (0, 4):
        assert stats.chisquare(np.bincount(items[:, column], minlength=n)).pvalue > 1e-5
    steps = np.bincount((items[:, 1] - items[:, 0]) % n, minlength=n)
    assert steps[0] == 0
    assert stats.chisquare(steps[1:]).pvalue > 1e-5


def test_few_out_of_few_and_none_at_all():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(np.sort(distinct_items(rng, 3, 4, 4), axis=1), np.tile(np.arange(4), (3, 1)))
    assert distinct_items(rng, 3, 0, 0).shape == (3, 0)
    assert distinct_items(rng, 0, 2, 9).shape == (0, 2)


def test_normals_are_normal():
    """Twenty-seven tests of false alarm 2e-6: the distribution, its tails, moments and serial correlation.

    The two of a pair are 1024 apart.
    """
    n = 4_000_000
    x = np.empty((n, 1, 1), dtype=np.float32)
    with np.errstate(over="ignore"):
        gaussian_items(random_state(np.random.default_rng(5)), x, 1.0, np.zeros(1), np.zeros(1), np.empty(n))
    x = x.reshape(-1)
    z = x.astype(float)
    assert stats.kstest(z, "norm").pvalue > 2e-6
    for at in (-4.5, -4.0, -3.5, -3.0, -2.0, -1.0, -0.2, 0.0, 0.1, 0.5, 1.5, 2.5, 3.0, 3.5, 4.0, 4.5):
        p = stats.norm.sf(at)
        assert abs((z > at).sum() - n * p) < 5.0 * np.sqrt(n * p * (1.0 - p)) + 2.0
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - mean) < 4.8 * np.sqrt(variance / n)
    for lag in (1, 2, 1024):
        assert abs((z[lag:] * z[:-lag]).mean()) < 4.8 / np.sqrt(n)
        assert abs(((z[lag:] ** 2 - 1.0) * (z[:-lag] ** 2 - 1.0)).mean()) < 4.8 * 2.0 / np.sqrt(n)


@pytest.mark.parametrize(("at", "share"), [(4.0, 1e-7), (5.0, 1e-5), (6.0, 2e-3)])
def test_the_radii_that_there_are_have_the_tail_of_normals(at, share):
    """P(|r cos(phi)| > z) for the 2^32 radii, by counting; the largest is 6.76."""
    u = (np.arange(2**32 * np.exp(-(at**2) / 2.0) + 1) + 0.5) / 2.0**32
    radii = np.sqrt(-2.0 * np.log(u))
    beyond = np.arccos(np.minimum(at / radii, 1.0)).sum() * 2.0 / np.pi / 2.0**32
    assert beyond == pytest.approx(2.0 * stats.norm.sf(at), rel=share)
