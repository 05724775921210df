"""Linear bandits that choose their own model."""

from . import problems, theory
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
    on_map,
    register,
)
from .simulation import Result, simulate

__version__ = "0.1.0"

__all__ = [
    "FSOFUL",
    "OFUL",
    "PSOFUL",
    "BiasOFUL",
    "Decision",
    "FSSquareCB",
    "LinTS",
    "OnMap",
    "Policy",
    "Power",
    "RegretBalancing",
    "Result",
    "SquareCB",
    "Uniform",
    "given",
    "load",
    "on_map",
    "problems",
    "register",
    "simulate",
    "theory",
]
