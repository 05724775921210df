"""Published rates and failures of the rivals, where they can be checked: growth with M, with K and with T.

Not in the paper. Publications give a rate of a rival, or an assumption without which it fails; here M, K and T grow,
and the exponents of the regret are measured. Claims about many more rounds are in arena-masters.

Our choices: synthetic maps with d = 10, the first one true, for M = 2, 8, 30; the same with 20 items that are all
offered in every round, for claims about fixed actions; and for K = 10, 100, 1000 one linear bandit with d = 4 and
actions N(0, 0.01 I). All policies use their defaults and the constants that they require; T = 4000.
"""

from collections.abc import Sequence
from typing import Any

from banditselect.experiments.beyond import arena as who
from banditselect.experiments.beyond.arena import of_maps
from banditselect.experiments.experiment import Experiment, Regime, Scale
from banditselect.experiments.parameter_selection import UNIFORM
from banditselect.policies import Binding, LinIDS, SquareCB, Uniform, given
from banditselect.problems import Problem, SyntheticFeatureSelection, SyntheticParameterSelection

MODELS = (2, 8, 30)
ACTIONS = (10, 100, 1000)
PLAIN, DESIGN, IDS = "SquareCB", "SquareCB, optimal design", "LinIDS"
STAY = "actions that stay, "  #: before the names of the problems with the same actions in every round


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies with published claims, and those to compare them with."""
    if "n_models" in problem.shapes:
        stays = problem.settings["n_items"] == problem.settings["n_actions"]
        names = (who.ALEXP_MAPS, UNIFORM) if stays else (who.LEADER_MAPS, who.FS_OFUL, UNIFORM)
        return {one.name: one.policy for one in of_maps(problem, rounds) if one.name in names}
    span = {"reward_range": given.reward_range}
    plain, designed = SquareCB.bind(**span), SquareCB.bind(**span, design="optimal")
    return {PLAIN: plain, DESIGN: designed, IDS: LinIDS.bind(), UNIFORM: Uniform.bind()}


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return two problems for every M, and one for every K."""
    found: dict[str, Problem] = {f"M = {M}": SyntheticFeatureSelection(n_models=M, dim=10) for M in MODELS}
    found |= {f"{STAY}M = {M}": SyntheticFeatureSelection(n_models=M, dim=10, n_actions=20, n_items=20) for M in MODELS}
    return found | {f"K = {K}": SyntheticParameterSelection(n_models=1, dim=4, n_actions=K) for K in ACTIONS}


EXPERIMENT = Experiment(
    name="arena-rates",
    title="Published rates and failures of the rivals",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="M and K",
    problems=problems,
    regimes={"defaults": Regime(policies)},
    scales={"quick": Scale((), 200, 12, 0), "paper": Scale((), 4000, 20, 0)},
    of_paper=False,
)
