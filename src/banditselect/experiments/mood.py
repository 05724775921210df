"""The mood of a customer (not in the paper): parameter selection where the true ball is another from time to time.

The paper's parameter stays what it is. A customer who is in one of M moods, all of them known from others, changes her
mood; how often is not known. What forgetting (``memory=``) gains then, and what it costs where nothing changes.

What we chose: M = 5, d = 10, K = 10 and b = 0.5, other distributions as in the synthetic experiment, T = 2000; a mood
lasts 100 or 500 rounds on average, or for ever. Regret is against the best action of each round. Memories of 30, 100
and 300 rounds, none tuned; policies that know nothing of the balls have one of 100, and are told what they ask for: the
noise, the range of the rewards, a bound on the parameter.
"""

from collections.abc import Sequence
from typing import Any

from ..policies import OFUL, PSIDS, Binding, LinIDS, LinTS, SquareCB, Uniform, given
from ..problems import Problem, SwitchingParameterSelection
from .experiment import Experiment, Regime, Scale
from .ps_shared import UNIFORM

MEMORIES = (30, 100, 300)
STAYS = {"for ever": None, "500 rounds": 500.0, "100 rounds": 100.0}


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-IDS and policies over one map, with and without a memory, and uniform play."""
    balls = {"centers": given.centers, "radii": given.radii}
    chosen: dict[str, Binding[Any]] = {"PS-IDS": PSIDS.bind(**balls)}
    chosen |= {f"PS-IDS, memory {m}": PSIDS.bind(**balls, memory=m) for m in MEMORIES}
    for memory in (None, 100):
        one_map = {
            "LinIDS": LinIDS.bind(memory=memory),
            "LinTS": LinTS.bind(noise=given.noise, memory=memory),
            "SquareCB": SquareCB.bind(reward_range=given.reward_range, memory=memory),
            "OFUL": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound, memory=memory),
        }
        chosen |= {name if memory is None else f"{name}, memory {memory}": b for name, b in one_map.items()}
    return chosen | {UNIFORM: Uniform.bind()}


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every time that a mood lasts; M is fixed."""
    return {label: SwitchingParameterSelection(dim=10, stay=stay) for label, stay in STAYS.items()}


EXPERIMENT = Experiment(
    name="mood",
    title="Parameter selection, the mood of a customer",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="how long a mood lasts",
    problems=problems,
    regimes={"theory": Regime(policies)},
    scales={"quick": Scale((), 300, 8, 0), "paper": Scale((), 2000, 50, 0)},
    of_paper=False,
)
