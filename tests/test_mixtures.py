"""Policies over the posterior of several models, side by side with its equations solved afresh."""

import math

import numpy as np
import pytest
from scipy import stats

from banditselect import FSIDS, FSMED, FSTS, PSIDS, PSTS, LinMED, Uniform
from banditselect.kernels.divergence import ACCURACY, decompose, design
from banditselect.kernels.information import expected_regret
from banditselect.parts.mixtures import FLAT, SCALES, TOLD_SCALES

rng_of = np.random.default_rng


class Maps:
    """Maps at five prior scales, with a constant term and an unknown noise, solved from all data at once."""

    def __init__(self, dims, prior, noise=None, constant=True):
        self.dims, self.prior, self.noise, self.constant = dims, np.asarray(prior), noise, constant
        self.x, self.y = [], []

    def add(self, x, y):
        """One row per map."""
        self.x.append(x)
        self.y.append(y)

    def of(self, i, x):
        """Features of map i, in units of the first that was learned, behind a 1."""
        unit = np.linalg.norm(self.x[0][i]) if self.x else math.sqrt((x**2).sum() / len(x))
        return np.column_stack([np.ones(len(x)), x / unit]) if self.constant else x / unit

    def solve(self):
        """Return (map, weight, noise variance, estimate, V, logdet) of every model."""
        t, models = len(self.y), []
        y = np.array(self.y)
        if self.constant and t:
            y = y - y[0]
        spread = ((y - y.mean() * self.constant) ** 2).sum() / max(t - self.constant, 1) if t else 0.0
        for scale in SCALES if self.noise is None else TOLD_SCALES:
            for i, d in enumerate(self.dims):
                precision = np.full(d + self.constant, 1.0 / scale)
                if self.constant:
                    precision[0] = FLAT
                X = self.of(i, np.array([row[i] for row in self.x])) if t else np.empty((0, precision.size))
                V = np.diag(precision) + X.T @ X
                theta = np.linalg.solve(V, X.T @ y)
                J = ((y - X @ theta) ** 2).sum() + (precision * theta**2).sum()
                logdet = np.linalg.slogdet(V / precision)[1]
                log_weight, variance = math.log(self.prior[i]) - 0.5 * logdet, 1.0
                if self.noise is not None:
                    variance = self.noise**2
                    log_weight -= 0.5 * J / variance
                elif spread > 0.0:
                    variance = (spread + 0.5 * J) / (1.0 + 0.5 * t)
                    log_weight -= (1.0 + 0.5 * t) * math.log(spread + 0.5 * J)
                models.append([i, log_weight, variance, theta, V, logdet])
        top = max(model[1] for model in models)
        weight = np.exp([model[1] - top for model in models])
        weight /= weight.sum()
        kept = weight * weight.size >= 1e-3
        weight = weight * kept / weight[kept].sum()
        return [(m[0], w, *m[2:]) for m, w in zip(models, weight, strict=True) if w > 0.0]


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


# LinMED and FSMED


@pytest.mark.parametrize("noise", [None, 0.7])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("K", [3, 4, 40])
def test_linmed_plays_its_equations(K, constant, noise):
    """Forty actions of three features are more than twice as many as features: there the design is not uniform."""
    rng = rng_of(K)
    policy = LinMED(dim=3, noise=noise, intercept=constant, best_share=0.5, seed=1)
    posterior = Maps([3], [1.0], noise, constant)
    for _ in range(25):
        x = rng.normal(size=(K, 3))
        p = policy.probabilities(x)
        np.testing.assert_allclose(p, divergence(posterior.solve(), posterior, [x], 0.5), rtol=1e-7, atol=1e-12)
        decision = policy.act(x)
        reward = 2.0 + decision.features @ [1.0, 0.0, -0.5] + 0.7 * rng.normal()
        policy.update(decision, reward)
        posterior.add([decision.features], reward)


