"""Results as figures, tables and one HTML page. Takes plain arrays and words, and knows nothing of what made them."""

from .files import save_figure
from .plots import plot_curves, plot_finals, plot_panels
from .ranks import plot_ranks
from .rows import plot_rows
from .tables import latex_table, summary_table

__all__ = [
    "latex_table",
    "plot_curves",
    "plot_finals",
    "plot_panels",
    "plot_ranks",
    "plot_rows",
    "save_figure",
    "summary_table",
]
