"""One algorithm per file, each a short composition of parts; ``base`` is the contract that all keep."""

from ..carriers.binding import Binding, Constant, Pending, Several, given
from ..carriers.decisions import Decision
from ..carriers.persistence import load, register, registered
from .balancing_elimination import BalancingElimination
from .base import Policy
from .bias_oful import BiasOFUL
from .d3rb import D3RB
from .dynamic_balancing import DynamicBalancing
from .ed2rb import ED2RB
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
from .squarecb import SquareCB
from .ucb1 import UCB1
from .uniform import Uniform

__all__ = [
    "D3RB",
    "ED2RB",
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
    "BalancingElimination",
    "BiasOFUL",
    "Binding",
    "Constant",
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
    "SquareCB",
    "Uniform",
    "given",
    "load",
    "on_every_ball",
    "on_every_map",
    "on_map",
    "register",
    "registered",
]
