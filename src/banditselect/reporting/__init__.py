"""Results as figures and tables. Takes plain arrays and words, and never runs a policy."""

from .figures import plot_curves, plot_finals, plot_panels, plot_ranks, plot_rows
from .style import figure_bytes, save_figure
from .tables import latex_table, summary_table

__all__ = [
    "figure_bytes",
    "latex_table",
    "plot_curves",
    "plot_finals",
    "plot_panels",
    "plot_ranks",
    "plot_rows",
    "save_figure",
    "summary_table",
]
