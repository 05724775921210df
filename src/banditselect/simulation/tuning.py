"""Tune policies fairly: successive halving, one argument at a time, on replicates that no simulation reports."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..policies import Binding, Pending, Several
from ..problems import Problem
from ..reporting.tables import is_lower_better
from ..runtime import constraints, errors
from ..runtime.binding import Constant
from ..runtime.quantiles import standard_error
from . import engines
from .identity import record_of
from .loop import METRICS
from .plan import Plan, Policies
from .progress import OnProgress
from .store import Store
from .sweeps import RESERVED, check_numbers, raise_first

SHARE = 3  #: a third of the candidates goes on to three times as many replicates
FEWEST = 8  #: and never fewer replicates than this are played
DOUBT = 2.0  #: standard errors by which a candidate may be worse than the best and still play more replicates
CLOSE = 1.0  #: standard errors by which a candidate nearer to the start may be worse and still be chosen

Place: TypeAlias = tuple[int, ...]
"""A candidate: per argument the index in a list, or the number of steps from the start."""


@dataclass(frozen=True)
class Steps:
    """The values ``start * factor ** k`` of an argument, k = 0, 1, -1, 2, ...: a grid that grows while its end is best.

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
    reach: int = 20

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
Grid: TypeAlias = Mapping[str, Axis]


class Tuned(dict[str, Binding[Any]]):
    """Policies with the arguments that :func:`tune` chose; ``simulate`` takes it and keeps the record.

    Attributes
    ----------
    record: the grid, the settings of the tuning and, per policy, the mean and standard error of every candidate on the
        replicates that it played, and the choice; ``ends``: the arguments whose choice lies on the edge of the grid.
    """

    def __init__(self, policies: Policies, record: Mapping[str, Any]) -> None:
        super().__init__(policies)
        self.record = record

    def __repr__(self) -> str:
        chosen = {name: tuned["choice"] for name, tuned in self.record["policies"].items()}
        return f"<Tuned: {chosen}>"


def tune(
    policies: Policies,
    problem: Problem,
    grid: Grid,
    *,
    rounds: int,
    replicates: int = 20,
    own: Mapping[str, Grid] | None = None,
    metric: str = "regret",
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
) -> Tuned:
    """Choose arguments of every policy by the mean of a metric on instances that are never reported.

    Replicates of ``simulate`` and ``sweep`` are numbered from 0; those used here from 2 ** 40, so that no instance and
    no random number is met again, for any seed. Problems made of data (``Classification``, ``LoggedReplay``) draw
    from the same data for all: to tune on data that are not reported, split them, and tune on one part.

    Arguments are tuned one at a time, then in pairs, until nothing near is better. From 24 replicates on, candidates
    play 8 to 23 of them at first; the best third, without those that are clearly worse than the best, plays three times
    as many, and so on.

    Parameters
    ----------
    policies: by name, what ``bind`` returned.
    problem: draws the instances.
    grid: by name of the argument, a list of values, or :class:`Steps`, which has no ends. A policy is tuned in those
        arguments that it has, itself or in the policies inside it. One that has none of them stays as it is.
    rounds, replicates: how long, on how many instances.
    own: values for single policies, by name of the policy; they go before those of the grid.
    metric: what is to be best after the last round: smallest for regrets, else largest. Ties go to the first; of values
        by steps, the nearest to the start is chosen that is not worse than the best by more than one standard error of
        the difference.
    seed, engine, workers, address, out, progress: as for ``simulate``; ``out`` keeps the cells there; progress is
        called with one step of the search at a time.

    Examples
    --------
    >>> from banditselect import LinTS, OFUL, given
    >>> from banditselect.problems import SyntheticParameterSelection
    >>> policies = {"OFUL": OFUL.bind(noise=given.noise), "LinTS": LinTS.bind(noise=given.noise)}
    >>> problem = SyntheticParameterSelection(n_models=2, dim=3)
    >>> tuned = tune(policies, problem, {"scale": [0.1, 1.0]}, rounds=100, replicates=5)
    >>> tuned["OFUL"]
    OFUL.bind(noise=given.noise, scale=0.1)
    """
    size: dict[str, Any] = {"own": own, "rounds": rounds, "replicates": replicates, "metric": metric, "seed": seed}
    where: dict[str, Any] = {"engine": engine, "workers": workers, "address": address, "out": out}
    found = tune_all({"problem": policies}, {"problem": problem}, grid, phase=lambda _: progress, **size, **where)
    return found["problem"]


