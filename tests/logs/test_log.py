"""Logs: arrays, features made by maps, decisions collected, and refusals."""

import pickle

import numpy as np
import pytest

from banditselect import FSSquareCB, LinTS, SquareCB, Uniform, cross_features, maps
from banditselect.logs import Log, Round, read_decisions, read_offers
from banditselect.policies import OnMap
from banditselect.problems import LoggedReplay

X = np.arange(24.0).reshape(4, 2, 3)
ARGUMENTS = {"features": X, "action": [0, 1, 1, 0], "propensity": [0.5, 0.25, 1.0, 0.5], "reward": [1.0, 0.0, 2.0, 1.0]}


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


# Features made by maps

AGE, PRICE = maps.Numbers("age", "one", scale=None), maps.Numbers("x", "y", scale=None)
ITEMS = [{"id": "c", "x": 1.0, "y": 2.0}, {"id": "a", "x": 3.0, "y": 4.0}, {"id": "b", "x": 5.0, "y": 6.0}]
VECTORS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
CONTEXT = np.array([[20.0, 1.0], [30.0, 1.0], [40.0, 1.0]])
MENUS, PLAYED = [[1, 2], [1, 2, 0], [0, 2]], [1, 0, 1]


def rounds():
    return [
        Round({"age": age, "one": one}, [ITEMS[k] for k in menu], action, 0.5 * action, 0.25 + 0.25 * action)
        for (age, one), menu, action in zip(CONTEXT.tolist(), MENUS, PLAYED, strict=True)
    ]


@pytest.mark.parametrize("take", [slice(None), [2, 0]])
def test_items_are_looked_up_and_crossed_with_contexts(take):
    made = [maps.Items(PRICE), maps.Outer(context=AGE, items=PRICE, own=False)]
    log = Log.from_rounds(rounds(), made)[take]
    assert log.features.dims == (2, 4)
    for t, k in enumerate(np.arange(3)[take]):
        items = VECTORS[MENUS[k]]
        np.testing.assert_array_equal(log.offers(t)[0], items)
        np.testing.assert_array_equal(log.offers(t)[1], cross_features(CONTEXT[k], items))
        assert (log.action[t], log.reward[t], log.propensity[t]) == rounds()[k][2:]
        np.testing.assert_array_equal(log.available[t], np.arange(3) < len(MENUS[k]))
        np.testing.assert_array_equal(log.features.maps(np.array([t]))[0][0, len(MENUS[k]) :], 0.0)


def test_arms_have_a_block_each():
    arms = maps.Disjoint(context=AGE, constant=False, capacity=2)  # and one for all other items
    logged = [Round(r.context, ITEMS, r.action, r.reward, r.probability) for r in rounds()]
    log = Log.from_rounds(logged, arms)
    expected = np.array([[np.kron(np.eye(3)[a], x) for a in range(3)] for x in CONTEXT])
    np.testing.assert_array_equal(log.features.maps(np.arange(3))[0], expected)
    np.testing.assert_array_equal(log.features.shown(np.arange(3))[0].block, [[0, 1, 2]] * 3)
    assert (log.features.blocks, log.available) == ((3,), None)
    np.testing.assert_array_equal(log.offers(1), cross_features(CONTEXT[1], np.eye(3)))


@pytest.mark.parametrize(
    "made",
    [
        maps.Items(PRICE),
        maps.SideBySide(context=AGE, items=PRICE),
        maps.SideBySide(context=AGE, items=PRICE, then=maps.Polynomials()),
        maps.Outer(context=AGE, items=PRICE + maps.Categories("id")),
        maps.Disjoint(context=AGE, items=PRICE, capacity=2),
        maps.HashedInteractions(context=AGE, items=maps.Categories("id", width=8), width=16),
        maps.Function(lambda context, items: [[context["age"] * item["x"]] for item in items], width=1),
    ],
    ids=lambda made: type(made).__name__,
)
def test_features_are_those_of_the_map_round_by_round(made):
    log = Log.from_rounds(rounds(), made)
    items = [ITEMS[k] for k in (1, 2, 0)]  # in the order in which they are first offered
    fitted = made.fit([r.context for r in rounds()], items)
    fitted.observe(None, items)
    for t, r in enumerate(rounds()):
        found, values = log.features.shown(np.array([t]))[0], fitted.features(r.context, r.items)
        for mine, its in zip(*((m if isinstance(m, tuple) else (m,)) for m in (found, values)), strict=True):
            np.testing.assert_array_equal(mine[0, : len(r.items)], its)


