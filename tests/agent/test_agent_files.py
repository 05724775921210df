"""The lanes of an agent's keys against a dict; files of agents and of every other kind, whole and damaged."""

import contextlib
import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect import FSIDS, PSIDS, Agent, load, maps, regions
from banditselect.agent.learners import LaneTable
from banditselect.checks.game import snapshot
from banditselect.runtime import files
from maps_under_check import MOVIES, VISITORS, YEAR, every_map

# Lanes by key.


class Lanes:
    """The part of a policy that a LaneTable calls; it knows which lanes were used since they were fresh."""

    def __init__(self):
        self.used = [False]

    @property
    def lanes(self):
        return len(self.used)

    def add_lanes(self, n):
        self.used += [False] * n

    def reset_lanes(self, lanes):
        for lane in lanes:
            self.used[lane] = False


KEYS = st.sampled_from([None, "ada", "bob", "", 0, 17, *(f"customer-{k}" for k in range(20))])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["take", "leave", "see", "fail"]), KEYS),
    st.tuples(st.sampled_from(["tidy", "file"]), st.none()),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=80))
def test_lanes_by_key_are_those_of_a_dict(steps):
    """In any order of calls a key keeps its lane, two keys share none, a new key has a fresh one."""
    policy = Lanes()
    table, known = LaneTable(policy), {}
    for what, key in steps:
        if what == "take":
            lane = table.assign(key)
            assert key in known or not policy.used[lane]
            assert lane == known.setdefault(key, lane)
            policy.used[lane] = True
        elif what == "leave":
            table.release(key)
            known.pop(key, None)
        elif what == "see":
            lane = table.lane_or_next(key)
            assert lane == known.get(key, lane)
            assert key in known or (not policy.used[lane] and lane not in known.values())
        elif what == "fail":
            before = dict(table.lane_of)
            with contextlib.suppress(KeyError), table:
                table.assign(key)
                table.assign("another")
                raise KeyError
            assert table.lane_of == before
        elif what == "tidy":
            table.reset_released()
            assert not table.released
        else:
            learned, table = json.loads(json.dumps(table.learned())), LaneTable(policy)
            table.restore(learned)
        assert table.lane_of == known
        assert sorted([*known.values(), *table.free, *table.released]) == list(range(policy.lanes))
        assert not any(policy.used[lane] for lane in table.free)


# Files.

