"""Kernels that no room wraps; and all of them as plain Python."""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banditselect import kernels
from banditselect.kernels.arrays import LIMIT, count_outside, usable
from banditselect.kernels.features import Lookup, entry, rows_of, sizes
from banditselect.kernels.instances import gaussian_items, normals, place, random_words, renumber, repeats
from banditselect.kernels.ridge import gaussian_estimates

MODULES = [importlib.import_module(f"{kernels.__name__}.{m.name}") for m in pkgutil.iter_modules(kernels.__path__)]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.01 * LIMIT, -1.01 * LIMIT])
def test_usable_finds_one_bad_entry_anywhere(bad):
    for shape in [(1,), (7,), (2, 3), (2, 2, 3)]:
        for position in range(int(np.prod(shape))):
            x = np.ones(shape)
            x.reshape(-1)[position] = bad
            assert not usable(x)


def test_usable_accepts_the_rest():
    assert usable(np.array([0.0, -0.0, LIMIT, -LIMIT, 5e-324]))
    assert usable(np.zeros((0, 3)))


def test_what_lies_outside_a_range_is_counted():
    ids, count = np.array([3, 0, 1]), np.array([5, 0, 0, 0])
    assert count_outside(ids, np.array([1.0, 0.0, 1.0000001]), 0.0, 1.0, count)
    assert count_outside(ids, np.array([-1e-9, 0.5, 0.5]), 0.0, 1.0, count)
    assert not count_outside(ids, np.array([0.0, 1.0, 0.5]), 0.0, 1.0, count)
    np.testing.assert_array_equal(count, [5, 1, 0, 1])


def test_gaussian_estimates_have_the_covariance_of_the_ridge():
    """From the unit vectors as normals come the columns of the root, scaled."""
    rng = np.random.default_rng(0)
    N, d = 3, 4
    root, theta, spread = rng.normal(size=(N, 1, d, d)), rng.normal(size=(N, 1, d)), np.array([0.5, 1.0, 2.0])
    for lane in range(N):
        ids, out = np.full(d, lane), np.empty((d, d))
        gaussian_estimates(ids, root, theta, np.eye(d), spread, out)
        np.testing.assert_allclose(out - theta[lane, 0], spread[lane] * root[lane, 0].T, rtol=1e-12, atol=1e-14)
    at_zero = np.empty((1, d))
    gaussian_estimates(np.array([1]), root, theta, np.zeros((1, d)), spread, at_zero)
    np.testing.assert_array_equal(at_zero[0], theta[1, 0])


def test_random_words_are_those_of_numpy_s_generator():
    numpy_s = np.random.SFC64(5)
    state = numpy_s.state["state"]["state"].copy()
    out = np.empty(20, dtype=np.uint64)
    with np.errstate(over="ignore"):
        random_words(state, out[:7])
        random_words(state, out[7:])
    np.testing.assert_array_equal(out, numpy_s.random_raw(20))
    np.testing.assert_array_equal(state, numpy_s.state["state"]["state"])


def test_words_become_normals_and_none_is_lost_between_two_calls():
    """In pieces as at once; every eighth word lies at the end of the base layer, so that rare branches run often."""
    words = np.random.default_rng(0).integers(0, 2**32, 4000, dtype=np.uint32)
    words[::8] = (words[::8] | np.uint32(0xFF000000)) & np.uint32(0xFFFFFF00)
    whole = np.zeros(words.size, dtype=np.float32)
    made, used = normals(words, whole)
    assert words.size // 3 < made < used <= words.size
    assert used > words.size - 20
    assert (np.abs(whole[:made]) > 3.6541528853610088).sum() > 50
    assert not whole[made:].any()
    pieces, left = [], words
    for end in range(50, words.size + 50, 50):
        out = np.zeros(100, dtype=np.float32)
        n, taken = normals(left[: end - (words.size - left.size)], out)
        pieces.append(out[:n])
        left = left[taken:]
    np.testing.assert_array_equal(np.concatenate(pieces), whole[:made])
    few = np.empty(3, dtype=np.float32)
    assert normals(words, few)[0] == 3
    np.testing.assert_array_equal(few, whole[:3])


