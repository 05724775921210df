"""One-map policies on a map per lane: each lane is what it would be alone, and simulations give oracles their map."""

import numpy as np
import pytest

from banditselect import (
    OFUL,
    BiasOFUL,
    Blocked,
    Catalogue,
    LinIDS,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    given,
    load,
    on_map,
    simulate,
)
from banditselect.policies import OnMap
from banditselect.problems import Instances, Problem
from banditselect.runtime.arguments import argument

INDEX = [2, 0, 2]


@pytest.mark.parametrize("base", [SquareCB, OFUL, LinTS])
@pytest.mark.parametrize("items", [False, True])
def test_every_lane_sees_its_own_map(base, items, tmp_path):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 50, 4)).astype(np.float32)
    catalogue = Catalogue(table)
    lanes = on_map(base(dim=4, lanes=3), INDEX)
    alone = [on_map(base(dim=4, seed=(0, n)), i) for n, i in enumerate(INDEX)]
    for t in range(20):
        chosen = rng.integers(0, 50, size=(3, 5))
        x = np.swapaxes(table[:, chosen], 0, 1).astype(float)
        decision = lanes.act(catalogue.offer(chosen) if items else x)
        reward = rng.uniform(size=3)
        for n, policy in enumerate(alone):
            one = policy.act(x[n])
            assert one.action == decision.action[n]
            np.testing.assert_array_equal(one.features, decision.features[n])
            policy.update(one, reward[n])
        lanes.update(decision, reward)
        if t == 10:
            lanes.save(tmp_path / "lanes.bsel")
            lanes = load(tmp_path / "lanes.bsel")
    np.testing.assert_array_equal(lanes.parameters, [policy.parameters for policy in alone])
    some = rng.normal(size=(2, 3, 5, 4))
    p = lanes.probabilities(some, lanes=[2, 1])
    for n, row in ((2, 0), (1, 1)):
        expected = alone[n].probabilities(some[row])
        assert (p is None and expected is None) or np.array_equal(p[row], expected)


DISJOINT = {"n_models": 3, "dim": [12, 12, 4], "blocks": 4}


def test_on_a_problem_with_blocks_the_policy_inside_learns_the_blocks():
    """On one map it is the policy that learns that map alone; one that knows no blocks gets them side by side."""
    policy = on_map(LinIDS.bind(), 1).resolve(DISJOINT, {})(seed=0)
    assert (policy.policy.dim, policy.policy.blocks, policy.parameters.shape) == (3, 4, (4, 3))
    assert on_map(LinIDS.bind(), 2).resolve(DISJOINT | {"blocks": [4, 4, 2]}, {})().parameters.shape == (2, 2)
    assert on_map(LinIDS.bind(dim=12), 1).resolve(DISJOINT, {})().parameters.shape == (12,)
    assert on_map(BiasOFUL.bind(center=np.zeros(12), noise=1.0), 1).resolve(DISJOINT, {})().parameters.shape == (12,)
    assert on_map(LinIDS.bind(), given.model).resolve(DISJOINT | {"dim": 12}, {"model": 2})().parameters.shape == (4, 3)
    with pytest.raises(ValueError, match="on_map: index"):
        on_map(LinIDS.bind(), [0, 2]).resolve(DISJOINT, {})


@pytest.mark.parametrize("items", [False, True])
def test_with_blocks_every_lane_is_its_map_alone(items, tmp_path):
    rng = np.random.default_rng(0)
    tables, block = rng.normal(size=(2, 50, 3)), rng.integers(0, 4, size=50)
    catalogue = Catalogue([Blocked(tables[0], block), Blocked(tables[1], block), rng.normal(size=(50, 2))])
    lanes = on_map(LinIDS(dim=3, blocks=4, lanes=2), [1, 0])
    alone = [LinIDS(dim=3, blocks=4, seed=(0, n)) for n in range(2)]
    for t in range(30):
        chosen = rng.integers(0, 50, size=(2, 5))
        maps = [Blocked(table[chosen], block[chosen]) for table in tables]
        decision = lanes.act(catalogue.offer(chosen) if items else [*maps, rng.normal(size=(2, 5, 2))])
        for n, policy in enumerate(alone):
            one = policy.act(Blocked(tables[1 - n][chosen[n]], block[chosen[n]]))
            assert one.action == decision.action[n]
            policy.update(one, tables[0][chosen[n, one.action], 0])
        lanes.update(decision, tables[0][chosen[np.arange(2), decision.action], 0])
        if t == 10:
            lanes.save(tmp_path / "lanes.bsel")
            lanes = load(tmp_path / "lanes.bsel")
    np.testing.assert_array_equal(lanes.parameters, [policy.parameters for policy in alone])


def test_a_master_over_maps_with_blocks():
    policy = RegretBalancing(
        bases=[on_map(SquareCB(dim=2, blocks=3), 0), on_map(SquareCB(dim=2), 1)], reference=Power(1.0, 0.5)
    )
    x, block = np.random.default_rng(0).normal(size=(2, 4, 2)), np.array([0, 2, 1, 2])
    for reward in (1.0, 0.0, 0.5):
        policy.update(policy.act([Blocked(x[0], block), x[1]]), reward)
    policy.learn([Blocked(x[0, 0], np.int64(2)), x[1, 0]], 1.0)
    assert policy.bases[0].parameters.shape == (3, 2)


