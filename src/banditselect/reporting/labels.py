"""Names of policies at the ends of their lines instead of a legend, moved apart where they would overlap."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.extras import need
from ..types import Array
from .style import TEXT, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 1.5  #: points between two labels
NEAR, FAR = 4.0, 13.0  #: points between the axes and the labels, without and with leader lines
BELOW, ABOVE = 4.5, 2.0  #: points by which labels may stick out of the axes, clear of ticks and title
MOVED, AWAY = 6.0, 30.0  #: points from a line to its label, up or sideways, beyond which there are leader lines


class End(NamedTuple):
    """Where a line ends, in data coordinates, and what is to be written there."""

    name: str
    x: float
    y: float
    look: Look


def spread(targets: Array, heights: Array, low: float, high: float) -> Array:
    """Return the centres nearest to ``targets (n,)``, in least squares, of intervals that do not overlap.

    The intervals have lengths ``heights (n,)`` and lie between ``low`` and ``high`` if there is room; if there is not,
    they stick out equally on both sides. Their order is that of the targets.

    >>> spread(np.array([5.0, 5.0, 20.0]), np.array([2.0, 2.0, 2.0]), 0.0, 30.0)
    array([ 4.,  6., 20.])
    """
    order = np.argsort(targets, kind="stable")
    h = heights[order]
    offsets = np.concatenate(([0.0], np.cumsum((h[:-1] + h[1:]) / 2.0)))
    free = need("scipy.optimize", "experiments").isotonic_regression(targets[order] - offsets).x
    first, last = low + h[0] / 2.0, high - h[-1] / 2.0 - offsets[-1]
    if first > last:
        first = last = (first + last) / 2.0
    centres = np.empty_like(targets)
    centres[order] = np.clip(free, first, last) + offsets
    return centres


def wrapped(name: str, wrap: int) -> str:
    """Return a name in lines of at most ``wrap`` characters; longer words stay whole."""
    return fill(str(name), wrap, break_long_words=False, break_on_hyphens=False)


def label_ends(axes: "Axes", ends: Sequence[End], *, wrap: int) -> None:
    """Write every name to the right of its line's end, in its colour, wrapped after ``wrap`` characters."""
    from matplotlib.text import OffsetFrom, Text

    if not ends:
        return
    figure, side = axes.figure.figure, OffsetFrom(axes.bbox, (1.0, 0.0), "points")
    labels = []
    for end in ends:
        leader = {"arrowstyle": "-", "linewidth": 0.5, "color": end.look.ink, "shrinkA": 1.5, "shrinkB": 1.5}
        options: dict[str, Any] = {"color": end.look.ink, "fontsize": TEXT, "va": "center", "linespacing": 1.0}
        options |= {"arrowprops": leader | {"relpos": (0.0, 0.5), "patchA": None}, "annotation_clip": False}
        options |= {"xytext": (FAR, 0.5), "textcoords": (side, "axes fraction")}
        labels.append(axes.annotate(wrapped(end.name, wrap), (end.x, end.y), **options))
    points = 72.0 / figure.dpi
    for _ in range(2):  # the labels themselves move the axes a little
        figure.draw_without_rendering()
        frame = axes.get_window_extent()
        # of the text alone: an annotation's extent includes its leader line
        heights = np.array([Text.get_window_extent(label).height for label in labels]) + GAP / points
        targets = np.array([axes.transData.transform((end.x, end.y)) for end in ends])
        centres = spread(targets[:, 1], heights, frame.y0 - BELOW / points, frame.y1 + ABOVE / points)
        moved, away = np.abs(centres - targets[:, 1]), frame.x1 - targets[:, 0]
        leaders = bool(moved.max() * points > MOVED or away.max() * points > AWAY)
        for label, centre in zip(labels, centres, strict=True):
            label.set_position((FAR if leaders else NEAR, float((centre - frame.y0) / frame.height)))
            if label.arrow_patch is not None:
                label.arrow_patch.set_visible(leaders)
