"""Information-directed play against formulas written out again: batch solves, grids, integrals, draws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect import FSIDS, PSIDS, LinIDS, load
from banditselect.kernels import features, information, posterior
from banditselect.parts.mixtures import FLAT, SCALES, TOLD_SCALES
from banditselect.parts.region_mixtures import LEVELS

ALL = np.ones(50, dtype=bool)


def evidence_of(X, y, precision, center, a, b):
    """Posterior of a normal-inverse-gamma regression by batch: theta, V, noise variance, log marginal likelihood."""
    V = precision + X.T @ X
    theta = np.linalg.solve(V, precision @ center + X.T @ y)
    J = ((y - X @ theta) ** 2).sum() + (theta - center) @ precision @ (theta - center)
    logdet = np.linalg.slogdet(V)[1] - np.linalg.slogdet(precision)[1]
    t = len(y)
    return theta, V, (b + J / 2) / (a + t / 2), a * math.log(b) - logdet / 2 - (a + t / 2) * math.log(b + J / 2)


def student_log_density(y, mean, shape, a):
    """Log density of a multivariate Student distribution with 2 a degrees, up to what depends on a and n only."""
    gap, n = y - mean, len(y)
    return -np.linalg.slogdet(shape)[1] / 2 - (a + n / 2) * math.log1p(gap @ np.linalg.solve(shape, gap) / (2 * a))


def naive_play(w, s2, f, cov, common):
    """Two-action play from weights (C,), noise variances (C,), means (C, K), covariances (C, K, K); (K,)."""
    mean = w @ f
    within = np.einsum("c,ckk->k", w, cov)
    var = within + w @ (f - mean) ** 2
    info = np.maximum(0.5 * (np.log1p(var / (w @ s2)) - common), 0.0)
    b = int(np.argmax(mean))
    gap = f - f[:, b : b + 1]
    dev = np.sqrt(np.maximum(np.einsum("ckk->ck", cov) + cov[:, b, b][:, None] - 2 * cov[:, :, b], 0.0))
    others = [a for a in range(len(mean)) if a != b]

    def gain(a, c):
        z = np.where(dev[:, a] > 0, (gap[:, a] - c) / np.where(dev[:, a] > 0, dev[:, a], 1.0), 0.0)
        above = 0.5 * np.array([math.erfc(-v / math.sqrt(2)) for v in z])
        plus = (gap[:, a] - c) * above + dev[:, a] * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return float(w @ np.where(dev[:, a] > 0, plus, np.maximum(gap[:, a] - c, 0.0)))

    lower = max(gain(a, 0.0) for a in others)
    highest = max((gap[:, a] + 6 * dev[:, a]).max() for a in others)
    upper = min(c + sum(gain(a, c) for a in others) for c in np.linspace(0.0, max(highest, 0.0), 4001))
    best = (np.inf, b, 0.0)
    for a in others:
        if info[a] > info[b]:
            q = np.linspace(0.0, 1.0, 100_001)
            ratio = ((lower + upper) / 2 + q * (mean[b] - mean[a])) ** 2 / (info[b] + q * (info[a] - info[b]))
            best = min(best, (ratio.min(), a, q[ratio.argmin()]))
    p = np.zeros(len(mean))
    p[b] = 1.0 - best[2]
    p[best[1]] += best[2]
    return p


def regressions(maps, y, constant, first_sizes):
    """Every (scale, map) by batch, in the order of the policy's models."""
    centred = y - y[0] if constant else y
    v = centred.var(ddof=1) if constant else (centred**2).mean()
    found = []
    for S in SCALES:
        for X, size in zip(maps, first_sizes, strict=True):
            X = X / math.sqrt(size)
            X = np.column_stack([np.ones(len(y)), X]) if constant else X
            precision = np.eye(X.shape[1]) / S
            if constant:
                precision[0, 0] = FLAT
            found.append(evidence_of(X, centred, precision, np.zeros(X.shape[1]), 1.0, v))
    return found


