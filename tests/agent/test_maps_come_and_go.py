"""Maps that come to an agent and go, by name: what they weigh, what is explained, files, late rewards."""

import numpy as np
import pytest

from banditselect import FSIDS, FSOFUL, Agent, FSSquareCB, LinIDS, load, maps
from banditselect.agent import AgentDecision
from banditselect.checks.game import snapshot

ITEMS = [{"id": name, "price": price} for name, price in (("tea", 2.0), ("coffee", 3.0), ("wine", 9.0))]
VISITORS = [{"age": float(age)} for age in (20, 35, 50, 65)]
PRICE = maps.Items(maps.Numbers("price").fit(ITEMS))
TASTE = maps.Outer(context=maps.Numbers("age"), items=maps.Numbers("price")).fit(VISITORS, ITEMS)
ARMS = maps.Disjoint(context=maps.Numbers("age").fit(VISITORS), capacity=3)
POLICIES = {"FSIDS": FSIDS.bind(), "FSOFUL": FSOFUL.bind(noise=2.0), "FSSquareCB": FSSquareCB.bind(weighting="learned")}


def rounds_of(n, seed=0):
    """Rounds as ``learn`` takes them, of two keys and of none."""
    rng = np.random.default_rng(seed)
    keys = [("ada", None, "bob")[k] for k in rng.integers(0, 3, n)]
    items = [ITEMS[k] for k in rng.integers(0, 3, n)]
    contexts = [VISITORS[k] for k in rng.integers(0, 4, n)]
    rewards = [
        0.2 * c["age"] / 35 * (i["id"] == "wine") + 0.1 * rng.normal() for c, i in zip(contexts, items, strict=True)
    ]
    return list(zip(contexts, items, rewards, keys, strict=True))


def taught(agent, rounds):
    for context, item, reward, key in rounds:
        agent.learn(context, item, reward, key=key)
    return agent


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", POLICIES)
def test_maps_to_which_everything_is_replayed_have_been_there_from_the_first(kind):
    rounds = rounds_of(40)
    agent = Agent(maps={"price": PRICE}, policy=POLICIES[kind], seed=1)
    agent.learn(VISITORS[0], ITEMS[0], 1.0, key="gone")
    agent.retire("gone")
    taught(agent, rounds[:30])
    agent.add_maps({"arms": ARMS, "taste": TASTE}, replay=rounds[:30])
    whole = Agent(maps={"price": PRICE, "arms": ARMS, "taste": TASTE}, policy=POLICIES[kind], seed=1)
    taught(whole, rounds)
    taught(agent, rounds[30:])
    assert list(agent.maps) == ["price", "arms", "taste"]
    for key in ("ada", None, "bob"):
        for one in (agent, whole):
            one.act(VISITORS[1], ITEMS, key=key)
        found, wanted = ([(m.name, m.weight) for m in one.explain(key).models] for one in (agent, whole))
        assert [name for name, _ in found] == [name for name, _ in wanted]
        np.testing.assert_allclose([w for _, w in found], [w for _, w in wanted], rtol=1e-8)
        p, q = (one.probabilities(VISITORS[2], ITEMS, key=key) for one in (agent, whole))
        np.testing.assert_allclose(p, q, rtol=1e-8, atol=1e-12)


def test_names_follow_the_models_and_what_was_decided_before_is_learned(tmp_path):
    agent = Agent(maps=[PRICE], seed=3)
    waiting = [agent.act(VISITORS[t % 4], ITEMS, key="ada") for t in range(3)]
    taught(agent, rounds_of(20))
    agent.add_maps([ARMS, TASTE])
    assert list(agent.maps) == ["0: Items", "1: Disjoint", "2: Outer"]
    waiting += [agent.act(VISITORS[t % 4], ITEMS, key="ada") for t in range(2)]
    agent.retire_maps("0: Items")
    agent.add_maps([PRICE])  # under a name that is free
    assert list(agent.maps) == ["1: Disjoint", "2: Outer", "2: Items"]
    agent.save(tmp_path / "agent.bsel")
    again = load(tmp_path / "agent.bsel")
    for one in (agent, again):
        before = one.explain("ada").rounds
        one.update(waiting[0], 0.3)
        one.update_many([AgentDecision.from_dict(waiting[k].to_dict()) for k in (4, 2)], [0.1, 0.2])
        one.forget(waiting[1])
        assert one.explain("ada").rounds == before + 1  # the others were of a map that is gone, and taught nothing
        assert [one.has_learned(choice) for choice in waiting] == [True, True, True, False, True]
        for t in range(6):
            choice = one.act(VISITORS[t % 4], ITEMS, key="eve")
            one.update(choice, float(choice.item == "wine"))
    assert snapshot(again.policy) == snapshot(agent.policy)
    assert str(again.explain("eve")) == str(agent.explain("eve"))
    assert again.act(VISITORS[0], ITEMS).to_dict() == agent.act(VISITORS[0], ITEMS).to_dict()


