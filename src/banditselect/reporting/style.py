"""The look of figures, and the files they become: sizes, colours, dashes, bytes.

Matplotlib is imported when it is used. The bytes depend on the data alone, so that running again changes nothing.
"""

import io
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..runtime import errors
from ..runtime.extras import need
from ..runtime.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Width = Literal["column", "page"]

STYLE = Path(__file__).with_name("banditselect.mplstyle")
WIDTHS = {"column": 3.35, "page": 6.9}  #: inches
FONT, TEXT, SMALL, INK = "DejaVu Sans", 8.0, 7.5, "#222222"  #: as in the style sheet; sizes in points

# Okabe and Ito's colours (their yellow cannot be read as text, a dark brown replaces it), and as inks: darkened until
# their contrast with white is 4 to 1
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#333333", "#E69F00", "#56B4E9", "#661100")
INKS = ("#0072B2", "#CF5B00", "#009069", "#AF688F", "#333333", "#A57200", "#3F85AC", "#661100")
DASHES: tuple[Any, ...] = ("-", (0, (5.0, 1.4)), (0, (6.0, 1.4, 1.2, 1.4)), (0, (1.4, 1.1)))
MARKERS = "osD^v"

# what would make the bytes depend on the day or on the version
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


class Look(NamedTuple):
    """The look of a policy in every panel."""

    colour: str
    ink: str  # the colour, dark enough to be read as text
    dashes: Any
    marker: str
    depth: float  # dashed lines lie over solid ones, which show through the gaps


def house_style() -> AbstractContextManager[None]:
    """Apply the style inside the block, then restore the settings of the user."""
    return need("matplotlib.style", "experiments").context(["default", str(STYLE)])


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for every name, by its place; the first 32 differ in colour or dashes, neighbours in both."""
    found = {}
    for i, name in enumerate(names):
        k, dashes = i % len(COLOURS), (i + i // len(COLOURS)) % len(DASHES)
        found[name] = Look(COLOURS[k], INKS[k], DASHES[dashes], MARKERS[i % len(MARKERS)], dashes / 10.0)
    return found


def tidy(axes: "Axes") -> None:
    """Give any axes the fonts and ticks of this style, also for ticks that are made later."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=SMALL, labelfontfamily=FONT, color=INK, labelcolor=INK)


def figure_bytes(figure: "Figure", kind: str) -> bytes:
    """Return a figure as PNG (200 dots per inch), SVG or PDF; the same data give the same bytes."""
    content = io.BytesIO()
    with house_style():
        figure.savefig(content, format=kind, dpi=200, metadata=METADATA[kind])
    return _slim(content.getvalue().decode()).encode() if kind == "svg" else content.getvalue()


def _slim(svg: str) -> str:
    """Return an SVG without what draws nothing: names of groups, comments, indentation, and tiny parts of a point."""
    short = re.sub(r'<!--.*?-->|(?<=<g) id="[^"]*"|(?<=\n) +', "", svg, flags=re.DOTALL)
    return re.sub(r' d="([^"CQ]*)"', _relative, short)


def _relative(path: re.Match[str]) -> str:
    """Return a path of lines, each from the end of the one before, in tenths of a point."""
    words, x, y, before = [], 0, 0, ""
    for letter, a, b in re.findall(r"([MLz])(?: ([-.\d]+) ([-.\d]+))?", " ".join(path[1].split())):
        u, v = (round(10.0 * float(a)), round(10.0 * float(b))) if a else (x, y)
        step = f"{(u - x) / 10:g} {(v - y) / 10:g}" if letter == "L" else f"{u / 10:g} {v / 10:g}" if a else ""
        words.append(step if before == letter == "L" else letter.replace("L", "l") + step)
        x, y, before = u, v, letter
    return f' d="{" ".join(words).replace(" -", "-")}"'


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> Path:
    """Write a figure as PNG (200 dots per inch), SVG or PDF, by the suffix of ``path``, and return the path.

    Folders are made as needed, a file that is there is replaced in one step, and the same data give the same bytes.
    Text stays text in SVG and embedded TrueType in PDF.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in METADATA:
        raise errors.refuse("path", str(path), "a file name that ends in " + ", ".join(f".{kind}" for kind in METADATA))
    content = figure_bytes(figure, kind)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as file:
        file.write(content)
    return target
