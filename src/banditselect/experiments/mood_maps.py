"""The mood of a customer (not in the paper): feature selection where the true map is another from time to time.

The paper's true map stays what it is. What lets its weight come back when the mood does: forgetting (``memory=``), or a
share of the weights that goes round (``share=``); and what either costs where nothing changes.

What we chose: M = 5, d = 10, K = 10, T = 2000; a mood lasts 100 or 500 rounds on average, or for ever, and a map that
returns has its old parameter. Regret is against the best action of each round. A memory of 100 rounds and a share of
1/200, neither tuned.
"""

from collections.abc import Sequence
from typing import Any

from ..policies import FSIDS, Binding, FSSquareCB, Uniform, given
from ..problems import Problem, SwitchingFeatureSelection
from .experiment import Experiment, Regime, Scale
from .fs_shared import UNIFORM

MEMORY, SHARE = 100, 0.005
STAYS = {"for ever": None, "500 rounds": 500.0, "100 rounds": 100.0}


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return FS-IDS and FS-SCB with and without a memory or a share, and uniform play."""
    told = {"noise": given.noise, "reward_range": given.reward_range}
    return {
        "FS-IDS": FSIDS.bind(),
        "FS-IDS, memory": FSIDS.bind(memory=MEMORY),
        "FS-SCB": FSSquareCB.bind(**told),
        "FS-SCB, memory": FSSquareCB.bind(**told, memory=MEMORY),
        "FS-SCB range": FSSquareCB.bind(**told, weighting="range"),
        "FS-SCB range, memory": FSSquareCB.bind(**told, weighting="range", memory=MEMORY),
        "FS-SCB range, share": FSSquareCB.bind(**told, weighting="range", share=SHARE),
        "FS-SCB range, both": FSSquareCB.bind(**told, weighting="range", memory=MEMORY, share=SHARE),
        UNIFORM: Uniform.bind(),
    }


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every time that a mood lasts; M is fixed."""
    return {label: SwitchingFeatureSelection(stay=stay) for label, stay in STAYS.items()}


EXPERIMENT = Experiment(
    name="mood-maps",
    title="Feature selection, the mood of a customer",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="how long a mood lasts",
    problems=problems,
    regimes={"theory": Regime(policies)},
    scales={"quick": Scale((), 300, 8, 0), "paper": Scale((), 2000, 50, 0)},
    of_paper=False,
)
