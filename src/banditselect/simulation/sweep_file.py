"""A sweep written down in a TOML file: read, checked to the last argument, and run.

Everything in the file is checked before anything is run: each policy is built for the problems that are not too large
and plays a round.
"""

import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..carriers import validation
from ..policies import Binding
from ..problems import Instances, Problem
from .loop import METRICS, build, checkpoints_of, play
from .progress import OnProgress
from .results import Results
from .search import Axis, Steps
from .sweeps import REPLICATES, ROUNDS
from .toml_values import (
    check_keys,
    constants_in,
    dotted,
    located,
    missing_arguments,
    one_of,
    read_policy,
    read_problems,
)
from .tuning import first_candidates, has_argument, sweep_tuned
from .user_files import known_problems, load_file

STEPS = ("start", "factor", "reach")
EXPECTED_AXIS = "a list of at least one value, or a table with start, factor and reach"
KEYS = ("rounds", "replicates", "seed", "metric", "import", "problems", "policies", "tuning")
TRIAL_BYTES = 200_000_000  #: policies are tried on the smallest problems, as many as take this much memory together


@dataclass(frozen=True)
class SweepFile:
    """What a file asks for, by the names that ``sweep_tuned`` has for it.

    Attributes
    ----------
    rounds, replicates, seed: as for ``sweep``.
    metric: what is reported and tuned for.
    problems, policies: by name.
    grid: values by name of the argument, and ``tuning_replicates``; empty where nothing is tuned.
    """

    rounds: int
    replicates: int
    seed: int
    metric: str
    problems: Mapping[str, Problem]
    policies: Mapping[str, Binding[Any]]
    grid: Mapping[str, Axis]
    tuning_replicates: int

    def run(self, *, phase: Callable[[str], OnProgress], **options: Any) -> Results:
        """Tune if that is asked for, and play.

        Parameters
        ----------
        phase: called with what comes next, in words; returns the ``progress`` to be told.
        options: ``engine``, ``workers``, ``address`` and ``out``, as for ``sweep``.
        """
        return sweep_tuned(**vars(self), phase=phase, **options)


