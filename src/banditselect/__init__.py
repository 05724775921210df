"""Linear bandits that choose their own model.

Importing this loads the policies and what serves them. The laboratory - ``simulate``, ``sweep``, ``grid``, ``tune`` and
``problems`` - is loaded when one of these names is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import logs, maps, masters, regions, rivals, theory
from .actions import Catalogue, cross_features
from .agent import Agent
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
    SquareCB,
    Uniform,
    given,
    load,
    on_every_ball,
    on_every_map,
    on_map,
)
from .types import Blocked

if TYPE_CHECKING:
    from . import problems
    from .simulation import grid, simulate, sweep, tune

__version__ = "0.1.0"

__all__ = ["FSIDS", "FSMED", "FSOFUL", "FSTS", "FSSquareCB"]  # choose among maps
__all__ += ["PSIDS", "PSOFUL", "PSTS"]  # choose among regions
__all__ += ["OFUL", "BiasOFUL", "Greedy", "LinIDS", "LinMED", "LinTS", "SquareCB", "Uniform"]  # one map
__all__ += ["RegretBalancing", "masters", "on_every_ball", "on_every_map", "on_map", "rivals"]  # choose among policies
__all__ += ["Agent", "Blocked", "Catalogue", "Decision", "Power", "cross_features", "given", "load"]
__all__ += ["logs", "maps", "regions", "theory"]
__all__ += ["grid", "problems", "simulate", "sweep", "tune"]  # the laboratory


def __getattr__(name: str) -> Any:
    if name == "problems":
        return import_module(".problems", __name__)
    if name in ("grid", "simulate", "sweep", "tune"):
        return getattr(import_module(".simulation", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
