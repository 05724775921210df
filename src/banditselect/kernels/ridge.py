"""Ridge regressions by rank-one steps: predictions, learning, distances.

Per lane and model, or per block of a model where it has several (``features.InBlocks``): ``theta`` the estimate;
``root`` a square root of the inverse of ``V = Lambda + sum x x'``, that is ``V^-1 = root root'``. Per model:
``evidence``, three running sums (see the indices below). A step follows Potter: the root is multiplied by a symmetric
square root of ``I - w w' / (1 + q)``, so that ``V^-1`` stays positive definite, and accurate whatever the rank of the
features and for scales that differ up to about 1e10; nothing has to be refactorised. A model with an infinite prior
precision is a known parameter: its root is zero, and every formula below then leaves ``theta`` alone by itself.

Reference: Bierman, "Factorization methods for discrete sequential estimation", 1977, chapter 2 (Potter's algorithm).
"""

import math

import numpy as np

from ..types import Array, Index
from . import inlined, kernel
from .features import cell, cell_played, entry, sizes, table

LOGDET = 0  #: log det(V Lambda^-1)
PENALISED = 1  #: J, the smallest value of sum (y - <x, theta>)^2 + |theta - centre|^2_Lambda
ONLINE = 2  #: sum of squared errors of the predictions made before each reward was seen


@kernel
def predict(ids: Index, x: Array, theta: Array, out: Array) -> None:
    """``out[r, i, a] = <x_i(a), theta_i>`` for ``x (n, P, K, d)``, ``theta (N, M, d)``."""
    P, K, d = sizes(x)
    for r in range(ids.size):
        n = ids[r]
        for i in range(out.shape[1]):
            p = i % P
            for a in range(K):
                c = cell(x, r, i, a)
                total = 0.0
                for j in range(d):
                    total += entry(x, r, p, a, j) * theta[n, c, j]
                out[r, i, a] = total


@inlined
def mixture(r: int, n: int, x: Array, theta: Array, weight: Array, out: Array) -> None:
    """``out[r, a] = sum_i weight_i <x_i(a), theta_i>`` for row ``r`` of weights ``(n, M)``; those of 0 cost nothing."""
    P, K, d = sizes(x)
    for a in range(K):
        out[r, a] = 0.0
    for i in range(weight.shape[1]):
        w = weight[r, i]
        if w > 0.0:
            p = i % P
            for a in range(K):
                c = cell(x, r, i, a)
                total = 0.0
                for j in range(d):
                    total += entry(x, r, p, a, j) * theta[n, c, j]
                out[r, a] += w * total


@kernel
def mixtures(ids: Index, x: Array, theta: Array, weight: Array, out: Array) -> None:
    """``mixture`` for every row."""
    for r in range(ids.size):
        mixture(r, ids[r], x, theta, weight, out)


def roomy(root: Array) -> Array:
    """Return roots ``(N, G, d, .)`` with columns of zeros behind up to a multiple of four, beginning a cache line.

    ``V^-1 = root root'`` stays as it is; loops along a row have no remainder, and their vectors straddle fewer lines.
    """
    d = root.shape[2]
    shape = (*root.shape[:3], d + -d % 4)
    room = np.zeros(math.prod(shape) + 7)
    first = -room.ctypes.data % 64 // 8
    out = room[first : first + math.prod(shape)].reshape(shape)
    out[..., :d] = root[..., :d]
    return out


@inlined
def columns(root: Array, d: int) -> int:
    """How many columns of a ``root`` with ``d`` features to go through: whole vectors of four, if it has the room."""
    return min(d + -d % 4, root.shape[1])


