"""Parameter selection on MNIST with less accurate models (paper, App. F).

The paper: as ps-mnist, with 10 M data sets of size 50, so that the balls are wider and worse; 50 runs.

What the text leaves open and what we chose: as in ps-mnist.
"""

from collections.abc import Sequence

from ..problems import Problem
from .experiment import Experiment, Scale
from .parameter_selection import arms, image_problems


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of balls."""
    return image_problems("ps-mnist", "coarse", models)


EXPERIMENT = Experiment(
    name="ps-mnist-coarse",
    title="Parameter selection, MNIST, coarse models",
    place="Appendix F, impact of the model estimates",
    about=__doc__ or "",
    metric="mean_reward",
    setting="balls M",
    problems=problems,
    arms=arms(),
    scales={"quick": Scale((2, 10), 500, 8, 4), "paper": Scale((2, 5, 10), 2000, 50, 20)},
)
