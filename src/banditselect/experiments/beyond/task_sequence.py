"""Tasks in sequence: regions that are not given, but found while playing.

The paper assumes that M regions are known, and leaves to future work how they are learned from the tasks themselves.
Here a learner starts from nothing, plays task after task of 50 rounds, fits each when it has ended, and hands the next
one the regions found so far (regions.TaskSequence, with PS-IDS). The regret is the sum over all tasks; that of a task
is what it grows by in 50 rounds.

What the text leaves open and what we chose: d = 8, M = 5 centres N(0, I), the parameter of a task N(centre, 0.04 I), 10
actions N(0, 0.01 I) a round, noise U[-1/2, 1/2]. A fit of 50 rounds is then off by about twice the width of a region.
Beside it play OFUL and IDS that learn every task alone, BIAS-OFUL that is given the centre of every task and the
largest distance from it, and PS-IDS that is given the true mixture and the noise. Nothing is tuned.
"""

from collections.abc import Sequence
from typing import Any

from ...policies import OFUL, PSIDS, BiasOFUL, Binding, LinIDS, given
from ...problems import Problem, SyntheticTasks
from ...regions.in_tasks import InTasks
from ..experiment import Experiment, Regime, Scale

LEARNED, TOLD = "PS-IDS, regions learned (ours)", "PS-IDS, true mixture"
CENTRE, ALONE, ALONE_OFUL = "BIAS-OFUL, centre of every task", "IDS, every task alone", "OFUL, every task alone"
TASK_ROUNDS = 50


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the learner, policies that learn every task alone, and policies that are given the regions."""
    centre = BiasOFUL.bind(center=given.task_centers, radius=given.task_radius, noise=given.noise)
    inside: dict[str, dict[str, Any]] = {
        LEARNED: {},
        TOLD: {"policy": PSIDS.bind(centers=given.centers, radii=given.radii, noise=given.noise)},
        CENTRE: {"policy": centre, "changing": ("center",)},
        ALONE: {"policy": LinIDS.bind()},
        ALONE_OFUL: {"policy": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound)},
    }
    return {name: InTasks.bind(task_rounds=given.task_rounds, **arguments) for name, arguments in inside.items()}


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return the problem; M = 5 is fixed."""
    return {"M = 5": SyntheticTasks(task_rounds=TASK_ROUNDS)}


EXPERIMENT = Experiment(
    name="meta-tasks",
    title="Tasks in sequence",
    place="future work",
    about=__doc__ or "",
    metric="regret",
    setting="regions M",
    problems=problems,
    regimes={"theory": Regime(policies)},
    scales={"quick": Scale((), 30 * TASK_ROUNDS, 4, 0), "paper": Scale((), 500 * TASK_ROUNDS, 10, 0)},
    of_paper=False,
)
