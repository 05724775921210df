"""What meta-policies share that count what each base earned: the tally, bounds on regret, widths of means."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...carriers import validation
from ...carriers.lanes import LaneArrays, PerLane, per_lane
from ...carriers.shapes import FeatureShape, common_shape
from ...carriers.streams import Seed
from ...carriers.validation import SMALLEST, Constraint, Number, Rate
from ...kernels import balancing
from ...parts.exploration import Power, Schedule, as_schedule
from ...parts.tally import Tally
from ...types import Array, Index, Mask
from ..base import Policy
from .meta import MetaPolicy, own_bases

Reference = float | Schedule | str
"""A bound on regret: a number u for ``u sqrt(n)``, a schedule, or the name of one."""


class BoundsOnRegret(Rate):
    """One bound on regret for all bases, or a list with one for each."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if not isinstance(value, list | tuple):
            super().check(name, value, lanes)
            return
        for i, one in enumerate(value):
            super().check(f"{name}[{i}]", one, lanes)


class PowersOnRegret(BoundsOnRegret):
    """The same, each a power of the number of rounds."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        super().check(name, value, lanes)
        each = value if isinstance(value, list | tuple) else [value]
        if any(callable(one) and type(one) is not Power for one in each):
            raise validation.refuse(name, value, "finite numbers >= 0, or Power(scale, exponent)")


WIDTH_ARGUMENTS: dict[str, Constraint] = {
    "noise": Number(low=SMALLEST, per_lane=True),
    "delta": Number(low=0.0, high=1.0, above=True, below=True),
    "scale": Number(low=0.0),
}
"""What :class:`Widths` is told."""


class Forgetful(LaneArrays):
    """Numbers that follow from what is learned, ``(N, M)``: NaN until a kernel needs them."""

    def restore(self, arrays: Any) -> None:
        """Take over nothing, and forget: they may be of what is no longer learned."""
        for name in self.fixed:
            getattr(self, name)[:] = np.nan


class Widths(Forgetful):
    r"""How far means of rewards lie from what was expected, for M bases and all numbers n of rewards at once.

    .. math:: r(n) = 1.7 R \sqrt{\frac{\log\log 2n + 0.72 \log(10.4 M / \delta)}{n}}

    With probability 1 - delta no mean of R-sub-Gaussian rewards is ever further off (Howard, Ramdas, McAuliffe, Sekhon,
    "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021, equation 2, for each base at delta / M).

    Attributes
    ----------
    spread: r(n) at the count of each base, ``(N, M)``; NaN until it is needed.
    constants: their ``width``, 1.7 R times the scale, ``(N,)``.
    log_term: the summand that does not depend on n.
    """

    fixed = ("spread",)

    def __init__(self, noise: ArrayLike, delta: float, scale: float, bases: int, lanes: int) -> None:
        self.spread = np.full((lanes, bases), np.nan)
        self.constants = PerLane(width=1.7 * scale * per_lane(noise, lanes))
        self.log_term = 0.72 * math.log(10.4 * bases / delta)

    @property
    def known(self) -> tuple[Array, Array, float]:
        """What kernels are told of it."""
        return self.spread, self.constants.width, self.log_term


class References(Forgetful):
    """The bounds U_i(n) on the regret of bases, each at the count of its base; asked for when they are needed.

    Attributes
    ----------
    U: the bounds, ``(N, M)``; NaN until it is asked for one.
    scale, exponent: those of ``scale_i n ** exponent_i``, ``(M,)``; NaN for a bound of another form.
    """

    fixed = ("U",)

    def __init__(
        self, owner: str, reference: Reference | Sequence[Reference], bases: tuple[Policy, ...], lanes: int
    ) -> None:
        M = len(bases)
        each: list[Any] = list(reference) if isinstance(reference, list | tuple) else [reference] * M
        if len(each) != M:
            raise validation.refuse(f"{owner}: reference", reference, f"one, or a list of one for each of {M} bases")
        for i, (u, base) in enumerate(zip(each, bases, strict=True)):
            if isinstance(u, str) and not hasattr(base, "regret_bound"):
                raise validation.refuse(f"{owner}: reference", u, f"a bound; bases[{i}] has no regret_bound")
        self.owner = owner
        self.schedules = [None if isinstance(u, str) else as_schedule(u) for u in each]
        powers = [(float(u.scale), float(u.exponent)) if type(u) is Power else (np.nan,) * 2 for u in self.schedules]
        self.scale, self.exponent = np.array(powers).T.copy()
        self.is_known = not np.isnan(self.scale).any()  # to kernels, which then ask nobody
        self.U = np.full((lanes, M), np.nan)

    @property
    def known(self) -> tuple[Array, Array, Array]:
        """What kernels are told of it."""
        return self.U, self.scale, self.exponent

    def ask(self, ids: Index, plays: Index, bases: tuple[Policy, ...]) -> None:
        """Ask for the bounds of these lanes that no kernel knows, of bases that have learned since."""
        if self.is_known:
            return
        found = np.empty((ids.size * len(bases), 2), dtype=np.int64)
        found = found[: balancing.stale(ids, plays, self.U, found)]
        values: dict[tuple[int, int], float] = {}  # by schedule and count: each is asked once
        for i in np.unique(found[:, 1]).tolist():
            lanes, schedule = found[found[:, 1] == i, 0], self.schedules[i]
            if schedule is None:
                self.U[:, i] = bases[i].regret_bound
            else:
                counts = plays[lanes, i].tolist()
                values |= {(id(schedule), n): schedule(float(n)) for n in counts if (id(schedule), n) not in values}
                self.U[lanes, i] = [values[id(schedule), n] for n in counts]
            if not np.isfinite(given := self.U[lanes, i]).all():
                self.U[lanes, i] = np.nan
                raise validation.refuse(f"{self.owner}: reference", given, "a schedule whose values are finite numbers")


class BalancingPolicy(MetaPolicy):
    """A policy made of policies that counts what each of them earned.

    Attributes
    ----------
    bases: the copies.  plays: rounds per base, ``(M,)``.  model_weights: share of the rounds of each base, ``(M,)``.
    """

    _tally: Tally

    def __init__(self, bases: Sequence[Any], lanes: int | None, seed: Seed) -> None:
        self.bases = own_bases(type(self).__name__, bases, lanes, seed)
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return common_shape(f"{type(self).__name__}: bases", [b.feature_shape for b in self.bases])

    def _begin(self, lanes: int) -> None:
        self._tally = Tally(lanes, len(self.bases))

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


class Standing(LaneArrays):
    """The bases that have stood every test, ``alive (N, M)``; or, where tests do not last, all of them."""

    def __init__(self, lanes: int, bases: int, lasting: bool) -> None:
        self.alive = np.ones((lanes, bases), dtype=bool)
        self.state, self.fixed = (("alive",), ()) if lasting else ((), ("alive",))


class BoundedPolicy(BalancingPolicy):
    """The base plays whose bound on regret is smallest, of those that are alive and stand a test."""

    reference: Reference | Sequence[Reference]
    noise: float | ArrayLike
    delta: float
    scale: float
    bias: float = 0.0
    _lasting: ClassVar[bool]  #: whether a base that has failed once never plays again

    def _begin(self, lanes: int) -> None:
        super()._begin(lanes)
        self._references = References(type(self).__name__, self.reference, self.bases, lanes)
        self._widths = Widths(self.noise, self.delta, self.scale, len(self.bases), lanes)
        self._standing = Standing(lanes, len(self.bases), self._lasting)

    def _tested(self, ids: Index) -> tuple[Index, Array, Array, Array, Array, float, Array, Array, float]:
        """Return what kernels test these lanes by."""
        tally, bounds = self._tally, self._references
        bounds.ask(ids, tally.plays, self.bases)
        return tally.plays, tally.earned, *bounds.known, float(self.bias), *self._widths.known

    def _shares(self, ids: Index) -> tuple[Array, bool]:
        shares = np.empty((ids.size, len(self.bases)))
        balancing.share_tested(ids, *self._tested(ids), self._standing.alive, shares)
        return shares, False

    def _record(self, ids: Index, chosen: Index | None, y: Array) -> None:
        tally, U = self._tally, self._references.U
        if self._lasting:  # the round before is judged now, when its base has learned and knows its own bound
            balancing.eliminate(ids, *self._tested(ids), self._standing.alive)
        if chosen is None:  # every base learns
            U[ids] = np.nan
        else:
            balancing.record_tested(ids, chosen, y, tally.plays, tally.earned, U, self._widths.spread)

    @property
    def admissible(self) -> Mask:
        """Whether each base may play in the next round, ``(M,)``."""
        alive = self._standing.alive.copy()
        balancing.eliminate(self._all, *self._tested(self._all), alive)
        return self._answer(alive)