@inlined
def images(root: Array, x: Array, d: int, w: Array) -> None:
    """``w[a] = root' x[a]`` for ``x (K, d)``; ``w`` has a spare row behind an odd ``K``.

    Two vectors and four rows at a time: few loads and stores for each product.
    """
    K = x.shape[0]
    wide = columns(root, d)
    whole = d - d % 4
    for a in range(0, K, 2):
        b = min(a + 1, K - 1)
        for k in range(wide):
            w[a, k] = w[a + 1, k] = 0.0
        for j in range(0, whole, 4):
            u_0, u_1, u_2, u_3 = x[a, j], x[a, j + 1], x[a, j + 2], x[a, j + 3]
            v_0, v_1, v_2, v_3 = x[b, j], x[b, j + 1], x[b, j + 2], x[b, j + 3]
            for k in range(wide):
                r_0, r_1, r_2, r_3 = root[j, k], root[j + 1, k], root[j + 2, k], root[j + 3, k]
                w[a, k] += r_0 * u_0 + r_1 * u_1 + r_2 * u_2 + r_3 * u_3
                w[a + 1, k] += r_0 * v_0 + r_1 * v_1 + r_2 * v_2 + r_3 * v_3
        for j in range(whole, d):
            u_0, v_0 = x[a, j], x[b, j]
            for k in range(wide):
                w[a, k] += root[j, k] * u_0
                w[a + 1, k] += root[j, k] * v_0


@inlined
def step_roots(ids: Index, x: Array, root: Array, dims: Index, gain: Array, leverage: Array) -> None:
    """Let the matrix ``V_g`` of every root of a lane grow by ``x_g x_g'``, ``x (n, P, d)``, of ``dims[g]`` features.

    With blocks, only the roots of those that were played grow, one for every model ``g``.
    ``gain[r, g] = V_g^-1 x_g`` and ``q = leverage[r, g] = x_g' V_g^-1 x_g`` are those of the old ``V_g``. With
    ``w = root' x`` and ``s = sqrt(1 + q)``, the gain is ``root w``, and the new root ``root (I - w w' / (s (s + 1)))``.
    """
    w = np.empty(root.shape[3])
    shrunk = np.empty(root.shape[3])
    z = table(x)
    for r in range(ids.size):
        n = ids[r]
        for g in range(leverage.shape[1]):
            p = g % z.shape[1]
            c = cell_played(x, r, g)
            d = dims[g]
            wide = columns(root[n, c], d)
            whole = d - d % 4  # four rows at a time: fewer loads and stores for each product
            for k in range(wide):
                w[k] = 0.0
            for j in range(0, whole, 4):
                x_0, x_1, x_2, x_3 = z[r, p, j], z[r, p, j + 1], z[r, p, j + 2], z[r, p, j + 3]
                for k in range(wide):
                    above = root[n, c, j, k] * x_0 + root[n, c, j + 1, k] * x_1
                    w[k] += above + root[n, c, j + 2, k] * x_2 + root[n, c, j + 3, k] * x_3
            for j in range(whole, d):
                for k in range(wide):
                    w[k] += root[n, c, j, k] * z[r, p, j]
            q = 0.0
            for k in range(wide):
                q += w[k] * w[k]
            leverage[r, g] = q
            s = math.sqrt(1.0 + q)
            factor = 1.0 / (s * (s + 1.0))
            for k in range(wide):  # written down: a product of three in the last loop would halve its speed
                shrunk[k] = factor * w[k]
            for j in range(0, whole, 4):
                v_0 = v_1 = v_2 = v_3 = 0.0
                for k in range(wide):
                    v_0 += root[n, c, j, k] * w[k]
                    v_1 += root[n, c, j + 1, k] * w[k]
                    v_2 += root[n, c, j + 2, k] * w[k]
                    v_3 += root[n, c, j + 3, k] * w[k]
                gain[r, g, j], gain[r, g, j + 1], gain[r, g, j + 2], gain[r, g, j + 3] = v_0, v_1, v_2, v_3
            for j in range(whole, d):
                v_0 = 0.0  # a sum in memory would not become vector instructions
                for k in range(wide):
                    v_0 += root[n, c, j, k] * w[k]
                gain[r, g, j] = v_0
            for j in range(d):
                for k in range(wide):
                    root[n, c, j, k] -= gain[r, g, j] * shrunk[k]


