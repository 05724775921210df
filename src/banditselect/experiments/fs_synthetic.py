"""Feature selection, synthetic (paper, Fig. 1 top).

The paper: d = 50, 10 actions a round out of 10,000, noise U[-1/2, 1/2]; FS-SCB and RB-SCB for several M, SquareCB on
the best, the second best and the worst map; 100 problems.

What the text leaves open and what we chose: M = 2, 10, 30, T = 2000, delta = 0.05, lambda = 1, U(n) = u sqrt(n) with
u = 1 in the regime of theory. The constants of an instance (L, G, S) are its own. Every wrong map is equally useless
here: "second best" and "worst" are two of them.
"""

from collections.abc import Sequence

from ..problems import Problem, SyntheticFeatureSelection
from .experiment import Experiment, Scale
from .fs_shared import regimes


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of maps."""
    return {f"M = {n_models}": SyntheticFeatureSelection(n_models=n_models) for n_models in models}


EXPERIMENT = Experiment(
    name="fs-synthetic",
    title="Feature selection, synthetic",
    place="Figure 1, top",
    about=__doc__ or "",
    metric="regret",
    setting="feature maps M",
    problems=problems,
    regimes=regimes(),
    scales={"quick": Scale((2, 10), 300, 8, 4), "paper": Scale((2, 10, 30), 2000, 100, 100)},
)
