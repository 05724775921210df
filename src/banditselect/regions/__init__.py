"""Regions of the parameter from past tasks: fits with their errors, a mixture, and policies that use it."""

from .regions import Regions, from_fits, from_tasks
from .sequence import TaskSequence

__all__ = ["Regions", "TaskSequence", "from_fits", "from_tasks"]
