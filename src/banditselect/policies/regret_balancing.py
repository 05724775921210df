"""Regret balancing over any policies."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ..carriers import validation
from ..carriers.lanes import LaneArrays
from ..carriers.shapes import FeatureShape, common_shape
from ..carriers.streams import Channel, Seed, Streams
from ..carriers.validation import Choice, Constraint, Rate, Whatever
from ..kernels.features import rows_of
from ..parts.exploration import Schedule, as_schedule
from ..types import Array, Index, Mask
from . import base as contract
from .base import Policy
from .on_map import copied
from .registry import register


class Record(LaneArrays):
    """How often each base played and what it earned, ``(N, M)``."""

    state = ("plays", "earned")

    def __init__(self, lanes: int, bases: int) -> None:
        self.plays = np.zeros((lanes, bases), dtype=np.int64)
        self.earned = np.zeros((lanes, bases))


def _rows_of_each(chosen: Index) -> Iterator[tuple[int, Index]]:
    """Yield every base that was chosen, and the rows ``(n_i,)`` that chose it, in order."""
    order = np.argsort(chosen, kind="stable")
    bases = chosen[order]
    edges = np.flatnonzero(bases[1:] != bases[:-1]) + 1
    for rows in np.split(order, edges):
        yield int(chosen[rows[0]]), rows


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
    _has_bases = True
    constraints: ClassVar[dict[str, Constraint]] = {
        "bases": Whatever(),
        "reference": Rate(names=("own",)),
        "rule": Choice(("optimistic", "balancing")),
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
        return common_shape("RegretBalancing: bases", [b._features for b in self.bases])

    def _begin(self, lanes: int) -> Sequence[str]:
        self._record = Record(lanes, len(self.bases))
        self._bounds = np.full((lanes, len(self.bases)), np.nan)  # U(N_i); NaN until it is asked for
        self._memo_width = 1 + max(b._memo_width for b in self.bases)
        self._root(())
        return ("_record", "_ties")

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self._ties = Streams(self.seed, self._lane_range(first), (*channel, "choice"))
        for i, b in enumerate(self.bases):  # the first base keeps the channel: one base alone plays as if by itself
            b._root((*channel, i) if i else channel, first)

    def _can_look_up(self) -> bool:
        return super()._can_look_up() and all(b._looks_up for b in self.bases)

    def _reference(self, ids: Index, plays: Index) -> Array:
        """Return U(N_i), ``(n, M)``; 0 for a base that has not played. It is asked for when a base has learned."""
        U = np.where(plays == 0, 0.0, self._bounds[ids])
        rows, bases = np.nonzero(np.isnan(U))
        if rows.size:
            if self.reference == "own":
                for i in np.unique(bases):
                    self._bounds[:, i] = self.bases[i].regret_bound
            else:
                schedule = as_schedule(self.reference)  # type: ignore[arg-type]
                counts, which = np.unique(plays[rows, bases], return_inverse=True)
                values = np.array([schedule(n) for n in counts.astype(float).tolist()], dtype=float)
                self._bounds[ids[rows], bases] = values[which]
            U[rows, bases] = self._bounds[ids[rows], bases]
        if not np.isfinite(U).all():
            raise validation.refuse("RegretBalancing: reference", U, "a schedule whose values are finite numbers")
        return U

    def _shares(self, ids: Index) -> Array:
        """Return the probability of each base to play next, ``(n, M)``: equal among the best."""
        plays, earned = self._record.plays[ids], self._record.earned[ids]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (earned + self._reference(ids, plays)) / plays
            value = np.where(plays == 0, np.inf, value)
            if self.rule == "balancing":
                best = value.max(axis=1, keepdims=True)
                value = np.where(np.isinf(best), value, earned - plays * np.where(np.isinf(best), 0.0, best))
        best = value == value.max(axis=1, keepdims=True)
        return best / best.sum(axis=1, keepdims=True)

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        return self._mixture(ids, x, offered, self._shares(ids)), None

    def _mixture(self, ids: Index, x: Array, offered: Mask, shares: Array) -> Array:
        """Return the probabilities of the actions, ``(n, K)``, if the bases play with the probabilities ``(n, M)``."""
        p = np.zeros((ids.size, x.shape[2]))
        everywhere = shares.min(axis=0) > 0.0
        for i in np.flatnonzero(shares.any(axis=0)):
            share = shares[:, i, None]
            if everywhere[i]:
                p += share * self.bases[i]._distribution(ids, x, offered)[0]
            else:
                rows = np.flatnonzero(share)
                mask = offered[rows] if offered.size else offered
                p[rows] += share[rows] * self.bases[i]._distribution(ids[rows], rows_of(x, rows), mask)[0]
        return p

    def _choose(self, ids: Index, x: Array, offered: Mask, numbers: Index) -> contract.Choice:
        shares = self._shares(ids)
        chosen, share = self._ties.draw(ids, numbers, shares)
        action = np.empty(ids.size, dtype=np.int64)
        probability = np.empty(ids.size)
        memo = np.full((ids.size, self._memo_width), -1, dtype=np.int64)
        memo[:, 0] = chosen
        for i, rows in _rows_of_each(chosen):
            mask = offered[rows] if offered.size else offered
            seen = x if rows.size == ids.size else rows_of(x, rows)
            action[rows], p, inner = self.bases[i]._choose(ids[rows], seen, mask, numbers)
            if p is not None:
                probability[rows] = p
            if inner is not None:
                memo[rows, 1 : 1 + inner.shape[1]] = inner
        if not self.has_propensity:
            return action, None, memo
        tied = np.flatnonzero(share < 1.0)
        if tied.size:
            mask = offered[tied] if offered.size else offered
            p = self._mixture(ids[tied], x if tied.size == ids.size else rows_of(x, tied), mask, shares[tied])
            probability[tied] = p[np.arange(tied.size), action[tied]]
        return action, probability, memo

    def _wrote(self, memo: Index) -> bool:
        chosen = memo[:, 0]
        if chosen.min() < 0 or chosen.max() >= len(self.bases):
            return False
        parts = ((self.bases[i], memo[rows, 1:]) for i, rows in _rows_of_each(chosen))
        return all(b._wrote(part[:, : b._memo_width]) for b, part in parts if b._memo_width)

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        if memo is None:
            self._bounds[ids] = np.nan
            for i in range(len(self.bases)):
                self._teach_base(i, ids, x, y, None)
            return
        self._bounds[ids, memo[:, 0]] = np.nan
        self._record.plays[ids, memo[:, 0]] += 1
        self._record.earned[ids, memo[:, 0]] += y
        for i, rows in _rows_of_each(memo[:, 0]):
            width = self.bases[i]._memo_width
            mine = x[rows]
            mine.setflags(write=False)
            self._teach_base(i, ids[rows], mine, y[rows], memo[rows, 1 : 1 + width] if width else None)

    def _teach_base(self, i: int, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        self.bases[i]._teach(ids, x, y, memo)
        for message in self.bases[i]._drain():
            self._say(f"bases[{i}]: {message}")

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        for mine, theirs in zip(self.bases, fresh.bases, strict=True):
            mine._extend(theirs)
        self._bounds = np.full((self._size, len(self.bases)), np.nan)

    def _state(self) -> Iterator[tuple[str, LaneArrays]]:
        yield from super()._state()
        for i, b in enumerate(self.bases):
            for name, part in b._state():
                yield f"bases[{i}].{name}", part

    @property
    def plays(self) -> Index:
        """Rounds that each base played and learned, ``(M,)``."""
        return self._told(self._record.plays)

    @property
    def model_weights(self) -> Array:
        """Share of the rounds of each base, ``(M,)``; equal before the first."""
        plays = self._record.plays
        total = plays.sum(axis=1, keepdims=True)
        return self._told(np.where(total == 0, 1.0 / plays.shape[1], plays / np.maximum(total, 1)))
