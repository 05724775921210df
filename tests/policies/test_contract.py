"""The contract of every policy, beyond the common checks: lanes, learning, arguments, bindings."""

import importlib.metadata
import re

import numpy as np
import pytest

from banditselect import (
    FSOFUL,
    OFUL,
    PSOFUL,
    BiasOFUL,
    FSSquareCB,
    Greedy,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    load,
    on_map,
)
from banditselect.masters import D3RB, BalancingElimination
from banditselect.rivals import MUCB, UCB1, SparseOFUL
from banditselect.runtime.binding import Binding

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


# Lanes


def test_features_of_a_known_shape_are_still_counted_against_the_lanes():
    rng = np.random.default_rng(7)
    policy = OFUL(dim=2, lanes=3)
    x = rng.normal(size=(3, 4, 2))
    for _ in range(2):
        policy.update(policy.act(x), np.zeros(3))
    with pytest.raises(ValueError, match="features"):
        policy.act(x, lanes=[0, 2])
    policy.add_lanes(1)
    with pytest.raises(ValueError, match="features"):
        policy.act(x)
    two = policy.act(x[:2], lanes=[3, 1])
    np.testing.assert_array_equal(two.features, x[[0, 1], two.action])
    assert policy.act(x, lanes=[2, 0, 1]).features.shape == (3, 2)


def test_a_seed_is_a_number_or_a_tuple():
    x = np.tile(X, (3, 1, 1))

    def actions(policy, x=x):
        return [np.ravel(policy.act(x).action).tolist() for _ in range(20)]

    assert (
        actions(Uniform(seed=5, lanes=3)) == actions(Uniform(seed=(5,), lanes=3)) == actions(Uniform(seed=[5], lanes=3))
    )
    assert [a[1] for a in actions(Uniform(seed=5, lanes=3))] == [a[0] for a in actions(Uniform(seed=(5, 1)), X)]
    assert actions(Uniform(seed=5, lanes=3)) != actions(Uniform(seed=6, lanes=3))
    for seed in (-1, 0.5, "0", (), (1, -1), None, True):
        with pytest.raises(ValueError, match="seed"):
            Uniform(seed=seed)


def test_lanes_added_later_bring_the_arguments_that_differ_per_lane():
    policy = OFUL(dim=2, noise=[0.1, 0.2], parameter_bound=[1.0, 2.0], lanes=2)
    for arguments in ({}, {"noise": [0.3]}, {"noise": [0.3], "parameter_bound": [3.0], "delta": 0.1}):
        with pytest.raises(ValueError, match=r"add_lanes: .*for the new lanes: noise, parameter_bound"):
            policy.add_lanes(1, **arguments)
    with pytest.raises(ValueError, match="noise"):
        policy.add_lanes(1, noise=[0.3, 0.4], parameter_bound=[3.0])
    with pytest.raises(ValueError, match="n: got 0"):
        policy.add_lanes(0, noise=[], parameter_bound=[])
    assert policy.lanes == 2
    policy.add_lanes(1, noise=[0.3], parameter_bound=[3.0])
    assert policy.lanes == 3
    np.testing.assert_array_equal(policy.noise, [0.1, 0.2, 0.3])
    fresh = OFUL(dim=2, noise=0.3, parameter_bound=3.0)
    assert policy.squared_radii[2] == fresh.squared_radii
    with pytest.raises(ValueError, match=r"add_lanes: .*none"):
        SquareCB(dim=2, lanes=1).add_lanes(1, noise=[1.0])
    with pytest.raises(ValueError, match="add_lanes"):
        SquareCB(dim=2).add_lanes(1)


