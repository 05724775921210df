"""Kernels of the posterior over members, each a linear regression with an unknown noise (normal-inverse-gamma).

Of M maps and J prior scales, member ``j M + i`` is map ``i`` at scale ``j``; so it is with regions and noise levels. A
mixture comes as two tuples. ``ridges`` is ``(theta, root, dims, first)`` for maps, for regions ``(columns, root,
group)``; several mixtures of the same rewards as ``(ridges of each, share (N, G))`` and ``(beliefs of each)``. The
weights follow from ``beliefs = (evidence, seen, moments, log_prior, prior_variance, limits, size, precision, level,
bar, forecast)``:

* ``evidence (N, 3, members)`` as in ``kernels.ridge``, for rewards counted from the first;
* ``seen (N,)``, the rewards that count;
* ``moments (N, 3)`` of the rewards, and ``log_prior (N, members)``;
* ``prior_variance (N, members)``: the noise variance that is given, or 0 where it is learned from the rewards alone;
* ``limits (2, members)``: how far the log of the variance may be from that of the given one, ``LOW`` and ``HIGH``, both
  0 where it is known;
* ``size (N, V)``: a squared norm, by whose root the features of each view of a map are divided. The first P views are
  the maps as given. Others are centred (``models.map_views``): view ``P + i`` is map i less ``bar``;
* ``precision``: prior precision of the constant term, 0 without one;
* ``level (N, 3, members)``: the level of rewards where a map has blocks, 0 elsewhere;
* ``bar (n, P, d)`` and ``forecast (n,)``: of each round the means of the actions offered, 0 for a map with blocks, and
  the level, which centred views have as their first feature; both empty without them.

A map with blocks has three kinds of features: a constant 1, whose coefficient is the level of all rewards, with the
``precision`` above; a constant for each block, and the features for each block. The blocks are kept as if the level
were 0. The level follows from two sums over the blocks (``docs/math.md``, section 11): with theta and V of a block,
lambda the prior precision of its constant, e its unit vector and ``h = V^-1 e``, the level has the precision ``pi =
precision + sum (lambda - lambda^2 e'h)`` and the mean ``sum lambda theta[0] / pi``. A reward is then predicted by
``theta + mean lambda h``, and the variance of a prediction ``<phi, .>`` is larger by ``lambda^2 <phi, h>^2 / pi``.
``level`` has the two sums and lambda.
"""

import math
from typing import Any

import numpy as np
from numba.extending import overload

from ..kernels import inlined, kernel
from ..kernels.features import rows_of_map
from ..kernels.ridge import LOGDET, PENALISED, dot
from ..kernels.weights import normalise
from ..types import Array, Index, Mask

NEGLIGIBLE = 1e-3  #: of an act members are left out that weigh less than this over their number; the others sum to 1
ROUNDING = 1e-12  #: features that are so close to their mean, by their own size, are equal
TRUST = 1.0  #: shape of the inverse gamma prior of the variance
ROOT_HALF = 0.7071067811865476

FIRST = 0  #: moments: the first reward, which all others are counted from; 0 without a constant term
MEAN = 1  #: mean of the rewards less the first; 0 without a constant term
SQUARES = 2  #: sum of their squared distances from that mean

LOW, HIGH = 0, 1  #: rows of ``limits``
ONE_VIEW: tuple[Array, Array] = np.empty((1, 0, 0)), np.empty(0)  #: ``bar, forecast`` without centred views
INFORMATION, MOMENT, PENALTY = 0, 1, 2  #: rows of ``level``: the two sums, and lambda
REWARDS, TO = 0, 1  #: rows of ``lends``


# The weights.


