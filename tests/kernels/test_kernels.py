"""Kernels that several packages share; and all kernels as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banditselect.kernels.features import LIMIT, NO_BLOCK, Features, Lookup, played, row_of, rows_of_map, usable
from banditselect.kernels.ridge import gaussian_estimates, images, padded, upper_bounds
from banditselect.models.reward_range import count_outside


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.01 * LIMIT, -1.01 * LIMIT])
def test_usable_finds_one_bad_entry_anywhere(bad):
    for size in (1, 7, 12):
        for position in range(size):
            x = np.ones(size)
            x[position] = bad
            assert not usable(x)


def test_usable_accepts_the_rest():
    assert usable(np.array([0.0, -0.0, LIMIT, -LIMIT, 5e-324]))
    assert usable(np.zeros(0))


def test_what_lies_outside_a_range_is_counted():
    ids, count = np.array([3, 0, 1]), np.array([5, 0, 0, 0])
    assert count_outside(ids, np.array([1.0, 0.0, 1.0000001]), 0.0, 1.0, count)
    assert count_outside(ids, np.array([-1e-9, 0.5, 0.5]), 0.0, 1.0, count)
    assert not count_outside(ids, np.array([0.0, 1.0, 0.5]), 0.0, 1.0, count)
    np.testing.assert_array_equal(count, [5, 1, 0, 1])


@pytest.mark.parametrize("d", [1, 3, 4, 7, 50])
def test_roots_have_room_that_changes_nothing(d):
    root = np.random.default_rng(d).normal(size=(2, 3, d, d))
    wide = padded(root)
    assert wide.shape == (2, 3, d, -(-d // 4) * 4)
    assert wide.flags.c_contiguous
    assert wide.ctypes.data % 64 == 0
    np.testing.assert_array_equal(wide[..., :d], root)
    assert not wide[..., d:].any()
    np.testing.assert_array_equal(padded(wide), wide)


@pytest.mark.parametrize("K", [1, 2, 5])
@pytest.mark.parametrize("d", [1, 4, 6, 11])
@pytest.mark.parametrize("room", [False, True])
@pytest.mark.parametrize("blocks", [1, 3])
def test_images_are_products_with_the_root_of_the_block(K, d, room, blocks):
    """The model reads the first d features only; the cells of a model begin at its first."""
    rng = np.random.default_rng(K)
    root, x, w = rng.normal(size=(1, 2 + blocks, 12, 12)), rng.normal(size=(K, 12)), np.full((K + 1, 12), np.nan)
    root[..., d:] = root[..., d:, :] = 0.0
    block = rng.integers(0, blocks, size=(2, 3, K)) if blocks > 1 else NO_BLOCK
    images(padded(root)[0] if room else np.ascontiguousarray(root[0, :, :, :d]), 2, block, 1, 2, x, d, w)
    for a in range(K):
        c = 2 + (block[1, 2, a] if blocks > 1 else 0)
        np.testing.assert_allclose(w[a, :d], x[a, :d] @ root[0, c, :d, :d], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("least", [False, True])
def test_upper_bounds_by_their_definition(blocks, least):
    """The largest or the least of the models whose squared radius is not negative; model i reads map i modulo P."""
    rng = np.random.default_rng(0)
    lanes, ids, P, M, K, scale = 3, np.array([2, 0]), 2, 4, 5, 0.7
    dims, first = np.array([3, 2, 3, 2]), np.arange(5) * blocks
    theta, root = rng.normal(size=(lanes, M * blocks, 3)), rng.normal(size=(lanes, M * blocks, 3, 3))
    for i in (1, 3):
        root[:, first[i] : first[i + 1], 2:] = root[:, first[i] : first[i + 1], :, 2:] = 0.0
        theta[:, first[i] : first[i + 1], 2:] = 0.0
    x = rng.normal(size=(2, P, K, 3))
    x[:, 1, :, 2] = 0.0
    block = rng.integers(0, blocks, size=(2, P, K)) if blocks > 1 else NO_BLOCK
    squared = np.array([[1.0, 2.0, -1.0, 0.5], [-1.0] * 4, [0.0, -0.1, 3.0, np.nan]])
    ellipsoids = theta, padded(root), dims, first, squared
    out = upper_bounds(ids, x, block, ellipsoids, scale, least)
    for r, n in enumerate(ids):
        for a in range(K):
            bounds = []
            for i in np.flatnonzero(squared[n] >= 0.0):
                c, z = first[i] + (block[r, i % P, a] if blocks > 1 else 0), x[r, i % P, a]
                bounds.append(z @ theta[n, c] + scale * np.sqrt(squared[n, i]) * np.linalg.norm(z @ root[n, c]))
            assert out[r, a] == pytest.approx(min(bounds) if least else max(bounds), rel=1e-12)
    none = upper_bounds(np.array([1, 1]), x, block, ellipsoids, scale, least)
    np.testing.assert_array_equal(none, np.inf if least else -np.inf)


def test_gaussian_estimates_have_the_covariance_of_the_ridge():
    """From the unit vectors as normals come the columns of the root, scaled."""
    rng = np.random.default_rng(0)
    N, d = 3, 4
    root, theta, spread = rng.normal(size=(N, 1, d, d)), rng.normal(size=(N, 1, d)), np.array([0.5, 1.0, 2.0])
    for lane in range(N):
        out = gaussian_estimates(np.full(d, lane), root, theta, np.eye(d), spread)
        np.testing.assert_allclose(out[:, 0] - theta[lane, 0], spread[lane] * root[lane, 0].T, rtol=1e-12, atol=1e-14)
    at_zero = gaussian_estimates(np.array([1]), root, theta, np.zeros((1, d)), spread)
    np.testing.assert_array_equal(at_zero[0], theta[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_lookup_is_the_array_it_stands_for(dtype):
    rng = np.random.default_rng(2)
    table, items = rng.normal(size=(2, 5, 4, 3)).astype(dtype), rng.integers(0, 5, (3, 2))
    where = np.array([1, 0, 1])
    x = Lookup(table, where, items, 1, (3, 2, 2, 2))
    array = x.array()
    assert array.shape == x.shape
    assert array.flags.carray
    for r in range(3):
        for p in range(2):
            np.testing.assert_array_equal(rows_of_map(x, r, p), array[r, p])
            np.testing.assert_array_equal(rows_of_map(array, r, p), array[r, p])
            for a in range(2):
                np.testing.assert_array_equal(array[r, p, a], table[where[r], items[r, a], 1 + p, :2])
                np.testing.assert_array_equal(row_of(x, r, p, a)[:2], array[r, p, a])
                np.testing.assert_array_equal(row_of(array, r, p, a), array[r, p, a])
    np.testing.assert_array_equal(x.rows(np.array([2, 0])).array(), array[[2, 0]])
    np.testing.assert_array_equal(x.on_map(1, 1).array(), array[:, 1:, :, :1])
    one = x.on_maps(np.array([1, 0, 1]), 2)
    np.testing.assert_array_equal(one[:, 0], array[[0, 1, 2], [1, 0, 1]])


@pytest.mark.parametrize("blocked", [False, True])
def test_features_by_rows_by_maps_and_behind_a_constant(blocked):
    rng = np.random.default_rng(3)
    table, items = rng.normal(size=(1, 6, 2, 3)), rng.integers(0, 6, (4, 5))
    looked_up = Lookup(table, np.zeros(4, dtype=np.int64), items, 0, (4, 2, 5, 3))
    block = rng.integers(0, 3, size=(4, 2, 5)) if blocked else NO_BLOCK
    values, rows = looked_up.array(), np.array([3, 1])
    for x in (Features(values, block), Features(looked_up, block)):
        behind = x.with_constant()
        np.testing.assert_array_equal(behind.values[..., 0], 1.0)
        np.testing.assert_array_equal(behind.values[..., 1:], values)
        assert behind.block is block
        some = x.rows(rows)
        np.testing.assert_array_equal(some.rows(np.arange(2)).with_constant().values[..., 1:], values[rows])
        assert not blocked or (some.block == block[rows]).all()
        np.testing.assert_array_equal(x.map(1, 2).with_constant().values[..., 1:], values[:, 1:, :, :2])
        each = x.map(np.array([0, 1, 1, 0]), 3).values
        np.testing.assert_array_equal(each[:, 0], values[np.arange(4), [0, 1, 1, 0]])
    one = played(values[:, :, 2].copy(), block[:, :, 2].copy() if blocked else None)
    np.testing.assert_array_equal(one.as_actions().values[:, :, 0], one.values)
    assert one.as_actions().block.shape == ((4, 2, 1) if blocked else (0, 0, 0))
    assert one.with_constant().values.shape == (4, 2, 4)
    np.testing.assert_array_equal(one.map(1, 2).values, values[:, 1:, 2, :2])


ALONE = ("hashing", "numbers", "mixture")  # tests of a kernel that serves one package


PLAIN = """
import functools, sys
import numba, pytest

compile, defined, called = numba.njit, set(), set()

def njit(**options):
    def decorate(function):
        name = f"{function.__module__}.{function.__name__}"
        defined.add(name)
        kernel = compile(**options)(function)
        assert kernel is function, "compiled"
        @functools.wraps(function)
        def run(*arguments):
            called.add(name)
            return kernel(*arguments)
        return run
    return decorate

numba.njit = njit
status = pytest.main(sys.argv[1:])
never = ", ".join(sorted(defined - called))
sys.exit(status or (f"no test ran: {never}" if never or not defined else 0))
"""


@pytest.mark.slow
def test_every_kernel_passes_as_plain_python():
    here = Path(__file__).parents[1]
    rooms = (
        *("kernels/test_kernels.py", "kernels/test_weights.py", "models", "plays", "masters", "rivals"),
        *("runtime/test_commit.py", "runtime/test_drawing.py", "runtime/test_ledger.py", "problems/test_instances.py"),
        *(f"{path.relative_to(here)}" for room in ALONE for path in here.rglob(f"test_{room}.py")),
    )
    chosen = "not plain_python and not at_length and not hard_features and not comes_back"
    flags = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", chosen]
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, *flags, *(str(here / room) for room in rooms)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=here.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
