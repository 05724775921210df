"""Named arrays with a row per lane: given, restored, appended, put back after an interruption."""

import numpy as np
import pytest

from banditselect.kernels.features import played
from banditselect.models.ridge_bank import RidgeBank
from banditselect.runtime.lanes import LaneArrays, Snapshot, parts_of
from banditselect.runtime.shapes import maps_of


class Part(LaneArrays):
    state = ("total", "seen")
    fixed = ("bound",)

    def __init__(self, lanes, start=0.0):
        self.total = np.full((lanes, 2), start)
        self.seen = np.zeros(lanes, dtype=np.int64)
        self.bound = np.arange(lanes, dtype=float)


def test_restore_copies_the_learned_arrays_and_keeps_the_fixed():
    mine, theirs = Part(3), Part(3, start=2.0)
    theirs.seen += 5
    theirs.bound += 100.0
    theirs.total = np.asfortranarray(theirs.total)
    theirs.total.flags.writeable = False
    mine.restore(theirs.learned())
    assert mine.total.flags.c_contiguous
    mine.total[0] = 7.0
    np.testing.assert_array_equal(mine.total, [[7.0, 7.0], [2.0, 2.0], [2.0, 2.0]])
    np.testing.assert_array_equal(theirs.total, 2.0)
    np.testing.assert_array_equal(mine.seen, [5, 5, 5])
    np.testing.assert_array_equal(mine.bound, [0.0, 1.0, 2.0])


def test_a_longer_second_axis_is_taken_over_only_where_it_grows():
    given = {"total": np.ones((2, 5)), "seen": np.zeros(2, dtype=np.int64)}
    with pytest.raises(ValueError, match="'total'"):
        Part(2).restore(given)

    class Growing(Part):
        growing = ("total",)

    mine = Growing(2)
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
        part.restore(part.learned() | {name: array})


def test_extend_appends_learned_and_fixed_lanes():
    part, fresh = Part(2), Part(1, start=3.0)
    part.extend(fresh)
    np.testing.assert_array_equal(part.total, [[0, 0], [0, 0], [3, 3]])
    np.testing.assert_array_equal(part.seen, [0, 0, 0])
    np.testing.assert_array_equal(part.bound, [0.0, 1.0, 0.0])
    fresh.total[:] = 9.0
    assert part.total[2, 0] == 3.0


def test_a_bank_keeps_and_takes_over_roots_without_room():
    rng = np.random.default_rng(0)
    bank, fresh, other = (RidgeBank.of(maps_of([3, 3], many=True), 2, np.ones((2, 2))) for _ in range(3))
    bank.learn(np.array([0, 1]), played(rng.normal(size=(2, 2, 3))), np.ones(2))
    kept = bank.learned()
    assert kept["root"].shape == (2, 2, 3, 3)
    fresh.restore(kept)
    np.testing.assert_array_equal(fresh.root, bank.root)
    other.extend(bank)
    np.testing.assert_array_equal(other.root[2:], bank.root)
    for part in (fresh, other):
        assert part.root.shape[2:] == (3, 4)
        assert part.root.ctypes.data % 64 == 0


class Both(LaneArrays):
    """A part made of parts, one of them reached in two ways."""

    def __init__(self):
        self.first, self.rest = Part(3), [Part(3), "no part"]
        self.again = self.first


@pytest.mark.parametrize("replaced", [False, True])
def test_a_snapshot_puts_back_the_lanes_it_was_taken_of(replaced):
    """Also where a part has replaced its arrays by others, as one that grows does."""
    whole = Both()
    parts = [part for _, part in parts_of(whole)]
    assert [way for way, _ in parts_of(whole)] == ["first", "rest[0]"]
    snapshot = Snapshot((part, np.array([2, 0])) for part in parts)
    for part in parts:
        part.total += 1.0
        part.seen[:] = 5
        if replaced:
            part.total = np.zeros((3, 2))
    snapshot.restore()
    for part in parts:
        np.testing.assert_array_equal(part.total, [[0, 0], [1, 1], [0, 0]])
        np.testing.assert_array_equal(part.seen, [0, 5, 0])