THREE = [0.5, 1.0, 2.0]
LANE_BOUNDS = {"feature_bound": THREE, "reward_bound": [1.0, 2.0, 0.5], "parameter_bound": [0.1, 1.0, 2.0]}
FS = {"n_models": 2, "dim": 2}
OVER = {"bases": [OFUL(dim=2), SquareCB(dim=2)]}
CENTERS = np.arange(12.0).reshape(3, 2, 2) / 6.0
CORNERS = [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]
PER_LANE = {
    "SquareCB": (SquareCB, {"dim": 2}, {"regularization": THREE}),
    "SquareCB paper": (SquareCB, {"dim": 2, "exploration": "paper", "horizon": 50, "noise": 0.5}, LANE_BOUNDS),
    "OFUL": (OFUL, {"dim": 2}, {"noise": THREE, "parameter_bound": [1.0, 2.0, 0.0]}),
    "BiasOFUL": (BiasOFUL, {}, {"center": CORNERS, "radius": [0.5, 1.0, 0.0]}),
    "Greedy": (Greedy, {}, {"center": CORNERS}),
    "UCB1": (UCB1, {"n_arms": 4}, {"noise": THREE}),
    "MUCB": (MUCB, {"horizon": 50}, {"centers": CENTERS, "noise": [0.1, 0.2, 0.3], "error": [0.0, 0.1, 0.5]}),
    "BalancingElimination": (
        BalancingElimination,
        OVER | {"reference": [0.1, Power(0.2, 0.6)]},
        {"noise": [0.01, 0.5, 1e-6]},
    ),
    "D3RB": (D3RB, OVER | {"coefficient": 0.1}, {"noise": [0.01, 0.5, 1e-6]}),
    "LinTS": (LinTS, {"dim": 2}, {"noise": THREE, "regularization": THREE}),
    "FSSquareCB": (FSSquareCB, FS, {"noise": THREE}),
    "FSSquareCB paper": (
        FSSquareCB,
        FS | {"weighting": "paper", "exploration": "paper", "horizon": 50, "noise": 0.5},
        LANE_BOUNDS,
    ),
    "FSSquareCB corrected": (
        FSSquareCB,
        FS | {"weighting": "corrected", "exploration": "corrected", "horizon": 50},
        LANE_BOUNDS | {"noise": [0.1, 0.3, 0.2]},
    ),
    "FSOFUL": (FSOFUL, FS, {"noise": [1.0, 2.0, 3.0], "parameter_bound": [1.0, 0.5, 2.0]}),
    "PSOFUL": (
        PSOFUL,
        {"radii": [0.5, 1.0], "noise": 1.0},
        {"centers": CENTERS, "center_errors": [[0.1, 0.0], [0.0, 0.0], [9.0, 0.3]]},
    ),
    "PSOFUL paper": (
        PSOFUL,
        {"centers": np.eye(2), "confidence": "paper", "reward_bound": 1.0},
        {"radii": [[0.5, 1.0], [1.0, 1.0], [0.0, 2.0]], "noise": THREE, "feature_bound": THREE},
    ),
}


@pytest.mark.filterwarnings("ignore:.*(no expert predicts|lies outside):RuntimeWarning")
@pytest.mark.parametrize("case", PER_LANE)
def test_arguments_per_lane_equal_policies_alone_also_for_lanes_added_and_after_loading(case, tmp_path):
    cls, common, own = PER_LANE[case]
    rng = np.random.default_rng(5)
    shape = (2, 4, 2) if "n_models" in common else (4, 2)
    policy = cls(**common, **{k: v[:2] for k, v in own.items()}, lanes=2, seed=9)
    alone = [cls(**common, **{k: v[j] for k, v in own.items()}, seed=(9, j)) for j in range(3)]
    for t in range(20):
        if t == 5:
            policy.add_lanes(1, **{k: v[2:] for k, v in own.items()})
        if t == 12:
            policy.save(tmp_path / "policy.bsel")
            policy = load(tmp_path / "policy.bsel")
        lanes = range(3 if t >= 5 else 2)
        x, y = rng.normal(size=(3, *shape)), rng.uniform(size=3)
        decision = policy.act(x[: len(lanes)])
        policy.update(decision, y[: len(lanes)])
        for j in lanes:
            one = alone[j].act(x[j])
            assert one.action == decision.action[j]
            assert one.probability is None or one.probability == decision.probability[j]
            alone[j].update(one, float(y[j]))
    for name in ("parameters", "squared_radii", "regret_bound", "model_weights", "admissible"):
        if hasattr(policy, name):
            np.testing.assert_array_equal(getattr(policy, name), [getattr(p, name) for p in alone])
    np.testing.assert_array_equal(policy.rounds, [20, 20, 15])


# Learning


def test_many_rewards_are_learned_in_the_order_given():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(12, 2, 3, 2)), rng.uniform(size=12).tolist()

    def learned(order, together):
        policy = FSSquareCB(n_models=2, dim=2, weighting="range", seed=3)
        decisions = [policy.act(features) for features in x]
        if together:
            policy.update_many([decisions[k] for k in order], [y[k] for k in order])
        else:
            for k in order:
                policy.update(decisions[k], y[k])
        return policy.model_weights.tolist(), policy.parameters.tolist()

    order = rng.permutation(12).tolist()
    assert learned(order, True) == learned(order, False)
    assert learned(order, True)[0] != learned(order[::-1], True)[0]


# Arguments


def test_settings_are_stored_as_given():
    arguments = {
        "n_models": 2,
        "dim": [2, 3],
        "noise": None,
        "reward_range": (-1, 2),
        "regularization": [1.0, 2],
        "exploration": Power(3.0, 0.7),
    }
    settings = FSSquareCB(**arguments).settings
    for name, value in arguments.items():
        assert settings[name] == value
        assert type(settings[name]) is type(value)


