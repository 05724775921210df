"""Axes: linear or logarithmic, their ends and ticks."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..runtime import errors
from ..statistics import Interval
from ..types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

RATIO = 30.0  #: means further apart than this factor are shown on a log axis
LETTER = 5.0  #: points of width
ROOM = 0.5  #: bands make the vertical axis longer by at most this share


class Series(NamedTuple):
    """The content of a panel: ``x (C,)``, and intervals ``(C,)`` by policy."""

    x: Array
    means: Mapping[str, Interval]


def is_log(log: bool | None, panels: Sequence[Series], *, all_means: bool = False) -> bool:
    """Return whether the vertical axis is logarithmic: by default by the last means, or by all."""
    if not isinstance(log, bool | None):
        raise errors.refuse("log", log, "True, False or None")
    means = [i.estimate[np.isfinite(i.estimate)] for panel in panels for i in panel.means.values()]
    y = np.concatenate([mean if all_means else mean[-1:] for mean in means])
    if log and y.min() <= 0.0:
        raise errors.refuse("log", log, f"False: the lowest mean is {y.min():g}")
    return bool(0.0 < RATIO * y.min() < y.max()) if log is None else log


def set_y(axes: "Axes", panels: Sequence[Series], log: bool, number: int) -> None:
    """Set up the vertical axis for several panels together: all means, bands where they do not dwarf the means."""
    axes.set_yscale("log" if log else "linear")
    intervals = [i for panel in panels for i in panel.means.values()]
    mean, lows, highs = (np.concatenate(parts) for parts in zip(*intervals, strict=True))
    low, high = float(np.nanmin(mean)), float(np.nanmax(mean))
    if log:
        last = min(i.estimate[np.isfinite(i.estimate)][-1] for i in intervals)
        axes.set_ylim(max(float(mean[mean > 0.0].min()), last / RATIO) / 1.2, high * 1.35)
    else:
        room = ROOM * (high - low) or 0.05 * abs(high) or 1.0
        bottom, top = max(low - room, np.nanmin([low, *lows])), min(high + room, np.nanmax([high, *highs]))
        pad = 0.04 * (top - bottom) or 0.05 * abs(high) or 1.0
        floor, ceiling = low >= 0.0 and bottom < 0.5 * top, low >= 0.0 and 0.8 < high <= 1.0
        axes.set_ylim(0.0 if floor else bottom - pad, 1.02 if ceiling else top + pad)
    _ticks(axes.yaxis, number, log=log)


def set_rounds(axes: "Axes", x: Array, number: int) -> None:
    """Set up a horizontal axis of rounds."""
    near_zero = 0.0 < x[0] < 0.1 * x[-1] or (x.size == 1 and x[0] > 0.0)
    start = 0.0 if near_zero else float(x[0])
    axes.set_xlim(start, float(x[-1]) if x[-1] > start else 2.0 * start + 1.0)
    _ticks(axes.xaxis, number, whole=True)


def set_places(axes: "Axes", x: Array, words: Sequence[str] | None, log: bool) -> None:
    """Put ticks at the settings: numbers without those that would touch; long words on several lines, or aslant."""
    axes.set_xscale("log" if log else "linear")
    u = np.log(x) if log else x
    pad = 0.06 * (u[-1] - u[0]) or 0.5  # so that the markers beside the first setting clear the axis
    low, high = float(u[0] - pad), float(u[-1] + pad)
    axes.set_xlim((exp(low), exp(high)) if log else (low, high))
    axes.set_xticks([], minor=True)
    if words is None:
        apart = [0]
        for k in range(1, x.size):
            if u[k] - u[apart[-1]] > 0.1 * (u[-1] - u[0]):
                apart.append(k)
        axes.set_xticks(x[apart], [human(v, x[-1]) for v in x[apart]])
        return
    room = 0.6 * 72.0 * float(axes.figure.figure.get_figwidth()) / len(words) / LETTER
    broken = [word if len(word) <= room else word.replace(", ", ",\n") for word in words]
    aslant = max(len(line) for word in broken for line in word.split("\n")) > room
    axes.set_xticks(x, words if aslant else broken, rotation=30 * aslant, ha="right" if aslant else "center")


def human(value: float, top: float) -> str:
    """Return a number as a tick says it, on an axis that ends at ``top``: 250, 1,500, 20k, 3M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit and top >= (unit if unit > 1e3 else 1e4):
            return f"{value / unit:g}{letter}".replace("-", "\N{MINUS SIGN}")
    text = f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _ticks(axis: "Axis", number: int, *, log: bool = False, whole: bool = False) -> None:
    """Put about ``number`` readable ticks on an axis; ``whole``: at whole numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    if log:
        subs = (1.0, 2.0, 5.0) if high < 30.0 * low else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=number + 2))
        axis.set_minor_formatter(NullFormatter())
    else:
        steps, bins = ([1, 2, 5, 10], number + 1) if high - low < 2.0 else ([1, 2, 2.5, 5, 10], number)
        axis.set_major_locator(MaxNLocator(nbins=bins, steps=steps, integer=whole))
    top = max(abs(float(low)), abs(float(high)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: human(value, top)))
