"""Write a pack: features as integers of few bits, so that packs are small enough to ship.

`banditselect.experiments.packs` reads packs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditselect.experiments.packs import FORMAT, KINDS, Coded, FeaturePack, Pack
from banditselect.runtime.files import replacing
from banditselect.types import Array


def save(pack: Pack, path: Path) -> None:
    """Write a pack atomically; equal packs give equal bytes."""
    kind = next(name for name, one in KINDS.items() if isinstance(pack, one))
    header = json.dumps({"format": FORMAT, "kind": kind, "provenance": pack.provenance}, indent=1)
    arrays: dict[str, Any] = {"header": np.frombuffer(header.encode(), dtype=np.uint8)}
    arrays |= {"labels": pack.labels, "parameters": pack.parameters}
    if isinstance(pack, FeaturePack):
        arrays |= {"accuracies": pack.accuracies}
        for i, (part, head) in enumerate(zip(pack.coded, pack.heads, strict=True)):
            arrays |= _coded_arrays(f"map{i}", part) | {f"head{i}": head}
        arrays |= {"true_map": np.array(pack.true_map)}
    else:
        arrays |= {"head": pack.head} | _coded_arrays("map", pack.coded) | {"accuracy": np.array(pack.accuracy)}
        for (made, M), balls in pack.balls.items():
            arrays |= {f"{made}{M}.{name}": np.asarray(value) for name, value in vars(balls).items()}
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)


def _coded_arrays(name: str, part: Coded) -> dict[str, NDArray[Any]]:
    return {f"{name}.{field}": getattr(part, field) for field in ("codes", "scale", "offset")}


def code(table: NDArray[Any], bits: int = 8) -> Coded:
    """Code a table; no value changes by more than half a ``scale``; a column's range is 2^bits - 1 scales."""
    x = np.asarray(table, dtype=float)
    low, span = x.min(axis=0), np.ptp(x, axis=0)
    offset = low.astype(np.float32)
    step = span / (2**bits - 1)
    scale = np.where(step > np.finfo(np.float32).tiny, step, 1.0).astype(np.float32)
    codes = np.rint((x - offset) / scale).clip(0, 2**bits - 1)
    return Coded(codes.astype({8: np.uint8, 16: np.uint16}[bits]), scale, offset)


def coding_errors(coded: Coded, table: NDArray[Any]) -> Array:
    """Return for each column the RMS difference to ``table``, as a share of the column's standard deviation."""
    x = np.asarray(table, dtype=float)
    deviation = x.std(axis=0)
    return np.sqrt(np.mean((coded.values - x) ** 2, axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
