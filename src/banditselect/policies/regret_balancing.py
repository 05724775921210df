"""Regret balancing over any policies."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, OneOf
from ..kernels import balancing
from ..types import Array, Index
from .regimes.balancing import BalancingPolicy, BoundsOnRegret, Reference, References


@register
class RegretBalancing(BalancingPolicy):
    r"""Regret balancing: in each round one base plays and learns, chosen by what the bases earned so far.

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

    Attributes
    ----------
    bases: the copies.  plays: rounds per base, ``(M,)``.  model_weights: share of the rounds of each base, ``(M,)``.

    Notes
    -----
    Ties between bases are broken at random, and the propensity of an action accounts for that. ``learn`` teaches every
    base; ``update`` only the one that played.

    Guarantee: for ``rule="optimistic"`` and :math:`U(n) = u \sqrt n` regret of order :math:`u \sqrt{M T}`, if U bounds
    the regret of some base on the rounds that it plays, noise included, at every count, and what the best action earns
    in expectation is the same in all rounds (Theorem 11 of ``docs/math.md``). The default u = 1 is a guess.

    References
    ----------
    Abbasi-Yadkori, Pacchiano, Phan, "Regret balancing for bandit and RL model selection", 2020.

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

    reward_units = ("bases", "reference")
    constraints: ClassVar[dict[str, Constraint]] = {
        "bases": Constraint(),
        "reference": BoundsOnRegret(names=("own",)),
        "rule": OneOf(("optimistic", "balancing")),
    }

    def __init__(
        self,
        *,
        bases: Sequence[Any],
        reference: Reference | Sequence[Reference] = 1.0,
        rule: str = "optimistic",
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.reference = reference
        self.rule = rule
        super().__init__(bases, lanes, seed)

    def _begin(self, lanes: int) -> None:
        super()._begin(lanes)
        self._references = References("RegretBalancing", self.reference, self.bases, lanes)

    def _shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each base to play next, ``(n, M)``: equal among the best; and whether some tie."""
        tally, bounds = self._tally, self._references
        bounds.ask(ids, tally.plays, self.bases)
        shares = np.empty((ids.size, len(self.bases)))
        balanced = self.rule == "balancing"
        return shares, balancing.share_out(ids, tally.plays, tally.earned, *bounds.known, balanced, shares)

    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        if chosen is None:  # every base learns
            self._references.U[ids] = np.nan
        else:
            balancing.record(ids, chosen, y, self._tally.plays, self._tally.earned, self._references.U)
