"""Results as figures, tables and comparisons. Takes plain arrays and never simulates."""

from .files import save_figure
from .plots import plot_curves, plot_finals, plot_panels
from .statistics import Comparison, Interval, bootstrap_interval, mean_interval, paired_difference, share_interval
from .tables import summary_table

__all__ = [
    "Comparison",
    "Interval",
    "bootstrap_interval",
    "mean_interval",
    "paired_difference",
    "plot_curves",
    "plot_finals",
    "plot_panels",
    "save_figure",
    "share_interval",
    "summary_table",
]
