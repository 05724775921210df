"""The posterior over models, each a linear regression with an unknown noise level (normal-inverse-gamma).

A model ``k`` has ``evidence`` as in ``kernels.ridge``, a weight, a variance. Of M maps and J prior scales, model
``j M + i`` is map ``i`` at scale ``j``.
"""

import math
from typing import NamedTuple

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel
from .features import alike, behind, block, cell, end_of_run, entry, prepare_map, sizes, table
from .ridge import LOGDET, PENALISED, columns, images
from .selection import normalise

NEGLIGIBLE = 1e-3  #: models are left out of an act whose weights sum to less
DRIFT = 2.302585092994046  #: by how much the log of a size may be off: a factor 10
ROOT_HALF = 0.7071067811865476

FIRST = 0  #: moments: the first reward, which all others are counted from; 0 without a constant term
MEAN = 1  #: mean of the rewards less the first; 0 without a constant term
SQUARES = 2  #: sum of their squared distances from that mean


class Beliefs(NamedTuple):
    """What the weights of the models of N lanes follow from.

    Attributes
    ----------
    evidence, updates: of the bank, see ``kernels.ridge``.  moments: of the rewards, ``(N, 3)``.
    log_prior: ``(N, models)``.  known: the noise variance, ``(N,)``, or 0.
    expected: what it is expected to be, ``(N, models)``, or 0.  window: how far it may be from that, ``(2, models)``.
    size: what the features of each map are divided by, ``(N, P)``.
    trust: shape of the prior of the variance.  precision: of the constant term, 0 if there is none.
    level: what the logdet of a model with blocks has of the level that their constants are counted from, ``(models,)``.
    """

    evidence: Array
    updates: Index
    moments: Array
    log_prior: Array
    known: Array
    expected: Array
    window: Array
    size: Array
    trust: float
    precision: float
    level: Array


class Counted(NamedTuple):
    """The C models that count in an act of one lane.

    Attributes
    ----------
    x: features ``(1, P, K, d)`` as models read them; maps that no model reads are not filled in.
    weight: of sum 1, ``(C,)``.  variance: ``(C,)``.  theta: estimates, in rows.
    maps, row, place, dims: which map a model reads, which estimate and which root it has (with blocks: ``cell`` knows
    which of them an action has), how wide it is, at least ``(C,)``.
    """

    x: Array
    weight: Array
    variance: Array
    theta: Array
    maps: Index
    row: Index
    place: Index
    dims: Index


@kernel
def meet(ids: Index, x: Array, size: Array, logs: Array, counts: Index) -> bool:
    """Take in the squared norms of features ``x (n, P, d)`` that are not zero: sums of ``logs (N, P)``, and ``counts``.

    The first of a map is its ``size``. Tells whether that of some map is off by more than ``DRIFT`` by now.
    """
    drifted = False
    for r in range(ids.size):
        n = ids[r]
        for i in range(x.shape[1]):
            square = 0.0
            for j in range(x.shape[2]):
                square += x[r, i, j] ** 2
            if square > 0.0:
                logs[n, i] += math.log(square)
                counts[n, i] += 1
                if size[n, i] == 0.0:
                    size[n, i] = square
            if counts[n, i] > 0:
                drifted |= abs(logs[n, i] / counts[n, i] - math.log(size[n, i])) > DRIFT
    return drifted


@kernel
def center_rewards(ids: Index, y: Array, updates: Index, moments: Array, constant: bool, out: Array) -> None:
    """Take in rewards ``y (n,)`` after ``updates (N,)`` others; ``out`` has them less the first, with a constant."""
    for r in range(ids.size):
        n = ids[r]
        if constant and updates[n] == 0:
            moments[n, FIRST] = y[r]
        out[r] = y[r] - moments[n, FIRST]
        before = out[r] - moments[n, MEAN]
        if constant:
            moments[n, MEAN] += before / (updates[n] + 1)
        moments[n, SQUARES] += before * (out[r] - moments[n, MEAN])


@inlined
def log_inside(center: float, deviation: float, window: Array) -> float:
    """``log P(window[0] < Z < window[1])`` for ``Z ~ N(center, deviation^2)``; not below that of 1e-300."""
    high = math.erfc(ROOT_HALF * (center - window[1]) / deviation)
    low = math.erfc(ROOT_HALF * (center - window[0]) / deviation)
    return math.log(max(0.5 * (high - low), 1e-300))


