"""Tables of logged decisions as rounds: what is read, refusals by file, line and column, and memory."""

import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from banditselect import maps
from banditselect.logs import Log, Round, read_decisions, read_dsjson, read_offers, read_open_bandit

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
    rounds = list(read_decisions(source, context=["age", "city", "words"], items=items))
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
    menus = list(read_decisions(source, items=items, offered="offered", propensity=0.5))
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
        ({"action": pd.array([7, None, 7], dtype="Int64")}, "column 'action': got (None|nan|<NA>), expected one of"),
        ({"propensity": [0.5, 1.5, 0.5]}, r"column 'propensity': got 1.5, expected a probability in \(0, 1\]"),
        ({"reward": [1.0, None, 1.0]}, "column 'reward': got nan, expected a finite number"),
        ({"reward": [1.0, np.inf, 1.0]}, "column 'reward': got inf"),
        *(
            ({column: ["0.5", cell, "0.5"]}, f"column '{column}': got .*, expected a finite number such as 0.5, with a")
            for column in ("propensity", "reward")
            for cell in ("0,9", "1_0", "1.000,5", "'0.5'", "['0.5']", "0.5 0.6", "low")
        ),
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
        list(read_decisions(source, **arguments))
    rounds = read_decisions(source, skip=True, **arguments)
    assert len(list(rounds)) == 2
    assert rounds.skipped == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"context": "age"}, "read_decisions: context: got 'age', expected a list of columns"),
        ({"context": ["agee"]}, "table: columns: got .*, expected a column 'agee'"),
        ({"reward": "gain"}, "table: columns: got .*, expected a column 'gain'"),
        ({"items": {}}, "read_decisions: items: got"),
        ({"items": [7, 7, 9]}, "read_decisions: items: got .* all different"),
        ({"items": pd.DataFrame({"x": [1.0, 2.0]}, index=[7, 7])}, "(?s)read_decisions: items: got .* all different"),
        ({"items": "789"}, "read_decisions: items: got '789'"),
        ({"items": {7: "Alien"}}, "read_decisions: items: got"),
        ({"propensity": 1.5}, "read_decisions: propensity: got 1.5"),
        ({"skip": 1}, "skip: got 1, expected True or False"),
    ],
)
def test_arguments_of_a_table_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        list(read_decisions(VISITS, **({"items": FILMS} | arguments)))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3", "-4"], [3, -4]),
        (["3", "-3.5"], [3.0, -3.5]),
        (["3", ""], [3.0, None]),
        (["NA", " "], ["NA", None]),
        (["1_000", "2"], ["1_000", "2"]),
        (["red", ""], ["red", None]),
        (["[1, 2.5]", "[oh"], [[1, 2.5], "[oh"]),
        (["True", "False"], [True, False]),
    ],
)
def test_the_columns_of_a_csv_file_are_numbers_where_all_their_cells_are(cells, expected, tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("x,action,propensity,reward\n" + "".join(f'"{x}",a,0.5,1\n' for x in cells))
    found = [r.context["x"] for r in read_decisions(path, context=["x"], items=["a"])]
    assert found == expected
    assert [type(x) for x in found] == [type(x) for x in expected]


def test_cells_that_shift_a_row_are_refused_or_skipped(tmp_path):
    path, read = tmp_path / "rows.csv", {"context": ["age"], "items": ["a"]}
    path.write_text("age,action,propensity,reward\n20,a,0.5,1\n0,5,a,0.5,1\n40,a,0.5,1\n")
    with pytest.raises(ValueError, match=r"^rows\.csv: got '.*Expected 4 fields in line 3, saw 5'"):
        list(read_decisions(path, **read))
    rounds = read_decisions(path, skip=True, **read)
    assert [r.context["age"] for r in rounds] == [20, 40]
    assert rounds.skipped == 1
    offers = "decision,x,chosen,propensity,reward\n1,2,1,0.5,1\n1,2,5,0,,\n"  # its decision would lack an action
    (tmp_path / "offers.csv").write_text(offers)
    with pytest.raises(ValueError, match="Expected 5 fields in line 3, saw 6"):
        list(read_offers(tmp_path / "offers.csv", item=["x"], skip=True))
    path.write_text("age,action,propensity,reward\n" + "0,5,a,0.5,1\n" * 2)  # pandas takes the first for an index
    for skip in (False, True):
        with pytest.raises(ValueError, match=r"^rows\.csv: line 2: .*as many cells in the first row as columns"):
            list(read_decisions(path, skip=skip, **read))


def test_lines_are_counted_through_texts_of_several_lines(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('age,action,propensity,reward\n"a\nb",a,0.5,1\n\n20,a,0.5,x\n')
    with pytest.raises(ValueError, match=r"^rows\.csv: line 5: column 'reward': got 'x'"):
        list(read_decisions(path, context=["age"], items=["a"]))


def test_broken_files_are_refused_by_name(tmp_path):
    rows = b"age,action,propensity,reward\n20,a,0.5,1\n"
    for name, content, message in (
        ("empty.csv", b"", r"columns: got \[\], expected a column 'age'"),
        ("none.csv", rows[:29], "got 'no row', expected at least one"),
        ("latin.csv", rows + b"\xff,a,0.5,1\n", "line 3: got .*, expected text in UTF-8"),
        ("head.csv", b"\xff" + rows, "line 1: got .*, expected text in UTF-8"),
        ("quote.csv", rows + b'"20,a,0.5,1\n', r"got '.*EOF inside string starting at row 2', expected a \.csv file"),
        ("none.parquet", b"text", r"got .*, expected a \.parquet file"),
        ("twice.csv", b"\xef\xbb\xbfage,age,action,propensity,reward\n", "columns: got .*, expected one column 'age'"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"^{name}: {message}"):
            list(read_decisions(tmp_path / name, context=["age"], items=["a"]))
    (tmp_path / "fine.csv").write_bytes(b"\xef\xbb\xbfage,action,propensity,reward,,\n20,a,0.5,1,,\n")
    assert len(list(read_decisions(tmp_path / "fine.csv", context=["age"], items=["a"]))) == 1
    with pytest.raises(ValueError, match=r"table: got 'log\.json', expected a DataFrame, or a file that ends in"):
        read_decisions("log.json", items=["a"])
    with pytest.raises(ValueError, match="table: got 'no row'"):
        list(read_decisions(VISITS[:0], items=FILMS))
    with pytest.raises(ValueError, match=r"table: columns: got .*, expected (one|columns)"):
        list(read_decisions(pd.concat([VISITS, VISITS[["age"]]], axis=1), context=["age"], items=FILMS))


def test_columns_with_gaps_decimal_numbers_and_huge_ones_are_read():
    table = VISITS.assign(reward=pd.array([1, 0, 1], dtype="Int64"), propensity=[Decimal("0.5")] * 3)
    assert [(r.reward, r.probability) for r in read_decisions(table, items=FILMS)] == [(1, 0.5), (0, 0.5), (1, 0.5)]
    for bad in (pd.array([1, None, 1], dtype="Int64"), pd.Series([1, 10**400, 1], dtype=object), [[0.5], [1.0], [2.0]]):
        with pytest.raises(ValueError, match=r"table: row [01]: column 'reward': got"):
            list(read_decisions(VISITS.assign(reward=bad), items=FILMS))


def test_without_pandas_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "banditselect\[experiments\]"'):
        list(read_decisions("log.csv", items=["a"]))


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
    twice = OFFERS.assign(chosen=[True, True, True, True, False], propensity=0.5, reward=1.0)
    with pytest.raises(ValueError, match="row of the decision to be chosen"):
        list(read_offers(saved(twice, suffix, tmp_path), item=["price"]))
    flags = OFFERS.assign(chosen=[0, 1, 1, 1, 0])
    assert next(iter(read_offers(saved(flags, suffix, tmp_path), item=["price"], propensity=1))).probability == 1.0


@pytest.mark.parametrize("suffix", ["parquet", "csv", None])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chosen": [0, 1, 0, 1, 0]}, "column 'chosen': got 0, expected one row of the decision to be chosen"),
        ({"chosen": [0, 1, 2, 1, 0]}, "column 'chosen': got 2, expected true or false, 1 or 0"),
        ({"propensity": [None, 0.5, 0.0, 0.5, None]}, "column 'propensity': got 0.0"),
        ({"reward": [None, 1.0, None, 1.0, None]}, "column 'reward': got nan, expected a finite number"),
        ({"decision": ["u", "u", None, "w", "w"]}, "column 'decision': got (None|nan), expected an id"),
    ],
)
def test_a_bad_decision_of_offers_is_refused_by_its_row(suffix, change, message, tmp_path):
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
    with pytest.raises(ValueError, match=r"table: columns: got .*, expected a column 'cost'"):
        list(read_offers(OFFERS, item=["cost"]))


def test_decisions_may_span_batches(tmp_path):
    n = 9001  # of three rows each: a batch has 10,000 rows
    x = np.arange(3 * n)
    rows = pd.DataFrame({"decision": x // 3, "x": 1.0 * x, "chosen": x % 3 == 1, "propensity": 0.5, "reward": 1.0 * x})
    for suffix in ("csv", "parquet"):
        rounds = list(read_offers(saved(rows, suffix, tmp_path), item=["x"]))
        assert len(rounds) == n
        for t in (0, 3333, 6666, n - 1):
            assert rounds[t] == Round({}, [{"x": 3.0 * t + k} for k in range(3)], 1, 3.0 * t + 1, 0.5)
        bad = rows.assign(reward=np.where(rows["x"] == 3 * 6666 + 1, np.nan, rows["x"]))
        place = "line 20001" if suffix == "csv" else "row 19999"
        with pytest.raises(ValueError, match=f"^visits.{suffix}: {place}: column 'reward'"):
            list(read_offers(saved(bad, suffix, tmp_path), item=["x"]))
        log = Log.from_rounds(read_offers(saved(rows, suffix, tmp_path), item=["x"]), maps.Items(maps.Numbers("x")))
        assert log.reward.tolist() == [r.reward for r in rounds]


# Memory


def lines(n, tmp_path):
    path = tmp_path / f"{n}.dsjson"
    path.write_text('{"_label_cost": -1, "a": [1], "p": [0.5], "c": {"age": 3, "_multi": [{"words": [1, 2]}]}}\n' * n)
    return read_dsjson(path)


def campaign(n, tmp_path):
    folder = tmp_path / str(n)
    folder.mkdir()
    (folder / f"{n}.csv").write_text("item_id,position,click,propensity_score\n" + "0,1,1,0.5\n" * n)
    (folder / "item_context.csv").write_text("item_id\n0\n1\n")
    return read_open_bandit(folder)


def visits(suffix):
    def read(n, tmp_path):
        source = saved(pd.concat([VISITS] * (n // 3)), suffix, tmp_path)
        return read_decisions(source, context=["age", "words"], items=FILMS)

    return read


@pytest.mark.parametrize(
    ("read", "few", "many"),
    [
        (visits("csv"), 24_000, 48_000),
        (visits("parquet"), 24_000, 48_000),
        (campaign, 20_000, 40_000),
        (lines, 300, 3000),
    ],
    ids=["csv", "parquet", "open bandit", "dsjson"],
)
def test_memory_does_not_grow_with_the_rows(read, few, many, tmp_path):
    """More rows than one batch of a table would need megabytes more if they were held."""

    def peak(n):
        rounds = read(n, tmp_path)
        next(iter(rounds))
        tracemalloc.start()
        count = sum(1 for _ in rounds)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == n
        return most

    assert peak(many) < peak(few) + 1_000_000
