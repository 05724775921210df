"""Tables of every library mean the same; what is no table and no list of records is refused by name."""

import collections
import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from banditselect import Agent, LinIDS, maps, regions
from banditselect.logs import Log, read_decisions, read_offers

ITEMS = [
    {"id": "tea", "price": 2.0, "kind": "hot", "vector": [1.0, 0.0]},
    {"id": "wine", "price": 9.0, "kind": None, "vector": [0.0, 1.0]},
    {"id": "juice", "price": None, "kind": "cold", "vector": [0.5, 0.5]},
]
VISITORS = [{"age": 20.0 + k, "city": "Rome" if k % 2 else "Oslo"} for k in range(8)]
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pylist}
EVERY = pytest.mark.parametrize("frame", LIBRARIES.values(), ids=LIBRARIES)


def agent_of(contexts=VISITORS, items=ITEMS):
    numbers = maps.Numbers("price", indicator=True) + maps.Categories("kind") + maps.Vectors("vector")
    taste = maps.Outer(context=maps.Numbers("age"), items=numbers)
    return Agent(maps=[taste.fit(contexts, items)], policy=LinIDS.bind(), seed=1)


@EVERY
def test_an_agent_reads_rows_and_not_columns(frame):
    one, other = agent_of(), agent_of(frame(VISITORS), frame(ITEMS))
    for t, visitor in enumerate(VISITORS):
        choice = one.act(visitor, ITEMS)
        assert other.act(frame([visitor]), frame(ITEMS)).to_dict()["item"] == choice.item
        for agent in (one, other):
            agent.learn(visitor, ITEMS[t % 3], float(t % 3))
        p = [agent.probabilities(visitor, items) for agent, items in ((one, ITEMS), (other, frame(ITEMS)))]
        assert p[0].shape == (3,)
        np.testing.assert_array_equal(*p)
    other.register(frame(ITEMS))
    assert list(other._items) == ["tea", "wine", "juice"]
    np.testing.assert_array_equal(one.probabilities(VISITORS[0], ITEMS), other.probabilities(VISITORS[0]))


@EVERY
def test_records_and_proposed_maps_are_those_of_dicts(frame):
    records, wide = maps.Records(frame(ITEMS)), maps.candidates(frame(VISITORS * 9), frame(ITEMS * 9))
    assert (len(records), records.names) == (3, ["id", "price", "kind", "vector"])
    np.testing.assert_array_equal(records.numbers("price"), [2.0, 9.0, np.nan])
    assert [row["id"] for row in records.rows()] == records.column("id") == ["tea", "wine", "juice"]
    assert records.take([2]).column("vector") == [[0.5, 0.5]]
    assert records.column("other") == [None] * 3
    same = maps.candidates(VISITORS * 9, ITEMS * 9)
    assert list(wide) == list(same)
    for name, part in wide.items():
        shown, told = (m.features(VISITORS[0], ITEMS) for m in (part, same[name]))
        assert all(np.array_equal(a, b) for a, b in zip(shown, told, strict=True)), name


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


VISITS = [
    {"age": 20.0, "words": [0.5, 1.0], "action": "b", "propensity": 0.5, "reward": 1.0, "offered": ["a", "b"]},
    {"age": 30.0, "words": [1.0, 2.0], "action": "a", "propensity": 0.25, "reward": 0.0, "offered": ["b", "a"]},
]
OFFERS = [
    {"decision": 1, "x": 2.0, "chosen": False, "propensity": None, "reward": None},
    {"decision": 1, "x": 3.0, "chosen": True, "propensity": 0.25, "reward": 1.0},
    {"decision": 2, "x": 4.0, "chosen": True, "propensity": 0.5, "reward": 2.0},
]
ARMS = {"a": [1.0, 2.0], "b": [3.0, 4.0]}


def table_of_arms(frame):
    if frame is pd.DataFrame:
        return pd.DataFrame.from_dict(ARMS, orient="index", columns=["x", "y"])
    return frame([{"id": name, "x": x, "y": y} for name, (x, y) in ARMS.items()])


