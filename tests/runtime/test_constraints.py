"""Constraints: what they accept and what they refuse, in their own words."""

import math
import pydoc

import numpy as np
import pytest

from banditselect import OFUL, PSOFUL, PSTS, FSSquareCB, LinTS, SquareCB
from banditselect.runtime.constraints import Bounds, Constraint, Number, Numbers, OneOf, Rate, Seeds, Widths
from refusals import HUGE, INF, NAN, refused


@pytest.mark.parametrize(
    ("constraint", "values"),
    [
        (Number(), [0, -3, 2.5, np.float32(1.5), np.int8(-1), 1e30, 10**20]),
        (Number(low=0.0), [0, 0.0, 5e-324, 7]),
        (Number(low=0.0, above=True), [5e-324, 7]),
        (Number(low=0.0, high=1.0, above=True, below=True), [0.5, 1e-9, 1.0 - 1e-9]),
        (Number(high=1.0), [1, -1e20]),
        (Number(low=1, integer=True), [1, 7, 3.0, np.int64(9), np.uint8(3)]),
        (Number(optional=True), [None, 1.0]),
        (OneOf(("a", "b")), ["a", "b"]),
        (Bounds(), [(0, 1), (0, 2e-30), [-1.5, 2], np.array([0.0, 1.0]), (np.float32(0), np.int64(3))]),
        (Widths(), [1, 5, 3.0, [1, 2, 3], (4,), np.array([2, 2]), np.int64(2)]),
        (Seeds(), [0, 7, np.int64(3), (0,), (1, 2), [3, np.int32(4)], 2**70]),
        (Rate(), [0, 10.0, np.float32(2.0), 10**20, math.sqrt]),
        (Rate(("paper",)), ["paper", 3]),
        (Numbers(shapes=((), (None,))), [1.0, [1.0, 2.0], (3,), np.zeros(4), True]),
        (Numbers(shapes=((None, 2),)), [[[1, 2]], np.zeros((5, 2), dtype=np.float32)]),
        (Numbers(shapes=((None,),), low=0.0), [[0.0, 1.0]]),
        (Numbers(shapes=((None,),), optional=True), [None]),
        (Constraint(), [None, "anything", object()]),
    ],
)
def test_constraints_accept(constraint, values):
    for value in values:
        constraint.check("x", value, None)


@pytest.mark.parametrize(
    ("constraint", "expected", "values"),
    [
        (Number(), "a finite number", [NAN, INF, -INF, HUGE, -HUGE, "1", None, True, 1j, [1.0], np.array([1.0])]),
        (Number(low=0.0), "a finite number >= 0", [-1e-300, -1]),
        (Number(low=0.0, above=True), "a finite number > 0", [0, 0.0, -1]),
        (
            Number(low=0.0, high=1.0, above=True, below=True),
            "a finite number > 0 and < 1",
            [0, 1, 0.0, 1.0, 2, -1, NAN],
        ),
        (Number(high=1.0), "a finite number <= 1", [1.0001]),
        (Number(low=1, integer=True), "a whole number >= 1", [0, 1.5, -2, None, "2", True]),
        (Number(optional=True), "a finite number or None", [NAN, "none"]),
        (OneOf(("a", "b")), "one of 'a', 'b'", ["c", "", None, 1, ["a"], "A"]),
        (
            Bounds(),
            "a pair (low, high) of finite numbers with high - low >= 2e-30",
            [
                (1, 0),
                (1, 1),
                (0, 1e-200),
                (0, 1e-30),
                (0,),
                (0, 1, 2),
                (0, INF),
                (NAN, 1),
                (0, HUGE),
                3,
                None,
                "ab",
                ("a", "b"),
                [[0, 1], [2, 3]],
            ],
        ),
        (Widths(), "a whole number >= 1, or one for each model", [0, -1, 1.5, [], [1, 0], [2, 2.5], None, "3", True]),
        (
            Seeds(),
            "a whole number >= 0, or a tuple of them",
            [-1, 1.0, None, "1", (), [], (1, -1), (1, 2.0), True, (True,), np.array([1, 2]), {1, 2}, NAN],
        ),
        (Rate(), "a finite number >= 0, a schedule", [-1.0, NAN, INF, HUGE, None, "paper", True]),
        (Rate(("paper",)), "'paper'", ["printed", -1]),
        (
            Numbers(shapes=((), (None,))),
            "a number or shape (any)",
            [[[1.0]], "a", None, [], NAN, [1.0, INF], [HUGE], [1j]],
        ),
        (Numbers(shapes=((None, 2),)), "shape (any, 2)", [[1, 2], np.zeros((2, 3)), np.zeros((0, 2)), [[1, 2], [3]]]),
        (Numbers(shapes=((None,),), low=0.0), "finite numbers >= 0", [[-1.0, 2.0], [NAN]]),
    ],
)
def test_constraints_refuse(constraint, expected, values):
    for value in values:
        refused(constraint.check, "x", value, None, expected=expected)


@pytest.mark.parametrize("value", [NAN, INF, -INF, np.float32(NAN), 10**400, -(10**400)], ids=lambda v: f"{v!r:.7}")
@pytest.mark.parametrize(
    "constraint",
    [Number(), Number(low=1, integer=True), Widths(), Rate(), Bounds(), Numbers(shapes=((),))],
    ids=["number", "whole", "widths", "rate", "bounds", "numbers"],
)
def test_no_constraint_stumbles_over_what_has_no_end(constraint, value):
    refused(constraint.check, "x", (0.0, value) if isinstance(constraint, Bounds) else value, None)


def test_numbers_per_lane():
    number = Number(low=0.0, above=True, per_lane=True)
    for value in (2.0, [1.0, 2.0, 3.0], np.array([1, 2, 3])):
        number.check("x", value, 3)
    number.check("x", 2.0, None)
    wrong = [[1.0, 2.0], [1.0, 0.0, 2.0], [1.0, NAN, 2.0], [[1.0, 2.0, 3.0]], ["a", "b", "c"], [1.0, [2.0], 3.0], -1.0]
    for value in wrong:
        refused(number.check, "x", value, 3, expected="a finite number > 0 (or one per lane)")
    refused(number.check, "x", [1.0, 2.0, 3.0], None)
    refused(Number().check, "x", [1.0, 2.0, 3.0], 3, expected="a finite number")
    refused(Number(integer=True, per_lane=True).check, "x", [1, INF], 2)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: OFUL(dim=3, noise=1e300), "noise"),
        (lambda: OFUL(dim=3, noise=10**400), "noise"),
        (lambda: OFUL(dim=3, noise=[1.0, 1e300], lanes=2), "noise"),
        (lambda: SquareCB(dim=3, reward_range=(0.0, 1e300)), "reward_range"),
        (lambda: SquareCB(dim=3, exploration=1e300), "exploration"),
        (lambda: PSOFUL(centers=np.full((3, 3), 1e300), radii=0.1, noise=0.1), "centers"),
    ],
)
def test_what_is_too_large_is_told_how_large_it_may_be(make, argument):
    with pytest.raises(ValueError, match=rf"^\w+: {argument}: got .*; at most 1e\+30 in magnitude$"):
        make()


@pytest.mark.parametrize("cls", [FSSquareCB, OFUL, PSOFUL, PSTS, LinTS])
def test_help_opens_with_a_short_signature(cls):
    page = pydoc.render_doc(cls, renderer=pydoc.plaintext).splitlines()
    assert max(map(len, page)) < 750
    assert "noise: float | ArrayLike" in page[3] or cls not in (OFUL, LinTS, FSSquareCB)