@inlined
def weigh(n: int, beliefs: Beliefs, log_weight: Array, weight: Array, variance: Array) -> None:
    """Posterior ``weight`` and ``variance`` of every model of lane ``n``, ``(models,)``.

    With a noise variance ``known[n] > 0``: by the Gaussian evidence. Else the variance has an inverse gamma prior of
    shape ``trust`` about ``expected[n, k]``, or about the variance of the rewards so far where that is 0. While all
    rewards are equal nothing is known of the noise, and nothing depends on it: it is 1.
    """
    evidence, known, expected, trust = beliefs.evidence, beliefs.known, beliefs.expected, beliefs.trust
    t = beliefs.updates[n]
    spread = beliefs.moments[n, SQUARES] / max(t - 1.0 if beliefs.precision > 0.0 else float(t), 1.0)
    for k in range(weight.size):
        log_weight[k] = beliefs.log_prior[n, k] - 0.5 * evidence[n, LOGDET, k]
        loss = 0.5 * evidence[n, PENALISED, k]
        if known[n] > 0.0:
            variance[k] = known[n]
            log_weight[k] -= loss / known[n]
            continue
        about = expected[n, k] if expected[n, k] > 0.0 else spread
        variance[k] = 1.0
        if about > 0.0:
            scale, shape = trust * about + loss, trust + 0.5 * t
            variance[k] = scale / shape
            log_weight[k] += trust * math.log(about) - shape * math.log(scale)
            if expected[n, k] > 0.0:
                off = math.log(variance[k] / about)
                log_weight[k] += log_inside(off, 1.0 / math.sqrt(shape), beliefs.window[:, k])
    normalise(log_weight, weight)


@kernel
def weigh_rows(ids: Index, beliefs: Beliefs, log_weight: Array, weight: Array, variance: Array) -> None:
    """``weigh`` for every row."""
    for r in range(ids.size):
        weigh(ids[r], beliefs, log_weight[r], weight[r], variance[r])


@inlined
def alive(weight: Array, variance: Array, chosen: Index) -> int:
    """Move the models that count to the front of ``weight`` and ``variance (models,)``; return how many they are.

    ``chosen`` says which they are; their weights then sum to 1.
    """
    count = 0
    total = 0.0
    for k in range(weight.size):
        if weight[k] * weight.size >= NEGLIGIBLE:
            chosen[count] = k
            total += weight[k]
            weight[count], variance[count] = weight[k], variance[k]
            count += 1
    for c in range(count):
        weight[c] /= total
    return count


@kernel
def counted_ridges(r: int, n: int, x: Array, theta: Array, dims: Index, beliefs: Beliefs, open_: Mask) -> Counted:
    """The models that count in row ``r``, of a bank of ridges over maps; only the maps that they read are prepared."""
    (P, K, _), models, widest = sizes(x), dims.size, theta.shape[2]
    log_weight, weight, variance = np.empty(models), np.empty(models), np.empty(models)
    weigh(n, beliefs, log_weight, weight, variance)
    chosen = np.empty(models, dtype=np.int64)
    C = alive(weight, variance, chosen)
    maps, widths = np.empty(C, dtype=np.int64), np.empty(C, dtype=np.int64)
    z, ready = np.empty((1, P, K, widest + behind(x))), np.zeros(P, dtype=np.bool_)
    for c in range(C):
        i = chosen[c] % P
        maps[c], widths[c] = i, dims[chosen[c]]
        if not ready[i]:
            prepare_map(r, n, i, x, beliefs.size, beliefs.precision > 0.0, open_, 0, z)
            ready[i] = True
    return Counted(alike(x, z), weight[:C], variance[:C], theta[n], maps, chosen, chosen, widths)