def test_maps_are_fitted_to_the_log_unless_they_are():
    age = maps.Numbers("age")
    fresh = Log.from_rounds(rounds(), maps.SideBySide(context=age, items=PRICE))
    np.testing.assert_allclose([fresh.offers(t)[0, 0] for t in range(3)], np.array([-1.0, 0.0, 1.0]) * np.sqrt(1.5))
    fitted = maps.SideBySide(context=age, items=PRICE).fit([{"age": 0.0}, {"age": 20.0}], ITEMS)
    assert [Log.from_rounds(rounds(), {"one": fitted}).offers(t)[0][0, 0] for t in range(3)] == [1.0, 2.0, 3.0]


def test_text_in_the_place_of_numbers_is_refused_by_its_round():
    both = maps.Outer(context=maps.Categories("city", width=4) + AGE, items=PRICE)
    bad = rounds()
    bad[1] = bad[1]._replace(context={"age": "0,5", "one": 1.0})
    with pytest.raises(ValueError, match=r"^round 1: column 'age': got '0,5', expected a number, or a list of numbers"):
        Log.from_rounds(bad, both)
    bad[1] = bad[1]._replace(context={"age": None, "city": "Rome"})  # missing ones count as for an agent
    wanted = both.features(bad[1].context, bad[1].items)
    np.testing.assert_array_equal(Log.from_rounds(bad, both).offers(1), wanted)
    bad = [Round({}, [ITEMS[0], {"id": "d", "x": [1.0], "y": "[1 2]"}], 0, 1.0, 0.5)]
    with pytest.raises(ValueError, match=r"^item 1: column 'y': got '\[1 2\]'"):
        Log.from_rounds(bad, [maps.Items(maps.Numbers("x")), maps.Items(maps.Vectors("y"))])
    for wrong in (3, [], [PRICE], {"a": 3}):
        with pytest.raises(ValueError, match=r"Log\.from_rounds: maps: got .*, expected a feature map"):
            Log.from_rounds(rounds(), wrong)
    with pytest.raises(ValueError, match=r"Log\.from_rounds: rounds: got 'no round'"):
        Log.from_rounds([], both)
    with pytest.raises(ValueError, match=r"propensity\[0\]: got 0.0"):
        Log.from_rounds([rounds()[0]._replace(probability=0.0)], both)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("many", [False, True])
def test_a_log_that_is_written_is_read_again_to_the_bit(suffix, many, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4, 3)) * 10.0 ** rng.integers(-8, 8, (30, 4, 3))
    available = rng.uniform(size=(30, 4)) < 0.7
    available[:, 2] = True
    x[~available] = 0.0
    log = Log(
        features=[x, x[..., :2]] if many else x,
        action=np.full(30, 2),
        propensity=rng.uniform(size=30),
        reward=rng.normal(size=30),
        available=available,
    )
    log.write(tmp_path / f"log.{suffix}")
    columns = ["features_0", "features_1"] if many else ["features"]
    made = [maps.Items(maps.Vectors(name)) for name in columns]
    again = Log.from_rounds(read_offers(tmp_path / f"log.{suffix}", item=columns), made if many else made[0])
    for t in range(30):
        for mine, its in zip(log.offers(t), again.offers(t), strict=True):
            np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(log.played(t)[0], again.played(t)[0])
    np.testing.assert_array_equal(log.propensity, again.propensity)
    np.testing.assert_array_equal(log.reward, again.reward)
    with pytest.raises(ValueError, match=r"Log\.write: path: got .*, expected a file that ends in"):
        log.write(tmp_path / "log.json")


