"""Random streams: the generator against published answers, what is drawn from it, and who gets which stream."""

import math

import numpy as np
import pytest
from scipy import stats

from banditselect.runtime.drawing import Streams, key, philox

ALARM = 1e-6  # false-alarm rate of each statistical assertion below; the seeds are fixed besides


def uniform(key, number, draw):
    """Return the number in [0, 1) of a draw: the high bits of two words."""
    high, low, _, _ = philox(key, number, draw)
    return ((high >> 5) * 2**26 + (low >> 6)) / 2**53


def signed(low, high):
    word = low | high << 32
    return word - (1 << 64) if word >> 63 else word


def words(counter, keys):
    c, k = [int(w, 16) for w in counter.split()], [int(w, 16) for w in keys.split()]
    return " ".join(f"{w & 0xFFFFFFFF:08x}" for w in philox(signed(*k), signed(*c[:2]), signed(*c[2:])))


@pytest.mark.parametrize(
    ("counter", "keys", "answer"),
    [
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_known_answers_of_random123(counter, keys, answer):
    assert words(counter, keys) == answer


def test_uniforms_are_uniform():
    u = np.array([uniform(key((3,)), number, 0) for number in range(10_000)])
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert stats.kstest(u, "uniform").pvalue > ALARM
    z = np.sqrt(u.size) * np.array(
        [(u.mean() - 0.5) * np.sqrt(12.0), (np.mean((u - 0.5) ** 2) - 1 / 12) * np.sqrt(180)]
    )
    assert np.abs(z).max() < stats.norm.isf(ALARM / 4.0)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) * math.sqrt(u.size) < stats.norm.isf(ALARM / 2.0)


def test_normals_are_standard_and_independent():
    lanes, dim = 2000, 7
    z = Streams(0, range(lanes)).normals(np.arange(lanes), np.zeros(lanes, dtype=np.int64), dim)
    n = z.size
    assert stats.kstest(z.ravel(), "norm").pvalue > ALARM
    moments = [np.sqrt(n) * z.mean(), np.sqrt(n / 2.0) * (np.mean(z**2) - 1.0), np.sqrt(n / 96.0) * (np.mean(z**4) - 3)]
    assert np.abs(moments).max() < stats.norm.isf(ALARM / 6.0)
    # sum of the squared sample correlations of lanes * the pairs of columns: chi-square
    c = np.corrcoef(z.T)[np.triu_indices(dim, 1)]
    assert lanes * np.sum(c**2) < stats.chi2.isf(ALARM, c.size)


def test_normals_by_hand():
    streams, number = Streams(11, None), 5
    z = streams.normals(np.array([0]), np.array([number]), 3)[0]
    expected = []
    for draw in (1, 2):
        a, b, c, d = philox(int(streams.keys[0]), number, draw)
        u, v = ((a >> 5) * 2**26 + (b >> 6) + 0.5) / 2**53, ((c >> 5) * 2**26 + (d >> 6)) / 2**53
        w = math.sqrt(-2.0 * math.log(u)) * np.exp(2j * math.pi * v)
        expected += [w.real, w.imag]
    np.testing.assert_allclose(z, expected[:3], rtol=1e-12)


def test_actions_are_drawn_by_inversion():
    lanes = 1000
    streams, numbers = Streams(4, range(lanes)), np.arange(lanes) * 3
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=lanes)
    action, probability = streams.draw(np.arange(lanes), numbers, p)
    u = [uniform(int(k), int(number), 0) for k, number in zip(streams.keys, numbers, strict=True)]
    expected = [np.searchsorted(np.cumsum(row), v, side="right") for row, v in zip(p, u, strict=True)]
    np.testing.assert_array_equal(action, expected)
    np.testing.assert_array_equal(probability, p[np.arange(lanes), action])


def test_a_lane_draws_the_same_whatever_stands_beside_it():
    streams, p = Streams(9, range(6)), np.full((6, 4), 0.25)
    numbers = np.array([0, 7, 7, 2, 1, 30])
    everyone = streams.draw(np.arange(6), numbers, p)[0]
    normals = streams.normals(np.arange(6), numbers, 4)
    some = np.array([5, 1, 2])
    np.testing.assert_array_equal(streams.draw(some, numbers, p[:3])[0], everyone[some])
    np.testing.assert_array_equal(streams.normals(some, numbers, 4), normals[some])
    np.testing.assert_array_equal(streams.normals(some, numbers, 2), normals[some, :2])


@pytest.mark.parametrize("seed", [0, (5,), np.int64(5), [3, np.uint8(1)]])
def test_lane_j_has_the_stream_of_the_longer_seed(seed):
    many = Streams(seed, range(4))
    path = tuple(seed) if isinstance(seed, list | tuple) else (seed,)
    for lane in range(4):
        alone = Streams((*path, lane), None)
        assert many.keys[lane] == alone.keys[0]
        np.testing.assert_array_equal(
            many.normals(np.array([lane]), np.full(4, 6), 3), alone.normals(np.array([0]), np.array([6]), 3)
        )


def test_appended_lanes_continue_the_sequence():
    streams = Streams(7, range(3))
    streams.extend(Streams(7, range(3, 5)))
    np.testing.assert_array_equal(streams.keys, Streams(7, range(5)).keys)


def test_every_path_and_channel_has_a_key_of_its_own():
    paths = [(0,), (0, 0), (0, 0, 0), (1,), (12, 3), (1, 23), (123,), (2**64,), (2**32, 0)]
    channels = [(), (0,), ("0",), (0, 0), ("base", 0), ("base", 1), ("bas", "e")]
    keys = {key(path, channel) for path in paths for channel in channels}
    assert len(keys) == len(paths) * len(channels)
    assert all(-(2**63) <= k < 2**63 for k in keys)


def test_different_acts_lanes_channels_and_draws_differ():
    lanes = np.arange(3)
    base = Streams(0, range(3)).normals(lanes, np.zeros(3, dtype=np.int64), 4)
    later = Streams(0, range(3)).normals(lanes, np.full(3, 2**32), 4)
    other = Streams(0, range(3), ("other",)).normals(lanes, np.zeros(3, dtype=np.int64), 4)
    assert len(np.unique(np.concatenate([base, later, other]))) == 36


def test_keys_are_the_same_everywhere():
    """A change of these numbers changes every seeded result ever reported."""
    assert key((0,)) == -2896014256189271278
    assert key((0, 1), ("base", 2)) == 2495127907759631218
