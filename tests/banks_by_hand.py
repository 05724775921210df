"""Banks of ridge regressions, and what they are to be: all data at once."""

import math

import numpy as np
import pytest

from banditselect.kernels.features import NO_BLOCK, Features, played
from banditselect.models.ridge_bank import RidgeBank
from banditselect.models.shared_ridge_bank import SharedRidgeBank
from banditselect.runtime.shapes import maps_of


def ridges(dims, lam, center=None):
    return RidgeBank.of(maps_of(dims, many=True), len(lam), lam, center=center)


def shared_ridges(center, precision, group):
    return SharedRidgeBank(maps_of(center.shape[2]), center, precision, group)


def learn(bank, ids, x, y):
    return bank.step(ids, played(x), y)


def actions(x):
    return Features(x, NO_BLOCK)


def V_inv_of(bank, lane, model):
    root = bank.root[lane, bank.group[lane, model]]
    return root @ root.T


def width(bank, lane, model, x):
    """Return |x|_{V^-1} of one model from the root that it keeps."""
    return math.sqrt(x @ V_inv_of(bank, lane, model)[: x.size, : x.size] @ x)


def solve(X, y, prior, center):
    """Return theta, V, logdet, J of one ridge regression, from all data at once."""
    V = prior + X.T @ X
    theta = center + np.linalg.solve(V, X.T @ (y - X @ center))
    J = np.sum((y - X @ theta) ** 2) + (theta - center) @ prior @ (theta - center)
    return theta, V, np.linalg.slogdet(V)[1] - np.linalg.slogdet(prior)[1], J


def prefix_predictions(X, y, prior, center):
    """Return the prediction of every reward from the data before it."""
    outer = np.cumsum(X[:, :, None] * X[:, None, :], axis=0) - X[:, :, None] * X[:, None, :]
    residual = y - X @ center
    moment = np.cumsum(X * residual[:, None], axis=0) - X * residual[:, None]
    theta = center + np.linalg.solve(prior + outer, moment[:, :, None])[:, :, 0]
    return np.sum(X * theta, axis=1)


def assert_equals_batch(bank, lane, model, X, y, prior, center, rel=1e-9):
    d = X.shape[1]
    theta, V, logdet, J = solve(X, y, prior, center)
    np.testing.assert_allclose(bank.theta[lane, model, :d], theta, rtol=rel, atol=rel)
    np.testing.assert_array_equal(bank.theta[lane, model, d:], 0.0)
    np.testing.assert_allclose(bank.precision_of(lane, model)[:d, :d], V, rtol=rel)
    V_inv = V_inv_of(bank, lane, model)[:d, :d]
    np.testing.assert_allclose(V_inv, np.linalg.inv(V), rtol=rel, atol=rel * np.abs(V_inv).max())
    assert bank.logdet[lane, model] == pytest.approx(logdet, rel=rel, abs=rel)
    assert bank.penalised[lane, model] == pytest.approx(J, rel=rel, abs=rel)
    online = np.sum((y - prefix_predictions(X, y, prior, center)) ** 2)
    assert bank.online[lane, model] == pytest.approx(online, rel=rel, abs=rel)
