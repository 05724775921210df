"""Fair tuning: every policy over the same values, on replicates that no simulation reports."""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..carriers import validation
from ..policies import Binding, Several
from ..problems import Problem
from ..statistics import standard_error
from . import engine as engines
from .fingerprint import record_of
from .loop import METRICS
from .progress import OnProgress
from .results import Results
from .store import Store
from .sweeps import RESERVED, Plan, Policies, check_seed, raise_first, sweep

SMALLER_IS_BETTER = ("regret", "pseudo_regret")


class Tuned(dict[str, Binding[Any]]):
    """Policies with the arguments that :func:`tune` chose; ``simulate`` takes it and keeps the record.

    Attributes
    ----------
    record: the grid, the settings of the tuning and, per policy, the mean and standard error of every candidate and
        the choice.
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
    grid: Mapping[str, Sequence[Any]],
    *,
    rounds: int,
    replicates: int = 20,
    metric: str = "regret",
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
) -> Tuned:
    """Choose arguments of every policy over the same values, by the mean of a metric on instances never reported.

    Replicates of ``simulate`` and ``sweep`` are numbered from 0; those used here from 2 ** 40, so that no instance and
    no random number is met again, whatever the seed. Problems made of data (``Classification``, ``LoggedReplay``) draw
    from the same data for all: to tune on data that are not reported, split them, and tune on one part.

    Parameters
    ----------
    policies: by name, what ``bind`` returned.
    problem: draws the instances.
    grid: values by name of the argument. A policy is tuned over all combinations of those that it has, itself or in the
        policies inside it; one that has none of them stays as it is.
    rounds, replicates: how long, on how many instances.
    metric: what is to be best after the last round: smallest for regrets, else largest. Ties go to the first.
    seed, engine, workers, address, out, progress: as for ``simulate``; ``out`` keeps the cells there.

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
    rounds = validation.whole_number("rounds", rounds, 1)
    replicates = validation.whole_number("replicates", replicates, 1)
    check_seed(seed)
    validation.OneOf(tuple(METRICS)).check("metric", metric, None)
    engines.check(engine, workers, address)
    for name, values in grid.items():
        if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
            raise validation.refuse(f"grid: {name}", values, "a list of at least one value")
        if not any(has_argument(binding, name) for binding in policies.values()):
            raise validation.refuse("grid", name, "an argument of at least one of the policies")
    candidates = {name: tried for name, binding in policies.items() if (tried := candidates_of(binding, grid))}
    labelled = {f"{name} #{k}": b for name, tried in candidates.items() for k, (_, b) in enumerate(tried)}
    plan = Plan(
        {"problem": problem},
        {"problem": labelled},
        rounds,
        range(RESERVED, RESERVED + replicates),
        seed,
        candidate_of={f"{name} #{k}": name for name, tried in candidates.items() for k in range(len(tried))},
    )
    if out is not None:
        plan.description()  # refuses what cannot be stored, before there is a folder
    outcomes, failures = plan.run(None if out is None else Store(out), engine, workers, address, progress)
    raise_first(failures)
    finals = plan.result("problem", outcomes, failures).finals(metric)
    chosen, records = {}, {}
    for name, tried in candidates.items():
        reached = np.array([finals[f"{name} #{k}"] for k in range(len(tried))])
        means, errors = reached.mean(axis=1), standard_error(reached)
        if np.isnan(means).any():
            raise validation.refuse("metric", metric, f"a metric that policies[{name!r}] has on every replicate")
        best = int(means.argmin() if metric in SMALLER_IS_BETTER else means.argmax())
        chosen[name] = tried[best][1]
        records[name] = {
            "choice": record_of(tried[best][0], {}, {}),
            "tried": [
                {"arguments": record_of(a, {}, {}), "mean": mean, "standard error": error if replicates > 1 else None}
                for (a, _), mean, error in zip(tried, means.tolist(), errors.tolist(), strict=True)
            ],
        }
    record = {
        "problem": record_of(problem, {}, {}),
        "grid": record_of({name: list(values) for name, values in grid.items()}, {}, {}),
        "metric": metric,
        "rounds": rounds,
        "replicates": [RESERVED, RESERVED + replicates],
        "seed": seed,
        "policies": records,
    }
    return Tuned(dict(policies) | chosen, record)


def sweep_tuned(
    policies: Policies | Callable[[Problem], Policies],
    problems: Mapping[str, Problem],
    grid: Mapping[str, Sequence[Any]],
    *,
    replicates: int,
    tuning_replicates: int,
    metric: str,
    phase: Callable[[str], OnProgress | None],
    **options: Any,
) -> Results:
    """Tune the policies on every problem, then play them: ``tune`` and ``sweep`` with the same options.

    Parameters
    ----------
    policies, problems, replicates: as for ``sweep``.
    grid, metric: as for ``tune``; an empty grid leaves the policies as they are.
    tuning_replicates: the replicates of ``tune``.
    phase: called with what comes next, in words; returns the ``progress`` to be told.
    options: of both: rounds, seed, engine, workers, address, out.
    """
    chosen = {}
    for name, problem in problems.items():
        named = policies(problem) if callable(policies) else policies
        if grid:
            progress = phase(f"tuning, {name}")
            named = tune(
                named, problem, grid, replicates=tuning_replicates, metric=metric, progress=progress, **options
            )
        chosen[id(problem)] = named
    play = phase("playing")
    return sweep(lambda problem: chosen[id(problem)], problems, replicates=replicates, progress=play, **options)


def tuning_summary(results: Results) -> str:
    """Return what the tuning chose, a line per problem; a choice at the end of its values is marked."""
    lines = []
    for problem, result in results.items():
        record = result.settings.get("tuning", {"policies": {}})
        for policy, tuned in record["policies"].items():
            choice = []
            for name, value in tuned["choice"].items():
                edge = " (the end of its values)" if at_edge_of_grid(value, record["grid"][name]) else ""
                choice.append(f"{name} = {value}{edge}")
            lines.append(f"tuned on {problem}: {policy}: {', '.join(choice)}")
    return "\n".join(lines)


def at_edge_of_grid(value: Any, values: Sequence[Any]) -> bool:
    """Tell whether a choice is the first or the last of several values, so that others might be better still."""
    return len(values) > 1 and value in (values[0], values[-1])


def candidates_of(
    binding: Binding[Any], grid: Mapping[str, Sequence[Any]]
) -> list[tuple[dict[str, Any], Binding[Any]]]:
    """Return every combination of values with the policy that has them; nothing for one without such arguments."""
    own = {argument: list(values) for argument, values in grid.items() if has_argument(binding, argument)}
    if not own:
        return []
    combinations = [dict(zip(own, values, strict=True)) for values in itertools.product(*own.values())]
    return [(arguments, _with(binding, arguments)) for arguments in combinations]


def has_argument(value: Any, argument: str) -> bool:
    """Tell whether a policy, or one inside it, has an argument."""
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
