"""Hashed interactions against integers of Python, and hashes against their definition."""

import hashlib
from decimal import Decimal

import numpy as np
import pytest

from banditselect.maps.hashing import bucket_and_sign, category_key, hash_of, hashed_products

MASK = 2**64 - 1


def mixed(left, right, seed):
    word = (((right ^ seed) * 0x9E3779B97F4A7C15) + left + 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


@pytest.mark.parametrize("own", [False, True])
def test_every_product_is_at_the_place_of_its_hash(own):
    rng = np.random.default_rng(0)
    context, items = (rng.integers(0, 2**64, shape, dtype=np.uint64) for shape in (3, (4, 2)))
    x, z = rng.normal(size=3), rng.normal(size=(4, 2))
    x[1] = z[2, 0] = 0.0
    out, expected, width = np.zeros((4, 5)), np.zeros((4, 5)), 5
    with np.errstate(over="ignore"):
        hashed_products(context, x, items, z, own, np.uint64(7), out)
    left = [(int(h), v) for h, v in zip(context, x, strict=True)] + [(0, 1.0)] * own
    for a in range(4):
        right = [(int(h), v) for h, v in zip(items[a], z[a], strict=True)] + [(None, 1.0)] * own
        for h, v in right:
            for g, u in left:
                if h is None and (g, u) == (0, 1.0):
                    continue
                word = mixed(g, 0 if h is None else h, 7)
                expected[a, ((word >> 32) * width) >> 32] += (-1.0 if word & 1 else 1.0) * u * v
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-15)


def test_hashes_are_those_of_blake2b_whatever_the_process():
    told = b"".join(len(word).to_bytes(8, "little") + word for word in (b"0", b"country", b"FR"))
    assert hash_of("0", "country", "FR") == int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")
    assert hash_of("ab", "c") != hash_of("a", "bc")
    assert hash_of("\ud800") != hash_of("\ud801")  # half of a character that is written in two
    assert hash_of("0", "country", "FR") == 7613856991438495495


def test_places_fill_the_width_evenly():
    """Each of 16 places gets 250 of 4000 hashes, +- 77, 5 standard deviations: false alarm below 1e-5 in all."""
    place, sign = bucket_and_sign(np.array([hash_of(str(k)) for k in range(4000)], dtype=np.uint64), 16)
    assert np.abs(np.bincount(place, minlength=16) - 250).max() < 77
    assert abs(sign.sum()) < 5 * np.sqrt(4000)
    assert set(sign) == {-1.0, 1.0}


def test_a_category_is_known_by_how_it_is_written():
    for same in ([3, 3.0, "3", np.int64(3), np.float32(3.0)], [True, 1, "1", np.bool_(True)], [0.5, "0.5"]):
        assert len({category_key(value) for value in same}) == 1
    assert [category_key(value) for value in (None, np.nan, [1], (1,), {}, {1}, np.ones(2))] == [None] * 7
    assert category_key(2.0**70) == category_key(2**70) == str(2**70) != category_key(2**70 + 1)
    assert category_key(float("inf")) == "inf"
    assert category_key(Decimal("1.5")) == "1.5"
    assert category_key(10**5000) is None
