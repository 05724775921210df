"""Features of items in a context, by hand and by the Kronecker product."""

import tracemalloc

import numpy as np
import pytest

from banditselect import FSSquareCB, SquareCB, cross_features


def test_products_by_hand():
    np.testing.assert_array_equal(cross_features([1, 10], [[2, 3], [5, 7]]), [[2, 20, 3, 30], [5, 50, 7, 70]])


def test_every_form_is_the_kronecker_product():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(4, 3)), rng.normal(size=(2, 5, 6))
    maps = cross_features(x[0], z)
    lanes = cross_features(x, z)
    assert maps.shape == (2, 5, 18)
    assert lanes.shape == (4, 2, 5, 18)
    for i in range(2):
        for a in range(5):
            np.testing.assert_array_equal(maps[i, a], np.kron(z[i, a], x[0]))
            for n in range(4):
                np.testing.assert_array_equal(lanes[n, i, a], np.kron(z[i, a], x[n]))
    np.testing.assert_array_equal(cross_features(x, z[0]), lanes[:, 0])
    np.testing.assert_array_equal(cross_features(x[0], list(z)), maps)
    wide = cross_features(x, [z[0], z[1, :, :2]])
    np.testing.assert_array_equal(wide[0], lanes[:, 0])
    np.testing.assert_array_equal(wide[1], lanes[:, 1, :, :6])


def test_policies_take_them():
    rng = np.random.default_rng(1)
    assert SquareCB(dim=6, lanes=4).act(cross_features(rng.normal(size=(4, 3)), np.ones((5, 2)))).action.shape == (4,)
    maps = cross_features(rng.normal(size=3), [np.ones((5, 2)), np.ones((5, 1))])
    assert FSSquareCB(n_models=2, dim=[6, 3]).act(maps).features.shape == (2, 6)


def test_nothing_is_held_but_what_is_returned():
    context, items = np.ones((50, 20)), np.ones((2, 100, 30), dtype=np.float32)
    tracemalloc.start()
    products = cross_features(context, items)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert products.nbytes == 8 * 50 * 20 * 2 * 100 * 30
    assert peak < 1.02 * products.nbytes


@pytest.mark.parametrize(
    ("context", "items", "name"),
    [
        (1.0, np.ones((2, 2)), "context"),
        (np.ones((1, 2, 3)), np.ones((2, 2)), "context"),
        ([], np.ones((2, 2)), "context"),
        (["a"], np.ones((2, 2)), "context"),
        ([1.0], [1.0, 2.0], "items"),
        ([1.0], np.ones((2, 0)), "items"),
        ([1.0], [], "items"),
        ([1.0], [np.ones((2, 2)), np.ones((3, 2))], "items"),
        ([1.0], [[[1.0]], [[1.0], [2.0, 3.0]]], "items"),
    ],
)
def test_what_cannot_be_crossed_is_refused(context, items, name):
    with pytest.raises(ValueError, match=f"(?s)cross_features: {name}: got .*, expected numbers of shape"):
        cross_features(context, items)