@pytest.mark.parametrize("constant", [True, False])
def test_fsids_plays_what_a_batch_solve_says(constant):
    rng = np.random.default_rng(1)
    dims, K = [3, 2], 4
    policy = FSIDS(n_models=2, dim=dims, intercept=constant, seed=0)
    seen, rewards = [[], []], []
    for t in range(9):
        x = [rng.normal(size=(K, d)) * (5.0 if i else 0.2) for i, d in enumerate(dims)]
        if t > 2:
            maps, y = [np.array(s) for s in seen], np.array(rewards)
            sizes = policy._mixture.size[0]
            assert sizes == pytest.approx([(m[0] ** 2).sum() for m in maps])
            models = regressions(maps, y, constant, sizes)
            log_w = np.array([m[3] for m in models])
            w = np.exp(log_w - log_w.max())
            w /= w.sum()
            assert policy.model_weights == pytest.approx([w[0::2].sum(), w[1::2].sum()], rel=1e-8)
            keep = w * w.size >= posterior.NEGLIGIBLE
            f, cov = [], []
            for k, (theta, V, s2, _) in enumerate(models):
                z = x[k % 2] / math.sqrt(sizes[k % 2])
                z = np.column_stack([np.ones(K), z]) if constant else z
                f.append(z @ theta)
                cov.append(s2 * z @ np.linalg.solve(V, z.T))
            s2 = np.array([m[2] for m in models])[keep]
            common = math.log1p(1.0 / (FLAT + len(y))) if constant else 0.0
            expected = naive_play(w[keep] / w[keep].sum(), s2, np.array(f)[keep], np.array(cov)[keep], common)
            assert policy.probabilities(x) == pytest.approx(expected, abs=2e-3)  # the grid of thresholds is coarse
            assert policy.noise_estimate**2 == pytest.approx(w @ np.array([m[2] for m in models]), rel=1e-8)
        decision = policy.act(x)
        reward = 3.0 + x[0][decision.action].sum() + 0.3 * rng.normal()
        for i in range(2):
            seen[i].append(x[i][decision.action])
        rewards.append(reward)
        policy.update(decision, reward)


@pytest.mark.parametrize("outlier", [1e-4, 30.0, 1e5])
def test_a_size_that_is_not_borne_out_is_mended_as_if_it_had_always_been(outlier):
    rng = np.random.default_rng(9)
    policy = FSIDS(n_models=2, dim=[3, 2], seed=0)
    maps = [rng.normal(size=(40, 3)), rng.normal(size=(40, 2))]
    maps[0][0] *= outlier
    y = rng.normal(size=40)
    for t in range(40):
        policy.learn([m[t] for m in maps], y[t])
    sizes = policy._mixture.size[0]
    mean = np.exp(np.log((maps[0] ** 2).sum(axis=1)).mean())
    assert abs(math.log(sizes[0] / mean)) <= posterior.DRIFT
    models = regressions(maps, y, True, sizes)
    log_w = np.array([m[3] for m in models])
    w = np.exp(log_w - log_w.max())
    assert policy.model_weights == pytest.approx(np.array([w[0::2].sum(), w[1::2].sum()]) / w.sum(), rel=1e-4)
    for k, (theta, _, _, _) in enumerate(models):
        assert policy._mixture.bank.theta[0, k, : theta.size] == pytest.approx(theta, rel=1e-4, abs=1e-7)


