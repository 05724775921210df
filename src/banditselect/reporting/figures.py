"""Figures from plain arrays: curves over rounds, panels of them, final values against a setting, ranks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import constraints, errors, inputs
from ..statistics import Interval, mean_interval, replicates
from ..types import Array
from .labels import End, label_ends, wrapped
from .scales import Series, is_log, set_places, set_rounds, set_y
from .style import COLOURS, DASHES, INK, SMALL, WIDTHS, Look, Width, house_style, looks, tidy
from .tables import check_mapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, ArrayLike]

SHARED = 5.0  #: panels whose largest means differ by less than this factor share the vertical axis
HEIGHTS = {"column": 2.2, "page": 2.7, "panel": 1.7}  #: inches
SIDE_BY_SIDE = {"column": 2, "page": 4}  #: panels in a row
WRAP = {"column": 18, "page": 30}  #: characters in a line of a label
LINE, RANK, FRAME = 10.5, 12.0, 40.0  #: points of height for a label and for a rank, and above and below the axes
GREY = "#BBBBBB"
DECADE = 10.0  #: settings further apart than this factor are shown on a log axis
ROW, NARROW = 1.55, 17  #: inches of a row of `plot_rows`; characters in a line of a label there
POINTS = 25  #: of a curve in a panel, so that a page of many figures stays small

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
    log: bool | None = None,
    title: str | None = None,
    width: Width = "column",
) -> "Figure":
    """Draw the mean of every policy over the rounds, with a band of Student's 95 % interval and its name at the end.

    Parameters
    ----------
    checkpoints: rounds, ``(C,)``, increasing.
    curves: by policy, ``(C, R)`` for R replicates; a policy whose values are all NaN is left out.
    metric: what the values are, in words.
    axes: where to draw; by default a new figure that no global list holds.
    log: whether the vertical axis is logarithmic; by default if the last means are positive and differ by a factor
        above 30.
    title: above the axes.
    width: of a new figure and its labels, that of a column or of the page of a two-column paper.
    """
    label, panel = _label(metric, width), read_curves("", checkpoints, curves, metric)
    with house_style():
        axes = _axes(axes, width, panel.means, title)
        ends = draw_lines(axes, panel, [panel], looks(list(curves)), is_log(log, [panel]), 5)
        axes.set(xlabel="round", ylabel=label)
        label_ends(axes, ends, wrap=WRAP[width])
        return axes.figure.figure


def plot_panels(
    panels: Mapping[str, tuple[ArrayLike, Curves]], *, metric: str, log: bool | None = None, width: Width = "page"
) -> "Figure":
    """Draw one small panel of curves per problem; a policy looks the same in all of them and is named once.

    The panels share the vertical axis if it is logarithmic or their largest means differ by a factor below 5.

    Parameters
    ----------
    panels: by title, checkpoints ``(C,)`` and curves as in `plot_curves`.
    metric, log, width: as in `plot_curves`.
    """
    label, drawn = _label(metric, width), read_panels(panels, metric)
    every = list(drawn.values())
    log = is_log(log, every)
    tops = [max(np.nanmax(mean.estimate) for mean in panel.means.values()) for panel in every]
    share = log or bool(max(tops) < SHARED * min(tops))
    look = looks(list(dict.fromkeys(name for _, curves in panels.values() for name in curves)))
    rows = ceil(len(drawn) / SIDE_BY_SIDE[width])
    columns = ceil(len(drawn) / rows)
    with house_style():
        height = rows * max(HEIGHTS["panel"], *(_needed(panel.means, WRAP["column"]) for panel in every))
        cells = list(new_figure(width, height).subplots(rows, columns, squeeze=False).flat)
        for unused in cells[len(drawn) :]:
            unused.remove()
        ends = []
        for k, (axes, (title, panel)) in enumerate(zip(cells, drawn.items(), strict=False)):
            last_row, first_column = k + columns >= len(drawn), k % columns == 0
            ends.append(draw_lines(axes, panel, every if share else [panel], look, log, 4))
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
    log: bool | None = None,
    title: str | None = None,
    width: Width = "column",
) -> "Figure":
    """Draw the mean final value of every policy against a setting of the problem, with bars of Student's 95 % interval.

    The horizontal axis is logarithmic if the settings span more than a decade.

    Parameters
    ----------
    values: by problem and policy, ``(R,)``; a policy that is missing or NaN in a problem is left out there.
    metric: what the values are, in words.
    setting: what the problems differ in, in words.
    x: the setting of every problem as a number, increasing; by default the keys of ``values``, which stand at equal
        distances where they are not numbers.
    axes, log, title, width: as in `plot_curves`; ``log`` with all means.
    """
    label = _label(metric, width)
    check_mapping("values", values)
    for key, finals in values.items():
        check_mapping(f"values[{key!r}]", finals)
    keys = list(values)
    names = list(dict.fromkeys(name for finals in values.values() for name in finals))
    if x is None and all(isinstance(key, int | float | np.number) for key in keys):
        x = keys
    places = np.arange(float(len(keys))) if x is None else increasing("x", x, len(keys))
    series = read_finals(places, values, names, metric)
    far = bool(0.0 < DECADE * places[0] < places[-1])
    with house_style():
        axes = _axes(axes, width, series.means, title)
        ends = draw_bars(axes, series, looks(names), far, is_log(log, [series], all_means=True))
        set_places(axes, places, [str(key) for key in keys] if x is None else None, far)
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
    label, read = _label(metric, "page"), read_panels(panels, metric)
    names = list(dict.fromkeys(name for _, curves in panels.values() for name in curves))
    groups = [group for inside in (False, True) if (group := [n for n in names if (n in added) == inside])]
    solid = looks([name for group in groups for name in group])
    look = {n: own._replace(dashes=DASHES[n in added], depth=float(n in added)) for n, own in solid.items()}
    with house_style():
        figure = new_figure("page", ROW * len(groups) + 0.25)
        grid = figure.subplots(len(groups), len(panels), squeeze=False, sharex=True, sharey=True)
        for row, (group, cells) in enumerate(zip(groups, grid, strict=True)):
            for axes, (title, panel) in zip(cells, read.items(), strict=True):
                for name in panel.means if row else ():
                    if name not in added:
                        axes.plot(panel.x, panel.means[name].estimate, color=GREY, linewidth=0.8)
                own = Series(panel.x, {name: panel.means[name] for name in group if name in panel.means})
                ends = draw_lines(axes, own, list(read.values()), look, False, 4 if len(read) < 4 else 2)
                axes.set(title=title if row == 0 else "", xlabel="round" if row == len(groups) - 1 else "")
            cells[0].set_ylabel(label)
            label_ends(axes, ends, wrap=NARROW)
        return figure


def plot_ranks(ranks: Mapping[str, ArrayLike], *, title: str | None = None) -> "Figure":
    """Draw a line per policy, the best on top: dots for ranks, larger where problems share one, a bar for their mean.

    ``ranks``: by policy, where it came on every problem that it played, ``(problems,)``, from 1.
    """
    from matplotlib.ticker import MaxNLocator

    check_mapping("ranks", ranks)
    expected = "numbers from 1, one for every problem"
    found = {name: replicates(f"ranks[{name!r}]", one, expected, lambda row: row >= 1.0) for name, one in ranks.items()}
    order = sorted(found, key=lambda name: float(found[name].mean()))
    with house_style():
        axes = new_figure("column", (RANK * len(order) + FRAME) / 72.0).subplots()
        tidy(axes)
        for y, name in enumerate(order):
            places, counts = np.unique(found[name], return_counts=True)
            dots: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.45, "linewidths": 0.0, "zorder": 2.0}
            axes.scatter(places, np.full(places.size, y), s=14.0 * counts, **dots)
            axes.plot(found[name].mean(), y, "|", color=INK, markersize=9.0, markeredgewidth=1.5, zorder=3.0)
        axes.set_yticks(range(len(order)), order, fontsize=SMALL)
        axes.set_ylim(len(order) - 0.4, -0.6)
        last = max(float(one.max()) for one in found.values())
        axes.set_xlim(0.5, last + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", linewidth=0.3, color="#cccccc")
        axes.set(xlabel="rank")
        axes.set_title(title or "")
        return axes.figure.figure


def _label(metric: str, width: str) -> str:
    """Return the metric as an axis names it; refuse other widths."""
    constraints.OneOf(tuple(WIDTHS)).check("width", width, None)
    if not isinstance(metric, str) or not metric.strip():
        raise errors.refuse("metric", metric, "words")
    return WORDS.get(metric, metric.replace("_", " "))


def read_panels(panels: Mapping[str, tuple[ArrayLike, Curves]], metric: str) -> dict[str, Series]:
    """Return means and intervals by title, at no more than ``POINTS`` checkpoints."""
    check_mapping("panels", panels)
    found = {}
    for title, pair in panels.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise errors.refuse(f"panels[{title!r}]", pair, "a pair (checkpoints, curves)")
        x, means = read_curves(f"panels[{title!r}]: ", *pair, metric)
        few = np.unique(np.linspace(0, x.size - 1, min(x.size, POINTS)).round().astype(int))
        found[title] = Series(x[few], {name: Interval(*(part[few] for part in i)) for name, i in means.items()})
    return found


def read_curves(owner: str, checkpoints: Any, curves: Curves, metric: str) -> Series:
    """Return means and intervals of ``curves``, ``(C, R)`` each, without those that are NaN everywhere."""
    x = increasing(f"{owner}checkpoints", checkpoints)
    check_mapping(f"{owner}curves", curves)
    expected = f"numbers of shape ({x.size}, R), one row per checkpoint; a row with a NaN has no mean"
    found = {}
    for name, curve in curves.items():
        y = inputs.as_floats(f"{owner}curves[{name!r}]", curve, expected)
        if y.ndim != 2 or y.shape[0] != x.size or not y.shape[1] or np.isinf(y).any():
            raise errors.refuse(f"{owner}curves[{name!r}]", curve, expected)
        found[name] = mean_interval(y)
    return _series(x, f"{owner}curves", found, metric)


def increasing(name: str, values: Any, size: int | None = None) -> Array:
    """Return finite numbers ``(C,)`` that increase; refuse others."""
    expected = f"{'' if size is None else f'{size} '}finite numbers that increase"
    x = inputs.as_floats(name, values, expected)
    if x.ndim != 1 or not 0 < x.size == (size or x.size) or not np.isfinite(x).all() or (np.diff(x) <= 0).any():
        raise errors.refuse(name, values, expected)
    return x


def read_finals(x: Array, values: Mapping[Any, Mapping[str, ArrayLike]], names: Sequence[str], metric: str) -> Series:
    """Return means and intervals of ``values``, by problem and policy ``(R,)``; what is missing is NaN."""
    expected, found = "numbers of shape (R,), NaN where there is none", {}
    for name in names:
        means = []
        for key, own in values.items():
            row = replicates(f"values[{key!r}][{name!r}]", own.get(name, [np.nan]), expected, lambda v: ~np.isinf(v))
            means.append(mean_interval(row))
        found[name] = Interval(*(np.array(part) for part in zip(*means, strict=True)))
    return _series(x, "values", found, metric)


def _series(x: Array, owner: str, found: Mapping[str, Interval], metric: str) -> Series:
    """Return the intervals of policies that have the metric; those of shares lie between 0 and 1."""
    known = {name: parts for name, parts in found.items() if np.isfinite(parts.estimate).any()}
    if not known:
        raise errors.refuse(owner, list(found), f"at least one policy that has the metric {metric!r}: all are NaN")
    if metric in SHARES:
        known = {name: Interval(*(np.clip(part, 0.0, 1.0) for part in parts)) for name, parts in known.items()}
    return Series(x, known)


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


def draw_lines(
    axes: "Axes", panel: Series, like: Sequence[Series], look: Mapping[str, Look], log: bool, ticks: int
) -> list[End]:
    """Draw means with bands on axes that suit all panels ``like`` this one; return the ends of the lines."""
    tidy(axes)
    set_y(axes, like, log, ticks)
    set_rounds(axes, panel.x, ticks)
    faint = min(0.18, 0.8 / max(1, len(panel.means)))
    for name, (mean, low, high) in panel.means.items():
        style, alone = look[name], panel.x.size == 1
        if np.isfinite(low).any():
            axes.fill_between(panel.x, low, high, color=style.colour, alpha=faint, linewidth=0.0)
        point: dict[str, Any] = {"marker": style.marker if alone else "none", "markersize": 4.0, "clip_on": not alone}
        axes.plot(panel.x, mean, color=style.colour, linestyle=style.dashes, zorder=2.0 + style.depth, **point)
    return [_end(name, panel.x, mean, look) for name, (mean, _, _) in panel.means.items()]


def draw_bars(axes: "Axes", panel: Series, look: Mapping[str, Look], far: bool, log: bool) -> list[End]:
    """Draw means as markers with bars, joined by lines, side by side where they share a setting; return the last.

    ``far``, ``log``: whether the horizontal, the vertical axis is logarithmic.
    """
    set_y(axes, [panel], log, 5)
    u = np.log(panel.x) if far else panel.x
    step = min(0.01 * (u[-1] - u[0]), 0.5 * float(np.diff(u).min()) / len(panel.means)) if u.size > 1 else 0.04
    ends = []
    for k, (name, (mean, low, high)) in enumerate(panel.means.items()):
        shifted = u + step * (k - (len(panel.means) - 1) / 2.0)
        x, known, style = np.exp(shifted) if far else shifted, np.isfinite(mean), look[name]
        bars: dict[str, Any] = {"color": style.colour, "linewidth": 0.9, "zorder": 2.0 + style.depth}
        point: dict[str, Any] = {"marker": style.marker, "markersize": 4.0}
        point |= {"markeredgewidth": 0.5, "markeredgecolor": "white"}
        error = np.where(np.isnan(low), 0.0, [mean - low, high - mean])[:, known]
        axes.errorbar(x[known], mean[known], error, linestyle=style.dashes, **bars, **point)
        ends.append(_end(name, x, mean, look))
    return ends


def _end(name: str, x: Array, mean: Array, look: Mapping[str, Look]) -> End:
    k = np.flatnonzero(np.isfinite(mean))[-1]
    return End(name, float(x[k]), float(mean[k]), look[name])
