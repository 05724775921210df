"""Regions of the parameter out of past tasks: fits that know their errors, a mixture, what plays with it."""

from .found import Regions, from_fits, from_tasks, load
from .sequence import TaskSequence

__all__ = ["Regions", "TaskSequence", "from_fits", "from_tasks", "load"]
