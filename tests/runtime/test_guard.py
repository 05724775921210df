"""One call at a time: a second one is refused while the first runs, and nothing that was accepted is lost."""

import copy
import gc
import pickle
import sys
import threading

import numpy as np
import pytest

from banditselect import OFUL, SquareCB, Uniform
from banditselect.runtime.guard import OneCallAtATime

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


class Slow(Uniform):
    """Thinks until the event is set."""

    def _choose(self, *arguments):
        self.inside.set()
        assert self.go_on.wait(600)
        return super()._choose(*arguments)


def calls(policy, decision, path):
    """Every call that reads or writes what the policy has learned."""
    return {
        "act": lambda: policy.act(X),
        "update": lambda: policy.update(decision, 0.5),
        "update_many": lambda: policy.update_many([decision], [0.5]),
        "forget": lambda: policy.forget(decision),
        "learn": lambda: policy.learn(X[0], 0.5),
        "probabilities": lambda: policy.probabilities(X),
        "save": lambda: policy.save(path),
        "fork": lambda: policy.fork(1),
        "close_workers": lambda: policy.close_workers(0.0),
    }


def test_a_second_call_is_refused_while_the_first_runs(tmp_path):
    policy = Slow()
    policy.inside, policy.go_on = threading.Event(), threading.Event()
    policy.go_on.set()
    decision = policy.act(X)
    policy.inside.clear()
    policy.go_on.clear()
    acts = []
    thread = threading.Thread(target=lambda: acts.append(policy.act(X)))
    thread.start()
    assert policy.inside.wait(600)
    for call in calls(policy, decision, tmp_path / "policy.bsel").values():
        with pytest.raises(RuntimeError, match=r"another call is running .* put a lock around its calls"):
            call()
    policy.go_on.set()
    thread.join()
    policy.update_many([decision, acts[0]], [0.5, 0.5])
    assert policy.rounds == 2


def test_lanes_cannot_be_added_while_a_call_runs():
    policy = SquareCB(dim=2, lanes=1)
    with policy._guard, pytest.raises(RuntimeError, match="another call is running"):
        policy.add_lanes(1)
    policy.add_lanes(1)


def test_a_call_that_fails_lets_the_next_one_in():
    policy = SquareCB(dim=2)
    decision = policy.act(X)
    for wrong in (
        lambda: policy.act("x"),
        lambda: policy.update(decision, "x"),
        lambda: policy.update_many([decision], ["x"]),
        lambda: policy.forget(3),
        lambda: policy.learn(X[0], "x"),
        lambda: policy.probabilities("x"),
    ):
        with pytest.raises(ValueError, match="got"):
            wrong()
    policy.update(decision, 0.5)


def test_no_reward_that_was_accepted_is_lost():
    """Eight threads that do not wait for each other; who is refused tries again."""
    policy, rounds, refused = OFUL(dim=2), 500, []

    def serve():
        for _ in range(rounds):
            decision = until_accepted(lambda: policy.act(X))
            until_accepted(lambda: policy.update(decision, 0.5))  # noqa: B023

    def until_accepted(call):
        while True:
            try:
                return call()
            except RuntimeError:
                refused.append(1)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=serve) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert policy.rounds == 8 * rounds
    assert policy.model.bank.updates[0] == 8 * rounds
    V = np.linalg.inv(policy.model.bank.root[0, 0] @ policy.model.bank.root[0, 0].T)
    assert V.trace() == pytest.approx(2.0 + 8 * rounds, rel=1e-9)  # every row of X has length 1


def test_a_copy_is_free_while_its_original_is_busy_and_a_call_that_was_cut_off_locks_nothing():
    guard = OneCallAtATime()

    def interrupted():
        guard.__enter__()  # and no time to take its mark away

    interrupted()
    assert guard.busy is not None
    with guard:
        assert guard.busy is not None
        assert copy.deepcopy(guard).busy is None
        assert pickle.loads(pickle.dumps(guard)).busy is None
    assert guard.busy is None


def test_a_round_leaves_no_cycle_for_the_garbage_collector():
    policy = SquareCB(dim=2)
    policy.update(policy.act(X), 0.5)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            policy.update(policy.act(X), 0.5)
        assert gc.collect() == 0
    finally:
        gc.enable()
