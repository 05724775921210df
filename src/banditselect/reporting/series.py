"""The data of a figure: means over the replicates and their intervals by policy, from arrays that are checked first."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import constraints, errors, inputs
from ..statistics import Interval, check_confidence, mean_interval, replicates
from ..types import Array
from .style import WIDTHS

WORDS = {
    "weight": "weight of the true model",
    "leader": "leading model",
    "leading_weight": "weight of the leading model",
    "admissible": "admissible models",
    "probability": "propensity",
}
SHARES = ("weight", "leading_weight", "coverage", "probability")  #: metrics between 0 and 1


class Series(NamedTuple):
    """What one panel shows: ``x (C,)``, intervals ``(C,)`` by policy, and the range of all single values."""

    x: Array
    means: Mapping[str, Interval]
    values: tuple[float, float]


def check_options(metric: str, confidence: float, log: str, width: str) -> str:
    """Refuse unknown options by name; return the metric as an axis names it."""
    check_confidence(confidence)
    constraints.OneOf(("auto", "none", "x", "y", "both")).check("log", log, None)
    constraints.OneOf(tuple(WIDTHS)).check("width", width, None)
    if not isinstance(metric, str) or not metric.strip():
        raise errors.refuse("metric", metric, "words")
    return WORDS.get(metric, metric.replace("_", " "))


def check_mapping(name: str, value: Any) -> None:
    """Refuse what is not a mapping with something in it."""
    if not isinstance(value, Mapping) or not value:
        raise errors.refuse(name, value, "a mapping with at least one entry")


def increasing(name: str, values: Any, length: int | None = None) -> Array:
    """Return finite numbers ``(C,)`` that increase."""
    expected = f"{'' if length is None else f'{length} '}different finite numbers, increasing"
    x = inputs.as_floats(name, values, expected)
    fits = x.ndim == 1 and x.size == (length or x.size) > 0
    if not fits or not np.isfinite(x).all() or (np.diff(x) <= 0).any():
        raise errors.refuse(name, values, expected)
    return x


def read_curves(x: Array, owner: str, curves: Mapping[str, ArrayLike], metric: str, confidence: float) -> Series:
    """Return means and intervals of ``curves``, ``(C, R)`` each, without those that are NaN everywhere."""
    check_mapping(owner, curves)
    expected = f"numbers of shape ({x.size}, R), one row per checkpoint; a row with a NaN has no mean"
    rows = {}
    for name, curve in curves.items():
        y = inputs.as_floats(f"{owner}[{name!r}]", curve, expected)
        if y.ndim != 2 or y.shape[0] != x.size or not y.shape[1] or np.isinf(y).any():
            raise errors.refuse(f"{owner}[{name!r}]", curve, expected)
        rows[name] = [np.where(np.isnan(row).any(), np.nan, row) for row in y]
    return _series(x, owner, rows, metric, confidence)


def read_finals(
    x: Array, values: Mapping[Any, Mapping[str, ArrayLike]], names: Sequence[str], metric: str, confidence: float
) -> Series:
    """Return means and intervals of ``values``, by problem and policy ``(R,)``; what is missing is NaN."""
    expected, absent = "numbers of shape (R,), all finite or all NaN", np.full(1, np.nan)
    rows: dict[str, list[Array]] = {name: [] for name in names}
    for name, key in product(names, values):
        row = values[key].get(name, absent)
        rows[name].append(replicates(f"values[{key!r}][{name!r}]", row, expected, _known_or_not))
    return _series(x, "values", rows, metric, confidence)


def _known_or_not(row: Array) -> bool:
    return bool(np.isfinite(row).all() or np.isnan(row).all())


def _series(x: Array, owner: str, rows: Mapping[str, list[Array]], metric: str, confidence: float) -> Series:
    means, values = {}, []
    for name, found in rows.items():
        known = [row for row in found if np.isfinite(row[0])]
        if known:
            intervals = [mean_interval(row, confidence=confidence) for row in found]
            whole = Interval(*(np.array(part) for part in zip(*intervals, strict=True)))
            means[name] = Interval(*(np.clip(part, 0.0, 1.0) for part in whole)) if metric in SHARES else whole
            values += [float(extreme(row)) for row in known for extreme in (np.min, np.max)]
    if not means:
        raise errors.refuse(owner, list(rows), f"at least one policy that has the metric {metric!r}: all are NaN")
    return Series(x, means, (min(values), max(values)))
