"""Classes as arms: which rows are met, what the features of an arm are, and what guesses pay."""

import numpy as np
import pytest
from scipy import stats

from banditselect import (
    FSIDS,
    FSOFUL,
    OFUL,
    Blocked,
    FSSquareCB,
    LinIDS,
    LinTS,
    RegretBalancing,
    SquareCB,
    Uniform,
    on_every_map,
    on_map,
    simulate,
)
from banditselect.policies import Binding
from banditselect.problems import ClassesAsArms
from banditselect.rivals import UCB1

ROWS, CLASSES = 60, 3
RNG = np.random.default_rng(0)
LABELS = RNG.permutation(np.arange(ROWS) % CLASSES)
GOOD = np.eye(CLASSES)[LABELS] + 0.2 * RNG.normal(size=(ROWS, CLASSES))
NOISE = RNG.normal(size=(ROWS, 2)).astype(np.float32)
SHARED = np.stack([-np.abs(GOOD - k) for k in range(CLASSES)], axis=1)


def test_features_by_hand():
    problem = ClassesAsArms(features=[[[5.0, 7.0], [1.0, 2.0]], [[3.0], [4.0]]], labels=[1, 0])
    assert problem.shapes == {"n_models": 2, "dim": [4, 2], "n_arms": 2, "blocks": 2}
    instances = problem.draw(range(4), 1, seed=0)
    for lane, row in enumerate(instances.rows[:, 0]):
        one, two = instances.features(0)
        x, z = [[5.0, 7.0], [1.0, 2.0]][row], [3.0, 4.0][row]
        np.testing.assert_array_equal(one[lane], [[*x, 0.0, 0.0], [0.0, 0.0, *x]])
        np.testing.assert_array_equal(two[lane], [[z, 0.0], [0.0, z]])
        np.testing.assert_array_equal(instances.means(0)[lane], [[0.0, 1.0], [1.0, 0.0]][row])
    assert instances.constants["feature_bound"] == pytest.approx(np.sqrt(74.0))
    shared = ClassesAsArms(features=SHARED, labels=LABELS, disjoint=False).draw(range(2), 3, seed=0)
    np.testing.assert_array_equal(shared.features(2), SHARED[shared.rows[:, 2]])


def test_a_right_guess_pays_one():
    instances = ClassesAsArms(features=GOOD, labels=LABELS).draw(range(5), 7, seed=1)
    for t in range(7):
        truth = LABELS[instances.rows[:, t]]
        np.testing.assert_array_equal(instances.rewards(t, truth), 1.0)
        np.testing.assert_array_equal(instances.rewards(t, (truth + 1) % CLASSES), 0.0)


def test_every_pass_meets_every_row_once_in_an_order_of_its_own():
    """False alarm of the test of the first row: 1e-5."""
    instances = ClassesAsArms(features=GOOD, labels=LABELS).draw(range(600), 2 * ROWS + 5, seed=2)
    for rows in instances.rows[:20]:
        assert sorted(rows[:ROWS]) == sorted(rows[ROWS : 2 * ROWS]) == list(range(ROWS))
        assert len(set(rows[2 * ROWS :])) == 5
        assert rows[:ROWS].tolist() != rows[ROWS : 2 * ROWS].tolist()
    assert stats.chisquare(np.bincount(instances.rows[:, 0], minlength=ROWS)).pvalue > 1e-5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": np.abs}, r"features: .*shape \(rows, d\)"),
        ({"features": [GOOD, GOOD[:-1]]}, r"features\[1\]: .*60 rows"),
        ({"features": SHARED}, r"features: .*shape \(rows, d\)"),
        ({"features": GOOD, "disjoint": False}, r"features: .*\(rows, C, d\)"),
        ({"features": SHARED[:, :2], "disjoint": False}, r"features: .*\(rows, 3, d\)"),
        ({"features": [GOOD, np.full((ROWS, 2), np.nan)]}, r"features\[1\]: "),
        ({"features": GOOD, "labels": LABELS + 1}, "labels: "),
        ({"features": GOOD, "disjoint": 1}, "disjoint: "),
        ({"features": []}, "features: "),
    ],
)
def test_refusals_name_the_argument(settings, message):
    with pytest.raises(ValueError, match=message):
        ClassesAsArms(**({"labels": LABELS} | settings))


def test_selection_learns_the_classes_and_arms_alone_do_not():
    """Guessing pays 1/3; the good map explains nearly all."""
    problem = ClassesAsArms(features=[NOISE, GOOD], labels=LABELS)
    learners = {"FSIDS": FSIDS.bind(), "good map": on_map(LinIDS.bind(), 1), "arms": UCB1.bind()}
    result = simulate(learners, problem, rounds=3 * ROWS, replicates=4)
    earned = {name: result.final(name, "mean_reward").mean() for name in learners}
    assert earned["FSIDS"] > 0.75
    assert earned["good map"] > 0.8
    assert earned["arms"] < 0.5


def test_arms_with_parameters_of_their_own_are_blocks():
    """Offers have no zeros; without an intercept the rewards are those of the wide features, to rounding."""
    problem = ClassesAsArms(features=[NOISE, GOOD], labels=LABELS)
    shown = problem.draw(range(2), 3, seed=0).offer(1)
    assert [(type(m), m.values.shape) for m in shown] == [(Blocked, (2, 3, m.shape[1])) for m in (NOISE, GOOD)]
    one = ClassesAsArms(features=GOOD, labels=LABELS)
    assert one.draw(range(2), 3, seed=0).offer(1).block.tolist() == [[0, 1, 2]] * 2
    told = {"intercept": False}
    for met, policies in (
        (problem, {"FSIDS": FSIDS.bind(**told), "FSOFUL": FSOFUL.bind(), "FSSquareCB": FSSquareCB.bind()}),
        (one, {"LinIDS": LinIDS.bind(**told), "OFUL": OFUL.bind(), "SquareCB": SquareCB.bind(), "LinTS": LinTS.bind()}),
    ):
        wide = {f"{name}, wide": Binding(p.cls, p.arguments | {"blocks": 1}) for name, p in policies.items()}
        result = simulate(policies | wide, met, rounds=60, replicates=2)
        for name in policies:
            for metric in ("reward", "probability", "leading_weight"):
                ours, theirs = (result.curve(n, metric) for n in (name, f"{name}, wide"))
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=f"{name}: {metric}")
    others = {
        "on a map": on_map(SquareCB.bind(), 1),
        "balanced": RegretBalancing.bind(bases=on_every_map(SquareCB.bind())),
    }
    result = simulate(others | {"uniform": Uniform.bind()}, problem, rounds=60, replicates=2)
    assert (result.final("on a map", "reward") > result.final("uniform", "reward")).all()
