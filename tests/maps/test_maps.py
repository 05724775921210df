"""Encoders and maps: numbers by hand, what is saved, what is kept, what is learned online."""

import copy
import inspect
import json
import os
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from banditselect import cross_features, load, maps
from banditselect.authoring import argument
from banditselect.runtime import files
from banditselect.types import Blocked
from maps_under_check import AGE, COUNTRY, MOVIES, VISITORS, YEAR, equal, every_map


@pytest.mark.parametrize("name", every_map())
def test_a_map_that_is_not_fitted_is_loaded_and_fitted(name, tmp_path):
    """Fitted ones are saved and loaded by ``check_map``."""
    unfitted = every_map()[name]
    unfitted.save(tmp_path / "map.bsel")
    again, mine = (made.fit(VISITORS, MOVIES) for made in (load(tmp_path / "map.bsel"), unfitted))
    features = mine.features({}, MOVIES)
    equal(again.features({}, MOVIES), features)
    assert (features.values if isinstance(features, Blocked) else features).flags.c_contiguous


@pytest.mark.parametrize("name", every_map())
def test_records_may_come_in_any_form_and_be_kept(name):
    fitted = every_map()[name].fit(pd.DataFrame(VISITORS), pd.DataFrame(MOVIES))
    expected = every_map()[name].fit(VISITORS, MOVIES).features(VISITORS[0], MOVIES)
    kept = maps.Records(MOVIES)
    movie = namedtuple("movie", MOVIES[0])
    for items in (MOVIES, pd.DataFrame(MOVIES), [movie(**m) for m in MOVIES], kept, kept, tuple(MOVIES)):
        equal(fitted.features(VISITORS[0], items), expected)
    rows = [row for _, row in pd.DataFrame(MOVIES).iterrows()]
    equal(fitted.features(pd.DataFrame(VISITORS).iloc[0], rows), expected)
    equal(fitted.features(VISITORS[0], kept.take([1, 0, 0]).take([2, 0])), expected)


def test_numbers_are_scaled_by_the_fit():
    """Mean 40, variance (400 + 0 + 400) / 3."""
    age = AGE.fit(VISITORS)
    np.testing.assert_allclose(age.encode([{"age": 20}, {"age": 50}]), np.array([[-20.0], [10.0]]) / np.sqrt(800 / 3))
    assert age.encode([{"age": 1e9}, {"age": -1e9}, {"age": 10**400}]).tolist() == [[10.0], [-10.0], [0.0]]
    raw = maps.Numbers("age", scale=None)
    assert raw.encode([{"age": True}, {"age": None}, {"age": 1e300}]).tolist() == [[1.0], [0.0], [1e15]]
    assert raw.fit(VISITORS).encode([{"age": "50"}]).tolist() == [[40.0]]


def test_a_scale_learned_online_is_that_of_all_numbers_at_once():
    rng = np.random.default_rng(0)
    values = rng.normal(1e6, 3.0, size=(50, 2))
    values[rng.uniform(size=values.shape) < 0.2] = np.nan
    records = [{"a": a, "b": b} for a, b in values]
    online = maps.Items(maps.Numbers("a", "b", scale="online")).fit(None, records[:7])
    before = online.features({}, records[:2])
    for k in range(7, 50, 3):
        online.observe({}, records[k : k + 3])
    np.testing.assert_allclose(online.items.mean, np.nanmean(values, axis=0), rtol=1e-12)
    np.testing.assert_allclose(online.items.variance, np.nanvar(values, axis=0), rtol=1e-8)
    assert (online.items.count == np.isfinite(values).sum(axis=0)).all()
    assert (online.features({}, records[:2]) != before).any()


def test_a_fit_leaves_the_recipe_as_it_was():
    outer = maps.Outer(context=AGE + COUNTRY, items=YEAR)
    one, other = outer.fit(VISITORS, MOVIES), outer.fit([{"age": 1, "country": "IT"}], MOVIES)
    assert not outer.fitted
    assert one.names != other.names
    with pytest.raises(RuntimeError, match=r"Categories\('country'\) is not fitted: call fit"):
        _ = outer.width
    with pytest.raises(RuntimeError, match="is not fitted"):
        outer.features(VISITORS[0], MOVIES)
    assert outer.fit(None, None).width == (2 + 1) * (1 + 1) - 1  # nothing met: age, country is unknown; year


