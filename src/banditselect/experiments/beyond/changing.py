"""The mood of a customer (not in the paper): the true map, or the true ball, is another from time to time."""

from functools import partial
from typing import Any

from ...policies import FSIDS, OFUL, PSIDS, Binding, FSSquareCB, LinIDS, LinTS, SquareCB, Uniform, given
from ...problems import Problem, SwitchingFeatureSelection, SwitchingParameterSelection
from ..experiment import Experiment, Regime, Scale
from ..parameter_selection import UNIFORM

MEMORIES = (30, 100, 300)
MEMORY, SHARE = 100, 0.005
STAYS = {"all rounds": None, "500 rounds": 500.0, "100 rounds": 100.0}


def over_regions(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-IDS and policies over one map, with and without a memory, and uniform play."""
    balls = {"centers": given.centers, "radii": given.radii}
    chosen: dict[str, Binding[Any]] = {"PS-IDS": PSIDS.bind(**balls)}
    chosen |= {f"PS-IDS, memory {m}": PSIDS.bind(**balls, memory=m) for m in MEMORIES}
    for memory in (None, MEMORY):
        one_map = {
            "LinIDS": LinIDS.bind(memory=memory),
            "LinTS": LinTS.bind(noise=given.noise, memory=memory),
            "SquareCB": SquareCB.bind(reward_range=given.reward_range, memory=memory),
            "OFUL": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound, memory=memory),
        }
        chosen |= {name if memory is None else f"{name}, memory {memory}": b for name, b in one_map.items()}
    return chosen | {UNIFORM: Uniform.bind()}


def over_maps(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
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


_experiment = partial(
    Experiment,
    place="not in the paper",
    metric="regret",
    setting="how long a mood lasts",
    scales={"quick": Scale((), 300, 8, 0), "paper": Scale((), 2000, 50, 0)},
    of_paper=False,
)
EXPERIMENTS = (
    _experiment(
        name="mood",
        title="Parameter selection, the mood of a customer",
        about="""The mood of a customer (not in the paper): parameter selection where the true ball is another from
time to time.

The paper's parameter stays what it is. A customer who is in one of M moods, all of them known from others, changes her
mood; how often is not known. What forgetting (``memory=``) gains then, and what it costs where nothing changes.

What we chose: M = 5, d = 10, K = 10 and b = 0.5, other distributions as in the synthetic experiment, T = 2000; a mood
lasts 100 or 500 rounds on average, or all rounds. Regret is against the best action of each round. Memories of 30, 100
and 300 rounds, none tuned; policies that know nothing of the balls have one of 100, and are told what they ask for: the
noise, the range of the rewards, a bound on the parameter.
""",
        problems=lambda models: {b: SwitchingParameterSelection(dim=10, stay=stay) for b, stay in STAYS.items()},
        regimes={"theory": Regime(over_regions)},
    ),
    _experiment(
        name="mood-maps",
        title="Feature selection, the mood of a customer",
        about="""The mood of a customer (not in the paper): feature selection where the true map is another from time
to time.

The paper's true map stays what it is. What lets its weight come back when the mood does: forgetting (``memory=``), or a
share of the weights that goes round (``share=``); and what either costs where nothing changes.

What we chose: M = 5, d = 10, K = 10, T = 2000; a mood lasts 100 or 500 rounds on average, or all rounds, and a map that
returns has its old parameter. Regret is against the best action of each round. A memory of 100 rounds and a share of
1/200, neither tuned.
""",
        problems=lambda models: {label: SwitchingFeatureSelection(stay=stay) for label, stay in STAYS.items()},
        regimes={"theory": Regime(over_maps)},
    ),
)
