"""Experiments on published rates and failures of the rivals: growth with M, with K and with T.

Not in the paper. Publications give a rate of a rival, or an assumption without which it fails; here M, K and T grow,
and the exponents of the regret are measured. All policies use their defaults and the constants that they require.

arena-rates: synthetic maps with d = 10, the first one true, for M = 2, 8, 30; the same with 20 items that are all
offered in every round, for claims about fixed actions; and for K = 10, 100, 1000 one linear bandit with d = 4 and
actions N(0, 0.01 I). T = 4000.

arena-masters: growth with T, and with T and M together. Guarantees of masters are about many rounds: a master needs
some hundred rounds of each base to distinguish bad bases from good ones. Until then it plays each in turn, with a
regret that is linear in T. Synthetic maps with d = 10, the first one true, for M = 2, 4, 16, and T = 128,000; 1,000
items. Policies are those of the arena, except that CORRAL has no horizon, because its rate within a run is judged, and
ten times its rate; with smoothing also at its own rate. Ten was chosen after runs of the same problem in which it had
hardly learned at its own rate: the rewards fill about a fifth of the stated range. SquareCB on the true map shows
whether the reference of the balancing masters, sqrt(n), bounds the regret of a base.
"""

from collections.abc import Sequence
from typing import Any

from banditselect.experiments.beyond import arena_policies as who
from banditselect.experiments.beyond.arena_policies import of_maps
from banditselect.experiments.experiment import Experiment, Regime, Scale
from banditselect.experiments.parameter_selection import UNIFORM
from banditselect.masters import Corral
from banditselect.policies import Binding, LinIDS, SquareCB, Uniform, given, on_map
from banditselect.problems import Problem, SyntheticFeatureSelection, SyntheticParameterSelection

PLAIN, DESIGN, IDS = "SquareCB", "SquareCB, optimal design", "LinIDS"
STAY = "actions that stay, "  #: before the names of the problems with the same actions in every round
BASE, OWN_RATE = "SquareCB, true map", f"{who.CORRAL_SMOOTHED}, own rate"
BALANCING = (who.RB_SCB, who.RBE_SCB, who.DB_SCB, who.D3RB_SCB, who.ED2RB_SCB)
CORRALS = (who.CORRAL, who.CORRAL_SMOOTHED, who.CORRAL_IMPORTANCE)
SPAN = {"reward_range": given.reward_range}

Policies = dict[str, Binding[Any]]


def policies_with_rates(problem: Problem, rounds: int) -> Policies:
    """Return the policies with published claims, and those to compare them with."""
    if "n_models" in problem.shapes:
        stays = problem.settings["n_items"] == problem.settings["n_actions"]
        names = (who.ALEXP_MAPS, UNIFORM) if stays else (who.LEADER_MAPS, who.FS_OFUL, UNIFORM)
        return {one.name: one.policy for one in of_maps(problem, rounds) if one.name in names}
    designed = SquareCB.bind(**SPAN, design="optimal")
    return {PLAIN: SquareCB.bind(**SPAN), DESIGN: designed, IDS: LinIDS.bind(), UNIFORM: Uniform.bind()}


def problems_of_rates(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return two problems for every M, and one for every K."""
    maps = SyntheticFeatureSelection
    found: dict[str, Problem] = {f"M = {M}": maps(n_models=M, dim=10) for M in (2, 8, 30)}
    found |= {f"{STAY}M = {M}": maps(n_models=M, dim=10, n_actions=20, n_items=20) for M in (2, 8, 30)}
    return found | {f"K = {K}": SyntheticParameterSelection(n_models=1, dim=4, n_actions=K) for K in (10, 100, 1000)}


def masters(problem: Problem, rounds: int) -> Policies:
    """Return the masters, the base that is right, and uniform play."""

    def anytime(name: str, rate: float) -> Binding[Any]:
        return Corral.bind(**every[name].arguments | {"horizon": None, "learning_rate": rate})

    every = {one.name: one.policy for one in of_maps(problem, rounds)}
    found = {name: every[name] for name in BALANCING} | {name: anytime(name, 10.0) for name in CORRALS}
    found |= {OWN_RATE: anytime(who.CORRAL_SMOOTHED, 1.0), BASE: on_map(SquareCB.bind(**SPAN), 0)}
    return found | {UNIFORM: every[UNIFORM]}


def problems_of_masters(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return a problem for every M."""
    return {f"M = {M}": SyntheticFeatureSelection(n_models=M, dim=10, n_items=1000) for M in (2, 4, 16)}


def _experiment(name: str, problems: Any, policies: Any, quick: Scale, paper: Scale) -> Experiment:
    return Experiment(
        name=name,
        title="Published rates and failures",
        place="not in the paper",
        about=__doc__ or "",
        metric="regret",
        setting="M or K",
        problems=problems,
        regimes={"defaults": Regime(policies)},
        scales={"quick": quick, "paper": paper},
        of_paper=False,
    )


RATES, MASTERS = "arena-rates", "arena-masters"
EXPERIMENTS = {
    RATES: _experiment(
        RATES, problems_of_rates, policies_with_rates, Scale((), 200, 12, 0), paper=Scale((), 4000, 20, 0)
    ),
    MASTERS: _experiment(MASTERS, problems_of_masters, masters, Scale((), 400, 6, 0), paper=Scale((), 128_000, 32, 0)),
}
