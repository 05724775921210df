"""One algorithm per file, each a short composition of parts; ``base`` is the contract that all keep."""

from ..carriers.binding import Binding, Constant, Pending, Several, given
from ..carriers.decisions import Decision
from ..carriers.persistence import load, register, registered
from .adaptive_squarecb import AdaptiveSquareCB
from .base import Policy
from .bias_oful import BiasOFUL
from .corral import Corral
from .exp4 import EXP4, maillard_munos
from .fs_ids import FSIDS
from .fs_med import FSMED
from .fs_oful import FSOFUL
from .fs_squarecb import FSSquareCB
from .fs_ts import FSTS
from .greedy import Greedy
from .lin_ids import LinIDS
from .lin_med import LinMED
from .lin_ts import LinTS
from .mucb import MUCB
from .oful import OFUL
from .on_every import EveryBall, EveryMap, on_every_ball, on_every_map
from .on_map import OnMap, on_map
from .ps_ids import PSIDS
from .ps_oful import PSOFUL
from .ps_ts import PSTS
from .regret_balancing import RegretBalancing
from .sexp3 import SEXP3
from .squarecb import SquareCB
from .ucb1 import UCB1
from .uniform import Uniform

__all__ = [
    "EXP4",
    "FSIDS",
    "FSMED",
    "FSOFUL",
    "FSTS",
    "MUCB",
    "OFUL",
    "PSIDS",
    "PSOFUL",
    "PSTS",
    "SEXP3",
    "UCB1",
    "AdaptiveSquareCB",
    "BiasOFUL",
    "Binding",
    "Constant",
    "Corral",
    "Decision",
    "EveryBall",
    "EveryMap",
    "FSSquareCB",
    "Greedy",
    "LinIDS",
    "LinMED",
    "LinTS",
    "OnMap",
    "Pending",
    "Policy",
    "RegretBalancing",
    "Several",
    "SquareCB",
    "Uniform",
    "given",
    "load",
    "maillard_munos",
    "on_every_ball",
    "on_every_map",
    "on_map",
    "register",
    "registered",
]
