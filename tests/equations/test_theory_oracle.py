"""SqAlg, the step from its regret to its error, and inverse gap weighting."""

import math

import numpy as np
import pytest
from other_forms import inverse_gap_bound
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import binom

from banditselect.theory import feature_selection, oracle, parameter_selection

# --- the regret of SqAlg --------------------------------------------------------------------------


def substitution(log_w: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Predict in [0, 1] from normalised log-weights and predictions, models on the last axis."""
    d0 = -0.5 * logsumexp(log_w - 2 * h**2, axis=-1)
    d1 = -0.5 * logsumexp(log_w - 2 * (1 - h) ** 2, axis=-1)
    return 0.5 + (d0 - d1) / 2


def sqalg_regret(y_of, h_of, rounds: int, shape: tuple[int, ...]) -> np.ndarray:
    """Realised regret of the aggregation at the rate 2 on [0, 1] against the best of the last axis."""
    losses, own = np.zeros(shape), np.zeros(shape[:-1])
    for s in range(rounds):
        h = h_of(s)
        log_w = -2 * losses
        prediction = substitution(log_w - logsumexp(log_w, axis=-1, keepdims=True), h)
        y = y_of(s, prediction)
        own = own + (prediction - y) ** 2
        losses = losses + (h - y[..., None]) ** 2
    return own - losses.min(axis=-1)


@pytest.mark.parametrize("n_models", [2, 5, 20])
@pytest.mark.parametrize("adversary", ["farthest", "random", "inside"])
def test_eq_regression_oracle_holds_on_adversarial_data(n_models, adversary):
    rng = np.random.default_rng(7)
    runs = 200
    level = rng.uniform(size=(runs, n_models))
    y_of = {
        "farthest": lambda s, prediction: (prediction < 0.5).astype(float),
        "random": lambda s, prediction: rng.integers(0, 2, size=runs).astype(float),
        "inside": lambda s, prediction: np.clip(level[:, 0] + rng.normal(scale=0.1, size=runs), 0, 1),
    }[adversary]
    regret = sqalg_regret(
        y_of, lambda s: np.clip(level + rng.normal(scale=0.2, size=level.shape), 0, 1), 60, (runs, n_models)
    )
    assert regret.max() <= oracle.sqalg_regret(width=1, n_models=n_models) + 1e-12


def test_eq_regression_oracle_constant_is_nearly_tight():
    experts = np.array([[0.48, 0.52]])
    regret = sqalg_regret(lambda s, prediction: np.ones(1), lambda s: experts, 150, (1, 2))[0]
    bound = oracle.sqalg_regret(width=1, n_models=2)
    assert 0.98 * bound < regret <= bound


@pytest.mark.parametrize(("form", "factor"), [("corrected", 0.5), ("printed", 1.0), ("proposition", 2.0)])
def test_eq_appx_eq_regression_oracle1_and_app_prop_husslerreulst_constants(form, factor):
    assert oracle.sqalg_regret(width=2, n_models=10, form=form) == pytest.approx(factor * 4 * math.log(10))


def test_eq_app_prop_husslerreulst_is_the_constant_of_the_weighted_mean():
    """At rate 2 the mean is not admissible, at rate 1/2 it is: 2 log M on [0, 1]."""
    v, h = np.array([0.9, 0.1]), np.array([0.0, 1.0])
    d0 = -0.5 * math.log(v @ np.exp(-2 * h**2))
    d1 = -0.5 * math.log(v @ np.exp(-2 * (1 - h) ** 2))
    mean, rule = v @ h, substitution(np.log(v), h)
    assert (1 - mean) ** 2 > d1
    assert rule**2 <= d0
    assert (1 - rule) ** 2 <= d1


def test_eq_update_weight_exprtt_substitution_is_always_admissible():
    rng = np.random.default_rng(8)
    log_w = rng.normal(scale=4, size=(20_000, 4))
    log_w -= logsumexp(log_w, axis=-1, keepdims=True)
    h = rng.uniform(size=log_w.shape) ** rng.uniform(0.2, 5, size=(20_000, 1))
    rule = substitution(log_w, h)
    assert np.all(rule**2 <= -0.5 * logsumexp(log_w - 2 * h**2, axis=-1) + 1e-12)
    assert np.all((1 - rule) ** 2 <= -0.5 * logsumexp(log_w - 2 * (1 - h) ** 2, axis=-1) + 1e-12)


# --- from regret to error -------------------------------------------------------------------------


def test_eq_boundthelognfomrofradiusellipsoid_self_bound():
    """The largest u with u^2 = v + 2 R u sqrt(2 log(u / delta)), by iteration from above."""
    for delta in (0.25, 0.05, 1e-3):
        for v in (1, 10, 1000):
            for R in (0.01, 0.5, 20):
                bound = oracle.self_bound(v=v, noise=R, delta=delta)
                assert bound == pytest.approx(
                    2 * v + 32 * R**2 * math.log((R * math.sqrt(8) + math.sqrt(v)) / delta), rel=1e-13
                )
                u = 2 * math.sqrt(bound)
                for _ in range(500):
                    u = math.sqrt(v + 2 * R * u * math.sqrt(2 * math.log(u / delta)))
                assert u**2 <= bound


def test_eq_FS_scb_proof_machinary_printed_oracle_error_by_hand():
    R, X, sq, delta = 0.5, 3.0, 7.0, 0.1
    v = 1 + sq + X + 2 * R * math.sqrt(2 * (1 + X) * math.log(math.sqrt(1 + X) / delta))
    D = 1 + 2 * sq + 2 * X + 4 * R * math.sqrt(2 * (1 + X) * math.log(math.sqrt(1 + X) / delta))
    D += 32 * R**2 * math.log((R * math.sqrt(8) + math.sqrt(v)) / delta)
    assert oracle.printed_oracle_error(sq_regret=sq, expert_error=X, noise=R, delta=delta) == pytest.approx(D)


SMALL = {"dim": 2, "noise": 0.5, "feature_bound": 2, "reward_bound": 1, "regularization": 3, "radius": 2, "delta": 0.3}


def test_eq_openingthe_fs_forbounds_d_t_oracle_error_by_hand():
    width = 2 * (1 + 0.5 * math.sqrt(2 * math.log(2 * 5 / 0.1)))
    A = width**2 / 2 * math.log(3)
    A += (1 + 4 / 3) * (3 * 4 + 0.25 * 2 * math.log(1 + 5 * 4 / (3 * 2)) + 0.5 * math.log(10))
    b = 0.5 * math.log(10)
    assert oracle.oracle_error(t=5, n_models=3, **SMALL) == pytest.approx(2 * A + 4 * b)
    assert oracle.oracle_error(t=5, n_models=3, kappa=0.2, **SMALL) == pytest.approx((A + 5 * b) / 0.8)
    best = oracle.oracle_error(t=5, n_models=3, kappa="best", **SMALL)
    assert best == pytest.approx((math.sqrt(b) + math.sqrt(A + b)) ** 2)
    grid = [oracle.oracle_error(t=5, n_models=3, kappa=k, **SMALL) for k in np.linspace(0.01, 0.99, 99)]
    assert best <= min(grid) <= 1.01 * best


def test_oracle_error_best_kappa_is_fixed_for_the_horizon():
    t = np.array([1, 10, 50, 100])
    best = oracle.oracle_error(t=t, n_models=3, kappa="best", horizon=100, **SMALL)
    width = 2 * (1 + 0.5 * math.sqrt(2 * math.log(2 * 100 / 0.1)))

    def A(s):
        ridge = (1 + 4 / 3) * (3 * 4 + 0.25 * 2 * math.log(1 + s * 4 / (3 * 2)) + 0.5 * math.log(10))
        return width**2 / 2 * math.log(3) + ridge

    b = 0.5 * math.log(10)
    kappa = (math.sqrt(b**2 + A(100) * b) - b) / A(100)
    assert best == pytest.approx([(A(s) + b / kappa) / (1 - kappa) for s in t])
    assert oracle.oracle_error(t=5, n_models=3, kappa="best", **{**SMALL, "noise": 0}) == pytest.approx(
        2**2 / 2 * math.log(3) + (1 + 4 / 3) * 12
    )
    with pytest.raises(ValueError, match="kappa='best' needs a horizon"):
        oracle.oracle_error(t=5, n_models=3, kappa="best", horizon="anytime", **SMALL)


def test_eq_pred_error_sqalg_FS_SquareCB_error_of_the_oracle_is_covered():
    """SqAlg over clipped ridge experts on three maps, the first one true."""
    rng = np.random.default_rng(9)
    runs, rounds, M, d, R, G, delta = 150, 80, 3, 2, 0.3, 1.0, 0.05
    theta = rng.normal(size=(runs, d))
    theta /= np.linalg.norm(theta, axis=-1, keepdims=True)
    model = {"dim": d, "n_models": M, "noise": R, "feature_bound": 1, "reward_bound": G, "delta": delta}
    half = oracle.clipping_width(t=rounds, noise=R, reward_bound=G, delta=delta / 3) / 2
    V, b = np.tile(np.eye(d), (runs, M, 1, 1)), np.zeros((runs, M, d))
    losses, squares = np.zeros((runs, M)), np.zeros((runs, M))
    error, own_loss, missed, missed_data = np.zeros(runs), np.zeros(runs), np.zeros(runs, bool), np.zeros(runs, bool)
    fixed = {"parameter_bound": 1, "regularization": 1, "horizon": rounds}
    D = feature_selection.D(t=np.arange(1, rounds + 1), **fixed, **model)
    for s in range(rounds):
        phi = rng.normal(size=(runs, M, d))
        phi /= np.linalg.norm(phi, axis=-1, keepdims=True)
        f = np.clip(np.einsum("nmd,nmd->nm", phi, np.linalg.solve(V, b[..., None])[..., 0]), -half, half)
        log_w = -2 * losses / (2 * half) ** 2
        prediction = substitution(log_w - logsumexp(log_w, axis=-1, keepdims=True), (f + half) / (2 * half))
        prediction = -half + 2 * half * prediction
        mu = np.einsum("nd,nd->n", phi[:, 0], theta)
        y = mu + R * rng.normal(size=runs)
        losses += (f - y[:, None]) ** 2
        error += (prediction - mu) ** 2
        own_loss += (prediction - y) ** 2
        V += phi[..., :, None] * phi[..., None, :]
        b += phi * y[:, None, None]
        squares += y[:, None] ** 2
        J = squares - np.einsum("nmd,nmd->nm", b, np.linalg.solve(V, b[..., None])[..., 0])
        radius = {"radius": 1.0, "regularization": 1.0}
        data = parameter_selection.gamma_data(prediction_loss=own_loss, ridge_loss=J, noise=R, delta=delta, **radius)
        missed |= error > D[s]
        missed_data |= error > data
    limit = binom.ppf(1 - 1e-4, runs, delta)
    assert missed.sum() <= limit
    assert missed_data.sum() <= limit


# --- inverse gap weighting ------------------------------------------------------------------------


def inverse_gap(prediction: np.ndarray, alpha: float) -> np.ndarray:
    p = 1 / (prediction.size + alpha * (prediction.max() - prediction))
    best = prediction.argmax()
    p[best] = 0
    p[best] = 1 - p.sum()
    return p


def largest_value(prediction: np.ndarray, alpha: float, star: int) -> float:
    """Maximise over the mean rewards f, numerically, the value that the lemma bounds."""
    p = inverse_gap(prediction, alpha)

    def value(f):
        return -(p @ (f[star] - f - alpha / 4 * (prediction - f) ** 2))

    return -minimize(value, prediction.copy(), method="BFGS", options={"gtol": 1e-9}).fun


def test_eq_lemma3offosterrakhlin_by_numeric_maximisation():
    rng = np.random.default_rng(10)
    for _ in range(10):
        K, alpha = int(rng.integers(2, 6)), rng.uniform(0.5, 10)
        prediction = rng.normal(size=K)
        bound = inverse_gap_bound(n_actions=K, learning_rate=alpha)
        assert bound == pytest.approx(2 * (K - 1) / alpha)
        assert bound < inverse_gap_bound(n_actions=K, learning_rate=alpha, form="printed") == 2 * K / alpha
        assert max(largest_value(prediction, alpha, star) for star in range(K)) <= bound + 1e-6


def test_eq_lemma3offosterrakhlin_is_attained_as_the_gaps_grow():
    K, alpha = 4, 2.0
    prediction = np.array([0.0, -1e6, -1e6, -1e6])
    p = inverse_gap(prediction, alpha)
    z = np.full(K, 2 / alpha)  # the maximiser z = yhat - f; at the best action 2 (1 - 1 / p) / alpha
    z[1] = 2 / alpha * (1 - 1 / p[1])
    f = prediction - z
    value = p @ (f[1] - f - alpha / 4 * z**2)
    assert value == pytest.approx(inverse_gap_bound(n_actions=K, learning_rate=alpha), rel=1e-5)


def test_eq_dist_over_actions_printed_sign_is_no_distribution():
    """With the gap as printed the weight of a bad action is negative or infinite."""
    prediction, alpha = np.array([1.0, 0.0]), 3.0
    assert 1 / (2 + alpha * (prediction[1] - prediction[0])) < 0
    assert np.all(inverse_gap(prediction, alpha) > 0)


# --- realised to expected -------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.01, 0.1, 0.9])
def test_eq_usinglemma2ofraklinformodify_expected_total_is_covered(p):
    runs, rounds, B, delta = 1000, 300, 4.0, 0.05
    rng = np.random.default_rng(11)
    X = B * (rng.uniform(size=(runs, rounds)) < p)
    expected = B * p * np.arange(1, rounds + 1)
    bound = oracle.expected_total(realized=np.cumsum(X, axis=1), upper=B, delta=delta)
    assert (expected > bound).any(axis=1).sum() <= binom.ppf(1 - 1e-4, runs, delta)


def test_eq_boundingtheregretowothitscointertpat_expected_total_by_hand():
    assert oracle.expected_total(realized=3, upper=2, delta=0.1) == pytest.approx(
        math.e / (math.e - 1) * (3 + 2 * math.log(10))
    )
    assert oracle.expected_total(realized=98.5810536, upper=4, delta=0.01) == pytest.approx(185.094018, rel=1e-8)


def test_arguments_are_not_changed():
    delta, bounds = np.array(0.05), {"feature_bound": 1, "reward_bound": 1, "radius": 1}
    oracle.oracle_error(t=1000, n_models=5, dim=10, noise=0.5, regularization=1, delta=delta, **bounds)
    assert delta == 0.05
