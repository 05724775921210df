"""The recipe of balls on mixtures whose answer is known, and the linear tools under it."""

import numpy as np
import pytest

from tools.packs.balls import REGULARIZATION, _matched, calibrated, fit_balls, fit_data_sets
from tools.packs.linear import accuracy, discriminant, whitening, with_one


def test_data_sets_give_least_squares_fits() -> None:
    rng = np.random.default_rng(0)
    x, labels = with_one(rng.normal(size=(60, 2))), np.arange(60) % 3
    theta, classes = fit_data_sets(x, labels, models=2, sets=40, size=60, rng=rng)
    assert set(classes.tolist()) == {0, 1}
    G = x.T @ x  # a data set of all images, in whatever order
    for s in (0, 1):
        by_hand = np.linalg.inv(G + REGULARIZATION * np.trace(G) / 3 * np.eye(3)) @ x.T @ (labels == s)
        np.testing.assert_allclose(theta[classes == s], np.tile(by_hand, (np.sum(classes == s), 1)), rtol=1e-9)


def test_calibration_turns_one_and_zero_into_the_rewards() -> None:
    x = with_one(np.random.default_rng(0).normal(size=(50, 2)))
    theta = np.array([0.3, -0.2, 0.4])
    np.testing.assert_allclose(x @ calibrated(theta), 0.8 * (x @ theta) + 0.1)
    np.testing.assert_allclose(theta, [0.3, -0.2, 0.4])


def test_balls_of_a_known_mixture() -> None:
    rng = np.random.default_rng(3)
    d, n = 6, 4000
    centers = 5.0 * np.eye(3, d)
    spread, classes = np.array([0.1, 0.3, 0.5]), rng.integers(3, size=n)
    theta = centers[classes] + spread[classes, None] * rng.normal(size=(n, d))
    balls = fit_balls(theta, classes, models=3, seed=0)
    assert balls.components.tolist() == [0, 1, 2]
    assert balls.purity == 1.0
    np.testing.assert_allclose(balls.radii, spread * np.sqrt(d), rtol=0.05)
    errors = np.linalg.norm(balls.centers - centers, axis=1)
    assert np.all(errors <= balls.center_errors)
    np.testing.assert_allclose(balls.weights, np.bincount(classes) / n, atol=1e-6)
    quantile = 12.591587  # of chi-square, 6 degrees of freedom, 95 %
    np.testing.assert_allclose(
        balls.center_errors, balls.radii * np.sqrt(quantile / d / np.bincount(classes)), rtol=1e-4
    )
    wider = fit_balls(theta, classes, models=3, seed=0, shared=0.5)
    assert np.all(wider.center_errors > balls.center_errors)


def test_components_are_matched_to_classes() -> None:
    order, components = _matched(np.array([[0, 9, 1], [8, 0, 0], [0, 0, 7]]))
    assert order.tolist() == [1, 0, 2]
    assert components.tolist() == [0, 1, 2]
    order, components = _matched(np.array([[5, 0], [9, 1]]))  # both classes lie in the first component
    assert order.tolist() == [1, 0]
    assert components.tolist() == [1, 1]


def test_the_discriminant_is_bayes_rule_for_gaussians() -> None:
    means = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]])
    rng = np.random.default_rng(1)
    labels = np.arange(30_000) % 3
    x = means[labels] + rng.normal(size=(30_000, 2)) * [1.0, 2.0]
    head = discriminant(x, labels, regularization=1e-12)
    ideal = np.column_stack([means / [1.0, 4.0], -0.5 * np.sum(means**2 / [1.0, 4.0], axis=1)])
    np.testing.assert_allclose(head[1:] - head[0], ideal[1:] - ideal[0], atol=0.06)
    assert accuracy(x, labels, head) == pytest.approx(accuracy(x, labels, ideal), abs=2e-3)


def test_whitening_gives_unit_covariance_and_leaves_dead_units_alone() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5000, 3)) @ np.array([[2.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.3, 1.0]]) + 4.0
    mean, matrix = whitening(x, 1e-9)
    white = (x - mean) @ matrix
    np.testing.assert_allclose(np.cov(white, rowvar=False, bias=True), np.eye(3), atol=1e-6)
    np.testing.assert_allclose(white.mean(axis=0), 0.0, atol=1e-9)
    dead = np.column_stack([x, np.zeros(5000)])
    mean, matrix = whitening(dead)
    assert np.all(np.abs((dead - mean) @ matrix)[:, 3] < 1e-9)
