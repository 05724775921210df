"""The reward model of the doubly robust estimate: its solution, the choice of a map, and cross-fitting."""

import numpy as np
import pytest

from banditselect.logs import Log, evaluate
from banditselect.logs.reward_model import _Fits, cross_fitted
from logs_by_hand import drawn, softmax, two_maps


def test_the_ridge_model_is_the_batch_solution_of_the_other_folds():
    log, _ = drawn(np.random.default_rng(6), 30, greed=0.5, constant=2.0)
    p = np.full((30, 4), 0.25)
    x = log.features.maps(np.arange(30))[0]
    x = (x - x.reshape(-1, 3).mean(axis=0)) / x.reshape(-1, 3).std(axis=0)
    fold = np.random.default_rng(9).permutation(30) % 3
    q = np.empty((30, 4))
    for f in range(3):
        train = np.flatnonzero(fold != f)
        a = np.hstack([x[train, log.action[train]], np.ones((train.size, 1))])
        rows = np.vstack([a, np.hstack([np.eye(3), np.zeros((3, 1))])])  # the penalty as three more rows
        theta = np.linalg.lstsq(rows, np.append(log.reward[train], np.zeros(3)), rcond=None)[0]
        q[fold == f] = x[fold == f] @ theta[:3] + theta[3]
    mine, hand = evaluate(p, log, folds=3, seed=9), evaluate(p, log, predictions=q)
    assert (mine.dr.estimate, mine.dr.low) == pytest.approx((hand.dr.estimate, hand.dr.low), abs=1e-12)


def test_dr_does_not_depend_on_scale_shift_or_constant_columns():
    log, means = drawn(np.random.default_rng(7), 100, greed=0.5)
    x = log.features.features[0]
    scaled = np.concatenate([1e6 * x + 3e8, np.full((100, 4, 1), 7.0)], axis=2)
    other = Log(**vars(log) | {"features": scaled})
    p = softmax(means)
    assert evaluate(p, other).dr.estimate == pytest.approx(evaluate(p, log).dr.estimate, abs=1e-6)


@pytest.mark.parametrize("T", [300, 5000])
def test_the_model_uses_the_map_that_predicts_best_or_the_one_asked_for(T):
    maps, log, means = two_maps(T)
    p = softmax(3.0 * means)
    assert evaluate(p, maps).dr == evaluate(p, maps, map=1).dr == evaluate(p, log).dr
    width = {i: evaluate(p, maps, map=i).dr.high - evaluate(p, maps, map=i).dr.low for i in (0, 1)}
    assert width[1] < 0.8 * width[0]
    with pytest.raises(ValueError, match="evaluate: map: got 2, expected a whole number >= 0 and <= 1"):
        evaluate(p, maps, map=2)


def test_a_map_is_chosen_by_generalised_cross_validation_in_the_other_folds():
    maps, _, _ = two_maps(40)
    fold = np.random.default_rng(3).permutation(40) % 4
    for m, width in ((0, 2), (1, 3)):
        x = maps.features.maps(np.arange(0, 40, 2), m)[0]  # every second decision
        x = (x - x.reshape(-1, width).mean(axis=0)) / x.reshape(-1, width).std(axis=0)
        found = _Fits.of(maps, m, fold, 2).errors()
        for f in range(4):
            train = np.flatnonzero(fold[::2] != f)
            a = np.hstack([x[train, maps.action[::2][train]], np.ones((train.size, 1))])
            hat = a @ np.linalg.inv(a.T @ a + np.diag([1.0] * width + [0.0])) @ a.T
            left = maps.reward[::2][train] - hat @ maps.reward[::2][train]
            assert found[f] == pytest.approx(train.size * left @ left / (train.size - np.trace(hat)) ** 2, rel=1e-9)


def test_the_rewards_of_a_fold_change_neither_its_map_nor_its_predictions():
    maps, _, _ = two_maps(60)
    fold = np.random.default_rng(4).permutation(60) % 3
    x = maps.features.features[0]
    for f in range(3):
        reward = np.where(fold == f, 50.0 * x[np.arange(60), maps.action, 0], maps.reward)  # the noise explains these
        told = Log(**vars(maps) | {"reward": reward})
        before, after = (cross_fitted(log, None, 3, np.random.default_rng(4)) for log in (maps, told))
        assert np.allclose(before[fold == f], after[fold == f], rtol=0.0, atol=1e-9)
        assert not np.allclose(before[fold != f], after[fold != f])


def test_with_two_decisions_a_map_is_chosen_too():
    log = Log(features=np.ones((2, 3, 2, 1)), action=[0, 1], propensity=[0.5, 0.5], reward=[1.0, 3.0])
    assert evaluate(np.full((2, 2), 0.5), log).dr.estimate == 2.0
