"""Figures as PNG, SVG and PDF files whose bytes depend on the data alone, so that running again changes nothing."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runtime import errors
from .style import house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# what would make the bytes depend on the day or on the version
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> Path:
    """Write a figure as PNG (200 dots per inch), SVG or PDF, by the suffix of ``path``, and return the path.

    Folders are made as needed, a file that is there is replaced in one step, and the same data give the same bytes.
    Text stays text in SVG and embedded TrueType in PDF.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in METADATA:
        raise errors.refuse("path", str(path), "a file name that ends in " + ", ".join(METADATA))
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with house_style():
            figure.savefig(draft, format=suffix[1:], dpi=200, metadata=METADATA[suffix])
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target
