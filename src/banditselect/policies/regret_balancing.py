"""Regret balancing over any policies."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ..carriers import validation
from ..carriers.decisions import Ledger
from ..carriers.lanes import PerLane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape, common_shape
from ..carriers.streams import Channel, Seed, Streams
from ..carriers.validation import Constraint, OneOf, Rate
from ..kernels import balancing
from ..kernels.acting import DRAWN, Drawn
from ..kernels.features import rows_of
from ..kernels.ledger import ACTS
from ..kernels.rounds import DONE
from ..parts.exploration import Power, Schedule, as_schedule
from ..parts.tally import Tally
from ..types import Array, Index, Mask
from .base import Chosen, Played, Policy
from .on_map import copied

NOBODY = np.empty(0, dtype=np.int64)


@register
class RegretBalancing(Policy):
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
    base; ``update`` only the one that played. Guarantee: regret of order sqrt(M T) if U bounds the regret of some base.

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
    _names_base = True
    _looks_up = True
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
        self.has_propensity = all(b.has_propensity for b in self.bases)
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return common_shape("RegretBalancing: bases", [b.feature_shape for b in self.bases])

    def _begin(self, lanes: int) -> None:
        self._tally = Tally(lanes, len(self.bases))
        self._bounds = PerLane(U=np.full((lanes, len(self.bases)), np.nan))  # U(N_i); NaN until it is asked for
        self._schedule = None if isinstance(self.reference, str) else as_schedule(self.reference)
        self._memo_width = 1 + max(b._memo_width for b in self.bases)

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self._ties = Streams(self.seed, self._lane_range(first), (*channel, "choice"))

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

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixture(ids, x, offered, self._shares(ids)[0]), None

    def _mixture(self, ids: Index, x: Array, offered: Mask | None, shares: Array) -> Array:
        """Return the probabilities of the actions, ``(n, K)``, if the bases play with the probabilities ``(n, M)``."""
        p = np.zeros((ids.size, x.shape[2]))
        for i in np.flatnonzero(shares.any(axis=0)):
            rows = np.flatnonzero(shares[:, i])
            p[rows] += shares[rows, i, None] * self.bases[i]._distribution(*_some(rows, ids, x, offered))[0]
        return p

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        drawn, played = np.empty(ids.size, dtype=DRAWN), np.empty((ids.size, x.shape[1], x.shape[3]))
        _, memo = RegretBalancing._play(self, ids, x, offered, Ledger.at(numbers), drawn, played)
        return drawn["action"], drawn["probability"] if self.has_propensity else None, memo

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        status = balancing.ready(ids, x, ledger.book)
        if status != DONE:
            return status, None
        shares, ties = self._shares(ids)
        chosen, share = self._ties.draw(ids, ledger.acts, shares)
        tied = np.flatnonzero(share < 1.0) if ties and self.has_propensity else NOBODY
        mixed = self._mixture(*_some(tied, ids, x, offered), shares[tied]) if tied.size else None
        memo = np.full((ids.size, self._memo_width), -1)
        memo[:, 0] = chosen
        before = ledger.acts[ids]
        try:
            for i, rows in _rows_of_each(chosen):
                all_rows = rows.size == ids.size
                some = drawn if all_rows else np.empty(rows.size, dtype=DRAWN)
                features = played if all_rows else np.empty((rows.size, *played.shape[1:]))
                _, inner = self.bases[i]._play(*_some(rows, ids, x, offered), ledger, some, features)
                if not all_rows:
                    drawn[rows], played[rows] = some, features
                if inner is not None:
                    memo[rows, 1 : 1 + inner.shape[1]] = inner
        except BaseException:  # several bases play as one, or not at all
            ledger.book[ids, ACTS] = before
            raise
        if mixed is not None:
            drawn["probability"][tied] = mixed[np.arange(tied.size), drawn["action"][tied]]
        return DONE, memo

    def _wrote(self, memo: Index) -> bool:
        chosen = memo[:, 0]
        if min(chosen.tolist()) < 0 or max(chosen.tolist()) >= len(self.bases):
            return False
        if self._memo_width == 1:
            return True
        parts = ((self.bases[i], memo[rows, 1:]) for i, rows in _rows_of_each(chosen))
        return all(b._wrote(part[:, : b._memo_width]) for b, part in parts if b._memo_width)

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if memo is None:
            self._bounds.U[ids] = np.nan
            for i in range(len(self.bases)):
                self._teach_base(i, ids, x, action, y, None)
            return
        chosen = memo[:, 0]
        balancing.record(ids, chosen, y, self._tally.plays, self._tally.earned, self._bounds.U)
        for i, rows in _rows_of_each(chosen):
            width = self.bases[i]._memo_width
            inner = memo[rows, 1 : 1 + width] if width else None
            if rows.size == ids.size:
                self._teach_base(i, ids, x, action, y, inner)
                continue
            mine = x[rows]
            mine.setflags(write=False)
            self._teach_base(i, ids[rows], mine, None if action is None else action[rows], y[rows], inner)

    def _teach_base(self, i: int, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        base = self.bases[i]
        base._teach(ids, x, action, y, memo)
        if base._messages:
            self._messages += [f"bases[{i}]: {message}" for message in base._messages]
            base._messages.clear()

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


def _rows_of_each(chosen: Index) -> Iterator[tuple[int, Index]]:
    """Yield every base that was chosen, and the rows ``(n_i,)`` that chose it, in order."""
    if chosen.size == 1:
        yield int(chosen[0]), np.zeros(1, dtype=np.int64)
        return
    order = np.argsort(chosen, kind="stable")
    bases = chosen[order]
    for rows in np.split(order, np.flatnonzero(bases[1:] != bases[:-1]) + 1):
        yield int(chosen[rows[0]]), rows


def _some(rows: Index, ids: Index, x: Array, offered: Mask | None) -> tuple[Index, Array, Mask | None]:
    """Return some of the rows of what a policy is asked."""
    if rows.size == ids.size:
        return ids, x, offered
    return ids[rows], rows_of(x, rows), None if offered is None else offered[rows]
