"""Schedules."""

import math

import pytest

from banditselect import Power
from banditselect.plays.schedules import as_schedule


def test_power():
    assert Power(10.0)(9) == 30.0
    assert Power(2.0, 0.0)(7) == 2.0
    assert Power(3.0, 1.0)(5) == 15.0
    assert Power(3.0, 0.5)(0) == 0.0
    assert Power(0.0)(100) == 0.0
    assert Power(1.5, 0.25) == Power(1.5, 0.25)
    assert repr(Power(1.5, 0.25)) == "Power(scale=1.5, exponent=0.25)"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(("scale", bad, ">= 0") for bad in (-1.0, math.nan, math.inf, -math.inf)),
        *(("exponent", bad, ">= 0 and <= 4") for bad in (-0.1, 4.1, math.nan, math.inf)),
    ],
)
def test_power_refuses_bad_numbers(name, value, expected):
    with pytest.raises(ValueError, match=f"Power: {name}: got {value!r}, expected a finite number {expected}"):
        Power(**({"scale": 1.0} | {name: value}))


def test_schedules():
    assert as_schedule(3)(16) == 12.0
    assert as_schedule(2.5) == Power(2.5, 0.5)
    assert as_schedule(math.log1p) is math.log1p
    schedule = Power(1.0, 1.0)
    assert as_schedule(schedule) is schedule
