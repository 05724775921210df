"""A whole act or a whole update in one call, made of the kernels of the other files.

Each first checks what its caller cannot, and says how it went:

* ``DONE``;
* ``OUTSIDE``: done, and some reward lay outside the range, of which the policy warns;
* ``UNUSABLE``: nothing done, since some feature is not finite, which the policy refuses;
* ``FULL``: nothing done, since the ring of some lane is full; the policy lets it grow and tries again;
* a row, 0 or more: nothing done, since the act of that row is unknown or already learned, which the policy refuses.
"""

import numpy as np

from ..types import Array, Index, Mask
from . import inlined, kernel, tiles
from .acting import Drawn, begin, best_actions, draw_actions, inverse_gaps, power_rates, upper_bounds
from .arrays import count_outside
from .features import clean, clean_row, sizes
from .ledger import ACTS, settle
from .ridge import learn, mixture
from .selection import posterior, self_normalised

DONE = -1
UNUSABLE = -2
FULL = -3
OUTSIDE = -4

ALL_OFFERED: Mask = np.ones((1, 1), dtype=bool)
"""The mask where every action is offered; one without rows, which says the same, takes 0.2 us longer to come here."""


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
def play_inverse_gaps(
    ids: Index,
    x: Array,
    theta: Array,
    evidence: Array,
    log_prior: Array,
    variance: Array,
    updates: Index,
    scale: float,
    exponent: float,
    offered: Mask,
    keys: Index,
    book: Index,
    drawn: Drawn,
    played: Array,
) -> int:
    """Play by inverse gaps of the mean prediction under the posterior, at the rate ``scale t ** exponent``."""
    weight = np.empty((ids.size, theta.shape[1]))
    mixture_loss = np.empty(ids.size)
    rate = np.empty(ids.size)
    score = np.empty((ids.size, sizes(x)[1]))
    p = np.empty(score.shape)
    posterior(ids, evidence, log_prior, variance, False, weight, mixture_loss)
    for r in range(ids.size):  # a row is checked while it is fetched: many lanes do not fit the cache
        if not clean_row(x, r):
            return UNUSABLE
        mixture(r, ids[r], x, theta, weight, score)
    power_rates(ids, updates, scale, exponent, rate)
    inverse_gaps(score, rate, offered, p)
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
    told = np.empty((2, ids.size, theta.shape[1]))
    learn(ids, x, y, theta, root, evidence, updates, dims, told)
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
    """Settle acts, learn their rewards in one ridge a lane, take the radius of its ellipsoid."""
    if not clean(x):
        return UNUSABLE
    bad = settle(ids, numbers, book)
    if bad >= 0:
        return bad
    told = np.empty((2, ids.size, 1))
    learn(ids, x, y, theta, root, evidence, updates, dims, told)
    self_normalised(ids, evidence, constants, log_term, told, squared, spent)
    return DONE