def tune_all(
    policies: Mapping[str, Policies],
    problems: Mapping[str, Problem],
    grid: Grid,
    *,
    own: Mapping[str, Grid] | None,
    rounds: int,
    replicates: int,
    metric: str,
    phase: Callable[[str], OnProgress | None],
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    out: str | Path | None = None,
) -> dict[str, Tuned]:
    """Tune the policies of every problem, all problems side by side; ``phase`` is called before every step."""
    rounds, replicates = check_numbers(rounds, replicates, seed)
    constraints.OneOf(tuple(METRICS)).check("metric", metric, None)
    engines.check(engine, workers, address)
    own = own or {}
    _check(policies, grid, own)
    searches = {}
    for problem in problems:
        for name, binding in policies[problem].items():
            known = arguments_of(binding)
            if axes := {one: axis for one, axis in {**grid, **own.get(name, {})}.items() if one in known}:
                searches[problem, name] = Search(axes, replicates)
    store, sign = None if out is None else Store(out), 1.0 if is_lower_better(metric) else -1.0
    for step in itertools.count(1):
        wanted = {key: request for key, search in searches.items() if (request := next(search.requests, None))}
        if not wanted:
            break
        for start, stop in sorted({(request.start, request.stop) for request in wanted.values()}):
            trials = {
                (problem, f"{name} {place}"): (name, place)
                for (problem, name), request in wanted.items()
                if (request.start, request.stop) == (start, stop)
                for place in request.places
            }
            candidates: dict[str, dict[str, Binding[Any]]] = {problem: {} for problem, _ in trials}
            for (problem, label), (name, place) in trials.items():
                changed = searches[problem, name].arguments(place)
                candidates[problem][label] = _with(policies[problem][name], changed)
            asked, lanes = {name: problems[name] for name in candidates}, range(RESERVED + start, RESERVED + stop)
            names = {label: name for (_, label), (name, _) in trials.items()}
            plan = Plan(asked, candidates, rounds, lanes, seed, candidate_of=names)
            if store is not None and step == 1:
                plan.description()  # refuses what cannot be stored, before there is a folder
                store.prepare()
            outcomes, failures = plan.run(store, engine, workers, address, phase(f"tuning, step {step}"))
            for failure in failures:
                name, place = trials[failure.cell.problem, failure.cell.policy]
                steps = searches[failure.cell.problem, name].steps(place)
                if not isinstance(failure.error, errors.ArgumentError) or not steps:
                    raise_first([failure])
            finals = {name: plan.result(name, outcomes, failures).finals(metric) for name in candidates}
            for (problem, label), (name, place) in trials.items():
                values = finals[problem].get(label, np.full(len(lanes), sign * np.inf))  # a step that is refused
                if np.isnan(values).any():
                    raise errors.refuse("metric", metric, f"a metric that policies[{name!r}] has on every replicate")
                searches[problem, name].learn(place, sign * values)
    settings = {"grid": _recorded(grid), "own": _recorded(own), "metric": metric, "rounds": rounds}
    settings |= {"replicates": [RESERVED, RESERVED + replicates], "seed": seed}
    tuned = {}
    for problem, drawn in problems.items():
        mine = {name: search for (where, name), search in searches.items() if where == problem}
        best = {name: _with(policies[problem][name], search.arguments(search.best)) for name, search in mine.items()}
        found = {"policies": {name: search.record(sign) for name, search in mine.items()}}
        tuned[problem] = Tuned(
            {**policies[problem], **best}, {"problem": record_of(drawn, {}, {}), **settings, **found}
        )
    return tuned


def _check(policies: Mapping[str, Policies], grid: Grid, own: Mapping[str, Grid]) -> None:
    """Refuse values without policies by name, values that cannot be tried, and arguments that no policy has."""
    if not grid and not own:
        raise errors.refuse("grid", grid, 'arguments with values to try: {"scale": [0.1, 1.0]}')
    for named in policies.values():
        if not isinstance(named, Mapping):
            raise errors.refuse("policies", named, 'a dict of what bind returned by name, {"name": Policy.bind()}')
    for policy, values in ((None, grid), *own.items()):
        asked = [one for named in policies.values() for name, one in named.items() if policy in (None, name)]
        if policy is not None and not asked:
            raise errors.refuse("own", policy, "the name of a policy")
        owner = "grid" if policy is None else f"own[{policy!r}]"
        for argument, axis in values.items():
            if not isinstance(axis, Steps) and not (isinstance(axis, list | tuple | np.ndarray) and len(axis)):
                raise errors.refuse(f"{owner}: {argument}", axis, "a list of at least one value, or Steps")
            if not any(argument in arguments_of(binding) for binding in asked):
                expected = "one of its arguments" if policy else "an argument of at least one of the policies"
                raise errors.refuse(owner, argument, expected)


