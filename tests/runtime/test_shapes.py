"""Features in every shape that policies take: read into one form, or refused with the shape expected."""

import numpy as np
import pytest

from banditselect.runtime.inputs import rewards
from banditselect.runtime.reading import Reader
from banditselect.runtime.shapes import AnyShape, ExactShape, SomeMaps, common_shape, join_maps
from refusals import HUGE, INF, NAN, refused

ONE_MAP = ExactShape((2,), many=False)
MAPS = ExactShape((2, 2, 2), many=True)
RAGGED = ExactShape((2, 3), many=True)


def actions(shape, value, lanes):
    """Read the features of all actions."""
    return Reader(shape, lanes is not None).actions(value, lanes or 1).values


def one(shape, value, lanes):
    """Read the features of one action per lane."""
    return Reader(shape, lanes is not None).played(value, lanes or 1).values


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool, ">f8"])
def test_features_of_any_real_dtype_become_float64(dtype):
    given = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    for value in (given, np.asfortranarray(given), given.tolist(), tuple(map(tuple, given.tolist()))):
        x = actions(ONE_MAP, value, None)
        assert x.dtype == np.float64
        assert x.flags.c_contiguous
        np.testing.assert_array_equal(x, [[[[1, 0], [0, 1], [1, 1]]]])


@pytest.mark.parametrize("widths", [[3], [2, 4, 1], [3, 3]])
@pytest.mark.parametrize("n", [1, 3])
def test_maps_are_joined_and_padded_with_zeros(n, widths):
    maps = [np.random.default_rng(w).normal(size=(n, 5, w)) for w in widths]
    x = join_maps(maps)
    assert x.shape == (n, len(widths), 5, max(widths))
    for i, m in enumerate(maps):
        np.testing.assert_array_equal(x[:, i, :, : widths[i]], m)
        assert not x[:, i, :, widths[i] :].any()


def test_shapes_of_one_map():
    x = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_array_equal(actions(ONE_MAP, x[0], None), x[None, :1])
    np.testing.assert_array_equal(actions(ONE_MAP, x, 2), x[:, None])
    np.testing.assert_array_equal(one(ONE_MAP, x[0, 0], None), x[None, :1, 0])
    np.testing.assert_array_equal(one(ONE_MAP, x[0], 3), x[0][:, None])
    np.testing.assert_array_equal(actions(ONE_MAP, x[:1, :1], 1), x[:1, None, :1])


def test_shapes_of_many_maps():
    x = np.arange(48.0).reshape(2, 3, 4, 2)  # lanes, maps, actions, features
    np.testing.assert_array_equal(actions(MAPS, x[0], None), x[:1])
    np.testing.assert_array_equal(actions(MAPS, list(x[0]), None), x[:1])
    np.testing.assert_array_equal(actions(MAPS, tuple(x[0].astype(int)), None), x[:1])
    np.testing.assert_array_equal(actions(MAPS, x[0].tolist(), None), x[:1])
    np.testing.assert_array_equal(actions(MAPS, x, 2), x)
    np.testing.assert_array_equal(actions(MAPS, [x[:, i] for i in range(3)], 2), x)
    np.testing.assert_array_equal(one(MAPS, x[0, :, 0], None), x[:1, :, 0])
    np.testing.assert_array_equal(one(MAPS, x[:, :, 0], 2), x[:, :, 0])
    np.testing.assert_array_equal(one(MAPS, [x[:, i, 0] for i in range(3)], 2), x[:, :, 0])
    # as many lanes as maps: nested lists of shape (N, M, K, d) must not be read with the two axes swapped
    square, two_maps = x[:, :2], ExactShape((2, 2), many=True)
    np.testing.assert_array_equal(actions(two_maps, square.tolist(), 2), square)
    np.testing.assert_array_equal(one(two_maps, square[:, :, 0].tolist(), 2), square[:, :, 0])


def test_maps_of_different_width_are_padded():
    narrow, wide = np.arange(8.0).reshape(4, 2), np.arange(12.0).reshape(4, 3) + 100.0
    x = actions(RAGGED, [narrow, wide], None)
    assert x.shape == (1, 2, 4, 3)
    np.testing.assert_array_equal(x[0, 0], np.pad(narrow, [(0, 0), (0, 1)]))
    np.testing.assert_array_equal(x[0, 1], wide)
    np.testing.assert_array_equal(one(RAGGED, [narrow[1], wide[1]], None), x[:, :, 1])
    np.testing.assert_array_equal(one(RAGGED, x[0, :, 1], None), x[:, :, 1])  # padded already
    lanes = actions(RAGGED, [np.stack([narrow, narrow + 1]), np.stack([wide, wide + 1])], 2)
    assert lanes.shape == (2, 2, 4, 3)
    np.testing.assert_array_equal(lanes[0], x[0])
    np.testing.assert_array_equal(lanes[1, 0, :, 2], 0.0)


