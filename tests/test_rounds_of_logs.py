"""Logs of other systems as rounds of records: what is read, what is refused by its line, and how much is held."""

import gzip
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from banditselect.logs import Round, read_dsjson, read_offers, read_open_bandit, read_table

COFFEE = {
    "_label_cost": -0.5,
    "_label_probability": 0.05,
    "_label_Action": 2,
    "_labelIndex": 1,
    "o": [{"v": 0.5, "EventId": "x"}],
    "Timestamp": "2021-02-04T16:31:29.2460000Z",
    "Version": "1",
    "EventId": "x",
    "a": [2, 1, 3],
    "c": {
        "FromUrl": [{"timeofday": "Afternoon", "name": "Cathy"}, {"sunny": True}],
        "numbers": [4, 5.6],
        "age": 30,
        "_secret": 1,
        "note": {"_text": "two words"},
        "_multi": [
            {"_tag": "Cappucino", "i": {"constant": 1, "id": "Cappucino"}, "j": [{"type": "hot"}]},
            {"_tag": "Cold brew", "j": [{"type": "cold", "_hidden": 2}]},
            {"j": {"type": "hot"}},
        ],
    },
    "p": [0.05, 0.05, 0.9],
    "VWState": {"m": "N/A"},
}
READ = Round(
    {
        "FromUrl.timeofday": "Afternoon",
        "FromUrl.name": "Cathy",
        "FromUrl.sunny": True,
        "numbers": [4, 5.6],
        "age": 30,
        "note._text": "two words",
    },
    [
        {"i.constant": 1, "i.id": "Cappucino", "j.type": "hot", "id": "Cappucino"},
        {"j.type": "cold", "id": "Cold brew"},
        {"j.type": "hot"},
    ],
    1,
    0.5,
    0.05,
)


def written(tmp_path, *events, name="log.dsjson"):
    path = tmp_path / name
    lines = "".join((event if isinstance(event, str) else json.dumps(event)) + "\n" for event in events)
    path.write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
    return path


def without(*names, **changes):
    return {name: value for name, value in COFFEE.items() if name not in names} | changes


# dsjson


@pytest.mark.parametrize("name", ["log.dsjson", "log.json.gz"])
def test_a_line_of_dsjson(name, tmp_path):
    rounds = read_dsjson(written(tmp_path, COFFEE, "", COFFEE, name=name))
    assert list(rounds) == [READ, READ]
    assert list(rounds) == [READ, READ]  # it can be gone through again


@pytest.mark.parametrize(("cost", "reward"), [(-1, 1.0), (0.25, -0.25), (-0.0, 0.0), (0, 0.0)])
def test_the_reward_is_minus_the_cost(cost, reward, tmp_path):
    (found,) = read_dsjson(written(tmp_path, without(_label_cost=cost)))
    assert found.reward == reward
    assert np.copysign(1.0, found.reward) == (-1.0 if reward < 0 else 1.0)  # no -0.0


def test_the_ranking_tells_the_action_where_the_label_does_not(tmp_path):
    (found,) = read_dsjson(
        written(tmp_path, without("_labelIndex", "_label_probability", a=[3, 1, 2], p=[0.9, 0.05, 0.05]))
    )
    assert (found.action, found.probability) == (2, 0.9)


def test_a_decision_that_nobody_saw_is_passed_over(tmp_path):
    rounds = read_dsjson(written(tmp_path, without(_skipLearn=True), COFFEE, without(_skipLearn=False)))
    assert len(list(rounds)) == 2
    assert rounds.skipped == 0


