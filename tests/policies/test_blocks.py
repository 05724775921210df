"""Maps with several blocks of parameters against the same maps with one wide parameter, and against brute force."""

import json

import numpy as np
import pytest

from banditselect import (
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    OFUL,
    Blocked,
    Catalogue,
    Decision,
    FSSquareCB,
    LinIDS,
    LinMED,
    LinTS,
    SquareCB,
    Uniform,
    on_map,
)
from banditselect.checks.game import snapshot
from blocks_by_hand import EXACT, Traffic, marked, wide

DIMS, BLOCKS = (3, 3), (4, 1)  # of the policies over several maps
FS = {"n_models": 2}


RIDGES = {
    "SquareCB": (SquareCB, {"exploration": 20.0}),
    "SquareCB, corrected": (
        SquareCB,
        {"exploration": "corrected", "feature_bound": 9.0, "reward_bound": 2.0, "parameter_bound": 3.0, "horizon": 99},
    ),
    "FSSquareCB": (FSSquareCB, FS),
    "FSSquareCB, range": (FSSquareCB, FS | {"weighting": "range", "reward_range": (-9.0, 9.0)}),
    "OFUL": (OFUL, {}),
    "FSOFUL": (FSOFUL, FS | {"parameter_bound": 9.0}),
    "FSOFUL, online": (FSOFUL, FS | {"parameter_bound": 9.0, "likelihood": "online"}),
    "LinTS": (LinTS, {"center": [0.5, -0.5, 0.0]}),
}
LEARNED = {
    "LinIDS": (LinIDS, {"floor": 0.1}),
    "LinIDS, noise told": (LinIDS, {"noise": 0.3}),
    "FSIDS": (FSIDS, FS),
    "FSTS": (FSTS, FS),
    "LinMED": (LinMED, {"best_share": 0.5}),
    "FSMED": (FSMED, FS),
    "FSSquareCB, learned": (FSSquareCB, FS | {"weighting": "learned"}),
}
CASES = [marked(name, False) for name in RIDGES | LEARNED]
CASES += [marked(name, True) for name in RIDGES if "corrected" not in name]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lanes", [None, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "intercept"), CASES)
def test_blocks_are_one_wide_parameter(name, intercept, lanes):
    cls, arguments = (RIDGES | LEARNED)[name]
    many = "n_models" in arguments
    dims, blocks = (DIMS, BLOCKS) if many else (DIMS[:1], BLOCKS[:1])
    traffic = Traffic(dims, blocks, lanes)
    widths = [B * (d + intercept) for d, B in zip(dims, blocks, strict=True)]
    shapes = {"dim": dims, "blocks": blocks} if many else {"dim": dims[0], "blocks": blocks[0]}
    ours = cls(**arguments, **shapes, intercept=intercept, lanes=lanes, seed=1)
    if "center" in arguments:
        center = np.tile([*[0.0] * intercept, *arguments["center"]], blocks[0])
        arguments = arguments | {"center": center}
    theirs = cls(**arguments, dim=widths if many else widths[0], intercept=False, lanes=lanes, seed=1)
    waiting = []
    for t in range(60):
        traffic.scale = 30.0 if t > 15 else 1.0  # features of another size, which some policies have to mend
        values, block = traffic.draw()
        shown, dense = traffic.shown(values, block), traffic.wide(values, block, intercept)
        decision, other = ours.act(shown), theirs.act(dense)
        np.testing.assert_array_equal(decision.action, other.action)
        if ours.has_propensity:
            np.testing.assert_allclose(ours.probabilities(shown), theirs.probabilities(dense), **EXACT)
        waiting.append((decision, other, traffic.reward(values, block, decision.action)))
        if len(waiting) > 3:  # late, and in any order
            decision, other, y = waiting.pop(int(traffic.rng.integers(4)))
            ours.update(decision, y if lanes else y[0])
            theirs.update(other, y if lanes else y[0])
    found = ours.parameters[0] if many else ours.parameters
    constants = getattr(ours, "constants", None) if many else ours.constant
    if intercept:
        found = np.concatenate([np.expand_dims(constants[0] if many else constants, -1), found], axis=-1)
    expected = theirs.parameters[..., 0, : widths[0]] if many else theirs.parameters
    np.testing.assert_allclose(found.reshape(expected.shape), expected, **EXACT)
    assert found.shape[-2:] == (4, 3 + intercept)
    for what in ("model_weights", "squared_radii", "regret_bound", "misspecified"):
        if hasattr(ours, what):
            np.testing.assert_allclose(getattr(ours, what), getattr(theirs, what), **EXACT)
    if hasattr(ours, "covers"):
        near = 1.001 * expected
        model = {"model": 0} if many else {}
        np.testing.assert_array_equal(ours.covers(near, **model), theirs.covers(near, **model))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("memory", "share"), [(600, 0.0), (9, 0.0), (9, 0.2)])
