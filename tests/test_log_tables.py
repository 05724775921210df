"""Tables of logged decisions: what is read from them, and what they refuse by file, column and row."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from banditselect import cross_features
from banditselect.logs import Log

ROWS = pd.DataFrame(
    {
        "age": [20.0, 30.0, 40.0],
        "one": [1, 1, 1],
        "action": ["b", "a", "b"],
        "propensity": [0.5, 0.25, 0.75],
        "reward": [1.0, 0.0, 0.5],
        "offered": [["a", "b"], ["a", "b", "c"], ["c", "b"]],
    }
)
OFFERS = pd.DataFrame(
    {
        "decision": ["u", "v", "u", "v", "v"],
        "x": [1.0, 2.0, 3.0, 4.0, 5.0],
        "z": [6.0, 7.0, 8.0, 9.0, 10.0],
        "chosen": [False, True, True, False, False],
        "propensity": [np.nan, 0.25, 0.5, np.nan, np.nan],
        "reward": [np.nan, 1.0, 0.0, np.nan, np.nan],
    }
)


def same(log, other):
    rows = np.arange(len(log))
    for mine, its in zip(log.features.maps(rows), other.features.maps(rows), strict=True):
        np.testing.assert_array_equal(mine, its)
    for name in ("action", "propensity", "reward", "available"):
        np.testing.assert_array_equal(getattr(log, name), getattr(other, name))
    return True


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_one_row_per_decision_with_a_context(suffix, tmp_path):
    source = saved(ROWS, suffix, tmp_path)
    log = Log.read(source, context=["age", "one"])
    np.testing.assert_array_equal(log.action, [1, 0, 1])
    np.testing.assert_array_equal(log.offers(0), [[20.0, 1.0, 0.0, 0.0], [0.0, 0.0, 20.0, 1.0]])
    np.testing.assert_array_equal(log.propensity, [0.5, 0.25, 0.75])
    wider = Log.read(source, context=["age"], actions=["c", "b", "a"])
    np.testing.assert_array_equal(wider.action, [1, 2, 1])
    menus = Log.read(source, context=["age"], offered="offered")
    np.testing.assert_array_equal(menus.available, [[True, True, False], [True, True, True], [False, True, True]])


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_one_row_per_decision_with_items(suffix, tmp_path):
    source = saved(ROWS, suffix, tmp_path)
    items = {"c": [1.0, 2.0], "a": [3.0, 4.0], "b": [5.0, 6.0]}
    log = Log.read(source, items=items)
    np.testing.assert_array_equal(log.action, [2, 1, 2])
    np.testing.assert_array_equal(log.offers(1), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    menus = Log.read(source, items=items, offered="offered")
    np.testing.assert_array_equal(menus.action, [1, 0, 1])
    np.testing.assert_array_equal(menus.offers(2), [items["c"], items["b"]])
    np.testing.assert_array_equal(menus.available, [[True, True, False], [True, True, True], [True, True, False]])
    maps = Log.read(source, items={k: [v, v[:1]] for k, v in items.items()}, offered="offered")
    assert maps.features.dims == (2, 1)
    np.testing.assert_array_equal(maps.offers(2)[1], [[1.0], [5.0]])
    equal = Log.read(source, items={k: np.array([v, v]) for k, v in items.items()})
    assert equal.offers(0).shape == (2, 3, 2)


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_one_row_per_decision_with_a_context_and_items(suffix, tmp_path):
    source = saved(ROWS, suffix, tmp_path)
    items = {"c": [1.0, 2.0], "a": [3.0, 4.0], "b": [5.0, 6.0]}
    log = Log.read(source, context=["age", "one"], items=items)
    np.testing.assert_array_equal(log.action, [2, 1, 2])
    np.testing.assert_array_equal(log.offers(1), cross_features([30.0, 1.0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    menus = Log.read(source, context=["age"], items=items, offered="offered")
    np.testing.assert_array_equal(menus.offers(2), [[40.0, 80.0], [200.0, 240.0]])
    np.testing.assert_array_equal(menus.action, [1, 0, 1])
    frame = pd.DataFrame.from_dict(items, orient="index", columns=["x", "y"])
    assert same(Log.read(source, context=["age", "one"], items=frame), log)
    assert same(Log.read(source, items=frame, offered="offered"), Log.read(source, items=items, offered="offered"))


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_several_maps_of_context_and_items(suffix, tmp_path):
    source = saved(ROWS, suffix, tmp_path)
    arms = Log.read(source, context=[["age", "one"], ["one"]], offered="offered")
    assert arms.features.dims == (6, 3)
    np.testing.assert_array_equal(arms.offers(0)[0], [[20.0, 1.0, 0, 0, 0, 0], [0, 0, 20.0, 1.0, 0, 0]])
    np.testing.assert_array_equal(arms.offers(0)[1], [[1.0, 0, 0], [0, 1.0, 0]])
    assert same(arms[[2, 0]], Log.read(ROWS.iloc[[2, 0]], context=[["age", "one"], ["one"]], offered="offered"))
    one, two = {"c": [1.0, 2.0], "a": [3.0, 4.0], "b": [5.0, 6.0]}, pd.DataFrame({"x": [7.0, 8, 9]}, index=[*"abc"])
    items = Log.read(source, items=[one, two])
    assert same(items, Log.read(source, items={"c": [[1.0, 2.0], [9.0]], "a": [[3.0, 4.0], [7.0]], "b": [[5, 6], [8]]}))
    both = Log.read(source, context=[["age", "one"], ["age"]], items=[one, two])
    np.testing.assert_array_equal(both.offers(1)[0], cross_features([30.0, 1.0], list(one.values())))
    np.testing.assert_array_equal(both.offers(1)[1], [[270.0], [210.0], [240.0]])
    first = Log.read(source, context=[["age"], ["one"]], items=one)  # the items serve both contexts
    np.testing.assert_array_equal(first.offers(0)[0], 20.0 * first.offers(0)[1])
    second = Log.read(source, context=["age"], items=[one, two])[[1, 2]]  # and a context all maps of items
    np.testing.assert_array_equal(second.offers(0)[1], [[270.0], [210.0], [240.0]])
    for log in (arms, items, both, first, second):
        rows = np.arange(len(log))
        for i, whole in enumerate(log.features.maps(rows)):
            (found,) = log.features.maps(rows, i)
            np.testing.assert_array_equal(found, whole)
    alone = Log.read(source, context=[["age"]])
    assert alone.features.many
    assert alone.offers(0).shape == (1, 2, 2)


def test_maps_that_do_not_go_together_are_refused():
    one = {"a": [1.0], "b": [2.0]}
    with pytest.raises(ValueError, match=r"Log.read: items\[1\]: got .*, expected the ids of the first map, 2"):
        Log.read(ROWS, items=[one, {"a": [1.0], "d": [2.0]}])
    with pytest.raises(ValueError, match="CrossedItems: items: got '2 maps', expected one map, or 3"):
        Log.read(ROWS, context=[["age"], ["one"], ["age"]], items=[one, one])
    with pytest.raises(ValueError, match="columns: got 'age', expected a list of names"):
        Log.read(ROWS, context=["age", ["one"]])
    with pytest.raises(ValueError, match=r"columns: got \[\], expected a list of names"):
        Log.read(ROWS, context=[["age"], []])


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "a"]), "Log.read: actions: got .*, expected different ids"),
        (pd.DataFrame({"x": [1.0, None]}, index=["a", "b"]), "Log.read: items: column 'x', row 1: got nan"),
        (pd.DataFrame({"x": ["1,5", "2"]}, index=["a", "b"]), "Log.read: items: column 'x', row 0: got '1,5'"),
        (pd.DataFrame(index=["a", "b"]), r"Log.read: items: columns: got \[\]"),
        ([[1.0], [2.0]], "Log.read: items: got .*, expected a DataFrame with the ids as index"),
    ],
)
def test_items_that_cannot_be_used_are_refused(items, message):
    with pytest.raises(ValueError, match=message):
        Log.read(ROWS, items=items)


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
@pytest.mark.parametrize("column", ["age", "propensity", "reward"])
@pytest.mark.parametrize("cell", ["0,9", "1,25", "1.000,5", "0,", "'0.5'", "['0.5']", "0.5 0.6"])
def test_a_number_that_cannot_be_read_is_refused_by_its_place(suffix, column, cell, tmp_path):
    cells = ["0.5", cell, "0.5"]
    source = saved(ROWS.assign(**{column: cells}), suffix, tmp_path)
    with pytest.raises(ValueError, match=rf"table.*: column '{column}', row 1: got .*, with a point"):
        Log.read(source, context=["age"])


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_several_numbers_in_the_place_of_one_are_refused_by_their_place(suffix, tmp_path):
    for column in ("propensity", "reward"):
        source = saved(ROWS.assign(**{column: [[0.5, 0.5]] * 3}), suffix, tmp_path)
        with pytest.raises(ValueError, match=f"table.*: column '{column}', row 0: got .*, expected one number"):
            Log.read(source, context=["age"])
    flags = OFFERS.assign(chosen=[[0, 1], [1, 0], [1, 0], [0, 1], [0, 1]])
    with pytest.raises(ValueError, match=r"column 'chosen', row 0: got .*, expected one number"):
        Log.read_offers(saved(flags, suffix, tmp_path), features=["x"])
    nested = ROWS.assign(age=[[[1.0]], [[2.0]], [[3.0]]])
    with pytest.raises(ValueError, match=r"column 'age', row 0: got .*, with a point"):
        Log.read(saved(nested, suffix, tmp_path), context=["age"])


def test_one_propensity_for_all_rows_may_be_a_number():
    np.testing.assert_array_equal(Log.read(ROWS, context=["age"], propensity=0.5).propensity, [0.5] * 3)
    np.testing.assert_array_equal(Log.read_offers(OFFERS, features=["x"], propensity=1).propensity, [1.0, 1.0])
    for wrong in (0, 1.5, np.nan, True, None):
        with pytest.raises(ValueError, match="Log: propensity: got"):
            Log.read(ROWS, context=["age"], propensity=wrong)


def test_columns_that_may_have_gaps_and_decimal_numbers_are_read():
    table = ROWS.assign(reward=pd.array([1, 0, 1], dtype="Int64"), propensity=[Decimal("0.5")] * 3)
    np.testing.assert_array_equal(Log.read(table, context=["age"]).reward, [1.0, 0.0, 1.0])
    gap = ROWS.assign(reward=pd.array([1, None, 1], dtype="Int64"))
    with pytest.raises(ValueError, match="table: column 'reward', row 1: got nan"):
        Log.read(gap, context=["age"])
    twice = pd.concat([ROWS, ROWS[["age"]]], axis=1)
    with pytest.raises(ValueError, match=r"table: columns: got .*, expected one column 'age'"):
        Log.read(twice, context=["age"])


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_one_row_per_action_offered(suffix, tmp_path):
    source = saved(OFFERS, suffix, tmp_path)
    log = Log.read_offers(source, features=["x", "z"])
    np.testing.assert_array_equal(log.action, [1, 0])
    np.testing.assert_array_equal(log.propensity, [0.5, 0.25])
    np.testing.assert_array_equal(log.reward, [0.0, 1.0])
    np.testing.assert_array_equal(log.available, [[True, True, False], [True, True, True]])
    np.testing.assert_array_equal(log.offers(0), [[1.0, 6.0], [3.0, 8.0]])
    maps = Log.read_offers(source, features=[["x", "z"], ["z"]])
    np.testing.assert_array_equal(maps.offers(1)[1], [[7.0], [9.0], [10.0]])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("many", [False, True])
def test_what_is_written_is_read_again_to_the_bit(suffix, many, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4, 3)) * 10.0 ** rng.integers(-8, 8, (30, 4, 3))
    available = rng.uniform(size=(30, 4)) < 0.7
    available[:, 2] = True
    available[0] = True
    x[~available] = 0.0
    log = Log(
        features=[x, x[..., :2]] if many else x,
        action=np.full(30, 2),
        propensity=rng.uniform(size=30),
        reward=rng.normal(size=30),
        available=available,
    )
    log.write(tmp_path / f"log.{suffix}")
    columns = [["features_0"], ["features_1"]] if many else ["features"]
    again = Log.read_offers(tmp_path / f"log.{suffix}", features=columns)
    for t in range(30):
        for mine, its in zip(log.offers(t), again.offers(t), strict=True):
            np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(log.played(t)[0], again.played(t)[0])
    np.testing.assert_array_equal(log.propensity, again.propensity)
    np.testing.assert_array_equal(log.reward, again.reward)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"context": ["height"]}, r"rows.csv: columns: got .*, expected a column 'height'"),
        ({}, {"context": ["age"], "reward": "gain"}, "rows.csv: columns: got .*, expected a column 'gain'"),
        ({"propensity": [0.5, 0.5, 1.5]}, {"context": ["age"]}, "rows.csv: column 'propensity', row 2: got 1.5"),
        ({"reward": [0.5, None, 1.5]}, {"context": ["age"]}, "rows.csv: column 'reward', row 1: got nan"),
        ({"reward": ["1", "low", "2"]}, {"context": ["age"]}, "rows.csv: column 'reward', row 1: got 'low'"),
        ({"age": [1.0, 2.0, np.inf]}, {"context": ["age"]}, "rows.csv: column 'age', row 2: got inf"),
        ({"age": ["[1]", "[2]", "[1, 2]"]}, {"context": ["age"]}, "row 2: got '2 numbers', expected 1, as in row 0"),
        (
            {},
            {"context": ["age"], "actions": ["a"]},
            "rows.csv: column 'action', row 0: got 'b', expected one of the 1",
        ),
        ({}, {"context": ["age"], "actions": ["a", "b", "b"]}, "Log.read: actions: got"),
        (
            {},
            {"items": {"a": [1.0]}},
            "rows.csv: column 'action', row 0: got 'b', expected one of the 1 ids, such as 'a'",
        ),
        ({}, {"items": {"a": [1.0], "b": [1.0, 2.0]}}, "Log.read: items: got"),
        ({}, {"items": {"a": [[1.0], [2.0]], "b": [[1.0]]}}, "Log.read: items: got"),
        ({}, {"items": {"a": [1.0], "b": [2.0]}, "offered": "offered"}, "column 'offered', row 1: got 'c'"),
        (
            {"offered": [["a"], ["a"], ["b"]]},
            {"items": {"a": [1.0], "b": [2.0]}, "offered": "offered"},
            "rows.csv: column 'action', row 0: got 'b', expected an id in column 'offered'",
        ),
        (
            {"offered": [["b"], ["b"], ["b"]]},
            {"context": ["age"], "offered": "offered"},
            "rows.csv: column 'action', row 1: got 'a', expected an id in column 'offered'",
        ),
        ({"offered": ["a", [], "b"]}, {"context": ["age"], "offered": "offered"}, "column 'offered', row 0: got 'a'"),
        ({"offered": [["a", "a"]] * 3}, {"context": ["age"], "offered": "offered"}, "a list of different ids"),
        ({"action": ["a", "NA", "b"]}, {"context": ["age"]}, "column 'action', row 1: got None, expected an id"),
        ({}, {}, "Log.read: context, items: got"),
        ({}, {"context": []}, "rows.csv: columns: got .*, expected a list of names"),
        ({}, {"items": {"a": [1.0]}, "actions": ["a"]}, "Log.read: actions: got"),
    ],
)
def test_a_bad_row_is_named(change, arguments, message, tmp_path):
    path = tmp_path / "rows.csv"
    ROWS.assign(**change).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        Log.read(path, **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"chosen": [0, 1, 0, 0, 0]},
            "offers.csv: column 'chosen', decision 'u': got '0 rows that are chosen', expected one",
        ),
        ({"chosen": [1, 1, 1, 0, 0]}, "offers.csv: column 'chosen', decision 'u': got '2 rows that are chosen'"),
        ({"chosen": [0, 1, 2, 0, 0]}, "offers.csv: column 'chosen', row 2: got 2.0, expected true or false"),
        ({"propensity": [None, 0.5, 0.0, None, None]}, "offers.csv: column 'propensity', row 2: got 0.0"),
        ({"propensity": [None, None, 0.1, None, None]}, "offers.csv: column 'propensity', row 1: got nan"),
        ({"decision": ["u", None, "u", "v", "v"]}, "offers.csv: column 'decision', row 1: got None, expected an id"),
        ({"x": [1.0, 2.0, 3.0, None, 4.0]}, "offers.csv: column 'x', row 3: got nan"),
    ],
)
def test_a_bad_offer_is_named(change, message, tmp_path):
    path = tmp_path / "offers.csv"
    OFFERS.assign(**change).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        Log.read_offers(path, features=["x", "z"])


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match=r"Log: path: got 'log.json', expected a file that ends in .parquet or .csv"):
        Log.read("log.json", context=["age"])
    with pytest.raises(ValueError, match="table: got 'no row'"):
        Log.read(ROWS[:0], context=["age"])


def test_without_pandas_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "banditselect\[experiments\]"'):
        Log.read("log.csv", context=["age"])


def saved(table, suffix, folder):
    if suffix is None:
        return table
    path = folder / f"table.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return path
