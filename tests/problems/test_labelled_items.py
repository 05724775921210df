"""Classification as a bandit: which items are offered, what they pay, and the parameters that are fitted."""

import numpy as np
import pytest
from scipy import stats

from banditselect import PSOFUL, FSSquareCB, Uniform, given, simulate
from banditselect.problems import Classification
from banditselect.problems.labelled_items import fit_classes

ITEMS, CLASSES = 240, 4
RNG = np.random.default_rng(0)
LABELS = RNG.permutation(np.repeat(np.arange(CLASSES), [20, 60, 100, 60]))
GOOD = (np.eye(CLASSES)[LABELS] + 0.15 * RNG.normal(size=(ITEMS, CLASSES))).astype(np.float32)
POOR = RNG.normal(size=(ITEMS, CLASSES))
WIDE = RNG.normal(size=(ITEMS, 6))


def make(**settings):
    return Classification(**({"features": GOOD, "labels": LABELS, "n_actions": 5} | settings))


# Items offered


@pytest.mark.parametrize("n_actions", [1, 2, 5, 40])
def test_a_round_offers_one_item_of_the_class_and_different_ones_of_others(n_actions):
    instances = make(reward="label", n_actions=n_actions).draw(range(8), 50, seed=0)
    label = instances.constants["label"]
    for n in range(8):
        for row in instances.items[n]:
            assert len(set(row.tolist())) == n_actions
            assert (LABELS[row] == label[n]).sum() == 1
    for t in range(50):
        np.testing.assert_array_equal(instances.features(t), GOOD[instances.items[:, t]].astype(float))


def test_classes_positions_and_items_are_uniform():
    """False alarm 1e-5 for each of the five tests."""
    problem = make(reward="label", targets=[0, 2])
    label = problem.draw(range(600), 1, seed=1).constants["label"]
    assert set(label.tolist()) == {0, 2}
    assert stats.binomtest(int((label == 0).sum()), 600).pvalue > 1e-5
    instances = make(reward="label", targets=[1]).draw(range(1), 12_000, seed=2)
    items = instances.items[0]
    own = LABELS[items] == 1
    assert stats.chisquare(own.sum(axis=0)).pvalue > 1e-5  # positions
    counts = np.bincount(items.ravel(), minlength=ITEMS)
    assert stats.chisquare(counts[LABELS == 1]).pvalue > 1e-5
    assert stats.chisquare(counts[LABELS != 1]).pvalue > 1e-5
    first = np.bincount(items[~own[:, 0], 0], minlength=ITEMS)[LABELS != 1]
    assert stats.chisquare(first).pvalue > 1e-5


def test_features_come_in_the_shape_of_what_was_given():
    for given_features, shapes, shape in (
        (GOOD, {"dim": 4}, (3, 5, 4)),
        ([GOOD], {"n_models": 1, "dim": 4}, (3, 1, 5, 4)),
        ((GOOD, POOR), {"n_models": 2, "dim": 4}, (3, 2, 5, 4)),
    ):
        problem = make(features=given_features)
        assert problem.shapes == shapes
        assert problem.draw(range(3), 2, seed=0).features(1).shape == shape
    problem = make(features=[GOOD, WIDE])
    assert problem.shapes == {"n_models": 2, "dim": [4, 6]}
    instances = problem.draw(range(3), 2, seed=0)
    shown = instances.features(1)
    for table, x in zip((GOOD, WIDE), shown, strict=True):
        np.testing.assert_array_equal(x, table[instances.items[:, 1]].astype(float))


def test_big_arrays_are_not_copied_and_not_changed():
    problem = make(features=[GOOD, POOR])
    for kept, table in zip(problem.features, (GOOD, POOR), strict=True):
        assert np.shares_memory(kept, table)
        assert not kept.flags.writeable
        assert table.flags.writeable
    assert problem.lane_bytes(100) < 20_000


# Rewards


