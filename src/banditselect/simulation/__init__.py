"""Policies against problems: the loop, sweeps on any engine, a store that loses nothing, results."""

from .cells import Failure
from .loop import METRICS
from .progress import Progress
from .results import Result, Results
from .sweeps import grid, simulate, sweep
from .tuning import Steps, Tuned, tune

__all__ = ["METRICS", "Failure", "Progress", "Result", "Results", "Steps", "Tuned", "grid", "simulate", "sweep", "tune"]
