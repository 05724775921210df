"""Forgetting: what a bank of regressions has learned fades, and the prior stays.

With ``Lambda = factor factor'``, a round takes ``V`` to ``gamma V`` and gives the prior back in one of d directions,
column ``t mod d`` of the factor, as far as it has faded there: one step of rank one, where all of it would be d.
"""

import math
from typing import Any, Self

import numpy as np

from ..kernels import inlined, kernel
from ..kernels.ridge import LOGDET, ONLINE, PENALISED
from ..runtime.lanes import LaneArrays
from ..types import Array, Index


class Forgetting(LaneArrays):
    r"""Lets a reward that is k rounds old count :math:`\gamma^k`, with :math:`\gamma = 1 - 1 / m` for a ``memory`` m.

    V, the estimate and J are then those of the rewards so weighted, and of the prior, whose precision lies between
    :math:`\gamma^{d - 1} \Lambda` and :math:`\Lambda`. Evidence fades with them, so that no model is ever out for good:
    what a model has lost, it has lost by the rewards of about m rounds. In every round the prior is given back in one
    direction of d, as far as it has faded there. Blocks of parameters all fade in every round, whichever was played.

    Parameters
    ----------
    memory: m, a number of rounds above 1; infinite if nothing is to fade.
    root, center: of the regressions, which have learned nothing yet, ``(N, G, d, .)``; their estimates ``(N, M, d)``.

    Attributes
    ----------
    seen: the sum of the weights of all rewards learned, ``(N,)``; at most m.
    factor: ``(N, G, d, d)``, of the prior precisions; 0 for known parameters.  center: ``(N, M, d)``.
    """

    state = ("seen",)
    nonnegative = ("seen",)
    fixed = ("factor", "center")
    factor: Array

    def __init__(self, memory: float, root: Array, center: Array) -> None:
        self.gamma = 1.0 - 1.0 / float(memory)
        square = root[..., : root.shape[2]]
        known = np.diagonal(square, axis1=2, axis2=3) == 0.0
        self.factor = np.swapaxes(np.linalg.inv(square + known[..., None] * np.eye(root.shape[2])), 2, 3).copy()
        self.factor[known] = 0.0
        self.center = center.copy()
        self.seen = np.zeros(len(square))

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that the kernels below read: ``prior = (factor, center, seen)``."""
        return self.factor, self.center, self.seen

    def prior_left(self, t: int) -> Array:
        """Return how much of the prior there is in each direction after t rounds, ``(d,)``."""
        j = np.arange(self.factor.shape[2])
        return np.asarray(self.gamma ** np.where(j < t, (t - 1 - j) % j.size, t))

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal one; it may have another number of distinct precisions."""
        pad_groups(self, other, "factor")
        super().extend(other)


def pad_groups(one: object, other: object, name: str) -> None:
    """Repeat the last entries of the shorter of two arrays of this name, so that their second axes are equally long."""
    arrays = getattr(one, name), getattr(other, name)
    G = max(array.shape[1] for array in arrays)
    for part, array in zip((one, other), arrays, strict=True):
        setattr(part, name, np.pad(array, ((0, 0), (0, G - array.shape[1]), (0, 0), (0, 0)), mode="edge"))


@kernel
def fade_ridges(ids: Index, gamma: float, prior: Any, ridges: Any, owner: Index) -> None:
    """Let a round pass in the lanes of a bank, whose cell ``c`` is of model ``owner[c]``; count one reward more."""
    factor, center, seen = prior
    theta, root, evidence, updates, dims, _ = ridges
    u, gain, w = np.empty(root.shape[2]), np.empty(root.shape[2]), np.empty(root.shape[3])
    for r in range(ids.size):
        n = ids[r]
        for c in range(theta.shape[1] if gamma < 1.0 else 0):
            i = owner[c]
            d = dims[i]
            q, fading = _fade_root(d, updates[n], gamma, factor[n, c], root[n, c], u, gain, w)
            error = 0.0
            for j in range(d):
                error += u[j] * (center[n, c, j] - theta[n, c, j])
            for j in range(d):
                theta[n, c, j] += gain[j] * error / (1.0 + q)
            kept = gamma if c == 0 or i != owner[c - 1] else 1.0
            _fade_evidence(evidence[n], i, gamma, kept, fading, error, q)
        seen[n] = gamma * seen[n] + 1.0


@kernel
def fade_shared(ids: Index, gamma: float, prior: Any, shared: Any) -> None:
    """Do the same for ridges over one map, ``shared = (columns, root, group, evidence, updates, dims)``."""
    factor, center, seen = prior
    columns, root, group, evidence, updates, dims = shared
    B, d, G = columns.shape[3], columns.shape[2], root.shape[1]
    u, gain, w = np.empty((G, d)), np.empty((G, d)), np.empty(root.shape[3])
    q, fading = np.empty(G), np.empty(G)
    for r in range(ids.size):
        n = ids[r]
        for g in range(G if gamma < 1.0 else 0):
            q[g], fading[g] = _fade_root(dims[g], updates[n], gamma, factor[n, g], root[n, g], u[g], gain[g], w)
        for i in range(group.shape[1] if gamma < 1.0 else 0):
            g, panel = group[n, i], columns[n, i // B]
            error = 0.0
            for j in range(d):
                error += u[g, j] * (center[n, i, j] - panel[j, i % B])
            for j in range(d):
                panel[j, i % B] += gain[g, j] * error / (1.0 + q[g])
            _fade_evidence(evidence[n], i, gamma, gamma, fading[g], error, q[g])
        seen[n] = gamma * seen[n] + 1.0


@inlined
def _fade_root(
    d: int, t: int, gamma: float, factor: Array, root: Array, u: Array, gain: Array, w: Array
) -> tuple[float, float]:
    """Let ``V`` fade to ``gamma V + u u'`` after ``t`` rounds.

    Return ``q = u' gain`` with ``gain = (gamma V)^-1 u``, and how many parameters fade: those that are not known.
    """
    D = root.shape[0]
    wide = min(d + -d % 4, root.shape[1])
    grow = 1.0 / math.sqrt(gamma)
    lost = math.sqrt(1.0 - gamma ** min(t + 1, D))
    for k in range(wide):
        w[k] = 0.0
    fading = 0.0
    for j in range(D):
        u[j] = lost * factor[j, t % D] if j < d and t % D < d else 0.0
        gain[j] = 0.0
    for j in range(d):
        fading += 1.0 if factor[j, j] != 0.0 else 0.0
        for k in range(wide):
            root[j, k] *= grow
            w[k] += root[j, k] * u[j]
    q = 0.0
    for k in range(wide):
        q += w[k] * w[k]
    s = math.sqrt(1.0 + q)
    for j in range(d):
        total = 0.0
        for k in range(wide):
            total += root[j, k] * w[k]
        gain[j] = total
        for k in range(wide):
            root[j, k] -= total * w[k] / (s * (s + 1.0))
    return q, fading


@inlined
def _fade_evidence(evidence: Array, i: int, gamma: float, kept: float, fading: float, error: float, q: float) -> None:
    """Fade the sums of a model, with ``fading`` parameters that are not known, which was off by ``error`` along ``u``.

    ``kept``: what losses so far are multiplied by: gamma, once for all blocks of a model, then 1.
    """
    evidence[LOGDET, i] += fading * math.log(gamma) + math.log1p(q)
    evidence[PENALISED, i] = kept * evidence[PENALISED, i] + error * error / (1.0 + q)
    evidence[ONLINE, i] *= kept