@EVERY
def test_logs_are_read_alike(frame):
    read = {"context": ["age", "words"], "offered": "offered"}
    tables = [
        (frame(VISITS), table_of_arms(frame)),
        (columns_of(VISITS), {k: {"x": v[0], "y": v[1]} for k, v in ARMS.items()}),
    ]
    mine, its = ([*read_decisions(visits, **read, items=arms)] for visits, arms in tables)
    assert mine == its
    assert mine[1].context == {"age": 30.0, "words": [1.0, 2.0]}
    assert [r.action for r in mine] == [1, 1]
    crossed = maps.Outer(context=maps.Numbers("age", scale=None), items=maps.Numbers("x", "y", scale=None), own=False)
    log = Log.from_rounds(read_decisions(frame(VISITS), **read, items=table_of_arms(frame)), crossed)
    np.testing.assert_array_equal(log.offers(1), [[90.0, 120.0], [30.0, 60.0]])
    assert (log.action.tolist(), log.reward.tolist(), log.propensity.tolist()) == ([1, 1], [1.0, 0.0], [0.5, 0.25])
    offers = [*read_offers(frame(OFFERS), item=["x"])]
    assert [(r.items, r.action, r.reward) for r in offers] == [
        ([{"x": 2.0}, {"x": 3.0}], 1, 1.0),
        ([{"x": 4.0}], 0, 2.0),
    ]


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.Table.from_pylist])
def test_a_table_of_items_without_an_index_has_a_column_of_ids(frame):
    with pytest.raises(ValueError, match=r"items: columns: got \['x'\], expected a column 'id'"):
        read_decisions("v.csv", items=frame([{"x": 1.0}]))


@EVERY
def test_regions_of_tasks_are_read_alike(frame):
    rng = np.random.default_rng(0)
    x, task = rng.normal(size=(96, 2)), np.arange(96) % 12
    y = x[:, 0] * (1.0 - 2.0 * (task % 2)) + 0.1 * rng.normal(size=96)
    table = {"task": task.tolist(), "reward": y.tolist(), "a": x[:, 0].tolist(), "b": x[:, 1].tolist()}
    rows = frame([dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)])
    told = {"key": "task", "features": ["a", "b"], "n_regions": 2}
    np.testing.assert_array_equal(regions.from_tasks(rows, **told).means, regions.from_tasks(table, **told).means)
    series = {name: rows[name] for name in table}
    np.testing.assert_array_equal(regions.from_tasks(series, **told).means, regions.from_tasks(table, **told).means)


# Refusals.

Movie = collections.namedtuple("Movie", "id price")


@dataclasses.dataclass
class Film:
    price: float


CONTAINERS = {
    "columns": (columns_of(ITEMS), "dict"),
    "generator": ((row for row in ITEMS), "generator"),
    "string": ("tea", "str"),
    "bytes": (b"tea", "bytes"),
    "set": ({"tea"}, "set"),
    "array": (np.ones((3, 2)), "ndarray"),
    "rows without names": ([[1.0, 2.0], [3.0, 4.0]], "list"),
    "objects": ([Film(1.0)], "Film"),
    "one record": (Movie("tea", 2.0), "Movie"),
    "tables": ([pl.DataFrame(ITEMS)], "DataFrame"),
    "tables of pandas": ([pd.DataFrame(ITEMS)], "DataFrame"),
    "series": (pl.Series(["tea"]), "Series"),
    "series of pandas": (pd.Series(["tea"]), "Series"),
    "lazy": (pl.DataFrame(ITEMS).lazy(), "LazyFrame"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_what_would_be_misread_is_refused_by_name(kind):
    items, told = CONTAINERS[kind]
    agent = agent_of()
    agent.register(ITEMS)
    for call in (agent.act, agent.probabilities, agent.maps["0: Outer"].features, agent.maps["0: Outer"].fit):
        with pytest.raises(ValueError, match=rf"(?s)^items: got .*, expected a .*, not a value of type {told}$"):
            call(VISITORS if call == agent.maps["0: Outer"].fit else VISITORS[0], items)
    with pytest.raises(ValueError, match=rf"(?s)^items: got .*, not a value of type {told}$"):
        agent.register(items)


@pytest.mark.parametrize("context", [[{"age": 3.0}], (3.0,), {3.0}, np.ones(2), pl.Series([1.0]), Film(2.0), b"x"])
def test_a_context_that_is_no_record_is_refused_by_name(context):
    agent = agent_of()
    with pytest.raises(ValueError, match=rf"(?s)^context: got .*, not a value of type {type(context).__name__}$"):
        agent.act(context, ITEMS)
    with pytest.raises(ValueError, match=r"^context: got <2 records>, expected one record"):
        agent.act(pl.DataFrame(VISITORS[:2]), ITEMS)


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"items: columns: got \['a', 'a'\], expected columns of different names"):
        maps.Items(maps.Numbers("a", scale=None)).features({}, twice)