@inlined
def learn(
    ids: Index,
    x: Array,
    y: Array,
    theta: Array,
    root: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    before: Array,
) -> None:
    """Learn ``x (n, P, d)``, ``y (n,)`` in a bank of M ridges; ridge ``i`` reads map ``i % P``.

    ``before (2, n, M)`` gets each one's prediction ``f`` of ``y``, and its leverage ``q``;
    ``theta += V^-1 x (y - f) / (1 + q)``.
    """
    gain = np.empty((ids.size, dims.size, theta.shape[2]))
    step_roots(ids, x, root, dims, gain, before[1])
    z = table(x)
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        for i in range(dims.size):
            p = i % z.shape[1]
            c = cell_played(x, r, i)
            f = 0.0
            for j in range(dims[i]):
                f += z[r, p, j] * theta[n, c, j]
            before[0, r, i] = f
            q = before[1, r, i]
            error = y[r] - f
            evidence[n, LOGDET, i] += math.log1p(q)
            evidence[n, PENALISED, i] += error * error / (1.0 + q)
            evidence[n, ONLINE, i] += error * error
            step = error / (1.0 + q)
            for j in range(dims[i]):
                theta[n, c, j] += gain[r, i, j] * step


@kernel
def _eliminate(root: Array, d: int, factor: Array, pivots: Index) -> bool:
    """Take ``factor (d, d)`` to the triangles of ``root`` by elimination with row pivoting; False if it is singular."""
    for j in range(d):
        for k in range(d):
            factor[j, k] = root[j, k]
    for k in range(d):
        pivot = k
        for j in range(k + 1, d):
            if abs(factor[j, k]) > abs(factor[pivot, k]):
                pivot = j
        pivots[k] = pivot
        if factor[pivot, k] == 0.0:
            return False
        for m in range(d):
            factor[k, m], factor[pivot, m] = factor[pivot, m], factor[k, m]
        for j in range(k + 1, d):
            factor[j, k] /= factor[k, k]
            for m in range(k + 1, d):
                factor[j, m] -= factor[j, k] * factor[k, m]
    return True


@kernel
def _solved_norm(factor: Array, pivots: Index, gap: Array) -> float:
    """``|root^-1 gap|^2`` with the triangles of the root; ``gap (d,)`` becomes the solution."""
    d = gap.size
    for k in range(d):
        gap[k], gap[pivots[k]] = gap[pivots[k]], gap[k]
    for j in range(d):
        for k in range(j):
            gap[j] -= factor[j, k] * gap[k]
    total = 0.0
    for k in range(d - 1, -1, -1):
        for m in range(k + 1, d):
            gap[k] -= factor[k, m] * gap[m]
        gap[k] /= factor[k, k]
        total += gap[k] * gap[k]
    return total


@kernel
def distances(theta: Array, root: Array, group: Index, points: Array, out: Array) -> None:
    """``out[n, i] = |points[n] - theta_i|_{V_i}^2`` over the first entries that ``points (N, d)`` has.

    For a known parameter it is 0 at that parameter, up to rounding, and infinity elsewhere. A root is factorised once
    for all models that have it and stand side by side.
    """
    d = points.shape[1]
    factor = np.empty((d, d))
    pivots = np.empty(d, dtype=np.int64)
    gap = np.empty(d)
    regular = False
    for n in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            apart = 0.0
            size = 0.0
            for j in range(d):
                gap[j] = points[n, j] - theta[n, i, j]
                apart = max(apart, abs(gap[j]))
                size = max(size, abs(theta[n, i, j]))
            g = group[n, i]
            if i == 0 or g != group[n, i - 1]:
                regular = _eliminate(root[n, g], d, factor, pivots)
            if regular:
                out[n, i] = _solved_norm(factor, pivots, gap)
            else:
                known = root[n, g, 0, 0] == 0.0
                out[n, i] = 0.0 if known and apart <= 1e-12 * size else np.inf


@kernel
def gaussian_estimates(ids: Index, root: Array, theta: Array, z: Array, spread: Array, out: Array) -> None:
    """``out[r, c] ~ N(theta_c, spread^2 V_c^-1)``: ``theta_c + spread root_c z_c`` for normals ``z (n, cells d)``."""
    d = out.shape[2]
    for r in range(ids.size):
        n = ids[r]
        for c in range(out.shape[1]):
            for j in range(d):
                total = 0.0
                for k in range(d):
                    total += root[n, c, j, k] * z[r, c * d + k]
                out[r, c, j] = theta[n, c, j] + spread[n] * total
