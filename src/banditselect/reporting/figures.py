"""Figures from plain arrays: curves over rounds, panels of them, final values against a setting."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import constraints, errors, inputs
from ..statistics import Interval, check_confidence, mean_interval, replicates
from ..types import Array
from .labels import End, label_ends, wrapped
from .scales import LogAxes, Series, scales, set_places, set_rounds, set_y
from .style import COLOURS, DASHES, INKS, WIDTHS, Look, Width, house_style, looks, tidy
from .tables import check_mapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, ArrayLike]

SHARED = 5.0  #: panels whose largest means differ by less than this factor share the vertical axis
HEIGHTS = {"column": 2.2, "page": 2.7, "panel": 1.7}  #: inches
SIDE_BY_SIDE = {"column": 2, "page": 4}  #: panels in a row
WRAP = {"column": 18, "page": 30}  #: characters in a line of a label
LINE, FRAME = 10.5, 40.0  #: points of height for one label, and above and below the axes
GREY = "#BBBBBB"
ROW, NARROW = 1.55, 17  #: inches of a row of `plot_rows`; characters in a line of a label there
POINTS = 50  #: of a curve, so that a page of many figures stays small

WORDS = {
    "weight": "weight of the true model",
    "leader": "leading model",
    "leading_weight": "weight of the leading model",
    "admissible": "admissible models",
    "probability": "propensity",
}
SHARES = ("weight", "leading_weight", "coverage", "probability")  #: metrics between 0 and 1


def plot_curves(
    checkpoints: ArrayLike,
    curves: Curves,
    *,
    metric: str,
    axes: "Axes | None" = None,
    confidence: float = 0.95,
    log: LogAxes = "auto",
    title: str | None = None,
    width: Width = "column",
) -> "Figure":
    """Draw the mean of every policy over the rounds, with a band of Student's interval and its name at the end.

    Parameters
    ----------
    checkpoints: rounds, ``(C,)``, increasing.
    curves: by policy, ``(C, R)`` for R replicates; a policy whose values are all NaN is left out.
    metric: what the values are, in words.
    axes: where to draw; by default a new figure that no global list holds.
    confidence: of the bands.
    log: which axes are logarithmic; "auto": the vertical one if the last means are positive and differ by a factor
        above 30.
    title: above the axes.
    width: of a new figure and its labels, that of a column or of the page of a two-column paper.
    """
    label = check_options(metric, confidence, log, width)
    x = increasing("checkpoints", checkpoints)
    panel = read_curves(x, "curves", curves, metric, confidence)
    kinds = scales(log, [panel])
    with house_style():
        axes = _axes(axes, width, panel.means, title)
        ends = draw_lines(axes, panel, looks(list(curves)), kinds)
        set_y(axes, [panel], kinds[1], 5)
        set_rounds(axes, x, kinds[0], 5)
        axes.set(xlabel="round", ylabel=label)
        label_ends(axes, ends, wrap=WRAP[width])
        return axes.figure.figure


def plot_panels(
    panels: Mapping[str, tuple[ArrayLike, Curves]],
    *,
    metric: str,
    confidence: float = 0.95,
    log: LogAxes = "auto",
    share: bool | None = None,
    width: Width = "page",
) -> "Figure":
    """Draw one small panel of curves per problem; a policy looks the same in all of them and is named once.

    Parameters
    ----------
    panels: by title, checkpoints ``(C,)`` and curves as in `plot_curves`.
    metric, confidence, log, width: as in `plot_curves`; all panels have the same kind of axes.
    share: whether all panels have the same vertical axis; by default if it is logarithmic or the largest means differ
        by a factor below 5.
    """
    label = check_options(metric, confidence, log, width)
    check_mapping("panels", panels)
    drawn = []
    for title, pair in panels.items():
        owner = f"panels[{title!r}]"
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise errors.refuse(owner, pair, "a pair (checkpoints, curves)")
        checkpoints, curves = pair
        x = increasing(f"{owner}: checkpoints", checkpoints)
        drawn.append(read_curves(x, f"{owner}: curves", curves, metric, confidence))
    kinds = scales(log, drawn)
    tops = [max(np.nanmax(mean.estimate) for mean in panel.means.values()) for panel in drawn]
    if share is None:
        share = kinds[1] or bool(max(tops) < SHARED * min(tops))
    look = looks(list(dict.fromkeys(name for _, curves in panels.values() for name in curves)))
    rows = ceil(len(drawn) / SIDE_BY_SIDE[width])
    columns = ceil(len(drawn) / rows)
    with house_style():
        height = rows * max(HEIGHTS["panel"], *(_needed(panel.means, WRAP["column"]) for panel in drawn))
        cells = list(new_figure(width, height).subplots(rows, columns, squeeze=False).flat)
        for unused in cells[len(drawn) :]:
            unused.remove()
        ends = []
        for k, (axes, title, panel) in enumerate(zip(cells, panels, drawn, strict=False)):
            last_row, first_column = k + columns >= len(drawn), k % columns == 0
            tidy(axes)
            ends.append(draw_lines(axes, panel, look, kinds))
            set_y(axes, drawn if share else [panel], kinds[1], 4)
            set_rounds(axes, panel.x, kinds[0], 3)
            axes.set(title=title, xlabel="round" if last_row else "", ylabel=label if first_column else "")
            axes.tick_params(labelleft=first_column or not share)
        for axes, last in zip(cells, _once(ends, columns), strict=False):
            label_ends(axes, last, wrap=WRAP["column"])
        return cells[0].figure.figure


def plot_finals(
    values: Mapping[Any, Mapping[str, ArrayLike]],
    *,
    metric: str,
    setting: str,
    x: Sequence[float] | None = None,
    axes: "Axes | None" = None,
    confidence: float = 0.95,
    log: LogAxes = "auto",
    title: str | None = None,
    width: Width = "column",
) -> "Figure":
    """Draw the mean final value of every policy against a setting of the problem, with bars of Student's interval.

    Parameters
    ----------
    values: by problem and policy, ``(R,)``; a policy that is missing or NaN in a problem is left out there.
    metric: what the values are, in words.
    setting: what the problems differ in, in words.
    x: the setting of every problem as a number, increasing; by default the keys of ``values``, which stand at equal
        distances where they are not numbers.
    axes, confidence, title, width: as in `plot_curves`.
    log: as in `plot_curves`, with all means; "auto" also makes the horizontal axis logarithmic if the settings span
        more than a decade.
    """
    label = check_options(metric, confidence, log, width)
    check_mapping("values", values)
    for key, finals in values.items():
        check_mapping(f"values[{key!r}]", finals)
    keys = list(values)
    names = list(dict.fromkeys(name for finals in values.values() for name in finals))
    numbers = x is not None or all(isinstance(key, int | float | np.number) for key in keys)
    if x is not None:
        places = increasing("x", x, len(keys))
    else:
        places = increasing("values", keys) if numbers else np.arange(len(keys), dtype=np.float64)
    series = read_finals(places, values, names, metric, confidence)
    kinds = scales(log, [series], settings=True)
    with house_style():
        axes = _axes(axes, width, series.means, title)
        ends = draw_bars(axes, series, looks(names), kinds)
        set_y(axes, [series], kinds[1], 5)
        set_places(axes, places, None if numbers else [str(key) for key in keys], kinds[0])
        axes.set(xlabel=setting, ylabel=label)
        label_ends(axes, ends, wrap=WRAP[width])
        return axes.figure.figure


def plot_rows(
    panels: Mapping[str, tuple[ArrayLike, Mapping[str, ArrayLike]]], *, metric: str, added: Collection[str] = ()
) -> "Figure":
    """Draw a panel of mean curves per problem, with bands of Student's 95 % interval.

    Parameters
    ----------
    panels: by title, checkpoints ``(C,)`` and curves by policy, ``(C, R)`` for R replicates.
    metric: the name of the values, for the vertical axis.
    added: the policies of the second row, which are dashed there; the others stand there again in grey.
    """
    label = check_options(metric, 0.95, "auto", "page")
    names = list(dict.fromkeys(name for _, curves in panels.values() for name in curves))
    groups = [group for inside in (False, True) if (group := [n for n in names if (n in added) == inside])]
    order = [(name, row) for row, group in enumerate(groups) for name in group]
    look = {
        name: Look(COLOURS[k % 8], INKS[k % 8], DASHES[row], "o", float(row)) for k, (name, row) in enumerate(order)
    }
    read = {}
    for title, (checkpoints, curves) in panels.items():
        x = increasing(f"panels[{title!r}]: checkpoints", checkpoints)
        panel = read_curves(x, f"panels[{title!r}]: curves", curves, metric, 0.95)
        kept = np.unique(np.linspace(0, x.size - 1, min(x.size, POINTS)).round().astype(int))
        means = {name: Interval(*(part[kept] for part in parts)) for name, parts in panel.means.items()}
        read[title] = panel._replace(x=x[kept], means=means)
    with house_style():
        figure = new_figure("page", ROW * len(groups) + 0.25)
        grid = figure.subplots(len(groups), len(panels), squeeze=False, sharex=True, sharey=True)
        for row, (group, cells) in enumerate(zip(groups, grid, strict=True)):
            for column, (axes, (title, panel)) in enumerate(zip(cells, read.items(), strict=True)):
                tidy(axes)
                for name, mean in panel.means.items():
                    if row and name not in added:
                        axes.plot(panel.x, mean.estimate, color=GREY, linewidth=0.8)
                own = {name: panel.means[name] for name in group if name in panel.means}
                ends = draw_lines(axes, panel._replace(means=own), look, (False, False))
                set_y(axes, list(read.values()), False, 4)
                set_rounds(axes, panel.x, False, 3)
                axes.set(title=title if row == 0 else "", xlabel="round" if row == len(groups) - 1 else "")
                axes.set_ylabel(label if column == 0 else "")
                if column == len(panels) - 1:
                    label_ends(axes, ends, wrap=NARROW)
        return figure


def check_options(metric: str, confidence: float, log: str, width: str) -> str:
    """Refuse unknown options by name; return the metric as an axis names it."""
    check_confidence(confidence)
    constraints.OneOf(("auto", "none", "x", "y", "both")).check("log", log, None)
    constraints.OneOf(tuple(WIDTHS)).check("width", width, None)
    if not isinstance(metric, str) or not metric.strip():
        raise errors.refuse("metric", metric, "words")
    return WORDS.get(metric, metric.replace("_", " "))


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


def _axes(axes: "Axes | None", width: Width, names: Iterable[str], title: str | None) -> "Axes":
    """Return the axes to draw on, by default those of a new figure that is high enough for all labels."""
    if axes is None:
        axes = new_figure(width, max(HEIGHTS[width], _needed(names, WRAP[width]))).subplots()
    tidy(axes)
    if title is not None:
        axes.set_title(title)
    return axes


def _needed(names: Iterable[str], wrap: int) -> float:
    """Return the height in inches that labels need beside axes."""
    return (LINE * sum(wrapped(name, wrap).count("\n") + 1 for name in names) + FRAME) / 72.0


def _once(ends: Sequence[Sequence[End]], columns: int) -> list[list[End]]:
    """Keep every policy's end only in one panel: the last in the right column that has it, else the last of all."""
    right = [k for k in range(len(ends)) if (k + 1) % columns == 0]
    home: dict[str, int] = {}
    for k in [*(k for k in range(len(ends)) if k not in right), *right]:
        home.update({end.name: k for end in ends[k]})
    return [[end for end in found if home[end.name] == k] for k, found in enumerate(ends)]


