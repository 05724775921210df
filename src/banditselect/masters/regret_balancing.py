"""Regret balancing over any policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import kernel
from ..policies import shared
from ..runtime.arguments import argument
from ..runtime.constraints import OneOf
from ..runtime.files import register
from ..types import Array, Index
from .balancing import REFERENCE, Reference, RegretBounds, TalliedBases, fill_powers, record
from .master import BASES, Master


@register
class RegretBalancing(Master):
    r"""Regret balancing: in each round one base plays and learns, chosen by the rewards of the bases so far.

    With :math:`N_i` the number of rounds that base i played, :math:`R_i` what it earned in them and U the
    ``reference``, each base plays once, and then

    .. math:: I_t = \arg\max_i \frac{R_i}{N_i} + \frac{U(N_i)}{N_i} \qquad (eq:regret\text{-}balancing)

    for ``rule="optimistic"``, as the paper prints it; ``rule="balancing"`` is the rule of its source, which plays the
    base with the smallest empirical regret :math:`N_i b_t - R_i` against :math:`b_t`, the largest value above.

    Parameters
    ----------
    bases: fresh policies, or factories; copied with this policy's lanes and seed, never shared. RB-SCB on M maps is
        ``RegretBalancing(bases=[on_map(SquareCB(dim=d), i) for i in range(M)])``, RB-OFUL on M balls
        ``RegretBalancing(bases=[BiasOFUL(center=m, radius=r) for m, r in zip(centers, radii)])``.
    reference: U: a number u for :math:`u \sqrt n`, a schedule, or ``"own"``: each base's own ``regret_bound``. A list
        has one of these for each base.
    rule: ``"optimistic"`` or ``"balancing"``.

    Notes
    -----
    Ties between bases are broken at random, and the propensity of an action accounts for that. ``learn`` teaches every
    base; ``update`` only the one that played.

    Guarantee: for ``rule="optimistic"`` and :math:`U(n) = u \sqrt n` regret of order :math:`u \sqrt{M T}`, if U bounds
    the regret of some base on the rounds that it plays, noise included, at every count, and what the best action earns
    in expectation is the same in all rounds (Theorem 11 of ``docs/math.md``). The default u = 1 is a guess.

    Reference: Abbasi-Yadkori, Pacchiano, Phan, "Regret balancing for bandit and RL model selection", 2020.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform
    >>> policy = RegretBalancing(bases=[Uniform(), OFUL(dim=1)], seed=0)
    >>> for _ in range(100):
    ...     decision = policy.act([[1.0], [2.0]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.plays
    array([ 1, 99])
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    reference: Reference | Sequence[Reference] = REFERENCE
    rule: str = argument(OneOf(("optimistic", "balancing")), default="optimistic")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return what bases earned, and the bounds on their regret."""
        return BalancedBases(self, lanes, balancing=self.rule == "balancing"), None


class BalancedBases(TalliedBases):
    """The base of the largest bound on its value plays; or the one whose regret against that is smallest."""

    def __init__(self, master: Any, lanes: int, *, balancing: bool) -> None:
        super().__init__(master, lanes)
        self.bounds = RegretBounds(master, lanes)
        self.balancing = balancing

    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each base to play next, ``(n, M)``, equal among the best; and if some tie."""
        self.bounds.refresh(ids, self.tally.plays)
        return share_best(ids, self.tally.arrays(), self.bounds.arrays(), self.balancing)

    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Count rewards."""
        if base is None:  # every base learns
            self.bounds.U[ids] = np.nan
        else:
            record(ids, base, y, self.tally.arrays(), self.bounds.U, self.bounds.U)
        return y


@kernel
def share_best(ids: Index, tally: Any, bounds: Any, balancing: bool) -> tuple[Array, bool]:
    """Return the probability of each base to play next, ``(n, M)``, equal among the best; and if there are ties.

    A base that has not played comes first. Then the best have the largest ``b_i = (earned_i + U_i) / plays_i``, or, if
    ``balancing``, the smallest empirical regret ``plays_i max_j b_j - earned_i``. Bounds: see ``fill_powers``.
    """
    plays, earned = tally
    U = bounds[0]
    fill_powers(ids, plays, bounds)
    M = plays.shape[1]
    value, share, tied = np.empty(M), np.empty((ids.size, M)), False
    for r in range(ids.size):
        n = ids[r]
        best = -np.inf
        for i in range(M):
            value[i] = (earned[n, i] + U[n, i]) / plays[n, i] if plays[n, i] > 0 else np.inf
            best = max(best, value[i])
        if balancing and best < np.inf:
            level = best
            best = -np.inf
            for i in range(M):
                value[i] = earned[n, i] - plays[n, i] * level
                best = max(best, value[i])
        ties = 0
        for i in range(M):
            ties += value[i] == best
        tied = tied or ties > 1
        for i in range(M):
            share[r, i] = 1.0 / ties if value[i] == best else 0.0
    return share, tied
