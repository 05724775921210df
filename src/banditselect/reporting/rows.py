"""A figure of panels in two rows: the policies of a paper above, those that were added to them below."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..statistics import Interval
from .drawing import draw_lines, new_figure
from .labels import label_ends
from .scales import set_rounds, set_y
from .series import check_options, increasing, read_curves
from .style import COLOURS, DASHES, INKS, Look, house_style, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREY = "#BBBBBB"
HEIGHT, WRAP = 1.55, 17  #: inches of a row; characters in a line of a label
POINTS = 50  #: of a curve, so that a page of many figures stays small


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
        figure = new_figure("page", HEIGHT * len(groups) + 0.25)
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
                    label_ends(axes, ends, wrap=WRAP)
        return figure
