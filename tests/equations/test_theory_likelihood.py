"""Likelihood-ratio sets: their squared radius and the split of misspecification."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_forms import misspecification_split
from scipy.stats import binom

from banditselect.theory import likelihood


def test_squared_radius_by_hand():
    by_hand = 0.25 * 2 * math.log(1 + 6 * 4 / (3 * 2)) + 0.5 * math.log(4 / 0.1) + 3 * 9
    model = {"dim": 2, "noise": 0.5, "feature_bound": 2, "regularization": 3, "radius": 3, "delta": 0.1}
    assert likelihood.squared_radius(t=6, n_models=4, **model) == pytest.approx(by_hand, rel=1e-14)


def test_squared_radius_is_covered():
    """The parameter lies on the edge of its ball and must stay in the set at every round."""
    rng = np.random.default_rng(13)
    runs, rounds, d, R, lam, r, delta = 300, 80, 2, 0.5, 1.0, 0.7, 0.05
    theta = rng.normal(size=(runs, d))
    theta *= r / np.linalg.norm(theta, axis=1, keepdims=True)
    model = {"dim": d, "noise": R, "feature_bound": 1, "regularization": lam, "radius": r, "delta": delta}
    rho_2 = likelihood.squared_radius(t=np.arange(1, rounds + 1), n_models=1, **model)
    V, b, missed = np.tile(lam * np.eye(d), (runs, 1, 1)), np.zeros((runs, d)), np.zeros(runs, dtype=bool)
    for s in range(rounds):
        phi = rng.normal(size=(runs, d))
        phi /= np.linalg.norm(phi, axis=1, keepdims=True)
        y = np.einsum("nd,nd->n", phi, theta) + R * rng.normal(size=runs)
        V += phi[:, :, None] * phi[:, None, :]
        b += phi * y[:, None]
        gap = theta - np.linalg.solve(V, b[..., None])[..., 0]
        missed |= np.einsum("nd,nde,ne->n", gap, V, gap) > rho_2[s]
    assert missed.sum() <= binom.ppf(1 - 1e-4, runs, delta)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    t=st.integers(0, 10_000),
    dim=st.integers(1, 50),
    noise=st.floats(0.01, 10),
    lam=st.floats(0.01, 100),
    radius=st.floats(0, 10),
    delta=st.floats(1e-6, 0.9),
)
def test_squared_radius_lies_between_half_and_all_of_the_classical_one(t, dim, noise, lam, radius, delta):
    model = {"t": t, "dim": dim, "noise": noise, "regularization": lam, "radius": radius, "delta": delta}
    ours = likelihood.squared_radius(feature_bound=1, **model)
    classical = likelihood.squared_radius(feature_bound=1, **model, form="printed")
    assert classical / 2 * (1 - 1e-12) <= ours <= classical * (1 + 1e-12)


def test_misspecification_split_numbers():
    kappa, rho_2 = misspecification_split(t=1000, noise=0.5, complexity=60, misspecification=0.1)
    assert kappa == pytest.approx(0.550510257, rel=1e-8)
    assert rho_2 == pytest.approx(49.4948974, rel=1e-8)
    grid = np.linspace(0.001, 0.999, 999)
    radius = 0.25 * 60 / grid + 1000 * 0.01 / (1 - grid)
    assert rho_2 <= radius.min() <= rho_2 * (1 + 1e-4)
    assert 0.25 * 60 / kappa + 1000 * 0.01 / (1 - kappa) == pytest.approx(rho_2, rel=1e-13)
    assert misspecification_split(t=10, noise=0.5, complexity=4, misspecification=0) == (1.0, 1.0)
    assert misspecification_split(t=10, noise=0, complexity=4, misspecification=0.1) == pytest.approx((0.0, 0.1))
