"""Ridge regressions by rank-one steps: predictions, widths, learning, refactorisation.

Per lane and model: ``theta`` the estimate, ``V_inv`` the inverse of ``V = Lambda + sum x x'`` (``V`` holds the lower
triangle only), ``evidence`` three running sums (see the indices below). A model with an infinite prior precision is a
known parameter: its ``V_inv`` is zero, and every formula below then leaves ``theta`` alone by itself.
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LOGDET = 0  #: log det(V Lambda^-1)
PENALISED = 1  #: J, the smallest value of sum (y - <x, theta>)^2 + |theta - centre|^2_Lambda
ONLINE = 2  #: sum of squared errors of the predictions made before each reward was seen

STEEP = (
    1e4  #: a step with x' V_inv x above this is followed by a refactorisation at once; O(d log t) of them can happen
)


@kernel
def predict(ids: Index, x: Array, theta: Array, out: Array) -> None:
    """``out[r, i, a] = <x_i(a), theta_i>`` for ``x (n, P, K, d)``, ``theta (N, M, d)``."""
    P, K, d = x.shape[1], x.shape[2], x.shape[3]
    for r in range(ids.size):
        n = ids[r]
        for i in range(theta.shape[1]):
            p = i if P > 1 else 0
            for a in range(K):
                total = 0.0
                for j in range(d):
                    total += x[r, p, a, j] * theta[n, i, j]
                out[r, i, a] = total


@kernel
def mixtures(ids: Index, x: Array, theta: Array, weight: Array, out: Array) -> None:
    """``out[r, a] = sum_i weight_i <x_i(a), theta_i>`` for weights ``(n, M)``; models of weight 0 cost nothing."""
    P, K, d = x.shape[1], x.shape[2], x.shape[3]
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
                        total += x[r, p, a, j] * theta[n, i, j]
                    out[r, a] += w * total


@kernel
def _gain(V_inv: Array, x: Array, d: int, gain: Array) -> float:
    """``gain = V_inv x``; returns ``q = x' V_inv x``."""
    q = 0.0
    for j in range(d):
        total = 0.0
        for k in range(d):
            total += V_inv[j, k] * x[k]
        gain[j] = total
        q += total * x[j]
    return max(q, 0.0)


@kernel
def _downdate(V_inv: Array, gain: Array, q: float, d: int) -> None:
    """Sherman and Morrison: ``V_inv -= gain gain' / (1 + q)``, symmetric to the last bit. Overwrites ``gain``."""
    root = 1.0 / math.sqrt(1.0 + q)
    for j in range(d):
        gain[j] *= root
    for j in range(d):
        for k in range(d):
            V_inv[j, k] -= gain[j] * gain[k]


@kernel
def cholesky(V: Array, d: int, L: Array) -> bool:
    """Lower factor of the matrix whose lower triangle is ``V``; False if it is not positive definite to rounding."""
    for j in range(d):
        for k in range(j + 1):
            total = V[j, k]
            for m in range(k):
                total -= L[j, m] * L[k, m]
            if j == k:
                if not total > 0.0 or total == np.inf:
                    return False
                L[j, j] = math.sqrt(total)
            else:
                L[j, k] = total / L[k, k]
    return True


@kernel
def invert(V: Array, d: int, V_inv: Array) -> bool:
    """Put the inverse of the matrix whose lower triangle is ``V`` into ``V_inv``, or leave it alone: False."""
    L = np.zeros((d, d))
    if not cholesky(V, d, L):
        return False
    for k in range(d):  # L becomes its own inverse, column by column
        L[k, k] = 1.0 / L[k, k]
        for j in range(k + 1, d):
            total = 0.0
            for m in range(k, j):
                total += L[j, m] * L[m, k]
            L[j, k] = -total / L[j, j]
    for j in range(d):
        for k in range(j + 1):
            total = 0.0
            for m in range(j, d):
                total += L[m, j] * L[m, k]
            V_inv[j, k] = total
            V_inv[k, j] = total
    return True


@kernel
def _solve(V: Array, V_inv: Array, moment: Array, d: int, theta: Array, residual: Array) -> None:
    """``theta = V^-1 moment`` with one step of iterative refinement."""
    for j in range(d):
        total = 0.0
        for k in range(d):
            total += V_inv[j, k] * moment[k]
        theta[j] = total
    for j in range(d):
        total = moment[j]
        for k in range(d):
            total -= (V[j, k] if k <= j else V[k, j]) * theta[k]
        residual[j] = total
    for j in range(d):
        for k in range(d):
            theta[j] += V_inv[j, k] * residual[k]


@kernel
def learn(
    ids: Index,
    x: Array,
    y: Array,
    theta: Array,
    V_inv: Array,
    V: Array,
    moment: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    period: int,
    told: Array,
) -> None:
    """Learn ``x (n, M, d)``, ``y (n,)`` in a bank of M ridges.

    ``told (2, n, M)`` gets each one's prediction of ``y`` made before, and its leverage ``q = x' V_inv x``; ``moment``
    is ``Lambda centre + sum x y``, so that ``theta = V^-1 moment``.
    """
    gain = np.empty(theta.shape[2])
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        due = updates[n] % period == 0
        for i in range(theta.shape[1]):
            d = dims[i]
            z = x[r, i]
            f = 0.0
            for j in range(d):
                f += z[j] * theta[n, i, j]
            q = _gain(V_inv[n, i], z, d, gain)
            error = y[r] - f
            told[0, r, i] = f
            told[1, r, i] = q
            evidence[n, i, LOGDET] += math.log1p(q)
            evidence[n, i, PENALISED] += error * error / (1.0 + q)
            evidence[n, i, ONLINE] += error * error
            step = error / (1.0 + q)
            for j in range(d):
                theta[n, i, j] += gain[j] * step
                moment[n, i, j] += z[j] * y[r]
                for k in range(j + 1):
                    V[n, i, j, k] += z[j] * z[k]
            _downdate(V_inv[n, i], gain, q, d)
            if (due or q > STEEP) and invert(V[n, i], d, V_inv[n, i]):
                _solve(V[n, i], V_inv[n, i], moment[n, i], d, theta[n, i], gain)