def new_figure(width: Width, height: float) -> "Figure":
    """Return a figure that no global list holds, ``height`` in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTHS[width], height), layout="constrained")


def draw_lines(axes: "Axes", panel: Series, look: Mapping[str, Look], log: tuple[bool, bool]) -> list[End]:
    """Draw means with bands and return the ends of the lines."""
    faint = min(0.18, 0.8 / len(panel.means))
    for name, (mean, low, high) in panel.means.items():
        style = look[name]
        if np.isfinite(low).any():
            axes.fill_between(panel.x, _drawable(low, log), high, color=style.colour, alpha=faint, linewidth=0.0)
        line = np.where(mean > 0.0, mean, np.nan) if log[1] else mean
        point = style.marker if panel.x.size == 1 else "none"
        kind: dict[str, Any] = {"color": style.colour, "linestyle": style.dashes, "marker": point, "markersize": 4.0}
        axes.plot(panel.x, line, zorder=2.0 + style.depth, clip_on=panel.x.size > 1, **kind)
    return [_end(name, panel.x, mean, look) for name, (mean, _, _) in panel.means.items()]


def draw_bars(axes: "Axes", panel: Series, look: Mapping[str, Look], log: tuple[bool, bool]) -> list[End]:
    """Draw means as markers with bars, joined by lines, side by side where they share a setting; return the last."""
    u = np.log(panel.x) if log[0] else panel.x
    step = min(0.01 * (u[-1] - u[0]), 0.5 * float(np.diff(u).min()) / len(panel.means)) if u.size > 1 else 0.04
    ends = []
    for k, (name, (mean, low, high)) in enumerate(panel.means.items()):
        style, known = look[name], np.isfinite(mean)
        shifted = u + step * (k - (len(panel.means) - 1) / 2.0)
        x = np.exp(shifted) if log[0] else shifted
        line: dict[str, Any] = {"color": style.colour, "linewidth": 0.9, "zorder": 2.0 + style.depth}
        if np.isfinite(low).any():
            axes.vlines(x, _drawable(low, log), high, **line)
        axes.plot(x[known], mean[known], linestyle=style.dashes, **line)
        face: dict[str, Any] = {"markersize": 4.0, "markeredgewidth": 0.5, "markeredgecolor": "white"}
        axes.plot(x[known], mean[known], style.marker, color=style.colour, zorder=3.0 + style.depth, **face)
        ends.append(_end(name, x, mean, look))
    return ends


def _drawable(low: Array, log: tuple[bool, bool]) -> Array:
    return np.maximum(low, np.finfo(np.float64).tiny) if log[1] else low


def _end(name: str, x: Array, mean: Array, look: Mapping[str, Look]) -> End:
    k = np.flatnonzero(np.isfinite(mean))[-1]
    return End(name, float(x[k]), float(mean[k]), look[name])
