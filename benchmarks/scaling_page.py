"""Fill docs/scaling.md: ``python -m benchmarks.scaling_page [out/bench/scaling.json]``."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from banditselect.types import Array

from .pages import DOCS, fill, markdown_table
from .scaling import JSON, WAYS

Found = Mapping[str, Any]  #: one series of the file

WITHIN = 0.25  #: a slope that differs by less agrees with the formula
DEGREES = {
    "time": {"M": 1, "d": 2, "K": 1, "lanes": 1, "held": 0, "rounds": 0},
    "state": {"M": 1, "d": 2, "K": 0, "lanes": 1, "held": 1},
    "round": {"M": 1, "d": 1, "K": 1, "lanes": 1, "held": 0},
}  #: the highest power of each size in the time of a round, the state, the bytes that a round allocates
WORDS = {
    "M": "models M",
    "d": "features d",
    "K": "actions K",
    "lanes": "lanes, all served",
    "held": "lanes, one served",
    "rounds": "rounds learned",
}


def values(series: Found, quantity: str) -> tuple[Array, Array]:
    """Return sizes and values of a series; of a time the medians."""
    points = series["points"]
    found = [point["time"]["median"] if quantity == "time" else point[quantity] for point in points]
    return np.array([point["x"] for point in points], dtype=float), np.array(found, dtype=float)


def law(x: Array, y: Array, degree: int) -> Array:
    """Return the coefficients >= 0 of 1, x, ..., x^degree whose polynomial has the least squared relative errors."""
    terms = x[:, None] ** np.arange(degree + 1) / y[:, None]
    size = np.linalg.norm(terms, axis=0)
    return nnls(terms / size, np.ones_like(y))[0] / size


def formula(x: Array, y: Array, degree: int, at: Array) -> Array:
    """Return the polynomial that fits, at other sizes."""
    return at[:, None] ** np.arange(degree + 1) @ law(x, y, degree)


def slope(x: Array, y: Array) -> float:
    """Return the slope of log y over log x in the last decade of x, by least squares."""
    last = x >= x[-1] / 10.0
    return float(np.polyfit(np.log(x[last]), np.log(y[last]), 1)[0])


def judge(series: Found, quantity: str = "time") -> str:
    """Return the slope measured, that of the formula, whether they agree, and the steepest step if it stands out."""
    x, y = values(series, quantity)
    degree = DEGREES[quantity][series["axis"]]
    found, expected = slope(x, y), slope(x, formula(x, y, degree, x))
    words = f"{two(found)} ({two(expected)}) {'✓' if abs(found - expected) <= WITHIN else '✗'}"
    local = np.diff(np.log(y)) / np.diff(np.log(x))
    k = int(local.argmax())
    if local[k] > degree + WITHIN:
        words += f", a step of {two(local[k])} from {x[k]:,.0f} to {x[k + 1]:,.0f}"
    return words


def two(value: float) -> str:
    """Return a number with two digits, zero without a sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def in_unit(value: float, units: Sequence[str] = ("µs", "ms", "s")) -> str:
    """Return a value with three digits in the unit that suits it; every unit is a thousand of the one before."""
    k = int(np.clip(np.log10(max(value, 1.0)) // 3, 0, len(units) - 1))
    return f"{value / 1000.0**k:.3g} {units[k]}"


def in_bytes(size: float) -> str:
    """Return a size in words."""
    return in_unit(size, ("B", "kB", "MB", "GB"))


def time_table(series: Sequence[Found]) -> str:
    """Return the verdicts on all times."""
    rows = []
    for one in (one for one in series if one["axis"] != "rounds"):
        first, last = one["points"][0], one["points"][-1]
        time = last["time"]
        most = f"{in_unit(time['median'])} ({in_unit(time['low'])} to {in_unit(time['high'])}) at {last['x']:,}; "
        most += f"{time['n']} blocks of {last['rounds']:,}"
        least = f"{in_unit(first['time']['median'])} at {first['x']:,}"
        rows.append([WORDS[one["axis"]], one["policy"], least, most, f"{DEGREES['time'][one['axis']]}", judge(one)])
    head = ["against", "policy", "first", "last (10 to 90 %)", "exponent in the limit", "slope (formula)"]
    return markdown_table(head, rows)


def memory_table(series: Sequence[Found]) -> str:
    """Return the verdicts on state and on the allocations of a round."""
    rows = []
    for one in (one for one in series if one["axis"] in DEGREES["state"]):
        last = one["points"][-1]
        cells = [text for of in ("state", "round") for text in (in_bytes(last[of]), judge(one, of))]
        rows.append([WORDS[one["axis"]], one["policy"], f"{last['x']:,}", *cells])
    head = ["against", "policy", "at", "state", "slope (formula)", "a round allocates", "slope (formula)"]
    return markdown_table(head, rows)


def catalogue_table(series: Sequence[Found]) -> str:
    """Return the costs of one decision among the most actions, for every form of the actions."""
    rows = []
    for one in (one for one in series if one["axis"] == "K"):
        base, _, way = one["policy"].partition(", ")
        if base in ("FS-SCB", "OFUL"):
            last = one["points"][-1]
            sizes = [in_bytes(last["offer"]), in_bytes(last["round"]), in_unit(last["time"]["median"])]
            rows.append([base, WAYS[way or "array"], f"{last['x']:,}", *sizes])
    head = ["policy", "actions", "K", "passed in", "allocated by the round", "time of the round"]
    return markdown_table(head, rows)


def rounds_table(series: Sequence[Found]) -> str:
    """Return the time of a round and the memory held as rounds go by."""
    found, rows = [one for one in series if one["axis"] == "rounds"], []
    for one in found:
        ends = one["points"][0], one["points"][-1]
        times, held = ([in_unit(p["time"]["median"]) for p in ends], [in_bytes(p["held"]) for p in ends])
        rows.append([one["policy"], *times, judge(one), *held])
    counts = [f"{found[0]['points'][k]['x']:,}" for k in (0, -1)]
    times, held = ([f"{what} {count}" for count in counts] for what in ("a round up to", "extra memory after"))
    return markdown_table(["policy", *times, "slope (formula)", *held], rows)


def render(content: Mapping[str, Any], page: Path) -> None:
    """Fill the tables."""
    about, series = content["machine"], content["series"]
    versions = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
    machine = (
        f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}; {content['seconds']} seconds"
    )
    tables = {
        "machine": f"{machine}{', the quick version' if content['quick'] else ''}.",
        "time": time_table(series),
        "memory": memory_table(series),
        "catalogue": catalogue_table(series),
        "rounds": rounds_table(series),
    }
    fill(page, tables)


if __name__ == "__main__":
    render(json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else JSON).read_text()), DOCS / "scaling.md")
