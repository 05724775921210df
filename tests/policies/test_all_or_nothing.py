"""Learning many decisions at once: all of them or none, at every interruption; settings and copies that cannot lie."""

import copy
import sys
import warnings

import numpy as np
import pytest
from test_interrupted_updates import Interrupt, Tracer

from banditselect import OFUL, FSSquareCB, RegretBalancing, SquareCB, load, on_map
from banditselect.checks.game import make, play, snapshot
from policies_under_check import NAMES, POLICIES

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def everything(policy):
    return snapshot(policy) | {"workers": policy._acts.from_workers.table().tobytes()}


def interrupted(call, at):
    """Run a call and raise at the ``at``-th bytecode that it runs in the library; return whether it came so far."""
    sys.settrace(Tracer(at))
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("lanes", [None, 2])
@pytest.mark.parametrize("own", [True, False])
def test_many_are_learned_or_none_wherever_it_is_interrupted(own, lanes):
    policy = RegretBalancing(bases=[SquareCB(dim=2), OFUL(dim=2)], lanes=lanes)
    x = X if lanes is None else np.tile(X, (lanes, 1, 1))
    for _ in range(5):
        policy.update(policy.act(x), 0.5 if lanes is None else [0.5, 0.1])
    actors = [policy] if own else [policy, policy.fork(1)]
    decisions = [actor.act(x) for actor in actors for _ in range(2)]
    rewards = [0.2 if lanes is None else [0.2, 0.9]] * len(decisions)
    done = copy.deepcopy(policy)
    done.update_many(decisions, rewards)
    none, everyone = everything(policy), everything(done)
    outcomes, at = [], 1
    while interrupted(lambda: policy.update_many(decisions, rewards), at):
        found = everything(policy)
        assert found in (none, everyone)
        outcomes.append(found == everyone)
        if found == everyone:  # behind the last line of learning, on the way out
            break
        at += 17
    assert len(outcomes) > 50
    assert not any(outcomes[:-1])
    if not outcomes[-1]:
        assert everything(policy) == everyone


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_every_policy_plays_on_as_if_a_failed_batch_had_never_come(name, monkeypatch):
    (policy, game), (twin, same) = (make(POLICIES[name][0], lanes=3) for _ in range(2))
    play(policy, game, 8)
    play(twin, same, 8)
    decisions = []
    for one, its in ((policy, game), (twin, same)):
        for _ in range(3):
            maps = its.features()
            decision = one.act(its.shown([m[[2, 0]] for m in maps]), lanes=[2, 0])
            if one is policy:
                decisions.append(decision)
    before, learn, left = snapshot(policy), policy._learn, [2]

    def failing(*row):
        learn(*row)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(vars(policy), "_learn", failing)
        with pytest.raises(KeyboardInterrupt):
            policy.update_many(decisions, [[0.3, 40.0]] * 3)
    assert snapshot(policy) == before
    assert play(policy, game, 8).__repr__() == play(twin, same, 8).__repr__()
    assert snapshot(policy) == snapshot(twin)


def test_where_warnings_are_errors_a_warning_learns_nothing():
    policy = SquareCB(dim=2)
    decisions = [policy.act(X) for _ in range(3)]
    before = everything(policy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(RuntimeWarning, match="outside reward_range"):
                policy.update_many(decisions, [0.5, 7.0, 0.5])
            assert everything(policy) == before
    with pytest.warns(RuntimeWarning, match="outside reward_range"):
        policy.update_many(decisions, [0.5, 7.0, 0.5])
    assert policy.rounds == 3


def test_no_decisions_are_learned_at_once_too():
    policy = SquareCB(dim=2)
    policy.update_many([], [])
    assert policy.rounds == 0


# Settings and copies.


@pytest.mark.parametrize("name", NAMES)
def test_settings_cannot_be_changed(name):
    policy = POLICIES[name][0](lanes=2)
    written = repr(policy)
    for setting in policy.settings:
        with pytest.raises(AttributeError, match=f": {setting} is a setting and cannot be changed"):
            setattr(policy, setting, 3)
    assert repr(policy) == written


def test_settings_of_what_is_inside_or_was_loaded_or_copied_cannot_be_changed(tmp_path):
    policy = RegretBalancing(bases=[on_map(SquareCB(dim=2), 0), on_map(OFUL(dim=2), 0)])
    policy.save(tmp_path / "policy.bsel")
    for one in (policy, load(tmp_path / "policy.bsel"), copy.deepcopy(policy), policy.fork(1)):
        for inner, setting in ((one, "rule"), (one.bases[0], "index"), (one.bases[0].policy, "exploration")):
            with pytest.raises(AttributeError, match="cannot be changed"):
                setattr(inner, setting, 3)


def test_a_shallow_copy_shares_nothing():
    policy = FSSquareCB(n_models=2, dim=2)
    decision = policy.act(np.stack([X, X]))
    twin = copy.copy(policy)
    twin.update(decision, 0.5)
    assert (policy.rounds, twin.rounds) == (0, 1)
    policy.update(decision, 0.5)