@pytest.mark.parametrize(
    ("shape", "lanes", "value"),
    [
        (ONE_MAP, None, np.zeros(2)),
        (ONE_MAP, None, np.zeros((3, 3))),
        (ONE_MAP, None, np.zeros((1, 3, 2))),
        (ONE_MAP, None, [[1, 2], [3]]),
        (ONE_MAP, None, [["a", "b"]]),
        (ONE_MAP, None, None),
        (ONE_MAP, None, []),
        (ONE_MAP, None, np.zeros((3, 2), dtype=object)),
        (ONE_MAP, 2, np.zeros((3, 2))),
        (ONE_MAP, 2, np.zeros((3, 3, 2))),
        (MAPS, None, np.zeros((2, 4, 2))),
        (MAPS, None, np.zeros((4, 2))),
        (MAPS, None, [np.zeros((4, 2))] * 2),
        (MAPS, None, [np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((5, 2))]),
        (MAPS, None, [np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 3))]),
        (MAPS, None, [np.zeros((4, 2)), np.zeros((4, 2)), np.zeros(2)]),
        (MAPS, None, [None] * 3),
        (MAPS, None, [[[1, 2], [3]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]),
        (MAPS, 2, np.zeros((3, 3, 4, 2))),
        (MAPS, 2, [np.zeros((3, 4, 2))] * 3),
        (RAGGED, None, [np.zeros((4, 3)), np.zeros((4, 2))]),
        (RAGGED, None, np.zeros((2, 4, 3))),
        (SomeMaps(((1, 2),)), None, np.zeros((1, 4, 2))),
        (SomeMaps(((1, 2),)), None, np.zeros((2, 4, 3))),
        (SomeMaps(((1, 2),)), None, [np.zeros((4, 2)), np.zeros((4, 3))]),
        (AnyShape(), None, np.zeros(3)),
        (AnyShape(), None, []),
        (AnyShape(), None, None),
        (AnyShape(), None, [np.zeros((3, 2)), np.zeros((4, 2))]),
        (AnyShape(), None, [[[1], [2, 3]], [[1, 2]]]),
        (AnyShape(), 2, np.zeros((3, 2))),
        (AnyShape(), 2, np.zeros((3, 4, 2))),
    ],
)
def test_features_of_the_wrong_shape(shape, lanes, value):
    refused(actions, shape, value, lanes, name="features", expected=shape.words(lanes))


@pytest.mark.parametrize("shape", [ONE_MAP, MAPS, SomeMaps(((0, 2),)), AnyShape()])
@pytest.mark.parametrize("lanes", [None, 2])
def test_no_action_at_all(shape, lanes):
    front = () if lanes is None else (lanes,)
    refused(actions, shape, np.zeros((*front, *((3,) if shape.many else ()), 0, 2)), lanes, name="features")


@pytest.mark.parametrize("bad", [NAN, INF, -INF, HUGE])
@pytest.mark.parametrize("shape", [ONE_MAP, MAPS, RAGGED, SomeMaps(((0, 2),)), AnyShape()])
def test_features_that_are_not_finite_or_too_large(shape, bad):
    widths = shape.dims if isinstance(shape, ExactShape) else (2,)
    for spoiled in range(len(widths)):
        maps = [np.ones((4, d)) for d in widths]
        maps[spoiled][3, -1] = bad
        refused(actions, shape, maps if shape.many else maps[0], None, name="features", expected="finite")
        played = [m[3] for m in maps]
        refused(one, shape, played if shape.many else played[0], None, name="features", expected="finite")


@pytest.mark.parametrize(
    ("shape", "lanes", "value"),
    [
        (ONE_MAP, None, np.zeros((3, 2))),
        (ONE_MAP, None, np.zeros(3)),
        (MAPS, None, np.zeros((2, 2))),
        (MAPS, None, np.zeros(2)),
        (ONE_MAP, 2, np.zeros((3, 2))),
    ],
)
def test_features_of_one_action_of_the_wrong_shape(shape, lanes, value):
    refused(one, shape, value, lanes, name="features", expected=f"{shape.words(lanes)} without the axis K")


def test_some_maps_take_any_number_of_maps():
    shape = SomeMaps(((1, 2), (3, 4)))
    maps = [np.full((5, d), float(d)) for d in (7, 2, 1, 4, 3)]
    x = actions(shape, maps, None)
    assert x.shape == (1, 5, 5, 7)
    np.testing.assert_array_equal(x[0, 1, :, :2], 2.0)
    np.testing.assert_array_equal(x[0, 1, :, 2:], 0.0)
    assert one(shape, [m[0] for m in maps], None).shape == (1, 5, 7)
    assert one(shape, x[0, :, 0], None).shape == (1, 5, 7)  # padded already
    assert "map 1 of width 2, map 3 of width 4" in shape.words(None)