def test_words_in_the_middle_of_a_layer_by_hand():
    """The word (2^23 + 2^22) 2^8 + i is the number 1/2 + 2^-24 times the edge of layer i."""
    out = np.empty(2, dtype=np.float32)
    words = np.array([((2**23 + 2**22) << 8) | 1, ((2**23 - 1) << 8) | 1], dtype=np.uint32)
    assert normals(words, out) == (2, 2)
    np.testing.assert_allclose(out, [3.6541528853610088 * (0.5 + 2.0**-24), -3.6541528853610088 * 2.0**-24], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_placed_and_measured(dtype):
    rng = np.random.default_rng(1)
    before, center, theta = rng.normal(size=(7, 2, 3)).astype(dtype), rng.normal(size=3), rng.normal(size=3)
    x, values = before.copy(), np.empty(7)
    longest = place(x, 0.5, center, theta, values)
    np.testing.assert_allclose(x, center + 0.5 * before, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values, x[:, 0].astype(float) @ theta, rtol=1e-12)
    assert longest == pytest.approx(np.linalg.norm(x.astype(float), axis=2).max(), rel=1e-12)


def test_items_are_numbered_as_they_first_appear():
    items = np.array([[7, 2], [2, 5], [0, 7]])
    assert renumber(items, np.full(9, -1)) == 4
    assert items.tolist() == [[0, 1], [1, 2], [3, 0]]


def test_items_are_drawn_and_placed_whatever_fits_into_a_piece():
    """As all normals at once, then placed; more than one piece of random words, and an end inside an item's row."""
    state = np.array([3, 1, 4, 1], dtype=np.uint64)
    center, theta = np.array([1.0, -1.0, 0.5]), np.array([0.2, 0.3, -0.4])
    x, values = np.empty((1500, 2, 3), dtype=np.float32), np.empty(1500)
    words = np.empty(6000, dtype=np.uint64)
    with np.errstate(over="ignore"):
        random_words(state.copy(), words)
        longest = gaussian_items(state, x, 0.5, center, theta, values)
    expected, told = np.empty_like(x), np.empty(1500)
    assert normals(words.view(np.uint32), expected.reshape(-1))[0] == x.size
    assert longest == place(expected, 0.5, center, theta, told)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(values, told)


def test_repeated_items_are_found():
    out = np.empty(4, dtype=bool)
    repeats(np.array([[1, 2, 3], [1, 2, 1], [4, 4, 4], [0, 3, 3]]), out)
    assert out.tolist() == [False, True, True, True]


def test_a_lookup_is_the_array_it_stands_for():
    rng = np.random.default_rng(2)
    table, items = rng.normal(size=(2, 5, 4, 3)).astype(np.float32), rng.integers(0, 5, (3, 2))
    where = np.array([1, 0, 1])
    x = Lookup(table, where, items, 1, 2, 2)
    array = x.array()
    assert x.shape == array.shape == (3, 2, 2, 2)
    for r in range(3):
        for p in range(2):
            for a in range(2):
                np.testing.assert_array_equal(array[r, p, a], table[where[r], items[r, a], 1 + p, :2])
                for j in range(2):
                    assert entry(x, r, p, a, j) == entry(array, r, p, a, j) == array[r, p, a, j]
    assert sizes(x) == sizes(array) == (2, 2, 2)
    np.testing.assert_array_equal(rows_of(x, np.array([2, 0])).array(), rows_of(array, np.array([2, 0])))
    np.testing.assert_array_equal(x.on_map(1, 1).array(), array[:, 1:, :, :1])


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_kernels_call_only_kernels_of_their_own_file(module):
    """The compiler's cache on disk would not notice a change in another file."""
    foreign = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "").startswith("banditselect")
        and value.__module__ != module.__name__
        and name not in ("kernel", "entry", "sizes")  # the two that only index
    ]
    assert foreign == []


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


def test_every_kernel_passes_as_plain_python():
    rooms = ("kernels", "streams", "experts", "aggregation", "confidence", "exploration", "ledger")
    here = Path(__file__).parent
    files = [str(here / f"test_{room}.py") for room in rooms]
    chosen = "not plain_python and not at_length and not hard_features"
    flags = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", chosen]
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, *flags, *files],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=here.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
