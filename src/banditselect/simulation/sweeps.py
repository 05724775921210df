"""Compare policies: ``simulate`` on one problem, ``sweep`` on several, ``grid`` to make them from lists of settings."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..policies import Binding
from ..problems import Problem
from ..runtime import constraints, errors
from . import engines
from .cells import Failure
from .plan import Plan, Policies
from .progress import OnProgress
from .results import Result, Results
from .store import Store

RESERVED = 1 << 40  #: replicates from this number on are for tuning: no simulation reports them


def simulate(
    policies: Policies,
    problem: Problem,
    *,
    rounds: int,
    replicates: int,
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    out: str | Path | None = None,
    block: int | None = None,
    progress: OnProgress | None = None,
) -> Result:
    """Play every policy on the same instances of a problem and return what was recorded.

    Replicate j of every policy meets instance j: the same action sets and the same noise, so that differences are
    paired. The numbers depend on the seed alone: not on engine, workers or blocks (on one type of processor).

    Parameters
    ----------
    policies: by name, what ``bind`` returned; lanes, seed and shapes are added, and what is asked for with ``given``.
        Also what :func:`tune` returned; the search and the chosen values are then recorded.
    problem: draws the instances.
    rounds, replicates: how long, how often.
    seed: of the instances and of the policies.
    engine: ``"local"`` (this machine), ``"dask"`` or ``"ray"``.
    workers: how many processes; None for all cores, or for this process alone where there is little to do.
    address: of a running dask or ray cluster; None starts one on this machine.
    out: a folder that keeps every finished part, so that an interrupted run continues where it was, and the table.
    block: how many replicates are played side by side; None for as many as fit memory and cache.
    progress: called with a :class:`~banditselect.simulation.Progress` from time to time.

    Examples
    --------
    >>> from banditselect import SquareCB, Uniform, given, on_map
    >>> from banditselect.problems import SyntheticFeatureSelection
    >>> oracle = on_map(SquareCB.bind(reward_range=given.reward_range), 0)
    >>> problem = SyntheticFeatureSelection(n_models=2, dim=5, n_items=100)
    >>> result = simulate({"oracle": oracle, "uniform": Uniform.bind()}, problem, rounds=200, replicates=4)
    >>> print(result.summary())
    policy   mean  ± s.e.  median  worst
    oracle    8.4     2.3     8.4   13.7
    uniform  13.8     2.7    13.6   18.9
    """
    results = sweep(
        policies,
        {"problem": problem},
        rounds=rounds,
        replicates=replicates,
        seed=seed,
        engine=engine,
        workers=workers,
        address=address,
        out=out,
        block=block,
        progress=progress,
    )
    raise_first(results.failures)
    return results["problem"]


def sweep(
    policies: Policies | Callable[[Problem], Policies] | Mapping[str, Policies],
    problems: Mapping[str, Problem],
    *,
    rounds: int,
    replicates: int,
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    out: str | Path | None = None,
    block: int | None = None,
    progress: OnProgress | None = None,
) -> Results:
    """Play every policy on every problem; return one :class:`Result` per problem.

    A cell that fails is reported in ``failures`` with its settings, and in the summary; the others are not affected.

    Parameters
    ----------
    policies: by name, what ``bind`` returned; where they differ between problems, a function from the problem to such a
        mapping, or such mappings by the name of the problem.
    problems: by name; :func:`grid` makes them from lists of settings.
    rounds, replicates, seed, engine, workers, address, out, block, progress: as for :func:`simulate`.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform, given
    >>> from banditselect.problems import SyntheticParameterSelection
    >>> policies = {"OFUL": OFUL.bind(noise=given.noise), "uniform": Uniform.bind()}
    >>> problems = grid(SyntheticParameterSelection, dim=[2, 5], n_models=3)
    >>> results = sweep(policies, problems, rounds=50, replicates=2)
    >>> results["dim=5"].final("OFUL", "regret").shape
    (2,)
    """
    rounds, replicates = check_numbers(rounds, replicates, seed)
    engines.check(engine, workers, address)
    if not isinstance(problems, Mapping) or not problems:
        raise errors.refuse("problems", problems, 'at least one problem, by name: {"name": problem}')
    if isinstance(policies, Binding) or not (isinstance(policies, Mapping) or callable(policies)):
        expected = 'a dict of what bind returned by name, {"name": Policy.bind(...)}'
        raise errors.refuse("policies", policies, expected)
    block = None if block is None else constraints.whole_number("block", block, 1)
    plan = Plan(problems, _by_problem(policies, problems), rounds, range(replicates), seed, block)
    store = None if out is None else Store(out)
    if store is not None:
        description = plan.description()  # refuses what cannot be stored, before there is a folder
        store.prepare()
        store.start_sweep(description)
    outcomes, failures = plan.run(store, engine, workers, address, progress)
    results = Results({name: plan.result(name, outcomes, failures) for name in problems}, failures)
    if store is not None:
        store.start_sweep(description)  # again, in case another sweep has taken the folder meanwhile
        results.save(store.folder / "results.parquet")
        store.write_failures(failures)
    return results


def _by_problem(
    policies: Policies | Callable[[Problem], Policies] | Mapping[str, Policies], problems: Mapping[str, Problem]
) -> Mapping[str, Any]:
    """Return the policies of every problem, by its name."""
    if not isinstance(policies, Mapping):
        return {name: policies(problem) for name, problem in problems.items()}
    if not policies or not all(isinstance(part, Mapping) for part in policies.values()):
        return dict.fromkeys(problems, policies)
    if policies.keys() != problems.keys():
        raise errors.refuse("policies", list(policies), f"the names of the problems: {', '.join(map(repr, problems))}")
    return policies


def grid(factory: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """Return what a factory makes of every combination of settings, named after those that vary.

    Parameters
    ----------
    factory: a problem class, or the ``bind`` of a policy.
    arguments: a list has several values; everything else is one.

    Examples
    --------
    >>> from banditselect import FSSquareCB
    >>> grid(FSSquareCB.bind, exploration=[10, 100], noise=0.5)
    {'exploration=10': FSSquareCB.bind(exploration=10, noise=0.5), 'exploration=100': FSSquareCB.bind(...)}
    """
    axes = {name: values for name, values in arguments.items() if isinstance(values, list)}
    for name, values in axes.items():
        if not values:
            raise errors.refuse(f"grid: {name}", values, "at least one value")
    made = {}
    for combination in itertools.product(*axes.values()):
        varied = dict(zip(axes, combination, strict=True))
        label = ", ".join(f"{name}={value}" for name, value in varied.items() if len(axes[name]) > 1)
        made[label or "one"] = factory(**(arguments | varied))
    return made


def raise_first(failures: Sequence[Failure]) -> None:
    """Raise the error of the first cell that failed, if one did, with a note that says which cell it was."""
    for failure in failures:
        failure.error.add_note(str(failure))
        raise failure.error


def check_numbers(rounds: Any, replicates: Any, seed: Any) -> tuple[int, int]:
    """Return how long and how often, refused where that is no number, or too large.

    Seeds have 32 bits: longer ones could meet the instances of another seed.
    """
    constraints.Number(low=1, high=10**9, integer=True).check("rounds", rounds, None)
    constraints.Number(low=1, high=RESERVED, integer=True).check("replicates", replicates, None)
    constraints.Number(low=0, high=2**32 - 1, integer=True).check("seed", seed, None)
    return int(rounds), int(replicates)
