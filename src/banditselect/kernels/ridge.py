"""Ridge regressions by rank-one steps: predictions, learning, distances.

Per lane and model: ``theta`` the estimate; ``root`` a square root of the inverse of ``V = Lambda + sum x x'``, that is
``V^-1 = root root'``; ``evidence`` three running sums (see the indices below). A step follows Potter: the root is
multiplied by a symmetric square root of ``I - w w' / (1 + q)``, so that ``V^-1`` stays positive definite and accurate
whatever the scale or the rank of the features, and nothing has to be refactorised. A model with an infinite prior
precision is a known parameter: its root is zero, and every formula below then leaves ``theta`` alone by itself.

Reference: Bierman, "Factorization methods for discrete sequential estimation", 1977, chapter 2 (Potter's algorithm).
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .features import entry, sizes

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LOGDET = 0  #: log det(V Lambda^-1)
PENALISED = 1  #: J, the smallest value of sum (y - <x, theta>)^2 + |theta - centre|^2_Lambda
ONLINE = 2  #: sum of squared errors of the predictions made before each reward was seen


@kernel
def predict(ids: Index, x: Array, theta: Array, out: Array) -> None:
    """``out[r, i, a] = <x_i(a), theta_i>`` for ``x (n, P, K, d)``, ``theta (N, M, d)``."""
    P, K, d = sizes(x)
    for r in range(ids.size):
        n = ids[r]
        for i in range(theta.shape[1]):
            p = i if P > 1 else 0
            for a in range(K):
                total = 0.0
                for j in range(d):
                    total += entry(x, r, p, a, j) * theta[n, i, j]
                out[r, i, a] = total


@kernel
def mixtures(ids: Index, x: Array, theta: Array, weight: Array, out: Array) -> None:
    """``out[r, a] = sum_i weight_i <x_i(a), theta_i>`` for weights ``(n, M)``; models of weight 0 cost nothing."""
    P, K, d = sizes(x)
    for r in range(ids.size):
        n = ids[r]
        for a in range(K):
            out[r, a] = 0.0
        for i in range(theta.shape[1]):
            w = weight[r, i]
            if w > 0.0:
                p = i if P > 1 else 0
                for a in range(K):
                    total = 0.0
                    for j in range(d):
                        total += entry(x, r, p, a, j) * theta[n, i, j]
                    out[r, a] += w * total


@kernel
def _step(root: Array, x: Array, d: int, w: Array, gain: Array) -> float:
    """Let ``V`` grow by ``x x'``; ``gain = V^-1 x`` and the result ``q = x' V^-1 x`` are those of the old ``V``.

    With ``w = root' x`` and ``r = sqrt(1 + q)``, the new root is ``root (I - w w' / (r (r + 1)))``.
    """
    for k in range(d):
        w[k] = 0.0
    for j in range(d):
        for k in range(d):
            w[k] += root[j, k] * x[j]
    q = 0.0
    for k in range(d):
        q += w[k] * w[k]
    r = math.sqrt(1.0 + q)
    for j in range(d):
        total = 0.0
        for k in range(d):
            total += root[j, k] * w[k]
        gain[j] = total
        total /= r * (r + 1.0)
        for k in range(d):
            root[j, k] -= total * w[k]
    return q


@kernel
def learn(
    ids: Index,
    x: Array,
    y: Array,
    theta: Array,
    root: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    told: Array,
) -> None:
    """Learn ``x (n, M, d)``, ``y (n,)`` in a bank of M ridges.

    ``told (2, n, M)`` gets each one's prediction of ``y`` made before, and its leverage ``q = x' V^-1 x``.
    """
    w = np.empty(theta.shape[2])
    gain = np.empty(theta.shape[2])
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        for i in range(theta.shape[1]):
            d = dims[i]
            f = 0.0
            for j in range(d):
                f += x[r, i, j] * theta[n, i, j]
            q = _step(root[n, i], x[r, i], d, w, gain)
            error = y[r] - f
            told[0, r, i] = f
            told[1, r, i] = q
            evidence[n, i, LOGDET] += math.log1p(q)
            evidence[n, i, PENALISED] += error * error / (1.0 + q)
            evidence[n, i, ONLINE] += error * error
            step = error / (1.0 + q)
            for j in range(d):
                theta[n, i, j] += gain[j] * step


@kernel
def learn_shared(
    ids: Index,
    x: Array,
    y: Array,
    theta: Array,
    root: Array,
    group: Index,
    evidence: Array,
    updates: Index,
    prediction: Array,
) -> None:
    """Learn ``x (n, d)``, ``y (n,)`` in M ridges over one map; tell each one's prediction of ``y``, ``(n, M)``.

    One root per distinct prior precision, ``(N, G, d, d)``; model ``i`` belongs to group ``group[n, i]``.
    """
    M, d = theta.shape[1], theta.shape[2]
    G = root.shape[1]
    w = np.empty(d)
    gain = np.empty((G, d))
    q = np.empty(G)
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        for g in range(G):
            q[g] = _step(root[n, g], x[r], d, w, gain[g])
        for i in range(M):
            g = group[n, i]
            f = 0.0
            for j in range(d):
                f += x[r, j] * theta[n, i, j]
            error = y[r] - f
            prediction[r, i] = f
            evidence[n, i, LOGDET] += math.log1p(q[g])
            evidence[n, i, PENALISED] += error * error / (1.0 + q[g])
            evidence[n, i, ONLINE] += error * error
            step = error / (1.0 + q[g])
            for j in range(d):
                theta[n, i, j] += gain[g, j] * step


@kernel
def _solved_norm(root: Array, gap: Array, d: int, work: Array) -> float:
    """``|root^-1 gap|^2`` by elimination with row pivoting; infinity for a singular root and a gap."""
    for j in range(d):
        for k in range(d):
            work[j, k] = root[j, k]
        work[j, d] = gap[j]
    for k in range(d):
        pivot = k
        for j in range(k + 1, d):
            if abs(work[j, k]) > abs(work[pivot, k]):
                pivot = j
        if work[pivot, k] == 0.0:
            return np.inf
        for m in range(k, d + 1):
            work[k, m], work[pivot, m] = work[pivot, m], work[k, m]
        for j in range(k + 1, d):
            factor = work[j, k] / work[k, k]
            for m in range(k, d + 1):
                work[j, m] -= factor * work[k, m]
    total = 0.0
    for k in range(d - 1, -1, -1):
        for m in range(k + 1, d):
            work[k, d] -= work[k, m] * work[m, d]
        work[k, d] /= work[k, k]
        total += work[k, d] * work[k, d]
    return total


@kernel
def distances(theta: Array, root: Array, group: Index, points: Array, out: Array) -> None:
    """``out[n, i] = |points[n] - theta_i|_{V_i}^2`` over the first entries that ``points (N, d)`` has.

    For a known parameter it is 0 at that parameter, up to rounding, and infinity elsewhere.
    """
    d = points.shape[1]
    work = np.empty((d, d + 1))
    gap = np.empty(d)
    for n in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            apart = 0.0
            size = 0.0
            for j in range(d):
                gap[j] = points[n, j] - theta[n, i, j]
                apart = max(apart, abs(gap[j]))
                size = max(size, abs(theta[n, i, j]))
            known = root[n, group[n, i], 0, 0] == 0.0
            out[n, i] = _solved_norm(root[n, group[n, i]], gap, d, work)
            if known and out[n, i] == np.inf and apart <= 1e-12 * size:
                out[n, i] = 0.0


@kernel
def gaussian_estimates(ids: Index, root: Array, theta: Array, z: Array, spread: Array, out: Array) -> None:
    """``out[r] ~ N(theta, spread^2 V^-1)``: ``theta + spread root z`` for standard normals ``z (n, d)``."""
    d = z.shape[1]
    for r in range(ids.size):
        n = ids[r]
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += root[n, 0, j, k] * z[r, k]
            out[r, j] = theta[n, 0, j] + spread[n] * total