def test_outer_is_what_cross_features_returns():
    fitted = maps.Outer(context=AGE + COUNTRY, items=YEAR + maps.Vectors("vector"), own=False).fit(VISITORS, MOVIES)
    x, z = fitted.context.encode([VISITORS[1]])[0], fitted.items.encode(MOVIES)
    np.testing.assert_array_equal(fitted.features(VISITORS[1], MOVIES), cross_features(x, z))
    own = maps.Outer(context=fitted.context, items=fitted.items)
    everything = cross_features([1.0, *x], np.column_stack([np.ones(2), z]))
    np.testing.assert_array_equal(own.features(VISITORS[1], MOVIES), everything[:, 1:])
    assert own.names[:5] == ["age", "country = FR", "country = BR", "country is unknown", "year"]
    assert own.names[5:7] == ["age * year", "country = FR * year"]


def test_hashed_interactions_keep_inner_products_on_average():
    """The mean over 400 seeds of the product of two rows is that of the outer products, up to 5 standard errors."""
    context, items = maps.Numbers("age", scale=None), maps.Vectors("vector", length=3)
    rows = [{"vector": [1.0, 2.0, 0.5]}, {"vector": [0.5, -1.0, 2.0]}]
    exact = maps.Outer(context=context, items=items).features({"age": 0.7}, rows)
    made = (maps.HashedInteractions(context=context, items=items, width=8, seed=seed) for seed in range(400))
    products = np.array([one @ other for one, other in (m.features({"age": 0.7}, rows) for m in made)])
    assert abs(products.mean() - exact[0] @ exact[1]) < 5 * products.std() / 20.0


def test_products_by_brute_force():
    poly = maps.Polynomials(maps.Vectors("v", length=3), degree=3)
    row = poly.encode([{"v": [2.0, 3.0, 5.0]}])[0]
    value = {"v [0]": 2.0, "v [1]": 3.0, "v [2]": 5.0}
    assert len(row) == 19  # 3 + 6 + 10
    assert len(set(poly.names)) == 19
    for name, found in zip(poly.names, row, strict=True):
        assert found == np.prod([value[factor] for factor in name.split(" * ")])


def test_waves_have_the_kernel_of_their_bandwidth():
    """Median distance of 0, 1, 3 is 2. Of 20000 waves the products are right up to 5 / sqrt(20000)."""
    waves = maps.Fourier(maps.Numbers("x", scale=None), width=20000).fit([{"x": 0.0}, {"x": 1.0}, {"x": 3.0}])
    features = waves.encode([{"x": 0.0}, {"x": 1.0}, {"x": 3.0}])
    distance = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    np.testing.assert_allclose(features @ features.T, np.exp(-(distance**2) / 8.0), atol=0.036)


def test_text_counts_ngrams():
    text = maps.Text("title", width=64, ngrams=(1, 2))
    one, twice, upper, empty = text.encode([{"title": t} for t in ("a b", "a b a b", "A, b!", "")])
    assert np.linalg.norm(one) == pytest.approx(1.0)
    np.testing.assert_array_equal(one, upper)
    assert not empty.any()
    assert np.count_nonzero(one) == 3  # a, b, a b
    assert np.count_nonzero(twice) == 4  # and b a
    np.testing.assert_array_equal(text.encode([{"title": ["a", "b"]}])[0], one)
    letters = maps.Text("title", width=64, ngrams=(3, 3), units="letters").encode([{"title": "abc"}])
    assert np.count_nonzero(letters) == 3  # " ab", "abc", "bc "


def test_forgotten_texts_are_made_anew(monkeypatch):
    monkeypatch.setattr("banditselect.maps.text._MOST", 3)
    text, titles = maps.Text("t", "u", width=8), [{"t": str(k), "u": str(-k)} for k in range(20)]
    expected = [text.encode([row])[0] for row in titles]
    np.testing.assert_array_equal(text.encode(titles), expected)