BAD_LINES = [
    ('{"_label_cost": ', "got .*, expected a JSON object"),
    ("[1, 2]", "expected a decision"),
    ({"RewardValue": 1.0, "EventId": "x"}, "expected a decision"),  # a reward without its decision
    (without("_label_cost"), "_label_cost: got None, expected a number"),
    (without(_label_cost="1"), "_label_cost: got '1', expected a number"),
    (without(_label_cost=float("nan")), "reward: got nan, expected a finite number"),
    (without(_label_probability=0.0), r"probability: got 0.0, expected a probability in \(0, 1\]"),
    (without(_label_probability=1.5), "probability: got 1.5"),
    (without(_label_probability=None), "probability: got None"),
    (without(_labelIndex=3), "action: got 3, expected a position between 0 and 2"),
    (without(_labelIndex=-1), "action: got -1"),
    (without(_labelIndex=1.0), "action: got 1.0"),
    (without("_labelIndex", "a"), "action: got None"),
    (without(c={"_multi": []}), r"items: got \[\], expected at least one"),
    (without(c={"age": 3}), "c: got .*'_multi'"),
    (without(c={"_multi": [1]}), "c: got .*'_multi'"),
    (without(c={"_multi": [{}], "_slots": []}), "c: got .*no '_slots'"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_a_bad_line_is_refused_by_its_number_or_skipped_and_counted(line, message, tmp_path):
    path = written(tmp_path, COFFEE, line, COFFEE)
    rounds = iter(read_dsjson(path))
    assert next(rounds) == READ
    with pytest.raises(ValueError, match=rf"^log\.dsjson: line 2(: .*)?{message}"):
        next(rounds)
    kept = read_dsjson(path, skip=True)
    for _ in range(2):
        assert list(kept) == [READ, READ]
        assert kept.skipped == 1


# The Open Bandit data set

LOGGED = """,timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,\
user-item_affinity_0,user-item_affinity_1
0,2019-11-24 00:03:13.442536+00:00,1,3,0,0.25,cef3,03a5,0.0,2.0
1,2019-11-24 00:03:36.705207+00:00,0,1,1,0.75,81ce,03a5,1.0,0.0
"""
ITEMS = """,item_id,item_feature_0,item_feature_1
0,0,-0.677,1e2
1,1,0.72,eb6f
"""


def open_bandit(tmp_path, logged=LOGGED, items=ITEMS):
    folder = tmp_path / "men"
    folder.mkdir()
    (folder / "men.csv").write_text(logged)
    (folder / "item_context.csv").write_text(items)
    return folder


def test_the_layout_of_the_open_bandit_data_set(tmp_path):
    first, second = read_open_bandit(open_bandit(tmp_path))
    context = {"position": "3", "user_feature_0": "cef3", "user_feature_1": "03a5"}
    items = [
        {"id": 0, "item_feature_0": -0.677, "item_feature_1": "1e2", "affinity": 0.0},
        {"id": 1, "item_feature_0": 0.72, "item_feature_1": "eb6f", "affinity": 2.0},
    ]
    assert first == Round(context, items, 1, 0.0, 0.25)
    assert (second.action, second.reward, second.probability) == (0, 1.0, 0.75)
    assert [item["affinity"] for item in second.items] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("00:00,0,1,1,", "00:00,7,1,1,", "item_id: got '7', expected one of the 2 items"),
        ("0.75", "0,75", "got .*, expected a cell for each of the 10 columns"),
        (",1.0,0.0\n", ",1.0\n", "got .*, expected a cell for each of the 10 columns"),
        ("0.75", "1.75", r"probability: got 1.75, expected a probability in \(0, 1\]"),
        ("0.75", "much", "propensity_score: got 'much', expected a number"),
        ("1,0.75", ",0.75", "click: got '', expected a number"),
        ("1.0,0.0\n", "1.0,x\n", "affinity_1: got 'x'"),
    ],
)
def test_a_bad_row_is_refused_by_its_line(old, new, message, tmp_path):
    folder = open_bandit(tmp_path, LOGGED.replace(old, new))
    with pytest.raises(ValueError, match=rf"^men\.csv: line 3: .*{message}"):
        list(read_open_bandit(folder))
    rounds = read_open_bandit(folder, skip=True)
    assert len(list(rounds)) == 1
    assert rounds.skipped == 1


def test_columns_and_items_that_are_missing_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"men\.csv: line 2: got .*, expected a column 'click'"):
        list(read_open_bandit(open_bandit(tmp_path, LOGGED.replace("click", "clack"))))
    (tmp_path / "men" / "item_context.csv").write_text(",id\n0,0\n")
    with pytest.raises(ValueError, match=r"item_context\.csv: got 'no items'"):
        read_open_bandit(tmp_path / "men")


# Tables

VISITS = pd.DataFrame(
    {
        "age": [31.0, None, 40.0],
        "city": ["Rome", "Oslo", None],
        "words": [[0.5, 1.0], [1.0, 2.0], [3.0, 4.0]],
        "action": [7, 9, 7],
        "propensity": [0.5, 0.25, 0.75],
        "reward": [1, 0, 2],
        "offered": [[7, 9], [9, 8], [8, 7]],
    }
)
FILMS = {7: {"title": "Alien", "year": 1979}, 8: {"title": "Bambi"}, 9: {"id": "own"}}


