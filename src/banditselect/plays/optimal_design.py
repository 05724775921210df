"""Inverse gaps by optimal design: few actions are played whose features explain those of all that are offered.

The features of an action, divided by ``sqrt(s + alpha gap)``, are its reweighted features, s the rank of the features
offered. A design is a probability per action; here no leverage ``|x|^2_{V^-1}`` exceeds ``(1 + TOLERANCE) s``, V the
second moment of the reweighted features under it (``docs/math.md``, section 15). It is found on a pool of actions: the
design of the pool is improved by exact steps towards the action of largest leverage (Wynn, Fedorov), then all actions
are surveyed once, and those that are explained worst join the pool. Nothing depends on the units of the features.

Reference: Kumar, Yildirim, "Minimum-volume enclosing ellipsoids and core sets", JOTA 2005.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..kernels import inlined, kernel
from ..kernels.features import ALL_OFFERED, Features, Lookup
from ..kernels.ridge import dot, images
from ..types import Array, Index, Mask
from .inverse_gaps import Rates, evaluated
from .play import Play

LIGHTEST = 0.01  #: maps that weigh less than this share of the leading one are not explored
WIDEST = 128  #: more features than this, of several maps together, are not explored at once

TOLERANCE = 0.5  #: how far a leverage may exceed that of the optimal design, as a share of it
FINE = 0.2  #: the same within the pool: less than that, so that few surveys are needed
THIN = 1e-7  #: what lies closer to the span of other features than this, in units of the largest, lies in it
SURVEYS = 30  #: so many are never needed
BLOCK = 64  #: so many actions are surveyed at a time


class OptimalGaps(Play):
    r"""Chooses few actions whose features explain those of all, and plays these by inverse gaps.

    .. math:: p(a) = \frac{s q(a)}{s + \alpha (\hat y(a') - \hat y(a))}

    with the rest on :math:`a' = \arg\max \hat y` (shared equally among ties), s the rank of the features and q a nearly
    optimal design of those divided by the root of :math:`s + \alpha (\hat y(a') - \hat y(a))`.

    With several maps the features are those of the heaviest maps side by side: all predictions, and their mean under
    the weights, are linear in them. Maps below ``LIGHTEST`` and beyond ``WIDEST`` are left out.

    Parameters
    ----------
    rate: returns alpha, as for :class:`InverseGaps`.  dims: widths of the maps, ``(M,)``.
    constant: whether a constant feature 1 stands before those of every map.
    """

    asks: ClassVar = ("predict", "weights", "rounds")

    def __init__(self, rate: Callable[[Index, Array, int, Mask | None], Rates], dims: Index, constant: bool) -> None:
        self.rate = rate
        self._constant = constant
        self._dims = dims + constant

    def probabilities(self, model: Any, ids: Index, x: Features, offered: Mask | None, normals: Any = None) -> Array:
        """Return probabilities ``(n, K)``."""
        score = model.predict(ids, x)
        alpha = evaluated(ids, self.rate(ids, model.rounds, score.shape[1], offered))
        if self._constant and not model.constant:  # else the policy has put it there
            x = x.with_constant()
        seen = x.values.array() if isinstance(x.values, Lookup) else x.values
        if self._dims.size == 1:
            return optimal_gaps(seen[:, 0], score, alpha, ALL_OFFERED if offered is None else offered)
        p = np.empty(score.shape)
        choices, choice = np.unique(self._explored(model.weights()[ids]), axis=0, return_inverse=True)
        for k, chosen in enumerate(choices):
            rows = np.flatnonzero(choice == k)
            maps = np.concatenate([seen[rows, i, :, : self._dims[i]] for i in np.flatnonzero(chosen)], axis=2)
            p[rows] = optimal_gaps(maps, score[rows], alpha[rows], ALL_OFFERED if offered is None else offered[rows])
        return p

    def _explored(self, weights: Array) -> Mask:
        """Return which maps the design is for, ``(n, M)``."""
        order = np.argsort(-weights, axis=1, kind="stable")
        heavy = np.take_along_axis(weights, order, axis=1)
        fits = np.cumsum(self._dims[order], axis=1) <= WIDEST
        fits[:, 0] = True
        out = np.zeros(weights.shape, dtype=bool)
        np.put_along_axis(out, order, fits & (heavy >= LIGHTEST * heavy[:, :1]), axis=1)
        return out


@kernel
def optimal_gaps(x: Array, score: Array, alpha: Array, offered: Mask) -> Array:
    """Return the probabilities ``(n, K)`` of the play on features ``x (n, K, D)``; copies of an action share."""
    _, K, D = x.shape
    p, everything = np.zeros(score.shape), offered.size < 2
    slope, copies = np.empty(K), np.empty(K, dtype=np.int64)
    pool = np.empty((SURVEYS + 1) * (D + 1), dtype=np.int64)
    q = np.empty(pool.size)
    for r in range(score.shape[0]):
        best, ties = -np.inf, 0
        for a in range(K):
            if everything or offered[r, a]:
                if score[r, a] > best:
                    best, ties = score[r, a], 0
                ties += score[r, a] == best
        for a in range(K):
            slope[a] = alpha[r] * (best - score[r, a]) if everything or offered[r, a] else -1.0
        m, s = design(x[r], slope, pool, q)
        spent = 0.0
        for b in range(m):
            if s > 0 and q[b] > 0.0:
                share = s * q[b] / (s + slope[pool[b]])
                spent += share
                count = 0
                for a in range(K):
                    if slope[a] == slope[pool[b]] and _copies(x[r], a, pool[b]):
                        copies[count] = a
                        count += 1
                for a in copies[:count]:
                    p[r, a] += share / count
        for a in range(K):
            if (everything or offered[r, a]) and score[r, a] == best:
                p[r, a] += max(1.0 - spent, 0.0) / ties
    return p


@inlined
def _copies(x: Array, a: int, b: int) -> bool:
    """Return whether two actions have the same features."""
    j = 0
    while j < x.shape[1] and x[a, j] == x[b, j]:
        j += 1
    return j == x.shape[1]


@kernel
def design(x: Array, slope: Array, pool: Index, q: Array) -> tuple[int, int]:
    """Find a pool of actions and their design ``q``; return how many it has, and the rank s of the features offered."""
    D, count = x.shape[1], np.sum(slope >= 0.0)
    root, rank = np.zeros((1, D, D + -D % 4)), D
    root[0, :, :D] = np.eye(D)
    m = survey(x, slope, root, rank, 0.0, pool, 0)
    if m == 0:  # all features are 0
        return 0, 0
    scale, unit, size = np.empty(D), np.empty((D, D)), np.empty(D)
    pivots = np.empty(D, dtype=np.int64)
    q[:] = 0.0
    for turn in range(SURVEYS):
        y, z, steep = x[pool[:m]], np.empty((m, D)), np.sqrt(rank + slope[pool[:m]]).reshape((m, 1))
        if turn == 0:  # of every column the largest is in the pool
            for j in range(D):
                largest = np.max(np.abs(y[:, j]) / steep[:, 0])
                scale[j] = largest if largest > 0.0 else 1.0
        y /= scale * steep
        s = pivot(y, unit, size, pivots, z)
        if s == 0:
            return m, 0
        if s != rank:  # all are reweighted anew
            rank = s
            continue
        c, G = z[:, :s].copy(), np.empty((s, s))
        L = c[pivots[:s]]
        for b in range(m):  # c becomes c L^-1
            for k in range(s - 1, -1, -1):
                for i in range(k + 1, s):
                    c[b, k] -= c[b, i] * L[i, k]
        balance(c, pivots, q, G)
        if m == count:
            break
        for k in range(s):  # G becomes L^-1 G
            for i in range(k):
                for j in range(s):
                    G[k, j] -= L[k, i] * G[i, j]
        for j in range(D):
            for k in range(D):
                root[0, j, k] = 0.0 if k < s else unit[k, j] / (scale[j] * THIN)
            for i in range(s):
                for k in range(s):
                    root[0, j, k] += unit[i, j] / (scale[j] * size[i]) * G[i, k]
        before = m
        m = survey(x, slope, root, s, (1.0 + 1e-6) * (1.0 + TOLERANCE) * s, pool, m)
        if m == before:
            break
    return m, rank


@kernel
def survey(x: Array, slope: Array, root: Array, rank: int, least: float, pool: Index, m: int) -> int:
    """Let actions join a pool of ``m`` whose leverage ``|root' x|^2 / (rank + slope)`` exceeds ``least``.

    Of those, the one of largest leverage and the largest along every column of the root, so that nothing depends on the
    order of the actions. ``slope (K,)``: alpha times the gap, below 0 where an action is not offered. Returns how many
    the pool then has.
    """
    K, D = x.shape
    w, none = np.empty((BLOCK + 1, root.shape[2])), np.empty((0, 0, 0), dtype=np.int64)
    who, top = np.full(D + 1, -1), np.zeros(D + 1)
    for first in range(0, K, BLOCK):
        last = min(first + BLOCK, K)
        images(root, 0, none, 0, 0, x[first:last], D, w)
        for a in range(first, last):
            if slope[a] < 0.0:
                continue
            b, share = a - first, 1.0 / (rank + slope[a])
            leverage = dot(w[b, :D], w[b, :D]) * share
            if leverage > least:
                for k in range(D):
                    along = w[b, k] * w[b, k] * share
                    if along > top[k]:
                        top[k], who[k] = along, a
                if leverage > top[D]:
                    top[D], who[D] = leverage, a
    for a in who:
        known = a < 0
        for b in range(m):
            known = known or pool[b] == a
        if not known:
            pool[m] = a
            m += 1
    return m


@kernel
def pivot(y: Array, unit: Array, size: Array, pivots: Index, z: Array) -> int:
    """Find rows of ``y (m, D)`` that span them all, each time the one that is furthest from those found; say how many.

    ``unit (D, D)`` gets orthonormal directions, those behind the rank orthogonal to all rows, ``size`` how far the
    rows ``pivots`` lie along theirs, and ``z (m, rank)`` the coordinates of all rows, in units of that: at most 1 each.
    ``y`` is used up.
    """
    m, D = y.shape
    rank = 0
    while rank < D:
        far, at = THIN * THIN, -1
        for b in range(m):
            square = dot(y[b], y[b])
            if square > far:
                far, at = square, b
        if at < 0:
            break
        size[rank], pivots[rank] = math.sqrt(far), at
        unit[rank] = y[at]
        _orthogonalise(unit, rank)
        for b in range(m):
            along = dot(y[b], unit[rank])
            z[b, rank] = along / size[rank]
            for j in range(D):
                y[b, j] -= along * unit[rank, j]
        y[at] = 0.0
        z[at, rank] = 1.0
        rank += 1
    for k in range(rank, D):
        least, at = np.inf, 0
        for j in range(D):
            known = dot(unit[:k, j], unit[:k, j])
            if known < least:
                least, at = known, j
        unit[k] = 0.0
        unit[k, at] = 1.0
        _orthogonalise(unit, k)
    return rank


@inlined
def _orthogonalise(unit: Array, k: int) -> None:
    """Make row ``k`` a unit vector that is orthogonal to the rows before it."""
    for _ in range(2):
        for i in range(k):
            along = dot(unit[i], unit[k])
            for j in range(unit.shape[1]):
                unit[k, j] -= along * unit[i, j]
        norm = math.sqrt(dot(unit[k], unit[k]))
        for j in range(unit.shape[1]):
            unit[k, j] /= norm


@kernel
def balance(c: Array, pivots: Index, q: Array, G: Array) -> None:
    """Find the design ``q (m,)`` of a pool with the coordinates ``c (m, s)``, in which its pivots are unit vectors.

    ``G (s, s)`` gets a root of the inverse of the second moment: the leverage of a row is ``|G' c|^2``. A step
    ``q <- (1 - beta) q + beta e_b`` has the best ``beta = (l / s - 1) / (l - 1)`` for the leverage l of b.
    """
    m, s = c.shape
    leverage, g, h = np.empty(m), np.empty(s), np.empty(s)
    G[:] = math.sqrt(s) * np.eye(s)
    q[:] = 0.0
    q[pivots[:s]] = 1.0 / s
    for b in range(m):
        leverage[b] = s * dot(c[b], c[b])
    for _ in range(100 * s):
        b = int(np.argmax(leverage))
        if leverage[b] <= (1.0 + FINE) * s:
            break
        for k in range(s):
            g[k] = dot(G[:, k], c[b])
        for j in range(s):
            h[j] = dot(G[j], g)
        largest = dot(g, g)
        beta = (largest / s - 1.0) / (largest - 1.0)
        left = 1.0 - beta + beta * largest
        factor = (1.0 - math.sqrt((1.0 - beta) / left)) / largest
        for a in range(m):
            along = dot(c[a], h)
            leverage[a] = (leverage[a] - beta / left * along * along) / (1.0 - beta)
            q[a] *= 1.0 - beta
        q[b] += beta
        for j in range(s):
            for k in range(s):
                G[j, k] = (G[j, k] - factor * h[j] * g[k]) / math.sqrt(1.0 - beta)
