"""Parameter selection, worst parameters (paper, eq:transfer-regret).

The paper bounds the transfer regret, which is the supremum over all parameters in the balls of the regret, and measures
regrets at parameters drawn at random. Here the same balls, actions and noise are met with five parameters at which
learning may cost most: far from the origin, near it, between the two closest balls and opposite, and at a centre. The
largest of the five regrets is a lower bound of the supremum, so a bound that it exceeds is wrong.

What the text leaves open and what we chose: as in the synthetic experiment (d = 20, M = 10, T = 1000), with b = 1, the
largest radius that the theorem allows, and b = sqrt(d); 75 sets of balls for each, which are 375 replicates.
"""

import math
from collections.abc import Sequence
from typing import Any

from ..policies import PSOFUL, Binding, Uniform, given
from ..problems import Problem, SyntheticParameterSelection
from .experiment import Experiment, Regime, Scale
from .ps_shared import LIKELIHOOD, PS, UNIFORM, printed
from .ps_synthetic import DIM

RADII = {"1": 1.0, "sqrt(d)": math.sqrt(DIM)}


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius, ours, and uniform play."""
    balls = {"centers": given.centers, "radii": given.radii}
    ours = PSOFUL.bind(**balls, noise=given.noise)
    return {PS: printed(**balls), LIKELIHOOD: ours, UNIFORM: Uniform.bind()}


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every radius; M = 10 is fixed."""
    return {
        f"b = {label}": SyntheticParameterSelection(dim=DIM, radius=radius, truth="extremes")
        for label, radius in RADII.items()
    }


EXPERIMENT = Experiment(
    name="ps-worst",
    title="Parameter selection, worst parameters",
    place="Section 2.3",
    about=__doc__ or "",
    metric="regret",
    setting="radius b of the balls",
    problems=problems,
    regimes={"theory": Regime(policies)},
    scales={"quick": Scale((), 300, 10, 0), "paper": Scale((), 1000, 375, 0)},
)
