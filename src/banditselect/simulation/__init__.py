"""Policies against problems."""

from .loop import simulate
from .results import Result

__all__ = ["Result", "simulate"]