def test_psids_weighs_regions_and_noise_levels_as_a_batch_solve_does():
    rng = np.random.default_rng(2)
    centers, radii = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [-1.0, 0.3, 0.0]]), np.array([0.4, 0.2, 0.2])
    policy = PSIDS(centers=centers, radii=radii, prior_weights=[2.0, 1.0, 1.0])
    X = rng.normal(size=(9, 3)) * 3.0
    y = X @ [0.1, 0.9, 0.4] + 0.5 * rng.normal(size=9)
    for row, reward in zip(X, y, strict=True):
        policy.learn(row, reward)
    unit = math.sqrt((X[0] ** 2).sum())
    spread = (((centers - centers.mean(axis=0)) ** 2).sum(axis=1) + radii**2).mean() / 3
    log_w, noise = np.empty((len(LEVELS), 3)), np.empty((len(LEVELS), 3))
    for j, level in enumerate(LEVELS):
        v = level * spread
        for i in range(3):
            lam = 2.0 ** round(math.log2(3 * v / radii[i] ** 2))
            _, _, s2, log_w[j, i] = evidence_of(X / unit, y / unit, lam * np.eye(3), centers[i], 1.0, v)
            noise[j, i] = s2
            half, tau = 0.5 * math.log(10.0), 1.0 / math.sqrt(1.0 + len(y) / 2)
            low = -math.inf if j == 0 else -half
            high = math.inf if j == len(LEVELS) - 1 else half
            cdf = [0.5 * math.erfc((math.log(s2 / v) - e) / tau / math.sqrt(2)) for e in (low, high)]
            log_w[j, i] += math.log(cdf[1] - cdf[0]) + math.log([0.5, 0.25, 0.25][i])
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    assert policy.model_weights == pytest.approx(w.sum(axis=0), rel=1e-7)
    assert policy.noise_estimate == pytest.approx(unit * math.sqrt((w * noise).sum()), rel=1e-7)


def test_evidence_is_that_of_a_student_distribution():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    a, b = 1.0, 0.7
    ours, theirs = [], []
    for lam in (0.1, 1.0, 10.0):
        ours.append(evidence_of(X, y, lam * np.eye(2), np.zeros(2), a, b)[3])
        theirs.append(student_log_density(y, np.zeros(6), b / a * (np.eye(6) + X @ X.T / lam), a))
    assert np.diff(ours) == pytest.approx(np.diff(theirs), rel=1e-10)


def test_known_noise_weighs_by_the_gaussian_evidence():
    policy = LinIDS(dim=1, noise=0.5, intercept=False)
    for x, y in ((1.0, 1.0), (2.0, 1.5), (1.0, 0.8)):
        policy.learn([x], y)
    log_w, weight, variance = policy._mixture.weigh(np.array([0]))
    for j, S in enumerate(TOLD_SCALES):  # by hand: V = 1/S + 6, J = 1 + 2.25 + .64 - 4.8^2 / V
        V = 1.0 / S + 6.0
        assert log_w[0, j] == pytest.approx(
            math.log(1.0 / 7.0) - math.log(V * S) / 2 - (3.89 - 4.8**2 / V) / (2 * 0.25)
        )
    assert weight.sum() == pytest.approx(1.0)
    assert (variance == 0.25).all()


def test_features_get_a_constant_and_the_unit_of_the_first():
    x = np.array([[[[3.0, 4.0], [0.0, 1.0]]]])
    out = np.empty((1, 1, 2, 3))
    features.prepare(np.array([0]), x, np.array([[25.0]]), True, out)
    assert out[0, 0] == pytest.approx(np.array([[1.0, 0.6, 0.8], [1.0, 0.0, 0.2]]))
    features.prepare(np.array([0]), x, np.zeros((1, 1)), True, out)  # not known yet: the mean of 25 and 1
    assert out[0, 0, 0, 1:] == pytest.approx(np.array([3.0, 4.0]) / math.sqrt(13.0))
    size, logs, counts = np.array([[0.0, 7.0]]), np.zeros((1, 2)), np.zeros((1, 2), dtype=np.int64)
    assert not posterior.meet(np.array([0]), np.array([[[3.0, 4.0], [1.0, 1.0]]]), size, logs, counts)
    assert size.tolist() == [[25.0, 7.0]]
    assert logs == pytest.approx(np.log([[25.0, 2.0]]))
    assert counts.tolist() == [[1, 1]]
    assert posterior.meet(np.array([0]), np.array([[[0.0, 0.02], [0.0, 0.0]]]), size, logs, counts)  # .1 against 25
    assert counts.tolist() == [[2, 1]]


@pytest.mark.parametrize("constant", [True, False])
def test_moments_of_rewards(constant):
    rng = np.random.default_rng(4)
    y, moments, out = 1e6 + rng.normal(size=30), np.zeros((1, 3)), np.empty(1)
    for t, value in enumerate(y):
        posterior.center_rewards(np.array([0]), np.array([value]), np.array([t]), moments, constant, out)
        assert out[0] == value - (y[0] if constant else 0.0)
    expected = [y[0], (y - y[0]).mean(), 30 * y.var()] if constant else [0.0, 0.0, (y**2).sum()]
    assert moments[0] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 1.2), (-2.0, 0.7), (1.0, 0.0), (-1.0, 0.0), (5.0, 0.1)])
