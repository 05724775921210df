"""A whole act or a whole update in one call, made of the kernels of the other files.

Each first checks what its caller cannot, and says how it went:

* ``DONE``;
* ``OUTSIDE``: done, and some reward lay outside the range, of which the policy warns;
* ``SUSPECT``: done, and some lane may have a reason for an alarm, which is to be looked at;
* ``UNUSABLE``: nothing done, since some feature is not finite, which the policy refuses;
* ``FULL``: nothing done, since the ring of some lane is full; the policy lets it grow and tries again;
* ``INVALID``: nothing done, since what was chosen is no action;
* a row, 0 or more: nothing done, since the act of that row is unknown or already learned, which the policy refuses.

The ``numbers`` of an update may be ``ledger.UNNUMBERED``, for what no act stands for, and its book ``ledger.NO_BOOK``.
"""

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel, tiles
from .acting import (
    Drawn,
    begin,
    best_actions,
    draw_actions,
    every_bound,
    inverse_gaps,
    rates,
    take_played,
    upper_bounds,
)
from .arrays import count_outside
from .features import clean, clean_row, sizes
from .ledger import ACTS, settle
from .ridge import learn, mixture
from .selection import posterior, screen, self_normalised, squared_radii

DONE = -1
UNUSABLE = -2
FULL = -3
OUTSIDE = -4
SUSPECT = -5
INVALID = -6


@inlined
def draw(ids: Index, x: Array, p: Array, keys: Index, book: Index, drawn: Drawn, played: Array) -> int:
    """Draw from probabilities ``p (n, K)`` of features that have been checked."""
    draw_actions(ids, keys, book[:, ACTS], p, drawn)
    return DONE if begin(ids, x, book, drawn, played) else FULL


@inlined
def draw_best(
    ids: Index, x: Array, score: Array, offered: Mask, keys: Index, book: Index, drawn: Drawn, played: Array
) -> int:
    """Draw an action of highest score ``(n, K)``."""
    p = np.empty(score.shape)
    best_actions(score, offered, p)
    return draw(ids, x, p, keys, book, drawn, played)


@kernel
def play_chosen(ids: Index, x: Array, book: Index, drawn: Drawn, played: Array) -> int:
    """Number the acts of actions that have been chosen, and take what they play of features that have been checked."""
    for r in range(ids.size):
        if not 0 <= drawn[r]["action"] < sizes(x)[1]:
            return INVALID
    return DONE if begin(ids, x, book, drawn, played) else FULL


@kernel
def take(x: Array, drawn: Drawn, played: Array) -> None:
    """Take the features of what has been drawn, ``played[r, i] = x[r, i, action]``."""
    take_played(x, drawn, played)


