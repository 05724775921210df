"""What the three experiments on feature selection share: the policies of the figure, and ours, by regime."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..masters import RegretBalancing
from ..plays.schedules import Power
from ..policies import FSIDS, FSOFUL, Binding, FSSquareCB, Pending, SquareCB, Uniform, given, on_every_map, on_map
from ..problems import Classification, Problem
from ..runtime.errors import refuse
from ..simulation.search import Steps
from .experiment import Experiment, Regime, Scale
from .packs import load_pack

BEST, SECOND, WORST = "SquareCB, best map", "SquareCB, second best map", "SquareCB, worst map"
FS, RB = "FS-SCB", "RB-SCB"
PROVED, NOISE_AWARE = "FS-SCB, as proved (ours)", "FS-SCB, noise-aware (ours)"
OPTIMISTIC = "FS-OFUL (ours)"
UNTUNED, UNIFORM = "FS-IDS, untuned (ours)", "Uniform"
SHOWN, ADDED = (FS, RB, BEST, SECOND, WORST), (OPTIMISTIC, UNTUNED)

GRID = {
    "exploration": Steps(3.0),
    "regularization": Steps(1.0),
    "reference": Steps(1.0),
    "scale": Steps(0.1),
}
"""c of the rate c sqrt(t), from about sqrt(K); lambda; u of U(n) = u sqrt(n); s of the radius of likelihood sets."""

OWN = {FS: {"aggregation_rate": Steps(1.0)}}
"""The rate at which SqAlg weighs the experts of FS-SCB."""


def theory(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies with what the paper prints: the constant rates and SqAlg's range, for this horizon.

    FS-SCB also has them as they are proved.
    """
    bounds = {
        "noise": given.noise,
        "feature_bound": given.feature_bound,
        "reward_bound": given.reward_bound,
        "parameter_bound": given.parameter_bound,
        "horizon": rounds,
        "reward_range": given.reward_range,
    }
    several = {
        FS: FSSquareCB.bind(**bounds, weighting="paper", exploration="paper", regularization=1.0),
        PROVED: FSSquareCB.bind(**bounds, weighting="corrected", exploration="corrected"),
    }
    return _policies(problem, SquareCB.bind(**bounds, exploration="paper"), several)


@dataclass(frozen=True)
class RootRate(Pending):
    """The constant rate alpha = sqrt(K T) of inverse gaps, for the range of the rewards of the problem."""

    n_actions: int
    rounds: int

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Power:
        """Return the schedule."""
        low, high = constants["reward_range"]
        return Power(math.sqrt(self.n_actions * self.rounds) * (high - low), 0.0)


def practical(problem: Any, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies with one constant rate for all, lambda = 1, U(n) = sqrt(K n); and ours that need no rate."""
    rate = RootRate(problem.n_actions, rounds)
    scale = {"reward_range": given.reward_range, "exploration": rate, "regularization": 1.0}
    paper = FSSquareCB.bind(**scale, noise=given.noise, weighting="range")
    policies = _policies(problem, SquareCB.bind(**scale), {FS: paper}, reference=math.sqrt(problem.n_actions))
    return policies | {UNTUNED: FSIDS.bind()}


def tuned(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies before they are tuned; all but the untuned one are told the range of the rewards."""
    scale = {"reward_range": given.reward_range}
    paper, ours = (FSSquareCB.bind(**scale, noise=given.noise, weighting=w) for w in ("range", "noise"))
    return _policies(problem, SquareCB.bind(**scale), {FS: paper, NOISE_AWARE: ours}) | {UNTUNED: FSIDS.bind()}


def _policies(
    problem: Problem, scb: Binding[SquareCB], several: Mapping[str, Binding[FSSquareCB]], reference: float = 1.0
) -> dict[str, Binding[Any]]:
    chosen: dict[str, Binding[Any]] = {
        BEST: on_map(scb, 0),
        **several,
        OPTIMISTIC: FSOFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound),
        RB: RegretBalancing.bind(bases=on_every_map(scb), reference=reference),
        SECOND: on_map(scb, 1),
    }
    M = problem.shapes["n_models"]
    return chosen | ({WORST: on_map(scb, M - 1)} if M > 2 else {}) | {UNIFORM: Uniform.bind()}


def regimes() -> dict[str, Regime]:
    """Return the three regimes."""
    return {"theory": Regime(theory), "practical": Regime(practical), "tuned": Regime(tuned, GRID, OWN)}


def image_experiment(name: str, title: str, place: str, about: str, replicates: int) -> Experiment:
    """Return an experiment on the maps of the pack of this name; ``replicates``: those of the quick version."""
    return Experiment(
        name=name,
        title=title,
        place=place,
        about=about,
        metric="regret",
        setting="feature maps M",
        problems=partial(image_problems, name),
        regimes=regimes(),
        scales={"quick": Scale((2, 5, 10, 20), 2000, replicates, 4), "paper": Scale((2, 5, 10, 20), 2000, 100, 100)},
        data=lambda: load_pack(name).facts,
        shown=SHOWN,
        added=ADDED,
    )


def image_problems(name: str, models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of maps of a pack: the best, the second best, the worst, others between."""
    pack = load_pack(name)
    maps, rewards = pack.maps, {"labels": pack.labels, "parameters": pack.parameters}
    if max(models, default=0) > len(maps):
        raise refuse(f"{name}: models", list(models), f"numbers up to {len(maps)}, the maps that there are")
    chosen = {M: [maps[i] for i in chosen_maps(len(maps), M)] for M in models}
    return {f"M = {M}": Classification(features=features, **rewards) for M, features in chosen.items()}


def chosen_maps(available: int, n_models: int) -> list[int]:
    """Return which maps M of them are, best first: 0, 1, and then evenly spaced to the last.

    >>> chosen_maps(20, 2), chosen_maps(20, 5)
    ([0, 1], [0, 1, 7, 13, 19])
    """
    others = n_models - 2
    return [0, 1] + [1 + round((available - 2) * (k + 1) / others) for k in range(others)]
