"""From records to decisions: feature maps and a policy put together, a learner for every key."""

from .agent import Agent
from .choices import Choice
from .explanations import Explanation

__all__ = ["Agent", "Choice", "Explanation"]