class Request(NamedTuple):
    """Places that are to play replicates ``start`` to ``stop - 1``."""

    places: tuple[Place, ...]
    start: int
    stop: int


class Search:
    """Look for the place of the smallest mean.

    Attributes
    ----------
    requests: yields what to play next, whose results ``learn`` takes.
    reached: by place, its results on the replicates that it played.
    best: the place chosen; empty before.
    """

    def __init__(self, axes: Mapping[str, Axis], replicates: int) -> None:
        self.axes = dict(axes)
        self._ranges = [range(-a.reach, a.reach + 1) if isinstance(a, Steps) else range(len(a)) for a in axes.values()]
        self._walked = [j for j, axis in enumerate(axes.values()) if isinstance(axis, Steps)]
        self._stages = [replicates]
        while self._stages[0] >= FEWEST * SHARE:
            self._stages.insert(0, self._stages[0] // SHARE)
        self._leader: Place = (0,) * len(self.axes)
        self.reached: dict[Place, NDArray[np.float64]] = {}
        self.best: Place = ()
        self.requests = self._search()

    def learn(self, place: Place, values: NDArray[np.float64]) -> None:
        """Take the results of a place on the replicates that were asked for; the smaller the better."""
        self.reached[place] = np.concatenate([self.reached.get(place, np.empty(0)), values])

    def arguments(self, place: Place) -> dict[str, Any]:
        """Return the values at a place, by name of the argument."""
        return {name: axis[k] for (name, axis), k in zip(self.axes.items(), place, strict=True)}

    def steps(self, place: Place) -> int:
        """Return how many steps a place is from the start."""
        return sum(abs(place[j]) for j in self._walked)

    def ends(self) -> list[str]:
        """Return the arguments whose best value lies on the edge of the grid (ties with the neighbour excluded)."""
        found = []
        for j, name in enumerate(self.axes):
            tried, k = {place[j] for place in self.reached}, self.best[j]
            if len(tried) > 1 and k in (min(tried), max(tried)):
                inner = (*self.best[:j], k + (1 if k == min(tried) else -1), *self.best[j + 1 :])
                if inner not in self.reached or self._worse(inner, self.best) != 0.0:
                    found.append(name)
        return found

    def record(self, sign: float) -> dict[str, Any]:
        """Return what was tried and chosen, as JSON, with results times ``sign``."""
        tried = []
        for place, values in self.reached.items():
            if np.isfinite(values).all():
                error = float(standard_error(values)) if values.size > 1 else None
                known = {"mean": sign * float(values.mean()), "standard error": error, "n": values.size}
                tried.append({"arguments": _recorded(self.arguments(place)), **known})
        return {"choice": _recorded(self.arguments(self.best)), "ends": self.ends(), "tried": tried}

    def _search(self) -> Iterator[Request]:
        """Search on few replicates; at every further stage, from the best third of the places of the stage before."""
        pool = [self._leader, *self._near(self._leader, (0,), 2)]
        for n in self._stages:
            yield from self._race(pool, n, np.inf)
            self._leader = self._ranked(n)[0]
            yield from self._descend(n)
            ranked = self._ranked(n)
            pool = [place for place in ranked[: -(-len(ranked) // SHARE)] if self._worse(place, ranked[0]) < DOUBT]
        yield from self._come_back(n)

    def _descend(self, n: int) -> Iterator[Request]:
        """Step downhill along one argument at a time, at first by strides of two; in the end along pairs of them."""
        ways, way = [(1, 2), (1, 1), (2, 1)], 0 if n == self._stages[0] else 1
        while way < len(ways):
            along, stride = ways[way]
            leader, doubt = self._leader, DOUBT if along == 1 and n < self._stages[-1] else 0.0
            every = itertools.combinations(range(len(self.axes)), along)
            near = [place for arguments in every for place in self._near(leader, arguments, stride)]
            yield from self._race(near, n, doubt)
            self._leader = min([leader, *(p for p in near if self._played(p) >= n)], key=lambda p: self._mean(p, n))
            way = way + 1 if self._leader == leader else min(way, 1)

    def _come_back(self, n: int) -> Iterator[Request]:
        """Choose the place nearest to the start that is not worse than the best by more than a standard error."""
        self.best, before = self._leader, None
        while self.best != before:
            before = self.best
            home = tuple(0 if j in self._walked else k for j, k in enumerate(before))
            near = [place for j in self._walked for place in self._near(before, (j,))]
            nearer = [place for place in near if self.steps(place) < self.steps(before)]
            yield from self._race([home, *nearer], n, CLOSE)
            self.best = min((p for p in self._ranked(n) if self._worse(p, self._leader) <= CLOSE), key=self.steps)

    def _race(self, places: Sequence[Place], n: int, doubt: float) -> Iterator[Request]:
        """Ask for n replicates of places, stage by stage; those worse than the leader by so many errors stop early."""
        for start, stop in itertools.pairwise([0, *(stage for stage in self._stages if stage <= n)]):
            if lacking := tuple(dict.fromkeys(place for place in places if self._played(place) == start)):
                yield Request(lacking, start, stop)
            places = [place for place in places if self._worse(place, self._leader) < doubt]

    def _near(self, place: Place, arguments: Sequence[int], stride: int = 1) -> list[Place]:
        """Return the places that differ in all of these arguments: by a stride, or in any value of a list."""
        values: list[Sequence[int]] = [[k] for k in place]
        for j in arguments:
            strides = [stride] if j in self._walked else range(1, len(self._ranges[j]))
            values[j] = [k for k in self._ranges[j] if abs(k - place[j]) in strides]
        return list(itertools.product(*values))

    def _played(self, place: Place) -> int:
        return self.reached[place].size if place in self.reached else 0

    def _mean(self, place: Place, n: int) -> float:
        return float(self.reached[place][:n].mean())

    def _ranked(self, n: int) -> list[Place]:
        """Return the places that have played so many replicates, the best first."""
        return sorted((p for p in self.reached if self._played(p) >= n), key=lambda place: self._mean(place, n))

    def _worse(self, place: Place, other: Place) -> float:
        """Return by how many standard errors a place is worse than another, on the replicates that both have played."""
        n = min(self._played(place), self._played(other))
        if place == other or np.isinf(self.reached[place]).any():
            return 0.0 if place == other else np.inf
        difference = self.reached[place][:n] - self.reached[other][:n]
        mean, error = float(difference.mean()), float(standard_error(difference)) if n > 1 else 0.0
        return mean / error if error else float(np.sign(mean)) * np.inf if mean else 0.0


def _recorded(value: Any) -> Any:
    """Return values of arguments as JSON: steps by their settings, what is known only in a problem by its name."""
    if isinstance(value, Steps | Mapping):
        parts = vars(value) if isinstance(value, Steps) else value
        return {name: _recorded(part) for name, part in parts.items()}
    if isinstance(value, list | tuple):
        return [_recorded(part) for part in value]
    return repr(value) if isinstance(value, Pending) else record_of(value, {}, {})


def arguments_of(value: Any) -> set[str]:
    """Return the arguments of a policy and of those inside it, but for lanes and seed, which ``simulate`` sets."""
    if isinstance(value, Binding):
        return (set(value.parameters) - {"lanes", "seed"}).union(*map(arguments_of, value.arguments.values()))
    if isinstance(value, Several):
        return arguments_of(value.policy) - set(value.filled)
    return set().union(*map(arguments_of, value)) if isinstance(value, list | tuple) else set()


def _with(value: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a policy in which these arguments are set wherever it, or one inside it, has them."""
    if isinstance(value, Binding):
        inside = {name: _with(part, arguments) for name, part in value.arguments.items()}
        own = {name: part for name, part in arguments.items() if name in value.parameters}
        return Binding(value.cls, inside | own)
    if isinstance(value, Several):
        own = {name: part for name, part in arguments.items() if name not in value.filled}
        return dataclasses.replace(value, policy=_with(value.policy, own))  # type: ignore[type-var]
    return type(value)(_with(part, arguments) for part in value) if isinstance(value, list | tuple) else value
