"""Write the tables of the study into docs/defaults.md, and draw its two figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from banditselect.reporting import save_figure
from banditselect.reporting.figures import new_figure
from banditselect.reporting.style import INK, house_style, looks, tidy

from . import defaults_calibration as calibration
from .pages import DOCS, fill

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

FIGURES = DOCS / "figures"
SHORT = (
    "fs-synthetic",
    "ps-synthetic",
    "linear\nK=10",
    "linear\nK=100",
    "linear\nK=2",
    "classes",
    "coins\n.9/.1",
    "coins\n.5/.4",
)
TOP = 30.0  #: of the axis of multiples; larger ones are written at its edge


def draw_multiples(multiples: Mapping[str, Array]) -> "Figure":
    """Draw the regret of every policy as a multiple of the best, per problem; values ``(problems,)``, NaN for none."""
    look = looks(list(multiples))
    with house_style():
        figure = new_figure("page", 2.9)
        axes = figure.add_subplot()
        width = 0.8 / len(multiples)
        for i, (name, values) in enumerate(multiples.items()):
            place = np.arange(values.size) + (i - 0.5 * (len(multiples) - 1)) * width
            axes.bar(
                place, np.minimum(values, TOP) - 1.0, 0.92 * width, bottom=1.0, color=look[name].colour, label=name
            )
            for x, value in zip(place, values, strict=True):
                if value < 1.005:
                    axes.plot([x - 0.4 * width, x + 0.4 * width], [1.0, 1.0], color=look[name].colour, linewidth=2.5)
                if value > TOP:
                    axes.annotate(f"{value:.0f}", (x, TOP), ha="center", va="bottom", fontsize=6.5, color=INK)
        axes.set_yscale("log")
        axes.set_ylim(0.93, TOP)
        axes.set_yticks([1, 1.5, 2, 3, 5, 10, 20, 30], ["1", "1.5", "2", "3", "5", "10", "20", "30"])
        axes.minorticks_off()
        axes.axhline(1.0, color=INK, linewidth=0.6)
        axes.set_xticks(range(len(SHORT)), SHORT)
        axes.set_ylabel("regret, multiple of the best")
        axes.set_title("One default for everything: regret after 2,000 rounds, every policy at its defaults", pad=18.0)
        figure.legend(loc="upper right", bbox_to_anchor=(1.0, 0.945), ncols=len(multiples), frameon=False)
        tidy(axes)
    return figure


def draw_reliability(found: Mapping[str, list[dict[str, Any]]]) -> "Figure":
    """Draw the frequency of right winners against their weight: if a map is right, and for the other kinds."""
    with house_style():
        figure = new_figure("page", 3.3)
        left, right = figure.subplots(1, 2, sharey=True)
        names = {"FSIDS": "FSIDS, at its defaults", "FSSquareCB": "FSSquareCB, at its defaults"}
        series = {words: calibration.winners(found["linear"], name)[:2] for name, words in names.items()}
        others = {k: calibration.winners(runs, "FSIDS")[:2] for k, runs in found.items() if k != "linear"}
        panels = (
            (left, series, f"a map is right, Gaussian noise, n = {len(found['linear'])}"),
            (right, others, "FSIDS where assumptions fail"),
        )
        for axes, lines, title in panels:
            axes.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.6)
            for (name, (weight, hit)), look in zip(lines.items(), looks(list(lines)).values(), strict=True):
                rows = [row for row in calibration.reliability(weight, hit) if row[1] >= 10]
                claimed, share, low, high = (np.array([row[i] for row in rows]) for i in (2, 3, 4, 5))
                bars = np.maximum([share - low, high - share], 0.0)
                axes.errorbar(
                    claimed,
                    share,
                    bars,
                    color=look.colour,
                    marker=look.marker,
                    markersize=3.5,
                    label=name,
                    linewidth=0.9,
                )
            axes.set_title(title)
            axes.set_xlabel("weight of the winning map")
            axes.legend(loc="upper left", frameon=False)
            axes.set_xlim(0.0, 1.02)
            axes.set_ylim(0.0, 1.02)
            tidy(axes)
        left.set_ylabel("how often it is right")
    return figure


def write(tables: Mapping[str, str], multiples: Mapping[str, Array], found: Mapping[str, list[dict[str, Any]]]) -> None:
    """Write the page and the figures."""
    save_figure(draw_multiples(multiples), FIGURES / "one-default.png")
    save_figure(draw_reliability(found), FIGURES / "calibration.png")
    fill(DOCS / "defaults.md", tables)
