"""Linear bandits that choose their own model."""

import time

__version__ = "0.1.0"
__imported_at__ = time.time()  # before any other file is read: the store tells by it whether files have changed since

from . import logs, maps, problems, regions, theory
from .agent import Agent, Choice, Explanation
from .carriers.catalogues import Catalogue
from .carriers.crossing import cross_features
from .carriers.ellipsoids import Ball, Ellipsoid
from .parts.exploration import LatentReference, Power
from .policies import (
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    MUCB,
    OFUL,
    PSIDS,
    PSOFUL,
    PSTS,
    UCB1,
    BiasOFUL,
    Decision,
    FSSquareCB,
    Greedy,
    LinIDS,
    LinMED,
    LinTS,
    OnMap,
    Policy,
    RegretBalancing,
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
    "MUCB",
    "OFUL",
    "PSIDS",
    "PSOFUL",
    "PSTS",
    "UCB1",
    "Agent",
    "Ball",
    "BiasOFUL",
    "Blocked",
    "Catalogue",
    "Choice",
    "Decision",
    "Ellipsoid",
    "Explanation",
    "FSSquareCB",
    "Greedy",
    "LatentReference",
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
    "on_every_ball",
    "on_every_map",
    "on_map",
    "problems",
    "regions",
    "register",
    "simulate",
    "sweep",
    "theory",
    "tune",
]