def test_sqalg_on_blocks_weighs_the_predictions_made_before_a_round_fades(memory, share, intercept):
    traffic, span = Traffic((4, 6), (3, 3), None), 8.0
    policy = FSSquareCB(
        n_models=2,
        dim=[4, 6],
        blocks=3,
        weighting="range",
        reward_range=(-4.0, 4.0),
        memory=memory,
        share=share,
        intercept=intercept,
    )
    weights = np.full(2, 0.5)
    for _ in range(15):
        values, block = traffic.draw()
        decision = policy.act(traffic.shown(values, block))
        a, y = decision.action, traffic.reward(values, block, decision.action)[0]
        of_map = zip(policy.parameters, policy.constants, values, block, strict=True)
        f = [v[0, a] @ theta[b[0, a]] + constant[b[0, a]] for theta, constant, v, b in of_map]
        policy.update(decision, y)
        losses = (np.clip(f, -4.0, 4.0) - np.clip(y, -4.0, 4.0)) ** 2
        weights = weights * np.exp(-2.0 * losses / span**2)
        weights = weights if share else weights ** (1.0 - 1.0 / memory)
        weights /= weights.sum()
        weights = (1.0 - share) * weights + share * weights[::-1]
        np.testing.assert_allclose(policy.model_weights, weights, rtol=1e-7)


KINDS = {
    name: (RIDGES | LEARNED)[name]
    for name in ("LinIDS", "FSIDS", "FSTS", "FSMED", "SquareCB", "FSSquareCB", "OFUL", "LinTS")
}


def made(name, lanes=None):
    cls, arguments = KINDS[name]
    many = "n_models" in arguments
    shapes = {"dim": DIMS, "blocks": BLOCKS} if many else {"dim": DIMS[0], "blocks": BLOCKS[0]}
    return cls(**arguments, **shapes, lanes=lanes, seed=2), Traffic(*((DIMS, BLOCKS) if many else ((3,), (4,))), lanes)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", KINDS)
def test_a_decision_carries_the_block_through_json_and_data_from_elsewhere_say_it(name):
    policy, traffic = made(name)
    by_hand, _ = made(name)
    for _ in range(5):
        values, block = traffic.draw()
        decision = policy.act(traffic.shown(values, block))
        a = decision.action
        assert decision.features.reshape(-1, 4)[:, -1].tolist() == [b[0, a] for b in block]
        policy.update(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), 0.5)
        one = [
            Blocked(v[0, a], b[0, a]) if B > 1 else v[0, a]
            for v, b, B in zip(values, block, traffic.blocks, strict=True)
        ]
        by_hand.learn(one if len(one) > 1 else one[0], 0.5)
    ours, theirs = policy.parameters, by_hand.parameters
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_what_is_no_block_is_refused_before_anything_changes():
    policy = FSIDS(n_models=2, dim=[2, 3], blocks=[4, 1])
    values, other = np.ones((5, 2)), np.ones((5, 3))
    block = np.arange(5) % 4
    decision = policy.act([Blocked(values, block), other])
    before = snapshot(policy)
    for features, word in [
        ([values, other], "Blocked"),
        ([Blocked(values, block), Blocked(other, block)], "an array"),
        ([Blocked(values, block)], "a list of 2 maps"),
        (Blocked(values, block), "a list of 2 maps"),
        ([Blocked(values, block + 1), other], "from 0 to 3"),
        ([Blocked(values, block - 1), other], "from 0 to 3"),
        ([Blocked(values, block + 0.5), other], "Blocked"),
        ([Blocked(values, block[:4]), other], "Blocked"),
        ([Blocked(values[:, :1], block), other], "Blocked"),
        ([Blocked(values, block), other[:4]], "Blocked"),
        ([Blocked(values[:0], block[:0]), other[:0]], "Blocked"),
        ([Blocked(values * np.nan, block), other], "finite"),
        (Catalogue([values, other]).offer([0, 1]), "Blocked"),
        (Catalogue([Blocked(values, block + 1), other]).offer([0, 1]), "Blocked"),
    ]:
        with pytest.raises(ValueError, match=word):
            policy.act(features)
    for bad in (4.0, -1.0, 0.5, np.nan):
        content = decision.to_dict()
        content["features"][0][-1] = bad
        with pytest.raises(ValueError, match="Blocked"):
            policy.update(Decision.from_dict(content), 1.0)
    assert snapshot(policy) == before
    with pytest.raises(ValueError, match="a list of 2 arrays of shape"):
        FSIDS(n_models=2, dim=[2, 3]).act(Catalogue([Blocked(values, block), other]).offer([0, 1]))
    for bad in (block - 1, block[:4], block + 0.5):
        with pytest.raises(ValueError, match="Catalogue: block"):
            Catalogue(Blocked(values, bad))
    for blocks in (0, 1.5, [2], [2, 0], "2"):
        with pytest.raises(ValueError, match="blocks"):
            FSIDS(n_models=2, dim=2, blocks=blocks)
    with pytest.raises(ValueError, match="blocks"):
        LinIDS(dim=2, blocks=0)
    with pytest.raises(ValueError, match="finite numbers of shape"):
        LinIDS(dim=2).act(Blocked(values, block))


def test_a_policy_that_knows_no_blocks_takes_the_wide_features_that_they_stand_for():
    rng = np.random.default_rng(0)
    values, block = rng.normal(size=(5, 2)), np.arange(5) % 4
    policy = on_map(SquareCB(dim=8), 1)
    decision = policy.act([rng.normal(size=(5, 3)), Blocked(values, block)])
    np.testing.assert_array_equal(decision.features[1], wide(values, block, 4)[decision.action])
    policy.learn([np.ones(3), Blocked(values[1], block[1])], 0.5)
    x = wide(values, block, 4)[1]
    np.testing.assert_allclose(policy.parameters, 0.5 * x / (1.0 + x @ x))
    assert Uniform().act(Blocked(values, block)).features.shape == (2,)
    for wrong in (Blocked(values, block + 4), Blocked(values[:, :0], block), Blocked(values, block[:3])):
        with pytest.raises(ValueError, match="features"):
            SquareCB(dim=8).act(wrong)
