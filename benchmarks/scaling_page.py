"""Make docs/scaling.md and docs/figures/scaling-*.png from the results of `benchmarks.scaling`.

python -m benchmarks.scaling_page [out/bench/scaling.json]
"""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditselect.reporting import save_figure
from banditselect.reporting.figures import new_figure
from banditselect.reporting.labels import End, label_ends
from banditselect.reporting.markdown import markdown_table
from banditselect.reporting.scales import human
from banditselect.reporting.style import INK, house_style, looks, tidy

from .pages import DOCS, fill
from .scaling import JSON, WAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Found = Mapping[str, Any]  # one series of the file

WITHIN = 0.25  #: a slope that differs by less agrees with the formula
DEGREES = {
    "time": {"M": 1, "d": 2, "K": 1, "lanes": 1, "held": 0, "rounds": 0},
    "state": {"M": 1, "d": 2, "K": 0, "lanes": 1, "held": 1},
    "round": {"M": 1, "d": 1, "K": 1, "lanes": 1, "held": 0},
}  #: the highest power of each size in the time of a round, the state, and what a round allocates
WORDS = {
    "M": "models M",
    "d": "features d",
    "K": "actions K",
    "lanes": "lanes, all served",
    "held": "lanes, one served",
    "rounds": "rounds learned",
}
NAMES = ("FS-OFUL", "FS-SCB", "PS-OFUL", "OFUL", "SCB", "RB-SCB")
LINE = (0, (4.0, 2.0))  #: of formulas


def law(x: Array, y: Array, degree: int) -> Array:
    """Return the coefficients >= 0 of 1, x, ..., x^degree whose polynomial has the least squared relative errors."""
    terms = x[:, None] ** np.arange(degree + 1) / y[:, None]
    best, least = np.zeros(degree + 1), np.inf
    for count in range(1, degree + 2):
        for kept in combinations(range(degree + 1), count):
            found = np.linalg.lstsq(terms[:, kept], np.ones_like(y), rcond=None)[0]
            error = float(((terms[:, kept] @ found - 1.0) ** 2).sum())
            if found.min() >= 0.0 and error < least - 1e-12:
                best, least = np.zeros(degree + 1), error
                best[list(kept)] = found
    return best


def formula(x: Array, y: Array, degree: int, at: Array) -> Array:
    """Return the polynomial that fits, at other sizes."""
    return at[:, None] ** np.arange(degree + 1) @ law(x, y, degree)


def slope(x: Array, y: Array) -> float:
    """Return the slope of log y over log x in the last decade of x, by least squares."""
    last = x >= x[-1] / 10.0
    return float(np.polyfit(np.log(x[last]), np.log(y[last]), 1)[0])


class Verdict(NamedTuple):
    """Slopes of the formula and of the measurements in the last decade, and the steepest step between two points."""

    degree: int
    formula: float
    measured: float
    step: float
    between: tuple[float, float]

    @property
    def holds(self) -> bool:
        """True if the slopes agree."""
        return abs(self.measured - self.formula) <= WITHIN

    @property
    def words(self) -> str:
        """The slope measured, that of the formula, whether they agree, and the steepest step if it stands out."""
        text = f"{two(self.measured)} ({two(self.formula)}) {'✓' if self.holds else '✗'}"
        if self.step > self.degree + WITHIN:
            low, high = self.between
            text += f", a step of {two(self.step)} from {low:,.0f} to {high:,.0f}"
        return text


