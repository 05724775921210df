"""Logs of other systems, dsjson and the Open Bandit data set: rounds, refusals by line, broken files, memory."""

import gzip
import json

import numpy as np
import pytest

from banditselect.logs import Round, read_dsjson, read_open_bandit

COFFEE = {
    "_label_cost": -0.5,
    "_label_probability": 0.05,
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


def test_the_ranking_has_the_action_where_the_label_has_none(tmp_path):
    ranked = without("_labelIndex", "_label_probability", a=[3, 1, 2], p=[0.9, 0.05, 0.05])
    (found,) = read_dsjson(written(tmp_path, ranked))
    assert (found.action, found.probability) == (2, 0.9)


def test_a_decision_that_was_not_shown_is_passed_over(tmp_path):
    rounds = read_dsjson(written(tmp_path, without(_skipLearn=True), COFFEE, without(_skipLearn=False)))
    assert len(list(rounds)) == 2
    assert rounds.skipped == 0


BAD_LINES = [
    ('{"_label_cost": ', "got .*, expected a JSON object"),
    ("[1, 2]", "expected a decision"),
    ({"RewardValue": 1.0, "EventId": "x"}, "expected a decision"),  # a reward without its decision
    (without("_label_cost"), "_label_cost: got None, expected a finite number"),
    (without(_label_cost="1"), "_label_cost: got '1', expected a finite number"),
    (without(_label_cost=float("nan")), "_label_cost: got nan, expected a finite number"),
    (without(_label_cost=10**400), "_label_cost: got 1000"),
    (without(_label_probability=0.0), r"probability: got 0.0, expected a finite number > 0 and <= 1"),
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


def test_broken_files_are_refused_by_name_and_line(tmp_path):
    whole = gzip.compress((json.dumps(COFFEE) + "\n").encode() * 2000)
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "no.gz").write_text("text")
    (tmp_path / "damaged.gz").write_bytes(whole[:100] + b"\xff\xff\xff" + whole[103:])
    for name, line in (("cut", r"\d+"), ("no", "1"), ("damaged", r"\d+")):
        with pytest.raises(ValueError, match=rf"^{name}\.gz: line {line}: got .*, expected a whole gzip file"):
            list(read_dsjson(tmp_path / f"{name}.gz", skip=True))
    (tmp_path / "latin.dsjson").write_bytes(json.dumps(COFFEE).encode() + b'\n{"c": "\xff"}\n')
    with pytest.raises(ValueError, match=r"^latin\.dsjson: line 2: got .*, expected a JSON object in UTF-8"):
        list(read_dsjson(tmp_path / "latin.dsjson"))


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
        ("00:00,0,1,1,", "00:00,7,1,1,", ": line 3: column 'item_id': got '7', expected one of the 2 ids"),
        ("0.75", "0,75", ": got '.*Expected 10 fields in line 3, saw 11'"),
        (",1.0,0.0\n", ",1.0\n", ": line 3: column 'user-item_affinity_1': got nan"),
        ("0.75", "1.75", r": line 3: column 'propensity_score': got 1.75, expected a probability in \(0, 1\]"),
        ("0.75", "1_0", ": line 3: column 'propensity_score': got '1_0', expected a finite number"),
        ("1,0.75", ",0.75", ": line 3: column 'click': got nan, expected a finite number"),
        ("1.0,0.0\n", "1.0,x\n", ": line 3: column 'user-item_affinity_1': got 'x'"),
    ],
)
def test_a_bad_row_is_refused_by_its_line(old, new, message, tmp_path):
    folder = open_bandit(tmp_path, LOGGED.replace(old, new))
    with pytest.raises(ValueError, match=rf"^men\.csv{message}"):
        list(read_open_bandit(folder))
    rounds = read_open_bandit(folder, skip=True)
    assert len(list(rounds)) == 1
    assert rounds.skipped == 1


def test_columns_and_items_that_are_missing_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"men\.csv: columns: got .*, expected a column 'click'"):
        list(read_open_bandit(open_bandit(tmp_path, LOGGED.replace("click", "clack"))))
    (tmp_path / "men" / "item_context.csv").write_text(",id\n0,0\n")
    with pytest.raises(ValueError, match=r"item_context\.csv: columns: got .*, expected a column 'item_id'"):
        read_open_bandit(tmp_path / "men")
