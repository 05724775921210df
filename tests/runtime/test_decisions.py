"""Decisions as values: what they carry, how they travel, and whose they are."""

import json

import numpy as np
import pytest

from banditselect import FSOFUL, OFUL, Decision, LinTS, RegretBalancing, SquareCB, load
from banditselect.checks.game import snapshot

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def balancing(lanes=None):
    return RegretBalancing(bases=[SquareCB(dim=2), OFUL(dim=2)], lanes=lanes)


@pytest.mark.parametrize("lanes", [None, "all", "some"])
@pytest.mark.parametrize("factory", [SquareCB.bind(dim=2), LinTS.bind(dim=2), balancing])
def test_the_arrays_of_a_decision_are_read_only(factory, lanes):
    policy, served = factory(lanes=lanes and 3), {None: X, "all": np.tile(X, (3, 1, 1)), "some": np.tile(X, (2, 1, 1))}
    decision = policy.act(served[lanes], lanes=[2, 0] if lanes == "some" else None)
    with pytest.raises(AttributeError):
        decision.action = 0
    arrays = {name: value for name, value in decision._asdict().items() if isinstance(value, np.ndarray)}
    assert len(arrays) >= (1 if lanes is None else 4)
    assert [name for name, array in arrays.items() if array.flags.writeable] == []


@pytest.mark.parametrize("lanes", [None, 2])
@pytest.mark.parametrize("factory", [SquareCB.bind(dim=2), LinTS.bind(dim=2), balancing])
def test_a_decision_survives_json(factory, lanes):
    policy = factory(lanes=lanes)
    decision = policy.act(X if lanes is None else np.tile(X, (2, 1, 1)))
    again = Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
    assert again == decision
    assert hash(again) == hash(decision)
    assert [type(v) for v in again] == [type(v) for v in decision]
    assert all(not v.flags.writeable for v in again if isinstance(v, np.ndarray))
    policy.update(again, 1.0 if lanes is None else [1.0, 0.0])
    with pytest.raises(ValueError, match=r"^this decision already has a reward \(act 0, lane 0\)$"):
        policy.update(decision, 1.0 if lanes is None else [1.0, 0.0])


BAD = {
    "action": [None, "one", float("inf"), float("nan"), 1.5, [1], 10**30],
    "probability": ["half", [0.5], {}],
    "features": ["x", [[1.0], [1.0, 2.0]], None],
    "lanes": ["x", [0.5], [10**30]],
    "number": [None, "x", float("inf"), 0.5, 10**30],
    "note": ["x", [["y"]], [[1.0], [2.0, 3.0]]],
    "lineage": [None, "x", float("inf"), 0.5],
    "worker": [None, "xy", 3, [1], [1, 2, 3], [0.5, 1], [None, 1], [10**30, 1]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_garbage_is_not_a_decision(name, value):
    content = SquareCB(dim=2).act(X).to_dict()
    with pytest.raises(ValueError, match="decision"):
        Decision.from_dict(content | {name: value})


@pytest.mark.parametrize("content", [None, 3, "decision", [], {}, {"action": 1}])
def test_what_is_not_a_mapping_with_its_keys_is_not_a_decision(content):
    with pytest.raises(ValueError, match="expected a mapping with the keys action, probability"):
        Decision.from_dict(content)
    full = SquareCB(dim=2).act(X).to_dict()
    with pytest.raises(ValueError, match="expected a mapping"):
        Decision.from_dict(full | {"more": 1})


def test_a_decision_belongs_to_a_lineage(tmp_path):
    policy = SquareCB(dim=2, seed=1)
    first, second = policy.act(X), policy.act(X)
    policy.save(tmp_path / "policy.bsel")
    load(tmp_path / "policy.bsel").update(first, 0.5)
    policy.update(second, 0.5)
    with pytest.raises(ValueError, match=r"^this decision was made by another policy"):
        SquareCB(dim=2, seed=1).update(first, 0.5)
    with pytest.raises(ValueError, match="lanes"):
        policy.update(first._replace(lanes=np.array([0])), 0.5)


def test_a_decision_carries_the_features_as_given():
    maps = [np.arange(6.0).reshape(3, 2), np.arange(9.0).reshape(3, 3)]
    decision = FSOFUL(n_models=2, dim=[2, 3]).act(maps)
    np.testing.assert_array_equal(decision.features, [[*maps[0][decision.action], 0.0], maps[1][decision.action]])
    whole = np.array([[3, 4]], dtype=np.int8)
    np.testing.assert_array_equal(OFUL(dim=2).act(whole).features, [3.0, 4.0])


def learned_bytes(policy):
    return sum(map(len, snapshot(policy).values()))


def test_rewards_that_never_arrive_cost_a_bit_per_act():
    policy = SquareCB(dim=2)
    forgotten = policy.act(X)
    for _ in range(3000):
        policy.update(policy.act(X), 0.5)
    fresh = learned_bytes(SquareCB(dim=2))
    assert learned_bytes(policy) - fresh <= 2 * 3001 / 8
    policy.update(forgotten, 0.5)
    assert policy.rounds == 3001
    punctual = SquareCB(dim=2)
    for _ in range(3000):
        punctual.update(punctual.act(X), 0.5)
    assert learned_bytes(punctual) == fresh
