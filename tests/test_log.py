"""Logs: what they hold, the tables they are read from, what they refuse."""

import pickle

import numpy as np
import pytest

from banditselect import FSSquareCB, LinTS, SquareCB, Uniform, cross_features
from banditselect.logs import CrossedItems, DisjointArms, Log, LoggedReplay, OfferedItems
from banditselect.policies import OnMap

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


def test_crossed_items_are_all_products_of_a_number_of_each():
    items, context = np.arange(6.0).reshape(3, 2), np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 8.0]])
    rest = {name: value for name, value in ARGUMENTS.items() if name != "features"} | {"action": [0, 0, 1, 0]}
    written = np.array([[np.kron(z, x) for z in items] for x in context])
    log = Log(features=CrossedItems(context=context, items=items), **rest)
    assert same(log, Log(features=written, **rest))
    assert same(log[[3, 1]], Log(features=written, **rest)[[3, 1]])
    offered = np.array([[0, 2], [1, -1], [2, 1], [0, 1]])
    menus = Log(features=CrossedItems(context=context, items=OfferedItems(items=items, offered=offered)), **rest)
    np.testing.assert_array_equal(menus.offers(2), written[2, [2, 1]])
    np.testing.assert_array_equal(menus[1:].offers(0), written[1, [1]])
    np.testing.assert_array_equal(menus.offers(3), cross_features(context[3], items[[0, 1]]))
    maps = Log(features=CrossedItems(context=context, items=[items, items[:, :1]]), **rest)
    assert maps.features.dims == (4, 2)
    np.testing.assert_array_equal(maps.offers(0)[1], written[0][:, :2])
    arms = Log(features=DisjointArms(context=context, n_actions=3), **rest)
    assert same(arms, Log(features=CrossedItems(context=context, items=np.eye(3)), **rest))
    with pytest.raises(ValueError, match="CrossedItems: items: got '4 decisions', expected 3, as in context"):
        CrossedItems(context=context[:3], items=OfferedItems(items=items, offered=offered))


def test_one_propensity_for_all_may_be_a_number():
    np.testing.assert_array_equal(Log(**ARGUMENTS | {"propensity": 0.05}).propensity, [0.05] * 4)
    for wrong in (0, 1.5, np.nan, True, None):
        with pytest.raises(ValueError, match="Log: propensity: got"):
            Log(**ARGUMENTS | {"propensity": wrong})


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
        DisjointArms(context=np.ones((3, 2, 2, 2)), n_actions=2)
    with pytest.raises(ValueError, match="Log: rows"):
        Log(**ARGUMENTS)[4:]


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


def test_features_in_another_order_than_the_decisions_are_noticed():
    rng = np.random.default_rng(0)
    offers = [rng.normal(size=(2, 4, 3)).astype(np.float32) for _ in range(3)]
    for policy in (FSSquareCB(n_models=2, dim=3), OnMap(policy=SquareCB(dim=3), index=1), Uniform()):
        decisions = [policy.act(x) for x in offers]
        assert len(Log.collect(offers, decisions, [0.0, 1.0, 0.5])) == 3
        with pytest.raises(ValueError, match=r"Log.collect: features\[1\]: .* features of decisions\[1\]"):
            Log.collect([offers[0], offers[2], offers[1]], decisions, [0.0, 1.0, 0.5])
    lanes = SquareCB(dim=3, lanes=2)
    decision = lanes.act(offers[0])
    assert len(Log.collect([offers[0]], [decision], [[0.0, 1.0]])) == 2
    with pytest.raises(ValueError, match=r"Log.collect: features\[0\]"):
        Log.collect([offers[0][::-1]], [decision], [[0.0, 1.0]])
    few = SquareCB(dim=3)
    decision = next(d for d in (few.act(offers[0][0]) for _ in range(100)) if d.action == 3)
    with pytest.raises(ValueError, match=r"Log.collect: features\[0\]"):
        Log.collect([offers[0][0][:2]], [decision], [0.0])
