"""Regret balancing over any policies."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..carriers import validation
from ..carriers.lanes import PerLane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape, common_shape
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, OneOf, Rate
from ..kernels import balancing
from ..parts.exploration import Power, Schedule, as_schedule
from ..parts.tally import Tally
from ..types import Array, Index
from .on_map import copied
from .regimes.meta import MetaPolicy


@register
class RegretBalancing(MetaPolicy):
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
    reference: U: a number u for :math:`u \sqrt n`, a schedule, or ``"own"``: each base's own ``regret_bound``.
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
        "reference": Rate(names=("own",)),
        "rule": OneOf(("optimistic", "balancing")),
    }

    def __init__(
        self,
        *,
        bases: Sequence[Any],
        reference: float | Schedule | str = 1.0,
        rule: str = "optimistic",
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        if not isinstance(bases, list | tuple) or not bases:
            raise validation.refuse("RegretBalancing: bases", bases, "a list of at least one policy or factory")
        self.bases = tuple(copied(b, lanes, seed, f"RegretBalancing: bases[{i}]") for i, b in enumerate(bases))
        self.reference = reference
        self.rule = rule
        for i, b in enumerate(self.bases):
            if reference == "own" and not hasattr(b, "regret_bound"):
                raise validation.refuse("RegretBalancing: reference", "own", f"a bound; bases[{i}] has no regret_bound")
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return common_shape("RegretBalancing: bases", [b.feature_shape for b in self.bases])

    def _begin(self, lanes: int) -> None:
        self._tally = Tally(lanes, len(self.bases))
        self._bounds = PerLane(U=np.full((lanes, len(self.bases)), np.nan))  # U(N_i); NaN until it is asked for
        self._schedule = None if isinstance(self.reference, str) else as_schedule(self.reference)

    def _ask(self, found: Index) -> None:
        """Ask for the bounds U(N_i) of these lanes and bases ``(c, 2)``, which have learned since it was asked last."""
        U, (lanes, bases) = self._bounds.U, found.T
        if self._schedule is None:
            for i in np.unique(bases):
                U[:, i] = self.bases[i].regret_bound
        else:
            plays = self._tally.plays[lanes, bases].tolist()
            values = {n: self._schedule(float(n)) for n in set(plays)}
            U[lanes, bases] = [values[n] for n in plays]
        if not np.isfinite(U[lanes, bases]).all():
            given = U[lanes, bases].copy()
            U[lanes, bases] = np.nan
            raise validation.refuse("RegretBalancing: reference", given, "a schedule whose values are finite numbers")

    def _shares(self, ids: Index) -> tuple[Array, bool]:
        """Return the probability of each base to play next, ``(n, M)``: equal among the best; and whether some tie."""
        tally, U, schedule = self._tally, self._bounds.U, self._schedule
        shares = np.empty((ids.size, len(self.bases)))
        if type(schedule) is Power:
            balancing.refresh(ids, tally.plays, U, float(schedule.scale), float(schedule.exponent))
        else:
            found = np.empty((shares.size, 2), dtype=np.int64)
            count = balancing.stale(ids, tally.plays, U, found)
            if count:
                self._ask(found[:count])
        return shares, balancing.share_out(ids, tally.plays, tally.earned, U, self.rule == "balancing", shares)

    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        if chosen is None:  # every base learns
            self._bounds.U[ids] = np.nan
        else:
            balancing.record(ids, chosen, y, self._tally.plays, self._tally.earned, self._bounds.U)

    @property
    def plays(self) -> Index:
        """Rounds that each base played and learned, ``(M,)``."""
        return self._answer(self._tally.plays)

    @property
    def model_weights(self) -> Array:
        """Share of the rounds of each base, ``(M,)``; equal before the first."""
        plays = self._tally.plays
        total = plays.sum(axis=1, keepdims=True)
        return self._answer(np.where(total == 0, 1.0 / plays.shape[1], plays / np.maximum(total, 1)))