def test_blocks_go_to_items_as_they_come():
    arms = maps.Disjoint(context=maps.Numbers("age", scale=None), capacity=3).fit(None, [{"id": "b"}, {"id": 7.0}])
    assert arms.blocks == 4
    assert arms.ids == ["b", "7"]
    offer = [{"id": "c"}, {"id": 7}, {"id": "d"}, {"id": None}, {"id": "c"}]
    assert arms.features({"age": 2}, offer).block.tolist() == [3, 1, 3, 3, 3]
    arms.observe({"age": 2}, offer)
    values, block = arms.features({"age": 2}, offer)
    assert block.tolist() == [2, 1, 3, 3, 2]
    assert values.tolist() == [[1.0, 2.0]] * 5
    arms.observe({"age": 2}, [{"id": "e"}])
    assert arms.ids == ["b", "7", "c"]
    assert arms.features(None, ["c", 7]).block.tolist() == [2, 1]  # words and numbers are ids
    levels, kept = maps.Disjoint(capacity=2), maps.Records(["a", "b"])
    assert levels.features({}, kept).block.tolist() == [2, 2]
    levels.observe({}, kept)
    assert levels.features({}, kept).block.tolist() == [0, 1]  # a block given later reaches items that are kept
    assert levels.features({}, kept.take([1])).block.tolist() == [1]


def test_functions_and_transformers_are_not_saved_and_say_so(tmp_path):
    scaler = StandardScaler().fit(pd.DataFrame(VISITORS)[["age"]])
    age = maps.Transformer(scaler, "age")
    np.testing.assert_allclose(age.encode(VISITORS), AGE.fit(VISITORS).encode(VISITORS))
    with pytest.warns(RuntimeWarning, match=r"StandardScaler of \('age',\): zeros for a record that it does not"):
        assert age.encode([{"age": "old"}, VISITORS[1]]).tolist() == [[0.0], [0.0]]
    assert age.encode([{"age": "older"}]).tolist() == [[0.0]]  # told once
    assert age.names == ["age"]
    joined = maps.Outer(context=age, items=YEAR).fit(VISITORS, MOVIES)
    with pytest.raises(ValueError, match=r"save: Outer\.context: Transformer cannot be saved: it keeps objects"):
        joined.save(tmp_path / "map.bsel")
    nameless = maps.Transformer(FunctionTransformer(lambda x: np.column_stack([x, np.inf * x])), "age")
    assert not nameless.fitted
    assert nameless.fit(VISITORS).encode([{"age": 5}]).tolist() == [[5.0, 0.0]]
    own = maps.Function(lambda context, items: [[np.nan, 1e300]] * len(items), width=2)
    assert own.features({}, MOVIES).tolist() == [[0.0, 1e30]] * 2
    assert own.names == ["<lambda> 0", "<lambda> 1"]
    with pytest.raises(ValueError, match="save: Function: Function cannot be saved"):
        own.save(tmp_path / "map.bsel")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"expected finite numbers of shape \(2, 3\)"):
        maps.Function(lambda context, items: [[1.0]], width=3).features({}, MOVIES)


def hashed_features():
    both = maps.Text("title", width=9) + maps.Categories("country", width=3)
    made = maps.HashedInteractions(context=both, items=both, width=9)
    return made.features({"country": "FR", "title": "a b"}, [{"country": "BR", "title": "été"}]).tolist()


