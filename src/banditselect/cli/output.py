"""Results for the user: tables, figures, JSON, what failed."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..simulation import Failure, Results
from ..simulation.store import write_text
from ..simulation.tuning import tuning_summary
from .session import say

SHOWN = 10  #: failures that are told one by one


def save_tables(results: Results, metric: str, folder: Path) -> Path:
    """Write the tables that are printed, as Markdown."""
    path = folder / "summary.md"
    parts = [results.summary(metric, markdown=True), tuning_summary(results)]
    write_text(path, "\n\n".join(filter(None, parts)) + "\n")
    return path


def numbers(results: Results, metric: str) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Return mean, standard error and median over n replicates by problem and policy."""
    return {
        name: {policy: _numbers(values) for policy, values in result.finals(metric).items()}
        for name, result in results.items()
    }


def _numbers(values: NDArray[np.float64]) -> dict[str, float | int | None]:
    error = values.std(ddof=1) / math.sqrt(values.size) if values.size > 1 else math.nan
    told = {"mean": float(values.mean()), "standard_error": float(error), "median": float(np.median(values))}
    return {name: value if math.isfinite(value) else None for name, value in told.items()} | {"n": values.size}


def as_json(results: Results, metric: str, settings: Mapping[str, Any], folder: Path, files: Sequence[Path]) -> str:
    """Return everything as one JSON object."""
    records = {name: result.settings.get("tuning", {"policies": {}}) for name, result in results.items()}
    content = {
        "settings": dict(settings),
        "summary": numbers(results, metric),
        "tuned": {n: {policy: told["choice"] for policy, told in r["policies"].items()} for n, r in records.items()},
        "failures": [_failure(failure) for failure in results.failures],
        "out": str(folder),
        "files": [str(folder / "results.parquet"), *map(str, files)],
    }
    return json.dumps(content, indent=1, allow_nan=False)


def _failure(failure: Failure) -> dict[str, Any]:
    cell = failure.cell
    return {
        "problem": cell.problem,
        "policy": cell.policy,
        "replicates": [cell.lanes.start, cell.lanes.stop],
        "settings": failure.settings,
        "error": f"{type(failure.error).__name__}: {failure.error}",
    }


def tell_failures(failures: Sequence[Failure], folder: Path) -> None:
    """Say what failed, with its settings."""
    say(f"\n{len(failures)} cells failed; the results of the others are kept. Tracebacks: {folder / 'failures.json'}\n")
    for failure in failures[:SHOWN]:
        cell = failure.cell
        say(f"{cell}, {cell.rounds} rounds, seed {cell.seed}")
        say(f"  {type(failure.error).__name__}: {failure.error}")
        say(f"  {failure.settings}")
    if len(failures) > SHOWN:
        say(f"and {len(failures) - SHOWN} more")


def told_failures(results: Results, folder: Path) -> bool:
    """Say what failed; tell whether anything did."""
    if results.failures:
        tell_failures(results.failures, folder)
    return bool(results.failures)