def test_linear_rewards_by_hand():
    """Two classes on a line: phi = 2 pays 2 * 3 in class 0 and 2 * (-1) in class 1."""
    features, labels = np.array([[2.0], [1.0], [-1.0]]), np.array([0, 1, 1])
    settings = {"features": features, "labels": labels, "n_actions": 2, "parameters": [[3.0], [-1.0]]}
    instances = Classification(**settings, targets=[0]).draw(range(4), 30, seed=0)
    assert set(np.concatenate([instances.means(t).ravel() for t in range(30)])) == {6.0, 3.0, -3.0}
    constants = instances.constants
    np.testing.assert_array_equal(constants["parameter"], np.full((4, 1), 3.0))
    np.testing.assert_array_equal(constants["reward_bound"], np.full(4, 6.0))
    assert constants["reward_range"] == (-3.5, 6.5)
    assert (constants["parameter_bound"], constants["feature_bound"]) == (3.0, 2.0)
    assert "model" not in constants  # with one map, models are what the user says they are
    both = Classification(**settings, noise="bernoulli").draw(range(40), 5, seed=0).constants
    np.testing.assert_array_equal(both["reward_bound"], np.where(both["label"] == 0, 6.0, 2.0))
    np.testing.assert_array_equal(both["noise"], both["reward_bound"])
    assert both["reward_range"] == (-6.0, 6.0)


def test_label_rewards_by_hand():
    instances = make(reward="label", high=0.8, low=0.3).draw(range(6), 40, seed=0)
    constants = instances.constants
    for t in range(40):
        own = LABELS[instances.items[:, t]] == constants["label"][:, None]
        np.testing.assert_array_equal(instances.means(t), np.where(own, 0.8, 0.3))
        rewards = np.array([instances.rewards(t, np.full(6, a)) for a in range(5)]).T
        assert set(np.unique(rewards)) <= {0.0, 1.0}
        assert (rewards[own] >= np.where(own, -1.0, rewards).max(axis=1)).all()  # one number decides for all actions
    assert constants["reward_range"] == (0.0, 1.0)
    np.testing.assert_array_equal(constants["reward_bound"], np.full(6, 0.8))
    assert "parameter" not in constants
    assert "model" not in constants
    assert make(reward="label").draw(range(1), 1, 0).constants["noise"] == pytest.approx(0.427, abs=5e-4)


def test_constants_of_ones_own():
    centers = RNG.normal(size=(CLASSES, 4))
    problem = make(
        reward="label",
        constants={"centers": centers, "radii": [0.1, 0.2, 0.3, 0.4], "scale": 2.0, "reward_range": (-1.0, 2.0)},
        class_constants={"center": centers, "model": [3, 2, 1, 0]},
    )
    constants = problem.draw(range(7), 2, seed=0).constants
    np.testing.assert_array_equal(constants["centers"], np.tile(centers, (7, 1, 1)))
    np.testing.assert_array_equal(constants["radii"], np.tile([0.1, 0.2, 0.3, 0.4], (7, 1)))
    assert (constants["scale"], constants["reward_range"]) == (2.0, (-1.0, 2.0))
    np.testing.assert_array_equal(constants["center"], centers[constants["label"]])
    np.testing.assert_array_equal(constants["model"], 3 - constants["label"])


# Fits


@pytest.mark.parametrize("share", [None, 0.1, 0.5])
def test_the_fit_is_weighted_ridge_least_squares(share):
    """Against a dense solver on rows scaled by the roots of the weights."""
    classes = np.array([2, 0])
    ours = fit_classes(WIDE, LABELS, share=share, regularization=0.01, classes=classes)
    for theta, s in zip(ours, classes, strict=True):
        own = np.equal(LABELS, s)
        weights = np.full(ITEMS, 1.0 / ITEMS)
        if share is not None:
            weights = np.where(own, share / own.sum(), (1.0 - share) / (~own).sum())
        assert weights.sum() == pytest.approx(1.0)
        lam = 0.01 * (weights[:, None] * WIDE**2).sum() / 6
        rows = np.vstack([np.sqrt(weights)[:, None] * WIDE, np.sqrt(lam) * np.eye(6)])
        target = np.concatenate([np.sqrt(weights) * own, np.zeros(6)])
        np.testing.assert_allclose(theta, np.linalg.lstsq(rows, target, rcond=None)[0], rtol=1e-9, atol=1e-12)