@kernel
def learn_shared(
    ids: Index,
    x: Array,
    y: Array,
    theta: Array,
    V_inv: Array,
    gram: Array,
    moment: Array,
    center: Array,
    precision: Array,
    group: Index,
    evidence: Array,
    updates: Index,
    period: int,
    prediction: Array,
) -> None:
    """Learn ``x (n, d)``, ``y (n,)`` in M biased ridges over one map; tell each one's prediction of ``y``.

    One Gram matrix ``(N, d, d)``, one inverse per distinct prior precision ``Lambda_g (N, G, d, d)``; model ``i`` is of
    group ``g = group[n, i]``, and ``theta_i = (Lambda_g + gram)^-1 (Lambda_g center_i + moment)``.
    """
    M, d = theta.shape[1], theta.shape[2]
    G = V_inv.shape[1]
    gain = np.empty((G, d))
    q = np.empty(G)
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        again = updates[n] % period == 0
        z = x[r]
        for g in range(G):
            q[g] = _gain(V_inv[n, g], z, d, gain[g])
            again = again or q[g] > STEEP
        for i in range(M):
            g = group[n, i]
            f = 0.0
            for j in range(d):
                f += z[j] * theta[n, i, j]
            error = y[r] - f
            prediction[r, i] = f
            evidence[n, i, LOGDET] += math.log1p(q[g])
            evidence[n, i, PENALISED] += error * error / (1.0 + q[g])
            evidence[n, i, ONLINE] += error * error
            step = error / (1.0 + q[g])
            for j in range(d):
                theta[n, i, j] += gain[g, j] * step
        for j in range(d):
            moment[n, j] += z[j] * y[r]
            for k in range(j + 1):
                gram[n, j, k] += z[j] * z[k]
        for g in range(G):
            _downdate(V_inv[n, g], gain[g], q[g], d)
        if again:
            _refactorise_shared(n, theta, V_inv, gram, moment, center, precision, group)


@kernel
def _refactorise_shared(
    n: int,
    theta: Array,
    V_inv: Array,
    gram: Array,
    moment: Array,
    center: Array,
    precision: Array,
    group: Index,
) -> None:
    """Invert every group's ``V`` of lane ``n`` afresh and solve for the estimates of its models."""
    M, d = theta.shape[1], theta.shape[2]
    work = np.empty(d)
    target = np.empty(d)
    V = np.empty((d, d))
    for g in range(V_inv.shape[1]):
        for j in range(d):
            for k in range(j + 1):
                V[j, k] = precision[n, g, j, k] + gram[n, j, k]
        if not invert(V, d, V_inv[n, g]):
            continue
        for i in range(M):
            if group[n, i] == g:
                for j in range(d):
                    target[j] = moment[n, j]
                    for k in range(d):
                        target[j] += precision[n, g, j, k] * center[n, i, k]
                _solve(V, V_inv[n, g], target, d, theta[n, i], work)


@kernel
def _distance(lower: Array, extra: Array, theta: Array, point: Array, d: int) -> float:
    """``|point - theta|_V^2`` with ``V`` the symmetric matrix of lower triangle ``lower + extra``.

    An infinite ``V`` is a known parameter: 0 if ``point`` is it, up to rounding, else infinity.
    """
    total = 0.0
    apart = 0.0
    size = 0.0
    for j in range(d):
        gap = point[j] - theta[j]
        apart = max(apart, abs(gap))
        size = max(size, abs(theta[j]))
        row = 0.5 * (lower[j, j] + extra[j, j]) * gap
        for k in range(j):
            row += (lower[j, k] + extra[j, k]) * (point[k] - theta[k])
        total += 2.0 * row * gap
    if lower[0, 0] + extra[0, 0] == np.inf:
        return 0.0 if apart <= 1e-12 * size else np.inf
    return total


@kernel
def distances(V: Array, theta: Array, points: Array, out: Array) -> None:
    """``out[n, i] = |points[n] - theta_i|_{V_i}^2`` over the first entries that ``points (N, d)`` has."""
    d = points.shape[1]
    nothing = np.zeros((d, d))
    for n in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            out[n, i] = _distance(V[n, i], nothing, theta[n, i], points[n], d)


@kernel
def distances_shared(gram: Array, precision: Array, group: Index, theta: Array, points: Array, out: Array) -> None:
    """The same for models over one map."""
    d = points.shape[1]
    for n in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            out[n, i] = _distance(gram[n], precision[n, group[n, i]], theta[n, i], points[n], d)


@kernel
def gaussian_estimates(ids: Index, V: Array, theta: Array, z: Array, spread: Array, out: Array) -> None:
    """``out[r] ~ N(theta, spread^2 V^-1)``: ``theta + spread L^-T z``, ``z (n, d)`` standard normal, ``V = L L'``."""
    d = z.shape[1]
    L = np.zeros((d, d))
    for r in range(ids.size):
        n = ids[r]
        whole = cholesky(V[n, 0], d, L)
        for j in range(d - 1, -1, -1):
            total = z[r, j]
            for k in range(j + 1, d):
                total -= L[k, j] * out[r, k]
            out[r, j] = total / L[j, j] if whole else 0.0
        for j in range(d):
            out[r, j] = theta[n, 0, j] + spread[n] * out[r, j]
