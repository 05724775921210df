"""Banks of ridge regressions: step by step equals all at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect.kernels.features import NO_BLOCK
from banditselect.kernels.ridge import mixtures
from banditselect.models.ridge_bank import RidgeBank
from banditselect.models.shared_ridge_bank import SharedRidgeBank
from banditselect.runtime.shapes import maps_of
from banks_by_hand import (
    V_inv_of,
    actions,
    assert_equals_batch,
    learn,
    prefix_predictions,
    ridges,
    shared_ridges,
    width,
)

LANE = np.array([0])


class Ragged:
    """Three maps of different width in four lanes, of which some are served each round."""

    dims = np.array([3, 1, 4])
    lam = np.array([[0.3, 2.0, 7.0], [1.0, 0.05, 0.5], [4.0, 4.0, 4.0], [0.3, 2.0, 7.0]])

    def __init__(self, rounds, seed=0):
        rng = np.random.default_rng(seed)
        self.center = rng.normal(size=(4, 3, 4)) * (np.arange(4) < self.dims[:, None])
        self.bank = ridges(self.dims, self.lam, self.center)
        self.data = [([], []) for _ in range(4)]
        for _ in range(rounds):
            ids = rng.permutation(4)[: rng.integers(1, 5)]
            x = rng.normal(size=(ids.size, 3, 4)) * (np.arange(4) < self.dims[:, None])
            y = rng.normal(size=ids.size) + x[:, 0, 0]
            learn(self.bank, ids, x, y)
            for r, lane in enumerate(ids):
                self.data[lane][0].append(x[r])
                self.data[lane][1].append(y[r])

    def check(self, rel=1e-9):
        for lane, (X, y) in enumerate(self.data):
            assert self.bank.updates[lane] == len(y)
            for i, d in enumerate(self.dims):
                Xi = np.array(X).reshape(-1, 3, 4)[:, i, :d]
                prior = self.lam[lane, i] * np.eye(d)
                assert_equals_batch(self.bank, lane, i, Xi, np.array(y), prior, self.center[lane, i, :d], rel)


@pytest.mark.parametrize("rounds", [0, 1, 30, 300, pytest.param(16_500, id="at_length")])
def test_step_by_step_equals_all_at_once(rounds):
    Ragged(rounds).check()


def test_predictions_and_leverages_are_those_before_the_reward():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    m = np.array([1.0, -2.0, 0.5])
    bank = ridges(np.array([3]), np.array([[0.7]]), m[None, None])
    f, q = zip(*(learn(bank, LANE, x[None, None], v[None]) for x, v in zip(X, y, strict=True)), strict=True)
    np.testing.assert_allclose(np.ravel(f), prefix_predictions(X, y, 0.7 * np.eye(3), m), rtol=1e-9, atol=1e-12)
    V = 0.7 * np.eye(3)
    for x, leverage in zip(X, np.ravel(q), strict=True):
        assert leverage == pytest.approx(x @ np.linalg.solve(V, x), rel=1e-10)
        V += np.outer(x, x)


def test_what_stands_in_the_padding_is_not_learned():
    rng = np.random.default_rng(6)
    clean, dirty = (ridges(np.array([2, 3]), np.ones((1, 2))) for _ in range(2))
    for _ in range(140):
        x, y = rng.normal(size=(1, 2, 3)), rng.normal(size=1)
        learn(dirty, LANE, x, y)
        x[0, 0, 2] = 0.0
        learn(clean, LANE, x, y)
    for name, array in clean.learned().items():
        np.testing.assert_array_equal(array, dirty.learned()[name])


def test_predictions_and_their_mean_by_brute_force():
    run = Ragged(40)
    rng = np.random.default_rng(5)
    ids, x = np.array([2, 0]), rng.normal(size=(2, 3, 5, 4)) * (np.arange(4) < run.dims[:, None])[:, None]
    weights = np.array([[0.2, 0.0, 0.8], [1.0, 0.0, 0.0]])
    f, mean = run.bank.predictions(ids, actions(x)), mixtures(ids, x, NO_BLOCK, run.bank.theta, run.bank.first, weights)
    for r, lane in enumerate(ids):
        for a in range(5):
            each = [x[r, i, a, :d] @ run.bank.theta[lane, i, :d] for i, d in enumerate(run.dims)]
            np.testing.assert_allclose(f[r, :, a], each, rtol=1e-11, atol=1e-13)
            assert mean[r, a] == pytest.approx(weights[r] @ each, rel=1e-11)


def reference(X, y, lam, center):
    """Least squares by singular values on the stacked design, whose condition is the root of the Gram matrix's."""
    d = X.shape[1]
    A = np.vstack([math.sqrt(lam) * np.eye(d), X])
    return center + np.linalg.lstsq(A, np.concatenate([np.zeros(d), y - X @ center]), rcond=None)[0]


