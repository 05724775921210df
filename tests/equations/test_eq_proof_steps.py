"""Labelled steps of the paper's proofs, as identities or inequalities that runs of the library must satisfy.

Statistical tests are seeded; at the level they claim they alarm falsely with probability below 1e-4.
"""

import math

import numpy as np
import pytest
from scipy import stats

from banditselect import OFUL
from banditselect.models.sqalg import SqAlg
from banditselect.theory import oracle
from banks_by_hand import learn, ridges

LANE = np.array([0])
DELTA = 0.05


def within_level(violated):
    return violated.sum() <= stats.binom.ppf(1.0 - 1e-4, violated.size, DELTA)


@pytest.mark.parametrize("square_root", [True, False])
def test_eq_temp0_temp1_temppp1_self_normalised_sums(square_root):
    """boundinthenoisytermforsquarefor:FS, boundingsecomdnpisytermforsquare:FS, first_lemma_fsscb_machinary.

    |sum eta Z| <= R sqrt(2 (1 + S) log(sqrt(1 + S) / delta)), S = sum Z^2, at all times at once; two of the lines print
    the logarithm without the square root, which is larger.
    """
    rng = np.random.default_rng(0)
    runs, rounds, R = 2000, 200, 0.7
    total, S, violated = np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    for _ in range(rounds):
        Z = np.cos(total) + 0.3  # depends on the past
        total += R * rng.normal(size=runs) * Z
        S += Z**2
        inner = np.sqrt(1.0 + S) if square_root else 1.0 + S
        violated |= np.abs(total) > R * np.sqrt(2.0 * (1.0 + S) * np.log(inner / DELTA))
    assert within_level(violated)


def test_eq_app_aux_lemm_boundonabseloutvalueofeta():
    """P(|eta| >= k) <= 2 exp(-k^2 / (2 R^2)): Gaussian, U[-1/2, 1/2] with R^2 = 1/12, and coins with R = 1/2."""
    for k in np.linspace(0.01, 3.0, 60):
        assert math.erfc(k / math.sqrt(2.0)) <= 2.0 * math.exp(-(k**2) / 2.0)
        assert max(0.0, 1.0 - 2.0 * k) <= 2.0 * math.exp(-6.0 * k**2)
        for p in (0.1, 0.5, 0.9):
            tail = p * (1.0 - p >= k) + (1.0 - p) * (p >= k)
            assert tail <= 2.0 * math.exp(-2.0 * k**2)


def test_eq_first_upperboundonerorofaggregation_and_forcombingresult():
    """sum (yhat - mu)^2 <= R_Sq + sum (f - mu)^2 + 2 sum eta (yhat - f) for every expert, on every sequence.

    The paper prints f - yhat, which fails; it does no harm, since the next step bounds the absolute values.
    """
    rng = np.random.default_rng(1)
    printed_fails = False
    for _ in range(50):
        M, rounds = 4, 60
        sq = SqAlg(lower=np.zeros(1), upper=np.ones(1), n_models=M)
        mu, y = rng.uniform(size=rounds), rng.uniform(size=rounds)
        f = np.clip(mu[:, None] + rng.normal(0.0, 0.3, (rounds, M)), 0.0, 1.0)
        yhat = np.empty(rounds)
        for t in range(rounds):
            yhat[t] = sq.predict(LANE, f[None, t, :, None])[0, 0]
            sq.update(LANE, f[None, t], y[t : t + 1])
        eta = y - mu
        left = np.sum((yhat - mu) ** 2)
        bound = oracle.sqalg_regret(width=1.0, n_models=M)
        for i in range(M):
            own = np.sum((f[:, i] - mu) ** 2)
            cross = 2.0 * np.sum(eta * (yhat - f[:, i]))
            assert left <= bound + own + cross + 1e-12
            printed_fails |= left > bound + own - cross
    assert printed_fails


def test_eq_fictionalcovariancemateix():
    """After d actions L e_i the covariance is L^2 I; the ridge lambda_0 = L^2 starts there without playing them."""
    d, L = 3, 1.7
    bank = ridges([d], np.array([[1e-12]]))
    for row in L * np.eye(d):
        learn(bank, LANE, row[None, None], np.zeros(1))
    np.testing.assert_allclose(bank.precision_of(0, 0), L**2 * np.eye(d), atol=1e-9)
    ours = ridges([d], np.array([[L**2]]))
    np.testing.assert_allclose(ours.precision_of(0, 0), L**2 * np.eye(d), rtol=1e-14)


def test_eq_centertforefictioanlellipdoide():
    """sum (yhat - <phi, th>)^2 + lam |th|^2 = |th - c|_V^2 + residual, for any th; the residual is J."""
    rng = np.random.default_rng(2)
    d, lam = 3, 0.8
    phi, yhat = rng.normal(size=(20, d)), rng.normal(size=20)
    bank = ridges([d], np.array([[lam]]))
    for x, v in zip(phi, yhat, strict=True):
        learn(bank, LANE, x[None, None], v[None])
    for theta in rng.normal(size=(10, d)):
        value = np.sum((yhat - phi @ theta) ** 2) + lam * theta @ theta
        assert bank.distances(theta[None])[0, 0] + bank.penalised[0, 0] == pytest.approx(value, rel=1e-10)


def test_eq_temp00000_and_uppernoundoninstantenousregret():
    """While the set holds theta*, a round's regret is at most 2 min(G, beta |phi_t|_{V^-1}) for the action played."""
    rng = np.random.default_rng(3)
    d, noise = 3, 0.3
    theta = np.array([0.6, -0.5, 0.4])
    policy = OFUL(dim=d, noise=noise, parameter_bound=1.0, delta=DELTA)
    V = np.eye(d)
    checked = 0
    for _ in range(200):
        x = rng.normal(size=(6, d))
        means = x @ theta
        decision, inside = policy.act(x), policy.covers(theta)
        z = x[decision.action]
        width = math.sqrt(z @ np.linalg.solve(V, z))
        if inside:
            checked += 1
            regret = means.max() - means[decision.action]
            assert regret <= 2.0 * min(np.abs(means).max(), math.sqrt(policy.squared_radii) * width) + 1e-12
        policy.update(decision, float(means[decision.action] + noise * rng.normal()))
        V += np.outer(z, z)
    assert checked > 150


def test_eq_fsscb_expert_optimal_bounds():
    """|<phi, theta_t>| <= G + L (R sqrt(2 log(det^(1/2) / delta)) + sqrt(lam) S) at all times, lam = 1, |phi| <= L."""
    rng = np.random.default_rng(4)
    runs, d, R, S, L = 2000, 2, 0.5, 1.0, 1.0
    theta = S * np.array([0.6, 0.8])
    bank = ridges([d], np.ones((runs, 1)))
    ids, violated = np.arange(runs), np.zeros(runs, dtype=bool)
    for _ in range(100):
        phi = rng.normal(size=(runs, 1, d))
        phi *= L / np.linalg.norm(phi, axis=2, keepdims=True)
        logdet = bank.logdet[:, 0].copy()
        before = learn(bank, ids, phi, phi[:, 0] @ theta + R * rng.normal(size=runs))
        bound = L * S + L * (R * np.sqrt(logdet + 2.0 * math.log(1.0 / DELTA)) + S)
        violated |= np.abs(before[0, :, 0]) > bound
    assert within_level(violated)