def saved(frame, suffix, tmp_path):
    if suffix is None:
        return frame
    path = tmp_path / f"visits.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
@pytest.mark.parametrize(
    "items", [FILMS, pd.DataFrame({"title": ["Alien", "Bambi", "own"]}, index=[7, 8, 9]), [7, 8, 9]]
)
def test_a_table_with_a_row_per_decision(suffix, items, tmp_path):
    source = saved(VISITS, suffix, tmp_path)
    rounds = list(read_table(source, context=["age", "city", "words"], items=items))
    assert [r.action for r in rounds] == [0, 2, 0]
    assert [r.reward for r in rounds] == [1.0, 0.0, 2.0]
    assert [r.probability for r in rounds] == [0.5, 0.25, 0.75]
    assert rounds[0].context == {"age": 31.0, "city": "Rome", "words": [0.5, 1.0]}
    assert rounds[1].context["age"] is None or np.isnan(rounds[1].context["age"])
    assert rounds[2].context["city"] is None or np.isnan(rounds[2].context["city"])
    assert len(rounds[0].items) == 3
    assert rounds[0].items[0]["id"] == 7
    if items is FILMS:
        assert rounds[0].items == [
            {"id": 7, "title": "Alien", "year": 1979},
            {"id": 8, "title": "Bambi"},
            {"id": "own"},
        ]
    menus = list(read_table(source, items=items, offered="offered", propensity=0.5))
    assert [r.action for r in menus] == [0, 0, 1]
    assert [len(r.items) for r in menus] == [2, 2, 2]
    assert menus[2].items[0]["id"] == 8
    assert menus[0].context == {}
    assert {r.probability for r in menus} == {0.5}


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": [7, 6, 7]}, "column 'action': got '?6'?, expected one of the 3 ids"),
        ({"propensity": [0.5, 1.5, 0.5]}, r"probability: got 1.5, expected a probability in \(0, 1\]"),
        ({"reward": [1.0, None, 1.0]}, "(column ')?reward'?: got (nan|''|None), expected a"),
        ({"offered": [[7], [8], [7]]}, "column 'action': got '?9'?, expected an id in column 'offered'"),
        ({"offered": [[7], [], [7]]}, "column 'offered': got .*, expected a list of different ids"),
        ({"offered": [[7], [9, 5], [7]]}, "column 'offered': got '?5'?, expected one of the 3 ids"),
    ],
)
def test_a_bad_row_of_a_table_is_refused_by_its_place(suffix, change, message, tmp_path):
    source = saved(VISITS.assign(**change), suffix, tmp_path)
    place = {"parquet": "visits.parquet: row 1", "csv": "visits.csv: line 3", None: "table: row 1"}[suffix]
    arguments = {"context": ["age"], "items": FILMS, "offered": "offered"}
    with pytest.raises(ValueError, match=f"^{place}: {message}"):
        list(read_table(source, **arguments))
    rounds = read_table(source, skip=True, **arguments)
    assert len(list(rounds)) == 2
    assert rounds.skipped == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"context": "age"}, "read_table: context: got 'age', expected a list of columns"),
        ({"context": ["agee"]}, "table: row 0: got .*, expected a column 'agee'"),
        ({"items": {}}, "read_table: items: got"),
        ({"items": [7, 7, 9]}, "read_table: items: got .* all different"),
        ({"items": "789"}, "read_table: items: got '789'"),
        ({"items": {7: "Alien"}}, "read_table: items: got"),
        ({"propensity": 1.5}, "read_table: propensity: got 1.5"),
        ({"skip": 1}, "skip: got 1, expected True or False"),
    ],
)
def test_arguments_of_a_table_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        list(read_table(VISITS, **({"items": FILMS} | arguments)))


