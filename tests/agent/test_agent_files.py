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


def _put(name, value, part="learned"):
    """Return what puts a value, as a file has it, into a part of the agent."""

    def change(agent, arrays):
        agent[part][name] = value(agent[part][name]) if callable(value) else value

    return change


def _maps(value):
    """Return what changes the maps."""
    return _put("maps", lambda maps: {"dict": value(maps["dict"])}, "Agent")


def _array(name, value):
    def change(agent, arrays):
        key = agent["learned"]["scale"]["dict"][name]["array"]
        arrays[key] = value(arrays[key].copy())

    return change


def _lane(place, value):
    def change(agent, arrays):
        taken = agent["learned"]["lanes"]["dict"]["taken"]["list"]
        taken[0]["list"][place] = value

    return change


def _items(change):
    """Return what changes the ids and the records of items."""
    return _put(
        "items", lambda items: {"list": [{"list": part} for part in change(*(p["list"] for p in items["list"]))]}
    )


def _first(array, value):
    array[0] = value
    return array


DAMAGES = {
    "id": (_put("id", 3, "Agent"), "id: got 3"),
    "maps without names": (_put("maps", {"list": []}, "Agent"), "Agent: maps: got []"),
    "a map too few": (_maps(lambda maps: {"price": maps["price"]}), "maps: other ones than FSIDS"),
    "maps in another order": (_maps(lambda maps: dict(reversed(maps.items()))), "maps: other ones than FSIDS"),
    "a map of no kind": (_maps(lambda maps: maps | {"price": {"Magic": {}}}), "class 'Magic' is not known here"),
    "an encoder for a map": (
        _maps(lambda maps: maps | {"price": maps["price"]["Items"]["items"]}),
        "Agent: maps['price']: got Numbers('price'), expected a FeatureMap under a name",
    ),
    "a lane of two keys": (_lane(1, 1), "lanes: keys of other lanes"),
    "a lane that is not there": (_lane(1, 99), "lanes: keys of other lanes"),
    "a lane that is no number": (_lane(1, 0.0), "lanes: keys of other lanes"),
    "a key that is none": (_lane(0, 1.5), "key: got 1.5"),
    "widths": (_array("mean", lambda a: a[:-1]), "scale: mean is not that of"),
    "no number": (_array("square", lambda a: _first(a, np.nan)), "scale: square"),
    "a square below 0": (_array("square", lambda a: _first(a, -1.0)), "scale: counts or squares"),
    "a feature of the future": (_array("since", lambda a: _first(a, 99)), "scale: counts or squares"),
    "an item twice": (
        _items(lambda names, rows: (names[:1] * 2, rows)),
        "items: got ['tea', 'tea'], expected different ids",
    ),
    "an item without a record": (_items(lambda names, rows: (names, rows[:1])), "different ids of 1 records"),
    "an id that is none": (_items(lambda names, rows: ([None, "tea"], rows)), "items: got [None, 'tea']"),
    "an item that is no record": (_items(lambda names, rows: (names, [3, 4])), "different ids of 2 records"),
    "no policy": (_put("policy", None), "not what save wrote"),
}


def damaged(path, whole, change):
    """Write the file with a change in it; its checksum is right."""
    settings_, arrays = copy.deepcopy(whole)
    change(settings_, arrays)
    files.write(path, settings_, arrays)


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_no_agent_has_written_is_refused_by_name(kind, whole, tmp_path):
    change, word = DAMAGES[kind]
    damaged(tmp_path / "agent.bsel", whole, lambda agent, arrays: None)
    assert load(tmp_path / "agent.bsel").keys == ["ada", "bob"]
    damaged(tmp_path / "agent.bsel", whole, change)
    with pytest.raises(ValueError, match=r"agent\.bsel: ") as caught:
        load(tmp_path / "agent.bsel")
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("part", "name"),
    [("Agent", "maps"), ("Agent", "id"), *(("learned", n) for n in ("policy", "lanes", "scale", "items"))],
)
def test_what_is_missing_is_named(part, name, whole, tmp_path):
    damaged(tmp_path / "agent.bsel", whole, lambda agent, arrays: agent[part].pop(name))
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
