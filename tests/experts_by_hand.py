"""Ridge regressions on several maps, solved afresh, and what is played on their predictions: equations by hand."""

import numpy as np

DIMS = (4, 2, 5)
LAM = np.array([0.5, 1.0, 2.0])
LO, HI = -1.0, 3.0
DELTA = 0.05


class Experts:
    """Ridge regressions on maps of different width, solved from scratch, and their online losses."""

    def __init__(self, dims=DIMS, lam=LAM):
        self.lam = lam
        self.x = [np.empty((0, d)) for d in dims]
        self.y = np.empty(0)
        self.online = np.zeros(len(dims))

    def add(self, played, y):
        self.online += (y - self.predict([p[None] for p in played])[:, 0]) ** 2
        self.x = [np.vstack([x, p]) for x, p in zip(self.x, played, strict=True)]
        self.y = np.append(self.y, y)

    @property
    def V(self):
        return [lam * np.eye(x.shape[1]) + x.T @ x for lam, x in zip(self.lam, self.x, strict=True)]

    @property
    def theta(self):
        return [np.linalg.solve(V, x.T @ self.y) for V, x in zip(self.V, self.x, strict=True)]

    @property
    def J(self):
        return np.array([self.y @ self.y - th @ V @ th for th, V in zip(self.theta, self.V, strict=True)])

    @property
    def logdet(self):
        return np.array([np.linalg.slogdet(V / lam)[1] for V, lam in zip(self.V, self.lam, strict=True)])

    def predict(self, maps):
        """(M, K)"""
        return np.array([m @ th for m, th in zip(maps, self.theta, strict=True)])

    def widths(self, maps):
        return np.array(
            [np.sqrt(np.sum(m * np.linalg.solve(V, m.T).T, axis=1)) for m, V in zip(maps, self.V, strict=True)]
        )


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
