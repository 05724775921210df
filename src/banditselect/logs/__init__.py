"""Logged decisions: tables read and written, replay, and what another policy would have earned."""

from .features import Catalogue, DisjointArms
from .log import Log, LoggedReplay
from .off_policy import Estimate, Estimates, evaluate

__all__ = ["Catalogue", "DisjointArms", "Estimate", "Estimates", "Log", "LoggedReplay", "evaluate"]
