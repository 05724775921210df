"""Where tuning looks: values of arguments, by list or by steps, and which of them to play next, on how many replicates.

A place is a tuple of whole numbers, one per argument: the index in a list, or the number of steps from the start.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..runtime import constraints
from ..runtime.binding import Constant
from ..runtime.quantiles import standard_error

KEPT = (4, 2)  #: how many of the best play a quarter of the replicates, and all of them
SHORT = 8  #: on fewer replicates than this nobody is left behind
DOUBT = 2.0  #: standard errors by which a place may be worse than the best and still be looked at again
CLOSE = 1.0  #: standard errors by which a place nearer to the start may be worse and still be chosen
LITTLE = 0.01  #: a step that gains less than this part of what was gained so far is the last

Place: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Steps:
    """The values ``start * factor ** k`` of an argument, k = 0, 1, -1, 2, ...: tried from the start on for as long as
    the next one is better, so that there is no end that a choice could be at.

    Parameters
    ----------
    start: a number > 0, or ``given.<constant>``; ``given.reward_range`` is multiplied about its middle.
    factor: at least 1.01, between neighbours.
    reach: never more than this many steps from the start; a choice there is marked as one at the end.

    Examples
    --------
    >>> steps = Steps(1.0, factor=10.0)
    >>> steps[0], steps[-2], steps[1]
    (1.0, 0.01, 10.0)
    """

    start: Any
    factor: float = 10.0**0.5
    reach: int = 10

    def __post_init__(self) -> None:
        if not isinstance(self.start, Constant):
            constraints.Number(low=0.0, above=True).check("Steps: start", self.start, None)
        constraints.Number(low=1.01).check("Steps: factor", self.factor, None)
        constraints.Number(low=1, integer=True).check("Steps: reach", self.reach, None)

    def __getitem__(self, k: int) -> Any:
        """Return the value k steps from the start, numbers with four digits."""
        if k == 0:
            return self.start
        value = self.start * float(f"{self.factor**k:.4g}")
        return value if isinstance(value, Constant) else float(f"{value:.4g}")


Axis: TypeAlias = Sequence[Any] | NDArray[Any] | Steps


class Request(NamedTuple):
    """Places that are to play replicates ``start`` to ``stop - 1``."""

    places: tuple[Place, ...]
    start: int
    stop: int


class Search:
    """Looks for the place of the smallest mean; what it asks for it is told, and then it asks for the next.

    On the first replicates it tries every combination of listed values at the start of steps, and walks from the best:
    where a place two steps away along one argument is better it goes there, then where one is that is one step away
    along one argument, or along two; until a step gains next to nothing. The best places and the start go on to more
    replicates, the best of these to all, and so does what is better next to the best of them, or not clearly worse;
    what is clearly worse than the best stays behind. Of the places that are worse than the best by no more than one
    standard error of the difference, the one nearest to the start of steps is chosen: what a few lucky replicates
    favour is seldom the milder value.

    Parameters
    ----------
    axes: the values by name of the argument.
    replicates: on how many the best are compared in the end.
    hint: a place that was best elsewhere; it is tried with the first, and where it leads the walk begins by single
        steps. What is chosen near the start stays so: a hint is no start.

    Attributes
    ----------
    axes: as given.
    reached: by place, what it had on the replicates that it played.
    best: the place chosen; of listed values the one of the smallest mean, ties go to the first; empty before.
    """

    def __init__(self, axes: Mapping[str, Axis], replicates: int, hint: Place = ()) -> None:
        self.axes = dict(axes)
        self._hint = hint
        self._walked = [j for j, axis in enumerate(self.axes.values()) if isinstance(axis, Steps)]
        few = replicates // 12
        self._stages = (few, replicates // 4, replicates) if few >= SHORT else (replicates,)
        self._first = self._stages[0]
        self._requests = self._search()
        self.reached: dict[Place, NDArray[np.float64]] = {}
        self.best: Place = ()

    def next(self) -> Request | None:
        """Return what is to be played next, None when the best is known."""
        return next(self._requests, None)

    def learn(self, reached: Mapping[Place, NDArray[np.float64]]) -> None:
        """Take what places had on the replicates that were asked for."""
        for place, values in reached.items():
            self.reached[place] = np.concatenate([self.reached.get(place, np.empty(0)), values])

    def arguments(self, place: Place) -> dict[str, Any]:
        """Return the values at a place, by name of the argument."""
        return {name: axis[k] for (name, axis), k in zip(self.axes.items(), place, strict=True)}

    def begin(self) -> list[Place]:
        """Return where the search begins: every combination of listed values, at the start of steps."""
        ranges = [(0,) if isinstance(axis, Steps) else range(len(axis)) for axis in self.axes.values()]
        return list(itertools.product(*ranges))

    def ends(self) -> list[str]:
        """Return the arguments whose best value is an end of what could be tried; a tie with its neighbour is none."""
        found = []
        for j, (name, axis) in enumerate(self.axes.items()):
            low, high = (-axis.reach, axis.reach) if isinstance(axis, Steps) else (0, len(axis) - 1)
            k = self.best[j]
            if low < high and k in (low, high):
                inner = (*self.best[:j], k + (1 if k == low else -1), *self.best[j + 1 :])
                both = min(self.reached[place].size for place in (self.best, inner)) if inner in self.reached else 0
                if both == 0 or self._mean(inner, both) != self._mean(self.best, both):
                    found.append(name)
        return found

    def _search(self) -> Iterator[Request]:
        pool = self.begin()
        pool += [self._hint] if self._hint and self._hint not in pool else []
        start, kept = pool[0], (len(pool), *KEPT)
        for stage, most in zip(self._stages, kept, strict=False):
            led = start not in pool[:most] and stage < self._stages[-1]  # astray, perhaps: the start is asked once more
            pool = pool[:most] + [start] * led
            yield from self._play(pool, stage)
            yield from self._walk(pool, stage)
            pool.sort(key=lambda place, stage=stage: self._mean(place, stage))  # type: ignore[misc]
            pool = [place for place in pool if self._worse(place, pool[0]) < DOUBT]
        yield from self._come_back(pool[0], self._stages[-1])

    def _come_back(self, best: Place, stage: int) -> Iterator[Request]:
        """Go from the best towards the start of steps for as long as that is not clearly worse than the best."""
        self.best, before = best, None
        while self.best != before:
            before = self.best
            near = [place for place in self._next_to(before, 1, 1) if self._steps(place) < self._steps(before)]
            for n in self._stages:
                yield from self._play(near, n)
                near = [place for place in near if self._worse(place, best) <= CLOSE]
            known = [place for place, values in self.reached.items() if values.size == stage]
            close = [place for place in known if self._worse(place, best) <= CLOSE]
            self.best = min([best, *close], key=lambda place: (self._steps(place), self._mean(place, stage)))

    def _steps(self, place: Place) -> int:
        """Return how many steps a place is from the start."""
        return sum(abs(place[j]) for j in self._walked)

    def _play(self, places: Sequence[Place], stage: int) -> Iterator[Request]:
        """Ask for the replicates that places lack of the first ``stage``."""
        lacking: dict[int, list[Place]] = {}
        for place in places:
            lacking.setdefault(self.reached[place].size if place in self.reached else 0, []).append(place)
        for start, some in lacking.items():
            if start < stage:
                yield Request(tuple(some), start, stage)

    def _walk(self, pool: list[Place], stage: int) -> Iterator[Request]:
        """Go from the best of the pool to what is better next to it, as long as there is such; it joins the pool.

        On the first replicates by two steps at a time along one argument (not from a hint), then by one along one, or
        along two to where the steps along one point; later by one along one.
        """
        first = ((1, 2),) if self._leader(pool, stage) == self._hint else ((2, 1), (1, 2))
        for stride, most in first if stage == self._first else ((1, 1),):
            along = 1
            while along <= min(most, len(self._walked)):
                leader = self._leader(pool, stage)
                near = [place for place in self._next_to(leader, stride, along) if place not in pool]
                near = [place for place in near if self._downhill(place, leader)]
                yield from self._play(near, self._first)
                promising = [place for place in near if self._promising(place, leader, stage)]
                yield from self._play(promising, stage)
                pool += promising
                gained = self._mean(leader, stage) - self._mean(self._leader(pool, stage), stage)
                so_far = self._mean(pool[0], self._first) - self._mean(leader, self._first)
                along = 1 if gained > max(0.0, LITTLE * so_far) else along + 1

    def _downhill(self, place: Place, leader: Place) -> bool:
        """Tell whether the steps to a place, each taken alone, led lower in sum than the opposite ones, or as low.

        Of two opposite places along several arguments only one does, on a slope that is linear or quadratic the lower.
        """
        slope, moved = 0.0, [j for j in self._walked if place[j] != leader[j]]
        for j in moved if len(moved) > 1 else ():
            alone, opposite = ((*leader[:j], k, *leader[j + 1 :]) for k in (place[j], 2 * leader[j] - place[j]))
            if alone not in self.reached or opposite not in self.reached:  # at the end of what may be reached
                return True
            slope += self._mean(alone, self._first) - self._mean(opposite, self._first)
        return not slope > 0.0  # where all fail it is not a number

    def _promising(self, place: Place, leader: Place, stage: int) -> bool:
        """Tell whether a place is to play all replicates of a stage, by those that it and the leader have played.

        On the first replicates everything is. Later what is better; before the last stage also what is worse by less
        than two standard errors, since a few lucky replicates may have led to where the leader is.
        """
        if stage == self._first:
            return True
        return self._worse(place, leader) < (DOUBT if stage < self._stages[-1] else 0.0)

    def _worse(self, place: Place, other: Place) -> float:
        """Return by how many standard errors a place is worse than another, by the replicates that both have played."""
        n = min(self.reached[place].size, self.reached[other].size)
        if np.isinf(self.reached[place]).any():
            return np.inf
        difference = self.reached[place][:n] - self.reached[other][:n]
        mean, error = float(difference.mean()), float(standard_error(difference)) if n > 1 else 0.0
        return mean / error if error else float(np.sign(mean)) * np.inf if mean else 0.0

    def _leader(self, pool: Sequence[Place], stage: int) -> Place:
        return min(pool, key=lambda place: self._mean(place, stage))

    def _next_to(self, place: Place, stride: int, along: int) -> Iterator[Place]:
        """Yield the places that are a stride away along this many arguments at a time, or as far as these reach."""
        reach = [axis.reach if isinstance(axis, Steps) else 0 for axis in self.axes.values()]
        for axes in itertools.combinations(self._walked, along):
            for steps in itertools.product((-stride, stride), repeat=along):
                moved = list(place)
                for j, step in zip(axes, steps, strict=True):
                    moved[j] = max(-reach[j], min(reach[j], moved[j] + step))
                if all(moved[j] != place[j] for j in axes):
                    yield tuple(moved)

    def _mean(self, place: Place, n: int) -> float:
        return float(self.reached[place][:n].mean())
