"""Candidates: what columns are, and what is made of them."""

import numpy as np
import pandas as pd
import pytest

from banditselect import maps
from banditselect.maps.proposals import _kind

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


def test_six_maps_where_items_have_features():
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


def test_what_cannot_help_is_left_out():
    assert list(maps.candidates(None)) == ["levels"]
    assert list(maps.candidates([{"one": 1}] * 30)) == ["levels"]
    assert list(maps.candidates(None, MOVIES)) == ["raw", "scaled", "fourier", "levels"]
    words = [{"country": c} for c in ("FR", "BR", "IT") * 5]
    assert list(maps.candidates(words)) == ["levels", "scaled", "products", "fourier", "hashed"]
    wide = pd.DataFrame(RNG.normal(size=(40, 60)), columns=[f"x{k}" for k in range(60)])
    assert list(maps.candidates(wide)) == ["levels", "raw", "scaled", "fourier"]
    assert list(maps.candidates(wide, MOVIES)) == ["raw", "scaled", "hashed", "fourier", "disjoint"]
    many = pd.DataFrame({"id": np.arange(600), "price": RNG.normal(size=600)})
    assert list(maps.candidates(VISITORS, many)) == ALL[:-1]
    assert {map.blocks for map in maps.candidates(VISITORS, many[["id"]]).values()} == {501}


def test_many_categories_are_hashed():
    shops = pd.DataFrame({f"c{k}": [f"v{RNG.integers(30)}" for _ in range(300)] for k in range(6)})
    assert maps.candidates(shops)["scaled"].context.width == 32
