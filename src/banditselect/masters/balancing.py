"""The models of masters that count what each base earned: a tally, bounds on regret, confidence widths of means."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import inlined, kernel
from ..models.tally import Tally
from ..plays.schedules import Power, Schedule, as_schedule
from ..runtime.arguments import argument
from ..runtime.constraints import Rate
from ..runtime.errors import refuse
from ..runtime.lanes import LaneArrays, per_lane
from ..types import Array, Index, Mask
from .master import MasterModel, shape_of

Reference = float | Schedule | str
"""A bound on regret: a number u for ``u sqrt(n)``, a schedule, or the name of one."""


@dataclass(frozen=True)
class BoundsOnRegret(Rate):
    """One bound on regret for all bases, or a list with one for each; all of them ``powers`` of the rounds, or any."""

    powers: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        several = isinstance(value, list | tuple)
        for i, one in enumerate(value if several else [value]):
            super().check(f"{name}[{i}]" if several else name, one, lanes)
            if self.powers and callable(one) and type(one) is not Power:
                raise refuse(name, value, "finite numbers >= 0, or Power(scale, exponent)")


REFERENCE = argument(BoundsOnRegret(names=("own",)), default=1.0, unit="reward")
POWERS = argument(BoundsOnRegret(powers=True), default=1.0, unit="reward")


class TalliedBases(MasterModel):
    """Counts the rounds that each base played and learned, and sums what it earned."""

    plays = property(attrgetter("tally.plays"))

    def __init__(self, master: Any, lanes: int) -> None:
        super().__init__(shape_of(master))
        self.tally = Tally(lanes, len(master.bases))

    def weights(self) -> Array:
        """Return the share of the rounds of each base, ``(N, M)``; equal before the first."""
        plays = self.tally.plays
        total = plays.sum(axis=1, keepdims=True)
        return np.where(total == 0, 1.0 / plays.shape[1], plays / np.maximum(total, 1))


class BoundedBases(TalliedBases):
    """The base plays whose bound on regret is smallest, among those that are alive and pass a test.

    If ``lasting``, a base that has failed once never plays again. ``bias``: of :func:`candidates`.

    Attributes
    ----------
    alive: the bases that have passed every test, ``(N, M)``; all of them where failures do not last.
    """

    def __init__(self, master: Any, lanes: int, *, lasting: bool, bias: float = 0.0) -> None:
        super().__init__(master, lanes)
        self.lasting, self.bias = lasting, float(bias)
        self.bounds, self.widths = RegretBounds(master, lanes), MeanWidths(master, lanes)
        self.alive = np.ones((lanes, len(master.bases)), dtype=bool)
        self.state, self.fixed = (("alive",), ()) if lasting else ((), ("alive",))

    def _tested(self, ids: Index) -> tuple[Any, ...]:
        """Return what kernels test these lanes by."""
        self.bounds.refresh(ids, self.tally.plays)
        return ids, self.tally.arrays(), self.bounds.arrays(), self.widths.arrays(), self.bias, self.alive

    def admissible(self) -> Mask:
        """Return whether each base may play in the next round, ``(N, M)``."""
        return candidates(*self._tested(np.arange(len(self.alive))))

    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return shares ``(n, M)`` that are 1 for the base to play, and that no lane has a choice."""
        return share_tested(*self._tested(ids)), False

    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Count rewards."""
        if self.lasting:  # the round before is judged now, when its base has learned and knows its own bound
            self.alive[ids] = candidates(*self._tested(ids))
        if base is None:
            self.bounds.U[ids] = np.nan
        else:
            record(ids, base, y, self.tally.arrays(), self.bounds.U, self.widths.spread)
        return y


class RegretBounds(LaneArrays):
    """The bounds U_i(n) on the regret of bases, each at the count of its base; computed when they are needed.

    Attributes
    ----------
    U: the bounds, ``(N, M)``; NaN where they are not known.
    scale, exponent: those of ``scale_i n ** exponent_i``, ``(M,)``; NaN for a bound of another form.
    """

    fixed = ("U",)
    shared = ("scale", "exponent")

    def __init__(self, master: Any, lanes: int) -> None:
        self.owner, self.bases = f"{type(master).__name__}: reference", master.bases
        reference, M = master.reference, len(self.bases)
        each: list[Any] = list(reference) if isinstance(reference, list | tuple) else [reference] * M
        if len(each) != M:
            raise refuse(self.owner, reference, f"one, or a list of one for each of {M} bases")
        for i, (u, base) in enumerate(zip(each, self.bases, strict=True)):
            if isinstance(u, str) and not hasattr(base, "regret_bound"):
                raise refuse(self.owner, u, f"a bound; bases[{i}] has no regret_bound")
        self.schedules = [None if isinstance(u, str) else as_schedule(u) for u in each]
        powers = [(float(u.scale), float(u.exponent)) if type(u) is Power else (np.nan,) * 2 for u in self.schedules]
        self.scale, self.exponent = np.array(powers).T.copy()
        self.are_powers = not np.isnan(self.scale).any()
        self.U = np.full((lanes, M), np.nan)

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return the arrays that kernels read, ``bounds``."""
        return self.U, self.scale, self.exponent

    def refresh(self, ids: Index, plays: Index) -> None:
        """Compute the bounds of these lanes that are not powers, of bases that have learned since."""
        if self.are_powers:
            return
        found = stale(ids, plays, self.U)
        values: dict[tuple[int, int], float] = {}  # by schedule and count: each is called once
        for i in np.unique(found[:, 1]).tolist():
            lanes, schedule = found[found[:, 1] == i, 0], self.schedules[i]
            if schedule is None:
                self.U[:, i] = self.bases[i].regret_bound
            else:
                counts = plays[lanes, i].tolist()
                values |= {(id(schedule), n): schedule(float(n)) for n in counts if (id(schedule), n) not in values}
                self.U[lanes, i] = [values[id(schedule), n] for n in counts]
            if not np.isfinite(given := self.U[lanes, i]).all():
                self.U[lanes, i] = np.nan
                raise refuse(self.owner, given, "a schedule whose values are finite numbers")

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Forget the bounds: they may be those of rewards that are no longer learned."""
        self.U[:] = np.nan


class MeanWidths(LaneArrays):
    r"""Confidence widths of means of rewards, for M bases and all numbers n of rewards at once.

    .. math:: r(n) = 1.7 R \sqrt{\frac{\log\log 2n + 0.72 \log(10.4 M / \delta)}{n}}

    With probability 1 - delta no mean of R-sub-Gaussian rewards is ever further off (Howard, Ramdas, McAuliffe, Sekhon,
    "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021, equation 2, for each base at delta / M).

    Attributes
    ----------
    spread: r(n) at the count of each base, ``(N, M)``; NaN until it is needed.
    width: 1.7 R times the scale, ``(N,)``.  log_term: the summand that does not depend on n.
    """

    fixed = ("spread", "width")

    def __init__(self, master: Any, lanes: int) -> None:
        M = len(master.bases)
        self.spread = np.full((lanes, M), np.nan)
        self.width = 1.7 * master.scale * per_lane(master.noise, lanes)
        self.log_term = 0.72 * math.log(10.4 * M / master.delta)

    def arrays(self) -> tuple[Array, Array, float]:
        """Return what kernels read, ``widths``."""
        return self.spread, self.width, self.log_term

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Forget the widths: they may be those of rewards that are no longer learned."""
        self.spread[:] = np.nan


@inlined
def fill_powers(ids: Index, plays: Index, bounds: Any) -> None:
    """``U[n, i] = scale_i plays ** exponent_i`` where it is not known (NaN); it stays so for a scale of NaN."""
    U, scale, exponent = bounds
    for r in range(ids.size):
        n = ids[r]
        for i in range(plays.shape[1]):
            if np.isnan(U[n, i]):
                U[n, i] = scale[i] * float(plays[n, i]) ** exponent[i]


@kernel
def stale(ids: Index, plays: Index, U: Array) -> Index:
    """Return lane and base of every bound that is not known (NaN) of a base that has played, ``(bounds, 2)``."""
    found, count = np.empty((ids.size * plays.shape[1], 2), dtype=np.int64), 0
    for r in range(ids.size):
        n = ids[r]
        for i in range(plays.shape[1]):
            if plays[n, i] > 0 and np.isnan(U[n, i]):
                found[count, 0], found[count, 1] = n, i
                count += 1
    return found[:count]


@kernel
def record(ids: Index, base: Index, y: Array, tally: Any, U: Array, spread: Array) -> None:
    """Count the rewards ``y (n,)`` of the bases that played ``(n,)``; bounds and widths of these are not known now."""
    plays, earned = tally
    for r in range(ids.size):
        n, i = ids[r], base[r]
        plays[n, i] += 1
        earned[n, i] += y[r]
        U[n, i] = spread[n, i] = np.nan


@inlined
def radius(plays: int, width: float, log_term: float) -> float:
    """``width sqrt((log log 2n + log_term) / n)``: how far a mean of ``n = plays`` rewards may lie from expectation."""
    return width * math.sqrt((math.log(math.log(2.0 * plays)) + log_term) / plays)


@kernel
def candidates(ids: Index, tally: Any, bounds: Any, widths: Any, bias: float, alive: Mask) -> Mask:
    """Return the bases ``(n, M)`` among those alive whose bound on regret no other has shown to be too small.

    ``(earned_i + U_i) / plays_i - bias_i + spread_i >= max_j earned_j / plays_j - bias_j - spread_j``, j among those
    alive, where ``bias_i = bias scale_i t ** (exponent_i - 1)`` after t rounds, 0 for a ``bias`` of 0; ``spread`` is
    the ``radius``, NaN where it is not known. A base that has not played passes, and so does the one of the maximum.
    """
    plays, earned = tally
    U, scale, exponent = bounds
    spread, width, log_term = widths
    fill_powers(ids, plays, bounds)
    M = plays.shape[1]
    among = alive[ids]
    mean = np.empty(M)
    for r in range(ids.size):
        n = ids[r]
        t = 0
        for i in range(M):
            t += plays[n, i]
        level = -np.inf
        power, grown = np.nan, 0.0
        for i in range(M):
            if plays[n, i] > 0:
                if np.isnan(spread[n, i]):
                    spread[n, i] = radius(plays[n, i], width[n], log_term)
                mean[i] = earned[n, i] / plays[n, i]
                if bias > 0.0:
                    if exponent[i] != power:  # most often all are equal
                        power, grown = exponent[i], float(t) ** (exponent[i] - 1.0)
                    mean[i] -= bias * scale[i] * grown
                if among[r, i]:
                    level = max(level, mean[i] - spread[n, i])
        for i in range(M):
            if plays[n, i] > 0 and mean[i] + U[n, i] / plays[n, i] + spread[n, i] < level:
                among[r, i] = False
    return among


@kernel
def share_tested(ids: Index, tally: Any, bounds: Any, widths: Any, bias: float, alive: Mask) -> Array:
    """Return shares ``(n, M)``: 1 for the base of least bound among the ``candidates``."""
    return share_least(ids, tally[0], bounds[0], candidates(ids, tally, bounds, widths, bias, alive))


@kernel
def share_least(ids: Index, plays: Index, value: Array, among: Mask) -> Array:
    """Return shares ``(n, M)``: 1 for the first base ``among (n, M)`` that has not played, or else of least value."""
    M = plays.shape[1]
    share = np.zeros((ids.size, M))
    for r in range(ids.size):
        n = ids[r]
        best = -1
        least = np.inf
        for i in range(M):
            worth = value[n, i] if plays[n, i] > 0 else -np.inf
            if among[r, i] and (best < 0 or worth < least):
                best, least = i, worth
        share[r, best] = 1.0
    return share
