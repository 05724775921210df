"""Mixtures of regions: weights and noise against a batch solve."""

import math

import numpy as np
import pytest

from banditselect import PSIDS
from banditselect.models.region_mixture import LEVELS
from mixtures_by_hand import regression


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
            _, _, J, logdet = regression(X / unit, y / unit, lam * np.eye(3), centers[i])
            noise[j, i] = s2 = (v + J / 2) / (1.0 + len(y) / 2)
            log_w[j, i] = math.log(v) - logdet / 2 - (1.0 + len(y) / 2) * math.log(v + J / 2)
            half, tau = 0.5 * math.log(10.0), 1.0 / math.sqrt(1.0 + len(y) / 2)
            low = -math.inf if j == 0 else -half
            high = math.inf if j == len(LEVELS) - 1 else half
            cdf = [0.5 * math.erfc((math.log(s2 / v) - e) / tau / math.sqrt(2)) for e in (low, high)]
            log_w[j, i] += math.log(cdf[1] - cdf[0]) + math.log([0.5, 0.25, 0.25][i])
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    assert policy.model_weights == pytest.approx(w.sum(axis=0), rel=1e-7)
    assert policy.noise_estimate == pytest.approx(unit * math.sqrt((w * noise).sum()), rel=1e-7)


def test_a_gaussian_mixture_is_the_prior():
    means, covariances = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.1, 0.4], [0.2, 0.2]])
    policy = PSIDS.from_mixture(means, covariances, [3.0, 1.0], covariance_type="diag", noise=0.5)
    assert policy.model_weights == pytest.approx([0.75, 0.25])
    policy.learn([1.0, 0.0], 1.5)
    predictive = [math.exp(-((1.5 - m) ** 2) / (2 * (v + 0.25))) / math.sqrt(v + 0.25) for m, v in ((1, 0.1), (0, 0.2))]
    odds = 3.0 * predictive[0] / predictive[1]
    assert policy.model_weights[0] / policy.model_weights[1] == pytest.approx(odds, rel=0.02)  # lambda: a power of two
