"""The policies of the library, one algorithm per file."""

from ..runtime.binding import Binding, Constant, Pending, Several, given
from ..runtime.decisions import Decision
from ..runtime.files import load, register, registered
from .bias_oful import BiasOFUL
from .fs_ids import FSIDS
from .fs_med import FSMED
from .fs_oful import FSOFUL
from .fs_squarecb import FSSquareCB
from .fs_ts import FSTS
from .greedy import Greedy
from .lin_ids import LinIDS
from .lin_med import LinMED
from .lin_ts import LinTS
from .oful import OFUL
from .on_every import EveryBall, EveryMap, on_every_ball, on_every_map
from .on_map import OnMap, on_map
from .policy import Policy
from .ps_ids import PSIDS
from .ps_oful import PSOFUL
from .ps_ts import PSTS
from .squarecb import SquareCB
from .uniform import Uniform

# policies
__all__ = ["FSIDS", "FSMED", "FSOFUL", "FSTS", "FSSquareCB", "LinIDS", "LinMED", "LinTS"]
__all__ += ["OFUL", "PSIDS", "PSOFUL", "PSTS", "BiasOFUL", "Greedy", "Policy", "SquareCB", "Uniform"]
# bases of masters
__all__ += ["EveryBall", "EveryMap", "OnMap", "on_every_ball", "on_every_map", "on_map"]
# decisions, factories, files
__all__ += ["Binding", "Constant", "Decision", "Pending", "Several", "given", "load", "register", "registered"]
