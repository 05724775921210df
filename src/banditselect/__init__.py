"""Linear bandits that choose their own model."""

from . import problems, theory
from .catalogues import Catalogue
from .exploration import Power
from .policies import (
    FSOFUL,
    OFUL,
    PSOFUL,
    BiasOFUL,
    Decision,
    FSSquareCB,
    LinTS,
    OnMap,
    Policy,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    load,
    on_every_map,
    on_map,
    register,
)
from .simulation import Result, Results, grid, simulate, sweep, tune

__version__ = "0.1.0"

__all__ = [
    "FSOFUL",
    "OFUL",
    "PSOFUL",
    "BiasOFUL",
    "Catalogue",
    "Decision",
    "FSSquareCB",
    "LinTS",
    "OnMap",
    "Policy",
    "Power",
    "RegretBalancing",
    "Result",
    "Results",
    "SquareCB",
    "Uniform",
    "given",
    "grid",
    "load",
    "on_every_map",
    "on_map",
    "problems",
    "register",
    "simulate",
    "sweep",
    "theory",
    "tune",
]
