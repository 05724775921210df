"""A mixture over memories: weights by hand, members of all, answers, refusals."""

import math

import numpy as np
import pytest

from banditselect import FSIDS, PSIDS, Blocked, FSSquareCB, LinIDS, load
from banditselect.kernels.features import NO_BLOCK, Features
from banditselect.models import posterior
from banditselect.models.memories import MEMORIES, PRIOR, SHARE
from banditselect.plays.information import Information

ENDLESS = 1e15  #: a memory without an end; policies without a memory may hold another model
LANE = np.zeros(1, dtype=np.int64)
CENTERS = np.array([[0.5, -0.5, 0.2], [1.0, 1.0, 0.0], [-1.0, 0.0, 0.5]])
SETTINGS = {
    "maps": (FSIDS, {"n_models": 2, "dim": [3, 2]}),
    "maps with blocks": (FSIDS, {"n_models": 2, "dim": [3, 2], "blocks": [2, 1]}),
    "maps, noise told": (FSIDS, {"n_models": 2, "dim": [3, 2], "noise": 0.4, "intercept": False}),
    "one map": (LinIDS, {"dim": 3}),
    "regions": (PSIDS, {"centers": CENTERS, "radii": [0.3, 0.6, 0.0], "intercept": True}),
}
REGIONS = pytest.param("regions", marks=pytest.mark.slow)  # its kernels take seconds to compile
KINDS = [REGIONS if kind == "regions" else kind for kind in SETTINGS]


def features(rng, kind, K=None):
    """Return the features of K actions, or of one that was played."""
    K = () if K is None else (K,)
    x = rng.normal(size=(*K, 3))
    if kind == "maps with blocks":
        return [Blocked(x, rng.integers(2, size=K)), x[..., :2]]
    return [x, x[..., :2]] if kind.startswith("maps") else x


def learned(kind, rounds, memory="learned", changes=True):
    """Return a policy that has learned so many rewards, which may change their sign half-way, and a generator."""
    rng, (cls, given) = np.random.default_rng(0), SETTINGS[kind]
    policy = cls(**given, memory=memory)
    for t in range(rounds):
        x = features(rng, kind)
        one = x[1] if isinstance(x, list) else x
        policy.learn(x, (1.0 if t < rounds / 2 or not changes else -1.0) * one.sum() + 2.0 + 0.3 * rng.normal())
    return policy, rng


def forecast(mixture, x):
    """Return a forecast, less the first reward, and the noise variance, in NumPy; ``x`` of all maps ``(P, d)``."""
    _, weight, variance = mixture.weigh(LANE)[:, 0]
    kept = weight * weight.size >= posterior.NEGLIGIBLE
    weight = weight * kept / weight[kept].sum()
    theta, P, total = mixture.bank.theta[0], len(x), 0.0
    for k in np.flatnonzero(kept):
        z = x[k % P] / math.sqrt(mixture.size[0, k % P])
        z = np.append(1.0, z) if mixture.intercept else z
        total += weight[k] * (theta[k, : z.size] @ z)
    return total, (weight * variance).sum()


@pytest.mark.parametrize("kind", ["maps", "maps, noise told", "one map", REGIONS])
def test_weights_by_hand(kind):
    """Every round: forecast errors in units of the noise, then a share of 0.3 / t for the prior."""
    policy, rng = learned(kind, 0)
    model, w, moved = policy.model, np.array(PRIOR), 0.0
    for t in range(1, 60):
        x = features(rng, kind)
        maps = [np.asarray(m) for m in x] if isinstance(x, list) else [x]
        y = float((1.0 if t < 30 else -1.0) * maps[-1].sum() + 2.0 + 0.3 * rng.normal())
        unit = math.sqrt(model.mixtures[0].size[0, 0]) if kind == "regions" and t > 1 else 1.0
        if model.mixtures[0].moments[0, posterior.SQUARES] > 0.0:
            found = [forecast(mixture, maps) for mixture in model.mixtures]
            error = y / unit - model.mixtures[0].moments[0, posterior.FIRST] - np.array([f for f, _ in found])
            w = w * np.exp(-(error**2 - (error**2).min()) / (3.0 * found[0][1]))
            w /= w.sum()
        w = (1.0 - 0.3 / t) * w + 0.3 / t * np.array(PRIOR)
        policy.learn(x, y)
        np.testing.assert_allclose(policy.memory_weights, w, rtol=1e-7)
        assert policy.memory_weights.sum() == pytest.approx(1.0)
        assert (policy.memory_weights >= SHARE / t * np.array(PRIOR) * (1.0 - 1e-12)).all()
        moved = max(moved, abs(w[3] - PRIOR[3]))
    assert moved > 0.1