@pytest.mark.parametrize("kind", [np.array, list, lambda rows: tuple(np.array(row) for row in rows)])
def test_arrays_given_as_arguments_are_copied(kind, tmp_path):
    rng = np.random.default_rng(4)
    given_rows = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    centers, radii = kind(given_rows), np.array([0.5, 0.2])
    policy, twin = (PSOFUL(centers=c, radii=r) for c, r in ((centers, radii), ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.2])))
    for row in centers:
        row[...] = 9.0
    radii[:] = 9.0
    np.testing.assert_array_equal(policy.settings["centers"], twin.settings["centers"])
    np.testing.assert_array_equal(policy.settings["radii"], twin.settings["radii"])
    policy.save(tmp_path / "policy.bsel")
    for one in (policy, load(tmp_path / "policy.bsel")):
        x = rng.normal(size=(5, 2))
        np.testing.assert_array_equal(one.probabilities(x), twin.probabilities(x))
        np.testing.assert_array_equal(one.squared_radii, twin.squared_radii)


def test_arrays_in_the_settings_cannot_be_changed():
    policy = OFUL(dim=2, noise=np.array([0.1, 0.2]), lanes=2)
    with pytest.raises(ValueError, match="read-only"):
        policy.noise[0] = 5.0
    parameters = policy.parameters
    parameters[:] = 7.0
    assert not policy.parameters.any()


BOUNDS = ("feature_bound", "reward_bound")
FORMULAS = [
    (SquareCB.bind(dim=2, exploration="paper"), (*BOUNDS, "parameter_bound", "horizon")),
    (FSSquareCB.bind(n_models=2, dim=2, exploration="paper"), (*BOUNDS, "parameter_bound", "horizon")),
    (FSSquareCB.bind(n_models=2, dim=2, weighting="paper"), (*BOUNDS, "parameter_bound")),  # the range grows with t
    (FSSquareCB.bind(n_models=2, dim=2, weighting="corrected"), (*BOUNDS, "parameter_bound", "horizon")),
    (PSOFUL.bind(centers=np.eye(2), confidence="paper"), BOUNDS),
    (SparseOFUL.bind(n_models=2, dim=2, confidence="paper"), BOUNDS),
    (SparseOFUL.bind(n_models=2, dim=2, confidence="corrected"), BOUNDS),
]


@pytest.mark.parametrize(("factory", "needed"), FORMULAS)
def test_what_the_formulas_need_is_asked_for_by_name(factory, needed):
    everything = dict.fromkeys(needed, 100)
    factory(**everything)
    for missing in needed:
        words = f'{factory.cls.__name__}: {missing}: got None, expected a .*number.*, since .*"(paper|corrected)"'
        with pytest.raises(ValueError, match=words):
            factory(**(everything | {missing: None}))


# Bindings


def test_a_binding_refuses_arguments_that_the_policy_does_not_have():
    with pytest.raises(ValueError, match=r"OFUL\.bind: got 'nosie', expected one of dim, blocks, noise"):
        OFUL.bind(nosie=0.1)
    assert repr(OFUL.bind(dim=2, noise=given.noise)) == "OFUL.bind(dim=2, noise=given.noise)"


def test_arguments_of_the_call_come_on_top():
    binding = OFUL.bind(dim=2, noise=0.1)
    assert binding(noise=0.3).noise == 0.3
    assert binding().noise == 0.1
    assert binding(lanes=4, seed=2).lanes == 4


def test_constants_are_resolved_wherever_they_stand():
    constants = {"noise": 0.2, "reward_range": (-2.0, 2.0), "centers": np.eye(3)}
    binding = RegretBalancing.bind(
        bases=[
            on_map(SquareCB.bind(reward_range=given.reward_range), 1),
            RegretBalancing.bind(bases=(on_map(OFUL.bind(noise=given.noise), 0),)),
        ]
    )
    policy = binding.resolve({"dim": 3, "n_models": 2}, constants)(lanes=2, seed=1)
    assert policy.bases[0].policy.reward_range == (-2.0, 2.0)
    assert policy.bases[1].bases[0].policy.noise == 0.2
    assert policy.bases[1].bases[0].policy.dim == 3
    assert binding.arguments["bases"][0].arguments["policy"].arguments == {"reward_range": given.reward_range}


def test_only_what_is_asked_for_is_given():
    resolved = FSSquareCB.bind(dim=7).resolve({"dim": 3, "n_models": 2}, {"noise": 0.2, "reward_range": (-2.0, 2.0)})
    assert isinstance(resolved, Binding)
    assert resolved.arguments == {"n_models": 2, "dim": 7}


def test_an_unknown_constant_is_refused_by_name():
    with pytest.raises(ValueError, match=r"given\.nosie: .*a constant of the problem: noise, radii"):
        OFUL.bind(noise=given.nosie).resolve({"dim": 2}, {"noise": 0.1, "radii": 0.0})
    with pytest.raises(AttributeError):
        _ = given._private


# The package


def test_the_base_install_needs_numpy_numba_and_narwhals_only():
    base = [line for line in importlib.metadata.requires("banditselect") if "extra ==" not in line]
    assert {re.match(r"[a-z]+", line)[0] for line in base} == {"numpy", "numba", "narwhals"}