@kernel
def play_ridges(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    dims: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play an action of highest upper bound, see ``acting.upper_bounds``."""
    if not clean(x):
        return UNUSABLE
    score = np.empty((ids.size, sizes(x)[1]))
    upper_bounds(ids, x, theta, root, dims, squared, scale, score)
    return draw_best(ids, x, score, offered, keys, book, drawn, played)


@kernel
def play_least(
    ids: Index,
    x: Array,
    theta: Array,
    root: Array,
    dims: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play an action whose least upper bound of any model is highest, see ``acting.every_bound``."""
    if not clean(x):
        return UNUSABLE
    K = sizes(x)[1]
    bounds, score = np.empty((ids.size, dims.size, K)), np.empty((ids.size, K))
    every_bound(ids, x, theta, root, dims, squared, scale, bounds)
    for r in range(ids.size):
        for a in range(K):
            score[r, a] = np.inf
            for i in range(dims.size):
                score[r, a] = min(score[r, a], bounds[r, i, a])
    return draw_best(ids, x, score, offered, keys, book, drawn, played)


@kernel
def play_tiles(
    ids: Index,
    x: Array,
    estimates: Array,
    root: Array,
    group: Index,
    squared: Array,
    scale: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play an action of highest upper bound, see ``tiles.upper_bounds``."""
    if not clean(x):
        return UNUSABLE
    score = np.empty((ids.size, sizes(x)[1]))
    tiles.upper_bounds(ids, x, estimates, root, group, squared, scale, score)
    return draw_best(ids, x, score, offered, keys, book, drawn, played)


@kernel
def play_gaps(
    ids: Index,
    x: Array,
    score: Array,
    grown: Array,
    scale: float,
    exponent: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play by the inverse gaps of predictions ``score (n, K)`` at ``acting.rates``; features have been checked."""
    p, alpha = np.empty(score.shape), np.empty(ids.size)
    rates(ids, grown, scale, exponent, alpha)
    inverse_gaps(score, alpha, offered, p)
    return draw(ids, x, p, keys, book, drawn, played)


@kernel
def play_mixture_gaps(
    ids: Index,
    x: Array,
    theta: Array,
    evidence: Array,
    log_prior: Array,
    variance: Array,
    grown: Array,
    scale: float,
    exponent: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play by the inverse gaps of the mean prediction under the posterior, see ``selection.posterior``.

    A single model needs no posterior: its ``log_prior`` and ``variance`` may be empty.
    """
    M = evidence.shape[2]
    weight = np.ones((ids.size, M))
    score = np.empty((ids.size, sizes(x)[1]))
    if M > 1:
        posterior(ids, evidence, log_prior, variance, False, weight, np.empty(ids.size))
    for r in range(ids.size):  # a row is checked while it is fetched: many lanes do not fit the cache
        if not clean_row(x, r):
            return UNUSABLE
        mixture(r, ids[r], x, theta, weight, score)
    p, alpha = np.empty(score.shape), np.empty(ids.size)
    rates(ids, grown, scale, exponent, alpha)
    inverse_gaps(score, alpha, offered, p)
    return draw(ids, x, p, keys, book, drawn, played)


@kernel
def learn_in_range(
    ids: Index,
    x: Array,
    y: Array,
    numbers: Index,
    book: Index,
    theta: Array,
    root: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    lower: float,
    upper: float,
    outside: Index,
) -> int:
    """Settle acts, learn their rewards in a bank of ridges, count the rewards outside ``[lower, upper]``."""
    if not clean(x):
        return UNUSABLE
    bad = settle(ids, numbers, book)
    if bad >= 0:
        return bad
    before = np.empty((2, ids.size, dims.size))
    learn(ids, x, y, theta, root, evidence, updates, dims, before)
    return OUTSIDE if count_outside(ids, y, lower, upper, outside) else DONE


@kernel
def learn_ellipsoid(
    ids: Index,
    x: Array,
    y: Array,
    numbers: Index,
    book: Index,
    theta: Array,
    root: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    constants: Array,
    log_term: float,
    squared: Array,
    spent: Array,
) -> int:
    """Settle acts, learn their rewards in a bank of ridges, take the radii of their ellipsoids."""
    if not clean(x):
        return UNUSABLE
    bad = settle(ids, numbers, book)
    if bad >= 0:
        return bad
    before = np.empty((2, ids.size, dims.size))
    learn(ids, x, y, theta, root, evidence, updates, dims, before)
    self_normalised(ids, evidence, constants, log_term, before, squared, spent)
    return DONE


@kernel
def learn_maps(
    ids: Index,
    x: Array,
    y: Array,
    numbers: Index,
    book: Index,
    theta: Array,
    root: Array,
    evidence: Array,
    updates: Index,
    dims: Index,
    log_prior: Array,
    variance: Array,
    penalty: Array,
    drift: float,
    log_term: float,
    online: bool,
    squared: Array,
    noise: Array,
    level: float,
    loss: Array,
    verdict: Array,
) -> int:
    """Settle acts, learn their rewards in a bank of ridges over maps, take the radii of the likelihood-ratio sets.

    ``loss (N,)`` sums the squared errors of the mean prediction under the posterior: the challenger of ``screen``.
    """
    if not clean(x):
        return UNUSABLE
    bad = settle(ids, numbers, book)
    if bad >= 0:
        return bad
    n, M = ids.size, dims.size
    weight, challenger, before = np.empty((n, M)), np.empty(n), np.empty((2, n, M))
    posterior(ids, evidence, log_prior, variance, online, weight, challenger)
    learn(ids, x, y, theta, root, evidence, updates, dims, before)
    for r in range(n):
        forecast = 0.0
        for i in range(M):
            forecast += weight[r, i] * before[0, r, i]
        loss[ids[r]] += (y[r] - forecast) ** 2
        challenger[r] = loss[ids[r]]
    squared_radii(ids, evidence, log_prior, variance, penalty, updates, drift, log_term, online, squared)
    some = screen(ids, evidence, penalty, variance, noise, updates, challenger, drift, level, verdict)
    return SUSPECT if some else DONE


@kernel
def learn_regions(
    ids: Index,
    x: Array,
    y: Array,
    numbers: Index,
    book: Index,
    estimates: Array,
    root: Array,
    group: Index,
    evidence: Array,
    updates: Index,
    dims: Index,
    log_prior: Array,
    variance: Array,
    penalty: Array,
    drift: float,
    log_term: float,
    online: bool,
    squared: Array,
    noise: Array,
    level: float,
    wide_theta: Array,
    wide_root: Array,
    wide_evidence: Array,
    wide_updates: Index,
    wide_dims: Index,
    verdict: Array,
) -> int:
    """Settle acts, learn their rewards in ridges over one map, take the radii of the likelihood-ratio sets.

    The challenger of ``screen`` is the evidence of one ridge that is wider than all regions.
    """
    if not clean(x):
        return UNUSABLE
    bad = settle(ids, numbers, book)
    if bad >= 0:
        return bad
    n = ids.size
    tiles.learn(ids, x, y, estimates, root, group, evidence, updates, dims, np.empty((n, group.shape[1])))
    learn(ids, x, y, wide_theta, wide_root, wide_evidence, wide_updates, wide_dims, np.empty((2, n, 1)))
    challenger = np.empty(n)
    for r in range(n):
        challenger[r] = wide_evidence[ids[r], 1, 0] + variance[ids[r]] * wide_evidence[ids[r], 0, 0]
    squared_radii(ids, evidence, log_prior, variance, penalty, updates, drift, log_term, online, squared)
    some = screen(ids, evidence, penalty, variance, noise, updates, challenger, drift, level, verdict)
    return SUSPECT if some else DONE
