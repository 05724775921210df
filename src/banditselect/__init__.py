"""Linear bandits that choose their own model."""

__version__ = "0.1.0"

from . import logs, maps, masters, problems, regions, rivals, theory
from .actions.catalogue import Catalogue
from .actions.crossing import cross_features
from .actions.ellipsoid import Ball, Ellipsoid
from .agent import Agent, AgentDecision, Explanation
from .masters import RegretBalancing
from .plays.schedules import Power
from .policies import (
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    OFUL,
    PSIDS,
    PSOFUL,
    PSTS,
    BiasOFUL,
    Decision,
    FSSquareCB,
    Greedy,
    LinIDS,
    LinMED,
    LinTS,
    OnMap,
    Policy,
    SquareCB,
    Uniform,
    given,
    load,
    on_every_ball,
    on_every_map,
    on_map,
    register,
)
from .simulation import Result, Results, Steps, grid, simulate, sweep, tune
from .types import Blocked

__all__ = [
    "FSIDS",
    "FSMED",
    "FSOFUL",
    "FSTS",
    "OFUL",
    "PSIDS",
    "PSOFUL",
    "PSTS",
    "Agent",
    "AgentDecision",
    "Ball",
    "BiasOFUL",
    "Blocked",
    "Catalogue",
    "Decision",
    "Ellipsoid",
    "Explanation",
    "FSSquareCB",
    "Greedy",
    "LinIDS",
    "LinMED",
    "LinTS",
    "OnMap",
    "Policy",
    "Power",
    "RegretBalancing",
    "Result",
    "Results",
    "SquareCB",
    "Steps",
    "Uniform",
    "cross_features",
    "given",
    "grid",
    "load",
    "logs",
    "maps",
    "masters",
    "on_every_ball",
    "on_every_map",
    "on_map",
    "problems",
    "regions",
    "register",
    "rivals",
    "simulate",
    "sweep",
    "theory",
    "tune",
]
