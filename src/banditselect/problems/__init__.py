"""Problems that policies play: the contract, those of the paper's experiments, and tables with classes."""

from .base import Instances, Problem
from .classes_as_arms import ClassesAsArms
from .classification import Classification
from .contexts import ContextPerMap
from .latent import LatentBandit
from .moods import SwitchingFeatureSelection, SwitchingParameterSelection
from .replay import LoggedReplay
from .synthetic import SyntheticFeatureSelection, SyntheticParameterSelection
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
