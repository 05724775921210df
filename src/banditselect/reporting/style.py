"""How figures look: the sizes of a two-column paper, colours, dashes. Matplotlib is imported only when it is used."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..carriers.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Width = Literal["column", "page"]

WIDTHS = {"column": 3.35, "page": 6.9}  #: inches
TEXT, SMALL = 8.0, 7.5  #: points
INK = "#222222"

# Okabe and Ito's colours; their yellow cannot be read as text, a dark brown stands for it
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#333333", "#E69F00", "#56B4E9", "#661100")
DASHES: tuple[Any, ...] = ("-", (0, (5.0, 1.4)), (0, (6.0, 1.4, 1.2, 1.4)), (0, (1.4, 1.1)))
MARKERS = "osD^v"

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a figure is the same on every machine
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelpad": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.2,
    "figure.dpi": 100.0,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.wspace": 0.04,
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "svg.fonttype": "none",
    "svg.hashsalt": "banditselect",
}


class Look(NamedTuple):
    """How one policy is drawn in every panel."""

    colour: str
    ink: str  # the colour, dark enough to be read as text
    dashes: Any
    marker: str
    depth: float  # dashed lines lie over solid ones, which show through the gaps


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the style inside the block, whatever the settings of the user are, and put those back."""
    with need("matplotlib.style", "experiments").context(["default", SETTINGS]):
        yield


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for every name, by its place; the first 32 differ in colour or dashes, neighbours in both."""
    found = {}
    for name, i in zip(names, count()):
        colour = COLOURS[i % len(COLOURS)]
        dashes = (i + i // len(COLOURS)) % len(DASHES)
        found[name] = Look(colour, _ink(colour), DASHES[dashes], MARKERS[i % len(MARKERS)], dashes / 10.0)
    return found


def _ink(colour: str) -> str:
    """Return a colour darkened until its contrast with white is 4 to 1."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    while 1.05 / (_luminance(rgb) + 0.05) < 4.0:
        rgb = 0.97 * rgb
    return "#" + "".join(f"{round(255 * float(part)):02X}" for part in rgb)


def _luminance(rgb: Any) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def tidy(axes: "Axes") -> None:
    """Give axes of whatever origin the fonts and ticks of the house, also for ticks that are made later."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=SMALL, labelfontfamily=SETTINGS["font.family"], color=INK, labelcolor=INK)
