"""Parameter selection, synthetic (paper, Fig. 2 left).

The paper: d = 20, M = 10 balls with N(0, I) centres and radius b in {0, sqrt(d), 2 sqrt(d)}, 10 actions N(0, 0.01 I) a
round, noise U[-1/2, 1/2]; PS-OFUL against OFUL with S = 10 and with S = max_i (|mu_i| + b_i); 50 problems.

What the text leaves open and what we chose: theta uniform in the ball; T = 1000, delta = 0.05, R = 1 / sqrt(12), the
tight constant of this noise; lambda of OFUL, whose set is valid for any, tuned in theory and "tuned", and .01 in
"practical". SqAlg inside PS-OFUL works on the range of the rewards instead of the printed one, on which its weights
would never move, in all but theory. S = 10 is not a bound at b = 2 sqrt(d), where larger parameters occur.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..policies import OFUL, PSIDS, PSOFUL, BiasOFUL, Binding, Uniform, given
from ..problems import Problem, SyntheticParameterSelection
from .experiment import Experiment, Regime, Scale
from .ps_shared import ADDED, FACTOR, GRID, LIKELIHOOD, ORACLE, OWN, PENALTY, PS, TRUE_BALL, UNIFORM, UNTUNED, printed

DIM = 20
RADII = {"0": 0.0, "sqrt(d)": math.sqrt(DIM), "2 sqrt(d)": 2.0 * math.sqrt(DIM)}
INDIVIDUAL, INDIVIDUAL_10 = "OFUL, S = max", "OFUL, S = 10"
PENALTY_OF_OFUL = 0.01
"""lambda of OFUL in the practical setting: the best for it with the radius of theory, which is valid for any."""


def policies(problem: Problem, rounds: int, reward_range: Any) -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours; SqAlg, inside PS-OFUL, works on this range, None for the printed."""
    balls = {"centers": given.centers, "radii": given.radii}
    return {
        ORACLE: BiasOFUL.bind(center=given.center, radius=given.radii, noise=given.noise),
        TRUE_BALL: PSOFUL.bind(centers=given.true_centers, radii=given.radii, noise=given.noise),
        PS: printed(**balls, reward_range=reward_range),
        LIKELIHOOD: PSOFUL.bind(**balls, noise=given.noise),
        INDIVIDUAL: OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound),
        INDIVIDUAL_10: OFUL.bind(noise=given.noise, parameter_bound=10.0),
        UNTUNED: PSIDS.bind(**balls),
        UNIFORM: Uniform.bind(),
    }


def practical(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius times ``FACTOR``, OFUL with that of theory, and our two."""
    chosen = policies(problem, rounds, given.reward_range)
    del chosen[ORACLE], chosen[TRUE_BALL]
    chosen[PS] = Binding(PSOFUL, chosen[PS].arguments | {"scale": FACTOR})
    for name in (INDIVIDUAL, INDIVIDUAL_10):
        chosen[name] = Binding(OFUL, chosen[name].arguments | {"regularization": PENALTY_OF_OFUL})
    return chosen


theory = partial(policies, reward_range=None)
tuned = partial(policies, reward_range=given.reward_range)


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every radius; M = 10 is fixed."""
    return {f"b = {label}": SyntheticParameterSelection(dim=DIM, radius=radius) for label, radius in RADII.items()}


EXPERIMENT = Experiment(
    name="ps-synthetic",
    title="Parameter selection, synthetic",
    place="Figure 2, left",
    about=__doc__ or "",
    metric="regret",
    setting="radius b of the balls",
    shown=(PS, INDIVIDUAL, INDIVIDUAL_10),
    added=ADDED,
    problems=problems,
    regimes={
        "theory": Regime(theory, PENALTY),
        "practical": Regime(practical),
        "tuned": Regime(tuned, {"scale": GRID["scale"], **PENALTY}, OWN),
    },
    scales={"quick": Scale((), 1000, 50, 4), "paper": Scale((), 1000, 50, 100)},
)
