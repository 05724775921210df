"""A policy on one of several maps is the policy itself."""

import numpy as np
import pytest

from banditselect import OFUL, FSSquareCB, LinTS, OnMap, RegretBalancing, SquareCB, Uniform, given, on_map

MAPS = [np.ones((4, d)) for d in (2, 5, 3)]


def played(policy, inputs, rounds=25):
    rng = np.random.default_rng(8)
    trace = []
    for _ in range(rounds):
        maps = [rng.normal(size=(4, d)) for d in (2, 5, 3)]
        decision = policy.act(inputs(maps))
        policy.update(decision, float(rng.normal()))
        trace.append((decision.action, decision.probability))
    return trace


@pytest.mark.parametrize(
    "factory",
    [
        SquareCB.bind(dim=5, reward_range=(-9.0, 9.0)),
        LinTS.bind(dim=5),
        OFUL.bind(dim=5),
        RegretBalancing.bind(bases=[OFUL(dim=5), LinTS(dim=5)]),
    ],
    ids=lambda f: f.cls.__name__,
)
def test_a_policy_on_a_map_is_the_policy_bit_for_bit(factory):
    inner = factory(seed=(3, 1))
    outer = on_map(factory(seed=(3, 1)), 1)
    bound = on_map(factory, 1)(seed=(3, 1))
    assert isinstance(outer, OnMap)
    assert outer.seed == (3, 1)
    expected = played(inner, lambda maps: maps[1])
    assert played(outer, lambda maps: maps) == expected
    assert played(bound, lambda maps: maps) == expected
    if hasattr(inner, "parameters"):
        np.testing.assert_array_equal(outer.parameters, inner.parameters)  # what can be asked of it, of the other too
    assert outer.rounds == inner.rounds
    assert type(outer.act(MAPS).base) is type(inner.act(MAPS[1]).base)


def test_what_can_be_asked_of_the_policy_can_be_asked_on_the_map():
    policy = on_map(OFUL(dim=2), 1)
    assert policy.covers([0.1, 0.1])
    assert policy.regret_bound == 0.0
    assert policy.squared_radii == OFUL(dim=2).squared_radii
    with pytest.raises(AttributeError):
        _ = policy.model_weights


def test_a_wrong_index_or_width_is_named():
    policy = on_map(SquareCB(dim=3), 2)
    for features in (np.ones((2, 4, 3)), np.ones((3, 4, 2)), [np.ones((4, 3)), np.ones((4, 3)), np.ones((4, 5))]):
        with pytest.raises(ValueError, match=r"features: .*map 2 of width 3"):
            policy.act(features)
    policy.act([np.ones((4, 1)), np.ones((4, 9)), np.ones((4, 3))])
    for index in (-1, 0.5, None):
        with pytest.raises(ValueError, match="OnMap: index"):
            on_map(SquareCB(dim=3), index)
    for wrong in (FSSquareCB(n_models=2, dim=3), on_map(SquareCB(dim=3), 0), Uniform()):
        with pytest.raises(ValueError, match=r"OnMap: policy: .*shape \(K, d\)"):
            on_map(wrong, 0)
    with pytest.raises(ValueError, match="on_map: policy"):
        on_map(SquareCB, 0)


def test_a_binding_on_a_map_resolves_what_is_inside():
    binding = on_map(OFUL.bind(noise=given.noise), 1)
    policy = binding.resolve({"dim": 4, "n_models": 2}, {"noise": 0.25})(lanes=2)
    assert (policy.policy.dim, policy.policy.noise, policy.lanes) == (4, 0.25, 2)
