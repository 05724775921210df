"""Parameter selection, synthetic (paper, Fig. 2 left).

The paper: d = 20, M = 10 balls with N(0, I) centres and radius b in {0, sqrt(d), 2 sqrt(d)}, 10 actions N(0, 0.01 I) a
round, noise U[-1/2, 1/2]; PS-OFUL against OFUL with S = 10 and with S = max_i (|mu_i| + b_i).

What the text leaves open and what we chose: theta uniform in the ball; T = 1000, delta = 0.05, R = 1 / sqrt(12), the
tight constant of this noise. Every policy has its theoretical radius. S = 10 is not a bound at b = 2 sqrt(d), where
parameters up to norm 13 occur; that arm is the paper's, not ours.
"""

import math
from collections.abc import Sequence
from typing import Any

from ..policies import OFUL, PSOFUL, BiasOFUL, Binding, given
from ..problems import Problem, SyntheticParameterSelection
from ..simulation import Result, simulate
from .experiment import Experiment

DIM = 20
RADII = {"0": 0.0, "sqrt(d)": math.sqrt(DIM), "2 sqrt(d)": 2.0 * math.sqrt(DIM)}


def policies(*, printed: bool = True) -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours; ``printed`` adds the slow arm with the printed radius."""
    balls = {"centers": given.centers, "radii": given.radii, "noise": given.noise}
    bounds = {"feature_bound": given.feature_bound, "reward_bound": given.reward_bound}
    chosen: dict[str, Binding[Any]] = {
        "BIAS-OFUL, true centre known": BiasOFUL.bind(center=given.center, radius=given.radii, noise=given.noise),
        "PS-OFUL, likelihood sets (ours)": PSOFUL.bind(**balls),
        "OFUL, S = max": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound),
        "OFUL, S = 10": OFUL.bind(noise=given.noise, parameter_bound=10.0),
    }
    if printed:
        chosen["PS-OFUL, printed radius"] = PSOFUL.bind(**balls, confidence="paper", **bounds)
    return chosen


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return a problem for every radius; M = 10 is fixed."""
    return {f"b = {label}": SyntheticParameterSelection(dim=DIM, radius=radius) for label, radius in RADII.items()}


EXPERIMENT = Experiment(
    title="Parameter selection, synthetic (Fig. 2 left)",
    problems=problems,
    policies=lambda problem: policies(),
    rounds=1000,
    setting="radius b of the balls",
)


def run(
    *, radius: float = 0.0, rounds: int = 1000, replicates: int = 50, seed: int = 0, printed: bool = True
) -> Result:
    """Run the experiment for one radius of the balls."""
    problem = SyntheticParameterSelection(dim=DIM, radius=radius)
    return simulate(policies(printed=printed), problem, rounds=rounds, replicates=replicates, seed=seed)
