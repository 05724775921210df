"""A figure of ranks: where every policy came on every problem, and on average."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import errors
from ..statistics import replicates
from .figures import new_figure
from .style import COLOURS, INK, SMALL, Width, house_style, tidy
from .tables import check_mapping

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE, FRAME = 12.0, 42.0  #: points of height for a policy, and above and below


def plot_ranks(ranks: Mapping[str, ArrayLike], *, title: str | None = None, width: Width = "column") -> "Figure":
    """Draw a line per policy, the best on top: dots for ranks, larger where problems share one, a bar for their mean.

    Parameters
    ----------
    ranks: by policy, where it came on every problem that it played, ``(problems,)``, from 1.
    title: above the axes.
    width: of the figure, that of a column or of the page of a two-column paper.
    """
    from matplotlib.ticker import MaxNLocator

    check_mapping("ranks", ranks)
    expected = "numbers from 1, one for every problem"
    found = {name: replicates(f"ranks[{name!r}]", one, expected, lambda row: row >= 1.0) for name, one in ranks.items()}
    if title is not None and not isinstance(title, str):
        raise errors.refuse("title", title, "words")
    order = sorted(found, key=lambda name: float(found[name].mean()))
    with house_style():
        axes = new_figure(width, (LINE * len(order) + FRAME) / 72.0).subplots()
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
        if title is not None:
            axes.set_title(title)
        return axes.figure.figure
