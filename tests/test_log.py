"""Logs: what they hold, the tables they are read from, what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest

from banditselect import FSSquareCB, LinTS, SquareCB, logs, problems
from banditselect.logs import DisjointArms, Log, LoggedReplay, OfferedItems

X = np.arange(24.0).reshape(4, 2, 3)
ARGUMENTS = {"features": X, "action": [0, 1, 1, 0], "propensity": [0.5, 0.25, 1.0, 0.5], "reward": [1.0, 0.0, 2.0, 1.0]}
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


# The value


def test_a_log_copies_what_it_is_given_and_cannot_be_changed():
    x, reward = X.copy(), np.ones(4)
    log = Log(**ARGUMENTS | {"features": x, "reward": reward})
    x[:], reward[:] = 0.0, 0.0
    np.testing.assert_array_equal(log.offers(1), X[1])
    np.testing.assert_array_equal(log.reward, 1.0)
    with pytest.raises(AttributeError):
        log.reward = reward
    for array in (log.action, log.propensity, log.reward, log.features.features[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert same(pickle.loads(pickle.dumps(log)), log)


def test_features_come_as_policies_take_them():
    one, several = Log(**ARGUMENTS), Log(**ARGUMENTS | {"features": np.stack([X, -X], axis=1)})
    ragged = Log(**ARGUMENTS | {"features": [X, X[..., :1]]})
    np.testing.assert_array_equal(one.played(1), X[1, 1])
    np.testing.assert_array_equal(several.offers(2), [X[2], -X[2]])
    np.testing.assert_array_equal(several.played(2), [X[2, 1], -X[2, 1]])
    assert [m.shape for m in ragged.offers(0)] == [(2, 3), (2, 1)]
    FSSquareCB(n_models=2, dim=[3, 1]).learn(ragged.played(3), 1.0)
    assert LoggedReplay(log=one).shapes == {"dim": 3}
    assert LoggedReplay(log=several).shapes == {"n_models": 2, "dim": 3}
    assert LoggedReplay(log=ragged).shapes == {"n_models": 2, "dim": [3, 1]}
    assert repr(ragged) == "Log(4 decisions, at most 2 actions, 2 maps of 3/1 features)"


def test_single_precision_is_kept_until_it_is_asked_for():
    log = Log(**ARGUMENTS | {"features": X.astype(np.float32)})
    assert log.features.features[0].dtype == np.float32
    assert log.offers(0).dtype == np.float64


def test_items_and_arms_equal_what_they_stand_for():
    items = np.arange(6.0).reshape(3, 2)
    offered = np.array([[0, 2], [1, -1], [2, 1], [0, 1]])
    rest = {name: value for name, value in ARGUMENTS.items() if name != "features"} | {"action": [0, 0, 1, 0]}
    log = Log(features=OfferedItems(items=items, offered=offered), **rest)
    written = np.where((offered >= 0)[..., None], items[offered], 0.0)
    assert same(log, Log(features=written, available=offered >= 0, **rest))
    np.testing.assert_array_equal(log.offers(1), items[[1]])
    assert same(log[1:3], Log(features=written, available=offered >= 0, **rest)[[1, 2]])
    everything = Log(features=OfferedItems(items=np.stack([items, -items])), **rest)
    np.testing.assert_array_equal(everything.offers(3), [items, -items])
    context = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    arms = Log(features=DisjointArms(context=context, n_actions=3), **rest)
    expected = np.array([[np.kron(np.eye(3)[a], x) for a in range(3)] for x in context])
    assert same(arms, Log(features=expected, **rest))
    assert same(arms[2:], Log(features=expected, **rest)[2:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"propensity": [0.5, 1.2, 1.0, 0.5]}, r"Log: propensity\[1\]: got 1.2, expected a probability in \(0, 1\]"),
        ({"propensity": [0.5, 0.5, 0.0, 0.5]}, r"Log: propensity\[2\]: got 0.0"),
        ({"propensity": [0.5, 0.5, 0.5, np.nan]}, r"Log: propensity\[3\]: got nan"),
        ({"propensity": [0.5]}, r"Log: propensity: got \[0.5\], expected numbers of shape \(4,\)"),
        ({"reward": [1.0, np.nan, 1.0, 1.0]}, r"Log: reward\[1\]: got nan, expected a finite number"),
        ({"action": [0, 1, 2, 0]}, r"Log: action\[2\]: got 2, expected an action between 0 and 1"),
        ({"action": [0.0, 1.0, 1.0, 0.0]}, r"Log: action: got .*, expected whole numbers"),
        ({"available": [[True, True]] * 3 + [[False, True]]}, r"Log: action\[3\]: got 0, expected an action that was"),
        ({"available": [True, True, False]}, "available: got"),
        ({"features": np.ones((4, 3))}, "Log: features: got .*, expected finite numbers of shape"),
        ({"features": np.where(X == 7.0, np.nan, X)}, r"Log: features\[1, 0, 1\]: got nan"),
        ({"features": [X, X[:3]]}, "Log: features: got"),
        ({"features": np.array([["a"]])}, "Log: features: got"),
    ],
)
def test_refusals_name_the_argument_and_the_decision(change, message):
    with pytest.raises(ValueError, match=message):
        Log(**ARGUMENTS | change)


def test_a_column_that_comes_twice_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("\ufeffage,action,reward,propensity,age\n20,0,1.0,0.5,30\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rows\.csv: columns: got .*, expected one column 'age'"):
        Log.read(tmp_path / "rows.csv", context=["age"])
    (tmp_path / "rows.csv").write_text("\ufeffage,action,reward,propensity,,\n20,0,1.0,0.5,,\n", encoding="utf-8")
    assert Log.read(tmp_path / "rows.csv", context=["age"]).reward.tolist() == [1.0]


def test_parts_of_features_are_refused_by_name():
    with pytest.raises(ValueError, match=r"OfferedItems: offered: got .* between 0 and 2, or -1"):
        OfferedItems(items=np.ones((3, 2)), offered=[[3]])
    with pytest.raises(ValueError, match=r"DisjointArms: context: got .* shape \(T, p\)"):
        DisjointArms(context=np.ones((3, 2, 2)), n_actions=2)
    with pytest.raises(ValueError, match="Log: rows"):
        Log(**ARGUMENTS)[4:]


# Tables


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


# Decisions of a policy


def test_decisions_are_collected_with_all_that_was_offered():
    rng = np.random.default_rng(0)
    policy = FSSquareCB(n_models=2, dim=3)
    offers = [rng.normal(size=(2, k, 3)) for k in (4, 2, 3)]
    decisions = [policy.act(x) for x in offers]
    log = Log.collect(offers, decisions, [0.0, 1.0, 0.5])
    for t, (x, decision) in enumerate(zip(offers, decisions, strict=True)):
        np.testing.assert_array_equal(log.offers(t), x)
        np.testing.assert_array_equal(log.played(t), decision.features)
        assert (log.action[t], log.propensity[t]) == (decision.action, decision.probability)
    np.testing.assert_array_equal(log.available.sum(axis=1), [4, 2, 3])


def test_decisions_with_lanes_and_masks_and_maps_of_several_widths_are_collected():
    rng = np.random.default_rng(1)
    policy = SquareCB(dim=2, lanes=3)
    x, mask = rng.normal(size=(3, 4, 2)), np.array([True, False, True, True])
    log = Log.collect(
        [x, x[:2]],
        [policy.act(x), policy.act(x[:2], lanes=[2, 0], available=mask)],
        [np.ones(3), [0, 1]],
        available=[None, mask],
    )
    assert len(log) == 5
    np.testing.assert_array_equal(log.reward, [1.0, 1.0, 1.0, 0.0, 1.0])
    np.testing.assert_array_equal(log.offers(4), x[1][mask])
    wide = FSSquareCB(n_models=2, dim=[3, 1])
    maps = [rng.normal(size=(5, 3)), rng.normal(size=(5, 1))]
    log = Log.collect([maps], [wide.act(maps)], [1.0])
    assert log.features.dims == (3, 1)


def test_what_cannot_be_collected_is_refused():
    x = np.eye(3)
    with pytest.raises(ValueError, match=r"Log.collect: decisions\[0\]: got .* with a probability"):
        Log.collect([x], [LinTS(dim=3).act(x)], [1.0])
    policy = SquareCB(dim=3)
    with pytest.raises(ValueError, match=r"Log.collect: features\[1\]"):
        Log.collect([x, np.eye(2)], [policy.act(x), policy.act(x)], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"Log.collect: features, decisions, rewards: got '1, 1, 0'"):
        Log.collect([x], [policy.act(x)], [])


def test_code_that_looks_for_logs_among_the_problems_finds_them():
    for name in ("DisjointArms", "Estimate", "Estimates", "Log", "LoggedReplay", "evaluate"):
        assert getattr(problems, name) is getattr(logs, name)
    assert problems.Catalogue is OfferedItems
    with pytest.raises(AttributeError, match="OfferedItems"):
        problems.OfferedItems  # noqa: B018
