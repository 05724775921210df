"""Feature selection, synthetic (paper, Fig. 1 top).

The paper: d = 50, 10 actions a round out of 10,000, noise U[-1/2, 1/2]; FS-SCB and RB-SCB for several M, SquareCB on
the best, the second best and the worst map; 100 problems.

What the text leaves open and what we chose: M = 2, 10, 20, T = 2000, delta = 0.05. In the regime of theory lambda = 1
for the paper's policies, d R^2 / S^2 for ours, and U(n) = sqrt(n), since no bound of SquareCB is known for every n. The
constants of an instance (L, G, S) are its own. Every wrong map is equally useless here: "second best" and "worst" are
two of them. The features of every map are drawn about the parameter itself, so that their mean gives it away without
any reward: a strong penalty, under which the estimate points where the rewarded features do, finds it.
"""

from collections.abc import Sequence

from ..problems import Problem, SyntheticFeatureSelection
from .experiment import Experiment, Scale
from .fs_shared import ADDED, SHOWN, regimes


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
    shown=SHOWN,
    added=ADDED,
    scales={"quick": Scale((2, 10, 20), 2000, 10, 4), "paper": Scale((2, 10, 20), 2000, 100, 100)},
)
