"""Calls that have to be refused, and how a refusal reads."""

import math
import re

import pytest

NAN, INF, HUGE = math.nan, math.inf, 1.01e30


def refused(function, *arguments, name="x", expected="", given=None):
    """Assert a ValueError of the form "name: got ..., expected ..."."""
    with pytest.raises(ValueError, match=rf"^{re.escape(name)}: got ") as caught:
        function(*arguments)
    message = str(caught.value)
    assert ", expected " in message
    assert expected in message.split(", expected ", 1)[1]
    if given is not None:
        assert given in message.split(", expected ", 1)[0]
