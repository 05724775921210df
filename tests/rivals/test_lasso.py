"""The group lasso: its conditions of optimality, a brute-force minimum, one group by hand, rows one at a time."""

import numpy as np
import pytest

from banditselect.kernels.features import NO_BLOCK, Features
from banditselect.rivals.group_lasso import GroupLasso, descend, gather, learn_lasso, solve_group, take_thresholds

LANE = np.array([0])


def packed(G):
    return np.ascontiguousarray(G[np.tril_indices(len(G))])


def fitted(X, y, threshold, theta=None, tolerance=1e-11, most=10_000):
    """Return the estimate for rows ``X (T, M, d)``."""
    T, M, d = X.shape
    F = X.reshape(T, M * d)
    theta = np.zeros((1, M, d)) if theta is None else theta
    descend(LANE, packed(F.T @ F)[None], (F.T @ y)[None], threshold[None], tolerance, most, theta)
    return theta[0]


def violations(X, y, threshold, theta):
    """Return by how much each group breaks its condition, in thresholds."""
    slope = np.einsum("tmd,t->md", X, np.einsum("tmd,md->t", X, theta) - y)
    size = np.linalg.norm(theta, axis=1)
    direction = theta / np.where(size > 0.0, size, 1.0)[:, None]
    active = np.linalg.norm(slope + threshold[:, None] * direction, axis=1)
    return np.where(size > 0.0, active, np.maximum(np.linalg.norm(slope, axis=1) - threshold, 0.0)) / threshold


def rows(seed, T, M, d, correlated=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, M, d)) + correlated * rng.normal(size=(T, 1, d))
    theta = np.zeros((M, d))
    theta[0] = rng.normal(size=d)
    return X, np.einsum("tmd,md->t", X, theta) + 0.5 * rng.normal(size=T)


@pytest.mark.parametrize(
    ("T", "M", "d", "correlated"), [(40, 3, 4, 0.0), (30, 6, 3, 2.0), (8, 5, 4, 0.0), (50, 2, 1, 1.0)]
)
@pytest.mark.parametrize("share", [0.02, 0.2, 0.7])
def test_conditions_of_a_minimum(T, M, d, correlated, share):
    """Correlated groups, and fewer rows than features, too; to 1e-8 of the threshold."""
    X, y = rows(T, T, M, d, correlated)
    threshold = share * np.linalg.norm(np.einsum("tmd,t->md", X, y), axis=1).max() * np.linspace(0.8, 1.2, M)
    theta = fitted(X, y, threshold)
    assert violations(X, y, threshold, theta).max() < 1e-8
    assert (theta == 0.0).all(axis=1).any() or share < 0.5
    again = fitted(X, y, threshold, theta=np.random.default_rng(1).normal(size=(1, M, d)))
    objective = [
        0.5 * ((y - np.einsum("tmd,md->t", X, v)) ** 2).sum() + threshold @ np.linalg.norm(v, axis=1)
        for v in (theta, again)
    ]
    assert objective[1] == pytest.approx(objective[0], rel=1e-9)  # from anywhere


def test_minimum_by_brute_force():
    """Two groups of one feature are a lasso: its minimum on a grid that is refined around the best point."""
    X, y = rows(3, 20, 2, 1, 0.5)
    threshold = np.array([4.0, 6.0])
    center, width = np.zeros(2), 4.0
    for _ in range(30):
        axis = np.linspace(-width, width, 21)
        points = center + np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        points = np.vstack([points, points * [1.0, 0.0], points * [0.0, 1.0]])
        value = 0.5 * ((y - points @ X[:, :, 0].T) ** 2).sum(axis=1) + np.abs(points) @ threshold
        center, width = points[value.argmin()], 0.5 * width
    np.testing.assert_allclose(fitted(X, y, threshold)[:, 0], center, atol=1e-6)


def test_one_group_by_hand():
    """G = diag(1, 3), pull (3, 4), threshold 5: 0, since |pull| = 5. With G = 2 I: pull shrinks to length (5 - 2) / 2.

    With G = diag(1, 3), pull (2, 4), s = 1: theta = (1, 1), and the threshold is s |theta| = sqrt(2).
    """

    def solved(diagonal, pull, threshold, start):
        theta = np.array(start, dtype=float)
        solve_group(np.diag(diagonal), np.array(pull), threshold, theta)
        return theta

    for start in ([0.0, 0.0], [5.0, -1.0]):
        np.testing.assert_array_equal(solved([1.0, 3.0], [3.0, 4.0], 5.0, start), 0.0)
        np.testing.assert_allclose(solved([2.0, 2.0], [3.0, 4.0], 2.0, start), [0.9, 1.2], rtol=1e-12)
        np.testing.assert_allclose(solved([1.0, 3.0], [2.0, 4.0], np.sqrt(2.0), start), [1.0, 1.0], rtol=1e-12)
        np.testing.assert_allclose(solved([0.0, 3.0], [0.0, 4.0], 1.0, start), [0.0, 1.0], atol=1e-12)  # singular


def test_rows_are_gathered_one_at_a_time():
    X, y = rows(5, 12, 3, 2)
    gram, moment = np.zeros((2, 21)), np.zeros((2, 6))
    for s in range(12):
        gather(np.array([1]), X[s : s + 1], y[s : s + 1], gram, moment)
    F = X.reshape(12, 6)
    np.testing.assert_allclose(gram[1], packed(F.T @ F), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moment[1], F.T @ y, rtol=1e-12, atol=1e-12)
    assert not gram[0].any()
    assert not moment[0].any()


def test_the_part_fits_after_every_row_with_penalties_in_units_of_the_features():
    """Thresholds are c times the root of the sum of squared norms; a map in other units has a parameter in others."""
    X, y = rows(6, 60, 3, 2)
    part, other = (GroupLasso(lanes=2, n_models=3, dim=2, penalty=np.array([0.0, 3.0])) for _ in range(2))
    scale = np.array([1.0, 7.0, 0.1])[:, None]
    for s in range(60):
        learn_lasso(np.array([1]), X[s : s + 1], y[s : s + 1], part.arrays())
        learn_lasso(np.array([1]), X[s : s + 1] * scale, y[s : s + 1], other.arrays())
    threshold = 3.0 * np.sqrt((X**2).sum(axis=(0, 2)))
    told = np.zeros((2, 3))
    take_thresholds(np.array([1]), part.gram, part.penalty, 2, told)
    np.testing.assert_allclose(told, [[0.0] * 3, threshold], rtol=1e-12)
    assert violations(X, y, threshold, part.theta[1]).max() <= 1e-4
    np.testing.assert_allclose(part.theta[1], fitted(X, y, threshold), atol=1e-3)
    np.testing.assert_allclose(other.theta[1] * scale, part.theta[1], atol=1e-6)
    actions = Features(np.random.default_rng(0).normal(size=(1, 3, 4, 2)), NO_BLOCK)
    expected = np.einsum("nmkd,md->nk", actions.values, part.theta[1])
    np.testing.assert_allclose(part.predict(np.array([1]), actions), expected, rtol=1e-12)
    np.testing.assert_array_equal(part.predict(LANE, actions), 0.0)
