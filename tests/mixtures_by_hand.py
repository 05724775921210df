"""Mixtures of maps and regions solved from all data at once, as their equations say."""

import math

import numpy as np

from banditselect.kernels.features import NO_BLOCK, Features, played
from banditselect.models.map_mixture import KNOWN_NOISE_SCALES, SCALES, MapMixture
from banditselect.models.mixture import FLAT
from banditselect.runtime.shapes import maps_of

LANE = np.zeros(1, dtype=np.int64)


def regression(X, y, precision, center):
    """Return theta, V, J and log det(V precision^-1) of a ridge regression by batch."""
    V = precision + X.T @ X
    theta = np.linalg.solve(V, precision @ center + X.T @ y)
    J = ((y - X @ theta) ** 2).sum() + (theta - center) @ precision @ (theta - center)
    return theta, V, J, np.linalg.slogdet(V)[1] - np.linalg.slogdet(precision)[1]


class Maps:
    """Maps at every prior scale, with a noise that is known or not, solved from all data at once."""

    def __init__(self, dims, prior, noise=None, constant=True, scales=None):
        self.dims, self.prior, self.noise, self.constant = dims, np.asarray(prior), noise, constant
        self.scales = scales or (SCALES if noise is None else KNOWN_NOISE_SCALES)
        self.x, self.y = [], []

    def add(self, x, y):
        """Add a reward, and a row of features for every map."""
        self.x.append(x)
        self.y.append(y)

    def of(self, i, x, sizes=None):
        """Features of map i, in units of the first that was learned or of these sizes, behind a 1."""
        unit = np.linalg.norm(self.x[0][i]) if self.x else math.sqrt((x**2).sum() / len(x))
        x = x / (unit if sizes is None else math.sqrt(sizes[i]))
        return np.column_stack([np.ones(len(x)), x]) if self.constant else x

    def members(self, sizes=None):
        """Return (map, log weight, noise variance, estimate, V, logdet) of every member."""
        t, y = len(self.y), np.array(self.y)
        if self.constant and t:
            y = y - y[0]
        spread = ((y - y.mean() * self.constant) ** 2).sum() / max(t - self.constant, 1) if t else 0.0
        models = []
        for scale in self.scales:
            for i, d in enumerate(self.dims):
                precision = np.full(d + self.constant, 1.0 / scale)
                if self.constant:
                    precision[0] = FLAT
                X = self.of(i, np.array([row[i] for row in self.x]), sizes) if t else np.empty((0, precision.size))
                theta, V, J, logdet = regression(X, y, np.diag(precision), np.zeros(precision.size))
                log_weight, variance = math.log(self.prior[i]) - 0.5 * logdet, 1.0
                if self.noise is not None:
                    variance = self.noise**2
                    log_weight -= 0.5 * J / variance
                elif spread > 0.0:
                    variance = (spread + 0.5 * J) / (1.0 + 0.5 * t)
                    log_weight -= (1.0 + 0.5 * t) * math.log(spread + 0.5 * J)
                models.append((i, log_weight, variance, theta, V, logdet))
        return models

    def solve(self):
        """Return the members that count, with weights of sum 1 in the place of their logarithms."""
        models = self.members()
        weight = np.exp([model[1] - max(m[1] for m in models) for model in models])
        kept = weight * weight.size >= 1e-3 * weight.sum()
        weight = weight * kept / weight[kept].sum()
        return [(m[0], w, *m[2:]) for m, w in zip(models, weight, strict=True) if w > 0.0]


def mixture_of(dims, prior=None, noise=None, constant=True):
    """Return a mixture of maps with one lane that has learned nothing."""
    prior = np.full(len(dims), 1.0 / len(dims)) if prior is None else np.asarray(prior)
    return MapMixture(maps_of(dims, many=True), 1, intercept=constant, noise=noise, prior=prior)


def padded(rows, width):
    """Return features of every map, ``(K, d_i)`` or ``(d_i,)`` each, as one array ``(1, P, ..., width)``."""
    rows = [np.asarray(row, dtype=float) for row in rows]
    return np.stack([np.pad(row, [(0, 0)] * (row.ndim - 1) + [(0, width - row.shape[-1])]) for row in rows])[None]


def teach(model, row, reward, width):
    """Let a model with one lane learn the features of the action played, ``(d_i,)`` in every map, and its reward."""
    model.learn(LANE, played(padded(row, width)), np.array([float(reward)]))


def offered(rows, width):
    """Return the features of all actions as models and plays read them, ``(K, d_i)`` in every map."""
    return Features(padded(rows, width), NO_BLOCK)