@kernel
def weigh(n: int, beliefs: Any, log_weight: Array, weight: Array, variance: Array) -> None:
    """Write log weights up to a constant, weights and noise variances of the members of lane ``n``, ``(members,)``.

    They are those of ``models.mixture``. While all rewards are equal nothing depends on the noise, which is 1 then.
    """
    evidence, seen, moments, log_prior, prior_variance, limits, _, precision, level, _, _ = beliefs
    t = seen[n]
    spread = moments[n, SQUARES] / max(t - 1.0 if precision > 0.0 else float(t), 1.0)
    log_spread = math.log(spread) if spread > 0.0 else 0.0
    shape = TRUST + 0.5 * t
    for k in range(weight.size):
        log_weight[k] = log_prior[n, k] - 0.5 * evidence[n, LOGDET, k]
        loss = 0.5 * evidence[n, PENALISED, k]
        if level[n, INFORMATION, k] > 0.0:
            log_weight[k] -= 0.5 * math.log1p(level[n, INFORMATION, k] / precision)
            loss -= 0.5 * level[n, MOMENT, k] ** 2 / (precision + level[n, INFORMATION, k])
            loss = max(loss, 0.0)
        about, log_about = spread, log_spread
        if prior_variance[n, k] > 0.0:
            if limits[LOW, k] == limits[HIGH, k]:
                variance[k] = prior_variance[n, k]
                log_weight[k] -= loss / prior_variance[n, k]
                continue
            about, log_about = prior_variance[n, k], math.log(prior_variance[n, k])
        variance[k] = 1.0
        if about > 0.0:
            scale = TRUST * about + loss
            variance[k] = scale / shape
            log_weight[k] += TRUST * log_about - shape * math.log(scale)
            if prior_variance[n, k] > 0.0:
                off = math.log(variance[k] / about)
                log_weight[k] += log_inside(off, 1.0 / math.sqrt(shape), limits[LOW, k], limits[HIGH, k])
    normalise(log_weight, weight)


@inlined
def log_inside(center: float, deviation: float, low: float, high: float) -> float:
    """Return ``log P(low < Z < high)`` for ``Z ~ N(center, deviation^2)``; not below that of 1e-300."""
    above = math.erfc(ROOT_HALF * (center - high) / deviation)
    below = math.erfc(ROOT_HALF * (center - low) / deviation)
    return math.log(max(0.5 * (above - below), 1e-300))


@kernel
def weigh_rows(ids: Index, beliefs: Any) -> Array:
    """Return what ``weigh`` finds for every row, ``(3, n, members)``."""
    out = np.empty((3, ids.size, beliefs[3].shape[1]))
    for r in range(ids.size):
        weigh(ids[r], beliefs, out[0, r], out[1, r], out[2, r])
    return out


# Features in the units of their map.


@inlined
def apart(value: float, mean: float) -> float:
    """Return ``value - mean``, 0 if that is no more than rounding."""
    gap = value - mean
    return gap if abs(gap) > ROUNDING * abs(value) else 0.0


@kernel
def prepare_view(x: Any, r: int, v: int, size: float, precision: float, views: Any, allowed: Mask, out: Array) -> None:
    """Write ``out[:, a] = x[r, v, a] / sqrt(size)``, behind a 1 if there is a constant term.

    View ``v >= P`` is map ``v - P`` centred: its features are less those of ``bar``, and the forecast of the level
    stands first, ``views = (bar, forecast)``. A size of 0 is not known yet: then the mean squared norm of the features
    that are offered takes its place. In ``out (d, K)``, loops over actions become vector instructions.
    """
    rows, P, first = rows_of_map(x, r, v % x.shape[1]), x.shape[1], 1 if precision > 0.0 else 0
    out[:first] = 1.0
    if v >= P:
        bar, forecast = views
        out[0], out[1], first = forecast[r], 1.0, 2
    K, d = rows.shape
    for a in range(K):
        for j in range(d):
            out[first + j, a] = rows[a, j]
    for j in range(d if v >= P else 0):
        for a in range(K):
            gap = rows[a, j] - bar[r, v - P, j]
            out[first + j, a] = gap if abs(gap) > ROUNDING * abs(rows[a, j]) else 0.0
    if size == 0.0:
        count = 0
        for a in range(K):
            if allowed[a]:
                count += 1
                for j in range(d):
                    size += out[first + j, a] ** 2
        size /= count
    factor = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
    for j in range(d):
        for a in range(K):
            out[first + j, a] *= factor


# The members that count in an act.


def members(r: int, n: int, x: Any, block: Index, ridges: Any, beliefs: Any, allowed: Mask, lends: Array) -> Any:
    """Return the C members that count in row ``r`` of lane ``n``.

    They are ``(weight, variance, z, theta, root, chosen, cells, places, dims, shift, tilt, constant)``: weights of sum
    1 ``(C,)``, noise variances ``(C,)``; features ``(V, d, K)`` as members read them, of the views that any reads;
    estimates and roots, in rows; then, ``(C,)`` each, which members they are (member ``k`` reads view ``k % V``), the
    rows of estimate and root of the first block, how many features they have, and what the level of rewards adds with
    blocks: to estimates ``shift h``, to the variance of ``<phi, theta>`` ``tilt <phi, h>^2``. ``constant`` is the
    variance of the constant term if rewards taught nothing else, for noise of variance 1; 0 without such a term.
    ``lends``: see ``lend``.
    """
    of = {2: _members_of_memories, 3: _members_of_regions, 4: _members_of_maps}[len(ridges)]
    return of(r, n, x, block, ridges, beliefs, allowed, lends)


