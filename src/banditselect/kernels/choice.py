"""From a score per action to a probability per action. Ties are shared equally; an action not offered has none.

``offered`` is a mask ``(n, K)``, or has no rows where every action is offered.
"""

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
