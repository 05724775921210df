"""Many ridge regressions over one feature map: learning, upper bounds.

The estimates of the M models of a lane are the columns of T panels, ``columns (N, T, d, B)``: model ``i`` is column
``i % B`` of panel ``i // B``; ``B`` is a multiple of 16, and the columns left over in the last panel are zero. The
innermost loops run along the models of a panel, which makes vector instructions of them, and a panel is read once.
Models of one group share ``V``; the numbers of a group are looked up once for a run of its models, so models of one
group are best side by side.

Kernels take a bank as the tuple ``shared = (columns, root, group, evidence, updates, dims)``.
"""

import math
from typing import Any

import numpy as np

from ..types import Array, Index
from . import inlined, kernel
from .features import row_of
from .ridge import step_root


@inlined
def learn(ids: Index, x: Array, y: Array, shared: Any) -> Array:
    """Learn ``x (n, 1, d)``, ``y (n,)`` in M ridges as ``ridge.learn`` does; return predictions of y, ``(n, M)``."""
    columns, root, group, evidence, updates, dims = shared
    T, d, B = columns.shape[1:]
    M, G = group.shape[1], root.shape[1]
    prediction = np.empty((ids.size, M))
    gain, leverage, w = np.empty((G, d)), np.empty(G), np.empty((2, root.shape[3]))
    twice, f, ends = np.empty((2, d)), np.empty((2, B)), np.empty(B, dtype=np.int64)
    for r in range(ids.size):
        n = ids[r]
        for g in range(G):
            leverage[g] = step_root(x[r, 0], root[n, g], dims[g], w[0], w[1], gain[g])
        for j in range(d):
            twice[0, j] = twice[1, j] = x[r, 0, j]
        for t in range(T):
            first = t * B
            size = min(B, M - first)
            panel = columns[n, t]
            f[:] = 0.0
            _add_products(panel, twice, 0, size, f)
            start = 0
            for run in range(_runs(group[n, first:], size, ends)):
                g = group[n, first + start]
                shrink = 1.0 / (1.0 + leverage[g])
                log_growth = math.log1p(leverage[g])
                for b in range(start, ends[run]):
                    prediction[r, first + b] = f[0, b]
                    f[0, b] = y[r] - f[0, b]
                    f[1, b] = shrink * f[0, b]
                for b in range(start, ends[run]):
                    evidence[n, 0, first + b] += log_growth
                for b in range(start, ends[run]):
                    evidence[n, 1, first + b] += f[0, b] * f[1, b]
                for b in range(start, ends[run]):
                    evidence[n, 2, first + b] += f[0, b] * f[0, b]
                _move(panel, gain[g], f, start, ends[run])
                start = ends[run]
        updates[n] += 1
    return prediction


@kernel
def upper_bounds(ids: Index, x: Any, ellipsoids: Any, scale: float) -> Array:
    """Return ``max_i <x(a), theta_i> + scale rho_i |x(a)|_{V_i^-1}``, ``(n, K)``, as ``ridge.upper_bounds`` does.

    ``ellipsoids = (columns, root, group, squared)``. Where few models in a panel have ``squared[n, i] >= 0`` they are
    collected in a panel of their own, so that the others cost next to nothing; a group without any costs nothing.
    """
    columns, root, group, squared = ellipsoids
    K, d = x.shape[2], x.shape[3]
    T, B = columns.shape[1], columns.shape[3]
    M, G = group.shape[1], root.shape[1]
    even = K + K % 2
    z, width, known = np.zeros((even, d)), np.empty((G, even)), np.empty(G, dtype=np.bool_)
    floats, integers, few = np.empty((4 + even, B)), np.empty((3, B), dtype=np.int64), np.zeros((d, B))
    radius, few_radius, bound, most = floats[0], floats[1], floats[2:4], floats[4:]
    chosen, ends, few_group = integers[0], integers[1], integers[2]
    scratch = (width, known, ends, bound, np.empty((2, root.shape[3])))
    out = np.full((ids.size, K), -np.inf)
    for r in range(ids.size):
        n = ids[r]
        known[:] = False
        most[:] = -np.inf
        for a in range(K):
            row = row_of(x, r, 0, a)
            for j in range(d):
                z[a, j] = row[j]
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
                _raise_bounds((columns[n, t], group[n, first:], radius), size, z, root[n], scratch, most)
                continue
            if collected + standing > B:
                _raise_bounds((few, few_group, few_radius), collected, z, root[n], scratch, most)
                collected = 0
            for c in range(standing):
                i = first + chosen[c]
                few_radius[collected + c] = scale * math.sqrt(squared[n, i])
                few_group[collected + c] = group[n, i]
                for j in range(d):
                    few[j, collected + c] = columns[n, t, j, chosen[c]]
            collected += standing
        if collected > 0:
            _raise_bounds((few, few_group, few_radius), collected, z, root[n], scratch, most)
        for b in range(B):
            for a in range(K):
                out[r, a] = max(out[r, a], most[a, b])
    return out