ITEMS = [{"id": name, "price": price} for name, price in (("tea", 2.0), ("coffee", 3.0))]
PRICE = maps.Items(maps.Numbers("price").fit(ITEMS))
ARMS = maps.Disjoint(capacity=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The settings and arrays of the file of an agent."""
    path = tmp_path_factory.mktemp("agent") / "agent.bsel"
    agent = Agent(maps={"price": PRICE, "arms": ARMS}, policy=FSIDS.bind(), seed=1)
    agent.register(ITEMS)
    for key in ("ada", "bob", "eve"):
        agent.update(agent.act({}, None, key=key), 1.0)
    agent.retire("eve")
    agent.save(path)
    return files.read(path)


def no_number(array):
    return np.where(np.arange(array.size) == 0, np.nan, array)


DAMAGES = {  # where in the file, the value put there or a change of it, and what the error names
    "id": ("Agent.id", 3, "id: got 3"),
    "maps without names": ("Agent.maps", {"list": []}, "Agent: maps: got []"),
    "a map too few": ("Agent.maps.dict", lambda maps: {"price": maps["price"]}, "maps: other ones than FSIDS"),
    "maps in another order": ("Agent.maps.dict", lambda maps: dict(reversed(maps.items())), "maps: other ones than"),
    "a map of no kind": ("Agent.maps.dict.price", {"Magic": {}}, "class 'Magic' is not known here"),
    "an encoder for a map": (
        "Agent.maps.dict.price",
        lambda price: price["Items"]["items"],
        "Agent: maps['price']: got Numbers('price'), expected a FeatureMap under a name",
    ),
    "a lane of two keys": ("learned.lanes.dict.taken.list.0.list.1", 1, "lanes: keys of other lanes"),
    "a lane that is not there": ("learned.lanes.dict.taken.list.0.list.1", 99, "lanes: keys of other lanes"),
    "a lane that is no number": ("learned.lanes.dict.taken.list.0.list.1", 0.0, "lanes: keys of other lanes"),
    "a key that is none": ("learned.lanes.dict.taken.list.0.list.0", 1.5, "key: got 1.5"),
    "widths": ("learned.scale.dict.mean.array", lambda a: a[:-1], "scale: mean is not that of"),
    "no number": ("learned.scale.dict.square.array", no_number, "scale: square"),
    "a square below 0": ("learned.scale.dict.square.array", lambda a: a - 99.0, "scale: counts or squares"),
    "a feature of the future": ("learned.scale.dict.since.array", lambda a: a + 99, "scale: counts or squares"),
    "an item twice": ("learned.items.list.0.list", ["tea"] * 2, "items: got ['tea', 'tea'], expected different ids"),
    "an item without a record": ("learned.items.list.1.list", lambda rows: rows[:1], "different ids of 1 records"),
    "an id that is none": ("learned.items.list.0.list.0", None, "items: got [None, 'coffee']"),
    "an item that is no record": ("learned.items.list.1.list", [3, 4], "different ids of 2 records"),
    "no policy": ("learned.policy", None, "not what save wrote"),
}


def damaged(path, whole, way, value):
    """Write the file with another value in one place; its checksum is right."""
    content, arrays = copy.deepcopy(whole)
    settings_, (*steps, last) = content, way.split(".")
    for step in steps:
        content = content[int(step) if isinstance(content, list) else step]
    if last == "array":
        content, last = arrays, content["array"]
    last = int(last) if isinstance(content, list) else last
    content[last] = value(content[last]) if callable(value) else value
    files.write(path, settings_, arrays)


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_no_agent_has_written_is_refused_by_name(kind, whole, tmp_path):
    way, value, word = DAMAGES[kind]
    damaged(tmp_path / "agent.bsel", whole, way, lambda part: part)
    assert load(tmp_path / "agent.bsel").keys == ["ada", "bob"]
    damaged(tmp_path / "agent.bsel", whole, way, value)
    with pytest.raises(ValueError, match=r"agent\.bsel: ") as caught:
        load(tmp_path / "agent.bsel")
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("part", "name"),
    [("Agent", "maps"), ("Agent", "id"), *(("learned", n) for n in ("policy", "lanes", "scale", "items"))],
)
def test_what_is_missing_is_named(part, name, whole, tmp_path):
    without = {key: value for key, value in whole[0][part].items() if key != name}
    damaged(tmp_path / "agent.bsel", whole, part, without)
    with pytest.raises(ValueError, match=rf"agent\.bsel: not what save wrote: KeyError: '{name}'"):
        load(tmp_path / "agent.bsel")


# Every kind of object in one format.


def saved_kinds():
    """An object of every kind that has files, by name, with something learned."""
    rng = np.random.default_rng(0)
    agent = Agent(maps={"price": PRICE, "arms": ARMS}, seed=1)
    agent.update(agent.act({}, ITEMS), 1.0)
    theta, x = rng.normal(size=(6, 2)), rng.normal(size=(60, 2))
    task = np.arange(60) % 6
    table = {"task": task, "reward": (x * theta[task]).sum(axis=1) + 0.1 * rng.normal(size=60)}
    sequence = regions.TaskSequence(dim=2, policy=PSIDS.bind(floor=0.1))
    sequence.end(x[:9], table["reward"][:9])
    found = regions.from_tasks(table, key="task", features=x, n_regions=2)
    return {"policy": agent.policy, "agent": agent, "map": ARMS, "regions": found, "sequence": sequence}


@pytest.mark.parametrize("kind", ["policy", "agent", "map", "regions", "sequence"])
def test_any_flipped_byte_of_any_file_is_found(kind, tmp_path):
    path = tmp_path / "whole.bsel"
    thing = saved_kinds()[kind]
    thing.save(path)
    assert repr(load(path)) == repr(thing)
    content = path.read_bytes()
    for position in [*range(0, len(content), max(1, len(content) // 97)), len(content) - 1]:
        changed = bytearray(content)
        changed[position] ^= 1 << (position % 8)
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"whole\.bsel: "):
            load(path)


@pytest.mark.parametrize("name", every_map())
def test_an_agent_with_any_map_continues_bit_identically(name, tmp_path):
    made = every_map()[name].fit(VISITORS, MOVIES)
    agent = Agent(maps={"it": made, "films": maps.Items(YEAR).fit(None, MOVIES)}, seed=2)
    agent.register(MOVIES)
    for t in range(6):
        agent.update(agent.act(VISITORS[t % 3], key=t % 2), 0.1 * t)
    agent.save(tmp_path / "agent.bsel")
    again = load(tmp_path / "agent.bsel")
    for t in range(6):
        mine, theirs = (
            one.act(VISITORS[t % 3], [*MOVIES, {"id": t, "year": 1950 + t}], key=t % 3) for one in (agent, again)
        )
        assert mine.to_dict() == theirs.to_dict()
        agent.update(mine, 0.3 * t)
        again.update(theirs, 0.3 * t)
    assert snapshot(again.policy) == snapshot(agent.policy)