def test_excess_is_an_integral(mean, deviation):
    z = np.linspace(-9.0, 9.0, 200_001)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    value = mean + deviation * z
    step = z[1] - z[0]
    gain, above, at_zero = information.excess(mean, deviation)
    assert gain == pytest.approx((np.maximum(value, 0.0) * density).sum() * step, abs=1e-6)
    assert above == pytest.approx(((value > 0.0) * density).sum() * step, abs=1e-4)
    expected = math.exp(-((mean / deviation) ** 2) / 2) / deviation / math.sqrt(2 * math.pi) if deviation else 0.0
    assert at_zero == pytest.approx(expected, abs=1e-6)


def test_expected_regret_is_the_middle_of_bounds_that_hold():
    rng = np.random.default_rng(5)
    for K in (2, 5, 40):
        gap, deviation = rng.normal(-0.5, 1.0, (2, K)), rng.uniform(0.1, 2.0, (2, K))
        gap[:, 0] = deviation[:, 0] = 0.0
        w = np.array([0.3, 0.7])
        estimate = information.expected_regret(0, w, gap, deviation, ALL[:K])
        model = rng.choice(2, p=w, size=100_000)
        draws = gap[model] + deviation[model] * rng.normal(size=(100_000, K))
        gains = np.maximum(draws, 0.0).mean(axis=0)
        lower = gains.max()
        upper = min(c + np.maximum(draws[:, 1:] - c, 0.0).sum(axis=1).mean() for c in np.linspace(0.0, 8.0, 81))
        true = draws.max(axis=1).mean()  # of independent actions; the bounds hold whatever the correlation
        assert lower <= true * (1 + 1e-9)
        assert true <= upper * (1 + 1e-9)
        assert estimate == pytest.approx((lower + upper) / 2, rel=0.02)


