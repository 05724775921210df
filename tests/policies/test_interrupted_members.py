"""Models that come or go while an interruption strikes: the policy is as before or as after, never anything between."""

import copy
import sys

import numpy as np
import pytest
from test_interrupted_updates import Interrupt, Tracer
from test_interrupted_updates import state as learned

from banditselect import FSIDS, FSOFUL, PSIDS, PSOFUL, FSSquareCB

CENTERS = np.array([[0.5, -0.5, 0.2], [1.0, 1.0, 0.0]])
POLICIES = {
    "FSSquareCB": FSSquareCB.bind(n_models=2, dim=3, reward_range=(-9.0, 9.0)),
    "FSSquareCB, range": FSSquareCB.bind(n_models=2, dim=3, weighting="range", reward_range=(-9.0, 9.0)),
    "FSIDS": FSIDS.bind(n_models=2, dim=3),
    "FSOFUL": FSOFUL.bind(n_models=2, dim=3, noise=9.0),
    "PSIDS": PSIDS.bind(centers=CENTERS, radii=0.5),
    "PSOFUL": PSOFUL.bind(centers=CENTERS, radii=0.5, noise=9.0),
}


def state(policy):
    return repr(policy), policy._generation, learned(policy)


def run(policy, change, at):
    """Change the models, interrupted after so many bytecodes; return how many were run."""
    tracer = Tracer(at)
    sys.settrace(tracer)
    try:
        change(policy)
    except Interrupt:
        pass
    finally:
        sys.settrace(None)
    return tracer.count


@pytest.mark.parametrize("way", ["add", "replay", "retire"])
@pytest.mark.parametrize("name", POLICIES)
def test_models_have_come_or_gone_or_not(name, way):
    rng, policy = np.random.default_rng(0), POLICIES[name](seed=3)
    many = policy.feature_shape.many
    if way == "replay" and not many:
        pytest.skip("regions know what was learned")
    for _ in range(5):
        policy.update(policy.act(rng.normal(size=(2, 4, 3) if many else (4, 3))), float(rng.normal()))
    waiting = policy.act(rng.normal(size=(2, 4, 3) if many else (4, 3)))
    replay = rng.normal(size=(5, 2)), rng.normal(size=5)
    change = {
        "add": lambda p: p.add_models(2) if many else p.add_models(0.5 * CENTERS[:1]),
        "replay": lambda p: p.add_models(2, replay=replay),
        "retire": lambda p: p.retire_models(0),
    }[way]
    before, done = state(policy), copy.deepcopy(policy)
    bytecodes = run(done, change, None)
    after = state(done)
    assert before != after
    places = [*range(1, bytecodes - 400, bytecodes // 12), *range(bytecodes - 400, bytecodes + 1, 19)]
    seen = set()
    for at in places:
        torn = copy.deepcopy(policy)
        run(torn, change, at)
        found = state(torn)
        assert found in (before, after), f"torn by an interruption after {at} of {bytecodes} bytecodes"
        seen.add(found == before)
        if found == before:
            change(torn)  # the guard is free
        assert repr(torn) == after[0]
        torn.update(waiting, 0.7)
        assert torn.rounds == 6
    assert seen == {True, False}
