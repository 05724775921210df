"""What policies play against."""

from .base import Instances, Problem
from .classification import Classification
from .latent import LatentBandit
from .log_features import Catalogue, DisjointArms
from .logged import Log, LoggedReplay
from .off_policy import Estimate, Estimates, evaluate
from .synthetic import SyntheticFeatureSelection, SyntheticParameterSelection

__all__ = [
    "Catalogue",
    "Classification",
    "DisjointArms",
    "Estimate",
    "Estimates",
    "Instances",
    "LatentBandit",
    "Log",
    "LoggedReplay",
    "Problem",
    "SyntheticFeatureSelection",
    "SyntheticParameterSelection",
    "evaluate",
]
