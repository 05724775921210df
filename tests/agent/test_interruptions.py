"""An agent interrupted in a call: it still serves, what it saves can be loaded, and no good file is lost."""

import contextlib
import copy
import dis
import functools
import itertools
import sys

import numpy as np
import pytest

from banditselect import FSIDS, OFUL, Agent, RegretBalancing, SquareCB, load, maps, on_map
from banditselect.checks.game import snapshot

ITEMS = [{"id": name, "price": price} for name, price in (("tea", 2.0), ("coffee", 3.0), ("wine", 9.0))]
VISITORS = [{"age": 20.0 + k} for k in range(12)]


class Interrupted(BaseException):
    """Like KeyboardInterrupt, which would stop the tests if one were lost."""


@functools.cache
def looks(code):
    """Return where CPython has looked for signals: behind calls, where functions begin, and where loops turn."""
    found, before = set(), ""
    for instruction in dis.get_instructions(code):
        if before.startswith(("CALL", "RESUME", "JUMP_BACKWARD")):
            found.add(instruction.offset)
        before = instruction.opname
    return found


def traced(call, interrupt):
    """Run a call; raise where ``interrupt(place)`` is true: before a line, or at a look for signals.

    In the agent, and where a policy shuts its gate, only the looks count: elsewhere nothing can come between.
    """

    def trace(frame, event, arg):
        name = frame.f_code.co_filename
        if "/banditselect/" not in name:
            return None
        exact = "/agent/" in name or name.endswith("policies/policy.py")
        frame.f_trace_opcodes, frame.f_trace_lines = exact, not exact
        comes = event == "line" or (event == "opcode" and frame.f_lasti in looks(frame.f_code))
        if comes and interrupt((name, frame.f_lineno)):
            raise Interrupted
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)


def instants(call):
    """Return the numbers of the instants at which to interrupt: the first and the last of every line."""
    seen = []
    traced(call, lambda place: seen.append(place))  # append returns None: nothing is raised
    last = {place: at for at, place in enumerate(seen)}
    return sorted({*last.values(), *(seen.index(place) for place in last)})


def agent_of(keys, retired=()):
    """Return an agent that has learned for some keys, of which some are retired."""
    price, age = maps.Numbers("price", scale="online"), maps.Numbers("age")
    made = {"price": maps.Items(price), "taste": maps.Outer(context=age, items=price)}
    agent = Agent(maps={name: part.fit(VISITORS, ITEMS) for name, part in made.items()}, policy=FSIDS.bind())
    agent.register(ITEMS[:2])
    for k in range(2 * keys):
        agent.update(agent.act(VISITORS[k], key=f"key {k % keys}"), 0.1 * k)
    for key in retired:
        agent.retire(key)
    return agent


def held(agent):
    """Return what the calls below change at once: the keys, and the items by id."""
    return agent.keys, agent.id, dict(zip(agent._items, agent._catalogue.rows(), strict=True))


CALLS = {
    "act, lanes are added": (3, (), lambda agent: agent.act(VISITORS[9], key="new")),
    "act, lanes are made fresh": (3, ("key 1",), lambda agent: agent.act(VISITORS[9], key="new")),
    "act, a lane is free": (5, ("key 1",), lambda agent: agent.act(VISITORS[9], key="new")),
    "retire": (3, (), lambda agent: agent.retire("key 1")),
    "register": (2, (), lambda agent: agent.register([{"item": 7, "price": 1.0}], id="item")),
}


@pytest.mark.parametrize("name", CALLS)
def test_wherever_it_is_interrupted_an_agent_serves_and_its_file_can_be_loaded(name, tmp_path):
    keys, retired, call = CALLS[name]
    agent, path, seen = agent_of(keys, retired), tmp_path / "agent.bsel", set()
    done, again = copy.deepcopy(agent), copy.deepcopy(agent)
    call(done)
    before, after, rounds = held(agent), held(done), agent.explain("key 0").rounds
    for at in instants(lambda: call(again)):
        one, count = copy.deepcopy(agent), itertools.count()
        with pytest.raises(Interrupted):
            traced(lambda one=one: call(one), lambda place, count=count, at=at: next(count) == at)
        assert held(one) in (before, after)
        gates = bool(one._guard.busy), bool(one.policy._guard.busy)
        state = repr(
            (gates, held(one), one._lanes.learned(), one._scale.learned(), snapshot(one.policy), one.policy.lanes)
        )
        if state in seen:
            continue
        seen.add(state)
        one.save(path)
        for still in (one, load(path)):
            choices = [still.act(VISITORS[0], ITEMS, key=key) for key in ("key 0", "new", "newer", "newest")]
            lanes = [int(choice.decision.lanes[0]) for choice in choices]
            assert len(set(lanes)) == 4
            assert still.policy.rounds[lanes].tolist() == [rounds, 0, 0, 0]
            still.update_many(choices, [0.5] * 4)
            still.act(VISITORS[0], key="last")
    assert len(seen) > 1


# Files.


def test_what_cannot_be_loaded_does_not_replace_a_good_file(tmp_path):
    agent, path = agent_of(3), tmp_path / "agent.bsel"
    agent.save(path)
    good = path.read_bytes()
    agent.act(VISITORS[0], key="key 0")
    agent._lanes.lane_of["twin"] = agent._lanes.lane_of["key 0"]
    with pytest.raises(RuntimeError) as caught:
        agent.save(path)
    message = "save: what was written cannot be loaded, so it was deleted and {} left as it was (lanes: keys of other"
    assert str(caught.value).startswith(message.format(path))
    assert "continue with the last file that was saved (banditselect.load)" in str(caught.value)
    assert path.read_bytes() == good
    assert [file.name for file in tmp_path.iterdir()] == ["agent.bsel"]
    assert load(path).keys == ["key 0", "key 1", "key 2"]
    del agent._lanes.lane_of["twin"]
    agent.save(path)
    assert path.read_bytes() != good


def test_a_policy_that_cannot_be_loaded_is_not_saved(tmp_path):
    policy = OFUL(dim=2, lanes=3)
    policy._ledger.book = policy._ledger.book[:2]
    with pytest.raises(RuntimeError, match=r"cannot be loaded, so it was deleted .*array 'book': found int64 \(2, 5\)"):
        policy.save(tmp_path / "policy.bsel")
    assert list(tmp_path.iterdir()) == []


# Lanes.

GROWING = {
    "master": (RegretBalancing(bases=[SquareCB(dim=2), OFUL(dim=2)], reference=1.0, lanes=2), {}),
    "on map": (on_map(OFUL(dim=2, lanes=2), [0, 1]), {"index": [2]}),
}


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("name", GROWING)
def test_lanes_are_added_to_all_parts_or_to_none(name, error, monkeypatch):
    concatenate, (policy, arguments), failures = np.concatenate, GROWING[name], 0
    policy = copy.deepcopy(policy)
    before, shape = snapshot(policy), policy.feature_shape
    while policy.lanes == 2:
        count = itertools.count()

        def failing(*arrays, count=count, at=failures, **how):
            if next(count) == at:
                raise error
            return concatenate(*arrays, **how)

        with monkeypatch.context() as patch, contextlib.suppress(error):
            patch.setattr(np, "concatenate", failing)
            policy.add_lanes(1, **arguments)
        if policy.lanes == 2:
            assert (snapshot(policy), policy.feature_shape) == (before, shape)
            failures += 1
    assert failures > 5
    assert policy.lanes == 3
    assert snapshot(policy).keys() == before.keys()
