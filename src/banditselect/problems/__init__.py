"""What policies play against: the contract of a problem, and the problems of the paper's experiments."""

from importlib import import_module
from typing import Any

from .base import Instances, Problem
from .classification import Classification
from .latent import LatentBandit
from .synthetic import SyntheticFeatureSelection, SyntheticParameterSelection
from .tasks import SyntheticTasks

__all__ = [
    "Classification",
    "Instances",
    "LatentBandit",
    "Problem",
    "SyntheticFeatureSelection",
    "SyntheticParameterSelection",
    "SyntheticTasks",
]


def __getattr__(name: str) -> Any:
    """Return what moved to :mod:`banditselect.logs`, for code that still looks for it here."""
    if name in ("Catalogue", "DisjointArms", "Estimate", "Estimates", "Log", "LoggedReplay", "evaluate"):
        return getattr(import_module("banditselect.logs"), "OfferedItems" if name == "Catalogue" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