def test_fsmed_plays_its_equations():
    rng = rng_of(0)
    policy = FSMED(n_models=2, dim=[2, 3], prior_weights=[1.0, 3.0], best_share=0.9, seed=1)
    posterior = Maps([2, 3], [0.25, 0.75])
    for _ in range(25):
        x = [rng.normal(size=(6, 2)), rng.normal(size=(6, 3))]
        p = policy.probabilities(x)
        np.testing.assert_allclose(p, divergence(posterior.solve(), posterior, x, 0.9), rtol=1e-7, atol=1e-12)
        decision = policy.act(x)
        played = [features[decision.action] for features in x]
        reward = played[0].sum() + 0.5 * rng.normal()
        policy.update(decision, reward)
        posterior.add(played, reward)


def test_before_any_reward_linmed_plays_the_design_and_uniformly():
    """Nothing is better than anything: f = 1, and the share on the best is everybody's."""
    x = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    p = LinMED(dim=2, intercept=False, best_share=0.6).probabilities(x)
    np.testing.assert_allclose(p[9], 0.6 / 10 + 0.2 / 10 + 0.2 * 0.5, rtol=1e-12)  # 9 to 1, then 1/2 to 1/2
    np.testing.assert_allclose(p[:9], (1.0 - p[9]) / 9, rtol=1e-12)


# The design


def test_a_design_is_uniform_for_few_actions_and_near_optimal_for_many():
    rng = rng_of(2)
    for K, d, rank in [(4, 3, 3), (6, 3, 3), (60, 3, 3), (60, 5, 2), (2, 5, 2), (7, 4, 1)]:
        x = rng.normal(size=(1, 2, K, rank)) @ rng.normal(size=(rank, d))
        x[0, 1, 0] *= 100.0
        scale, q = rng.uniform(0.1, 1.0, K), np.empty(K)
        design(0, x, 1, d, scale, q)
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
    x, q = np.zeros((1, 1, 5, 2)), np.empty(5)
    design(0, x, 0, 2, np.array([1.0, 0.0, 1.0, 1.0, 1.0]), q)
    np.testing.assert_array_equal(q, [0.25, 0.0, 0.25, 0.25, 0.25])


