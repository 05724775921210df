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
    PSIDS,
    PSOFUL,
    Blocked,
    Catalogue,
    Decision,
    FSSquareCB,
    LinIDS,
    LinMED,
    LinTS,
    SquareCB,
    Uniform,
    load,
    on_map,
)
from banditselect.checks.game import snapshot
from banditselect.kernels.information import expected_regret, mix_two
from banditselect.parts.mixtures import FLAT, SCALES, TOLD_SCALES
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
        np.testing.assert_allclose(
            ours._sets.bank.distances(_rows(near, lanes), slice(1)),
            theirs._sets.bank.distances(_rows(near, lanes), slice(1)),
            rtol=1e-7,
        )


FADING = {
    **{f"FSSquareCB, {w}": (FSSquareCB, FS | {"weighting": w, "memory": 600}) for w in ("noise", "range", "learned")},
    "FSSquareCB, share": (FSSquareCB, FS | {"weighting": "range", "share": 0.1}),
    "FSSquareCB, share, memory": (FSSquareCB, FS | {"weighting": "range", "share": 0.1, "memory": 9}),
    "FSIDS": (FSIDS, FS | {"memory": 9}),
    "FSTS": (FSTS, FS | {"memory": 9}),
    "FSMED": (FSMED, FS | {"memory": 9}),
    "FSOFUL": (FSOFUL, FS | {"misspecification": 0.1}),
    "SquareCB": (SquareCB, {"memory": 9}),
    "LinIDS": (LinIDS, {"memory": 9}),
    "LinTS": (LinTS, {"memory": 9}),
    "LinMED": (LinMED, {"memory": 9}),
    "PSOFUL": (PSOFUL, {"centers": np.eye(4)[:2], "radii": 0.5}),
    "PSIDS": (PSIDS, {"centers": np.eye(4)[:2], "radii": 0.5, "memory": 9}),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [marked(name) for name in FADING])
def test_lanes_with_blocks_that_forget_or_share_learn_as_each_alone(name):
    cls, arguments = FADING[name]
    dims, blocks = ((4, 6), (3, 3)) if "n_models" in arguments else ((4,), (3,))
    if "centers" in arguments:
        blocks = (1,)
    else:
        arguments = arguments | {"dim": dims if len(dims) > 1 else 4, "blocks": 3}
    traffic, one = Traffic(dims, blocks, 2), Traffic(dims, blocks, None)
    both = cls(**arguments, lanes=2, seed=1)
    alone = [cls(**arguments, seed=(1, j)) for j in range(2)]
    for _ in range(12):
        values, block = traffic.draw()
        decision = both.act(traffic.shown(values, block))
        reward = traffic.reward(values, block, decision.action)
        both.update(decision, reward)
        for j, policy in enumerate(alone):
            row = slice(j, j + 1)
            own = policy.act(one.shown([v[row] for v in values], [b[row] for b in block]))
            assert own.action == decision.action[j]
            policy.update(own, reward[j])
    for j, policy in enumerate(alone):
        assert policy.rounds == both.rounds[j] == 12
        theirs = [p[j] for p in both.parameters] if isinstance(both.parameters, list) else both.parameters[j]
        for mine, his in zip(policy.parameters, theirs, strict=True):
            np.testing.assert_allclose(mine, his, **EXACT)


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


def _rows(theta, lanes):
    return theta if lanes else theta[None]


