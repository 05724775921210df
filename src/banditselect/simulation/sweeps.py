"""Policies on problems: the cells of a sweep are planned, taken from the store or run, and put together."""

import contextlib
import dataclasses
import itertools
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..policies import Binding
from ..problems import Problem
from ..runtime import constraints, errors
from . import engine as engines
from .cells import Cell, Failure, Outcome, Task, block_size, blocks
from .code_version import code_version, versions
from .fingerprint import describe, digest, join_records, record_of
from .loop import METRICS, checkpoints_of
from .progress import Meter, OnProgress
from .results import Result, Results
from .store import Store

Policies = Mapping[str, Binding[Any]]

ROUNDS = constraints.Number(low=1, high=10**9, integer=True)
SMALL = 100_000  #: rounds of all lanes together that are not worth starting processes for
RESERVED = 1 << 40  #: replicates from this number on are for tuning: no simulation reports them
REPLICATES = constraints.Number(low=1, high=RESERVED, integer=True)
MOST_CELLS = 1_000_000  #: each is a file, and takes memory before anything is run


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
        What :func:`tune` returned will do too; the grid and the choice are then recorded.
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
    policies: Policies | Callable[[Problem], Policies],
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
    policies: by name, what ``bind`` returned; or a function from the problem to such a mapping.
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
    rounds, replicates = check_size(rounds, replicates)
    check_seed(seed)
    engines.check(engine, workers, address)
    if not isinstance(problems, Mapping) or not problems:
        raise errors.refuse("problems", problems, 'at least one problem, by name: {"name": problem}')
    if isinstance(policies, Binding) or not (isinstance(policies, Mapping) or callable(policies)):
        expected = 'a dict of what bind returned by name, {"name": Policy.bind(...)}'
        raise errors.refuse("policies", policies, expected)
    chosen = {name: policies(problem) if callable(policies) else policies for name, problem in problems.items()}
    block = None if block is None else constraints.whole_number("block", block, 1)
    plan = Plan(problems, chosen, rounds, range(replicates), seed, block)
    description = {} if out is None else plan.description()  # refuses what cannot be stored, before there is a folder
    store = None if out is None else Store(out)
    if store is not None:
        store.claim(description)
    outcomes, failures = plan.run(store, engine, workers, address, progress)
    results = Results({name: plan.result(name, outcomes, failures) for name in problems}, failures)
    if store is not None:
        store.claim(description)  # again, in case another sweep has taken the folder meanwhile
        results.save(store.folder / "results.parquet")
        store.write_failures(failures)
    return results


