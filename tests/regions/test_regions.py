"""Regions out of past tasks: the fits, what is found, what is refused, files."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from banditselect import PSIDS, PSOFUL, PSTS, Uniform, load, logs, maps, regions
from banditselect.regions import mixture
from banditselect.regions.fits import Fits
from banditselect.runtime import files

CENTERS = np.array([[2.0, 0.0, 0.0], [-2.0, 1.0, 0.0], [0.0, -2.0, 1.0]])


def rounds(seed, n_tasks=60, n_rounds=10, width=0.2, noise=0.3, centers=CENTERS):
    """A table of tasks that belong to the centres in turn, and their parameters."""
    rng = np.random.default_rng(seed)
    d = centers.shape[1]
    theta = centers[np.arange(n_tasks) % len(centers)] + width * rng.normal(size=(n_tasks, d))
    task = np.repeat(np.arange(n_tasks), n_rounds)
    x = rng.normal(size=(len(task), d))
    y = (x * theta[task]).sum(axis=1) + noise * rng.normal(size=len(task))
    return {"task": [f"t{k}" for k in task], "reward": y}, x, theta


def random_fits(seed, n=12, d=2):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n, d, d))
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(d)
    return 2.0 * rng.normal(size=(n, d)), covariances


# The fits


def test_a_fit_is_least_squares_and_the_noise_is_pooled_by_hand():
    """Task a: x = 1, 2, 2 and y = 1, 3, 5: 17/9, squares 35 - 289/9; task b: x = 1, 1, y = 0, 2: 1, squares 2."""
    table = {"k": ["a", "b", "a", "a", "b"], "y": [1.0, 0.0, 3.0, 5.0, 2.0]}
    x = np.array([[1.0], [1.0], [2.0], [2.0], [1.0]])
    found = regions.from_tasks(table, key="k", features=x, reward="y", n_regions=1)
    np.testing.assert_allclose(found.fits.estimates[:, 0], [17 / 9, 1.0])
    np.testing.assert_allclose(found.fits.grams[:, 0, 0], [9.0, 2.0])
    np.testing.assert_allclose(found.noise**2, (35 - 289 / 9 + 2.0) / 3)


def test_a_constant_of_every_task_is_left_out():
    table, x, _ = rounds(0)
    there = regions.from_tasks(table, key="task", features=x, intercept=True, n_regions=3)
    shift = 5.0 * np.repeat(np.random.default_rng(1).normal(size=60), 10)
    table["reward"] += shift
    other = regions.from_tasks(table, key="task", features=x, intercept=True, n_regions=3)
    np.testing.assert_allclose(other.means, there.means, atol=1e-8)
    assert there.policy().intercept is True


def test_a_direction_never_played_tells_nothing():
    """A task with one round in two directions: its density is that of the reward, x theta + noise."""
    fits = Fits.of_rounds(np.array([0]), np.array([[3.0, 4.0]]), np.array([2.0]), intercept=False, noise=0.5)
    mean, covariance = np.array([[1.0, -1.0]]), np.array([[[2.0, 0.3], [0.3, 1.0]]])
    x = np.array([3.0, 4.0])
    variance = x @ covariance[0] @ x + 0.25
    # the estimate along x / |x| is the reward / |x|, so its density is that of the reward times |x| = 5
    density = -0.5 * (2.0 - x @ mean[0]) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance) + np.log(5.0)
    np.testing.assert_allclose(mixture.assigned(fits, mean, covariance, np.ones(1))[0], density)


# Regions that are found


@pytest.mark.parametrize("seed", range(3))
def test_regions_far_apart_are_found(seed):
    table, x, _ = rounds(seed)
    found = regions.from_tasks(table, key="task", features=x)
    assert found.n_regions == 3
    assert found.n_tasks == 60
    near = np.linalg.norm(found.centers[:, None] - CENTERS, axis=2)
    assert sorted(near.argmin(axis=1)) == [0, 1, 2]
    assert near.min(axis=1).max() < 0.3
    np.testing.assert_allclose(found.weights, 1 / 3, atol=0.05)
    np.testing.assert_allclose(found.radii, 0.2 * np.sqrt(3), rtol=0.4)
    assert found.held_out.argmax() >= 2
    np.testing.assert_allclose(found.noise, 0.3, rtol=0.1)


def test_centres_are_as_far_off_as_they_say():
    """120 centres at level .95, each missed with probability at most .05: 21 misses or more have probability < 1e-6."""
    misses = 0
    for seed in range(40):
        table, x, _ = rounds(100 + seed, n_tasks=45, n_rounds=6)
        found = regions.from_tasks(table, key="task", features=x, n_regions=3, restarts=3)
        off = np.linalg.norm(found.centers[:, None] - CENTERS, axis=2).min(axis=0)
        own = np.linalg.norm(found.centers[:, None] - CENTERS, axis=2).argmin(axis=0)
        misses += (off > found.center_errors[own]).sum()
    assert misses <= 20


def test_noise_is_not_taken_for_width():
    """Fits with errors of variance 1 of parameters with variance .04: the regions are those of the parameters."""
    rng = np.random.default_rng(0)
    theta = 3.0 * CENTERS[np.arange(300) % 3] + 0.2 * rng.normal(size=(300, 3))
    found = regions.from_fits(theta + rng.normal(size=(300, 3)), np.tile(np.eye(3), (300, 1, 1)), n_regions=3)
    assert found.radii.max() < 0.2 * np.sqrt(3) * 2 < np.sqrt(3)


def test_a_rotation_rotates_what_is_found():
    estimates, covariances = random_fits(1, n=30, d=3)
    turn = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
    one = regions.from_fits(estimates, covariances, n_regions=2, restarts=2)
    other = regions.from_fits(estimates @ turn.T, turn @ covariances @ turn.T, n_regions=2, restarts=2)
    np.testing.assert_allclose(other.means, one.means @ turn.T, atol=1e-6)
    np.testing.assert_allclose(other.covariances, turn @ one.covariances @ turn.T, atol=1e-6)
    np.testing.assert_allclose(other.center_errors, one.center_errors, atol=1e-6)


def test_units_of_rewards_scale_what_is_found():
    table, x, _ = rounds(2)
    one = regions.from_tasks(table, key="task", features=x, n_regions=3)
    ten = regions.from_tasks(table | {"reward": 10 * table["reward"]}, key="task", features=x, n_regions=3)
    np.testing.assert_allclose(ten.means, 10 * one.means, rtol=1e-6)
    np.testing.assert_allclose(ten.radii, 10 * one.radii, rtol=1e-6)
    np.testing.assert_allclose(ten.noise, 10 * one.noise, rtol=1e-6)


def test_tables_of_every_kind_tell_the_same():
    table, x, _ = rounds(3, n_tasks=12)
    told = {"key": "task", "n_regions": 2}
    one = regions.from_tasks(table, features=x, **told)
    columns = table | {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}
    lists = table | {"a": x[:, 0], "rest": x[:, 1:].tolist()}
    for other in (
        regions.from_tasks(columns, features=["a", "b", "c"], **told),
        regions.from_tasks(pd.DataFrame(columns), features=["a", "b", "c"], **told),
        regions.from_tasks(lists, features=["a", "rest"], **told),
        regions.from_tasks(table | {"features": x.tolist()}, **told),
        regions.from_tasks(zip(table["task"], x, table["reward"], strict=True), **told),
    ):
        np.testing.assert_array_equal(other.means, one.means)


def test_rounds_of_a_log_are_a_table():
    table, x, _ = rounds(3, n_tasks=12)
    frame = pd.DataFrame(table | {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    frame = pd.concat([frame.assign(chosen=True), frame.assign(chosen=False, b=9.0)]).sort_index(kind="stable")
    read = logs.read_offers(
        frame.assign(decision=frame.index), context=["task", "a"], item=["b", "c"], propensity=0.5, reward="reward"
    )
    told = {"key": "task", "n_regions": 2}
    one = regions.from_tasks(table, features=x, **told)
    np.testing.assert_array_equal(regions.from_tasks(read, features=["a", "b", "c"], **told).means, one.means)
    item = maps.Items(maps.Numbers("b", "c", scale=None))
    two = regions.from_tasks(table, features=x[:, 1:], **told)
    np.testing.assert_array_equal(regions.from_tasks(read, features=item, **told).means, two.means)
    later = two.update(read, key="task", features=["b", "c"])
    assert later.n_tasks == 24
    with pytest.raises(ValueError, match=r"from_tasks: logs, round 0: columns: .* a column 'size'"):
        regions.from_tasks(read, features=["a", "size"], **told)


# Policies of the next task, and more tasks


@pytest.mark.parametrize("policy", [PSIDS, PSTS, PSOFUL])
def test_policies_have_the_regions_as_their_prior(policy):
    table, x, _ = rounds(4)
    found = regions.from_tasks(table, key="task", features=x, n_regions=3)
    playing = found.policy(policy, seed=1)
    assert playing.act(np.eye(3)).action in range(3)
    np.testing.assert_allclose(playing.model_weights, np.append(found.weights * 60, 1.0) / 61)
    assert playing.noise == found.noise
    alone = found.bind(policy, background=False)()
    np.testing.assert_allclose(alone.model_weights, found.weights)
    np.testing.assert_allclose(alone.parameters, found.means, atol=1e-12)


def test_the_next_task_is_as_unsure_as_the_centres():
    table, x, theta = rounds(5)
    found = regions.from_tasks(table, key="task", features=x, n_regions=3)
    told = found.next_task()
    np.testing.assert_allclose(told["covariances"][:3], found.covariances + found.center_covariances)
    size = (theta**2).mean()
    np.testing.assert_allclose(told["covariances"][3], np.diag([found.fits.spread] * 3))
    np.testing.assert_allclose(found.fits.spread, size, rtol=0.05)


def test_more_tasks_refine_the_regions_and_may_open_new_ones():
    table, x, _ = rounds(6, centers=CENTERS[:2])
    found = regions.from_tasks(table, key="task", features=x)
    assert found.n_regions == 2
    more, z, _ = rounds(7, n_tasks=30)
    grown = found.update(more, key="task", features=z)
    assert (grown.n_regions, grown.n_tasks) == (3, 90)
    assert np.linalg.norm(grown.means[-1] - CENTERS[2]) < 0.3
    assert found.n_regions == 2
    assert found.update(more, key="task", features=z, grow=False).n_regions == 2


def test_they_are_saved_and_loaded(tmp_path):
    table, x, _ = rounds(8)
    found = regions.from_tasks(table, key="task", features=x, n_regions=3)
    found.save(tmp_path / "regions.bsel")
    again = load(tmp_path / "regions.bsel")
    for name in ("means", "covariances", "weights", "radii", "center_errors", "held_out", "noise", "n_tasks"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    more, z, _ = rounds(9, n_tasks=9)
    one, other = (each.update(more, key="task", features=z) for each in (found, again))
    np.testing.assert_array_equal(one.means, other.means)
    settings, arrays = files.read(tmp_path / "regions.bsel")
    arrays["settings/Regions.center_covariances"] = np.eye(3)
    files.write(tmp_path / "other.bsel", settings, arrays)
    with pytest.raises(ValueError, match=r"other\.bsel: Regions: arrays of other shapes"):
        load(tmp_path / "other.bsel")


def test_they_cannot_be_changed():
    found = regions.from_fits(*random_fits(0), n_regions=2)
    with pytest.raises(ValueError, match="read-only"):
        found.means[0] = 0.0
    with pytest.raises(AttributeError):
        found.mixture = None


@pytest.mark.parametrize("d", [1, 3])
def test_they_are_drawn(d):
    axes = regions.from_fits(*random_fits(0, d=d), n_regions=2).plot()
    assert axes.get_legend().get_texts()[0].get_text().startswith("region 0")
    axes.figure.canvas.draw()
    pyplot.close("all")


# Refusals


BAD_ROWS = [(1, [1.0], 2.0), (1, [1.0, 2.0], 3.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"key": "who"}, r"from_tasks: columns: got \['task', 'reward'\], expected a column 'who'"),
        ({"reward": "y"}, "expected a column 'y'"),
        ({"features": ["a"]}, "expected a column 'a'"),
        ({"features": np.zeros((3, 2))}, r"(?s)from_tasks: features: .* expected numbers of shape \(20, d\)"),
        ({"features": np.full((20, 2), np.nan)}, "from_tasks: features"),
        ({"noise": 0.0}, "from_tasks: noise: got 0.0"),
        ({"n_regions": 3}, "from_tasks: n_regions: got 3, expected at most one for each of the 2 tasks"),
        ({"max_regions": 0}, "from_tasks: max_regions: got 0"),
        ({"folds": 1}, "from_tasks: folds: got 1"),
        ({"restarts": 0}, "from_tasks: restarts: got 0"),
        ({"shrinkage": -1.0}, "from_tasks: shrinkage: got -1.0"),
        ({"seed": -1}, "from_tasks: seed"),
        ({"intercept": 1}, "from_tasks: intercept: got 1, expected True or False"),
        ({"logs": 7}, "from_tasks: logs: got 7"),
        ({"logs": "abc"}, "from_tasks: logs: got 'abc'"),
        ({"logs": BAD_ROWS}, "from_tasks: logs, round 1: features: .* as in rounds before"),
        ({"logs": [(1, [1.0])]}, r"from_tasks: logs, round 0: .* a row \(key, features, reward\)"),
        ({"logs": {"task": [1, None], "reward": [1.0, 2.0]}, "features": np.eye(2)}, "key, row 1: got None"),
        ({"logs": {"task": [1, 2], "reward": [1.0, 2.0]}, "features": np.eye(2)}, "since no task has more rounds"),
    ],
)
def test_arguments_are_refused_by_name(arguments, message):
    table, x, _ = rounds(0, n_tasks=2)
    with pytest.raises(ValueError, match=message):
        regions.from_tasks(**({"logs": table, "key": "task", "features": x} | arguments))


def test_fits_updates_and_policies_are_refused_by_name():
    with pytest.raises(ValueError, match="from_fits: covariances"):
        regions.from_fits(np.zeros((2, 2)), np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="from_fits: estimates"):
        regions.from_fits([1.0], [[1.0]])
    table, x, _ = rounds(0, n_tasks=2)
    found = regions.from_tasks(table, key="task", features=x, n_regions=1)
    with pytest.raises(ValueError, match=r"Regions\.update: features: got '2 of them', expected 3, as before"):
        found.update(table, key="task", features=x[:, :2])
    with pytest.raises(ValueError, match=r"Regions\.update: got"):
        regions.from_fits(*random_fits(0), n_regions=1).update(table, key="task", features=x)
    with pytest.raises(ValueError, match="Regions: policy"):
        found.policy(Uniform)
