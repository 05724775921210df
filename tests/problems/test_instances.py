"""The kernels that draw instances of problems, against the same steps in NumPy."""

import numpy as np
import pytest

from banditselect.problems.instances import gaussian_items, measure, normals, random_words
from banditselect.problems.randomness import renumbered


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


def test_items_are_numbered_as_they_first_appear():
    numbers, count = renumbered(np.array([[7, 2], [2, 5], [0, 7]]))
    assert (numbers.tolist(), count) == ([[0, 1], [1, 2], [3, 0]], 4)


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
