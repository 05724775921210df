"""Candidates: what columns are, and what is made of them."""

import numpy as np
import pandas as pd
import pytest

from banditselect import maps
from banditselect.maps.proposals import _kind
from banditselect.runtime.shapes import values_of

RNG = np.random.default_rng(0)
VISITORS = pd.DataFrame(
    {
        "row": np.arange(200),
        "user_id": RNG.integers(0, 40, 200),
        "age": RNG.integers(18, 80, 200).astype(float),
        "income": RNG.gamma(2.0, 3e4, 200),
        "country": RNG.choice(["FR", "BR", "IT"], 200),
        "source": "web",
    }
)
MOVIES = pd.DataFrame(
    {
        "movie_id": [f"m{k}" for k in range(50)],
        "year": RNG.integers(1950, 2020, 50),
        "genre": RNG.choice(["western", "drama", "noir"], 50),
        "plot": [" ".join(RNG.choice(["love", "war", "sea", "gold", "train"], 6)) for _ in range(50)],
        "vector": list(RNG.normal(size=(50, 3))),
    }
)
ALL = ["raw", "scaled", "interactions", "hashed", "fourier", "disjoint"]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("age", [31, 45.5, None, 20], "number"),
        ("member", [True, False, True], "number"),
        ("constant", [3, 3, 3.0], "nothing"),
        ("empty", [None, np.nan], "nothing"),
        ("row", list(range(30)), "id"),
        ("sorted", list(range(20, 50)), "number"),
        ("user_id", [3, 4, 3, 5], "returning id"),
        ("id", [7, 8, 9], "id"),
        ("token", [f"x{k}" for k in range(20)], "id"),
        ("color", ["red", "blue", "red", None], "category"),
        ("mixed", [1, "b", "c", 2], "category"),
        ("plot", ["a man and a dog", "two men in a boat", "one boat"], "text"),
        ("tags", [["a", "b"], ["c"]], "text"),
        ("embedding", [[0.1, 2.0], [3.0, 4.0], None], "vector"),
    ],
)
def test_columns_are_told_apart_by_their_values(name, values, kind):
    assert _kind(name, values) == kind


