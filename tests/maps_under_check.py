"""A map of every kind, and records for it."""

import numpy as np

from banditselect import maps
from banditselect.types import Blocked

VISITORS = [{"age": 20, "country": "FR"}, {"age": 40, "country": "BR"}, {"age": 60, "country": "FR"}]
MOVIES = [
    {"id": 1, "year": 1990, "title": "The third man", "tags": ["noir"], "vector": [1.0, 0.0]},
    {"id": 2, "year": 2010, "title": "Second man", "tags": ["noir", "love"], "vector": [0.0, 1.0]},
]
AGE, COUNTRY, YEAR = maps.Numbers("age"), maps.Categories("country"), maps.Numbers("year")


def every_map():
    """One of each, not fitted."""
    both = {"context": AGE + COUNTRY, "items": YEAR + maps.Text("title", width=4)}
    table = maps.Embeddings("id", {1: [0.5, -1.0], "2": [2.0, 0.0]})
    hashed = maps.Categories("country", "age", width=3, seed=5)
    return {
        "items": maps.Items(maps.Polynomials(YEAR + table + maps.Vectors("vector"), degree=3, powers=False)),
        "side by side": maps.SideBySide(**both),
        "products": maps.SideBySide(**both, then=maps.Polynomials()),
        "waves": maps.SideBySide(**both, then=maps.Fourier(width=5, seed=3)),
        "outer": maps.Outer(**both, own=False),
        "hashed": maps.HashedInteractions(context=hashed + AGE, items=YEAR + maps.Categories("id"), width=16, seed=2),
        "disjoint": maps.Disjoint(context=maps.Fourier(AGE, width=4, bandwidth=0.5), items=YEAR, capacity=3),
        "levels": maps.Disjoint(),
        "any": maps.HashedInteractions(context=maps.AnyColumns(), items=maps.AnyColumns(width=3), width=8),
        "online": maps.Outer(
            context=maps.Numbers("age", scale="online", indicator=True),
            items=maps.Text("tags", units="letters", ngrams=(2, 3), width=6),
        ),
    }


def equal(one, other):
    for left, right in zip(one, other, strict=True) if isinstance(one, Blocked) else [(one, other)]:
        np.testing.assert_array_equal(left, right)
