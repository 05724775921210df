"""Published rates of the rivals, where they can be checked: growth with T, with M and with K.

Not in the paper. What is published of a rival is a rate, or that it fails where an assumption does; here T, M and K
grow, and the exponents of the regret are measured.

What we chose: synthetic maps with d = 10, of which the first is true, for M = 2, 8, 30; and for K = 10, 100, 1000 one
linear bandit with d = 4 and actions N(0, 0.01 I). Everyone at its defaults, told what it asks for; T = 4000.
"""

from collections.abc import Sequence
from typing import Any

from ..policies import Binding, LinIDS, SquareCB, Uniform, given
from ..problems import Problem, SyntheticFeatureSelection, SyntheticParameterSelection
from . import contestants as who
from .contestants import of_maps
from .experiment import Experiment, Regime, Scale
from .ps_shared import UNIFORM

MODELS = (2, 8, 30)
ACTIONS = (10, 100, 1000)
PLAIN, DESIGN, IDS = "SquareCB", "SquareCB, optimal design", "LinIDS"
PLAYED = (
    *(who.RB_SCB, who.RBE_SCB, who.DB_SCB, who.D3RB_SCB, who.ED2RB_SCB),
    *(who.CORRAL, who.CORRAL_IMPORTANCE, who.LEADER_MAPS, who.ALEXP_MAPS, who.FS_OFUL, UNIFORM),
)


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return those of whom something is published, and what they are compared with."""
    if "n_models" in problem.shapes:
        return {one.name: one.policy for one in of_maps(problem, rounds) if one.name in PLAYED}
    span = {"reward_range": given.reward_range}
    plain, designed = SquareCB.bind(**span), SquareCB.bind(**span, design="optimal")
    return {PLAIN: plain, DESIGN: designed, IDS: LinIDS.bind(), UNIFORM: Uniform.bind()}


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return a problem for every M, and one for every K."""
    maps: dict[str, Problem] = {f"M = {M}": SyntheticFeatureSelection(n_models=M, dim=10) for M in MODELS}
    return maps | {f"K = {K}": SyntheticParameterSelection(n_models=1, dim=4, n_actions=K) for K in ACTIONS}


EXPERIMENT = Experiment(
    name="arena-rates",
    title="Published rates of the rivals",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="M and K",
    problems=problems,
    regimes={"defaults": Regime(policies)},
    scales={"quick": Scale((), 200, 12, 0), "paper": Scale((), 4000, 20, 0)},
    of_paper=False,
)