class Believed:
    """The mixture of MapsMixture and the play of LinIDS, from scratch at every act, with one wide parameter per map.

    A map with one block has a constant of prior precision FLAT; the constants of blocks have that of other features.
    """

    def __init__(self, dims, blocks, constant, noise):
        self.dims, self.blocks, self.constant, self.noise = dims, blocks, constant, noise
        self.played, self.rewards = [], []

    def models(self):
        for scale in SCALES if self.noise is None else TOLD_SCALES:
            for i, (d, B) in enumerate(zip(self.dims, self.blocks, strict=True)):
                precision = np.full((B, self.constant + d), 1.0 / scale)
                if self.constant and B == 1:
                    precision[:, 0] = FLAT
                yield i, precision.ravel()

    def posterior(self, values, blocks, size):
        """Features of the actions, estimate, inverse of V, noise variance and weight of every model."""
        t = len(self.rewards)
        y = np.array(self.rewards) - (self.rewards[0] if self.constant and t else 0.0)
        about = (y**2).sum() / max(t, 1)
        if self.constant:
            about = ((y - y.mean()) ** 2).sum() / max(t - 1, 1) if t else 0.0
        found, log_weight = [], []
        for i, precision in self.models():
            B, root = self.blocks[i], np.sqrt(size[i])
            rows = [wide(v[i] / root, np.array(b[i]), B, self.constant) for v, b in self.played]
            Phi = np.array(rows).reshape(t, precision.size)
            V = np.diag(precision) + Phi.T @ Phi
            theta = np.linalg.solve(V, Phi.T @ y)
            J = y @ y - theta @ V @ theta
            logdet = np.linalg.slogdet(V)[1] - np.log(precision).sum()
            if self.constant and B > 1 and t:  # how little was known of the level, from which constants are counted
                first = self.played[0][0][i] / np.linalg.norm(self.played[0][0][i])
                q = (1.0 + first @ first) / precision[0]
                logdet += np.log1p(q + 1.0 / FLAT) - np.log1p(q)
            if self.noise is not None:
                variance, weight = self.noise**2, -J / (2.0 * self.noise**2)
            elif about == 0.0:
                variance, weight = 1.0, 0.0
            else:
                variance = (about + J / 2.0) / (1.0 + t / 2.0)
                weight = np.log(about) - (1.0 + t / 2.0) * np.log(about + J / 2.0)
            found.append((wide(values[i] / root, blocks[i], B, self.constant), theta, np.linalg.inv(V), variance, B))
            log_weight.append(weight - logdet / 2.0)
        weight = np.exp(np.array(log_weight) - max(log_weight))
        return found, weight / weight.sum()

    def play(self, values, blocks, offered, size):
        """Weights of the maps, and probabilities of the actions; ``size``: what squared norms are divided by."""
        if not self.rewards:
            size = [(v[offered] ** 2).sum() / offered.sum() for v in values]
        elif len(self.rewards) == 1:
            np.testing.assert_allclose(size, [(v**2).sum() for v in self.played[0][0]])
        found, weight = self.posterior(values, blocks, size)
        of_maps = weight.reshape(-1, len(self.dims)).sum(axis=0)
        counts = weight * weight.size >= 1e-3
        found, weight = [m for m, c in zip(found, counts, strict=True) if c], weight[counts] / weight[counts].sum()
        f = np.array([x @ theta for x, theta, _, _, _ in found])
        mean, noise = weight @ f, sum(w * m[3] for w, m in zip(weight, found, strict=True))
        own = np.array([s2 * np.einsum("aj,jk,ak->a", x, inverse, x) for x, _, inverse, s2, _ in found])
        taught = 0.5 * np.log1p(weight @ (own + (f - mean) ** 2) / noise)
        if self.constant:
            share = sum(w for w, m in zip(weight, found, strict=True) if m[4] == 1)
            taught -= 0.5 * np.log1p(share / (FLAT + len(self.rewards)))
        taught = np.maximum(taught, 0.0)
        best = np.flatnonzero(offered & (mean == mean[offered].max()))
        leader = best[np.argmax(taught[best])]
        deviation = []
        for x, _, inverse, s2, _ in found:
            gap = x - x[leader]
            deviation.append(np.sqrt(s2 * np.einsum("aj,jk,ak->a", gap, inverse, gap).clip(0.0)))
        gap, p = f - f[:, leader : leader + 1], np.empty(mean.size)
        regret = expected_regret(leader, weight, gap, np.array(deviation), offered)
        mix_two(leader, mean, taught, regret, offered, 0.0, p)
        return of_maps, p

    def learn(self, values, blocks, y):
        self.played.append((values, blocks))
        self.rewards.append(y)