def test_any_shape_counts_the_actions():
    shape = AnyShape()
    for value in (
        np.zeros((4, 2)),
        np.zeros((3, 4, 2)),
        [np.zeros((4, 2)), np.zeros((4, 7))],
        np.zeros((3, 4, 2)).tolist(),
    ):
        assert actions(shape, value, None).shape[2] == 4
    ragged = actions(shape, [np.full((4, 2), 5.0), np.full((4, 3), 7.0)], None)
    np.testing.assert_array_equal(ragged[0, :, 0], [[5.0, 5.0, 0.0], [7.0, 7.0, 7.0]])
    for value, P in ((np.zeros((2, 4, 3)), 1), (np.zeros((2, 5, 4, 3)), 5), ([np.zeros((2, 4, 3))] * 2, 2)):
        assert actions(shape, value, 2).shape == (2, P, 4, 3)
    for value, n in ((np.zeros(3), 1), (np.zeros((2, 3)), 2), ([np.zeros(2), np.zeros(3)], 1)):
        assert one(shape, value, None if n == 1 else n).shape == (n, 1, 1)


@pytest.mark.parametrize("view", [np.asfortranarray, lambda x: np.repeat(x, 2, axis=-1)[..., ::2], np.array])
def test_features_come_out_as_kernels_take_them(view):
    """Writable and C-contiguous, and what was played in an array of its own."""
    for shape, x in ((ONE_MAP, np.arange(6.0).reshape(3, 2)), (MAPS, np.arange(18.0).reshape(3, 3, 2))):
        for given, read in ((view(x), actions), (view(x[..., 0, :]), one)):
            given.flags.writeable = False
            found = read(shape, given, None)
            np.testing.assert_array_equal(found.reshape(given.shape), given)
            assert found.flags.carray
            assert not np.shares_memory(found, given)
    x = np.ones(2)
    kept = one(ONE_MAP, x, None)
    x[0] = 7.0
    np.testing.assert_array_equal(kept, 1.0)


def test_common_shapes():
    some = SomeMaps(((0, 2), (2, 2)))
    assert common_shape("bases", [MAPS, AnyShape(), MAPS, some]) == MAPS
    assert common_shape("bases", [AnyShape(), ONE_MAP]) == ONE_MAP
    assert common_shape("bases", [AnyShape(), AnyShape()]) == AnyShape()
    assert common_shape("bases", [SomeMaps(((0, 2),)), AnyShape(), some]) == some
    assert common_shape("bases", [some, RAGGED_3]) == RAGGED_3
    blocks, other = SomeMaps(((1, 2),), parts=(3,)), SomeMaps(((0, 4),))
    assert common_shape("bases", [blocks, other]) == SomeMaps(((1, 2), (0, 4)), parts=(3, 1))
    exact = ExactShape((4, 2), many=True, blocks=(1, 3))
    assert common_shape("bases", [blocks, exact, other]) == exact


def test_a_number_of_actions_is_common_to_all_that_know_it():
    exact, known = ExactShape((2,), many=False, n_actions=3), AnyShape(n_actions=3)
    assert common_shape("bases", [ONE_MAP, known, AnyShape()]) == exact
    assert common_shape("bases", [AnyShape(), known]) == known
    some = SomeMaps(((1, 2),))
    assert common_shape("bases", [some, known]) == SomeMaps(((1, 2),), n_actions=3)
    assert actions(exact, np.ones((3, 2)), None).shape == (1, 1, 3, 2)
    assert one(exact, np.ones(2), None).shape == (1, 1, 2)
    refused(actions, exact, np.ones((2, 2)), None, name="features", expected="finite numbers of shape (K = 3, 2)")
    refused(
        actions, known, np.ones((5, 2, 2)), 5, name="features", expected="finite numbers of shape (5, ..., K = 3, d)"
    )
    with pytest.raises(ValueError, match=r"^bases\[1\]: takes 4 actions; expected 3, as others take"):
        common_shape("bases", [known, AnyShape(n_actions=4)])


RAGGED_3 = ExactShape((2, 5, 2), many=True)


@pytest.mark.parametrize(
    ("shapes", "index"),
    [
        ([ONE_MAP, ExactShape((3,), many=False)], 1),
        ([ONE_MAP, AnyShape(), MAPS], 2),
        ([SomeMaps(((0, 2),)), ONE_MAP], 0),
        ([SomeMaps(((3, 2),)), MAPS], 0),
        ([MAPS, SomeMaps(((1, 3),))], 1),
        ([SomeMaps(((0, 2),)), SomeMaps(((0, 3),))], 1),
        ([SomeMaps(((0, 2),)), SomeMaps(((0, 2),), parts=(3,))], 1),
        ([SomeMaps(((0, 2),), parts=(3,)), MAPS], 0),
    ],
)
def test_shapes_that_do_not_go_together(shapes, index):
    with pytest.raises(ValueError, match=rf"^bases\[{index}\]: takes .*; expected "):
        common_shape("bases", shapes)


def test_a_longer_float_that_overflows_is_refused():
    huge = np.array([[np.longdouble("1e400"), 1.0]])
    if np.isfinite(huge).all():  # where long double is longer than double
        refused(actions, ONE_MAP, huge, None, name="features")
        refused(rewards, huge[0, 0], 1, False, name="reward")
