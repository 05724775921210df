"""The agent: records in, items out; a learner for every key; what it refuses changes nothing."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from banditselect import FSIDS, PSIDS, Agent, LinIDS, LinTS, RegretBalancing, SquareCB, load, maps, on_every_map
from banditselect.agent import AgentDecision
from banditselect.checks.game import snapshot

ITEMS = [{"id": name, "price": price} for name, price in (("tea", 2.0), ("coffee", 3.0), ("wine", 9.0))]
VISITORS = [{"age": float(age)} for age in (20, 35, 50, 65)]
WIDE = (-10.0, 10.0)
PRICE = maps.Items(maps.Numbers("price", scale=None))
TASTE = maps.Outer(context=maps.Numbers("age"), items=maps.Numbers("price")).fit(VISITORS, ITEMS)
ARMS = maps.Disjoint(context=maps.Numbers("age").fit(VISITORS), capacity=3)


def agent_of(**arguments):
    return Agent(**({"maps": {"price": PRICE, "taste": TASTE}, "seed": 3} | arguments))


def everything(agent):
    """All that an agent holds, by value."""
    spread = agent._scale
    return snapshot(agent.policy), agent._lanes.learned(), spread.count, spread.mean.tobytes(), agent.id, agent._items


def played(agent, rounds, key=None):
    """Play rounds in which cheap items are good; return the decisions."""
    choices = []
    for t in range(rounds):
        choices.append(agent.act(VISITORS[t % 4], ITEMS, key=key))
        agent.update(choices[-1], -ITEMS[choices[-1].action]["price"] + 0.1 * (t % 3))
    return choices


# Deciding and learning.


def test_features_and_rewards_are_those_of_the_policy_by_hand():
    agent = agent_of(maps=[PRICE], policy=SquareCB.bind(regularization=2.0, exploration=1e9, reward_range=WIDE))
    agent.learn({}, {"price": 3.0}, 5.0)
    assert agent.policy.parameters[0].item() == pytest.approx(3.0 * 5.0 / (3.0**2 + 2.0))
    choice = agent.act(None, ITEMS)
    assert (choice.item, choice.action, choice.key) == ("wine", 2, None)
    assert choice.probability == agent.probabilities(None, ITEMS)[2]
    agent.update(choice, 0.0)
    assert agent.policy.parameters[0].item() == pytest.approx(15.0 / (9.0 + 81.0 + 2.0))


def test_every_kind_of_items_and_contexts_means_the_same():
    agent = agent_of()
    played(agent, 12)
    agent.register(ITEMS)
    table = pd.DataFrame(ITEMS)
    p = agent.probabilities(VISITORS[0], ITEMS)
    for items in (table, [row for _, row in table.iterrows()], ["tea", "coffee", "wine"], None, maps.Records(ITEMS)):
        np.testing.assert_array_equal(agent.probabilities(pd.Series(VISITORS[0]), items), p)
    np.testing.assert_array_equal(
        agent.probabilities(VISITORS[0], ["wine", "tea"]), agent.probabilities(VISITORS[0], [ITEMS[2], ITEMS[0]])
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"price": 1.0}, {"price": 2.0}], {0, 1}),
        ([{"id": None, "price": 1.0}], {0}),
        (pd.DataFrame({"id": [7, 9], "price": [1.0, 2.0]}), {7, 9}),
        (ITEMS, {"tea", "coffee", "wine"}),
    ],
)
def test_an_item_is_its_id_or_its_position(items, expected):
    agent, only_the_last = agent_of(), np.arange(len(items)) == len(items) - 1
    choice = agent.act({"age": 30}, items)
    assert choice.item in expected
    assert json.loads(json.dumps(choice.to_dict()))["item"] == choice.item
    assert agent.act({"age": 30}, items, available=only_the_last).action == len(items) - 1


def test_whatever_records_hold_there_is_a_decision():
    agent = agent_of(maps=[PRICE, TASTE, ARMS])
    for context in (None, {}, {"age": "old"}, {"age": np.nan, "new": []}, 17, "someone"):
        choice = agent.act(context, [{}, {"price": None, "id": "x"}, {"price": "dear", "id": [1]}])
        agent.update(choice, 1.0)


def test_records_with_no_column_that_the_maps_read_are_served_with_one_warning():
    agent = agent_of(maps=[TASTE, ARMS])
    with pytest.warns(RuntimeWarning, match="context: no map reads one of the columns aeg; the maps read age"):
        agent.act({"aeg": 20.0}, ITEMS)
    agent.act({"aeg": 20.0}, ITEMS)
    with pytest.warns(RuntimeWarning, match="items: no map reads one of the columns cost; the maps read id, price"):
        agent.act({"age": 20.0}, [{"cost": 2.0}, {"cost": 3.0}])
    agent.act({"age": 20.0}, [{"cost": 2.0}])
    silent = agent_of()
    for context in (None, {}, "someone", {"age": 3.0, "aeg": 2.0}):
        silent.act(context, [{"cost": 3.0}, ITEMS[0]])  # one item has a price
    agent_of(maps=[maps.Function(lambda context, items: np.ones((len(items), 1)), width=1)]).act({"a": 1}, [{"b": 2}])


def test_new_maps_decide_which_columns_are_read():
    agent = agent_of(maps={"price": PRICE})
    agent.act({"aeg": 20.0}, ITEMS)  # nothing of the context is read
    agent.add_maps({"taste": TASTE})
    with pytest.warns(RuntimeWarning, match="context"):
        agent.act({"aeg": 20.0}, ITEMS)


def test_without_examples_it_learns_from_any_columns(tmp_path):
    """Old visitors like dear items, young ones cheap items; uniform play is right in half of the rounds."""
    agent, rng, right = Agent(seed=2, id="sku"), np.random.default_rng(1), []
    items = [{"sku": "tea", "price": 2.0}, {"sku": "wine", "price": 40.0}]
    for t in range(300):
        age = float(rng.integers(18, 80))
        choice = agent.act({"age": age, "country": "FR"}, items, key="shop" if t % 2 else None)
        right.append((choice.item == "wine") == (age > 49))
        agent.update(choice, float(right[-1]))
    assert np.mean(right[-100:]) > 0.85
    agent.save(tmp_path / "agent.bsel")
    again = load(tmp_path / "agent.bsel")
    assert again.act({"age": 20.0}, items).probability == agent.act({"age": 20.0}, items).probability


def test_registered_items_are_replaced_by_id_and_named_by_their_column():
    agent = agent_of()
    agent.register([{"sku": 1, "price": 5.0}, {"sku": 2, "price": 1.0}], id="sku")
    agent.register([{"sku": 2, "price": 7.0}, {"sku": 3, "price": 2.0}])
    assert agent._catalogue.column("price") == [5.0, 7.0, 2.0]
    assert agent.act({}, [3]).item == 3
    assert agent.act({}, [{"sku": "new"}]).item == "new"


# Policies of every kind.


@pytest.mark.parametrize(
    "policy",
    [
        FSIDS,
        LinTS.bind(noise=0.1),
        PSIDS.bind(centers=np.array([[1.0], [-1.0]]), radii=0.5),
        RegretBalancing.bind(bases=on_every_map(SquareCB.bind(reward_range=WIDE))),
    ],
)
def test_policies_of_every_kind_learn_what_is_cheap(policy):
    agent = agent_of(maps=[PRICE], policy=policy)
    choices = played(agent, 60)
    assert sum(choice.item == "tea" for choice in choices[30:]) > 20
    explained = agent.explain()
    assert explained.rounds == 60
    assert all("price" in model.effects[0].feature for model in explained.models)


def test_a_block_per_item_learns_each_item_alone():
    """A policy that knows no blocks has a column for each."""
    arms, greedy = maps.Disjoint(capacity=3), SquareCB.bind(exploration=1e9)
    agent = agent_of(maps=[arms], policy=greedy)
    wide = agent_of(maps=[PRICE, arms], policy=RegretBalancing.bind(bases=on_every_map(greedy)))
    for item, reward in ((0, 1.0), (1, 0.25), (0, 1.0)):
        for one in (agent, wide):
            one.learn({}, ITEMS[item], reward)
    np.testing.assert_allclose(agent.policy.parameters[0].ravel(), [2 / 3, 0.125, 0.0, 0.0])
    assert agent.act({}, ITEMS).item == "tea"
    agent.act({}, ITEMS)
    assert agent.explain().models[0].effects == ()  # a constant feature is the same for all items
    choice = wide.act({}, ITEMS)
    assert choice.decision.features[0, 1].tolist() == np.eye(4)[choice.action].tolist()
    wide.update(choice, 1.0)


# Keys.


def test_learners_of_keys_are_apart_and_unknown_keys_begin_anew():
    agent, alone = agent_of(), agent_of()
    played(agent, 8, key="ada")
    played(alone, 8)
    fresh = agent_of().probabilities(VISITORS[0], ITEMS)
    np.testing.assert_array_equal(agent.probabilities(VISITORS[0], ITEMS, key="bob"), fresh)
    assert agent.keys == ["ada"]
    for t in range(6):
        agent.act(VISITORS[0], ITEMS, key=f"customer-{t}")
    assert agent.keys == ["ada", *(f"customer-{t}" for t in range(6))]
    played(agent, 3, key=0)
    np.testing.assert_array_equal(
        agent.probabilities(VISITORS[1], ITEMS, key="ada"), alone.probabilities(VISITORS[1], ITEMS)
    )


def test_lanes_are_added_in_chunks_and_used_again():
    agent = agent_of(maps=[PRICE], policy=SquareCB.bind(reward_range=WIDE))
    sizes = set()
    for k in range(200):
        played(agent, 1, key=k)
        sizes.add(agent.policy.lanes)
        if k >= 40:
            agent.retire(k - 40)
    assert len(agent.keys) == 40
    assert agent.policy.lanes < 80
    assert len(sizes) < 12


def test_a_retired_learner_is_fresh_for_its_key_and_learns_nothing_late():
    agent = agent_of(policy=FSIDS.bind())
    played(agent, 5, key="ada")
    late = agent.act(VISITORS[0], ITEMS, key="ada")
    agent.retire("ada")
    agent.retire("nobody")
    assert agent.keys == []
    assert agent.has_learned(late)
    for again in (False, True):
        if again:
            played(agent, 1, key="ada")
            played(agent, 1, key="bob")
        before = everything(agent)
        with pytest.raises(ValueError, match="already has a reward" if again else "for key 'ada'.*retired"):
            agent.update(late, 1.0)
        assert everything(agent) == before
    assert agent.explain("ada").rounds == 1


# Late rewards.


def test_rewards_are_late_in_batches_and_once():
    agent = agent_of()
    choices = [agent.act(VISITORS[0], ITEMS, key=key) for key in ("a", "b", "a", "c")]
    with pytest.raises(ValueError, match="reward"):
        agent.update_many(choices[:2], [1.0, np.nan])
    assert not any(map(agent.has_learned, choices))
    agent.update_many([choices[2], choices[1]], [1.0, 0.0])
    agent.forget(choices[3])
    assert [agent.has_learned(choice) for choice in choices] == [False, True, True, True]
    before = everything(agent)
    for call in (agent.update, lambda choice, y: agent.update_many([choices[0], choice], [y, y])):
        with pytest.raises(ValueError, match="already has a reward"):
            call(choices[1], 1.0)
    assert everything(agent) == before


def test_a_decision_travels_as_json():
    agent = agent_of()
    choice = agent.act(VISITORS[0], ITEMS, key=5)
    again = AgentDecision.from_dict(json.loads(json.dumps(choice.to_dict())))
    assert again == choice
    assert hash(again) == hash(choice)
    agent.update(again, 1.0)
    assert agent.has_learned(choice)
    for wrong in ({}, choice.to_dict() | {"action": 17}, choice.to_dict() | {"key": 1.5}, "choice"):
        with pytest.raises(ValueError, match=r"decision|key"):
            AgentDecision.from_dict(wrong)


# Files and copies.


def test_saved_and_loaded_it_continues_bit_identically(tmp_path):
    online = maps.Items(maps.Numbers("price", scale="online"))
    agent = agent_of(maps={"online": online, "taste": TASTE, "arms": ARMS})
    agent.register(ITEMS)
    played(agent, 7)
    played(agent, 4, key="ada")
    agent.retire("ada")
    waiting = agent.act(VISITORS[0], ["tea", "wine"], key="bob")
    agent.save(tmp_path / "agent.bsel")
    again = load(tmp_path / "agent.bsel")
    assert isinstance(again, Agent)
    assert everything(again) == everything(agent)
    for one in (agent, again):
        one.update(waiting, 1.0)
    for key in (None, "bob", "eve", "fay"):
        mine, theirs = ([c.to_dict() for c in played(one, 4, key=key)] for one in (agent, again))
        assert mine == theirs
    assert agent.act({}, None).to_dict() == again.act({}, None).to_dict()
    assert everything(again) == everything(agent)
    assert str(again.explain("bob")) == str(agent.explain("bob"))


def test_what_cannot_be_saved_is_refused_by_name_and_the_file_stays(tmp_path):
    path = tmp_path / "agent.bsel"
    agent_of().save(path)
    before = path.read_bytes()
    code = maps.Function(lambda context, items: np.ones((len(items), 1)), width=1)
    with pytest.raises(ValueError, match=r"save: Agent\.maps\.code: Function cannot be saved"):
        agent_of(maps={"price": PRICE, "code": code}).save(path)
    agent = agent_of()
    agent.register([{"id": "tea", "since": pd.Timestamp("2026-01-01")}])
    with pytest.raises(ValueError, match=r"save: Agent\.items\.1\.0\.since=Timestamp.* cannot be stored"):
        agent.save(path)
    assert path.read_bytes() == before


def test_copies_decide_elsewhere_and_are_learned_by_key(tmp_path):
    agent = agent_of()
    played(agent, 4, key="ada")
    agent.save(tmp_path / "agent.bsel")
    shop, other = agent.fork("shop"), load(tmp_path / "agent.bsel", worker="other")
    choices = [one.act(VISITORS[0], ITEMS, key=key) for one in (shop, other) for key in ("new", "ada", "newer")]
    played(agent, 1, key="own")
    for choice in reversed(choices):
        assert not agent.has_learned(choice)
        agent.update(choice, 1.0)
        assert agent.has_learned(choice)
        with pytest.raises(ValueError, match="already has a reward"):
            agent.update(choice, 1.0)
    assert agent.keys == ["ada", "own", "newer", "new"]
    assert [agent.explain(key).rounds for key in agent.keys] == [6, 1, 2, 2]
    with pytest.raises(ValueError, match="retire"):
        shop.retire("ada")
    with pytest.raises(ValueError, match="worker"):
        agent.fork(shop)


# Explanations.


def test_an_explanation_by_hand():
    agent = agent_of(maps={"price": PRICE}, policy=SquareCB.bind(regularization=1.0, reward_range=WIDE))
    agent.learn({}, {"price": 2.0}, 5.0)
    for price in (1.0, 3.0):
        agent.act({}, [{"price": price}])
    told = agent.explain()
    assert told.to_dict() == {
        "key": None,
        "rounds": 1,
        "noise": None,
        "models": (
            {
                "name": "price",
                "weight": 1.0,
                "effects": ({"feature": "price", "parameter": pytest.approx(2.0), "effect": pytest.approx(2.0)},),
            },
        ),
        "level": None,
    }
    assert str(told).split() == ["1", "rewards", "learned", "100.0%", "price", "+2", "price"]
    assert agent.explain(top=0).models[0].effects == ()


# Refusals.


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"maps": []}, "maps"),
        ({"maps": {"a": "b"}}, r"maps\['a'\]"),
        ({"maps": [maps.Items(maps.Numbers("price"))]}, "fitted"),
        ({"policy": LinIDS.bind()}, "policy.*2 maps"),
        ({"policy": FSIDS(n_models=2, dim=3)}, "policy"),
        ({"maps": [TASTE], "policy": PSIDS.bind(centers=np.zeros((2, 9)), radii=1.0)}, "widths"),
        ({"id": 3}, "id"),
    ],
)
def test_what_cannot_be_an_agent_is_refused_by_name(arguments, word):
    with pytest.raises(ValueError, match=word):
        agent_of(**arguments)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda agent: agent.act({}, [], key="x"), "items"),
        (lambda agent: agent.act({}, None), "items"),
        (lambda agent: agent.act({}, ["unknown"], key="x"), "items.*registered"),
        (lambda agent: agent.act({}, ITEMS, key=1.5), "key"),
        (lambda agent: agent.act({}, ITEMS, key="x", available=[True]), "available"),
        (lambda agent: agent.update("tea", 1.0), "decision"),
        (lambda agent: agent.update(agent_of().act({}, ITEMS, key="x"), 1.0), "decision"),
        (lambda agent: agent.update(agent_of().fork(1).act({}, ITEMS, key="x"), 1.0), "decision"),
        (lambda agent: agent.learn({}, ITEMS[0], "much", key="x"), "reward"),
        (lambda agent: agent.register([{"price": 1.0}]), "register: id of item 0"),
        (lambda agent: agent.register([{"id": 1}, {"id": 1}]), "each id once"),
        (lambda agent: agent.explain(top=-1), "top"),
    ],
)
def test_what_is_refused_changes_nothing(call, word):
    agent = agent_of()
    played(agent, 2, key="ada")
    before = everything(agent)
    with pytest.raises(ValueError, match=word):
        call(agent)
    assert everything(agent) == before


def test_from_a_table_to_a_running_policy_takes_at_most_forty_lines():
    page = (Path(__file__).parents[2] / "docs" / "agent.md").read_text().partition("\n## 2.")[0]
    code = [line for line in page.splitlines() if line.startswith((">>> ", "... "))]
    assert 10 < len(code) <= 40
