"""Logged decisions: read from tables, replayed to a learner, and asked what another policy would have earned."""

from .features import CrossedItems, DisjointArms, OfferedItems
from .log import Log
from .off_policy import Estimate, Estimates, evaluate
from .replay import LoggedReplay

__all__ = ["CrossedItems", "DisjointArms", "Estimate", "Estimates", "Log", "LoggedReplay", "OfferedItems", "evaluate"]