def test_another_process_encodes_the_same():
    code = f"from banditselect import maps\n{inspect.getsource(hashed_features)}\nprint(hashed_features())"
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == hashed_features()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: maps.Numbers(), "Numbers: columns: got (), expected different names of columns"),
        (lambda: maps.Numbers("a", "a"), "Numbers: columns"),
        (lambda: maps.Numbers("a", scale="log"), "Numbers: scale: got 'log', expected one of 'fit', 'online'"),
        (lambda: maps.Categories("a", width=0), "Categories: width"),
        (lambda: maps.Text("a", ngrams=(2, 1)), "Text: ngrams"),
        (lambda: maps.Embeddings("a", {}), "Embeddings: table"),
        (lambda: maps.Embeddings("a", {1: [1.0], "1": [2.0]}), "keys that are written differently"),
        (lambda: maps.Embeddings("a", {1: [1.0], 2: [2.0, 3.0]}), "vectors of one length"),
        (lambda: maps.Outer(context="age", items=YEAR), "Outer: context: got 'age', expected an encoder"),
        (lambda: maps.SideBySide(context=AGE, items=YEAR, then=maps.Fourier(AGE)), "SideBySide: then"),
        (lambda: maps.Fourier(width=3).encode([{}]), "Fourier: of: got None"),
        (lambda: maps.Disjoint(constant=False), "Disjoint: constant"),
        (lambda: maps.Function(3, width=1), "Function: function"),
        (lambda: maps.Transformer(StandardScaler, "a"), "Transformer: transformer"),
        (lambda: maps.Items(YEAR).features({}, {"year": 3}), "items: got {'year': 3}, expected a DataFrame, or a"),
        (lambda: maps.Records(MOVIES).take([2]), "take: positions: got [2], expected whole numbers between 0 and 1"),
        (lambda: maps.Items(YEAR).features(pd.DataFrame(VISITORS), []), "context: got <3 records>, expected one"),
        (lambda: maps.Records(pd.DataFrame([[1, 2]], columns=["a", "a"])), "columns of different names"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(make, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        make()
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("encoder", "record", "message"),
    [
        (AGE, {"age": "50"}, "Numbers.fit: age: got '50', expected a number in at least one example"),
        (maps.Numbers("id", "aeg", scale=None), {"id": 1, "age": 20}, "Numbers.fit: aeg: got None"),
        (maps.Numbers("age", scale="online"), {"age": float("inf")}, "Numbers.fit: age: got inf"),
        (COUNTRY, {"country": None}, "Categories.fit: country: got None, expected a category in at least one"),
        (maps.Categories("c", width=2), {"c": []}, "Categories.fit: c: got []"),
        (maps.Text("t"), {"t": None}, "Text.fit: t: got None, expected text"),
        (maps.Embeddings("k", {1: [2.0]}), {"k": 2}, "Embeddings.fit: k: got 2, expected a key of the table"),
        (maps.Vectors("v"), {"v": 1.0}, "Vectors.fit: v: got 1.0, expected a list of finite numbers in at least"),
        (maps.Vectors("v", length=2), {"v": [1.0]}, "Vectors.fit: v: got [1.0], expected a list of 2 numbers in at"),
    ],
)
def test_a_fit_refuses_a_column_without_one_usable_value(encoder, record, message):
    for fit in (encoder.fit, lambda rows: maps.Items(encoder + encoder).fit(None, rows)):
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            fit([record, record])
        assert message in str(refused.value)
    assert encoder.fit([]).fitted


def test_maps_that_are_given_one_encoder_observe_each_for_itself():
    year = maps.Numbers("year", scale="online")
    one, other = maps.Items(year), maps.Outer(context=AGE, items=year + year)
    for map in (one, other):
        map.observe({}, MOVIES)
    assert one.items.count.tolist() == other.items.encoders[0].count.tolist() == [2.0]
    assert year.count.tolist() == [0.0]
    before = copy.copy(one)
    one.observe({}, MOVIES)
    assert before.items.count.tolist() == [2.0]


def test_what_is_taken_of_a_catalogue_follows_what_is_learned_online():
    online = maps.Items(maps.Numbers("year", scale="online") + maps.Text("title", width=4)).fit(None, MOVIES)
    catalogue = maps.Records(MOVIES)
    for years in ([1950], [2000, 2040]):
        fresh = online.features({}, [MOVIES[1]])
        np.testing.assert_array_equal(online.features({}, catalogue.take([1])), fresh)
        online.observe({}, [{"year": year} for year in years])
    np.testing.assert_array_equal(online.features({}, catalogue)[1:], online.features({}, catalogue.take([1])))


def test_columns_of_tables_may_have_numbers_for_names():
    table = pd.DataFrame([[1.0, "a"], [3.0, "b"]])
    both = maps.SideBySide(context=maps.Numbers("0"), items=maps.Categories("1")).fit(table, table)
    for context in (table.iloc[1], table.iloc[[1]], {"0": 3.0}):
        assert both.features(context, table).tolist() == [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]]
    assert maps.Records(table).rows() == [{"0": 1.0, "1": "a"}, {"0": 3.0, "1": "b"}]


