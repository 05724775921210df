"""Common checks as tests: one that cannot run is a skip with its reason, where that is expected and only there."""

from unittest import SkipTest

import pytest

from banditselect.checks import run_check


def run_or_skip(check, subject, expected=(), excuse=None):
    try:
        run_check(check, subject, excuse)
    except SkipTest as reason:
        if check not in expected:
            pytest.fail(f"{check} does not run any more: {reason}")
        pytest.skip(str(reason))
    assert check not in expected, f"{check} runs now: it is no skip to expect"
