"""Settings in text, and modules that an extra brings."""

import collections
import re
import sys

import numpy as np
import pytest

from banditselect.problems import Classification
from banditselect.runtime.extras import need
from banditselect.runtime.settings import literal

Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        ([np.array([1.0]), "a"], "[[1.0], 'a']"),
        ((np.int64(1),), "(1,)"),
        ((1, (2, 3)), "(1, (2, 3))"),
        ({"a": np.array([True]), "b": None}, "{'a': [True], 'b': None}"),
        (Pair(1, 2), "Pair(a=1, b=2)"),
    ],
)
def test_values_are_written_as_python_would_read_them(value, text):
    assert literal(value) == text


def test_large_arrays_are_written_by_their_shape_and_those_of_a_problem():
    assert literal([np.zeros((500, 2)), np.zeros(1001)]).endswith(", <array (1001,)>]")
    maps, labels = [np.eye(3), np.ones((3, 2))], np.arange(3)
    problem = Classification(features=maps, labels=labels, n_actions=2, constants={"c": np.ones(2)})
    assert repr(problem).startswith("Classification(features=[<array (3, 3)>, <array (3, 2)>], labels=<array (3,)>, ")
    assert "constants={'c': <array (2,)>}" in repr(problem)


def test_what_is_missing_is_named_with_the_extra_that_brings_it(monkeypatch):
    assert need("json.decoder", "experiments").JSONDecoder
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=re.escape('pyarrow is not installed: pip install "banditselect[dask]"')):
        need("pyarrow.parquet", "dask")
