"""What policies play against."""

from .base import Instances, Problem
from .synthetic import SyntheticFeatureSelection, SyntheticParameterSelection

__all__ = ["Instances", "Problem", "SyntheticFeatureSelection", "SyntheticParameterSelection"]
