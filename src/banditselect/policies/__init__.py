"""One algorithm per file, each a short composition of parts; ``base`` is the contract that all keep."""

from ..carriers.binding import Binding, Constant, Pending, Several, given
from ..carriers.decisions import Decision
from ..carriers.persistence import load, register, registered
from .adaptive_squarecb import AdaptiveSquareCB
from .alexp import ALEXP
from .balancing_elimination import BalancingElimination
from .base import Policy
from .bias_oful import BiasOFUL
from .corral import Corral
from .d3rb import D3RB
from .dynamic_balancing import DynamicBalancing
from .ed2rb import ED2RB
from .exp4 import EXP4, maillard_munos
from .fs_ids import FSIDS
from .fs_med import FSMED
from .fs_oful import FSOFUL
from .fs_squarecb import FSSquareCB
from .fs_ts import FSTS
from .greedy import Greedy
from .leader import LEADER
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
from .sparse_oful import SparseOFUL
from .squarecb import SquareCB
from .ucb1 import UCB1
from .uniform import Uniform

__all__ = [
    "ALEXP",
    "D3RB",
    "ED2RB",
    "EXP4",
    "FSIDS",
    "FSMED",
    "FSOFUL",
    "FSTS",
    "LEADER",
    "MUCB",
    "OFUL",
    "PSIDS",
    "PSOFUL",
    "PSTS",
    "SEXP3",
    "UCB1",
    "AdaptiveSquareCB",
    "BalancingElimination",
    "BiasOFUL",
    "Binding",
    "Constant",
    "Corral",
    "Decision",
    "DynamicBalancing",
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
    "SparseOFUL",
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