def test_rounds_of_a_table_and_the_same_rounds_one_by_one_are_one_log():
    table = {"age": [20.0, 30.0], "one": [1, 1], "action": ["a", "b"], "propensity": [0.5, 0.25], "reward": [1, 0]}
    table["offered"] = [["a", "b"], ["b", "c", "a"]]
    read = read_decisions(table, context=["age", "one"], items={item["id"]: item for item in ITEMS}, offered="offered")
    both = maps.Outer(context=AGE, items=PRICE)
    mine, its = Log.from_rounds(read, both), Log.from_rounds(list(read), both)
    assert same(mine, its)
    assert same(mine[[1]], its[[1]])


# Arguments


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"propensity": [0.5, 1.2, 1.0, 0.5]}, r"Log: propensity\[1\]: got 1.2, expected a probability in \(0, 1\]"),
        ({"propensity": [0.5, 0.5, 0.0, 0.5]}, r"Log: propensity\[2\]: got 0.0"),
        ({"propensity": [0.5, 0.5, 0.5, np.nan]}, r"Log: propensity\[3\]: got nan"),
        *(({"propensity": wrong}, "Log: propensity: got") for wrong in (0, 1.5, np.nan, True, None)),
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


def test_one_propensity_for_all_may_be_a_number_and_no_rows_are_refused():
    log = Log(**ARGUMENTS | {"propensity": 0.05})
    np.testing.assert_array_equal(log.propensity, [0.05] * 4)
    with pytest.raises(ValueError, match="Log: rows"):
        log[4:]


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
    decisions = [policy.act(x), policy.act(x[:2], lanes=[2, 0], available=mask)]
    log = Log.collect([x, x[:2]], decisions, [np.ones(3), [0, 1]], available=[None, mask])
    assert len(log) == 5
    np.testing.assert_array_equal(log.reward, [1.0, 1.0, 1.0, 0.0, 1.0])
    np.testing.assert_array_equal(log.offers(4), x[1][mask])
    wide = FSSquareCB(n_models=2, dim=[3, 1])
    maps = [rng.normal(size=(5, 3)), rng.normal(size=(5, 1))]
    log = Log.collect([maps], [wide.act(maps)], [1.0])
    assert log.features.dims == (3, 1)


def test_decisions_that_cannot_be_collected_are_refused():
    x = np.eye(3)
    with pytest.raises(ValueError, match=r"Log.collect: decisions\[0\]: got .* with a probability"):
        Log.collect([x], [LinTS(dim=3).act(x)], [1.0])
    policy = SquareCB(dim=3)
    with pytest.raises(ValueError, match=r"Log.collect: features\[1\]"):
        Log.collect([x, np.eye(2)], [policy.act(x), policy.act(x)], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"Log.collect: features, decisions, rewards: got '1, 1, 0'"):
        Log.collect([x], [policy.act(x)], [])


def test_features_in_another_order_than_the_decisions_are_noticed():
    rng = np.random.default_rng(0)
    offers = [rng.normal(size=(2, 4, 3)).astype(np.float32) for _ in range(3)]
    for policy in (FSSquareCB(n_models=2, dim=3), OnMap(policy=SquareCB(dim=3), index=1), Uniform()):
        decisions = [policy.act(x) for x in offers]
        assert len(Log.collect(offers, decisions, [0.0, 1.0, 0.5])) == 3
        with pytest.raises(ValueError, match=r"Log.collect: features\[1\]: .* features of decisions\[1\]"):
            Log.collect([offers[0], offers[2], offers[1]], decisions, [0.0, 1.0, 0.5])
    lanes, few = SquareCB(dim=3, lanes=2).act(offers[0]), SquareCB(dim=3)
    assert len(Log.collect([offers[0]], [lanes], [[0.0, 1.0]])) == 2
    fourth = next(d for d in (few.act(offers[0][0]) for _ in range(100)) if d.action == 3)
    for x, decision, reward in ((offers[0][::-1], lanes, [0.0, 1.0]), (offers[0][0][:2], fourth, 0.0)):
        with pytest.raises(ValueError, match=r"Log.collect: features\[0\]"):
            Log.collect([x], [decision], [reward])
