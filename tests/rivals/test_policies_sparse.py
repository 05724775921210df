"""Sparse OFUL by its definition: SqAlg, the ellipsoid around its predictions, three radii; whether the set holds."""

import math

import numpy as np
import pytest

from banditselect.rivals import SparseOFUL
from experts_by_hand import Experts, Ridge, softmax, substitution

DIMS, R, S, DELTA, SCALE = (2, 3), 0.3, 1.2, 0.1, 0.4
L, G = 3.0, 2.0


def half_range(t, delta):
    """Return G and a bound on the noise of every round up to t, all of them together."""
    return G + R * math.sqrt(2.0 * math.log(math.pi**2 * t**2 / (3.0 * delta)))


def regret(t, lam, delta):
    """Return the regret of SqAlg against the mean rewards: (l^2 / 2) log M, and that of the worst ridge."""
    ridges = [
        (1.0 + L**2 / lam_i) * (lam_i * S**2 + R**2 * (d * math.log1p(t * L**2 / (lam_i * d)) - 2.0 * math.log(delta)))
        for lam_i, d in zip(lam, DIMS, strict=True)
    ]
    return 0.5 * (2.0 * half_range(max(t, 1), delta)) ** 2 * math.log(2.0) + max(ridges)


def squared_error(confidence, t, lam, loss, least):
    """Return gamma_t by its definition."""
    if confidence == "data":
        return 2.0 * (loss - least + 4.0 * R**2 * math.log(1.0 / DELTA))
    if confidence == "corrected":
        return 2.0 * regret(t, lam, DELTA / 3.0) + 8.0 * R**2 * math.log(3.0 / DELTA)
    B = regret(t, lam, DELTA)
    return 1.0 + 2.0 * B + 32.0 * R**2 * math.log((R * math.sqrt(8.0) + math.sqrt(1.0 + B)) / DELTA)


@pytest.mark.parametrize("confidence", ["data", "corrected", "paper"])
def test_plays_by_its_definition(confidence):
    """Every round: the ridges and their losses, SqAlg, the ridge on its predictions, the radius, the action."""
    rng = np.random.default_rng(0)
    bounds = {} if confidence == "data" else {"feature_bound": L, "reward_bound": G}
    policy = SparseOFUL(
        n_models=2, dim=DIMS, noise=R, parameter_bound=S, delta=DELTA, confidence=confidence, scale=SCALE,
        reward_range=(-3.0, 4.0), **bounds,
    )  # fmt: skip
    lam = [d * R**2 / S**2 for d in DIMS]
    experts = Experts([Ridge(np.zeros(d), penalty * np.eye(d)) for d, penalty in zip(DIMS, lam, strict=True)])
    forecasts, losses, loss = np.zeros(0), np.zeros(2), 0.0
    for t in range(25):
        maps = [rng.normal(size=(5, d)) for d in DIMS]
        gamma = squared_error(confidence, t, lam, loss, np.min(experts.J - np.array(lam) * S**2))
        Z, wide = np.hstack(experts.x), np.hstack(maps)
        W = lam[1] * np.eye(5) + Z.T @ Z
        center = np.linalg.solve(W, Z.T @ forecasts)
        residual = ((forecasts - Z @ center) ** 2).sum() + lam[1] * center @ center
        squared = gamma + lam[1] * S**2 - residual
        assert policy.squared_radii == pytest.approx(SCALE**2 * squared, rel=1e-8)
        width = np.sqrt(np.einsum("kd,kd->k", wide, np.linalg.solve(W, wide.T).T))
        decision = policy.act(maps)
        assert decision.action == (wide @ center + SCALE * math.sqrt(squared) * width).argmax()
        edge = center + np.eye(5)[2] * SCALE * math.sqrt(squared / W[2, 2])
        assert policy.covers(center + 0.999 * (edge - center))
        assert not policy.covers(center + 1.001 * (edge - center))
        reward = float(np.clip(maps[1][decision.action] @ [0.5, -0.5, 0.4] + R * rng.normal(), -2.9, 3.9))
        low, high = -3.0, 4.0
        if confidence != "data":
            high = half_range(t + 1, DELTA / 3.0 if confidence == "corrected" else DELTA)
            low = -high
        played = [m[decision.action] for m in maps]
        f = experts.predict(played)
        forecast = substitution(f[:, None], softmax(-2.0 / (high - low) ** 2 * losses), low, high - low)[0]
        losses += (np.clip(f, low, high) - reward) ** 2
        loss += (forecast - reward) ** 2
        policy.update(decision, reward)
        experts.add(played, reward)
        forecasts = np.append(forecasts, forecast)
    weight = np.exp(-2.0 / (high - low) ** 2 * losses) if confidence == "data" else policy.model_weights
    np.testing.assert_allclose(policy.model_weights, weight / weight.sum(), rtol=1e-9)


@pytest.mark.parametrize("confidence", ["data", "corrected"])
def test_the_set_holds_the_parameter(confidence):
    """At most 14 of 60 lanes lose it in 150 rounds at delta = .05, for every range (false alarm below 1e-5)."""
    lanes, rng = 60, np.random.default_rng(5)
    bounds = {} if confidence == "data" else {"feature_bound": 4.0, "reward_bound": 4.0}
    policy = SparseOFUL(
        n_models=3, dim=2, noise=0.5, delta=0.05, confidence=confidence, reward_range=(-9.0, 9.0), lanes=lanes, **bounds
    )
    theta, held = np.array([0.6, 0.8]), np.ones(lanes, dtype=bool)
    for _ in range(150):
        x = rng.normal(size=(lanes, 3, 4, 2))
        decision = policy.act(x)
        policy.update(decision, decision.features[:, 1] @ theta + 0.5 * rng.normal(size=lanes))
        held &= policy.coverage(np.tile(theta, (lanes, 1)), 1) == 1.0
    assert (~held).sum() <= 14
    whole = [0.0, 0.0, *theta, 0.0, 0.0]
    np.testing.assert_array_equal(policy.covers(whole), policy.coverage(np.tile(theta, (lanes, 1)), 1) == 1.0)
    assert policy.coverage(theta, None) is None


def test_supports_that_overlap_are_maps_that_share_columns():
    """A reward of columns 1 and 3 of five; all ten pairs are supports; 300 rounds, seeded."""
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    policy = SparseOFUL(n_models=10, dim=2, noise=0.2, reward_range=(-4.0, 4.0), scale=0.3)
    for _ in range(300):
        x = rng.normal(size=(6, 5))
        decision = policy.act(np.stack([x[:, pair] for pair in pairs]))
        policy.update(decision, x[decision.action] @ [0.0, 0.6, 0.0, -0.8, 0.0] + 0.2 * rng.normal())
    assert pairs[policy.model_weights.argmax()] == (1, 3)
