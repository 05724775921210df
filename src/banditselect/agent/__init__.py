"""From records to decisions: feature maps and a policy combined, a learner for every key."""

from .agent import Agent
from .decision import AgentDecision
from .explanations import Explanation

__all__ = ["Agent", "AgentDecision", "Explanation"]
