"""Regret stays below the theory's bound, where that bound says something (it is below the trivial 2 G T)."""

import math

import numpy as np

from banditselect import FSOFUL, PSOFUL, FSSquareCB
from banditselect.theory import feature_selection, parameter_selection

LANES, T, R, DELTA = 20, 2000, 0.1, 0.05


def unit(rng, *shape):
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def check_regret(bound, G, policy, theta, rng, features, own=lambda x: x):
    """Play T rounds with features of unit length; ``own``: those that the reward is linear in."""
    total = np.zeros(LANES)
    for _ in range(T):
        x = unit(rng, LANES, *features)
        means = np.einsum("nkd,nd->nk", own(x), theta)
        decision = policy.act(x)
        played = means[np.arange(LANES), decision.action]
        policy.update(decision, played + R * rng.normal(size=LANES))
        total += means.max(axis=1) - played
    assert total.max() < bound < 2.0 * G * T


def test_ps_oful():
    rng = np.random.default_rng(0)
    M, d, r = 4, 3, 0.5
    centers = np.tile(unit(rng, M, d), (LANES, 1, 1))
    theta = centers[:, 1] + r * unit(rng, LANES, d)
    policy = PSOFUL(centers=centers, radii=r, noise=R, delta=DELTA / 2, lanes=LANES)
    G, apart = np.linalg.norm(theta, axis=1).max(), np.linalg.norm(centers - theta[:, None], axis=2).max()
    lam = 2.0 ** round(math.log2(d * R**2 / r**2))
    model = {"dim": d, "n_models": M, "noise": R, "feature_bound": 1.0, "reward_bound": float(G), "delta": DELTA}
    bound = parameter_selection.likelihood_regret_bound(
        t=T, radius=r, center_distance=float(apart), regularization=lam, **model
    )
    check_regret(bound, G, policy, theta, rng, (5, d))


MODEL = {"dim": 3, "n_models": 3, "noise": R, "feature_bound": 1.0, "reward_bound": 0.8, "parameter_bound": 0.8}
MODEL |= {"regularization": 1.0, "delta": DELTA}


def test_fs_oful():
    rng = np.random.default_rng(1)
    theta = 0.8 * unit(rng, LANES, 3)
    policy = FSOFUL(n_models=3, dim=3, noise=R, parameter_bound=0.8, delta=DELTA / 2, lanes=LANES)
    bound = feature_selection.union_regret_bound(t=T, **MODEL)
    check_regret(bound, 0.8, policy, theta, rng, (3, 5, 3), lambda x: x[:, 1])


def test_fs_scb_at_the_corrected_rate():
    rng = np.random.default_rng(2)
    theta = 0.8 * unit(rng, LANES, 3)
    corrected = {"weighting": "corrected", "exploration": "corrected", "reward_range": (-2.0, 2.0)}
    policy = FSSquareCB(horizon=T, lanes=LANES, **corrected, **MODEL)
    bound = feature_selection.regret_bound(t=T, n_actions=4, **MODEL)
    check_regret(bound, 0.8, policy, theta, rng, (3, 4, 3), lambda x: x[:, 1])
    assert not policy.clipped.any()
