"""From features to a score per action, from scores to probabilities. Ties are shared equally.

``offered`` is a mask ``(n, K)``, or has no rows where every action is offered; an action not offered has probability 0.
"""

import math

import numpy as np
from numpy.typing import NDArray

from . import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@kernel
def power_rates(ids: Index, updates: Index, scale: float, exponent: float, out: Array) -> None:
    """``out[r] = scale t ** exponent`` with ``t`` the updates of the row's lane."""
    for r in range(ids.size):
        out[r] = scale * float(updates[ids[r]]) ** exponent


@kernel
def inverse_gaps(score: Array, alpha: Array, offered: Mask, p: Array) -> None:
    """``p(a) = 1 / (kappa + alpha (best - score(a)))``, kappa the number of actions offered, the rest on the best."""
    K = score.shape[1]
    everything = offered.shape[0] == 0
    for r in range(score.shape[0]):
        best = -np.inf
        kappa = 0
        for a in range(K):
            if everything or offered[r, a]:
                kappa += 1
                best = max(best, score[r, a])
        ties = 0
        spent = 0.0
        for a in range(K):
            p[r, a] = 0.0
            if everything or offered[r, a]:
                if score[r, a] == best:
                    ties += 1
                else:
                    p[r, a] = 1.0 / (kappa + alpha[r] * (best - score[r, a]))
                    spent += p[r, a]
        for a in range(K):
            if (everything or offered[r, a]) and score[r, a] == best:
                p[r, a] = (1.0 - spent) / ties


@kernel
def best_actions(score: Array, offered: Mask, p: Array) -> None:
    """All probability on the actions of highest score."""
    K = score.shape[1]
    everything = offered.shape[0] == 0
    for r in range(score.shape[0]):
        best = -np.inf
        ties = 0
        for a in range(K):
            if everything or offered[r, a]:
                if score[r, a] > best:
                    best = score[r, a]
                    ties = 0
                if score[r, a] == best:
                    ties += 1
        for a in range(K):
            p[r, a] = 1.0 / ties if (everything or offered[r, a]) and score[r, a] == best else 0.0


@kernel
def upper_bounds(
    ids: Index, x: Array, theta: Array, root: Array, group: Index, squared: Array, scale: float, out: Array
) -> None:
    """``out[r, a] = max_i <x_i(a), theta_i> + scale rho_i |x_i(a)|_{V_g^-1}``, ``rho_i^2 = squared[n, i]``.

    Model ``i`` has the root ``g = group[n, i]`` of ``V_g^-1 = root_g root_g'``. The maximum runs over the models with
    ``squared[n, i] >= 0``; a group without any costs nothing.
    """
    P, K, d = x.shape[1], x.shape[2], x.shape[3]
    width = np.empty(K)
    w = np.empty(d)
    for r in range(ids.size):
        n = ids[r]
        for a in range(K):
            out[r, a] = -np.inf
        for g in range(root.shape[1]):
            known = False
            for i in range(theta.shape[1]):
                if group[n, i] != g or not squared[n, i] >= 0.0:
                    continue
                p = i if P > 1 else 0
                if not known:
                    known = True
                    for a in range(K):
                        for k in range(d):
                            w[k] = 0.0
                        for j in range(d):
                            for k in range(d):
                                w[k] += root[n, g, j, k] * x[r, p, a, j]
                        total = 0.0
                        for k in range(d):
                            total += w[k] * w[k]
                        width[a] = math.sqrt(total)
                radius = scale * math.sqrt(squared[n, i])
                for a in range(K):
                    total = radius * width[a]
                    for j in range(d):
                        total += x[r, p, a, j] * theta[n, i, j]
                    out[r, a] = max(out[r, a], total)


@kernel
def optimistic(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    group: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    p: Array,
) -> None:
    """All probability on the actions of highest upper bound."""
    score = np.empty(p.shape)
    upper_bounds(ids, x, theta, root, group, squared, scale, score)
    best_actions(score, offered, p)
