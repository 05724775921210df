"""Regressions that forget: the weight of every reward falls by one factor in each round, that of the prior does not.

With ``Lambda = factor factor'``, a round takes ``V`` to ``gamma V`` and gives the prior back in one of d directions,
column ``t mod d`` of the factor, as far as it has faded there: one step of rank one, where all of it would be d.
"""

import math

import numpy as np

from ..types import Array, Index
from . import inlined, kernel
from .ridge import LOGDET, ONLINE, PENALISED, columns


@kernel
def fade_roots(
    ids: Index, gamma: float, factor: Array, root: Array, updates: Index, dims: Index, u: Array, gain: Array, q: Array
) -> None:
    """Let ``V`` fade to ``gamma V + u u'``; ``u`` and ``gain = (gamma V)^-1 u`` are ``(n, G, d)``, ``q = u'gain``."""
    D = root.shape[2]
    w = np.empty(root.shape[3])
    grow = 1.0 / math.sqrt(gamma)
    for r in range(ids.size):
        n = ids[r]
        t = updates[n]
        lost = math.sqrt(1.0 - gamma ** min(t + 1, D))
        for g in range(root.shape[1]):
            d = dims[g]
            wide = columns(root[n, g], d)
            for k in range(wide):
                w[k] = 0.0
            for j in range(D):
                u[r, g, j] = lost * factor[n, g, j, t % D] if j < d and t % D < d else 0.0
                gain[r, g, j] = 0.0
            for j in range(d):
                for k in range(wide):
                    root[n, g, j, k] *= grow
                    w[k] += root[n, g, j, k] * u[r, g, j]
            square = 0.0
            for k in range(wide):
                square += w[k] * w[k]
            s = math.sqrt(1.0 + square)
            for j in range(d):
                total = 0.0
                for k in range(wide):
                    total += root[n, g, j, k] * w[k]
                gain[r, g, j] = total
                for k in range(wide):
                    root[n, g, j, k] -= total * w[k] / (s * (s + 1.0))
            q[r, g] = square


@inlined
def _fade_evidence(evidence: Array, i: int, gamma: float, kept: float, d: int, error: float, q: float) -> None:
    """The same of the sums of one model, whose estimate was off by ``error`` in the direction ``u``.

    ``kept``: what losses so far are multiplied by: gamma, once for all blocks of a model, then 1.
    """
    evidence[LOGDET, i] += d * math.log(gamma) + math.log1p(q)
    evidence[PENALISED, i] = kept * evidence[PENALISED, i] + error * error / (1.0 + q)
    evidence[ONLINE, i] *= kept


@kernel
def fade_ridges(
    ids: Index,
    gamma: float,
    center: Array,
    theta: Array,
    evidence: Array,
    owner: Index,
    dims: Index,
    u: Array,
    gain: Array,
    q: Array,
) -> None:
    """Let estimates ``theta (N, cells, d)`` and evidence follow; the prior is about ``center``.

    A cell is a model, or a block of one: model ``owner[i]``, of ``dims[i]`` features; those of one stand together.
    """
    for r in range(ids.size):
        n = ids[r]
        for i in range(theta.shape[1]):
            kept = gamma if i == 0 or owner[i] != owner[i - 1] else 1.0
            error = 0.0
            for j in range(dims[i]):
                error += u[r, i, j] * (center[n, i, j] - theta[n, i, j])
            for j in range(dims[i]):
                theta[n, i, j] += gain[r, i, j] * error / (1.0 + q[r, i])
            _fade_evidence(evidence[n], owner[i], gamma, kept, dims[i], error, q[r, i])


@kernel
def fade_tiles(
    ids: Index,
    gamma: float,
    center: Array,
    tiles: Array,
    group: Index,
    evidence: Array,
    u: Array,
    gain: Array,
    q: Array,
) -> None:
    """The same for estimates in tiles, see ``kernels.tiles``."""
    B, d = tiles.shape[3], tiles.shape[2]
    for r in range(ids.size):
        n = ids[r]
        for i in range(group.shape[1]):
            g, tile = group[n, i], tiles[n, i // B]
            error = 0.0
            for j in range(d):
                error += u[r, g, j] * (center[n, i, j] - tile[j, i % B])
            for j in range(d):
                tile[j, i % B] += gain[r, g, j] * error / (1.0 + q[r, g])
            _fade_evidence(evidence[n], i, gamma, gamma, d, error, q[r, g])


@kernel
def fade_ellipsoids(
    ids: Index,
    x: Array,
    gamma: float,
    penalty: Array,
    root: Array,
    updates: Index,
    constants: Array,
    log_term: float,
    squares: Array,
    reach: Array,
    squared: Array,
    spent: Array,
) -> None:
    """Let ``W`` fade to ``gamma^2 W + (1 - gamma^2) penalty I + x x'``, and take the ellipsoid, for ``x (n, 1, d)``.

    ``squares (N, d, d)`` is ``W``, and ``reach (N, 1, d, d)`` a root of ``V^-1 W V^-1``, with the ``V`` that has
    learned ``x`` already. ``spent[n] += 2 beta |reach' x|`` with what they were, then ``beta^2 = squared[n, 0]``:
    ``beta = R sqrt(logdet(W / penalty) + 2 log(t (t + 1) / delta)) + prior`` with R and prior in ``constants (N, 2)``.
    """
    d = squares.shape[1]
    half, across = np.empty((d, d)), np.empty((d, d))
    for r in range(ids.size):
        n = ids[r]
        width = 0.0
        for k in range(d):
            total = 0.0
            for j in range(d):
                total += reach[n, 0, j, k] * x[r, 0, j]
            width += total * total
        spent[n] += 2.0 * math.sqrt(squared[n, 0] * width)
        logdet = 0.0
        for j in range(d):
            for k in range(j + 1):
                squares[n, j, k] = gamma * gamma * squares[n, j, k] + x[r, 0, j] * x[r, 0, k]
            squares[n, j, j] += (1.0 - gamma * gamma) * penalty[n]
            for k in range(j):
                squares[n, k, j] = squares[n, j, k]
                total = squares[n, j, k]
                for m in range(k):
                    total -= half[j, m] * half[k, m]
                half[j, k] = total / half[k, k]
            total = squares[n, j, j]
            for m in range(j):
                total -= half[j, m] * half[j, m]
            half[j, j] = math.sqrt(max(total, penalty[n]))  # no pivot is smaller but by rounding
            logdet += math.log(max(total, penalty[n]) / penalty[n])
        for k in range(d):
            for m in range(d):
                across[k, m] = 0.0
        for j in range(d):
            for k in range(d):
                for m in range(j + 1):
                    across[k, m] += root[n, 0, j, k] * half[j, m]
        for j in range(d):
            for m in range(d):
                reach[n, 0, j, m] = 0.0
            for k in range(d):
                for m in range(d):
                    reach[n, 0, j, m] += root[n, 0, j, k] * across[k, m]
        t = float(updates[n])
        radius = constants[n, 0] * math.sqrt(logdet + 2.0 * (log_term + math.log(t * (t + 1.0)))) + constants[n, 1]
        squared[n, 0] = radius * radius