@given(st.integers(2, 6), st.integers(0, 10_000), st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_mix_two_minimises_the_ratio(K, seed, regret):
    rng = np.random.default_rng(seed)
    mean, taught = rng.normal(size=K), rng.uniform(0.01, 1.0, K)
    b = int(mean.argmax())
    p = np.empty(K)
    information.mix_two(b, mean, taught, regret, ALL[:K], 0.0, p)
    assert p.sum() == pytest.approx(1.0)
    assert (p > 0).sum() <= 2

    def ratio(p):
        return (regret + mean[b] - p @ mean) ** 2 / (p @ taught)

    q = np.linspace(0.0, 1.0, 1001)[:, None]
    grid = [ratio((1 - q_i) * np.eye(K)[b] + q_i * np.eye(K)[a]) for a in range(K) for q_i in q[:, 0]]
    assert ratio(p) <= min(grid) * (1 + 1e-9) + 1e-15


def test_ties_share_floor_and_mask():
    p = np.empty(4)
    information.mix_two(0, np.zeros(4), np.ones(4), 1.0, ALL[:4], 0.0, p)
    assert p == pytest.approx(0.25)
    information.mix_two(0, np.array([1.0, 0.5, 0.5, 0.5]), np.array([0.1, 2.0, 2.0, 0.1]), 1.0, ALL[:4], 0.0, p)
    assert p[1] == p[2] > 0.0  # D / g = 2, 2 I(b) / (I(a) - I(b)) = .105: played always, each half of the time
    assert p[1] == pytest.approx(0.5)
    information.mix_two(0, np.array([1.0, 0.5, 0.5, 0.5]), np.array([0.1, 2.0, 2.0, 0.1]), 1.0, ALL[:4], 0.4, p)
    assert p == pytest.approx([0.1, 0.4, 0.4, 0.1])
    policy = LinIDS(dim=2, floor=0.2)
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    offered = [True, False, True]
    assert policy.probabilities(x, available=offered)[1] == 0.0
    assert policy.probabilities(x, available=offered).min() == 0.0
    assert policy.probabilities(x, available=offered)[[0, 2]].min() >= 0.1 - 1e-12


def test_rewards_that_never_differ_and_features_that_are_zero():
    policy = FSIDS(n_models=2, dim=2, seed=1)
    rng = np.random.default_rng(6)
    for t in range(30):
        x = rng.normal(size=(2, 3, 2)) * (t >= 5)
        policy.update(policy.act(x), 0.25)
        assert np.isfinite(policy.model_weights).all()
    assert math.isnan(policy.noise_estimate)
    assert policy.constants == pytest.approx([0.25, 0.25])
    policy.update(policy.act(rng.normal(size=(2, 3, 2))), 1.25)
    assert policy.noise_estimate > 0.0
    regions = PSIDS(centers=[[1.0, 0.0], [0.0, 1.0]], radii=[0.0, 0.1])
    regions.update(regions.act(np.zeros((3, 2))), 1.0)  # says nothing: no unit is known yet
    assert regions.model_weights == pytest.approx([0.5, 0.5])
    assert regions.rounds == 1


def test_estimates_are_in_the_units_given(tmp_path):
    rng = np.random.default_rng(7)
    maps = FSIDS(n_models=2, dim=[2, 3], seed=0)
    balls = PSIDS(centers=[[20.0, 0.0], [0.0, 20.0]], radii=3.0, intercept=True, seed=0)
    for _ in range(400):
        x = [rng.normal(size=(4, 2)) * 0.01, rng.normal(size=(4, 3)) * 100.0]
        decision = maps.act(x)
        maps.update(decision, 5.0 + x[0][decision.action] @ [100.0, -50.0] + 0.1 * rng.normal())
        decision = balls.act(x[0])
        balls.update(decision, 7.0 + decision.features @ [1.0, 21.0] + 0.02 * rng.normal())
    assert maps.model_weights[0] > 0.999
    assert maps.parameters[0, :2] == pytest.approx([100.0, -50.0], abs=4.0)
    assert maps.constants[0] == pytest.approx(5.0, abs=0.05)
    assert maps.noise_estimate == pytest.approx(0.1, rel=0.25)
    assert balls.model_weights[1] > 0.99
    assert balls.parameters[1] == pytest.approx([1.0, 21.0], abs=1.0)
    assert balls.constants[1] == pytest.approx(7.0, abs=0.05)
    balls.save(tmp_path / "balls")
    assert load(tmp_path / "balls").parameters.tolist() == balls.parameters.tolist()


def test_a_gaussian_mixture_is_the_prior():
    means, covariances = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.1, 0.4], [0.2, 0.2]])
    policy = PSIDS.from_mixture(means, covariances, [3.0, 1.0], covariance_type="diag", noise=0.5)
    assert policy.model_weights == pytest.approx([0.75, 0.25])
    policy.learn([1.0, 0.0], 1.5)
    predictive = [math.exp(-((1.5 - m) ** 2) / (2 * (v + 0.25))) / math.sqrt(v + 0.25) for m, v in ((1, 0.1), (0, 0.2))]
    odds = 3.0 * predictive[0] / predictive[1]
    assert policy.model_weights[0] / policy.model_weights[1] == pytest.approx(odds, rel=0.02)  # lambda: a power of two


def test_the_right_map_is_found_and_noise_favours_none():
    """Seeded: 40 lanes each; a coin of mean .5 + .3 x on the second of three maps, and coins without any meaning."""
    rng = np.random.default_rng(8)
    n, rows = 40, np.arange(40)
    for meaning in (0.3, 0.0):
        policy = FSIDS(n_models=3, dim=5, lanes=n, seed=0)
        for _ in range(300):
            x = rng.uniform(-1.0, 1.0, (n, 3, 5, 5))
            decision = policy.act(x)
            means = 0.5 + meaning * x[rows, 1, decision.action, 0]
            policy.update(decision, (rng.uniform(size=n) < means).astype(float))
        if meaning:
            assert (policy.model_weights.argmax(axis=1) == 1).sum() >= 36
        else:
            assert (policy.model_weights.max(axis=1) > 0.8).sum() <= 4
