"""Ridge experts: determinants, noise, least-squares regret and error, by arithmetic, brute force and simulation."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from banditselect.theory import likelihood, linear

E1 = {"t": 1000, "dim": 10, "noise": 0.5, "feature_bound": 1, "regularization": 1, "radius": 1, "delta": 0.05}


def allowed(runs: int, delta: float) -> int:
    """Violations that a bound of level delta exceeds with probability below 1e-4."""
    return int(binom.ppf(1 - 1e-4, runs, delta))


def random_features(rng: np.random.Generator, shape: tuple[int, ...], bound: float) -> np.ndarray:
    phi = rng.normal(size=shape)
    return bound * phi / np.linalg.norm(phi, axis=-1, keepdims=True)


# --- determinants and leverages -------------------------------------------------------------------


def test_eq_aux_lemm_det_teace_ineq_value():
    bound = linear.log_det(3, 2, 2, 0.5)
    assert bound == pytest.approx(2 * math.log(1 + 3 * 4 / (0.5 * 2)), rel=1e-14)


def test_eq_aux_lemm_det_teace_ineq_on_random_matrices():
    rng = np.random.default_rng(0)
    for dim in (1, 2, 5):
        for _ in range(50):
            lam, L, t = rng.uniform(0.1, 3), rng.uniform(0.1, 3), int(rng.integers(1, 40))
            phi = random_features(rng, (t, dim), L) * rng.uniform(0, 1, size=(t, 1))
            exact = np.linalg.slogdet(np.eye(dim) + phi.T @ phi / lam)[1]
            assert exact <= linear.log_det(t, dim, L, lam) * (1 + 1e-12)


def test_eq_aux_lemm_det_teace_ineq_is_attained_by_an_even_design():
    phi = np.tile(2.0 * np.eye(3), (4, 1))
    exact = np.linalg.slogdet(np.eye(3) + phi.T @ phi / 0.7)[1]
    bound = linear.log_det(12, 3, 2, 0.7)
    assert bound == pytest.approx(exact, rel=1e-13)


def leverages(phi: np.ndarray, lam: float) -> np.ndarray:
    V, q = lam * np.eye(phi.shape[1]), []
    for x in phi:
        q.append(x @ np.linalg.solve(V, x))
        V += np.outer(x, x)
    return np.array(q)


def test_eq_aux_lemm_bound_sumofnorms_holds_with_a_smaller_constant():
    factor = linear.capped_sum_factor(cap=1, slope=1)
    assert factor == pytest.approx(1 / math.log(2), rel=1e-15)
    assert factor < 2
    rng = np.random.default_rng(1)
    for _ in range(30):
        lam, L = rng.uniform(0.01, 2), rng.uniform(0.1, 3)
        q = leverages(random_features(rng, (30, 3), L), lam)
        assert np.minimum(1, q).sum() <= factor * np.log1p(q).sum()


def test_eq_aux_lemm_bound_sumofnorms_is_false_without_the_minimum():
    q = leverages(np.array([[10.0]]), 1.0)
    assert q.sum() == pytest.approx(100)
    assert q.sum() > 2 * np.log1p(q).sum()
    assert q.sum() <= linear.capped_sum_factor(cap=100, slope=1) * np.log1p(q).sum() * (1 + 1e-12)


def test_capped_sum_factor_is_the_least_constant_on_a_grid():
    q = np.concatenate([[0], np.geomspace(1e-6, 1e6, 4001)])
    for a in (0.01, 0.3, 1, 7, 500):
        for b in (0.02, 1, 40):
            factor = linear.capped_sum_factor(cap=a, slope=b)
            assert np.all(np.minimum(a, b * q) <= factor * np.log1p(q) * (1 + 1e-12))
            assert factor <= b + a / 2
            assert a == pytest.approx(factor * math.log1p(a / b), rel=1e-12)
    assert linear.capped_sum_factor(cap=0, slope=3) == 3
    assert linear.capped_sum_factor(cap=3, slope=0) == 0
    assert linear.capped_sum_factor(cap=0, slope=0) == 0


# --- noise ----------------------------------------------------------------------------------------


def tails(k: float, R: float) -> dict[str, float]:
    """Exact P(|eta| > k) of R-sub-Gaussian variables."""
    return {
        "Rademacher": float(k < R),
        "uniform": max(0.0, 1 - k / (R * math.sqrt(3))),
        "Gaussian": 2 * float(norm.sf(k / R)),
    }


@pytest.mark.parametrize("delta", [0.5, 0.25, 0.05, 1e-3])
def test_eq_aux_lemm_bound_subGaussian_variable_for_one_round(delta):
    k = linear.noise_bound(t=1, noise=0.7, delta=delta)
    assert k == pytest.approx(0.7 * math.sqrt(2 * math.log(2 / delta)), rel=1e-14)
    assert all(tail <= delta for tail in tails(k, 0.7).values())


def test_eq_reward_bounded_needs_all_rounds():
    T, R, delta = 1000, 0.5, 0.05
    one_round = tails(R * math.sqrt(2 * math.log(2 / delta)), R)["Gaussian"]
    assert 1 - (1 - one_round) ** T > 0.99  # what the paper prints misses in almost every run
    n_T = linear.noise_bound(t=T, noise=R, delta=delta)
    assert n_T == pytest.approx(2.30180741, rel=1e-8)
    assert all(1 - (1 - tail) ** T <= delta for tail in tails(n_T, R).values())


def test_eq_bound_reward_fssqaurecb_anytime():
    s = np.arange(1, 200_001)
    k = linear.noise_bound(t=s, noise=0.5, delta=0.05, horizon="anytime")
    assert k[999] == pytest.approx(3.00017419, rel=1e-8)
    spent = np.sum(2 * np.exp(-(k**2) / (2 * 0.25)))
    rest = 6 / math.pi**2 * 0.05 / s[-1]
    assert spent + rest == pytest.approx(0.05, rel=1e-6)
    assert linear.noise_bound(t=[1, 10], noise=0.5, delta=0.05, horizon=1000) == pytest.approx(2.30180741, rel=1e-8)
    assert linear.noise_bound(t=0, noise=0.5, delta=0.05) == linear.noise_bound(t=1, noise=0.5, delta=0.05)


# --- least squares --------------------------------------------------------------------------------


def ridge_run(rng, *, runs, rounds, dim, L, lam, r, R, noise):
    """Play designs that look for leverage; return errors f - mu and noise, both (rounds, runs)."""
    theta_star = random_features(rng, (runs, dim), r)
    V_inv = np.tile(np.eye(dim) / lam, (runs, 1, 1))
    b = np.zeros((runs, dim))
    errors, etas = [], []
    for _ in range(rounds):
        candidates = random_features(rng, (runs, 4, dim), L)
        q = np.einsum("nkd,nde,nke->nk", candidates, V_inv, candidates)
        phi = candidates[np.arange(runs), q.argmax(axis=1)]
        mu = np.einsum("nd,nd->n", phi, theta_star)
        eta = noise(rng, runs) * R
        f = np.einsum("nd,nde,ne->n", phi, V_inv, b)
        Vphi = np.einsum("nde,ne->nd", V_inv, phi)
        V_inv -= Vphi[:, :, None] * Vphi[:, None, :] / (1 + np.einsum("nd,nd->n", phi, Vphi))[:, None, None]
        b += phi * (mu + eta)[:, None]
        errors.append(f - mu)
        etas.append(eta)
    return np.array(errors), np.array(etas)


NOISES = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "Rademacher": lambda rng, n: rng.choice([-1.0, 1.0], size=n),
    "uniform": lambda rng, n: rng.uniform(-math.sqrt(3), math.sqrt(3), size=n),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("L", "lam", "r"), [(1.0, 1.0, 1.0), (3.0, 0.5, 0.2)])
def test_eq_defQ_error_and_regret_of_the_true_expert_are_covered(noise, L, lam, r):
    runs, rounds, delta = 300, 120, 0.05
    rng = np.random.default_rng(3)
    x, eta = ridge_run(rng, runs=runs, rounds=rounds, dim=3, L=L, lam=lam, r=r, R=0.5, noise=NOISES[noise])
    model = {"dim": 3, "noise": 0.5, "feature_bound": L, "regularization": lam, "radius": r, "delta": delta}
    t = np.arange(1, rounds + 1)
    error = np.cumsum(x**2, axis=0) > np.asarray(linear.expert_error(t=t, **model))[:, None]
    regret = np.cumsum((x - eta) ** 2 - eta**2, axis=0) > np.asarray(linear.expert_regret(t=t, **model))[:, None]
    assert error.any(axis=0).sum() <= allowed(runs, delta)
    assert regret.any(axis=0).sum() <= allowed(runs, delta)


def test_eq_LS1_lacks_the_squared_residuals():
    """One dimension, feature 1, no noise: everything by hand."""
    lam, r, rounds = 0.01, 10.0, 50
    seen = np.arange(rounds)
    errors = r * lam / (seen + lam)  # theta_s - theta_* of the ridge estimate around a centre at distance r
    left = np.sum(errors**2)
    log_det = math.log((lam + rounds) / lam)
    assert left == pytest.approx(100.016, abs=1e-3)
    assert left > lam * r**2 + 2 * log_det  # eq:LS2 without noise
    residuals = np.sum(errors**2 / (lam + seen) / (1 + 1 / (lam + seen)))  # what eq:LS1 should have
    assert left <= lam * r**2 + residuals
    assert left <= linear.expert_regret(
        t=rounds, dim=1, noise=0, feature_bound=1, regularization=lam, radius=r, delta=0.05
    )


def test_eq_forboundingtheq_tfirstone_exact_identity():
    """min_theta of the regularised loss = sum of squared residuals over 1 + leverage."""
    rng = np.random.default_rng(4)
    phi, y, lam, centre = rng.normal(size=(12, 3)), rng.normal(size=12), 0.7, rng.normal(size=3)
    V, b, total = lam * np.eye(3), lam * centre, 0.0
    for x, reward in zip(phi, y, strict=True):
        total += (reward - x @ np.linalg.solve(V, b)) ** 2 / (1 + x @ np.linalg.solve(V, x))
        V, b = V + np.outer(x, x), b + x * reward
    theta = np.linalg.solve(V, b)
    least = np.sum((y - phi @ theta) ** 2) + lam * np.sum((theta - centre) ** 2)
    assert total == pytest.approx(least, rel=1e-12)


def test_eq_LS2_corrected_numbers():
    by_hand = (1 + 4 / 3) * (3 * 4 + 0.25 * 2 * math.log(1 + 5 * 4 / (3 * 2)) + 0.5 * math.log(10))
    small = linear.expert_regret(t=5, dim=2, noise=0.5, feature_bound=2, regularization=3, radius=2, delta=0.1)
    assert small == pytest.approx(by_hand, rel=1e-14)


def test_expert_error_by_hand():
    k = 0.2
    inside = 3 * 4 + 0.25 * 2 * math.log(1 + 5 * 4 / (3 * 2)) + 2 * 0.25 / k * math.log(10)
    by_hand = (1 + (1 - k) * 4 / 3) / (1 - k) * inside
    model = {"dim": 2, "noise": 0.5, "feature_bound": 2, "regularization": 3, "radius": 2, "delta": 0.1}
    assert linear.expert_error(t=5, kappa=k, **model) == pytest.approx(by_hand, rel=1e-14)


def test_expert_error_route_by_the_confidence_set_is_larger():
    """Squared radius times the sum of leverages: the classical way, of order (log t)^2."""
    route = likelihood.squared_radius(**E1) * linear.capped_sum_factor(cap=1, slope=1) * linear.log_det(1000, 10, 1, 1)
    assert route == pytest.approx(934.524, rel=1e-6)
    assert linear.expert_error(**E1) < route


def test_eq_aux_prop_sum_marting_bound_is_covered():
    runs, rounds, R, delta = 400, 200, 0.5, 0.05
    rng = np.random.default_rng(5)
    total, square, missed = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    for _ in range(rounds):
        Z = np.where(total > 0, 1.0, 0.3) * rng.uniform(0.5, 1, size=runs)
        total, square = total + Z * R * rng.normal(size=runs), square + Z**2
        missed |= np.abs(total) > R * np.sqrt(2 * (1 + square) * np.log(np.sqrt(1 + square) / delta))
    assert missed.sum() <= allowed(runs, delta)


def test_eq_aux_lemma_square_rrot_trick():
    for a in (1e-3, 1, 50):
        for b in (1e-3, 1, 50):
            z = (b + math.sqrt(b**2 + 4 * a)) / 2  # the largest z with z^2 <= a + b z
            assert z**2 == pytest.approx(a + b * z)
            assert z <= math.sqrt(a) + b


def test_eq_aux_lemma_log_trick():
    for delta in (0.25, 0.05, 1e-4):
        for c in (1, 3, 100):
            for q in (1e-3, 1, 10, 300):
                s = 2 * (c + q * math.sqrt(2 * math.log((c + q) / delta)))
                for _ in range(300):  # from above to the largest solution of s = c + q sqrt(log(s / delta))
                    s = c + q * math.sqrt(math.log(s / delta))
                assert s <= c + q * math.sqrt(2 * math.log((c + q) / delta))


# --- predictions ----------------------------------------------------------------------------------


def test_eq_fsscb_expertnoisebound_squared_radius():
    by_hand = (0.5 * math.sqrt(2 * math.log(math.sqrt(4.5**2) / 0.1)) + math.sqrt(2) * 3) ** 2
    model = {"dim": 2, "noise": 0.5, "feature_bound": 1, "regularization": 2, "radius": 3, "delta": 0.1}
    assert likelihood.squared_radius(t=14, **model, form="printed") == pytest.approx(by_hand, rel=1e-14)


def test_eq_fasb_featurebound_needs_regularization_of_one():
    """|phi| / sqrt(lam) <= L only for lam >= 1: below it the printed prediction bound is too small."""
    model = {"dim": 2, "noise": 0.0, "feature_bound": 3, "reward_bound": 0, "radius": 1, "delta": 0.1, "t": 10}
    assert linear.prediction_bound(regularization=0.01, form="printed", **model) == pytest.approx(3 * 0.1)
    assert linear.prediction_bound(regularization=0.01, **model) == pytest.approx(3)  # |<phi, theta>| <= L r


def test_eq_fs_scb_final_expert_bound_needs_two_dimensions():
    """The printed d log(1/delta) replaces 2 log(1/delta): too small in one dimension."""
    model = {"dim": 1, "noise": 1.0, "feature_bound": 1, "reward_bound": 0, "radius": 0, "delta": 1e-6, "t": 1}
    assert linear.prediction_bound(regularization=1, form="printed", **model) == pytest.approx(
        math.sqrt(math.log(2) + math.log(1e6))
    )
    self_normalised = math.sqrt(math.log(2) + 2 * math.log(1e6))  # eq:fsscb:expertnoisebound
    assert linear.prediction_bound(regularization=1, **model) == pytest.approx(self_normalised)


def test_eq_uppernpund_prediction_fsscb_is_covered():
    runs, rounds, delta, L, lam = 300, 80, 0.05, 2.0, 0.5
    rng = np.random.default_rng(6)
    x, _ = ridge_run(rng, runs=runs, rounds=rounds, dim=2, L=L, lam=lam, r=0.5, R=0.5, noise=NOISES["Gaussian"])
    model = {"dim": 2, "noise": 0.5, "feature_bound": L, "regularization": lam, "radius": 0.5, "delta": delta}
    slack = np.asarray(linear.prediction_bound(t=np.arange(rounds), reward_bound=0, **model))
    assert (np.abs(x) > slack[:, None]).any(axis=0).sum() <= allowed(runs, delta)
