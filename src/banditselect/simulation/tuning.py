"""Fair tuning: every policy in all of its arguments, on replicates that no simulation reports."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..policies import Binding, Pending, Several
from ..problems import Problem
from ..reporting.tables import is_lower_better
from ..runtime import constraints, errors
from ..runtime.quantiles import standard_error
from . import engines
from .cells import Cell, Failure, Outcome
from .identity import record_of
from .loop import METRICS
from .plan import Plan, Policies
from .progress import OnProgress
from .search import Axis, Request, Search, Steps
from .store import Store
from .sweeps import RESERVED, check_seed, check_size, raise_first

Grid = Mapping[str, Axis]


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

    Parameters
    ----------
    policies: by name, what ``bind`` returned.
    problem: draws the instances.
    grid: by name of the argument, a list of values, or :class:`Steps`, which has no ends. A policy is tuned in those
        arguments that it has, itself or in the policies inside it: over all combinations of listed values, and by
        steps from the best of these. One that has none of them stays as it is.
    rounds, replicates: how long, on how many instances. From 96 replicates on most candidates play fewer: all play the
        first twelfth, the best four of them a quarter, the best two all.
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
    chosen = tune_all(
        {"problem": policies},
        {"problem": problem},
        grid,
        own=own,
        rounds=rounds,
        replicates=replicates,
        metric=metric,
        phase=lambda _: progress,
        seed=seed,
        engine=engine,
        workers=workers,
        address=address,
        out=out,
    )
    return chosen["problem"]


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
    """Tune the policies of every problem, all problems side by side; ``phase`` is called before every step.

    Where something is searched by steps the first problem goes before the others, which look first where it ended.
    """
    rounds, replicates = check_size(rounds, replicates)
    check_seed(seed)
    constraints.OneOf(tuple(METRICS)).check("metric", metric, None)
    engines.check(engine, workers, address)
    own = own or {}
    if not grid and not own:
        raise errors.refuse("grid", grid, 'arguments with values to try: {"scale": [0.1, 1.0]}')
    _check(policies, grid, own)
    searches: dict[tuple[str, str], Search] = {}
    store, step, names = None, 0, list(policies)
    walked = any(isinstance(axis, Steps) for values in (grid, *own.values()) for axis in values.values())
    for some in (names[:1], names[1:]) if walked else (names,):
        hints = {(name, *search.axes): search.best for (_, name), search in searches.items()}
        searched = {
            (problem, name): Search(axes, replicates, hints.get((name, *axes), ()))
            for problem in some
            for name, binding in policies[problem].items()
            if (axes := axes_of(binding, {**grid, **own.get(name, {})}))
        }
        searches |= searched
        while wanted := {key: request for key, search in searched.items() if (request := search.next())}:
            step += 1
            for start, stop in sorted({(request.start, request.stop) for request in wanted.values()}):
                asked = {key: r for key, r in wanted.items() if (r.start, r.stop) == (start, stop)}
                plan, labels = _plan(policies, problems, searches, asked, rounds, seed)
                if out is not None:
                    plan.description()  # refuses what cannot be stored, before there is a folder
                    if store is None:
                        store = Store(out)
                        store.prepare()
                outcomes, failures = plan.run(store, engine, workers, address, phase(f"tuning, step {step}"))
                _learn(searches, labels, plan, outcomes, failures, metric)
    settings = {
        "grid": _values(grid),
        "own": {policy: _values(values) for policy, values in own.items()},
        "metric": metric,
        "rounds": rounds,
        "replicates": [RESERVED, RESERVED + replicates],
        "seed": seed,
    }
    chosen = {}
    for name in problems:
        mine = {policy: search for (where, policy), search in searches.items() if where == name}
        best = {policy: _with(policies[name][policy], s.arguments(s.best)) for policy, s in mine.items()}
        records = {policy: _record(search, _sign(metric)) for policy, search in mine.items()}
        record = {"problem": record_of(problems[name], {}, {}), **settings, "policies": records}
        chosen[name] = Tuned(dict(policies[name]) | best, record)
    return chosen


def _check(policies: Mapping[str, Policies], grid: Grid, own: Mapping[str, Grid]) -> None:
    """Refuse what are no policies by name, values that cannot be tried, and arguments that no policy has."""
    for named in policies.values():
        if not isinstance(named, Mapping):
            raise errors.refuse("policies", named, 'a dict of what bind returned by name, {"name": Policy.bind()}')
    everyone = [(name, binding) for named in policies.values() for name, binding in named.items()]
    for policy in own:
        if policy not in dict(everyone):
            raise errors.refuse("own", policy, "the name of a policy")
    for policy, values in (("", grid), *own.items()):
        owner = f"own[{policy!r}]" if policy else "grid"
        asked = [binding for name, binding in everyone if policy in ("", name)]
        for argument, axis in values.items():
            listed = isinstance(axis, list | tuple | np.ndarray) and len(axis) > 0
            if not listed and not isinstance(axis, Steps):
                raise errors.refuse(f"{owner}: {argument}", axis, "a list of at least one value, or Steps")
            if not any(has_argument(binding, argument) for binding in asked):
                expected = "one of its arguments" if policy else "an argument of at least one of the policies"
                raise errors.refuse(owner, argument, expected)


def _plan(
    policies: Mapping[str, Policies],
    problems: Mapping[str, Problem],
    searches: Mapping[tuple[str, str], Search],
    asked: Mapping[tuple[str, str], Request],
    rounds: int,
    seed: int,
) -> tuple[Plan, dict[tuple[str, str], dict[tuple[int, ...], str]]]:
    """Return what is to be played, and the labels that the candidates of every problem and policy have there."""
    candidates: dict[str, dict[str, Binding[Any]]] = {}
    labels: dict[tuple[str, str], dict[tuple[int, ...], str]] = {}
    candidate_of: dict[str, str] = {}
    for (problem, name), request in asked.items():
        search, binding = searches[problem, name], policies[problem][name]
        labels[problem, name] = {place: f"{name} #{k}" for k, place in enumerate(request.places)}
        for place, label in labels[problem, name].items():
            candidates.setdefault(problem, {})[label] = _with(binding, search.arguments(place))
            candidate_of[label] = name
    request = next(iter(asked.values()))
    lanes = range(RESERVED + request.start, RESERVED + request.stop)
    chosen = {name: problems[name] for name in candidates}
    return Plan(chosen, candidates, rounds, lanes, seed, candidate_of=candidate_of), labels


def _sign(metric: str) -> float:
    return 1.0 if is_lower_better(metric) else -1.0


def _learn(
    searches: Mapping[tuple[str, str], Search],
    labels: Mapping[tuple[str, str], Mapping[tuple[int, ...], str]],
    plan: Plan,
    outcomes: dict[Cell, Outcome],
    failures: list[Failure],
    metric: str,
) -> None:
    """Tell the searches what their candidates reached; a step to where a policy refuses to go has reached nothing.

    Where a search begins nothing may be refused: that is the user's mistake.
    """
    begun = {
        (problem, found[place])
        for (problem, name), found in labels.items()
        for place in searches[problem, name].begin()
        if place in found
    }
    refused = {(f.cell.problem, f.cell.policy) for f in failures if isinstance(f.error, errors.ArgumentError)}
    raise_first([f for f in failures if (f.cell.problem, f.cell.policy) not in refused - begun])
    finals = {name: plan.result(name, outcomes, failures).finals(metric) for name in plan.problems}
    worse = _sign(metric)
    for (problem, name), found in labels.items():
        nothing = np.full(len(plan.replicates), worse * np.inf)
        reached = {place: worse * finals[problem].get(label, nothing) for place, label in found.items()}
        if any(np.isnan(values).any() for values in reached.values()):
            raise errors.refuse("metric", metric, f"a metric that policies[{name!r}] has on every replicate")
        searches[problem, name].learn(reached)


def _record(search: Search, worse: float) -> dict[str, Any]:
    """Return what a search tried and chose, as JSON."""
    tried = []
    for place, values in search.reached.items():
        if np.isinf(values).all():
            continue
        error = float(standard_error(values)) if values.size > 1 else None
        known = {"mean": worse * float(values.mean()), "standard error": error, "n": values.size}
        tried.append({"arguments": _recorded(search.arguments(place)), **known})
    return {"choice": _recorded(search.arguments(search.best)), "ends": search.ends(), "tried": tried}


def _values(grid: Grid) -> dict[str, Any]:
    """Return the values of arguments as JSON: a list, or what steps were given."""
    found: dict[str, Any] = {}
    for name, axis in grid.items():
        found[name] = _recorded(vars(axis)) if isinstance(axis, Steps) else [*_recorded(dict(enumerate(axis))).values()]
    return found


def _recorded(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return values as JSON; what is known only when a policy meets its problem, by its name."""
    return {name: repr(v) if isinstance(v, Pending) else record_of(v, {}, {}) for name, v in values.items()}


def axes_of(binding: Binding[Any], grid: Grid) -> dict[str, Axis]:
    """Return the values of those arguments that a policy, or one inside it, has."""
    return {name: axis for name, axis in grid.items() if has_argument(binding, name)}


def has_argument(value: Any, argument: str) -> bool:
    """Return whether a policy, or one inside it, has an argument."""
    if isinstance(value, Binding):
        own = argument in value.parameters and argument not in ("lanes", "seed")  # those are simulate's
        return own or any(has_argument(part, argument) for part in value.arguments.values())
    if isinstance(value, Several):
        return argument not in value.filled and has_argument(value.policy, argument)
    return isinstance(value, list | tuple) and any(has_argument(part, argument) for part in value)


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
