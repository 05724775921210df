"""Results as tidy tables: a row per problem, policy, replicate and checkpoint, a column per metric."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..carriers import persistence
from ..carriers.extras import need
from ..types import Array
from .loop import METRICS

if TYPE_CHECKING:
    import pandas

Curves = Mapping[str, Mapping[str, Array]]

_KEY = b"banditselect"  #: of the file's metadata


class HasCurves(Protocol):
    """Curves of policies, read at checkpoints."""

    @property
    def checkpoints(self) -> NDArray[np.int64]:
        """Rounds, ``(C,)``."""

    @property
    def curves(self) -> Curves:
        """By policy and metric, ``(C, replicates)``."""


@dataclass(frozen=True)
class _Columns:
    """The rows, column by column: words as codes into a list, and numbers."""

    words: dict[str, list[str]]
    codes: dict[str, NDArray[np.int32]]
    numbers: dict[str, NDArray[Any]]


def frame(parts: Mapping[str, HasCurves]) -> "pandas.DataFrame":
    """Return the rows as a data frame."""
    pandas = need("pandas", "experiments")
    rows = _columns(parts)
    labels = {name: pandas.Categorical.from_codes(rows.codes[name], rows.words[name]) for name in rows.words}
    return pandas.DataFrame(labels | rows.numbers)


def write_table(path: str | Path, parts: Mapping[str, HasCurves], settings: Mapping[str, Any]) -> None:
    """Write the rows and the settings to a parquet file; the same content gives the same bytes."""
    pa, parquet = need("pyarrow", "experiments"), need("pyarrow.parquet", "experiments")
    rows = _columns(parts)
    labels = {name: pa.DictionaryArray.from_arrays(rows.codes[name], rows.words[name]) for name in rows.words}
    about = json.dumps({"format": 1, "settings": dict(settings)})
    table = pa.table(labels | rows.numbers).replace_schema_metadata({_KEY: about.encode()})
    with persistence.replacing(path) as file:
        parquet.write_table(table, file, compression="zstd")


def read_table(path: str | Path) -> tuple[dict[str, Any], dict[str, tuple[NDArray[np.int64], Curves]]]:
    """Read what ``write_table`` wrote: the settings, and checkpoints and curves by problem."""
    pa, parquet = need("pyarrow", "experiments"), need("pyarrow.parquet", "experiments")
    try:
        table = parquet.read_table(path)
        settings = json.loads(table.schema.metadata[_KEY])["settings"]
        numbers = {name: table.column(name).to_numpy() for name in ("replicate", "round", *METRICS)}
        problems, policies = (table.column(name).to_pylist() for name in ("problem", "policy"))
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a table of results, or damaged: {error}") from None
    parts: dict[str, tuple[NDArray[np.int64], Curves]] = {name: (np.empty(0, np.int64), {}) for name in settings}
    start = 0
    for (problem, policy), group in itertools.groupby(zip(problems, policies, strict=True)):
        stop = start + sum(1 for _ in group)
        checkpoints = np.unique(numbers["round"][start:stop])
        curves = {m: np.ascontiguousarray(numbers[m][start:stop].reshape(-1, checkpoints.size).T) for m in METRICS}
        parts[problem] = (checkpoints, dict(parts[problem][1]) | {policy: curves})
        start = stop
    return settings, parts


def _columns(parts: Mapping[str, HasCurves]) -> _Columns:
    words: dict[str, list[str]] = {"problem": list(parts), "policy": []}
    codes: dict[str, list[NDArray[np.int32]]] = {"problem": [], "policy": []}
    numbers: dict[str, list[NDArray[Any]]] = {name: [] for name in ("replicate", "round", *METRICS)}
    for i, part in enumerate(parts.values()):
        C = part.checkpoints.size
        for policy, curves in part.curves.items():
            if policy not in words["policy"]:
                words["policy"].append(policy)
            R = next(iter(curves.values())).shape[1]
            codes["problem"].append(np.full(R * C, i, dtype=np.int32))
            codes["policy"].append(np.full(R * C, words["policy"].index(policy), dtype=np.int32))
            numbers["replicate"].append(np.repeat(np.arange(R), C))
            numbers["round"].append(np.tile(part.checkpoints, R))
            for metric in METRICS:
                numbers[metric].append(curves[metric].T.ravel() if metric in curves else np.full(R * C, np.nan))
    nothing = np.empty(0)
    return _Columns(
        words,
        {name: np.concatenate([nothing.astype(np.int32), *pieces]) for name, pieces in codes.items()},
        {name: np.concatenate(pieces or [nothing]) for name, pieces in numbers.items()},
    )
