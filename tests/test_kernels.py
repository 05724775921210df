"""Kernels that no room wraps; and all of them as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banditselect.kernels.arrays import LIMIT, count_outside, usable
from banditselect.kernels.features import AS_GIVEN, Lookup, entry, prepared, rows_of, sizes
from banditselect.kernels.instances import gaussian_items, look_up, measure, normals, random_words, renumber, repeats
from banditselect.kernels.ridge import gaussian_estimates, images, roomy
from kernels_alone import copy_kernels


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


@pytest.mark.parametrize("d", [1, 3, 4, 7, 50])
def test_roots_have_room_that_changes_nothing(d):
    root = np.random.default_rng(d).normal(size=(2, 3, d, d))
    wide = roomy(root)
    assert wide.shape == (2, 3, d, -(-d // 4) * 4)
    assert wide.flags.c_contiguous
    assert wide.ctypes.data % 64 == 0
    np.testing.assert_array_equal(wide[..., :d], root)
    assert not wide[..., d:].any()
    np.testing.assert_array_equal(roomy(wide), wide)


@pytest.mark.parametrize("K", [1, 2, 5])
@pytest.mark.parametrize("d", [1, 4, 6, 11])
@pytest.mark.parametrize("room", [False, True])
def test_images_are_products_with_the_root(K, d, room):
    """Of the first d features, whatever lies behind them."""
    rng = np.random.default_rng(K)
    root, x, w = rng.normal(size=(1, 1, 12, 12)), rng.normal(size=(K, 12)), np.full((K + 1, 12), np.nan)
    root[..., d:] = root[..., d:, :] = 0.0
    images(roomy(root)[0, 0] if room else np.ascontiguousarray(root[0, 0, :, :d]), x, d, w)
    np.testing.assert_allclose(w[:K, :d], x[:, :d] @ root[0, 0, :d, :d], rtol=1e-12, atol=1e-14)


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
        ids, out = np.full(d, lane), np.empty((d, 1, d))
        gaussian_estimates(ids, root, theta, np.eye(d), spread, out)
        np.testing.assert_allclose(out[:, 0] - theta[lane, 0], spread[lane] * root[lane, 0].T, rtol=1e-12, atol=1e-14)
    at_zero = np.empty((1, 1, d))
    gaussian_estimates(np.array([1]), root, theta, np.zeros((1, d)), spread, at_zero)
    np.testing.assert_array_equal(at_zero[0], theta[1])


def test_random_words_are_those_of_splitmix():
    """The five words after 1234567 are those of the reference implementation; as integers, then in two pieces."""
    mask, expected = 2**64 - 1, []
    for k in range(1, 21):
        word = (1234567 + k * 0x9E3779B97F4A7C15) & mask
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(word ^ (word >> 31))
    assert expected[:3] == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert expected[3:5] == [4593380528125082431, 16408922859458223821]
    state, out = np.array([1234567], dtype=np.uint64), np.empty(20, dtype=np.uint64)
    with np.errstate(over="ignore"):
        random_words(state, out[:7])
        random_words(state, out[7:])
    assert out.tolist() == expected
    assert state.tolist() == [(1234567 + 20 * 0x9E3779B97F4A7C15) & mask]


def test_words_become_normals_up_to_the_rounding_of_single_precision():
    """Words of all sizes, the smallest and the largest among them: each normal is right up to 5e-7 of itself."""
    rng, n = np.random.default_rng(0), 3000
    words = (2.0 ** rng.uniform(0.0, 32.0, 2 * n)).astype(np.uint32)
    words[: n // 2], words[n : n + n // 2] = ~words[: n // 2], rng.integers(0, 2**32, n // 2, dtype=np.uint32)
    words[n - 200 : n - 100], words[n - 100 : n] = np.arange(100), 2**32 - 1 - np.arange(100)
    near = np.arange(25)
    words[2 * n - 200 :] = np.concatenate([q + s * near for q in (0, 2**30, 2**31, 3 * 2**30) for s in (-1, 1)]) % 2**32
    out = np.empty(2 * n, dtype=np.float32)
    with np.errstate(over="ignore"):
        normals(words, 0.5, out)
    u, turn = (words[:n].astype(float) + 0.5) / 2.0**32, (words[n:] | np.uint32(1)).astype(float) / 2.0**32
    radius = 0.5 * np.sqrt(-2.0 * np.log(u))
    expected = radius * np.array([-np.cos(2.0 * np.pi * turn), np.sin(2.0 * np.pi * turn)])
    np.testing.assert_allclose(out.reshape(2, n), expected, rtol=5e-7, atol=1e-15)
    assert np.abs(out).min() > 0.0
    assert np.linalg.norm(out.reshape(2, n), axis=0).max() == pytest.approx(0.5 * np.sqrt(66.0 * np.log(2.0)), rel=1e-6)


def test_a_pair_of_normals_by_hand():
    """u = (2^31 + 1/2) / 2^32 is 1/2 and a bit; an eighth of a turn and a bit; sqrt(2 log 2) = 1.1774."""
    out = np.empty(2, dtype=np.float32)
    with np.errstate(over="ignore"):
        normals(np.array([2**31, 2**29], dtype=np.uint32), 2.0, out)
    np.testing.assert_allclose(out, [-1.6651092, 1.6651092], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_measured(dtype):
    rng = np.random.default_rng(1)
    x, theta, values = rng.normal(size=(7, 2, 3)).astype(dtype), rng.normal(size=3), np.empty(7)
    longest = measure(x, theta, values)
    np.testing.assert_allclose(values, x[:, 0].astype(float) @ theta, rtol=1e-12)
    assert longest == pytest.approx(np.linalg.norm(x.astype(float), axis=2).max(), rel=1e-12)


def test_items_are_numbered_as_they_first_appear_and_looked_up():
    items = np.array([[7, 2], [2, 5], [0, 7]])
    numbers, values = np.empty_like(items), np.empty(items.shape)
    assert renumber(items, np.full(9, -1), numbers) == 4
    assert numbers.tolist() == [[0, 1], [1, 2], [3, 0]]
    look_up(np.array([0.1, 0.2, 0.3, 0.4]), numbers, values)
    assert values.tolist() == [[0.1, 0.2], [0.2, 0.3], [0.4, 0.1]]


@pytest.mark.parametrize(("items", "maps", "few"), [(1500, 2, 341), (5, 701, 1), (700, 1, 682)])
def test_items_are_drawn_around_their_centre_and_measured(items, maps, few):
    """A few items of 3 maps at a time; the last few are less, and an odd number of normals leaves one unused."""
    state = np.array([3], dtype=np.uint64)
    center, theta = np.array([1.0, -1.0, 0.5]), np.array([0.2, 0.3, -0.4])
    x, values = np.empty((items, maps, 3), dtype=np.float32), np.empty(items)
    words = np.empty((few * maps * 3 + 1) // 2, dtype=np.uint64)
    expected, z = [], np.empty(2 * words.size, dtype=np.float32)
    with np.errstate(over="ignore"):
        after = state.copy()
        for _ in range(-(-items // few)):
            random_words(after, words)
            normals(words.view(np.uint32), 0.5, z)
            expected.append(z[: few * maps * 3].reshape(few, maps, 3).copy())
        longest = gaussian_items(state, x, 0.5, center, theta, values)
    np.testing.assert_allclose(x, np.concatenate(expected)[:items] + center, rtol=1e-5, atol=1e-6)
    assert state == after
    told = np.empty(items)
    assert longest == pytest.approx(measure(x, theta, told), rel=1e-12)
    np.testing.assert_allclose(values, told, rtol=1e-12)


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


def test_features_are_prepared_in_other_units_and_behind_a_constant():
    """Of lane 1 the size of map 0 is 4, that of map 1 is not known: (1 + 4 + 9 + 16) / 2 = 15."""
    table = np.array([[[[2.0, 0.0], [1.0, 2.0]], [[4.0, 6.0], [3.0, 4.0]]]])
    x = Lookup(table, np.zeros(1, dtype=np.int64), np.array([[0, 1]]), 0, 2, 2)
    ids, size = np.array([1]), np.array([[9.0, 9.0], [4.0, 0.0]])
    one, two = [[1.0, 0.0], [2.0, 3.0]], np.array([[1.0, 2.0], [3.0, 4.0]]) / np.sqrt(15.0)
    for features in (x, x.array()):
        np.testing.assert_allclose(prepared(ids, features, size, False), [[one, two]], rtol=1e-15)
        np.testing.assert_allclose(prepared(ids, features, size)[..., 1:], [[one, two]], rtol=1e-15)
        behind = prepared(ids, features, AS_GIVEN)
        np.testing.assert_array_equal(behind[..., 1:], x.array())
        np.testing.assert_array_equal(behind[..., 0], 1.0)
        np.testing.assert_array_equal(prepared(ids, x.array()[:, :, 1]), behind[:, :, 1])
    zeros = np.zeros((1, 1, 2, 3))
    np.testing.assert_array_equal(prepared(np.array([0]), zeros, np.zeros((1, 1)), False), zeros)


CALLING = """
import numpy as np
from house.kernels.acting import DRAWN
from house.kernels.rounds import take

