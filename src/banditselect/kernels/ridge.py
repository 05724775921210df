"""Ridge regressions by rank-one steps: predictions, learning, upper bounds.

Kernels take a bank as the tuple ``ridges = (theta, root, evidence, updates, dims, first)``. A cell is a model, or a
block of a model that has several (``kernels.features``). It has an estimate ``theta`` and a square root ``root`` of the
inverse of ``V = Lambda + sum x x'``, that is ``V^-1 = root root'``; a model has the three running sums of ``evidence``
(see the indices below). A step follows Potter: the root is multiplied by a symmetric square root of
``I - w w' / (1 + q)``. So ``V^-1`` stays positive definite, and accurate for any rank of the features and for scales
that differ up to about 1e10; nothing has to be refactorised. A model with an infinite prior precision is a known
parameter: its root is zero, and every formula below then leaves ``theta`` alone by itself.

Reference: Bierman, "Factorization methods for discrete sequential estimation", 1977, chapter 2 (Potter's algorithm).
"""

import math
from typing import Any

import numpy as np

from ..types import Array, Index
from . import inlined, kernel
from .features import row_of, rows_of_map

LOGDET = 0  #: log det(V Lambda^-1)
PENALISED = 1  #: J, the smallest value of sum (y - <x, theta>)^2 + |theta - centre|^2_Lambda
ONLINE = 2  #: sum of squared errors of the predictions made before each reward was seen


@kernel
def predict(ids: Index, x: Any, block: Index, theta: Array, first: Index) -> Array:
    """Return ``<x_i(a), theta_i>`` for ``x (n, P, K, d)`` and ``theta (N, cells, d)``, ``(n, M, K)``."""
    _, P, K, d = x.shape
    out = np.empty((ids.size, first.size - 1, K))
    for r in range(ids.size):
        n = ids[r]
        for i in range(out.shape[1]):
            p = i % P
            for a in range(K):
                c = first[i] + (block[r, p, a] if block.size > 0 else 0)
                row = row_of(x, r, p, a)
                total = 0.0
                for j in range(d):
                    total += row[j] * theta[n, c, j]
                out[r, i, a] = total
    return out


@kernel
def mixtures(ids: Index, x: Any, block: Index, theta: Array, first: Index, weight: Array) -> Array:
    """Return the means of the predictions by ``weight (n, M)``, ``(n, K)``; models of weight 0 cost nothing."""
    _, P, K, d = x.shape
    out = np.zeros((ids.size, K))
    for r in range(ids.size):
        n = ids[r]
        for i in range(weight.shape[1]):
            if weight[r, i] > 0.0:
                p = i % P
                for a in range(K):
                    c = first[i] + (block[r, p, a] if block.size > 0 else 0)
                    row = row_of(x, r, p, a)
                    total = 0.0
                    for j in range(d):
                        total += row[j] * theta[n, c, j]
                    out[r, a] += weight[r, i] * total
    return out


def padded(root: Array) -> Array:
    """Return roots ``(N, G, d, .)`` with columns of zeros behind up to a multiple of four, beginning a cache line.

    ``V^-1 = root root'`` stays as it is; loops along a row have no remainder, and their vectors straddle fewer lines.
    """
    d = root.shape[2]
    shape = (*root.shape[:3], d + -d % 4)
    buffer = np.zeros(math.prod(shape) + 7)
    first = -buffer.ctypes.data % 64 // 8
    out = buffer[first : first + math.prod(shape)].reshape(shape)
    out[..., :d] = root[..., :d]
    return out


