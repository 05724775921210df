"""Extreme deconvolution: the steps of EM against numbers by hand and by brute force."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect import regions
from banditselect.regions import mixture as em
from banditselect.regions.fits import Fits
from banditselect.regions.mixture import Mixture, explain_fits


def random_fits(seed, n=12, d=2):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n, d, d))
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(d)
    return 2.0 * rng.normal(size=(n, d)), covariances


def random_mixture(seed, M, d):
    rng = np.random.default_rng(seed + 1000)
    roots = rng.normal(size=(M, d, d))
    weights = rng.uniform(0.1, 1.0, M)
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(d)
    return Mixture(rng.normal(size=(M, d)), covariances, weights / weights.sum(), 0.5)


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 1.0, 6.0]))
@settings(max_examples=40, deadline=None)
def test_every_step_increases_what_it_should(seed, M, shrinkage):
    fits = Fits.of_covariances(*random_fits(seed))
    mixture, values = random_mixture(seed, M, 2), []
    for _ in range(8):
        mixture, value = em.step(fits, mixture, shrinkage)
        values.append(value)
    assert (np.diff(values) >= -1e-8 * np.abs(values[0])).all()


def test_without_a_pull_it_is_the_likelihood_that_increases():
    estimates, covariances = random_fits(3)
    mixture = random_mixture(3, 2, 2)
    value = em.step(Fits.of_covariances(estimates, covariances), mixture, 0.0)[1]
    total = 0.0
    for e, c in zip(estimates, covariances, strict=True):
        density = 0.0
        for m, V, w in zip(mixture.means, mixture.covariances, mixture.weights, strict=True):
            T = V + c
            density += w * np.exp(-0.5 * (e - m) @ np.linalg.solve(T, e - m)) / np.sqrt(np.linalg.det(2 * np.pi * T))
        total += np.log(density)
    np.testing.assert_allclose(value, total)


def test_one_region_with_equal_errors_has_the_closed_form():
    """Its mean is that of the estimates, its covariance theirs less that of the errors."""
    rng = np.random.default_rng(0)
    estimates = rng.normal(size=(50, 2)) @ np.array([[2.0, 0.5], [0.0, 1.5]]) + [1.0, -3.0]
    noise = np.array([[0.5, 0.1], [0.1, 0.3]])
    found = regions.from_fits(estimates, np.tile(noise, (50, 1, 1)), n_regions=1, shrinkage=0.0)
    np.testing.assert_allclose(found.means[0], estimates.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(found.covariances[0], np.cov(estimates.T, bias=True) - noise, atol=0.02)
    exact = Mixture(estimates.mean(axis=0)[None], (np.cov(estimates.T, bias=True) - noise)[None], np.ones(1), 1.0)
    after, _ = em.step(found.fits, exact, 0.0)
    np.testing.assert_allclose(after.means, exact.means, atol=1e-12)
    np.testing.assert_allclose(after.covariances, exact.covariances, atol=1e-12)
    # the error of the mean is that of an average of 50 draws with this covariance
    np.testing.assert_allclose(
        em.center_covariances(found.fits, exact)[0], np.cov(estimates.T, bias=True) / 50, rtol=1e-8
    )


def test_without_noise_a_step_is_that_of_an_ordinary_mixture():
    """Points 0, 1, 4 and components N(0, 1), N(4, 1) of weight 1/2: responsibilities by hand."""
    points = np.array([[0.0], [1.0], [4.0]])
    fits = Fits.of_covariances(points, np.full((3, 1, 1), 1e-13))
    start = Mixture(np.array([[0.0], [4.0]]), np.ones((2, 1, 1)), np.array([0.5, 0.5]), 1.0)
    after, _ = em.step(fits, start, 0.0)
    # exp(-x^2/2) against exp(-(x-4)^2/2): odds exp(8 - 4 x)
    q = 1.0 / (1.0 + np.exp(-(8.0 - 4.0 * points[:, 0])))
    both = np.stack([q, 1.0 - q])
    means = both @ points[:, 0] / both.sum(axis=1)
    variances = (both * (points[:, 0] - means[:, None]) ** 2).sum(axis=1) / both.sum(axis=1)
    np.testing.assert_allclose(after.weights, both.sum(axis=1) / 3, rtol=1e-9)
    np.testing.assert_allclose(after.means[:, 0], means, rtol=1e-9)
    np.testing.assert_allclose(after.covariances[:, 0, 0], variances, rtol=1e-6)


def test_tasks_may_be_taken_some_at_a_time(monkeypatch):
    fits, mixture = Fits.of_covariances(*random_fits(5)), random_mixture(5, 3, 2)
    whole = (
        em.assigned(fits, mixture.means, mixture.covariances, mixture.weights)[0],
        em.center_covariances(fits, mixture),
    )
    monkeypatch.setattr(em, "ROOM", 60)
    np.testing.assert_array_equal(em.assigned(fits, mixture.means, mixture.covariances, mixture.weights)[0], whole[0])
    np.testing.assert_allclose(em.center_covariances(fits, mixture), whole[1], rtol=1e-9)


def test_the_kernel_by_an_inverse():
    estimates, covariances = random_fits(7, n=4, d=3)
    mixture = random_mixture(7, 2, 3)
    fits = Fits.of_covariances(estimates, covariances)
    out = np.empty((4, 2)), np.empty((4, 2, 3)), np.empty((4, 2, 3, 3))
    explain_fits(fits.estimates, fits.roots, fits.log_norms, mixture.means, mixture.covariances, *out)
    for n in range(4):
        for k in range(2):
            precision = np.linalg.inv(mixture.covariances[k] + covariances[n])
            apart = estimates[n] - mixture.means[k]
            np.testing.assert_allclose(out[2][n, k], precision, rtol=1e-9)
            np.testing.assert_allclose(out[1][n, k], precision @ apart, rtol=1e-9)
            density = 0.5 * np.linalg.slogdet(precision / (2 * np.pi))[1] - 0.5 * apart @ precision @ apart
            np.testing.assert_allclose(out[0][n, k], density, rtol=1e-9)
