"""The marks of a figure: lines with bands over the rounds, markers with bars over the settings of a problem."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Array
from .labels import End
from .series import Series
from .style import WIDTHS, Look, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
