"""Features are finite and of the right shape for any records."""

import contextlib
from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from banditselect import maps
from banditselect.kernels.features import LIMIT
from banditselect.runtime.errors import ArgumentError
from banditselect.types import Blocked
from maps_under_check import MOVIES, VISITORS, equal, every_map

TABLE = pd.DataFrame(VISITORS)
TRANSFORMED = maps.Transformer(OneHotEncoder(handle_unknown="ignore").fit(TABLE), *TABLE.columns)
FITTED = {name: made.fit(VISITORS, MOVIES) for name, made in every_map().items()}
FITTED |= {f"proposed {name}": map for name, map in maps.candidates(VISITORS * 9, MOVIES * 9).items()}
FITTED["transformer"] = maps.Outer(context=TRANSFORMED, items=maps.Numbers("year", scale=None))
FITTED["raw"] = maps.Outer(
    context=maps.Polynomials(maps.Numbers("age", scale=None), degree=4), items=maps.Numbers("year", scale=None)
)
COLUMNS = sorted({name for row in (*VISITORS, *MOVIES) for name in row})
STRANGE = [b"x", 3 + 4j, pd.NA, pd.NaT, np.float32(1e38), np.datetime64("2020-01-01"), datetime(2020, 1, 1), object()]
STRANGE += [{"a": 1}, {1, 2}, np.ones((2, 2)), np.array(["a"]), Decimal("NaN"), Decimal("1e999"), 10**400, len, -0.0]

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(STRANGE)
values = plain | st.sampled_from(["FR", "BR", 1, 2, 1990]) | st.lists(plain, max_size=3)
ids = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
records = st.dictionaries(st.sampled_from(COLUMNS), values) | ids


@pytest.mark.filterwarnings("ignore:Transformer")
@settings(max_examples=40)
@given(context=records, items=st.lists(records, max_size=4))
def test_features_are_finite_and_those_of_kept_items_whatever_comes(context, items):
    for name, fitted in FITTED.items():
        fitted.observe(context, items)
        kept = maps.Records([*items, *items]).take(range(len(items), 2 * len(items)))
        both = [fitted.features(context, offered) for offered in (items, kept)]
        equal(*both)
        for features in both:
            found, block = features if isinstance(features, Blocked) else (features, np.zeros(len(items), dtype=int))
            assert found.shape == (len(items), fitted.width), name
            assert (np.abs(found) <= LIMIT).all(), name
            assert block.shape == (len(items),), name
            assert ((block >= 0) & (block < fitted.blocks)).all(), name


@pytest.mark.filterwarnings("ignore:candidates")
@settings(max_examples=40)
@given(contexts=st.lists(records, max_size=5), items=st.lists(records, max_size=5) | st.none())
def test_maps_are_fitted_to_whatever_comes(contexts, items):
    """A map is fitted or refuses a column in which no example helps; what is proposed is always fitted."""
    fitted = maps.candidates(contexts, items)
    for name, made in every_map().items():
        with contextlib.suppress(ArgumentError):
            fitted[name] = made.fit(contexts, items)
    for name, map in fitted.items():
        features = map.features(contexts[0] if contexts else {}, items or [{}])
        found = features.values if isinstance(features, Blocked) else features
        assert found.shape == (len(items or [{}]), map.width), name
        assert (np.abs(found) <= LIMIT).all(), name