@inlined
def images(root: Array, first: int, block: Index, r: int, p: int, x: Array, d: int, w: Array) -> None:
    """Write ``w[a] = root_c' x[a]`` for ``x (K, d)``, with the root ``c`` of an action's block; ``w`` has a spare row.

    ``root (cells, d, .)``. Two rows of one block and four columns at a time: few loads and stores for each product.
    """
    K = x.shape[0]
    wide = min(d + -d % 4, root.shape[2])
    fours = d - d % 4
    a = 0
    while a < K:
        c = first + (block[r, p, a] if block.size > 0 else 0)
        b = a + 1
        if b == K or (block.size > 0 and block[r, p, b] != block[r, p, a]):
            b = a
        t = b if b > a else K
        for k in range(wide):
            w[a, k] = w[t, k] = 0.0
        for j in range(0, fours, 4):
            u_0, u_1, u_2, u_3 = x[a, j], x[a, j + 1], x[a, j + 2], x[a, j + 3]
            v_0, v_1, v_2, v_3 = x[b, j], x[b, j + 1], x[b, j + 2], x[b, j + 3]
            for k in range(wide):
                r_0, r_1, r_2, r_3 = root[c, j, k], root[c, j + 1, k], root[c, j + 2, k], root[c, j + 3, k]
                w[a, k] += r_0 * u_0 + r_1 * u_1 + r_2 * u_2 + r_3 * u_3
                w[t, k] += r_0 * v_0 + r_1 * v_1 + r_2 * v_2 + r_3 * v_3
        for j in range(fours, d):
            u_0, v_0 = x[a, j], x[b, j]
            for k in range(wide):
                w[a, k] += root[c, j, k] * u_0
                w[t, k] += root[c, j, k] * v_0
        a = b + 1


@kernel
def upper_bounds(ids: Index, x: Any, block: Index, ellipsoids: Any, scale: float, least: bool) -> Array:
    """Return ``max_i <x_i(a), theta_i> + scale rho_i |x_i(a)|_{V_i^-1}``, ``(n, K)``; the least of them if ``least``.

    ``ellipsoids = (theta, root, dims, first, squared)``, ``rho_i^2 = squared[n, i]``, ``V_i^-1 = root_i root_i'``.
    Models with a negative square are left out and cost nothing.
    """
    theta, root, dims, first, squared = ellipsoids
    P, K = x.shape[1], x.shape[2]
    out, w = np.full((ids.size, K), np.inf if least else -np.inf), np.empty((K + 1, root.shape[3]))
    for r in range(ids.size):
        n = ids[r]
        for i in range(dims.size):
            if not squared[n, i] >= 0.0:
                continue
            radius = scale * math.sqrt(squared[n, i])
            p, d = i % P, dims[i]
            rows = rows_of_map(x, r, p)
            images(root[n], first[i], block, r, p, rows, d, w)
            wide = min(d + -d % 4, root.shape[3])
            for a in range(K):
                c = first[i] + (block[r, p, a] if block.size > 0 else 0)
                square = 0.0
                mean = 0.0
                for k in range(wide):
                    square += w[a, k] * w[a, k]
                for j in range(d):
                    mean += rows[a, j] * theta[n, c, j]
                bound = mean + radius * math.sqrt(square)
                out[r, a] = min(out[r, a], bound) if least else max(out[r, a], bound)
    return out


@inlined
def step_root(x: Array, root: Array, d: int, w: Array, shrunk: Array, gain: Array) -> float:
    """Let the matrix ``V`` of ``root (., .)`` grow by ``x x'``, of d features; return ``q = x' V^-1 x`` of the old one.

    ``gain = V^-1 x`` is of the old ``V``, too. With ``w = root' x`` and ``s = sqrt(1 + q)``, the gain is ``root w``,
    and the new root ``root (I - w w' / (s (s + 1)))``. ``w`` and ``shrunk`` are scratch, as wide as the root.
    """
    wide = min(d + -d % 4, root.shape[1])
    fours = d - d % 4  # four rows at a time: fewer loads and stores for each product
    for k in range(wide):
        w[k] = 0.0
    for j in range(0, fours, 4):
        x_0, x_1, x_2, x_3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for k in range(wide):
            above = root[j, k] * x_0 + root[j + 1, k] * x_1
            w[k] += above + root[j + 2, k] * x_2 + root[j + 3, k] * x_3
    for j in range(fours, d):
        for k in range(wide):
            w[k] += root[j, k] * x[j]
    q = 0.0
    for k in range(wide):
        q += w[k] * w[k]
    s = math.sqrt(1.0 + q)
    factor = 1.0 / (s * (s + 1.0))
    for k in range(wide):  # written down: a product of three in the last loop would halve its speed
        shrunk[k] = factor * w[k]
    for j in range(0, fours, 4):
        v_0 = v_1 = v_2 = v_3 = 0.0
        for k in range(wide):
            v_0 += root[j, k] * w[k]
            v_1 += root[j + 1, k] * w[k]
            v_2 += root[j + 2, k] * w[k]
            v_3 += root[j + 3, k] * w[k]
        gain[j], gain[j + 1], gain[j + 2], gain[j + 3] = v_0, v_1, v_2, v_3
    for j in range(fours, d):
        v_0 = 0.0  # a sum in memory would not become vector instructions
        for k in range(wide):
            v_0 += root[j, k] * w[k]
        gain[j] = v_0
    for j in range(d):
        for k in range(wide):
            root[j, k] -= gain[j] * shrunk[k]
    return q