def hard_features(kind, T, rng):
    d = 6
    X = rng.normal(size=(T, d))
    if kind == "columns":
        X *= 10.0 ** np.linspace(-3.0, 3.0, d)
    elif kind == "rows":
        X[:: max(T // 5, 1)] *= 1e6
    elif kind == "one row":
        X[T // 3] *= 1e6
    elif kind == "rank":
        X = X[:, :2] @ rng.normal(size=(2, d))
    elif kind == "repeated and large":
        X = 1e3 * np.hstack([X[:, :3], X[:, :3]])
    return X


@pytest.mark.parametrize("bank_of", ["maps", "shared"])
@pytest.mark.parametrize("kind", ["columns", "rows", "one row", "rank", "repeated and large"])
@pytest.mark.parametrize("T", [4, 100, 129, pytest.param(10_000, id="at_length")])
def test_hard_features(kind, T, bank_of):
    rng = np.random.default_rng(T)
    X = hard_features(kind, T, rng)
    d, lam, center = X.shape[1], 0.3, rng.normal(size=X.shape[1])
    size = np.abs(X).max(axis=0) if kind == "columns" else 1.0
    y = X @ (rng.normal(size=d) / size) + rng.normal(size=T)
    if bank_of == "maps":
        bank = ridges(np.array([d]), np.array([[lam]]), center[None, None])
    else:
        bank = shared_ridges(center[None, None], lam * np.eye(d)[None, None], np.zeros((1, 1), int))
    for x, v in zip(X, y, strict=True):
        learn(bank, LANE, x[None, None], v[None])
    z = rng.normal(size=(30, d)) * size
    expected = z @ reference(X, y, lam, center)
    found = bank.predictions(LANE, actions(z[None, None]))[0, 0]
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max(), rtol=0.0)


def test_zero_features_teach_nothing_but_cost():
    bank = ridges(np.array([2]), np.array([[2.0]]), np.ones((1, 1, 2)))
    for _ in range(200):
        f, q = learn(bank, LANE, np.zeros((1, 1, 2)), np.array([3.0]))
        assert f[0, 0] == q[0, 0] == 0.0
    np.testing.assert_array_equal(bank.theta, 1.0)
    np.testing.assert_allclose(V_inv_of(bank, 0, 0), np.eye(2) / 2.0, rtol=1e-14)
    assert (bank.logdet[0, 0], bank.penalised[0, 0], bank.online[0, 0]) == (0.0, 1800.0, 1800.0)


def test_a_known_parameter_never_moves():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    m = rng.normal(size=(1, 2, 3))
    bank = ridges(np.array([3, 3]), np.array([[np.inf, 1.0]]), m)
    precision = np.stack([np.diag(np.full(3, np.inf)), np.eye(3)])[None]
    shared = shared_ridges(m, precision, np.array([[0, 1]]))
    for x, v in zip(X, y, strict=True):
        learn(bank, LANE, np.tile(x, (1, 2, 1)), v[None])
        learn(shared, LANE, x[None, None], v[None])
    residual = np.sum((y - X @ m[0, 0]) ** 2)
    for b in (bank, shared):
        np.testing.assert_array_equal(b.theta[0, 0], m[0, 0])
        assert b.logdet[0, 0] == 0.0
        assert b.penalised[0, 0] == b.online[0, 0] == pytest.approx(residual, rel=1e-12)
        assert width(b, 0, 0, X[0]) == 0.0
        assert_equals_batch(b, 0, 1, X, y, np.eye(3), m[0, 1])


def test_a_known_parameter_that_forgets_stays_and_its_losses_fade():
    rng, left = np.random.default_rng(3), 0.0
    center, precision = rng.normal(size=(1, 1, 3)), np.diag(np.full(3, np.inf))[None, None]
    banks = (
        RidgeBank.of(maps_of(3), 1, np.array([[np.inf]]), center=center, memory=10.0),
        SharedRidgeBank(maps_of(3), center, precision, np.zeros((1, 1), dtype=np.int64), memory=10.0),
    )
    for _ in range(60):
        x, y = rng.normal(size=(1, 1, 3)), rng.normal(size=1)
        left = 0.9 * left + (y[0] - x[0, 0] @ center[0, 0]) ** 2
        for bank in banks:
            learn(bank, LANE, x, y)
    for bank in banks:
        np.testing.assert_array_equal(bank.theta, center)
        assert bank.logdet[0, 0] == 0.0
        assert bank.penalised[0, 0] == pytest.approx(left, rel=1e-12)


def test_a_constant_beside_a_known_parameter_forgets_alone():
    rng, center = np.random.default_rng(4), np.array([[[1.0, -1.0]]])
    precision, groups = np.diag(np.full(2, np.inf))[None, None], np.zeros((1, 1), dtype=np.int64)
    bank = SharedRidgeBank(maps_of(2), center, precision, groups, constant_precision=0.5, memory=10.0)
    for _ in range(60):
        learn(bank, LANE, np.insert(rng.normal(size=(1, 1, 2)), 0, 1.0, axis=2), rng.normal(size=1))
        V = bank.root[0, 0, 0, 0] ** -2.0
        assert bank.logdet[0, 0] == pytest.approx(math.log(V / 0.5), rel=1e-9)
    assert 9.0 < V < 11.0
    assert not bank.root[0, 0, 1:].any()
    np.testing.assert_array_equal(bank.theta[0, 0, 1:], center[0, 0])


def both_banks(seed, lanes, groups, group, rounds):
    """Return a shared bank, and a bank with the features repeated for each model, after the same data."""
    rng = np.random.default_rng(seed)
    N, M, d = lanes, group.shape[1], 3
    center = rng.normal(size=(N, M, d))
    precision = np.zeros((*groups.shape, d, d))
    precision[:, :, np.arange(d), np.arange(d)] = groups[:, :, None]
    lam = np.take_along_axis(groups, group, axis=1)
    shared = shared_ridges(center, precision, group)
    bank = ridges(np.full(M, d), lam, center)
    for _ in range(rounds):
        ids = rng.permutation(N)[: rng.integers(1, N + 1)]
        x, y = rng.normal(size=(ids.size, d)), rng.normal(size=ids.size)
        f = learn(shared, ids, x[:, None], y)
        f_repeated, _ = learn(bank, ids, np.repeat(x[:, None], M, axis=1), y)
        np.testing.assert_allclose(f, f_repeated, rtol=1e-9, atol=1e-11)
    return shared, bank


@pytest.mark.parametrize(("M", "rounds"), [(4, 1), (4, 50), (4, 400), (128, 8), (129, 8), (300, 8)])
@pytest.mark.parametrize("sorted_groups", [False, True])
def test_shared_bank_equals_repeated_features(M, rounds, sorted_groups):
    """Also with more than one panel; runs of one group that are short, or end inside a panel."""
    group = np.random.default_rng(M).integers(0, 3, size=(3, M))
    group = np.sort(group, axis=1) if sorted_groups else group
    shared, bank = both_banks(1, 3, np.array([[0.2, 5.0, np.inf], [1.0, 3.0, 0.7], [3.0, 0.7, 2.0]]), group, rounds)
    np.testing.assert_allclose(shared.theta, bank.theta, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(shared.evidence, bank.evidence, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(shared.updates, bank.updates)
    for lane in range(3):
        for i in range(0, M, M // 4):
            np.testing.assert_allclose(V_inv_of(shared, lane, i), V_inv_of(bank, lane, i), rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(shared.precision_of(lane, i), bank.precision_of(lane, i), rtol=1e-9, atol=1e-9)
    rng = np.random.default_rng(9)
    z, ids = rng.normal(size=(3, 1, 5, 3)), np.arange(3)
    repeated = bank.predictions(ids, actions(np.repeat(z, M, axis=1)))
    np.testing.assert_allclose(shared.predictions(ids, actions(z)), repeated, rtol=1e-8)


@pytest.mark.parametrize("rounds", [0, 1, 40, 300, pytest.param(10_000, id="at_length")])
def test_shared_bank_with_full_precisions_equals_all_at_once(rounds):
    rng = np.random.default_rng(3)
    N, G, M, d = 2, 2, 3, 4
    roots = rng.normal(size=(N, G, d, d))
    precision = roots @ np.swapaxes(roots, 2, 3) + 0.2 * np.eye(d)
    center, group = rng.normal(size=(N, M, d)), np.array([[0, 1, 1], [1, 0, 1]])
    bank = shared_ridges(center, precision, group)
    X, y = rng.normal(size=(rounds, N, d)), rng.normal(size=(rounds, N))
    for x, v in zip(X, y, strict=True):
        learn(bank, np.arange(N), x[:, None], v)
    for n in range(N):
        for i in range(M):
            assert_equals_batch(bank, n, i, X[:, n], y[:, n], precision[n, group[n, i]], center[n, i])


def test_distances_by_brute_force():
    run = Ragged(40)
    points = np.random.default_rng(8).normal(size=(4, 4))
    for i, d in enumerate(run.dims):
        found = run.bank.distances(np.ascontiguousarray(points[:, :d]))[:, i]
        for lane in range(4):
            gap = points[lane, :d] - run.bank.theta[lane, i, :d]
            assert found[lane] == pytest.approx(gap @ run.bank.precision_of(lane, i)[:d, :d] @ gap, rel=1e-12)


def test_distances_where_groups_alternate_and_some_parameters_are_known():
    rng = np.random.default_rng(9)
    A = rng.normal(size=(2, 2, 5, 5))
    precision = np.concatenate([A @ np.swapaxes(A, 2, 3) + 0.1 * np.eye(5), np.zeros((2, 1, 5, 5))], axis=1)
    precision[:, 2] = np.diag(np.full(5, np.inf))
    center = rng.normal(size=(2, 6, 5))
    group = np.array([[0, 2, 0, 1, 2, 2], [2, 2, 1, 1, 0, 1]])
    bank = shared_ridges(center, precision, group)
    for _ in range(7):
        learn(bank, np.array([0, 1]), rng.normal(size=(2, 1, 5)), rng.normal(size=2))
    points = np.stack([center[0, 4], center[1, 0]])
    found = bank.distances(points)
    for lane, i in np.ndindex(2, 6):
        gap = points[lane] - bank.theta[lane, i]
        if group[lane, i] == 2:
            assert found[lane, i] == (np.inf if gap.any() else 0.0)
        else:
            assert found[lane, i] == pytest.approx(gap @ bank.precision_of(lane, i) @ gap, rel=1e-11)


numbers = st.floats(-10.0, 10.0, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)


@given(data=st.lists(st.tuples(vectors, numbers), max_size=20), m=vectors, lam=st.floats(0.1, 100.0))
def test_penalised_loss_has_two_forms(data, m, lam):
    """(T1): J = sum (y - f)^2 / (1 + q) = sum y^2 + lam |m|^2 - theta' V theta, and it is the least penalised loss."""
    m = np.array(m)
    bank = ridges(np.array([3]), np.array([[lam]]), m[None, None])
    stepwise, online, logdet = 0.0, 0.0, 0.0
    for x, y in data:
        f, q = learn(bank, LANE, np.array(x)[None, None], np.array([y]))
        stepwise += (y - f[0, 0]) ** 2 / (1.0 + q[0, 0])
        online += (y - f[0, 0]) ** 2
        logdet += math.log1p(q[0, 0])
    X, y = np.array([x for x, _ in data]).reshape(-1, 3), np.array([v for _, v in data])
    theta, V = bank.theta[0, 0], bank.precision_of(0, 0)
    J = bank.penalised[0, 0]
    size = np.sum(y**2) + lam * m @ m
    near = {"rel": 1e-9, "abs": 1e-9 * size}
    assert stepwise == pytest.approx(J, rel=1e-12, abs=1e-300)
    assert size - theta @ V @ theta == pytest.approx(J, rel=1e-8, abs=1e-8 * size)
    assert np.sum((y - X @ theta) ** 2) + lam * np.sum((theta - m) ** 2) == pytest.approx(J, **near)
    assert bank.online[0, 0] == pytest.approx(online, rel=1e-12, abs=1e-300)
    assert bank.logdet[0, 0] == pytest.approx(np.linalg.slogdet(V / lam)[1], rel=1e-9, abs=1e-9)
    assert bank.online[0, 0] >= J
    assert logdet >= 0.0