def test_a_singular_matrix_is_decomposed():
    A = np.array([[1.0, 2.0, 3.0, 0.0], [2.0, 4.0, 6.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    V, lower = A.T @ A, np.zeros((4, 4))
    assert decompose(V, lower) == 2
    np.testing.assert_allclose(lower @ lower.T, V, atol=1e-12)


# FSTS and PSTS


def normal_of(u):
    return float(stats.norm.ppf(u))


def test_fsts_draws_a_model_by_its_weight_and_a_parameter_from_its_posterior():
    """Under the unit vectors as normals the scores move by the columns of s times the root of V^-1."""
    rng = rng_of(3)
    policy, posterior = FSTS(n_models=2, dim=[2, 3], seed=1), Maps([2, 3], [0.5, 0.5])
    for _ in range(12):
        x = [rng.normal(size=(4, 2)), rng.normal(size=(4, 3))]
        decision = policy.act(x)
        assert decision.probability is None
        played = [features[decision.action] for features in x]
        reward = 0.3 * played[1].sum() + rng.normal()
        policy.update(decision, reward)
        posterior.add(played, reward)
    x = [rng.normal(size=(4, 2)), rng.normal(size=(4, 3))]
    padded = np.zeros((1, 2, 4, 3))
    padded[0, 0, :, :2], padded[0, 1] = x
    mixture, ids = policy._mixture, np.zeros(1, dtype=np.int64)
    weights = mixture.weigh(ids)[1][0]
    assert mixture.draws == 5
    for i, weight, variance, theta, V, _ in posterior.solve():
        k = int(np.argmin(np.abs(weights - weight * weights[weights * weights.size >= 1e-3].sum())))
        reached = weights[:k].sum() + 0.5 * weights[k]
        z = np.zeros((1, 5))
        z[0, 0] = normal_of(reached)
        mean = mixture.sampled(ids, padded, z)[0]
        features = posterior.of(i, x[i])
        np.testing.assert_allclose(mean, features @ theta, atol=1e-9)
        moves = []
        for j in range(4):
            z[0, 1:] = np.eye(4)[j]
            moves.append(mixture.sampled(ids, padded, z)[0] - mean)
        covariance = variance * features @ np.linalg.solve(V, features.T)
        np.testing.assert_allclose(np.transpose(moves) @ moves, covariance, rtol=1e-7, atol=1e-9)


def test_psts_draws_from_the_posterior_about_the_centre():
    """One region, known noise: theta ~ N((lam I + X'X)^-1 (lam mu + X'y), R^2 (lam I + X'X)^-1), lam = d R^2 / r^2."""
    rng = rng_of(4)
    mu, R = np.array([1.0, -1.0]), 0.5
    policy = PSTS(centers=[mu], radii=np.sqrt(0.5), noise=R, seed=1)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    for row, reward in zip(X, y, strict=True):
        policy.learn(row, reward)
    V = np.eye(2) + X.T @ X
    x = rng.normal(size=(3, 2))
    ids, shown = np.zeros(1, dtype=np.int64), x[None, None]
    mean = policy._mixture.sampled(ids, shown, np.zeros((1, 3)))[0]
    np.testing.assert_allclose(mean, x @ np.linalg.solve(V, mu + X.T @ y), rtol=1e-10)
    moves = [policy._mixture.sampled(ids, shown, np.array([[0.0, *e]]))[0] - mean for e in np.eye(2)]
    np.testing.assert_allclose(np.transpose(moves) @ moves, R**2 * x @ np.linalg.solve(V, x.T), rtol=1e-9)


def test_psts_chooses_regions_by_their_weights():
    """Two known parameters, weights .2 and .8 before any reward: the first normal decides at P(Z < z) = .2."""
    policy = PSTS(centers=[[1.0, 0.0], [0.0, 1.0]], radii=0.0, noise=1.0, prior_weights=[0.2, 0.8])
    ids, x = np.zeros(1, dtype=np.int64), np.eye(2)[None, None]
    for u, expected in [(0.001, [1.0, 0.0]), (0.199, [1.0, 0.0]), (0.201, [0.0, 1.0]), (0.999, [0.0, 1.0])]:
        z = np.array([[normal_of(u), 3.0, -3.0]])
        np.testing.assert_array_equal(policy._mixture.sampled(ids, x, z)[0], expected)


def test_psts_plays_as_often_as_the_posterior_says():
    """4,000 acts against the probability by quadrature; false alarms below 1e-4 (four standard deviations)."""
    policy = PSTS(centers=[[0.3, 0.0]], radii=np.sqrt(2.0), noise=1.0, lanes=40, seed=5)
    x = np.tile([[1.0, 0.0], [0.0, 1.0]], (40, 1, 1))
    played = np.mean([policy.act(x).action == 0 for _ in range(100)])
    expected = stats.norm.cdf(0.3 / math.sqrt(2.0))  # theta ~ N((.3, 0), I)
    assert abs(played - expected) < 4.0 * math.sqrt(expected * (1.0 - expected) / 4000)


# What is played learns.


@pytest.mark.parametrize("cls", [FSMED, FSTS, FSIDS])
def test_the_true_map_is_found_and_played(cls):
    rng, N = rng_of(6), 10
    policy, regret, floor = cls(n_models=3, dim=4, lanes=N, seed=7), 0.0, 0.0
    for _ in range(300):
        x = rng.normal(size=(N, 3, 6, 4))
        means = 5.0 + 0.3 * x[:, 1].sum(axis=2)
        decision = policy.act(x)
        policy.update(decision, means[np.arange(N), decision.action] + 0.5 * rng.normal(size=N))
        regret += (means.max(axis=1) - means[np.arange(N), decision.action]).mean()
        floor += (means.max(axis=1) - means.mean(axis=1)).mean()
    assert policy.model_weights[:, 1].min() > 0.99
    assert regret < 0.15 * floor
    np.testing.assert_allclose(policy.noise_estimate, 0.5, atol=0.1)


@pytest.mark.parametrize("cls", [PSTS, PSIDS])
def test_the_true_region_is_found_and_played(cls):
    rng, N = rng_of(8), 10
    centers = 2.0 * np.eye(4)
    policy, uniform = cls(centers=centers, radii=0.5, lanes=N, seed=9), Uniform(lanes=N, seed=9)
    regret, floor = 0.0, 0.0
    for _ in range(100):
        x = rng.normal(size=(N, 6, 4))
        means = x @ (centers[2] + 0.2)
        decision = policy.act(x)
        policy.update(decision, means[np.arange(N), decision.action] + 0.5 * rng.normal(size=N))
        regret += (means.max(axis=1) - means[np.arange(N), decision.action]).mean()
        floor += (means.max(axis=1) - means[np.arange(N), uniform.act(x).action]).mean()
    assert policy.model_weights[:, 2].min() > 0.99
    assert regret < 0.05 * floor


# Information-directed play


def test_the_expected_regret_lies_in_the_middle_of_its_bounds():
    rng = rng_of(10)
    weight, gap, deviation = np.array([0.3, 0.7]), -rng.uniform(0.0, 1.0, (2, 5)), rng.uniform(0.1, 2.0, (2, 5))

    def gains(c):
        z = (gap[:, 1:] - c) / deviation[:, 1:]
        return weight @ ((gap[:, 1:] - c) * stats.norm.cdf(z) + deviation[:, 1:] * stats.norm.pdf(z))

    upper = min(c + gains(c).sum() for c in np.linspace(0.0, 5.0, 2001))
    found = expected_regret(0, weight, gap, deviation, np.ones(5, dtype=bool))
    assert found == pytest.approx(0.5 * (gains(0.0).max() + upper), rel=5e-3)


def test_fsids_mixes_the_two_actions_of_its_equations():
    rng = rng_of(11)
    policy, posterior = FSIDS(n_models=2, dim=3, seed=1), Maps([3, 3], [0.5, 0.5])
    for t in range(30):
        x = rng.normal(size=(2, 5, 3))
        p = policy.probabilities(x)
        if t > 2:
            np.testing.assert_allclose(p, informed(posterior.solve(), posterior, x), atol=1e-7)
        decision = policy.act(x)
        reward = 0.5 * decision.features[0].sum() + rng.normal()
        policy.update(decision, reward)
        posterior.add(list(decision.features), reward)


def informed(models, posterior, x):
    """Equations of FSIDS, with its estimate of the expected regret."""
    t, K = len(posterior.y), x.shape[1]
    weight = np.array([m[1] for m in models])
    own = np.array([posterior.of(m[0], x[m[0]]) @ m[3] for m in models])
    mean = weight @ own
    b = int(np.argmax(mean))
    var, deviation = np.zeros(K), np.empty((len(models), K))
    for c, (i, w, s2, _, V, _) in enumerate(models):
        z = posterior.of(i, x[i])
        var += w * (s2 * np.einsum("ad,ad->a", z, np.linalg.solve(V, z.T).T) + (own[c] - mean) ** 2)
        z = z - z[b]
        deviation[c] = np.sqrt(s2 * np.einsum("ad,ad->a", z, np.linalg.solve(V, z.T).T))
    noise = sum(m[1] * m[2] for m in models)
    taught = np.maximum(0.5 * (np.log1p(var / noise) - np.log1p(1.0 / (FLAT + t))), 0.0)
    D = expected_regret(b, weight, own - own[:, [b]], deviation, np.ones(K, dtype=bool))
    best = (np.inf, b, 0.0)
    for a in range(K):
        if taught[a] > taught[b]:
            g, more = mean[b] - mean[a], taught[a] - taught[b]
            q = min(max(D / g - 2.0 * taught[b] / more, 0.0), 1.0)
            best = min(best, ((D + q * g) ** 2 / (taught[b] + q * more), a, q))
    p = np.zeros(K)
    p[best[1]] = best[2]
    p[b] += 1.0 - best[2]
    return p