def two(value: float) -> str:
    """Return a number with two digits, zero without a sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def values(series: Found, quantity: str) -> tuple[Array, Array]:
    """Return sizes and values of a series; of a time, the medians."""
    x = np.array([point["x"] for point in series["points"]], dtype=float)
    found = [point[quantity] for point in series["points"]]
    return x, np.array([value["median"] if isinstance(value, dict) else value for value in found], dtype=float)


def judge(series: Found, quantity: str = "time") -> Verdict:
    """Return the verdict on a series."""
    x, y = values(series, quantity)
    degree = DEGREES[quantity][series["axis"]]
    fitted = formula(x, y, degree, x)
    local = np.diff(np.log(y)) / np.diff(np.log(x))
    k = int(local.argmax())
    return Verdict(degree, slope(x, fitted), slope(x, y), float(local[k]), (float(x[k]), float(x[k + 1])))


def of_axis(series: Sequence[Found], axis: str) -> list[Found]:
    """Return the series along an axis."""
    return [one for one in series if one["axis"] == axis]


def base_of(series: Found) -> str:
    """Return the policy of a series, without the suffix for the form of its actions."""
    return series["policy"].split(",")[0]


def draw(axes: "Axes", series: Sequence[Found], quantity: str, *, per: bool = False) -> None:
    """Draw measured points with bars from 10 to 90 % and, dashed, the formula; ``per``: divided by the size."""
    tidy(axes)
    look, ends = looks(NAMES), []
    for one in series:
        x, y = values(one, quantity)
        style, by = look[base_of(one)], x if per else np.ones_like(x)
        fine = np.geomspace(x[0], x[-1], 200)
        dashed = formula(x, y, DEGREES[quantity][one["axis"]], fine) / (fine if per else 1.0)
        axes.plot(fine, dashed, color=style.colour, linestyle=LINE, linewidth=0.8)
        if quantity == "time":
            low, high = (np.array([point["time"][end] for point in one["points"]]) for end in ("low", "high"))
            axes.vlines(x, low / by, high / by, color=style.colour, linewidth=0.9)
        face, edge = (style.colour, "white") if one["policy"] in NAMES else ("white", style.colour)
        marker: dict[str, Any] = {"markersize": 3.6, "markeredgewidth": 0.4 if edge == "white" else 0.9}
        axes.plot(x, y / by, style.marker, markerfacecolor=face, markeredgecolor=edge, zorder=3.0, **marker)
        ends.append(End(one["policy"], float(x[-1]), float((y / by)[-1]), style))
    log_axes(axes, [point["x"] for point in series[0]["points"]])
    label_ends(axes, ends, wrap=12)


def log_axes(axes: "Axes", grid: Sequence[float]) -> None:
    """Make both axes logarithmic, with few ticks that can be read; ``grid``: the sizes measured."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1.0,) if high > 100.0 * low else (1.0, 2.0, 5.0), numticks=8))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: human(value, 1e9)))
    if 10.0 not in grid:  # powers of two
        axes.set_xticks(grid[::2])


def time_figure(series: Sequence[Found]) -> "Figure":
    """Return the time of a round against M, d, K and lanes."""
    with house_style():
        figure = new_figure("page", 5.4)
        for axes, axis in zip(figure.subplots(2, 2).flat, ("M", "d", "K", "lanes"), strict=True):
            found = [one for one in of_axis(series, axis) if not one["policy"].startswith("OFUL, ")]  # in the table
            draw(axes, found, "time", per=axis == "lanes")
            axes.set_xlabel(f"{WORDS[axis]} ({others(found[0])})")
            axes.set_ylabel("µs per lane and round" if axis == "lanes" else "µs per round")
        return figure


def memory_figure(series: Sequence[Found]) -> "Figure":
    """Return the state against M, d and lanes, and the bytes moved by one decision against K."""
    with house_style():
        figure = new_figure("page", 5.4)
        for axes, axis in zip(figure.subplots(2, 2).flat, ("M", "d", "lanes", "K"), strict=True):
            found = of_axis(series, axis)
            if axis == "K":
                found = [with_moved(one) for one in found if base_of(one) in ("FS-SCB", "OFUL")]
            draw(axes, found, "round" if axis == "K" else "state")
            axes.set_xlabel(f"{WORDS[axis]} ({others(found[0])})")
            axes.set_ylabel("bytes per decision" if axis == "K" else "bytes of state")
        return figure


def with_moved(series: Found) -> Found:
    """Return a series with the bytes moved by one decision: those passed in, and those that the round allocates."""
    return {**series, "points": [{**p, "round": p["offer"] + p["round"]} for p in series["points"]]}


def rest_figure(series: Sequence[Found]) -> "Figure":
    """Return the time of a round for one of many lanes, and the speed-up on cores."""
    with house_style():
        figure = new_figure("page", 2.6)
        left, right = figure.subplots(1, 2)
        found = of_axis(series, "held")
        draw(left, found, "time")
        left.set_xlabel(f"{WORDS['held']} ({others(found[0])})")
        left.set_ylabel("µs per round")
        x, seconds = values(of_axis(series, "cores")[0], "time")
        tidy(right)
        right.plot(x, x, color=INK, linestyle=LINE, linewidth=0.8)
        style = looks(NAMES)["FS-SCB"]
        right.plot(x, seconds[0] / seconds, style.marker, color=style.colour, markersize=4.0)
        right.set_xticks(x, [f"{workers:.0f}" for workers in x])
        right.set_xlabel("worker processes (simulate, FS-SCB)")
        right.set_ylabel("times as fast as one")
        right.set_xlim(0.0, 1.1 * x[-1])
        right.set_ylim(0.0, 1.15 * x[-1])
        return figure


def others(series: Found) -> str:
    """Return the fixed sizes, in words."""
    fixed = {name: size for name, size in series["others"].items() if size}
    return ", ".join(f"{name} = {size}" for name, size in fixed.items())