def test_the_problem_fits_what_it_says():
    for balanced, share in ((True, 0.2), (False, None)):
        expected = fit_classes(GOOD, LABELS, share=share, regularization=0.5, classes=np.arange(CLASSES))
        constants = make(balanced=balanced, regularization=0.5).draw(range(9), 1, seed=0).constants
        np.testing.assert_array_equal(constants["parameter"], expected[constants["label"]])


def test_weights_lift_the_fit_of_a_rare_class():
    classes = np.array([0])  # 20 items out of 240
    own = GOOD[LABELS == 0]
    plain, lifted = (
        fit_classes(POOR + GOOD, LABELS, share=s, regularization=1e-3, classes=classes) for s in (None, 0.5)
    )
    assert (own @ lifted[0]).mean() > 2.0 * (own @ plain[0]).mean()


def test_dead_features_get_nothing():
    zeros = fit_classes(np.zeros((6, 2)), np.arange(6) % 2, share=None, regularization=1.0, classes=np.arange(2))
    np.testing.assert_array_equal(zeros, np.zeros((2, 2)))
    dead = np.hstack([GOOD, np.zeros((ITEMS, 1))])
    theta = fit_classes(dead, LABELS, share=None, regularization=1e-3, classes=np.arange(CLASSES))
    np.testing.assert_array_equal(theta[:, 4], np.zeros(CLASSES))


# Played


def test_policies_play_it():
    told, ball = {"reward_range": given.reward_range, "noise": given.noise}, 0.1 + 0.8 * np.eye(CLASSES)
    labels = {"reward": "label", "constants": {"centers": ball, "radii": 0.3}}
    ps = PSOFUL.bind(centers=given.centers, radii=given.radii, noise=given.noise)
    for ours, problem, share in (
        (FSSquareCB.bind(**told), make(features=[POOR, GOOD, WIDE], true_map=1), 0.7),
        (ps, make(**labels), 0.5),
    ):
        result = simulate({"ours": ours, "uniform": Uniform.bind()}, problem, rounds=300, replicates=4)
        assert (result.final("ours", "regret") < share * result.final("uniform", "regret")).all()


REFUSED = {
    "features": [GOOD[:, 0], np.full((ITEMS, 2), np.nan), [], "images", GOOD + 1j],
    "labels": [LABELS[:-1], LABELS + 0.5, LABELS - 1, LABELS + 1, LABELS * 1000],
    "reward": ["accuracy"],
    "n_actions": [0, ITEMS],
    "noise": ["loud"],
    "true_map": [1],
    "parameters": [np.eye(3), np.full((4, 4), np.inf)],
    "balanced": ["yes"],
    "regularization": [0.0],
    "high": [1.5],
    "low": [-0.5],
    "targets": [[4], [-1], [1, 1], [], [0.5]],
}
REFUSALS = [(name, {name: value}) for name, values in REFUSED.items() for value in values] + [
    (r"features\[1\]", {"features": [GOOD, POOR[:-1]]}),
    (r"features\[1\]", {"features": [GOOD, POOR[:, :0]]}),
    ("parameters", {"parameters": np.eye(4), "reward": "label"}),
    (r"constants\['centers'\]", {"constants": {"centers": ["a", "b"]}}),
    (r"class_constants\['model'\]", {"class_constants": {"model": np.arange(3)}}),
    (r"class_constants\['model'\]", {"class_constants": {"model": 1}}),
]


@pytest.mark.parametrize(("name", "settings"), REFUSALS)
def test_bad_arguments_are_refused_by_name(name, settings):
    with pytest.raises(ValueError, match=f"Classification: {name}: got"):
        make(**settings)