@pytest.mark.parametrize("noise", [None, 0.3])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("dims", "blocks"), [((2,), (4,)), ((2, 3, 1), (4, 1, 3))])
def test_information_directed_play_with_blocks_is_that_of_brute_force(dims, blocks, constant, noise):
    arguments = {"noise": noise, "intercept": constant, "lanes": 2, "seed": 3}
    if len(dims) > 1:
        policy = FSIDS(n_models=3, dim=dims, blocks=blocks, **arguments)
    else:
        policy = LinIDS(dim=dims[0], blocks=blocks[0], **arguments)
    believed = [Believed(dims, blocks, constant, noise) for _ in range(2)]
    traffic = Traffic(dims, blocks, 2, seed=4)
    waiting = []
    for t in range(25):
        values, block = traffic.draw()
        length = traffic.rng.uniform(1.0, 1.5, (*values[0].shape[:2], 1))
        length[:] *= 30.0 if t > 8 else 1.0  # sizes have to be mended
        values = [v * length / np.linalg.norm(v, axis=-1, keepdims=True) for v in values]
        offered = np.ones(values[0].shape[:2], dtype=bool)
        offered[:, 1:] = traffic.rng.random(offered[:, 1:].shape) < 0.8
        shown = traffic.shown(values, block)
        p = policy.probabilities(shown, available=offered)
        for lane in range(2):
            row = [v[lane] for v in values], [b[lane] for b in block]
            weights, expected = believed[lane].play(*row, offered[lane], policy._mixture.size[lane])
            np.testing.assert_allclose(p[lane], expected, **EXACT)
            if len(dims) > 1:
                np.testing.assert_allclose(policy.model_weights[lane], weights, **EXACT)
        decision = policy.act(shown, available=offered)
        y = 7.0 + traffic.reward(values, block, decision.action)
        waiting.append((decision, y, values, block))
        if len(waiting) > 2:
            decision, y, values, block = waiting.pop(int(traffic.rng.integers(3)))
            policy.update(decision, y)
            for lane, a in enumerate(decision.action):
                believed[lane].learn([v[lane, a] for v in values], [b[lane, a] for b in block], y[lane])
    assert policy._mixture.size.min() > 10.0


KINDS = {
    name: (RIDGES | LEARNED)[name]
    for name in ("LinIDS", "FSIDS", "FSTS", "FSMED", "SquareCB", "FSSquareCB", "OFUL", "LinTS")
}


def made(name, lanes=None):
    cls, arguments = KINDS[name]
    many = "n_models" in arguments
    shapes = {"dim": DIMS, "blocks": BLOCKS} if many else {"dim": DIMS[0], "blocks": BLOCKS[0]}
    return cls(**arguments, **shapes, lanes=lanes, seed=2), Traffic(*((DIMS, BLOCKS) if many else ((3,), (4,))), lanes)


def played(policy, traffic, rounds):
    trace = []
    for _ in range(rounds):
        values, block = traffic.draw()
        decision = policy.act(traffic.shown(values, block))
        y = traffic.reward(values, block, decision.action)
        policy.update(decision, y if traffic.lanes else y[0])
        trace.append((np.asarray(decision.action).tolist(), np.asarray(decision.probability).tolist()))
    return trace


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", KINDS)
def test_saved_and_extended_it_goes_on_as_before(name, tmp_path):
    policy, traffic = made(name, lanes=2)
    played(policy, traffic, 8)
    policy.save(tmp_path / "blocks.bsel")
    again = load(tmp_path / "blocks.bsel")
    assert again.settings["blocks"] == policy.settings["blocks"]
    assert played(again, Traffic(traffic.dims, traffic.blocks, 2, seed=9), 6) == played(
        policy, Traffic(traffic.dims, traffic.blocks, 2, seed=9), 6
    )
    assert snapshot(again) == snapshot(policy)
    again.add_lanes(1)
    three, fresh = Traffic(traffic.dims, traffic.blocks, 3, seed=5), made(name, lanes=3)[0]
    values, block = three.draw()
    new, first = again.probabilities(three.shown(values, block)), fresh.probabilities(three.shown(values, block))
    if new is not None:
        np.testing.assert_array_equal(new[2], first[2])


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
    before = snapshot(policy)
    decision = policy.act([Blocked(values, block), other])
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
    assert snapshot(policy)["_mixture.bank.theta"] == before["_mixture.bank.theta"]
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


def test_a_thousand_blocks_need_a_matrix_each_and_an_update_touches_one():
    policy = LinIDS(dim=4, blocks=1000)
    rng = np.random.default_rng(0)
    bank = policy._mixture.bank
    assert bank.root.size == 5 * 1000 * 5 * 8  # scales, blocks, features with a constant, columns with room
    before = bank.root.copy()
    decision = policy.act(Blocked(rng.normal(size=(1000, 4)), np.arange(1000)))
    policy.update(decision, 1.0)
    touched = np.flatnonzero((bank.root != before).any(axis=(0, 2, 3)))
    assert touched.tolist() == [1000 * scale + decision.action for scale in range(5)]
    assert policy.parameters.shape == (1000, 4)
    assert np.flatnonzero(policy.parameters.any(axis=1)).size == 0  # the first reward is where rewards are counted from
