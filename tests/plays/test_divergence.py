"""Play by empirical divergence side by side with its equations solved afresh, and the design that it mixes in."""

import math

import numpy as np
import pytest

from banditselect import FSMED, LinMED
from banditselect.kernels.features import NO_BLOCK
from banditselect.models.mixture import FLAT
from banditselect.plays.divergence import ACCURACY, decompose, design
from mixtures_by_hand import Maps

rng_of = np.random.default_rng


def near_optimal(X):
    """Weights of the rows of X: multiplied by their leverages until none exceeds twice the rank."""
    q = np.full(len(X), 1.0 / len(X))
    rank = np.linalg.matrix_rank(X)
    for _ in range(1000):
        leverage = np.einsum("ad,de,ae->a", X, np.linalg.pinv(X.T @ (q[:, None] * X), hermitian=True), X)
        if leverage.max() <= 2.0 * rank:
            return q
        q = q * leverage / rank
    raise AssertionError("no design was found")


def divergence(models, posterior, x, share):
    """Equations of LinMED and FSMED; ``x``: the features ``(K, d_i)`` of every map."""
    t, K = len(posterior.y), len(x[0])
    own = [posterior.of(m[0], x[m[0]]) @ m[3] for m in models]
    mean = sum(m[1] * f for m, f in zip(models, own, strict=True))
    b = int(np.argmax(mean))
    gap = mean[b] - mean
    S, logdet = np.zeros(K), 0.0
    for m, f in zip(models, own, strict=True):
        z = posterior.of(m[0], x[m[0]])
        z = z - z[b]
        S += m[1] * (m[2] * np.einsum("ad,ad->a", z, np.linalg.solve(m[4], z.T).T) + (f[b] - f - gap) ** 2)
        logdet += m[1] * (m[5] - (math.log((FLAT + t) / FLAT) if posterior.constant else 0.0))
    beta = (math.sqrt(logdet + 2.0 * math.log(t + 1.0)) + 1.0) ** 2
    f = np.array([1.0 if g == 0.0 else math.exp(-(g**2) / (beta * s)) for g, s in zip(gap, S, strict=True)])
    q = share * (mean == mean[b]) / (mean == mean[b]).sum() + 0.5 * (1.0 - share) / K
    for i in range(len(x)):
        believed = sum(m[1] for m in models if m[0] == i)
        if believed > 0.0:
            q = q + 0.5 * (1.0 - share) * believed * near_optimal(np.sqrt(f)[:, None] * posterior.of(i, x[i]))
    return q * f / (q * f).sum()


@pytest.mark.parametrize(
    ("make", "posterior", "dims", "K", "share"),
    [
        *(
            (LinMED.bind(dim=3, noise=R, intercept=c, best_share=0.5), Maps([3], [1.0], R, c), [3], K, 0.5)
            for R in (None, 0.7)
            for c in (True, False)
            for K in (3, 4, 40)
        ),
        (
            FSMED.bind(n_models=2, dim=[2, 3], prior_weights=[1.0, 3.0], best_share=0.9),
            Maps([2, 3], [0.25, 0.75]), [2, 3], 6, 0.9,
        ),
    ],
)  # fmt: skip
def test_med_plays_its_equations(make, posterior, dims, K, share):
    """Forty actions of three features are more than twice as many as features: there the design is not uniform."""
    rng, policy = rng_of(K), make(seed=1)
    for _ in range(25):
        x = [rng.normal(size=(K, d)) for d in dims]
        shown = x if len(dims) > 1 else x[0]
        expected = divergence(posterior.solve(), posterior, x, share)
        np.testing.assert_allclose(policy.probabilities(shown), expected, rtol=1e-7, atol=1e-12)
        decision = policy.act(shown)
        played = [features[decision.action] for features in x]
        reward = 2.0 + played[0].sum() + 0.7 * rng.normal()
        policy.update(decision, reward)
        posterior.add(played, reward)


def test_before_any_reward_linmed_plays_the_design_and_uniformly():
    """Nothing is better than anything: f = 1, and all actions are best."""
    x = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    p = LinMED(dim=2, intercept=False, best_share=0.6).probabilities(x)
    np.testing.assert_allclose(p[9], 0.6 / 10 + 0.2 / 10 + 0.2 * 0.5, rtol=1e-12)  # 9 to 1, then 1/2 to 1/2
    np.testing.assert_allclose(p[:9], (1.0 - p[9]) / 9, rtol=1e-12)


def test_a_design_is_uniform_for_few_actions_and_near_optimal_for_many():
    rng = rng_of(2)
    for K, d, rank in [(4, 3, 3), (6, 3, 3), (60, 3, 3), (60, 5, 2), (2, 5, 2), (7, 4, 1)]:
        x = rng.normal(size=(1, 2, K, rank)) @ rng.normal(size=(rank, d))
        x[0, 1, 0] *= 100.0
        scale = rng.uniform(0.1, 1.0, K)
        q = design(np.ascontiguousarray(x[0, 1].T), NO_BLOCK, 0, 0, d, scale)
        X = np.sqrt(scale)[:, None] * x[0, 1]
        np.testing.assert_allclose(q, near_optimal(X), rtol=1e-6)
        assert q.sum() == pytest.approx(1.0)
        leverage = np.einsum("ad,de,ae->a", X, np.linalg.pinv(X.T @ (q[:, None] * X), hermitian=True), X)
        assert leverage.max() <= ACCURACY * rank * (1.0 + 1e-6)
        if 2 * rank >= K:
            np.testing.assert_array_equal(q, 1.0 / K)


def test_a_design_of_actions_that_are_far_off_is_finite():
    policy = LinMED(dim=5, seed=5)
    means = np.arange(1, 6) / 5
    for _ in range(400):
        decision = policy.act(np.eye(5))
        policy.update(decision, means[decision.action] + 0.001 * math.sin(policy.rounds))
    assert np.isfinite(policy.probabilities(np.eye(5))).all()


def test_a_design_leaves_out_actions_of_scale_zero_and_zero_features():
    q = design(np.zeros((2, 5)), NO_BLOCK, 0, 0, 2, np.array([1.0, 0.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(q, [0.25, 0.0, 0.25, 0.25, 0.25])


def test_a_singular_matrix_is_decomposed():
    A = np.array([[1.0, 2.0, 3.0, 0.0], [2.0, 4.0, 6.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    V, lower = A.T @ A, np.zeros((4, 4))
    assert decompose(V, lower) == 2
    np.testing.assert_allclose(lower @ lower.T, V, atol=1e-12)