def test_the_weights_follow_the_best_sequence_of_memories():
    """The lemma of docs/math.md, section 14, for no change and for every single one, by the weights of a policy."""
    policy, rng = learned("one map", 0)
    model, losses, mixed, T = policy.model, [], 0.0, 120
    for t in range(T):
        x = features(rng, "one map")
        y = float((1.0 if t < 60 else -1.0) * x.sum() + 0.3 * rng.normal())
        loss = np.zeros(4)
        if model.mixtures[0].moments[0, posterior.SQUARES] > 0.0:
            found = [forecast(mixture, [x]) for mixture in model.mixtures]
            error = y - model.mixtures[0].moments[0, posterior.FIRST] - np.array([f for f, _ in found])
            loss = error**2 / (3.0 * found[0][1])
        losses.append(loss)
        mixed -= math.log(policy.memory_weights @ np.exp(-loss))
        policy.learn(x, y)
    before = np.concatenate([np.zeros((1, 4)), np.cumsum(losses, axis=0)])
    price = 0.3 * math.log(T) + 0.47
    assert (mixed <= before[-1] - np.log(PRIOR) + price).all()
    for t in range(2, T + 1):  # the second memory from round t on
        for g in range(4):
            change = before[-1] - before[t - 1] + math.log((t - 1) / 0.3) - np.log(PRIOR)
            assert (mixed <= before[t - 1, g] - math.log(PRIOR[g]) + change + price).all()
    assert mixed < before[-1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_memory_learns_what_it_would_alone(kind):
    policy, _ = learned(kind, 80, changes=False)
    for memory, mixture in zip(MEMORIES, policy.model.mixtures, strict=True):
        alone, _ = learned(kind, 80, min(memory, ENDLESS), changes=False)
        np.testing.assert_allclose(mixture.bank.theta, alone.model.bank.theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mixture.weights(), alone.model.weights(), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_memory_of_weight_1_plays_as_it_would_alone(kind):
    policy, rng = learned(kind, 80, changes=False)
    x = features(rng, kind, 6)
    for g, memory in enumerate(MEMORIES):
        policy.model.weight[:] = np.arange(4) == g
        alone, _ = learned(kind, 80, min(memory, ENDLESS), changes=False)
        np.testing.assert_allclose(policy.probabilities(x), alone.probabilities(x), rtol=1e-7, atol=1e-10)


def moments_of(model, x, leader):
    """Return weights, predictions, deviations from the leader, and what is played of, by the kernels of a model."""
    ridges, beliefs = model.beliefs(LANE, x, None)
    K = x.values.shape[2]
    allowed = np.ones(K, dtype=bool)
    counted = posterior.members(0, 0, x.values, x.block, ridges, beliefs, allowed, np.empty((2, 0)))
    C = counted[0].size
    each, deviation, mean, total = np.empty((C, K)), np.empty((C, K)), np.empty(K), np.empty(K)
    _, noise = posterior.predictions(counted, 0, x.block, allowed, each, mean)
    posterior.spreads(counted, 0, x.block, leader, each, mean, deviation, total)
    return counted[0], each, deviation, mean, total, noise, counted[11]


@pytest.mark.parametrize("kind", KINDS)
def test_the_members_of_all_memories_are_one_mixture(kind):
    """Means are means; the variance is that within memories and that between them."""
    policy, rng = learned(kind, 80)
    K, w = 5, np.array([0.4, 0.3, 0.2, 0.1])
    policy.model.weight[:] = w
    x = policy._reader.actions(features(rng, kind, K), 1)
    weight, each, deviation, mean, total, noise, constant = moments_of(policy.model, x, 2)
    parts = [moments_of(mixture, x, 2) for mixture in policy.model.mixtures]
    np.testing.assert_allclose(weight, np.concatenate([w[g] * p[0] for g, p in enumerate(parts)]))
    np.testing.assert_allclose(each, np.concatenate([p[1] for p in parts]), atol=1e-12)
    np.testing.assert_allclose(deviation, np.concatenate([p[2] for p in parts]), atol=1e-12)
    np.testing.assert_allclose(mean, sum(w[g] * p[3] for g, p in enumerate(parts)), atol=1e-12)
    within = sum(w[g] * p[4] for g, p in enumerate(parts))
    between = sum(w[g] * (p[3] - mean) ** 2 for g, p in enumerate(parts))
    np.testing.assert_allclose(total, within + between, atol=1e-12)
    assert noise == pytest.approx(sum(w[g] * p[5] for g, p in enumerate(parts)))
    assert constant == pytest.approx(sum(w[g] * p[6] for g, p in enumerate(parts)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_infinite_memory_restarts_when_it_has_lost_its_weight(kind):
    """It is then that of a fresh policy which learns the later rewards, counted from the same first reward."""
    policy, rng = learned(kind, 200, changes=False)
    model, restarted = policy.model, 0
    for _ in range(40):
        before = model.mixtures[0].bank.updates[0]
        x = features(rng, kind)
        one = x[1] if isinstance(x, list) else x
        policy.learn(x, -one.sum() + 2.0 + 0.3 * rng.normal())
        if model.mixtures[0].bank.updates[0] <= before:
            restarted += 1
            assert model.mixtures[0].bank.updates[0] == 2
    assert restarted >= 1
    assert model.updates[0] == policy.rounds == 240
    first = [mixture.moments[0, posterior.FIRST] for mixture in model.mixtures]
    np.testing.assert_array_equal(first, first[0])
    np.testing.assert_array_equal(model.mixtures[0].size, model.mixtures[3].size)
    old = learned(kind, 200, ENDLESS, changes=False)[0].model.noise()[0]
    assert np.isfinite(model.noise()[0])
    assert model.mixtures[0].noise()[0] < 20.0 * old


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_means_over_memories(kind):
    """Weights and noise variances by the weights of memories; estimates of a map by those given that map."""
    policy, _ = learned(kind, 80)
    model = policy.model
    model.weight[:] = w = np.array([0.4, 0.3, 0.2, 0.1])
    weights = np.stack([mixture.weights()[0] for mixture in model.mixtures])
    np.testing.assert_allclose(model.weights()[0], w @ weights)
    assert policy.noise_estimate**2 == pytest.approx(sum(w * [mixture.noise()[0] ** 2 for mixture in model.mixtures]))
    cells = np.repeat(np.arange(weights.shape[1]), model.mixtures[0].blocks)
    for c, i in enumerate(cells):
        share = w * weights[:, i] / (w * weights[:, i]).sum()
        estimates = np.stack([mixture.parameters()[0, c] for mixture in model.mixtures])
        np.testing.assert_allclose(model.parameters()[0, c], share @ estimates, rtol=1e-7, atol=1e-12)
        constants = np.stack([mixture.constants()[0, c] for mixture in model.mixtures])
        assert model.constants()[0, c] == pytest.approx(share @ constants, abs=1e-12)


def test_a_map_that_no_memory_believes_has_finite_estimates():
    policy = FSIDS(n_models=2, dim=2, noise=1e-3, intercept=False, memory="learned")
    rng = np.random.default_rng(0)
    for _ in range(400):
        x = rng.normal(size=(2, 2))
        policy.learn(list(x), 100.0 * x[0].sum())
    assert policy.model_weights[1] == 0.0
    assert np.isfinite(policy.parameters).all()


def test_weights_stay_while_rewards_are_equal_and_after_the_wildest_one():
    policy = LinIDS(dim=2, memory="learned")
    rng = np.random.default_rng(0)
    for _ in range(20):
        policy.learn(rng.normal(size=2), 1.0)
    np.testing.assert_allclose(policy.memory_weights, PRIOR)
    for y in (1.0 + 1e-12, 1e30, -1e30, 0.0):
        policy.learn(rng.normal(size=2), y)
        assert np.isfinite(policy.memory_weights).all()
        assert policy.memory_weights.sum() == pytest.approx(1.0)


def test_memories_of_no_weight_are_left_out_of_an_act():
    policy, rng = learned("one map", 80)
    x = features(rng, "one map", 5)
    policy.model.weight[:] = [1.0 - 1e-6, 1e-6, 0.0, 0.0]
    before = policy.probabilities(x)
    for mixture in policy.model.mixtures[1:]:
        mixture.bank.theta[:] = math.nan
    np.testing.assert_array_equal(policy.probabilities(x), before)
    assert np.isfinite(before).all()


def test_lanes_and_files(tmp_path):
    policy = FSIDS(n_models=2, dim=3, lanes=3, memory="learned", seed=1)
    rng = np.random.default_rng(0)
    for t in range(80):
        decision = policy.act(rng.normal(size=(3, 2, 5, 3)))
        sign = np.where(t < 40, 1.0, [1.0, -1.0, -1.0])
        policy.update(decision, sign * decision.features[:, 0].sum(axis=1) + 0.1 * rng.normal(size=3))
    assert policy.memory_weights.shape == (3, 4)
    assert policy.memory_weights[0, 0] > 0.5
    assert policy.memory_weights[1, 0] < 0.9 * policy.memory_weights[0, 0]
    policy.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    x = rng.normal(size=(3, 2, 5, 3))
    np.testing.assert_array_equal(again.probabilities(x), policy.probabilities(x))
    policy.reset_lanes([1])
    np.testing.assert_allclose(policy.memory_weights[1], PRIOR)
    policy.add_lanes(1)
    np.testing.assert_allclose(policy.memory_weights[3], PRIOR)


def test_a_flip_is_noticed_and_forgotten():
    """Where nothing changes the infinite memory keeps its weight; after a flip it restarts, and is right soon."""
    policy = LinIDS(dim=3, lanes=100, memory="learned", seed=3)
    rng, theta, flips, found = np.random.default_rng(5), np.array([1.0, -1.0, 0.5]), np.repeat([False, True], 50), {}
    for t in range(1, 481):
        decision = policy.act(rng.normal(size=(100, 5, 3)))
        sign = np.where(flips & (t > 400), -1.0, 1.0)
        policy.update(decision, sign * (decision.features @ theta) + 0.5 * rng.normal(size=100))
        found[t] = policy.memory_weights
    learned = policy.model.mixtures[0].bank.updates
    assert found[400].mean(axis=0)[0] > 0.75
    assert (learned[~flips] == 480).sum() >= 45
    assert (learned[flips] <= 81).all()
    sign = np.where(flips, -1.0, 1.0)[:, None]
    assert np.abs(policy.parameters - sign * theta).mean() < 0.1


def test_refusals():
    with pytest.raises(ValueError, match=r"memory: got 'forever', expected 'learned' or a finite number > 1 or None"):
        LinIDS(dim=2, memory="forever")
    with pytest.raises(ValueError, match=r"memory: got 1\.0"):
        LinIDS(dim=2, memory=1.0)
    with pytest.raises(ValueError, match="memory: got 'learned', expected a finite number > 1 or None"):
        FSSquareCB(n_models=2, dim=2, memory="learned")
    policy = FSIDS(n_models=2, dim=2, memory="learned")
    with pytest.raises(ValueError, match="models cannot come and go: rewards fade"):
        policy.add_models(2)
    for memory in (None, 100.0):
        with pytest.raises(AttributeError, match="memory='learned'"):
            FSIDS(n_models=2, dim=2, memory=memory).memory_weights  # noqa: B018


def test_probabilities_of_no_rewards_are_those_of_one_memory():
    x, given = np.random.default_rng(0).normal(size=(2, 5, 3)), {"n_models": 2, "dim": 3}
    model = FSIDS(**given, memory="learned").model
    p = Information(0.0).probabilities(model, LANE, Features(x[None], NO_BLOCK), None)
    np.testing.assert_allclose(p[0], FSIDS(**given, memory=ENDLESS).probabilities(x), atol=1e-12)
