"""Optimistic play: upper bounds by brute force, ties, and what is not offered."""

import numpy as np
import pytest

from banditselect.kernels import shared_ridge
from banditselect.plays.optimism import best
from banks_by_hand import learn, shared_ridges


def test_the_best_share_ties_among_the_actions_offered():
    score = np.array([[1.0, 2.0, 2.0, -1.0], [1.0, 2.0, 2.0, -1.0], [-np.inf] * 4])
    np.testing.assert_array_equal(best(score, None), [[0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0.25] * 4])
    mask = np.array([[True, False, True, True], [True, False, False, True], [True, True, False, False]])
    np.testing.assert_array_equal(best(score, mask), [[0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0]])


@pytest.mark.parametrize(("M", "d", "K"), [(5, 3, 6), (300, 6, 5), (129, 3, 1), (260, 4, 4)])
@pytest.mark.parametrize("standing", [0.0, 0.02, 0.3, 0.7, 1.0])
def test_upper_bounds_of_many_models_by_brute_force(M, d, K, standing):
    """More than one panel: all of its models stand, or some, or few that are collected, or none."""
    rng, ids = np.random.default_rng(M), np.array([2, 0])
    lam, group = np.array([[0.3, 2.0, np.inf, 1.0]]), np.sort(rng.integers(0, 4, size=(3, M)), axis=1)
    center, precision = rng.normal(size=(3, M, d)), np.zeros((3, 4, d, d))
    precision[:, :, np.arange(d), np.arange(d)] = lam[:, :, None]
    bank = shared_ridges(center, precision, group)
    for _ in range(5):
        learn(bank, np.arange(3), rng.normal(size=(3, 1, d)), rng.normal(size=3))
    x = rng.normal(size=(2, 1, K, d))
    x[:, 0, -1] = x[:, 0, 0]
    squared = np.where(rng.random((3, M)) < standing, rng.uniform(0.0, 4.0, size=(3, M)), -1.0)
    found = shared_ridge.upper_bounds(ids, x, (bank.columns, bank.root, bank.group, squared), 0.8)
    for r, n in enumerate(ids):
        widths = np.linalg.norm(np.einsum("kj,gjl->gkl", x[r, 0], bank.root[n]), axis=2)
        bounds = x[r, 0] @ bank.theta[n].T + 0.8 * np.sqrt(np.maximum(squared[n], 0.0)) * widths[group[n]].T
        np.testing.assert_allclose(found[r], np.where(squared[n] >= 0.0, bounds, -np.inf).max(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(found[:, -1], found[:, 0])  # equal actions tie, wherever they stand