def quantity_text(value: float, units: Sequence[str]) -> str:
    """Return a value with three digits in the unit that suits it; every unit is a thousand of the one before."""
    k = int(np.clip(np.log10(max(value, 1.0)) // 3, 0, len(units) - 1))
    return f"{value / 1000.0**k:.3g} {units[k]}"


def time_text(microseconds: float) -> str:
    """Return a time in words."""
    return quantity_text(microseconds, ("µs", "ms", "s"))


def bytes_text(size: float) -> str:
    """Return a size in words."""
    return quantity_text(size, ("B", "kB", "MB", "GB"))


def time_table(series: Sequence[Found]) -> str:
    """Return the verdicts on all times."""
    rows = []
    for one in series:
        if one["axis"] in ("cores", "rounds"):
            continue
        verdict, first, last = judge(one), one["points"][0], one["points"][-1]
        spread = last["time"]
        rows.append(
            [
                WORDS[one["axis"]],
                one["policy"],
                f"{time_text(first['time']['median'])} at {first['x']:,}",
                f"{time_text(spread['median'])} ({time_text(spread['low'])} to {time_text(spread['high'])}) "
                f"at {last['x']:,}; {spread['n']} blocks of {last['rounds']:,}",
                f"{verdict.degree}",
                verdict.words,
            ]
        )
    head = ["against", "policy", "first", "last (10 to 90 %)", "exponent in the limit", "slope (formula)"]
    return markdown_table(head, rows)


def memory_table(series: Sequence[Found]) -> str:
    """Return the verdicts on state and on the allocations of a round."""
    rows = []
    for one in series:
        if one["axis"] not in DEGREES["state"]:
            continue
        last = one["points"][-1]
        cells = [text for of in ("state", "round") for text in (bytes_text(last[of]), judge(one, of).words)]
        rows.append([WORDS[one["axis"]], one["policy"], f"{last['x']:,}", *cells])
    head = ["against", "policy", "at", "state", "slope (formula)", "a round allocates", "slope (formula)"]
    return markdown_table(head, rows)


def catalogue_table(series: Sequence[Found]) -> str:
    """Return the costs of one decision among the most actions, for every form of the actions."""
    rows = []
    for one in of_axis(series, "K"):
        if base_of(one) not in ("FS-SCB", "OFUL"):
            continue
        last = one["points"][-1]
        rows.append(
            [
                base_of(one),
                WAYS[one["policy"].partition(", ")[2] or "array"],
                f"{last['x']:,}",
                bytes_text(last["offer"]),
                bytes_text(last["round"]),
                time_text(last["time"]["median"]),
            ]
        )
    head = ["policy", "actions", "K", "passed in", "allocated by the round", "time of the round"]
    return markdown_table(head, rows)


def rounds_table(series: Sequence[Found]) -> str:
    """Return the time of a round and the memory held as rounds go by."""
    found, rows = of_axis(series, "rounds"), []
    for one in found:
        first, last = one["points"][0], one["points"][-1]
        times = [time_text(point["time"]["median"]) for point in (first, last)]
        rows.append([one["policy"], *times, judge(one).words, *(bytes_text(p["held"]) for p in (first, last))])
    ends = [f"{found[0]['points'][k]['x']:,}" for k in (0, -1)]
    times, held = ([f"{what} {end}" for end in ends] for what in ("a round up to", "extra memory after"))
    return markdown_table(["policy", *times, "slope (formula)", *held], rows)


def cores_table(series: Sequence[Found]) -> str:
    """Return the seconds on cores."""
    (one,) = of_axis(series, "cores")
    alone = one["points"][0]["time"]["median"]
    rows = []
    for point in one["points"]:
        spread = point["time"]
        seconds = f"{two(spread['median'])} ({two(spread['low'])} to {two(spread['high'])})"
        rows.append([f"{point['x']}", seconds, f"{spread['n']}", two(alone / spread["median"])])
    return markdown_table(["worker processes", "seconds (10 to 90 %)", "runs", "speed-up"], rows)


def parts(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the text between the markers of the page, by marker."""
    about, series = content["machine"], content["series"]
    versions = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
    return {
        "machine": f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}; "
        f"{content['seconds']} seconds{', the quick version' if content['quick'] else ''}.",
        "time": time_table(series),
        "memory": memory_table(series),
        "catalogue": catalogue_table(series),
        "rounds": rounds_table(series),
        "cores": cores_table(series),
    }


FIGURES = {"time": time_figure, "memory": memory_figure, "lanes-and-cores": rest_figure}


def render(content: Mapping[str, Any], docs: Path) -> None:
    """Write the figures, and the parts of the page that are measured."""
    for name, figure in FIGURES.items():
        save_figure(figure(content["series"]), docs / "figures" / f"scaling-{name}.png")
    fill(docs / "scaling.md", parts(content))


if __name__ == "__main__":
    render(json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else JSON).read_text()), DOCS)