def grid(factory: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """Return what a factory makes of every combination of settings, named after those that vary.

    Parameters
    ----------
    factory: a problem class, or the ``bind`` of a policy.
    arguments: a list stands for several values; everything else is one.

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


@dataclass(frozen=True)
class Plan:
    """What is to be run: which policies meet which problem, on which replicates.

    The replicates are those of ``sweep`` or, numbered from ``RESERVED`` on, those of ``tune``. ``candidate_of``: from
    the label of a candidate to the policy that is tuned, under whose name it warns.
    """

    problems: Mapping[str, Problem]
    policies: Mapping[str, Policies]
    rounds: int
    replicates: range
    seed: int
    block: int | None = None
    candidate_of: Mapping[str, str] = field(default_factory=dict)
    group: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        for name, problem in self.problems.items():
            if not isinstance(problem, Problem):
                raise errors.refuse(f"problems[{name!r}]", problem, "a Problem")
            if not isinstance(self.policies[name], Mapping) or not self.policies[name]:
                raise errors.refuse("policies", self.policies[name], "at least one policy, by name")
            for label, binding in self.policies[name].items():
                if not isinstance(label, str):
                    raise errors.refuse("policies", label, "names that are text")
                if not isinstance(binding, Binding):
                    raise errors.refuse(f"policies[{label!r}]", binding, "what Policy.bind returned")
        cells = sum(len(self.policies[n]) * self._blocks(problem) for n, problem in self.problems.items())
        if cells > MOST_CELLS:
            expected = f"fewer: {cells:,} cells (a policy on some replicates of a problem) are over {MOST_CELLS:,}"
            raise errors.refuse("replicates", len(self.replicates), expected)

    def _blocks(self, problem: Problem) -> int:
        return -(-len(self.replicates) // (self.block or block_size(problem, self.rounds)))

    def description(self) -> dict[str, Any]:
        """Return everything that the results depend on, as JSON."""
        return {
            "rounds": self.rounds,
            "replicates": len(self.replicates),
            "seed": self.seed,
            "problems": {name: describe(f"problems[{name!r}]", problem) for name, problem in self.problems.items()},
            "policies": {
                name: {label: describe(f"policies[{label!r}]", binding) for label, binding in chosen.items()}
                for name, chosen in self.policies.items()
            },
            "code": code_version(dict(self.problems), {n: dict(p) for n, p in self.policies.items()}),
        }

    def tasks(self, *, stored: bool, cuts: Sequence[int]) -> Iterator[Task]:
        """Yield the tasks, with descriptions if they are to be stored; ``cuts``: replicates that begin a block.

        First come the first blocks of all, so that every combination is soon known to work and how long it takes; the
        largest instances lead, so that no long task is left for the end.
        """
        cut = {n: blocks(p, self.rounds, self.replicates, self.block, cuts) for n, p in self.problems.items()}
        order = sorted(self.problems, key=lambda n: -self.problems[n].lane_bytes(self.rounds))
        described = {(n, label): self._describe(n, label) for n in order for label in self.policies[n] if stored}
        for wave in range(max(map(len, cut.values()))):
            for name in (name for name in order if wave < len(cut[name])):
                for label, binding in self.policies[name].items():
                    lanes = cut[name][wave]
                    what = described[name, label] | {"lanes": [lanes.start, lanes.stop]} if stored else None
                    cell = Cell(name, label, lanes, self.rounds, self.seed, digest(what) if stored else None)
                    yield Task(cell, self.problems[name], binding, f"{self.group} {name}", what)

    def _describe(self, name: str, label: str) -> dict[str, Any]:
        """Return all that the cells of a policy on a problem depend on, but for their lanes."""
        problem, binding = self.problems[name], self.policies[name][label]
        return {
            "problem": describe(f"problems[{name!r}]", problem),
            "policy": describe(f"policies[{label!r}]", binding),
            "rounds": self.rounds,
            "seed": self.seed,
            "code": code_version(problem, binding),
        }

    def run(
        self, store: Store | None, engine: str, workers: int | None, address: str | None, progress: OnProgress | None
    ) -> tuple[dict[Cell, Outcome], list[Failure]]:
        """Run what is not in the store; return the outcomes by cell, and what failed."""
        cuts = () if store is None else store.earlier_replicates()
        tasks = list(self.tasks(stored=store is not None, cuts=cuts))
        found = {} if store is None else {task.cell: store.get(str(task.cell.key)) for task in tasks}
        outcomes = {cell: outcome for cell, outcome in found.items() if outcome is not None}
        waiting = [task for task in tasks if task.cell not in outcomes]
        if workers is None and address is None:
            small = engine == "local" and sum(task.cell.size for task in waiting) < SMALL
            workers = 1 if small else engines.cores()
        timings = {} if store is None else store.timings()
        meter = Meter([task.cell for task in tasks], outcomes, timings, workers, progress)
        failures = []

        def tell(number: int, played: int) -> None:
            meter.playing(waiting[number].cell, played)

        results = engines.run_all(waiting, engine=engine, workers=workers, address=address, tell=tell)
        with contextlib.closing(results):  # at once, also if somebody keeps the error and with it this frame
            for number, timed in results:
                task = waiting[number]
                if isinstance(timed.result, Failure):
                    settings = f"{task.binding!r} on {task.problem!r}"
                    failures.append(dataclasses.replace(timed.result, settings=settings))
                else:
                    outcomes[task.cell] = timed.result
                    if store is not None:
                        store.put(str(task.cell.key), timed.result, task.description)
                        policy = self.candidate_of.get(task.cell.policy, task.cell.policy)
                        store.note_time(task.cell, timed.seconds, timed.result.playing, policy)
                meter.finished(task.cell, timed.seconds, failed=isinstance(timed.result, Failure))
        order = {task.cell: k for k, task in enumerate(tasks)}
        _warn({cell: outcomes[cell] for cell in order if cell in outcomes}, self.candidate_of)
        return outcomes, sorted(failures, key=lambda failure: order[failure.cell])

    def result(self, name: str, outcomes: Mapping[Cell, Outcome], failures: Sequence[Failure]) -> Result:
        """Put the cells of one problem together; a policy of which a cell failed is left out."""
        failed = {f.cell.policy for f in failures if f.cell.problem == name}
        curves, settings = {}, {}
        for label in self.policies[name]:
            if label in failed:
                continue
            mine = sorted((c for c in outcomes if (c.problem, c.policy) == (name, label)), key=lambda c: c.lanes.start)
            together = np.concatenate([outcomes[c].curves for c in mine], axis=2)
            curves[label] = dict(zip(METRICS, together, strict=True))
            settings[label] = join_records([outcomes[c].settings for c in mine])
        record = {
            "problem": record_of(self.problems[name], {}, {}),
            "policies": settings,
            "rounds": self.rounds,
            "replicates": len(self.replicates),
            "seed": self.seed,
            "versions": versions(),
        }
        tuning = getattr(self.policies[name], "record", None)
        record |= {} if tuning is None else {"tuning": tuning}
        return Result(checkpoints=checkpoints_of(self.rounds), curves=curves, settings=json.loads(json.dumps(record)))


def raise_first(failures: Sequence[Failure]) -> None:
    """Raise the error of the first cell that failed, if one did, with a note that says which cell it was."""
    for failure in failures:
        failure.error.add_note(str(failure))
        raise failure.error


def check_size(rounds: Any, replicates: Any) -> tuple[int, int]:
    """Return how long and how often, refused where that is no number, or too large."""
    ROUNDS.check("rounds", rounds, None)
    REPLICATES.check("replicates", replicates, None)
    return int(rounds), int(replicates)


def check_seed(seed: Any) -> None:
    """Refuse a seed that is no whole number of 32 bits: longer ones could meet the instances of another seed."""
    constraints.Number(low=0, high=2**32 - 1, integer=True).check("seed", seed, None)


def _warn(outcomes: Mapping[Cell, Outcome], candidate_of: Mapping[str, str]) -> None:
    """Repeat the warnings of the policies; of those that differ only in their numbers, the first.

    All candidates of a policy that is tuned count as one policy.
    """
    said = set()
    for cell, outcome in outcomes.items():
        policy = candidate_of.get(cell.policy, cell.policy)
        for message in outcome.messages:
            kind = (policy, re.sub(r"[-+.\d]+(e[-+]?\d+)?", "#", message))
            if kind not in said:
                said.add(kind)
                errors.warn(f"{policy}: {message}")