@pytest.mark.parametrize(
    "features",
    [
        [np.ones((4, 2))],
        [np.ones((4, 2)), np.ones((4, 2))],
        [np.ones((4, 2)), Blocked(np.ones((4, 3)), np.zeros(4, dtype=int))],
        [np.ones((4, 2)), Blocked(np.ones((4, 2)), np.full(4, 3))],
        Blocked(np.ones((4, 2)), np.zeros(4, dtype=int)),
        np.ones((2, 4, 2)),
        7,
    ],
)
def test_features_without_the_blocks_of_the_map_are_refused(features):
    policy = on_map(SquareCB(dim=2, blocks=3), 1)
    with pytest.raises(ValueError, match="features"):
        policy.act(features)
    policy.act([np.ones((4, 5)), Blocked(np.ones((4, 2)), np.arange(4) % 3)])


def test_lanes_are_added_with_maps_of_their_own():
    policy = on_map(SquareCB(dim=2, lanes=2), [0, 1])
    policy.add_lanes(1, index=[3])
    assert policy.act(np.ones((3, 4, 5, 2))).action.shape == (3,)
    with pytest.raises(ValueError, match="with map 0 of width 2, map 1 of width 2, map 3 of width 2"):
        policy.act(np.ones((3, 3, 5, 2)))
    x = np.arange(24.0).reshape(3, 4, 2)
    policy.learn(x, np.ones(3))
    for n, i in enumerate([0, 1, 3]):
        alone = SquareCB(dim=2)
        alone.learn(x[n, i], 1.0)
        np.testing.assert_array_equal(policy.parameters[n], alone.parameters)


def test_the_set_of_a_lane_covers_only_the_parameter_of_its_map():
    policy = on_map(OFUL(dim=2, lanes=3), [0, 1, 1])
    answer = policy.coverage(np.zeros((3, 2)), np.array([0, 0, 1]))
    np.testing.assert_array_equal(answer, [1.0, np.nan, 1.0])


@pytest.mark.parametrize("index", [-1, 0.5, [0, -1], [[0]], [0, 1], "0"])
def test_what_is_no_map_is_refused(index):
    with pytest.raises(ValueError, match="OnMap: index"):
        OnMap(policy=SquareCB(dim=2), index=index)
    with pytest.raises(ValueError, match="OnMap: index"):
        OnMap(policy=SquareCB(dim=2), index=index if isinstance(index, list) else [index], lanes=3)


class Hidden(Problem):
    """Three maps, of which another one is true in every lane."""

    widths: tuple = argument(default=(2, 2, 2))

    @property
    def shapes(self):
        return {"n_models": 3, "dim": 2 if len(set(self.widths)) == 1 else list(self.widths)}

    def draw(self, lanes, rounds, seed):
        return HiddenInstances(lanes, rounds, seed)

    def lane_bytes(self, rounds):
        return 8 * 30 * rounds


class HiddenInstances(Instances):
    def __init__(self, lanes, rounds, seed):
        self.x = np.array([np.random.default_rng((seed, n)).normal(size=(rounds, 3, 5, 2)) for n in lanes])
        self.constants = {"model": np.array([n % 3 for n in lanes])}

    def features(self, t):
        return self.x[:, t].copy()

    def means(self, t):
        return self.x[np.arange(len(self.x)), t, self.constants["model"], :, 0]

    def rewards(self, t, action):
        return self.means(t)[np.arange(action.size), action]


def test_the_oracle_knows_the_true_map_of_every_replicate():
    """No noise: two rewards tell the parameter, and from then on the oracle makes no mistake."""
    policies = {
        "oracle": on_map(OFUL.bind(scale=0.0, regularization=1e-9), given.model),
        "first": on_map(OFUL.bind(), 0),
    }
    result = simulate(policies, Hidden(), rounds=30, replicates=6, block=2)
    late = result.curve("oracle")[-1] - result.curve("oracle")[9]
    np.testing.assert_allclose(late, 0.0, atol=1e-5)
    wrong = np.arange(6) % 3 != 0
    assert (result.final("first")[wrong] > 10.0).all()


def test_maps_of_several_widths_cannot_be_one_policys():
    policy = on_map(OFUL.bind(), given.model)
    with pytest.raises(ValueError, match=r"on_map: index: got given.model, expected maps of one width; .* \[2, 3, 2\]"):
        policy.resolve({"n_models": 3, "dim": [2, 3, 2]}, {"model": np.array([0, 2])})
    assert on_map(OFUL.bind(), [0, 2]).resolve({"n_models": 3, "dim": [2, 3, 2]}, {})(lanes=2).policy.dim == 2
    assert on_map(OFUL.bind(), 1).resolve({"n_models": 3, "dim": [2, 3, 2]}, {})().policy.dim == 3
