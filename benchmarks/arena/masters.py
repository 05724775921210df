"""Published rates of masters over bases: growth with T, and with T and M together.

Not in the paper, which states that regret balancing pays sqrt(M). Guarantees of masters are about many rounds: a master
needs some hundred rounds of each base to distinguish bad bases from good ones. Until then it plays each in turn, with a
regret that is linear in T.

Our choices: synthetic maps with d = 10, the first one true, for M = 2, 4, 16, and T = 128,000; 1,000 items. Policies
are those of the arena, except that CORRAL has no horizon, because its rate within a run is judged, and ten times its
rate; with smoothing also at its own rate. Ten was chosen after runs of the same problem in which it had hardly learned
at its own rate: the rewards fill about a fifth of the stated range. SquareCB on the true map shows whether the
reference of the balancing masters, sqrt(n), bounds the regret of a base.
"""

from collections.abc import Sequence
from typing import Any

from banditselect.experiments.beyond import arena as who
from banditselect.experiments.beyond.arena import of_maps
from banditselect.experiments.experiment import Experiment, Regime, Scale
from banditselect.experiments.parameter_selection import UNIFORM
from banditselect.masters import Corral
from banditselect.policies import Binding, SquareCB, given, on_map
from banditselect.problems import Problem, SyntheticFeatureSelection

MODELS = (2, 4, 16)
BASE, OWN_RATE = "SquareCB, true map", f"{who.CORRAL_SMOOTHED}, own rate"
BALANCING = (who.RB_SCB, who.RBE_SCB, who.DB_SCB, who.D3RB_SCB, who.ED2RB_SCB)
CORRALS = (who.CORRAL, who.CORRAL_SMOOTHED, who.CORRAL_IMPORTANCE)


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the masters, the base that is right, and uniform play."""
    every = {one.name: one.policy for one in of_maps(problem, rounds)}
    corrals = {name: _anytime(every[name], 10.0) for name in CORRALS} | {
        OWN_RATE: _anytime(every[who.CORRAL_SMOOTHED], 1.0)
    }
    base = on_map(SquareCB.bind(reward_range=given.reward_range), 0)
    return {name: every[name] for name in BALANCING} | corrals | {BASE: base, UNIFORM: every[UNIFORM]}


def _anytime(corral: Binding[Any], rate: float) -> Binding[Any]:
    """Return the same CORRAL without a horizon, at this rate."""
    return Corral.bind(**corral.arguments | {"horizon": None, "learning_rate": rate})


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return a problem for every M."""
    return {f"M = {M}": SyntheticFeatureSelection(n_models=M, dim=10, n_items=1000) for M in MODELS}


EXPERIMENT = Experiment(
    name="arena-masters",
    title="Published rates of masters over bases",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="M",
    problems=problems,
    regimes={"defaults": Regime(policies)},
    scales={"quick": Scale((), 400, 6, 0), "paper": Scale((), 128_000, 32, 0)},
    of_paper=False,
)
