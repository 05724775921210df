"""What policies play against: the contract of a problem, those of the paper's experiments, and tables with classes."""

from importlib import import_module
from typing import Any

from .base import Instances, Problem
from .classes_as_arms import ClassesAsArms
from .classification import Classification
from .contexts import ContextPerMap
from .latent import LatentBandit
from .moods import SwitchingFeatureSelection, SwitchingParameterSelection
from .synthetic import SyntheticFeatureSelection, SyntheticParameterSelection
from .tasks import SyntheticTasks

__all__ = [
    "ClassesAsArms",
    "Classification",
    "ContextPerMap",
    "Instances",
    "LatentBandit",
    "Problem",
    "SwitchingFeatureSelection",
    "SwitchingParameterSelection",
    "SyntheticFeatureSelection",
    "SyntheticParameterSelection",
    "SyntheticTasks",
]


def __getattr__(name: str) -> Any:
    """Return what moved to :mod:`banditselect.logs`, for code that still looks for it here."""
    if name in ("Catalogue", "DisjointArms", "Estimate", "Estimates", "Log", "LoggedReplay", "evaluate"):
        return getattr(import_module("banditselect.logs"), "OfferedItems" if name == "Catalogue" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
