"""Results as tidy tables: a row per problem, policy, replicate and checkpoint, a column per metric."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runtime import files
from ..runtime.extras import need
from ..types import Array
from .loop import METRICS

if TYPE_CHECKING:
    import pandas

Curves = Mapping[str, Mapping[str, Array]]  #: by policy and metric, ``(C, replicates)``
Recorded = tuple[NDArray[np.int64], Curves]  #: checkpoints ``(C,)``, and the curves read at them

_KEY = b"banditselect"  #: of the file's metadata


def frame(parts: Mapping[str, Recorded]) -> "pandas.DataFrame":
    """Return the rows as a data frame."""
    need("pandas", "experiments")
    return _table(parts).to_pandas()


def write_table(path: str | Path, parts: Mapping[str, Recorded], settings: Mapping[str, Any]) -> None:
    """Write the rows and the settings to a parquet file; the same content gives the same bytes."""
    parquet = need("pyarrow.parquet", "experiments")
    about = json.dumps({"format": 1, "settings": dict(settings)})
    table = _table(parts).replace_schema_metadata({_KEY: about.encode()})
    with files.replacing(path) as file:
        parquet.write_table(table, file, compression="zstd")


def read_table(path: str | Path) -> tuple[dict[str, Any], dict[str, Recorded]]:
    """Read what ``write_table`` wrote: the settings, and checkpoints and curves by problem."""
    pa, parquet = need("pyarrow", "experiments"), need("pyarrow.parquet", "experiments")
    try:
        table = parquet.read_table(path)
        settings = json.loads(table.schema.metadata[_KEY])["settings"]
        numbers = {name: table.column(name).to_numpy() for name in ("replicate", "round")}
        unknown = np.full(len(table), np.nan)  # an older table has fewer metrics
        numbers |= {m: table.column(m).to_numpy() if m in table.column_names else unknown for m in METRICS}
        problems, policies = (table.column(name).to_pylist() for name in ("problem", "policy"))
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a table of results, or damaged: {error}") from None
    parts: dict[str, Recorded] = {name: (np.empty(0, np.int64), {}) for name in settings}
    start = 0
    for (problem, policy), group in itertools.groupby(zip(problems, policies, strict=True)):
        stop = start + sum(1 for _ in group)
        checkpoints = np.unique(numbers["round"][start:stop])
        curves = {m: np.ascontiguousarray(numbers[m][start:stop].reshape(-1, checkpoints.size).T) for m in METRICS}
        parts[problem] = (checkpoints, dict(parts[problem][1]) | {policy: curves})
        start = stop
    return settings, parts


def _table(parts: Mapping[str, Recorded]) -> Any:
    """Return the rows as a table of pyarrow; words are codes into a list."""
    pa = need("pyarrow", "experiments")
    policies = list(dict.fromkeys(policy for _, curves in parts.values() for policy in curves))
    rows: dict[str, list[NDArray[Any]]] = {n: [] for n in ("problem", "policy", "replicate", "round", *METRICS)}
    for i, (checkpoints, by_policy) in enumerate(parts.values()):
        for policy, curves in by_policy.items():
            C, R = next(iter(curves.values())).shape
            rows["problem"].append(np.full(R * C, i))
            rows["policy"].append(np.full(R * C, policies.index(policy)))
            rows["replicate"].append(np.repeat(np.arange(R), C))
            rows["round"].append(np.tile(checkpoints, R))
            for metric in METRICS:
                rows[metric].append(curves[metric].T.ravel() if metric in curves else np.full(R * C, np.nan))
    columns = {name: np.concatenate(pieces or [np.empty(0)]) for name, pieces in rows.items()}
    words = {"problem": list(parts), "policy": policies}
    labels = {n: pa.DictionaryArray.from_arrays(columns[n].astype(np.int32), words[n]) for n in words}
    return pa.table(columns | labels)