def test_seven_maps_where_items_have_features():
    found = maps.candidates(VISITORS, MOVIES)
    assert list(found) == ALL
    assert all(map.fitted and map.width <= 256 for map in found.values())
    scaled = found["scaled"]
    assert scaled.context.names[:2] == ["age", "income"]
    assert set(scaled.context.names[2:]) == {"country = FR", "country = BR", "country = IT", "country is unknown"}
    assert scaled.items.width == 1 + 4 + 32 + 3  # year, genre, plot, vector
    assert found["interactions"].width == (6 + 1) * (8 + 1) - 1  # without plot
    assert found["hashed"].context.encoders[1].columns == ("country", "user_id")
    assert found["hashed"].items.encoders[1].columns == ("genre", "movie_id")
    assert found["disjoint"].id == "movie_id"
    assert found["disjoint"].ids == MOVIES["movie_id"].tolist()
    assert found["disjoint"].blocks == 101
    same = maps.candidates(VISITORS.to_dict("records"), MOVIES.to_dict("records"))
    for name, map in found.items():
        visitor, movies = VISITORS.iloc[3], MOVIES.iloc[:4]
        for one, other in zip(map.features(visitor, movies), same[name].features(visitor, movies), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("items", [None, [], [{"id": "a"}, {"id": "b"}], ["a", "b"]])
def test_items_that_have_only_an_id_have_parameters_each(items):
    found = maps.candidates(VISITORS, items)
    assert list(found) == ["levels", "raw", "scaled", "products", "fourier", "hashed"]
    assert all(type(map) is maps.Disjoint for map in found.values())
    assert found["levels"].names == ["1"]
    assert found["scaled"].names[:3] == ["1", "age", "income"]
    assert found["levels"].ids == (["a", "b"] if items else [])
    assert {map.blocks for map in found.values()} == {11 if items else 101}


def test_what_cannot_help_is_left_out_with_the_reason():
    constant = maps.candidates([{"one": 1}] * 30)
    assert list(constant) == ["levels"]
    assert constant.left_out.keys() == {"context column one", "raw", "scaled", "products", "fourier", "hashed"}
    alone = maps.candidates(None, MOVIES)
    assert list(alone) == ["raw", "scaled", "fourier", "levels"]
    assert alone.left_out.keys() == {"interactions", "hashed", "disjoint"}
    assert maps.candidates(None, MOVIES.drop(columns="movie_id")).left_out["levels"] == "items have no ids"
    words = [{"country": c} for c in ("FR", "BR", "IT") * 5]
    assert list(maps.candidates(words)) == ["levels", "scaled", "products", "fourier", "hashed"]
    many = pd.DataFrame({"id": np.arange(600), "price": RNG.normal(size=600)})
    found = maps.candidates(VISITORS, many)
    assert list(found) == [*ALL[:-1], "fourier 256"]
    assert found.left_out == {
        "context column row": "its ids never return",
        "context column source": "it has the same value in all examples, or none",
        "disjoint": "items have 600 ids, not 2 to 500",
    }
    assert {map.blocks for map in maps.candidates(VISITORS, many[["id"]]).values()} == {501}


def test_maps_that_are_too_wide_are_left_out_with_a_warning():
    wide = pd.DataFrame(RNG.normal(size=(40, 60)), columns=[f"x{k}" for k in range(60)])
    with pytest.warns(RuntimeWarning, match=r"left out products \(1891 features\)"):
        found = maps.candidates(wide)
    assert list(found) == ["levels", "raw", "scaled", "fourier"]
    assert found.left_out["products"] == "it has 1891 features, more than 256"
    coins = pd.DataFrame(np.eye(50), columns=[f"a{k}" for k in range(50)])
    with pytest.warns(RuntimeWarning, match=r"left out interactions \(305 features\)"):
        found = maps.candidates(wide[["x0", "x1", "x2", "x3", "x4"]], coins)
    assert list(found) == ["raw", "scaled", "hashed", "fourier", "fourier 256"]
    assert found["hashed"].width == 256  # all products are there, some with the same parameter
    assert found.left_out["interactions"] == "it has 305 features, more than 256"


def test_many_categories_are_hashed():
    shops = pd.DataFrame({f"c{k}": [f"v{RNG.integers(30)}" for _ in range(300)] for k in range(6)})
    with pytest.warns(RuntimeWarning, match="left out products"):
        assert maps.candidates(shops)["scaled"].context.width == 32


def test_examples_that_are_all_alike_say_nothing_about_a_column():
    """Columns of a single context are used: a constant cannot be distinguished from an ordinary column."""
    one = {"age": 40.0, "country": "FR", "says": "two red shoes", "user_id": 7}
    for contexts, kinds in (([one], 3), ([one] * 3, 2)):  # text that returns is a category
        found = maps.candidates(contexts, MOVIES.drop(columns="plot"))
        assert list(found) == ALL
        encoder = found["scaled"].context
        assert [type(part).__name__ for part in encoder.encoders] == ["Numbers", "Categories", "Text"][:kinds]
        assert (encoder.encoders[0].scale, encoder.encoders[1].width) == ("online", 8)
        assert "user_id" in found["hashed"].context.encoders[1].columns
        assert found["fourier"].then.bandwidth == pytest.approx(np.sqrt(2 * (1 + (4 - kinds) + 2)))
    items = maps.candidates(VISITORS, [{"price": 3.0}])
    assert items["raw"].items.names == ["price"]


@pytest.mark.parametrize("nothing", [None, [], pd.DataFrame()])
def test_without_examples_any_columns_are_read(nothing):
    found = maps.candidates(nothing)
    assert list(found) == ["levels", "side by side", "hashed", "fourier", "disjoint"]
    films = [{"id": 1, "year": 1990, "genre": "noir"}, {"id": 2, "year": 2010, "genre": "drama"}]
    for name, map in found.items():
        map.observe({"age": 20}, films)
        map.observe({"age": 60}, films)
        young, old = (values_of(map.features({"age": age}, films)) for age in (20, 60))
        assert (young != old).any() == (name != "levels")
        if map.blocks == 1:
            assert (young[0] != young[1]).any()


def test_any_columns_by_hand():
    """Numbers are standardized by the numbers so far and carry the sign of their column, categories that of theirs."""
    anything = maps.AnyColumns(width=1)
    anything.observe(maps.Records([{"x": 1.0}, {"x": 3.0}, {"x": None}]))
    anything.observe(maps.Records([{"x": 8.0}]))
    mean, deviation = 4.0, np.std([1.0, 3.0, 8.0])
    assert anything.columns == ["x"]
    np.testing.assert_allclose(anything.moments, [[3.0, mean, deviation**2]])
    np.testing.assert_allclose(np.abs(anything.encode([{"x": 5.0}, {"x": -1e9}])), [[1.0 / deviation], [10.0]])
    sign = np.sign(anything.encode([{"x": 5.0}]))
    np.testing.assert_allclose(anything.encode([{"x": 2.0}]), sign * (2.0 - mean) / deviation)
    assert np.abs(anything.encode([{"word": "a"}, {"user_id": 3}, {"x": "three"}])).tolist() == [[1.0]] * 3
    assert anything.encode([{}, {"x": None}, {"tags": ["a"]}, {"new": 5.0}]).tolist() == [[0.0]] * 4
    anything.observe(maps.Records([{"x": float(k % 2)} for k in range(1000)]))
    before = anything.moments
    anything.observe(maps.Records([{"x": 1e6}]))
    assert anything.moments == before  # the scale of a column settles


def test_a_fit_to_items_without_the_column_of_ids_is_refused():
    with pytest.raises(ValueError, match=r"Disjoint.fit: id: got None, expected an id in at least one example"):
        maps.Disjoint().fit(VISITORS, [{"sku": 1}, {"sku": 2}])


def test_waves_that_would_cost_every_learner_too_much_space_are_left_out():
    """Beside parameters for each item, since a bank has room for the widest map in every block."""
    rng = np.random.default_rng(0)
    contexts = [{"age": float(age)} for age in rng.uniform(18.0, 80.0, size=50)]
    items = [{"id": i, "price": float(rng.normal())} for i in range(100)]
    assert "fourier 256" in maps.candidates(contexts, [{"price": item["price"]} for item in items])
    found = maps.candidates(contexts, items)
    assert "fourier 256" not in found
    assert "MB a learner" in found.left_out["fourier 256"]
