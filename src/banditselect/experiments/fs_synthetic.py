"""Feature selection, synthetic (paper, Fig. 1 top).

The paper: d = 50, 10 actions a round out of 10,000, noise U[-1/2, 1/2]; FS-SCB and RB-SCB for several M, SquareCB on
the best, the second best and the worst map. All wrong maps are equally useless here, so one of them stands for all.

What the text leaves open and what we chose: T, M, alpha, delta, the reference U of regret balancing. Here every policy
has its default, except that all are told the range and the noise of the rewards; U(n) = sqrt(n).
"""

from collections.abc import Sequence
from typing import Any

from ..policies import (
    FSOFUL,
    OFUL,
    Binding,
    FSSquareCB,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    on_every_map,
    on_map,
)
from ..problems import Problem, SyntheticFeatureSelection
from ..simulation import Result, simulate
from .experiment import Experiment


def policies() -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours."""
    scb = SquareCB.bind(reward_range=given.reward_range)
    ofu = {"noise": given.noise, "parameter_bound": given.parameter_bound}
    return {
        "SquareCB, true map known": on_map(scb, 0),
        "FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
        "RB-SCB": RegretBalancing.bind(bases=on_every_map(scb)),
        "SquareCB, a wrong map": on_map(scb, 1),
        "OFUL, true map known": on_map(OFUL.bind(**ofu), 0),
        "FS-OFUL (ours)": FSOFUL.bind(**ofu),
        "uniform play": Uniform.bind(),
    }


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of models."""
    return {f"M = {n_models}": SyntheticFeatureSelection(n_models=n_models) for n_models in models}


EXPERIMENT = Experiment(
    title="Feature selection, synthetic (Fig. 1 top)",
    problems=problems,
    policies=lambda problem: policies(),
    rounds=2000,
    setting="feature maps M",
)


def run(*, n_models: int = 10, rounds: int = 2000, replicates: int = 50, seed: int = 0) -> Result:
    """Run the experiment for one number of models."""
    (problem,) = problems([n_models]).values()
    return simulate(policies(), problem, rounds=rounds, replicates=replicates, seed=seed)