@inlined
def learn(ids: Index, x: Array, block: Index, y: Array, ridges: Any, before: Array) -> None:
    """Learn ``x (n, P, d)``, ``y (n,)`` in a bank of M ridges; ridge ``i`` reads map ``i % P``; updates count last.

    Writes their predictions ``f`` of ``y`` and leverages ``q`` to ``before (2, n, M)``; ``block (n, P)``, or empty. The
    step is ``theta += V^-1 x (y - f) / (1 + q)``.
    """
    theta, root, evidence, updates, dims, first = ridges
    P, w, gain = x.shape[1], np.empty((2, root.shape[3])), np.empty(theta.shape[2])
    for r in range(ids.size):
        n = ids[r]
        for i in range(dims.size):
            p, d = i % P, dims[i]
            c = first[i] + (block[r, p] if block.size > 0 else 0)
            q = step_root(x[r, p], root[n, c], d, w[0], w[1], gain)
            f = 0.0
            for j in range(d):
                f += x[r, p, j] * theta[n, c, j]
            before[0, r, i], before[1, r, i] = f, q
            error = y[r] - f
            evidence[n, LOGDET, i] += math.log1p(q)
            evidence[n, PENALISED, i] += error * error / (1.0 + q)
            evidence[n, ONLINE, i] += error * error
            step = error / (1.0 + q)
            for j in range(d):
                theta[n, c, j] += gain[j] * step
        updates[n] += 1


@inlined
def leverage(root: Array, x: Array, d: int) -> float:
    """Return ``|x|^2_{V^-1} = |root' x|^2`` for the first ``d`` features."""
    square = 0.0
    for k in range(root.shape[1]):
        total = 0.0
        for j in range(d):
            total += root[j, k] * x[j]
        square += total * total
    return square


@inlined
def dot(u: Array, v: Array) -> float:
    """Return ``<u, v>``."""
    total = 0.0
    for j in range(u.size):
        total += u[j] * v[j]
    return total


@inlined
def cholesky(A: Array, shift: float, least: float, lower: Array) -> float:
    """Write the factor ``lower (d, d)`` of ``A + shift I``, and return ``log det((A + shift I) / least)``.

    The square of no entry on its diagonal is below ``least``, but by rounding: then it is ``least``.
    """
    logdet = 0.0
    for j in range(lower.shape[0]):
        for k in range(j):
            total = A[j, k]
            for m in range(k):
                total -= lower[j, m] * lower[k, m]
            lower[j, k] = total / lower[k, k]
        total = A[j, j]
        for m in range(j):
            total -= lower[j, m] * lower[j, m]
        pivot = max(total + shift, least)
        lower[j, j] = math.sqrt(pivot)
        logdet += math.log(pivot / least)
    return logdet


@inlined
def solve_lower(lower: Array, b: Array) -> None:
    """Replace ``b (d,)`` by ``lower^-1 b``; an entry is 0 where the diagonal is."""
    for j in range(b.size):
        total = b[j]
        for k in range(j):
            total -= lower[j, k] * b[k]
        b[j] = total / lower[j, j] if lower[j, j] > 0.0 else 0.0


@kernel
def gaussian_estimates(ids: Index, root: Array, theta: Array, z: Array, spread: Array) -> Array:
    """Draw ``N(theta_c, spread^2 V_c^-1)`` as ``theta_c + spread root_c z_c`` for normals ``z (n, cells d)``.

    Returns ``(n, cells, d)``.
    """
    d = theta.shape[2]
    out = np.empty((ids.size, theta.shape[1], d))
    for r in range(ids.size):
        n = ids[r]
        for c in range(out.shape[1]):
            for j in range(d):
                total = 0.0
                for k in range(d):
                    total += root[n, c, j, k] * z[r, c * d + k]
                out[r, c, j] = theta[n, c, j] + spread[n] * total
    return out
