"""What ``run`` and ``reproduce`` print or leave beside the results: tables, one JSON object, what failed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..simulation import Failure, Results
from ..simulation.store import json_text, write_text
from ..simulation.tuning import tuning_summary
from ..statistics import standard_error
from .session import say

SHOWN = 10  #: failures that are shown one by one


def save_tables(results: Results, metric: str, folder: Path) -> Path:
    """Write the tables that are printed, as Markdown."""
    path = folder / "summary.md"
    parts = [results.summary(metric, markdown=True), tuning_summary(results)]
    write_text(path, "\n\n".join(filter(None, parts)) + "\n")
    return path


def _numbers(values: NDArray[np.float64]) -> dict[str, float | int]:
    return {
        "mean": float(values.mean()),
        "standard_error": float(standard_error(values)),
        "median": float(np.median(values)),
        "n": values.size,
    }


def as_json(results: Results, metric: str, settings: Mapping[str, Any], folder: Path, files: Sequence[Path]) -> str:
    """Return everything as one JSON object."""
    records = {name: result.settings.get("tuning", {"policies": {}}) for name, result in results.items()}
    content = {
        "settings": dict(settings),
        "summary": {n: {p: _numbers(v) for p, v in one.finals(metric).items()} for n, one in results.items()},
        "tuned": {n: {policy: one["choice"] for policy, one in r["policies"].items()} for n, r in records.items()},
        "failures": [failure.record() | {"error": _error(failure)} for failure in results.failures],
        "out": str(folder),
        "files": [str(folder / "results.parquet"), *map(str, files)],
    }
    return json_text(content)


def _error(failure: Failure) -> str:
    return f"{type(failure.error).__name__}: {failure.error}"


def say_failures(results: Results, folder: Path) -> bool:
    """Say what failed, with its settings; return whether anything did."""
    failures = results.failures
    if failures:
        tracebacks = folder / "failures.json"
        say(f"\n{len(failures)} cells failed; the results of the others are kept. Tracebacks: {tracebacks}\n")
    for failure in failures[:SHOWN]:
        cell = failure.cell
        say(f"{cell}, {cell.rounds} rounds, seed {cell.seed}")
        say(f"  {_error(failure)}\n  {failure.settings}")
    if len(failures) > SHOWN:
        say(f"and {len(failures) - SHOWN} more")
    return bool(failures)