@kernel
def _raise_bounds(models: Any, size: int, x: Array, root: Array, scratch: Any, most: Array) -> None:
    """Raise ``most[a, b]`` to ``<x[a], theta_b> + radius_b |x[a]|_{V_b^-1}`` for ``x (K, d)``, K even.

    ``models = (panel (d, B), group (B,), radius (B,))``, the first ``size`` of them; a radius below 0 changes nothing.
    ``scratch = (width (G, K), known (G,), ends (B,), bound (2, B), w (2, d))``, with the norms of the groups known.
    """
    panel, group, radius = models
    width, known, ends, bound, w = scratch
    runs = _runs(group, size, ends)
    for run in range(runs):
        g = group[ends[run] - 1]
        if not known[g]:
            known[g] = True
            for a in range(0, x.shape[0], 2):
                w[:] = 0.0
                _add_products(root[g], x, a, x.shape[1], w)
                for c in range(2):
                    total = 0.0
                    for k in range(w.shape[1]):
                        total += w[c, k] * w[c, k]
                    width[g, a + c] = math.sqrt(total)
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
        _add_products(panel, x, a, size, bound)
        for c in range(2):
            for b in range(size):
                most[a + c, b] = bound[c, b] if bound[c, b] > most[a + c, b] else most[a + c, b]


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
def _add_products(panel: Array, x: Array, a: int, size: int, out: Array) -> None:
    """Add ``<x[a + c], theta_b>`` to ``out[c, b]`` for ``c = 0, 1`` and at least the first ``size`` columns of a panel.

    Two vectors and four features at a time: few loads and stores for each product. Sixteen columns at a time, which
    leaves nothing over for slow single steps.
    """
    d = panel.shape[0]
    wide = min(16 * ((size + 15) // 16), panel.shape[1])
    fours = d - d % 4
    for j in range(0, fours, 4):
        u0, u1, u2, u3 = x[a, j], x[a, j + 1], x[a, j + 2], x[a, j + 3]
        v0, v1, v2, v3 = x[a + 1, j], x[a + 1, j + 1], x[a + 1, j + 2], x[a + 1, j + 3]
        for b in range(wide):
            t0, t1, t2, t3 = panel[j, b], panel[j + 1, b], panel[j + 2, b], panel[j + 3, b]
            out[0, b] += u0 * t0 + u1 * t1 + u2 * t2 + u3 * t3
            out[1, b] += v0 * t0 + v1 * t1 + v2 * t2 + v3 * t3
    for j in range(fours, d):
        u0, v0 = x[a, j], x[a + 1, j]
        for b in range(wide):
            t0 = panel[j, b]
            out[0, b] += u0 * t0
            out[1, b] += v0 * t0


@kernel
def _move(panel: Array, gain: Array, f: Array, start: int, stop: int) -> None:
    """Add ``gain f[1, b]`` to ``theta_b`` for ``start <= b < stop``, two features at a time."""
    d = panel.shape[0]
    for j in range(0, d - 1, 2):
        k0, k1 = gain[j], gain[j + 1]
        for b in range(start, stop):
            step, t0, t1 = f[1, b], panel[j, b], panel[j + 1, b]
            panel[j, b] = t0 + k0 * step
            panel[j + 1, b] = t1 + k1 * step
    if d % 2 == 1:
        for b in range(start, stop):
            panel[d - 1, b] += gain[d - 1] * f[1, b]