def test_a_map_of_your_own(tmp_path):
    class Clock(maps.Encoder):
        column: str = argument(kw_only=False)

        @property
        def names(self):
            return ["sin", "cos"]

        def _encode(self, records):
            turn = 2.0 * np.pi * np.nan_to_num(records.numbers(self.column)) / 24.0
            return np.column_stack([np.sin(turn), np.cos(turn)])

    daily = maps.Outer(context=Clock("hour"), items=YEAR).fit(None, MOVIES)
    assert repr(daily) == "Outer(context=Clock('hour'), items=Numbers('year'))"
    daily.save(tmp_path / "daily.bsel")
    again = load(tmp_path / "daily.bsel")
    np.testing.assert_allclose(again.features({"hour": 6}, MOVIES)[:, :2], [[1.0, 0.0]] * 2, atol=1e-15)


def test_of_two_classes_of_one_name_the_later_one_is_known(tmp_path, registry):
    with pytest.raises(ValueError, match=r"'Numbers' is already registered, by banditselect\.maps\.numbers"):
        type("Numbers", (maps.Encoder,), {})
    type("Ours", (maps.Encoder,), {"__module__": "shop"})
    with pytest.raises(ValueError, match=r"'Ours' is already registered, by shop"):
        type("Ours", (maps.Encoder,), {"__module__": "store"})
    old, new = (type("Twice", (maps.Numbers,), {}) for _ in range(2))
    new("a").save(tmp_path / "map.bsel")
    assert type(load(tmp_path / "map.bsel")) is new
    with pytest.raises(ValueError, match="an earlier version of the class, make it anew"):
        maps.Items(old("a")).save(tmp_path / "map.bsel")


@pytest.mark.parametrize(
    "harm",
    [
        lambda items, arrays: items["learned"].pop("mean"),
        lambda items, arrays: arrays.update({items["learned"]["mean"]["array"]: np.zeros(0)}),
        lambda items, arrays: arrays.update({items["learned"]["mean"]["array"]: np.array([np.nan])}),
        lambda items, arrays: arrays.update({items["learned"]["mean"]["array"]: np.array([1])}),
        lambda items, arrays: items["learned"].update(mean="1990"),
        lambda items, arrays: items["Numbers"].update(columns=3),
        lambda items, arrays: items.update(Numbers=None),
        lambda items, arrays: items.update(learned=None),
    ],
)
def test_what_no_map_has_written_is_a_value_error(harm, tmp_path):
    path = tmp_path / "map.bsel"
    maps.Items(YEAR).fit(None, MOVIES).save(path)
    settings, arrays = files.read(path)
    harm(settings["Items"]["items"], arrays)
    files.write(path, settings, arrays)
    with pytest.raises(ValueError, match=r"map\.bsel: "):
        load(path)


@pytest.mark.parametrize(
    "wrong", [np.ones((2, 3)), np.ones((1, 1)), np.full((2, 1), np.nan), [[1.0], [1.0]][:1]], ids=str
)
def test_features_of_a_map_of_ones_own_are_checked_by_its_name(wrong):
    body = {"names": property(lambda self: ["a"]), "_features": lambda self, context, items: wrong}
    made = type("Wrong", (maps.FeatureMap,), body)()
    with pytest.raises(ValueError, match=r"Wrong: features: got (.|\n)* expected finite numbers of shape \(2, 1\)"):
        made.features({}, [{"id": 1}, {"id": 2}])
