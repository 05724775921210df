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


@pytest.mark.parametrize("scale", [-1.0, math.nan, math.inf, -math.inf])
def test_power_refuses_a_bad_scale(scale):
    with pytest.raises(ValueError, match=f"Power: scale: got {scale!r}, expected a finite number >= 0"):
        Power(scale)


@pytest.mark.parametrize("exponent", [-0.1, 4.1, math.nan, math.inf])
def test_power_refuses_a_bad_exponent(exponent):
    with pytest.raises(ValueError, match=f"Power: exponent: got {exponent!r}, expected a finite number >= 0 and <= 4"):
        Power(1.0, exponent)


def test_schedules():
    assert as_schedule(3)(16) == 12.0
    assert as_schedule(2.5) == Power(2.5, 0.5)
    assert as_schedule(math.log1p) is math.log1p
    schedule = Power(1.0, 1.0)
    assert as_schedule(schedule) is schedule
