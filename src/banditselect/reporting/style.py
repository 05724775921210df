"""How figures look: the sizes of a two-column paper, colours, dashes. Matplotlib is imported only when it is used."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..runtime.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Width = Literal["column", "page"]

WIDTHS = {"column": 3.35, "page": 6.9}  #: inches
TEXT, SMALL = 8.0, 7.5  #: points
INK = "#222222"

# Okabe and Ito's colours (their yellow cannot be read as text, a dark brown stands for it), and as inks: darkened until
# their contrast with white is 4 to 1
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#333333", "#E69F00", "#56B4E9", "#661100")
INKS = ("#0072B2", "#CF5B00", "#009069", "#AF688F", "#333333", "#A57200", "#3F85AC", "#661100")
DASHES: tuple[Any, ...] = ("-", (0, (5.0, 1.4)), (0, (6.0, 1.4, 1.2, 1.4)), (0, (1.4, 1.1)))
MARKERS = "osD^v"

TICKS = {"major.width": 0.6, "major.size": 2.5, "minor.width": 0.4, "minor.size": 1.5, "labelsize": SMALL, "color": INK}
SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a figure is the same on every machine
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), TEXT),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in TICKS.items()},
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelpad": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
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


def house_style() -> AbstractContextManager[None]:
    """Apply the style inside the block, whatever the settings of the user are, and put those back."""
    return need("matplotlib.style", "experiments").context(["default", SETTINGS])


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for every name, by its place; the first 32 differ in colour or dashes, neighbours in both."""
    found = {}
    for i, name in enumerate(names):
        k, dashes = i % len(COLOURS), (i + i // len(COLOURS)) % len(DASHES)
        found[name] = Look(COLOURS[k], INKS[k], DASHES[dashes], MARKERS[i % len(MARKERS)], dashes / 10.0)
    return found


def tidy(axes: "Axes") -> None:
    """Give axes of whatever origin the fonts and ticks of the house, also for ticks that are made later."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=SMALL, labelfontfamily=SETTINGS["font.family"], color=INK, labelcolor=INK)