@inlined
def _members_of_maps(
    r: int, n: int, x: Any, block: Index, ridges: Any, beliefs: Any, allowed: Mask, lends: Array
) -> Any:
    theta, root, dims, first = ridges
    weight, variance, z, chosen, shift, tilt = _counted(r, n, x, theta.shape[2], beliefs, allowed, lends)
    cells, constant = first[chosen], 1.0 / (beliefs[7] + beliefs[1][n]) if beliefs[7] > 0.0 else 0.0
    return weight, variance, z, theta[n], root[n], chosen, cells, cells, dims[chosen], shift, tilt, constant


@inlined
def _members_of_regions(
    r: int, n: int, x: Any, block: Index, ridges: Any, beliefs: Any, allowed: Mask, lends: Array
) -> Any:
    columns, root, group = ridges
    widest, B = columns.shape[2], columns.shape[3]
    weight, variance, z, chosen, shift, tilt = _counted(r, n, x, widest, beliefs, allowed, lends)
    C, places = chosen.size, group[n][chosen]
    theta = np.empty((C, widest))
    for c in range(C):
        theta[c] = columns[n, chosen[c] // B, :, chosen[c] % B]
    dims, constant = np.full(C, widest), 1.0 / (beliefs[7] + beliefs[1][n]) if beliefs[7] > 0.0 else 0.0
    return weight, variance, z, theta, root[n], chosen, np.arange(C), places, dims, shift, tilt, constant


@kernel
def _members_of_memories(
    r: int, n: int, x: Any, block: Index, ridges: Any, beliefs: Any, allowed: Mask, lends: Array
) -> Any:
    """Return those of several mixtures together, with copies of the estimates and roots that they read."""
    of_each, share = ridges
    V, M = beliefs[0][6].shape[1], beliefs[0][3].shape[1]
    kept = [g for g in range(share.shape[1]) if share[n, g] * share.shape[1] >= NEGLIGIBLE]
    each = [members(r, n, x, block, of_each[g], beliefs[g], allowed, lends) for g in kept]
    C, total, B = 0, 0.0, block[r].max() + 1 if block.size > 0 else 1
    for g in range(len(kept)):
        C += each[g][0].size
        total += share[n, kept[g]]
    _, _, z, theta, root, _, _, _, _, _, _, _ = each[0]
    z, ready = np.empty(z.shape), np.zeros(V, dtype=np.bool_)
    theta, root = np.empty((C * B, theta.shape[1])), np.empty((C * B, root.shape[1], root.shape[2]))
    numbers, which, c, constant = np.empty((4, C)), np.empty((4, C), dtype=np.int64), 0, 0.0
    for g in range(len(kept)):
        weight, variance, rows, estimates, roots, chosen, cells, places, dims, shift, tilt, alone = each[g]
        part = share[n, kept[g]] / total
        constant += part * alone
        for k in range(weight.size):
            i = chosen[k] % V
            if not ready[i]:
                z[i], ready[i] = rows[i], True
            numbers[:, c] = part * weight[k], variance[k], shift[k], tilt[k]
            shared = k > 0 and places[k] == places[k - 1]
            which[:, c] = kept[g] * M + chosen[k], c * B, which[2, c - 1] if shared else c * B, dims[k]
            for a in range(x.shape[2] if block.size > 0 else 1):
                b = block[r, i % x.shape[1], a] if block.size > 0 else 0
                theta[c * B + b] = estimates[cells[k] + b]
                if not shared and (a == 0 or b != block[r, i % x.shape[1], a - 1]):
                    root[c * B + b] = roots[places[k] + b]
            c += 1
    chosen, cells, places, dims = which
    weight, variance, shift, tilt = numbers
    return weight, variance, z, theta, root, chosen, cells, places, dims, shift, tilt, constant


@overload(members, strict=False)
def _members(r: int, n: int, x: Any, block: Index, ridges: Any, beliefs: Any, allowed: Mask, lends: Array) -> Any:
    of = {2: _members_of_memories, 3: _members_of_regions, 4: _members_of_maps}[len(ridges)]
    return lambda r, n, x, block, ridges, beliefs, allowed, lends: of(r, n, x, block, ridges, beliefs, allowed, lends)


@inlined
def _counted(r: int, n: int, x: Any, widest: int, beliefs: Any, allowed: Mask, lends: Array) -> Any:
    """Return ``(weight, variance, z, chosen, shift, tilt)`` of :func:`members`."""
    size, precision, level, views = beliefs[6], beliefs[7], beliefs[8], (beliefs[9], beliefs[10])
    V, M = size.shape[1], beliefs[3].shape[1]
    scratch, chosen = np.empty((3, M)), np.empty(M, dtype=np.int64)
    z, ready = np.empty((V, widest, x.shape[2])), np.zeros(V, dtype=np.bool_)
    weight, variance, shift, tilt = scratch[1], scratch[2], np.zeros(M), np.zeros(M)
    weigh(n, beliefs, scratch[0], weight, variance)
    if lends.size > 0:
        lend(beliefs[1][n], lends, weight)
    C, total = 0, 0.0
    for k in range(M):
        if weight[k] * M >= NEGLIGIBLE:
            i = k % V
            if level[n, PENALTY, k] > 0.0:
                shift[C], tilt[C] = of_level(n, k, precision, level)
            if not ready[i]:
                prepare_view(x, r, i, size[n, i], precision, views, allowed, z[i])
                ready[i] = True
            total += weight[k]
            chosen[C], weight[C], variance[C] = k, weight[k], variance[k]
            C += 1
    return weight[:C] / total, variance[:C], z, chosen[:C], shift[:C], tilt[:C]


@inlined
def lend(t: float, lends: Array, weight: Array) -> None:
    """Let members of small prior scale lend weight to a wider one of their map, after ``t`` rewards.

    ``lends (2, members)``: how many rewards a member lends all its weight for, later ``(rewards / t)^2`` of it, and the
    member that it lends to, which lends nothing itself. No member lends where it is empty.
    """
    for k in range(lends.shape[1]):
        if lends[REWARDS, k] > 0.0:
            moved = weight[k] * min(lends[REWARDS, k] / max(t, 1.0), 1.0) ** 2
            weight[k] -= moved
            weight[int(lends[TO, k])] += moved


@inlined
def of_level(n: int, k: int, precision: float, level: Array) -> tuple[float, float]:
    """Return what the level of rewards adds in member ``k``: ``shift`` and ``tilt`` of :func:`members`."""
    known, penalty = precision + level[n, INFORMATION, k], level[n, PENALTY, k]
    return penalty * level[n, MOMENT, k] / known, penalty * penalty / known


@inlined
def predictions(counted: Any, r: int, block: Index, allowed: Mask, each: Array, mean: Array) -> tuple[int, float]:
    """Write the predictions ``each (C, K)`` of the members and their ``mean (K,)``.

    Returns the first of the best actions, and the mean variance.
    """
    weight, variance, z, theta, root, chosen, cells, _, dims, shift, _, _ = counted
    noise = 0.0
    mean[:] = 0.0
    for c in range(weight.size):
        noise += weight[c] * variance[c]
        p = chosen[c] % z.shape[0]
        each[c] = 0.0
        start = 0
        while start < mean.size:
            cell, stop = run_of(cells[c], block, r, p, start, mean.size)
            for j in range(dims[c]):
                coefficient = theta[cell, j]
                if shift[c] != 0.0:
                    coefficient += shift[c] * dot(root[cell, j], root[cell, 0])
                for a in range(start, stop):
                    each[c, a] += z[p, j, a] * coefficient
            start = stop
        for a in range(mean.size):
            mean[a] += weight[c] * each[c, a]
    leader = -1
    for a in range(mean.size):
        if allowed[a] and (leader < 0 or mean[a] > mean[leader]):
            leader = a
    return leader, noise


@inlined
def spreads(
    counted: Any, r: int, block: Index, leader: int, each: Array, mean: Array, deviation: Array, total: Array
) -> None:
    """Write how far rewards are known, given the predictions of the members and their mean.

    ``deviation (C, K)`` is that of the difference between an action and the leader under a member; ``total (K,)`` the
    variance of the reward of an action within and between the members.
    """
    weight, variance, z, _, root, chosen, _, places, dims, _, tilt, _ = counted
    K = mean.size
    square, apart, along, w = np.empty(K), np.empty(K), np.empty(K), np.empty((3, root.shape[2]))
    total[:] = 0.0
    for c in range(weight.size):
        if c == 0 or places[c] != places[c - 1]:
            p = chosen[c] % z.shape[0]
            if tilt[c] > 0.0:
                along[:] = 0.0
            start = 0
            while start < K:
                place, stop = run_of(places[c], block, r, p, start, K)
                widths(z[p], root[place], dims[c], leader, start, stop, w, square, apart)
                for j in range(dims[c] if tilt[c] > 0.0 else 0):
                    h = dot(root[place, j], root[place, 0])
                    for a in range(start, stop):
                        along[a] += z[p, j, a] * h
                start = stop
            for a in range(K):
                if block.size > 0 and block[r, p % block.shape[1], a] != block[r, p % block.shape[1], leader]:
                    apart[a] = square[a] + square[leader]  # given the level, two blocks are independent
            if tilt[c] > 0.0:
                for a in range(K):
                    square[a] += tilt[c] * along[a] ** 2
                    apart[a] += tilt[c] * (along[a] - along[leader]) ** 2
        for a in range(K):
            total[a] += weight[c] * (variance[c] * square[a] + (each[c, a] - mean[a]) ** 2)
            deviation[c, a] = math.sqrt(variance[c] * apart[a])


@inlined
def run_of(first: int, block: Index, r: int, p: int, start: int, K: int) -> tuple[int, int]:
    """Return the cell of an action whose map has its first block there, and where the run of its block ends."""
    if block.size == 0:
        return first, K
    i = p % block.shape[1]
    stop = start + 1
    while stop < K and block[r, i, stop] == block[r, i, start]:
        stop += 1
    return first + block[r, i, start], stop


@inlined
def widths(
    z: Array, root: Array, d: int, leader: int, start: int, stop: int, w: Array, square: Array, apart: Array
) -> None:
    """Write ``|z[:, a]|^2_{V^-1}`` to ``square`` and that of the difference to the leader to ``apart``; ``z (d, K)``.

    For ``start <= a < stop``. Two actions and four features at a time, along the rows of the root: few loads and stores
    for each product. ``w (3, .)`` is scratch: ``root' z[:, a]`` of the two, and of the leader.
    """
    wide, fours = min(d + -d % 4, root.shape[1]), d - d % 4
    w[:] = 0.0
    for j in range(d):
        u = z[j, leader]
        for k in range(wide):
            w[2, k] += root[j, k] * u
    for a in range(start, stop, 2):
        b = min(a + 1, stop - 1)
        for k in range(wide):
            w[0, k] = w[1, k] = 0.0
        for j in range(0, fours, 4):
            u_0, u_1, u_2, u_3 = z[j, a], z[j + 1, a], z[j + 2, a], z[j + 3, a]
            v_0, v_1, v_2, v_3 = z[j, b], z[j + 1, b], z[j + 2, b], z[j + 3, b]
            for k in range(wide):
                r_0, r_1, r_2, r_3 = root[j, k], root[j + 1, k], root[j + 2, k], root[j + 3, k]
                w[0, k] += r_0 * u_0 + r_1 * u_1 + r_2 * u_2 + r_3 * u_3
                w[1, k] += r_0 * v_0 + r_1 * v_1 + r_2 * v_2 + r_3 * v_3
        for j in range(fours, d):
            u_0, v_0 = z[j, a], z[j, b]
            for k in range(wide):
                w[0, k] += root[j, k] * u_0
                w[1, k] += root[j, k] * v_0
        square_0 = square_1 = apart_0 = apart_1 = 0.0
        for k in range(wide):
            square_0 += w[0, k] * w[0, k]
            square_1 += w[1, k] * w[1, k]
            apart_0 += (w[0, k] - w[2, k]) ** 2
            apart_1 += (w[1, k] - w[2, k]) ** 2
        square[b], apart[b] = square_1, apart_1
        square[a], apart[a] = square_0, apart_0


# Learning.


@inlined
def take_size(n: int, i: int, square: float, size: Array, logs: Array, counted: Index) -> None:
    """Count the squared norm of features in map ``i`` of lane ``n``, unless it is 0; the first is the map's size."""
    if square > 0.0:
        logs[n, i] += math.log(square)
        counted[n, i] += 1
        if size[n, i] == 0.0:
            size[n, i] = square


@inlined
def center(n: int, y: float, count: float, moments: Array, precision: float) -> float:
    """Count a reward, the ``count``-th, in the moments; return it less the first, if there is a constant term."""
    if precision > 0.0 and count == 1.0:
        moments[n, FIRST] = y
    centered = y - moments[n, FIRST]
    before = centered - moments[n, MEAN]
    if precision > 0.0:
        moments[n, MEAN] += before / count
    moments[n, SQUARES] += before * (centered - moments[n, MEAN])
    return centered