def read_sweep_file(path: str | Path, **instead: int | None) -> SweepFile:
    """Read a TOML file; a mistake raises ValueError with file, key, what was given and what is expected.

    Parameters
    ----------
    path: of the file; the files that it imports are relative to it.
    instead: ``rounds``, ``replicates``, ``seed`` to be taken instead of those in the file, where not None.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    try:
        return _read(content | {k: v for k, v in instead.items() if v is not None}, path.parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read(content: Mapping[str, Any], folder: Path) -> SweepFile:
    check_keys("", content, KEYS, "a key of a sweep")
    modules = list(_imported(content.get("import", []), folder))
    try:
        known = known_problems(*modules)
    except ValueError as error:
        raise ValueError(f"import: {error}") from None
    tables = _table(content, "problems", of_tables=True)
    problems, table_of = {}, {}
    for table in tables:
        for label, problem in read_problems(dotted("problems", table), tables[table], known).items():
            name = table if label == "one" else label if len(tables) == 1 else f"{table}, {label}"
            problems[name], table_of[name] = problem, table
    policies = _table(content, "policies", of_tables=True)
    tuning = _table(content, "tuning", of_tables=False)
    specification = SweepFile(
        rounds=_number("rounds", content.get("rounds"), ROUNDS),
        replicates=_number("replicates", content.get("replicates"), REPLICATES),
        seed=_number("seed", content.get("seed", 0), validation.Number(low=0, integer=True)),
        metric=content.get("metric", "regret"),
        problems=problems,
        policies={name: read_policy(dotted("policies", name), table) for name, table in policies.items()},
        grid={name: _axis(dotted("tuning", name), v) for name, v in tuning.items() if name != "replicates"},
        tuning_replicates=_number("tuning.replicates", tuning.get("replicates", 20), REPLICATES),
    )
    if specification.metric not in tuple(METRICS):
        raise validation.refuse("metric", specification.metric, one_of(specification.metric, METRICS))
    if "tuning" in content:
        _check_tuning(specification)
    _try(content, specification, table_of)
    return specification


def _number(key: str, value: Any, bounds: validation.Number) -> int:
    if value is None:
        raise ValueError(f"{key}: missing; expected {bounds.expected}")
    bounds.check(key, value, None)
    return int(value)


def _table(content: Mapping[str, Any], name: str, *, of_tables: bool) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise validation.refuse(name, table, "a table")
    if of_tables and not table:
        raise ValueError(f"{name}: missing; expected at least one table [{name}.<name>]")
    return table


def _imported(names: Any, folder: Path) -> Iterator[ModuleType]:
    if not isinstance(names, list):
        raise validation.refuse("import", names, "a list of Python files")
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise validation.refuse(dotted("import", k), name, "a Python file")
        try:
            yield load_file(folder / name)
        except ValueError as error:
            raise ValueError(f"{dotted('import', k)}: {error}") from None


def _axis(key: str, value: Any) -> Any:
    """Return the values of an argument: a list as it is, a table as steps."""
    if not isinstance(value, dict):
        return value
    check_keys(key, value, STEPS, "steps")
    if "start" not in value:
        raise ValueError(f"{key}: start is missing; expected a number > 0")
    try:
        return Steps(**value)
    except ValueError as error:
        raise located(error, key, value) from None


def _check_tuning(specification: SweepFile) -> None:
    if not specification.grid:
        raise ValueError("tuning: nothing to tune; expected an argument of the policies with a list of values")
    arguments = {n for b in specification.policies.values() for n in b.parameters if n not in ("lanes", "seed")}
    for name, values in specification.grid.items():
        if not any(has_argument(binding, name) for binding in specification.policies.values()):
            expected = one_of(name, {*arguments, "replicates"})
            raise ValueError(f"{dotted('tuning', name)}: no policy has it; expected {expected}")
        if not isinstance(values, Steps) and not (isinstance(values, list) and values):
            raise validation.refuse(dotted("tuning", name), values, EXPECTED_AXIS)


def _try(content: Mapping[str, Any], specification: SweepFile, tables: Mapping[str, str]) -> None:
    """Let every policy play a round of every problem that is not too large; the metric must be recorded of it.

    ``tables``: of every problem, by name, the table that it is from.
    """
    taken, rounds = 0, specification.rounds
    for name, problem in sorted(specification.problems.items(), key=lambda item: item[1].lane_bytes(rounds)):
        taken += problem.lane_bytes(rounds)
        if taken > TRIAL_BYTES:
            return
        try:
            instances = problem.draw(range(1), rounds, specification.seed)
        except Exception as error:
            key = dotted("problems", tables[name])
            raise located(error, key, content["problems"][tables[name]]) from error
        recorded = set()
        for label, binding in specification.policies.items():
            key, table = dotted("policies", label), content["policies"][label]
            for place, constant in constants_in(key, table):
                if constant not in instances.constants:
                    expected = f"a constant of problem {name!r}: {one_of(constant, instances.constants)}"
                    raise validation.refuse(place, f"given.{constant}", expected)
            for cls, argument in missing_arguments(binding.resolve(problem.shapes, instances.constants)):
                raise ValueError(f"{key}: {argument} is missing: {cls} needs it and problem {name!r} does not tell it")
            found = _try_one(key, table, binding, name, problem, instances)
            recorded |= found
            candidates = first_candidates(binding, specification.grid)
            for candidate in candidates:
                _try_one("tuning", content["tuning"], candidate, name, problem, instances)
            if candidates and specification.metric not in found:
                raise _without(specification, f"{label!r}, which is tuned for it, has on problem {name!r}", found)
        if specification.metric not in recorded:
            raise _without(specification, f"some policy has on problem {name!r}", recorded)


def _try_one(
    key: str, table: Any, binding: Binding[Any], name: str, problem: Problem, instances: Instances
) -> set[str]:
    """Play one round; return the metrics that are recorded of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy = build(binding, problem, instances, range(1), 0)
            (row,) = play(policy, instances, 1, checkpoints_of(1))
    except Exception as error:
        raise located(error, key, table, f" (on problem {name!r})") from error
    known = {metric for metric, value in zip(METRICS, row[:, 0], strict=True) if value == value}
    return known | {"mean_reward"}  # a first reward may not be observed


def _without(specification: SweepFile, whose: str, metrics: set[str]) -> ValueError:
    known = [metric for metric in METRICS if metric in metrics]
    return validation.refuse("metric", specification.metric, f"a metric that {whose}: {', '.join(known)}")