def test_maps_of_one_class_that_come_later_have_names_of_their_own():
    agent = Agent(maps=[PRICE, PRICE])
    agent.retire_maps("0: Items")
    agent.add_maps([PRICE, PRICE])
    assert list(agent.maps) == ["1: Items", "2: Items", "3: Items"]


def test_an_explanation_names_the_features_of_every_map_that_is_there():
    agent = Agent(maps={"price": PRICE, "taste": TASTE}, seed=1)
    rng = np.random.default_rng(0)

    def play(rounds):
        for _ in range(rounds):
            visitor = VISITORS[rng.integers(4)]
            choice = agent.act(visitor, ITEMS)
            agent.update(choice, float(choice.item == "wine") * visitor["age"] / 50 + 0.1 * rng.normal())

    play(20)
    agent.add_maps({"arms": ARMS})
    agent.retire_maps(["price"])
    play(60)
    told = {model.name: {effect.feature for effect in model.effects} for model in agent.explain(top=9).models}
    assert set(told) == {"taste", "arms"}
    assert told["taste"] <= set(TASTE.names)
    assert told["arms"] <= {f"{item['id']}: age" for item in ITEMS}  # a constant is the same for all items
    assert told["arms"]
    spread = agent._scale
    assert spread.since.tolist() == [0] * TASTE.width + [20] * 2
    assert spread.deviation()[-1] == pytest.approx(
        np.std([(v["age"] - 42.5) / 16.770509831 for v in VISITORS]), rel=0.3
    )
    assert agent.explain().models[0].weight > 0.5


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda agent: agent.add_maps({"price": TASTE}), "names that no other map has"),
        (lambda agent: agent.add_maps({"new": maps.Items(maps.Numbers("price"))}), "fitted"),
        (lambda agent: agent.add_maps({}), "one or more feature maps"),
        (lambda agent: agent.add_maps({"new": TASTE}, prior_weights=1.0), "prior_weights"),
        (lambda agent: agent.add_maps({"new": TASTE}, replay=[({}, ITEMS[0])]), r"replay\[0\]"),
        (lambda agent: agent.add_maps({"new": TASTE}, replay=[({}, ITEMS[0], 1.0, "nobody")]), "has a learner"),
        (lambda agent: agent.add_maps({"new": TASTE}, replay=[({}, ITEMS[0], 1.0, "ada")] * 99), "replay"),
        (lambda agent: agent.retire_maps(["price", "arms"]), "not all"),
        (lambda agent: agent.retire_maps("size"), "some of 'price', 'arms'"),
        (lambda agent: agent.retire_maps([]), "retire_maps: names"),
        (lambda agent: agent.retire_maps(["arms", "arms"]), "each once"),
        (lambda agent: agent.fork(1).add_maps({"new": TASTE}), "forked from"),
        (lambda agent: agent.fork(1).retire_maps("arms"), "forked from"),
    ],
)
def test_what_is_refused_changes_nothing(call, word):
    agent = taught(Agent(maps={"price": PRICE, "arms": ARMS}), rounds_of(9))
    before = snapshot(agent.policy), agent._lanes.learned(), list(agent.maps), agent._scale.mean.size
    with pytest.raises(ValueError, match=word):
        call(agent)
    assert (snapshot(agent.policy), agent._lanes.learned(), list(agent.maps), agent._scale.mean.size) == before


def test_a_policy_over_one_map_keeps_it():
    agent = Agent(maps=[PRICE], policy=LinIDS.bind())
    for call in (lambda: agent.add_maps([TASTE]), lambda: agent.retire_maps("0: Items")):
        with pytest.raises(ValueError, match=r"LinIDS.*a policy that selects maps"):
            call()


def test_an_agent_that_forgets_has_disjoint_maps_and_keeps_its_list(tmp_path):
    agent = Agent(maps={"price": PRICE, "arms": ARMS}, policy=FSIDS.bind(memory=15.0), seed=2)
    for best in ("tea", "wine"):
        for t in range(60):
            choice = agent.act(VISITORS[t % 4], ITEMS, key="ada")
            agent.update(choice, float(choice.item == best) + 0.01 * (t % 3))
    agent.save(tmp_path / "agent.bsel")
    again = load(tmp_path / "agent.bsel")
    assert again.act(VISITORS[0], ITEMS, key="ada").to_dict() == agent.act(VISITORS[0], ITEMS, key="ada").to_dict()
    assert agent.probabilities(VISITORS[1], ITEMS, key="ada")[2] > 0.5
    for call in (lambda: agent.add_maps([TASTE]), lambda: agent.retire_maps("price")):
        with pytest.raises(ValueError, match=r"its models cannot come and go: .*memory has to be None"):
            call()
    assert list(agent.maps) == ["price", "arms"]
