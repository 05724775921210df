"""The group lasso over M feature maps side by side, refitted after every reward: exact descent, group after group.

``theta (M, d)`` minimises ``|y - sum_i x_i theta_i|^2 / 2 + sum_i threshold_i |theta_i|`` over all that was learned.
Kept are the lower triangle of ``gram = sum x x'`` of all features of a row side by side, row after row, and
``moment = sum x y``; so an update costs ``(M d)^2 / 2`` products for any number of rows, and a solution starts from
the one before.

Reference: Qin, Scheinberg, Goldfarb, "Efficient block-coordinate descent algorithms for the group lasso", 2013.
"""

import math
from typing import Any

import numpy as np

from ..kernels import inlined, kernel, ridge
from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..types import Array, Index

TOLERANCE = 1e-4  #: of the conditions of a minimum, in penalties
PASSES = 5  #: at most, over all groups after one reward; the next reward continues from there


class GroupLasso(LaneArrays):
    r"""One linear prediction from the features of all maps, most of which it leaves out.

    .. math:: \hat\theta_t = \arg\min_\theta \frac1t \sum_{s \le t} \Big(y_s - \sum_i \langle \phi^i_s, \theta^i \rangle
              \Big)^2 + 2 \sum_i \lambda_{i,t} |\theta^i|, \qquad \lambda_{i,t} = c_t L_i, \quad c_t = c / \sqrt t,

    with :math:`L_i` the root of the mean squared norm of the features of map i that were learned.

    Parameters
    ----------
    lanes: number of lanes N.  n_models: number of maps M.  dim: width of the widest; the others come padded with 0.
    penalty: c, ``(N,)``.

    Attributes
    ----------
    gram, moment: the sums described above, (M d)^2 / 2 numbers a lane.  theta: the estimate, ``(N, M, d)``.
    """

    state = ("gram", "moment", "theta")
    fixed = ("penalty",)
    shared = ("first",)

    def __init__(self, *, lanes: int, n_models: int, dim: int, penalty: Array) -> None:
        D = n_models * dim
        self.penalty = penalty
        self.gram = np.zeros((lanes, D * (D + 1) // 2))
        self.moment = np.zeros((lanes, D))
        self.theta = np.zeros((lanes, n_models, dim))
        self.first = np.arange(n_models)

    def arrays(self) -> tuple[Any, ...]:
        """Return what kernels read: ``lasso``."""
        return self.gram, self.moment, self.theta, self.penalty, TOLERANCE, PASSES

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the prediction for every action, ``(n, K)``."""
        used = (self.theta[ids] != 0.0).any(axis=2).astype(float)
        return ridge.mixtures(ids, x.values, x.block, self.theta, self.first, used)


@kernel
def learn_lasso(ids: Index, x: Array, y: Array, lasso: Any) -> None:
    """Learn ``x (n, M, d)`` and ``y (n,)``, with the penalties that belong to all rows so far."""
    gram, moment, theta, penalty, tolerance, passes = lasso
    gather(ids, x, y, gram, moment)
    threshold = np.empty(theta.shape[:2])
    take_thresholds(ids, gram, penalty, theta.shape[2], threshold)
    descend(ids, gram, moment, threshold, tolerance, passes, theta)


@inlined
def take_thresholds(ids: Index, gram: Array, penalty: Array, d: int, out: Array) -> None:
    r"""``out[n, i]`` is :math:`t \lambda_{i,t}`: c times the root of the sum of squared norms of map i."""
    for r in range(ids.size):
        n = ids[r]
        for i in range(out.shape[1]):
            total = 0.0
            for j in range(i * d, (i + 1) * d):
                total += gram[n, j * (j + 1) // 2 + j]
            out[n, i] = penalty[n] * math.sqrt(total)


@kernel
def gather(ids: Index, x: Array, y: Array, gram: Array, moment: Array) -> None:
    """Add rows ``x (n, M, d)`` with ``y (n,)`` to ``gram (N, D (D + 1) / 2)`` and ``moment (N, D)``, ``D = M d``."""
    for r in range(ids.size):
        n, row = ids[r], x[r].reshape(-1)
        for p in range(row.size):
            moment[n, p] += row[p] * y[r]
            if row[p] != 0.0:
                first = p * (p + 1) // 2
                for q in range(p + 1):
                    gram[n, first + q] += row[p] * row[q]


@inlined
def norm(v: Array) -> float:
    """``|v|``."""
    return math.sqrt(ridge.dot(v, v))


@inlined
def _add_products(gram: Array, first: int, step: Array, slope: Array) -> None:
    """``slope += gram[:, first : first + d] step`` for ``step (d,)``."""
    d = step.size
    for q in range(d):
        row = (first + q) * (first + q + 1) // 2
        for p in range(first + q + 1):
            slope[p] += gram[row + p] * step[q]
        slope[first + q] += ridge.dot(gram[row + first : row + first + q], step)
    for p in range(first + d, slope.size):
        row = p * (p + 1) // 2 + first
        slope[p] += ridge.dot(step, gram[row : row + d])


@kernel
def solve_group(G: Array, pull: Array, threshold: float, theta: Array) -> None:
    """Take ``theta (d,)`` from where it is to the minimum of ``theta' G theta / 2 - pull' theta + threshold |theta|``.

    It is 0 if ``|pull| <= threshold``; else it is ``(G + s I)^-1 pull`` for the ``s`` with ``s |theta| = threshold``:
    that grows with ``s`` from 0 to ``|pull|``, and Newton's steps on the logarithms, kept between bounds, find it.
    Only the lower triangle of ``G (d, d)`` is read.
    """
    d = theta.size
    size = norm(pull)
    before = norm(theta)
    if size <= threshold:
        theta[:] = 0.0
        return
    trace = 0.0
    for j in range(d):
        trace += G[j, j]
    low, high = 0.0, threshold * trace / (size - threshold)
    shift = min(threshold / before, high) if before > 0.0 else high
    w, lower = np.empty(d), np.empty((d, d))
    for _ in range(100):
        ridge.cholesky(G, shift, shift, lower)
        w[:] = pull
        ridge.solve_lower(lower, w)
        for j in range(d - 1, -1, -1):
            theta[j] = w[j]
            for k in range(j + 1, d):
                theta[j] -= lower[k, j] * theta[k]
            theta[j] /= lower[j, j]
        found = norm(theta)
        ratio = shift * found / threshold
        if abs(ratio - 1.0) <= 1e-13:
            return
        if ratio > 1.0:
            high = shift
        else:
            low = shift
        w[:] = theta
        ridge.solve_lower(lower, w)
        bend = 1.0 - shift * ridge.dot(w, w) / (found * found)
        step = shift * math.exp(-math.log(ratio) / bend) if bend > 0.0 else 0.0
        if not low < step < high:
            step = math.sqrt(low * high) if low > 0.0 else high / 16.0
        if step == shift:
            return
        shift = step


@kernel
def descend(
    ids: Index, gram: Array, moment: Array, threshold: Array, tolerance: float, most: int, theta: Array
) -> None:
    """Take ``theta (N, M, d)`` of these lanes to the minimum for ``threshold (N, M)``, from where it is.

    A pass solves every group that breaks its condition - ``|slope_i| <= threshold_i`` where ``theta_i`` is 0, else
    ``slope_i + threshold_i theta_i / |theta_i| = 0`` - by more than ``tolerance`` thresholds; it ends after a pass in
    which none does, or after ``most`` passes.
    """
    _, M, d = theta.shape
    G = np.empty((d, d))
    for r in range(ids.size):
        n = ids[r]
        slope = -moment[n]
        for i in range(M):
            if norm(theta[n, i]) > 0.0:
                _add_products(gram[n], i * d, theta[n, i], slope)
        for _ in range(most):
            done = True
            for i in range(M):
                first, group, limit = i * d, theta[n, i], threshold[n, i]
                pull, size = -slope[first : first + d], norm(group)
                wrong = norm(limit * group / size - pull) if size > 0.0 else norm(pull) - limit
                if wrong <= tolerance * limit:
                    continue
                done = False
                before = group.copy()
                for j in range(d):
                    row = (first + j) * (first + j + 1) // 2 + first
                    G[j, : j + 1] = gram[n, row : row + j + 1]
                    for k in range(j):
                        pull[j] += G[j, k] * group[k]
                        pull[k] += G[j, k] * group[j]
                    pull[j] += G[j, j] * group[j]
                solve_group(G, pull, limit, group)
                _add_products(gram[n], first, group - before, slope)
            if done:
                break
