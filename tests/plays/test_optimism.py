"""Optimistic play: upper bounds by brute force, ties, and what is not offered."""

import math

import numpy as np
import pytest

from banditselect.kernels import ridge, shared_ridge
from banditselect.plays.optimism import best
from banks_by_hand import actions, learn, ridges, shared_ridges


def test_the_best_share_ties_among_the_actions_offered():
    score = np.array([[1.0, 2.0, 2.0, -1.0], [1.0, 2.0, 2.0, -1.0], [-np.inf] * 4])
    np.testing.assert_array_equal(best(score, None), [[0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0.25] * 4])
    mask = np.array([[True, False, True, True], [True, False, False, True], [True, True, False, False]])
    np.testing.assert_array_equal(best(score, mask), [[0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0]])


def shared_bounds(bank, ids, x, squared, scale):
    return shared_ridge.upper_bounds(ids, x, (bank.columns, bank.root, bank.group, squared), scale)


class Bounds:
    """Upper bounds of a bank in four lanes, and the same by brute force."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng(seed)
        self.N, self.M, K, d = 4, 5, 6, 3
        if kind == "maps":
            self.bank = ridges([d] * 5, rng.uniform(0.1, 3.0, size=(4, 5)))
        else:
            precision = np.stack([rng.uniform(0.1, 3.0) * np.eye(d) for _ in range(8)]).reshape(4, 2, d, d)
            group = rng.integers(0, 2, size=(4, 5))
            self.bank = shared_ridges(rng.normal(size=(4, 5, d)), precision, group)
        P = 5 if kind == "maps" else 1
        for _ in range(10):
            x = rng.normal(size=(4, P, d))
            learn(self.bank, np.arange(4), x, rng.normal(size=4))
        self.ids, self.x = np.array([3, 0, 2]), rng.normal(size=(3, P, K, d))
        self.squared = rng.uniform(0.0, 4.0, size=(4, 5))
        self.squared[3, 1] = self.squared[0, :4] = -1.0
        self.squared[2, 2] = 0.0

    def found(self, scale):
        x, bank, out = actions(self.x), self.bank, np.empty((3, 6))
        if self.x.shape[1] == 1:
            return shared_bounds(bank, self.ids, self.x, self.squared, scale)
        ellipsoids = bank.theta, bank.root, bank.dims, bank.first, self.squared
        ridge.upper_bounds(self.ids, x.values, x.block, ellipsoids, scale, False, out)
        return out

    def value(self, r, a, scale):
        lane, bounds = self.ids[r], []
        for i in range(self.M):
            z = self.x[r, i if self.x.shape[1] > 1 else 0, a]
            if self.squared[lane, i] >= 0.0:
                leverage = z @ np.linalg.solve(self.bank.precision_of(lane, i), z)
                bounds.append(z @ self.bank.theta[lane, i] + scale * math.sqrt(self.squared[lane, i] * leverage))
        return max(bounds)


@pytest.mark.parametrize("kind", ["maps", "shared"])
@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_optimism_by_brute_force(kind, scale):
    for seed in range(10):
        case = Bounds(kind, seed)
        expected = np.array([[case.value(r, a, scale) for a in range(6)] for r in range(3)])
        found = case.found(scale)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        p = best(found, None)
        np.testing.assert_array_equal(p, expected == expected.max(axis=1, keepdims=True))
        offered = np.random.default_rng(seed).permuted(np.tile([True, True, False, False, True, False], (3, 1)), axis=1)
        left = np.where(offered, expected, -np.inf)
        p = best(found, offered)
        np.testing.assert_array_equal(p, left == left.max(axis=1, keepdims=True))


@pytest.mark.parametrize(("M", "d", "K"), [(300, 6, 5), (129, 3, 1), (260, 4, 4)])
@pytest.mark.parametrize("standing", [0.0, 0.02, 0.3, 0.7, 1.0])
def test_upper_bounds_of_many_models_by_brute_force(M, d, K, standing):
    """More than one panel: all of its models stand, or some, or few that are collected, or none."""
    rng = np.random.default_rng(M)
    lam, group = np.array([[0.3, 2.0, np.inf, 1.0]]), np.sort(rng.integers(0, 4, size=(1, M)), axis=1)
    center, precision = rng.normal(size=(1, M, d)), np.zeros((1, 4, d, d))
    precision[:, :, np.arange(d), np.arange(d)] = lam[:, :, None]
    bank = shared_ridges(center, precision, group)
    x, lane = rng.normal(size=(1, 1, K, d)), np.array([0])
    x[0, 0, -1] = x[0, 0, 0]
    squared = np.where(rng.random((1, M)) < standing, rng.uniform(0.0, 4.0, size=(1, M)), -1.0)
    widths = np.linalg.norm(np.einsum("kj,gjl->gkl", x[0, 0], bank.root[0]), axis=2)
    bounds = x[0, 0] @ bank.theta[0].T + 0.8 * np.sqrt(np.maximum(squared, 0.0)) * widths[group[0]].T
    expected = np.where(squared >= 0.0, bounds, -np.inf).max(axis=1)
    found = shared_bounds(bank, lane, x, squared, 0.8)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[-1] == found[0]  # equal actions tie, wherever they stand


def test_a_refuted_model_has_no_say_even_if_it_promises_most():
    """Actions +1 and -1 in one dimension; three centres, of which the first is far and refuted."""
    center = np.array([[[100.0], [-1.0], [0.5]]])
    bank = shared_ridges(center, np.ones((1, 2, 1, 1)), np.array([[1, 0, 1]]))
    x, lane = np.array([[[[1.0], [-1.0]]]]), np.array([0])

    def play(*squared, scale=1.0):
        return best(shared_bounds(bank, lane, x, np.array([squared]), scale), None)[0].tolist()

    assert play(0.0, 0.0, 0.0) == [1.0, 0.0]
    assert play(-1e-9, 0.0, 0.0) == [0.0, 1.0]  # bounds .5 and 1
    assert play(-1e-9, 0.0, 1.0) == [1.0, 0.0]  # 1.5 and 1
    assert play(-1e-9, 0.0, 1.0, scale=0.4) == [0.0, 1.0]  # .9 and 1
    assert play(-1e-9, 0.0, 0.25) == [0.5, 0.5]  # a tie
    assert play(-1.0, -1.0, -1.0) == [0.5, 0.5]
