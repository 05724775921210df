"""Problems that policies play: the contract, those of the paper's experiments, and tables with classes."""

from .base import Instances, Problem
from .contexts import ContextPerMap
from .labelled_items import Classification
from .latent import LatentBandit
from .multiclass import ClassesAsArms
from .replay import LoggedReplay
from .synthetic import (
    SwitchingFeatureSelection,
    SwitchingParameterSelection,
    SyntheticFeatureSelection,
    SyntheticParameterSelection,
)
from .tasks import SyntheticTasks

__all__ = [
    "ClassesAsArms",
    "Classification",
    "ContextPerMap",
    "Instances",
    "LatentBandit",
    "LoggedReplay",
    "Problem",
    "SwitchingFeatureSelection",
    "SwitchingParameterSelection",
    "SyntheticFeatureSelection",
    "SyntheticParameterSelection",
    "SyntheticTasks",
]
