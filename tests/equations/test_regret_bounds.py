"""Regret stays below the theory's bound, where that bound says something (it is below the trivial 2 G T)."""

import math

import numpy as np

from banditselect import FSOFUL, PSOFUL, FSSquareCB
from banditselect.theory import feature_selection, parameter_selection

LANES, T, R, DELTA = 20, 2000, 0.1, 0.05


def unit(rng, *shape):
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def regret(policy, draw, theta, rng):
    """Play T rounds; ``draw`` returns features for the policy and those that the reward is linear in."""
    total = np.zeros(LANES)
    for _ in range(T):
        x, own = draw()
        means = np.einsum("nkd,nd->nk", own, theta)
        decision = policy.act(x)
        played = means[np.arange(LANES), decision.action]
        policy.update(decision, played + R * rng.normal(size=LANES))
        total += means.max(axis=1) - played
    return total


def test_ps_oful():
    rng = np.random.default_rng(0)
    M, d, r = 4, 3, 0.5
    centers = np.tile(unit(rng, M, d), (LANES, 1, 1))
    theta = centers[:, 1] + r * unit(rng, LANES, d)
    policy = PSOFUL(centers=centers, radii=r, noise=R, delta=DELTA / 2, lanes=LANES)

    def draw():
        x = unit(rng, LANES, 5, d)
        return x, x

    G = float(np.linalg.norm(theta, axis=1).max())
    lam = 2.0 ** round(math.log2(d * R**2 / r**2))
    bound = parameter_selection.likelihood_regret_bound(
        t=T,
        dim=d,
        n_models=M,
        noise=R,
        feature_bound=1.0,
        reward_bound=G,
        radius=r,
        center_distance=float(np.linalg.norm(centers - theta[:, None], axis=2).max()),
        delta=DELTA,
        regularization=lam,
    )
    assert bound < 2.0 * G * T
    assert regret(policy, draw, theta, rng).max() < bound


def maps_game(rng, M, d, K):
    theta = 0.8 * unit(rng, LANES, d)

    def draw():
        x = unit(rng, LANES, M, K, d)
        return x, x[:, 1]

    return theta, draw


def test_fs_oful():
    rng = np.random.default_rng(1)
    M, d = 3, 3
    theta, draw = maps_game(rng, M, d, 5)
    policy = FSOFUL(n_models=M, dim=d, noise=R, parameter_bound=0.8, delta=DELTA / 2, lanes=LANES)
    bound = feature_selection.union_regret_bound(
        t=T,
        dim=d,
        n_models=M,
        noise=R,
        feature_bound=1.0,
        reward_bound=0.8,
        parameter_bound=0.8,
        regularization=1.0,
        delta=DELTA,
    )
    assert bound < 2.0 * 0.8 * T
    assert regret(policy, draw, theta, rng).max() < bound


def test_fs_scb_at_the_corrected_rate():
    rng = np.random.default_rng(2)
    M, d, K, G = 3, 3, 4, 0.8
    theta, draw = maps_game(rng, M, d, K)
    model = {
        "dim": d,
        "n_models": M,
        "noise": R,
        "feature_bound": 1.0,
        "reward_bound": G,
        "parameter_bound": G,
        "regularization": 1.0,
        "delta": DELTA,
    }
    policy = FSSquareCB(
        weighting="corrected", exploration="corrected", horizon=T, reward_range=(-2.0, 2.0), lanes=LANES, **model
    )
    bound = feature_selection.regret_bound(t=T, n_actions=K, **model)
    assert bound < 2.0 * G * T
    assert regret(policy, draw, theta, rng).max() < bound
    assert not policy.clipped.any()
