"""Ridge regressions on several maps, solved afresh, and what is played on their predictions: equations by hand."""

import numpy as np

DIMS = (4, 2, 5)
LAM = np.array([0.5, 1.0, 2.0])
LO, HI = -1.0, 3.0
DELTA = 0.05


class Ridge:
    """A ridge regression about a centre, solved from scratch; without a precision it is a known parameter."""

    def __init__(self, center, precision):
        self.center, self.precision = np.asarray(center, dtype=float), precision
        self.x, self.y, self.online = np.empty((0, self.center.size)), np.empty(0), 0.0

    def add(self, x, y):
        self.online += (y - self.theta @ x) ** 2
        self.x, self.y = np.vstack([self.x, x]), np.append(self.y, y)

    @property
    def V(self):
        return self.precision + self.x.T @ self.x

    @property
    def theta(self):
        if self.precision is None:
            return self.center
        return self.center + np.linalg.solve(self.V, self.x.T @ (self.y - self.x @ self.center))

    @property
    def J(self):
        """The least penalised sum of squares, as the minimum that it is."""
        away = self.theta - self.center
        penalty = 0.0 if self.precision is None else away @ self.precision @ away
        return np.sum((self.y - self.x @ self.theta) ** 2) + penalty

    @property
    def logdet(self):
        known = self.precision is None
        return 0.0 if known else np.linalg.slogdet(self.V)[1] - np.linalg.slogdet(self.precision)[1]

    def widths(self, x):
        return (
            np.zeros(len(x)) if self.precision is None else np.sqrt(np.sum(x * np.linalg.solve(self.V, x.T).T, axis=1))
        )

    def distance(self, theta):
        gap = theta - self.theta
        if self.precision is None:
            return np.inf if gap.any() else 0.0
        return gap @ self.V @ gap


class Experts:
    """Ridge regressions side by side, by default on maps of different width."""

    def __init__(self, ridges=None):
        pairs = zip(DIMS, LAM, strict=True)
        self.ridges = [Ridge(np.zeros(d), lam * np.eye(d)) for d, lam in pairs] if ridges is None else ridges

    def add(self, played, y):
        for ridge, x in zip(self.ridges, played, strict=True):
            ridge.add(x, y)

    def __getattr__(self, name):
        """Return the answers of all: numbers as an array, arrays as a list."""
        found = [getattr(ridge, name) for ridge in self.ridges]
        return found if np.ndim(found[0]) else np.array(found)

    def predict(self, maps):
        """(M, K)"""
        return np.array([m @ theta for m, theta in zip(maps, self.theta, strict=True)])

    def widths(self, maps):
        return np.array([ridge.widths(m) for m, ridge in zip(maps, self.ridges, strict=True)])


def gap_weights(score, alpha):
    """eq:dist-over-actions; predictions clipped to the same end of the range tie, and share."""
    best = score >= score.max() - 1e-13
    p = np.where(best, 0.0, 1.0 / (len(score) + alpha * (score.max() - score)))
    return np.where(best, (1.0 - p.sum()) / best.sum(), p)


def softmax(a):
    w = np.exp(a - a.max())
    return w / w.sum()


def substitution(f, w, lower, length):
    """Vovk's substitution for predictions f (M, K)."""
    h = np.clip((f - lower) / length, 0.0, 1.0)
    at = [-0.5 * np.log(w @ np.exp(-2.0 * (y - h) ** 2)) for y in (0.0, 1.0)]
    return lower + length * (0.5 + 0.5 * (at[0] - at[1]))


def maps_of(rng, k, dims=DIMS, scale=1.0):
    return [scale * rng.normal(size=(k, d)) for d in dims]


def played(maps, action):
    return [m[action] for m in maps]
