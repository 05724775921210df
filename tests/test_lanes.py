"""Named arrays with a row per lane: told, restored, appended."""

import numpy as np
import pytest

from banditselect.carriers.lanes import LaneArrays
from banditselect.parts.experts import RidgeBank


class Part(LaneArrays):
    state = ("total", "seen")
    fixed = ("bound",)

    def __init__(self, lanes, start=0.0):
        self.total = np.full((lanes, 2), start)
        self.seen = np.zeros(lanes, dtype=np.int64)
        self.bound = np.arange(lanes, dtype=float)


def test_arrays_are_the_learned_ones_themselves():
    part = Part(3)
    arrays = part.arrays()
    assert set(arrays) == {"total", "seen"}
    assert arrays["total"] is part.total
    assert LaneArrays().arrays() == {}


def test_restore_takes_the_learned_arrays_and_keeps_the_fixed():
    mine, theirs = Part(3), Part(3, start=2.0)
    theirs.seen += 5
    theirs.bound += 100.0
    mine.restore(theirs.arrays())
    np.testing.assert_array_equal(mine.total, theirs.total)
    np.testing.assert_array_equal(mine.seen, [5, 5, 5])
    np.testing.assert_array_equal(mine.bound, [0.0, 1.0, 2.0])


def test_restored_arrays_are_contiguous_copies():
    mine = Part(3)
    given = {"total": np.asfortranarray(np.ones((3, 2))), "seen": np.zeros(3, dtype=np.int64)}
    given["total"].flags.writeable = False
    mine.restore(given)
    assert mine.total.flags.c_contiguous
    mine.total[0] = 7.0
    mine.seen[0] = 7
    assert given["total"].max() == 1.0
    assert given["seen"].max() == 0


def test_a_longer_second_axis_is_taken_over_only_where_it_is_elastic():
    given = {"total": np.ones((2, 5)), "seen": np.zeros(2, dtype=np.int64)}
    with pytest.raises(ValueError, match="'total'"):
        Part(2).restore(given)

    class Elastic(Part):
        elastic = ("total",)

    mine = Elastic(2)
    mine.restore(given)
    assert mine.total.shape == (2, 5)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("total", np.zeros((3, 2), dtype=np.int64)),
        ("total", np.zeros((2, 2))),
        ("total", np.zeros(3)),
        ("seen", np.zeros(3)),
        ("seen", np.zeros((3, 1), dtype=np.int64)),
    ],
)
def test_restore_refuses_another_dtype_or_number_of_lanes_or_axes(name, array):
    part = Part(3)
    with pytest.raises(ValueError, match=f"'{name}': found .*, expected "):
        part.restore(part.arrays() | {name: array})


def test_extend_appends_learned_and_fixed_lanes():
    part, fresh = Part(2), Part(1, start=3.0)
    part.extend(fresh)
    np.testing.assert_array_equal(part.total, [[0, 0], [0, 0], [3, 3]])
    np.testing.assert_array_equal(part.seen, [0, 0, 0])
    np.testing.assert_array_equal(part.bound, [0.0, 1.0, 0.0])
    fresh.total[:] = 9.0
    assert part.total[2, 0] == 3.0


def test_a_bank_keeps_and_takes_over_roots_without_room():
    """As files have had them from the first version on."""
    rng = np.random.default_rng(0)
    bank, fresh, other = (RidgeBank(lanes=2, dims=np.array([3, 3]), regularization=np.ones((2, 2))) for _ in range(3))
    bank.learn(np.array([0, 1]), rng.normal(size=(2, 2, 3)), np.ones(2))
    kept = bank.arrays()
    assert kept["root"].shape == (2, 2, 3, 3)
    fresh.restore(kept)
    np.testing.assert_array_equal(fresh.root, bank.root)
    other.extend(bank)
    np.testing.assert_array_equal(other.root[2:], bank.root)
    for part in (fresh, other):
        assert part.root.shape[2:] == (3, 4)
        assert part.root.ctypes.data % 64 == 0
