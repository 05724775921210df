"""The posterior of regressions whose noise is known."""

import math

import numpy as np
import pytest

from banditselect.models.evidence import Posterior
from banks_by_hand import ridges

LANE = np.array([0])


def bank_of(evidence):
    """Return a bank whose sums (logdet, J, online loss) are these, (N, M, 3)."""
    N, M, _ = np.shape(evidence)
    bank = ridges([1] * M, np.ones((N, M)))
    bank.evidence[:] = np.swapaxes(evidence, 1, 2)
    return bank


def test_posterior_by_hand():
    bank = bank_of([[[0, 0, 0], [0, 0, 0]], [[1.0, 2.0, 4.0], [2.0, 1.0, 5.0]]])
    prior, R_sq = np.array([0.25, 0.75]), np.array([9.0, 0.5])
    lane = np.array([1])
    weights, mixture = Posterior(bank, variance=R_sq, prior=prior, online=False).weigh(LANE)
    np.testing.assert_allclose(weights[0], prior, rtol=1e-14)  # no reward yet
    assert mixture[0] == pytest.approx(0.0, abs=1e-14)
    weights, mixture = Posterior(bank, variance=R_sq, prior=prior, online=False).weigh(lane)
    terms = [0.25 * math.exp(-2.5), 0.75 * math.exp(-2.0)]  # J + R^2 logdet = 2.5, 2
    np.testing.assert_allclose(weights[0], np.array(terms) / sum(terms), rtol=1e-14)
    assert mixture[0] == pytest.approx(-math.log(sum(terms)), rel=1e-14)
    weights, mixture = Posterior(bank, variance=R_sq, prior=prior, online=True).weigh(lane)
    terms = [0.25 * math.exp(-4.0), 0.75 * math.exp(-5.0)]
    np.testing.assert_allclose(weights[0], np.array(terms) / sum(terms), rtol=1e-14)
    assert mixture[0] == pytest.approx(-math.log(sum(terms)), rel=1e-14)


def test_posterior_of_huge_losses():
    bank = bank_of([[[0.0, 1e9, 0.0], [0.0, 1e9 + 2.0, 0.0], [0.0, 3e9, 0.0]]])
    weights, mixture = Posterior(bank, variance=np.ones(1), prior=np.full(3, 1 / 3), online=False).weigh(LANE)
    np.testing.assert_allclose(weights[0], [1.0 / (1.0 + math.exp(-1.0)), 1.0 / (1.0 + math.e), 0.0], rtol=1e-6)
    assert mixture[0] == pytest.approx(1e9 - 2.0 * math.log((1.0 + math.exp(-1.0)) / 3.0), rel=1e-14)