def test_cells_of_a_csv_file_are_what_they_can_be_read_as(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("x,action,propensity,reward\n" + "".join(f'"{x}",a,0.5,1\n' for x in CELLS))
    found = [r.context["x"] for r in read_table(path, context=["x"], items=["a"])]
    assert found == list(CELLS.values())
    assert [type(x) for x in found] == [type(x) for x in CELLS.values()]


CELLS = {"3": 3, "-3.5": -3.5, "": None, " ": None, "1_000": "1_000", "red": "red", "[1, 2.5]": [1, 2.5], "[oh": "[oh"}


OFFERS = pd.DataFrame(
    {
        "decision": ["u", "u", "v", "w", "w"],
        "age": [30, 30, 40, 50, 50],
        "price": [1.0, 2.0, 3.0, None, 5.0],
        "chosen": [False, True, True, True, False],
        "propensity": [None, 0.25, 0.5, 0.75, None],
        "reward": [None, 1.0, 0.0, 2.0, None],
    }
)


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
def test_a_table_with_a_row_per_action_offered(suffix, tmp_path):
    source = saved(OFFERS, suffix, tmp_path)
    u, v, w = read_offers(source, context=["age"], item=["price"])
    assert u == Round({"age": 30}, [{"price": 1.0}, {"price": 2.0}], 1, 1.0, 0.25)
    assert v == Round({"age": 40}, [{"price": 3.0}], 0, 0.0, 0.5)
    assert (w.action, w.reward, w.probability, w.items[1]) == (0, 2.0, 0.75, {"price": 5.0})
    assert w.items[0]["price"] is None or np.isnan(w.items[0]["price"])
    flags = OFFERS.assign(chosen=[0, 1, 1, 1, 0])
    assert next(iter(read_offers(saved(flags, suffix, tmp_path), item=["price"], propensity=1))).probability == 1.0


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chosen": [0, 1, 0, 1, 0]}, "column 'chosen': got '0 rows that are chosen', expected one"),
        ({"chosen": [0, 1, 2, 1, 0]}, "column 'chosen': got '?2'?, expected true or false, 1 or 0"),
        ({"propensity": [None, 0.5, 0.0, 0.5, None]}, "probability: got 0.0"),
        ({"reward": [None, 1.0, None, 1.0, None]}, "(column ')?reward'?: got (nan|''|None), expected a"),
    ],
)
def test_a_bad_decision_of_offers_is_refused_by_its_first_row(suffix, change, message, tmp_path):
    source = saved(OFFERS.assign(**change), suffix, tmp_path)
    place = {"parquet": "visits.parquet: row 2", "csv": "visits.csv: line 4", None: "table: row 2"}[suffix]
    with pytest.raises(ValueError, match=f"^{place}: {message}"):
        list(read_offers(source, context=["age"], item=["price"]))
    rounds = read_offers(source, item=["price"], skip=True)
    assert len(list(rounds)) == 2
    assert rounds.skipped == 1


def test_arguments_of_offers_are_refused_by_name():
    for arguments in ({"item": "price"}, {"item": []}, {"item": ["price"], "context": "age"}):
        with pytest.raises(ValueError, match=r"read_offers: (item|context): got .*, expected a list of columns"):
            read_offers(OFFERS, **arguments)
    with pytest.raises(ValueError, match=r"table: row 0: got .*, expected a column 'cost'"):
        list(read_offers(OFFERS, item=["cost"]))


# Memory


@pytest.mark.parametrize("kind", ["dsjson", "csv", "parquet", "open bandit", "offers"])
def test_memory_does_not_grow_with_the_rows(kind, tmp_path):
    """Ten times the rows would need at least a megabyte more if they were held."""

    def peak(n):
        folder = tmp_path / str(n)
        folder.mkdir()
        if kind == "dsjson":
            rounds = read_dsjson(written(folder, *[COFFEE] * n))
        elif kind == "open bandit":
            rounds = read_open_bandit(open_bandit(folder, LOGGED + LOGGED.split("\n", 2)[2] * (n - 2)))
        elif kind == "offers":
            rows = OFFERS.iloc[:2].loc[np.tile([0, 1], n)].assign(decision=np.arange(2 * n) // 2)
            rounds = read_offers(saved(rows, "csv", folder), item=["price"])
        else:
            frame = pd.concat([VISITS] * (n // 3))
            rounds = read_table(saved(frame, kind, folder), context=["age", "words"], items=FILMS)
        next(iter(rounds))
        tracemalloc.start()
        count = sum(1 for _ in rounds)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count >= n - 3
        return most

    few, many = (3000, 15000) if kind == "parquet" else (300, 3000)  # a batch of parquet is 1,000 rows
    assert peak(many) < peak(few) + 200_000