played = np.empty((1, 1, 1))
take(np.arange(3.0).reshape(1, 1, 3, 1), np.zeros(1, dtype=DRAWN), played)
print(int(played.item()), sum(take.stats.cache_hits.values()))
"""


def test_what_is_kept_on_disk_notices_a_change_in_another_file(tmp_path):
    """``rounds`` calls ``acting``: compiled, found on disk, compiled anew after a change in the latter."""
    house = copy_kernels(tmp_path)

    def run():
        done = subprocess.run([sys.executable, "-c", CALLING], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run() == ["0", "0"]
    assert run() == ["0", "1"]
    acting = house / "kernels" / "acting.py"
    acting.write_text(acting.read_text().replace('action = drawn[r]["action"]\n', 'action = drawn[r]["action"] + 2\n'))
    assert run() == ["2", "0"]


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
    rooms = (
        "kernels",
        "streams",
        "experts",
        "aggregation",
        "confidence",
        "exploration",
        "ledger",
        "rounds",
        "balancing",
        "information",
        "mixtures",
        "hashing",
        "columns",
        "forgetting",
        "deconvolution",
        "design",
        "lasso",
        "policies_leader",
        "policies_alexp",
        "adversarial",
    )
    here = Path(__file__).parent
    files = [str(here / f"test_{room}.py") for room in rooms]
    chosen = "not plain_python and not on_disk and not at_length and not hard_features and not comes_back"
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
