"""Many ridge regressions over one feature map, a tile of models at a time: learning, upper bounds.

The estimates of the M models of a lane are the columns of T tiles, ``tiles (N, T, d, B)``: model ``i`` is column
``i % B`` of tile ``i // B``; ``B`` is a multiple of 16, and the columns left over in the last tile are zero. The
innermost loops run along the models of a tile, which makes vector instructions of them, and a tile is read once for all
that is asked of it. Models of one group share ``V``; what belongs to a group is looked up once for a run of its models,
so models of one group are best side by side.
"""

import math

import numpy as np

from ..types import Array, Index, Mask
from . import kernel
from .features import entry, sizes
from .ridge import step_roots


@kernel
def _runs(group: Index, size: int, ends: Index) -> int:
    """Write where each run of equal groups among the first ``size`` ends; return how many runs there are."""
    runs = 0
    for b in range(1, size):
        ends[runs] = b
        runs += group[b] != group[b - 1]
    ends[runs] = size
    return runs + 1


@kernel
def _add_products(tile: Array, x: Array, a: int, size: int, out: Array) -> None:
    """``out[c, b] += <x[a + c], theta_b>`` for ``c = 0, 1`` and at least the first ``size`` columns of a tile.

    Two vectors and four features at a time: few loads and stores for each product. Sixteen columns at a time, which
    leaves nothing over for slow single steps.
    """
    d = tile.shape[0]
    wide = 16 * ((size + 15) // 16)
    whole = d - d % 4
    for j in range(0, whole, 4):
        u0, u1, u2, u3 = x[a, j], x[a, j + 1], x[a, j + 2], x[a, j + 3]
        v0, v1, v2, v3 = x[a + 1, j], x[a + 1, j + 1], x[a + 1, j + 2], x[a + 1, j + 3]
        for b in range(wide):
            t0, t1, t2, t3 = tile[j, b], tile[j + 1, b], tile[j + 2, b], tile[j + 3, b]
            out[0, b] += u0 * t0 + u1 * t1 + u2 * t2 + u3 * t3
            out[1, b] += v0 * t0 + v1 * t1 + v2 * t2 + v3 * t3
    for j in range(whole, d):
        u0, v0 = x[a, j], x[a + 1, j]
        for b in range(wide):
            t0 = tile[j, b]
            out[0, b] += u0 * t0
            out[1, b] += v0 * t0


@kernel
def _move(tile: Array, gain: Array, f: Array, start: int, stop: int) -> None:
    """``theta_b += gain f[1, b]`` for the columns from ``start`` to ``stop`` of a tile, two features at a time."""
    d = tile.shape[0]
    for j in range(0, d - 1, 2):
        k0, k1 = gain[j], gain[j + 1]
        for b in range(start, stop):
            step, t0, t1 = f[1, b], tile[j, b], tile[j + 1, b]
            tile[j, b] = t0 + k0 * step
            tile[j + 1, b] = t1 + k1 * step
    if d % 2 == 1:
        for b in range(start, stop):
            tile[d - 1, b] += gain[d - 1] * f[1, b]


@kernel
def learn(
    ids: Index,
    x: Array,
    y: Array,
    tiles: Array,
    root: Array,
    group: Index,
    evidence: Array,
    updates: Index,
    dims: Index,
    prediction: Array,
) -> None:
    """Learn ``x (n, 1, d)``, ``y (n,)`` in M ridges; tell each one's prediction of ``y`` made before, ``(n, M)``.

    With ``f`` the prediction and ``q`` the leverage, ``theta += V^-1 x (y - f) / (1 + q)``, as in ``ridge.learn``.
    """
    T, d, B = tiles.shape[1:]
    M, G = group.shape[1], root.shape[1]
    gain, leverage = np.empty((ids.size, G, d)), np.empty((ids.size, G))
    step_roots(ids, x, root, dims, gain, leverage)
    twice, f, ends = np.empty((2, d)), np.empty((2, B)), np.empty(B, dtype=np.int64)
    for r in range(ids.size):
        n = ids[r]
        updates[n] += 1
        for j in range(d):
            twice[0, j] = twice[1, j] = x[r, 0, j]
        for t in range(T):
            first = t * B
            size = min(B, M - first)
            tile = tiles[n, t]
            f[:] = 0.0
            _add_products(tile, twice, 0, size, f)
            start = 0
            for run in range(_runs(group[n, first:], size, ends)):
                g = group[n, first + start]
                shrink = 1.0 / (1.0 + leverage[r, g])
                grown = math.log1p(leverage[r, g])
                for b in range(start, ends[run]):
                    prediction[r, first + b] = f[0, b]
                    f[0, b] = y[r] - f[0, b]
                    f[1, b] = shrink * f[0, b]
                for b in range(start, ends[run]):
                    evidence[n, 0, first + b] += grown
                for b in range(start, ends[run]):
                    evidence[n, 1, first + b] += f[0, b] * f[1, b]
                for b in range(start, ends[run]):
                    evidence[n, 2, first + b] += f[0, b] * f[0, b]
                _move(tile, gain[r, g], f, start, ends[run])
                start = ends[run]


@kernel
def _widths(root: Array, x: Array, out: Array) -> None:
    """``out[a] = |x[a]|_{V^-1}``, ``V^-1 = root root'``."""
    d = root.shape[0]
    w = np.empty(d)
    for a in range(x.shape[0]):
        for k in range(d):
            w[k] = 0.0
        for j in range(d):
            value = x[a, j]
            for k in range(d):
                w[k] += root[j, k] * value
        total = 0.0
        for k in range(d):
            total += w[k] * w[k]
        out[a] = math.sqrt(total)


@kernel
def _raise_bounds(
    tile: Array,
    group: Index,
    radius: Array,
    size: int,
    x: Array,
    root: Array,
    known: Mask,
    width: Array,
    ends: Index,
    bound: Array,
    most: Array,
) -> None:
    """``most[a, b]`` rises to ``<x[a], theta_b> + radius_b |x[a]|_{V_b^-1}``; a radius below 0 leaves it alone.

    ``width (G, K)`` keeps the norms of the groups that are ``known``; ``ends (B,)`` and ``bound (2, B)`` are room.
    """
    runs = _runs(group, size, ends)
    for run in range(runs):
        g = group[ends[run] - 1]
        if not known[g]:
            known[g] = True
            _widths(root[g], x, width[g])
    for a in range(0, x.shape[0], 2):
        bound[:, size:] = 0.0
        start = 0
        for run in range(runs):
            g = group[start]
            w0, w1 = width[g, a], width[g, a + 1]
            for b in range(start, ends[run]):
                bound[0, b] = radius[b] * w0 if radius[b] >= 0.0 else -np.inf
                bound[1, b] = radius[b] * w1 if radius[b] >= 0.0 else -np.inf
            start = ends[run]
        _add_products(tile, x, a, size, bound)
        for c in range(2):
            for b in range(size):
                most[a + c, b] = bound[c, b] if bound[c, b] > most[a + c, b] else most[a + c, b]


@kernel
def upper_bounds(
    ids: Index, x: Array, tiles: Array, root: Array, group: Index, squared: Array, scale: float, out: Array
) -> None:
    """``out[r, a] = max_i <x(a), theta_i> + scale rho_i |x(a)|_{V_g^-1}``, ``rho_i^2 = squared[n, i]``.

    The maximum runs over the models with ``squared[n, i] >= 0``. Where these are few in a tile they are collected in a
    tile of their own, so that the others cost next to nothing; a group without any costs nothing.
    """
    _, K, d = sizes(x)
    T, B = tiles.shape[1], tiles.shape[3]
    M, G = group.shape[1], root.shape[1]
    even = K + K % 2
    z, width, known = np.zeros((even, d)), np.empty((G, even)), np.empty(G, dtype=np.bool_)
    room, places, few = np.empty((4 + even, B)), np.empty((3, B), dtype=np.int64), np.zeros((d, B))
    radius, few_radius, bound, most = room[0], room[1], room[2:4], room[4:]
    chosen, ends, few_group = places[0], places[1], places[2]
    for r in range(ids.size):
        n = ids[r]
        known[:] = False
        most[:] = -np.inf
        for a in range(K):
            for j in range(d):
                z[a, j] = entry(x, r, 0, a, j)
        collected = 0
        for t in range(T):
            first = t * B
            size = min(B, M - first)
            standing = 0
            for b in range(size):
                chosen[standing] = b
                standing += squared[n, first + b] >= 0.0
            if 2 * standing >= size:
                for b in range(size):
                    value = squared[n, first + b]
                    radius[b] = scale * math.sqrt(value) if value >= 0.0 else -1.0
                _raise_bounds(tiles[n, t], group[n, first:], radius, size, z, root[n], known, width, ends, bound, most)
                continue
            if collected + standing > B:
                _raise_bounds(few, few_group, few_radius, collected, z, root[n], known, width, ends, bound, most)
                collected = 0
            for c in range(standing):
                i = first + chosen[c]
                few_radius[collected + c] = scale * math.sqrt(squared[n, i])
                few_group[collected + c] = group[n, i]
                for j in range(d):
                    few[j, collected + c] = tiles[n, t, j, chosen[c]]
            collected += standing
        if collected > 0:
            _raise_bounds(few, few_group, few_radius, collected, z, root[n], known, width, ends, bound, most)
        for a in range(K):
            out[r, a] = -np.inf
        for b in range(B):
            for a in range(K):
                out[r, a] = max(out[r, a], most[a, b])