@kernel
def counted_tiles(r: int, n: int, x: Array, tiles: Array, group: Index, beliefs: Beliefs, open_: Mask) -> Counted:
    """The same of ridges over one map, in tiles (see ``kernels.tiles``)."""
    K, models, widest, B = sizes(x)[1], group.shape[1], tiles.shape[2], tiles.shape[3]
    log_weight, weight, variance = np.empty(models), np.empty(models), np.empty(models)
    weigh(n, beliefs, log_weight, weight, variance)
    chosen = np.empty(models, dtype=np.int64)
    C = alive(weight, variance, chosen)
    place, estimate, z = np.empty(C, dtype=np.int64), np.empty((C, widest)), np.empty((1, 1, K, widest))
    for c in range(C):
        place[c] = group[n, chosen[c]]
        for j in range(widest):
            estimate[c, j] = tiles[n, chosen[c] // B, j, chosen[c] % B]
    prepare_map(r, n, 0, x, beliefs.size, beliefs.precision > 0.0, open_, 0, z)
    maps, widths = np.zeros(C, dtype=np.int64), np.full(C, widest)
    return Counted(z, weight[:C], variance[:C], estimate, maps, np.arange(C), place, widths)


@inlined
def foresee(models: Counted, open_: Mask, own: Array, mean: Array) -> tuple[int, float]:
    """Predictions ``own (C, K)`` of the models and their ``mean (K,)``, which begins as 0.

    Returns the first of the best actions, and the mean variance.
    """
    noise = 0.0
    for c in range(models.weight.size):
        noise += models.weight[c] * models.variance[c]
        for a in range(mean.size):
            own[c, a] = 0.0
            i = cell(models.x, 0, models.row[c], a)
            for j in range(models.dims[c]):
                own[c, a] += entry(models.x, 0, models.maps[c], a, j) * models.theta[i, j]
            mean[a] += models.weight[c] * own[c, a]
    leader = -1
    for a in range(mean.size):
        if open_[a] and (leader < 0 or mean[a] > mean[leader]):
            leader = a
    return leader, noise


@inlined
def measure(c: int, models: Counted, leader: int, root: Array, w: Array, square: Array, apart: Array) -> None:
    """``square[a] = |x(a)|^2_{V^-1}`` and ``apart[a]`` the same of the difference to the leader, for model ``c``.

    ``w`` gets the images of the features, see ``ridge.images``. What is known of two blocks is independent.
    """
    x, i, d = table(models.x)[0, models.maps[c]], models.place[c], models.dims[c]
    own_root = root[i]
    start = 0
    while start < square.size:
        own_root = root[cell(models.x, 0, i, start)]
        stop = end_of_run(models.x, 0, i, start)
        images(own_root, x[start:stop], d, w[start:])
        start = stop
    for a in range(square.size):
        own = other = 0.0
        for k in range(columns(own_root, d)):
            own += w[a, k] ** 2
            other += (w[a, k] - w[leader, k]) ** 2
        square[a], apart[a] = own, other
    for a in range(square.size):
        if cell(models.x, 0, i, a) != cell(models.x, 0, i, leader):
            apart[a] = square[a] + square[leader]


@kernel
def draw_models(weight: Array, z: Array, model: Index) -> None:
    """Draw ``model (n,)`` by its ``weight (n, models)``, inverting ``P(Z < z[r, 0])``, which is uniform."""
    for r in range(model.size):
        u = 0.5 * math.erfc(-ROOT_HALF * z[r, 0])
        reached = 0.0
        for k in range(weight.shape[1]):
            if weight[r, k] > 0.0:
                reached += weight[r, k]
                model[r] = k
                if u < reached:
                    break


@kernel
def sampled_scores(
    ids: Index, x: Array, model: Index, theta: Array, variance: Array, root: Array, group: Index, z: Array, out: Array
) -> None:
    """``out[r, a] = <x_i(a), theta[r] + s root z[r, 1:]>`` for the models drawn, with ``s^2 = variance[r, model]``.

    ``theta (n, B, d)`` and ``z (n, 1 + B d)``: of every block; with blocks, ``group`` has the root of the first.
    """
    P, K, d = sizes(x)
    drawn = np.empty(d)
    for r in range(ids.size):
        n, k = ids[r], model[r]
        deviation = math.sqrt(variance[r, k])
        last = -1
        for a in range(K):
            b = block(x, r, k % P, a)
            if b != last:
                for j in range(d):
                    total = 0.0
                    for m in range(d):
                        total += root[n, group[n, k] + b, j, m] * z[r, 1 + b * d + m]
                    drawn[j] = theta[r, b, j] + deviation * total
                last = b
            out[r, a] = 0.0
            for j in range(d):
                out[r, a] += entry(x, r, k % P, a, j) * drawn[j]
