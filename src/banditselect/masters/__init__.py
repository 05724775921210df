"""Policies over policies: they choose among their bases, or mix them."""

from ..plays.schedules import LatentReference
from .adaptive_squarecb import AdaptiveSquareCB
from .balancing_elimination import BalancingElimination
from .corral import Corral
from .data_driven import D3RB, ED2RB
from .dynamic_balancing import DynamicBalancing
from .exp4 import EXP4
from .regret_balancing import RegretBalancing

__all__ = ["D3RB", "ED2RB", "EXP4", "AdaptiveSquareCB", "BalancingElimination", "Corral", "DynamicBalancing"]
__all__ += ["LatentReference", "RegretBalancing"]
