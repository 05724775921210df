"""Every rival in one arena: all policies that select among maps or regions, on the same problems.

Not in the paper, which compares with regret balancing. The policies of the table in ``arena_policies`` play the
synthetic problems, the images, the example of docs/math.md in which every wrong map is refuted on a context of its own
(section 9), and latent bandits; all on the same instances and the same noise.

Our choices: T = 1000; M = 2, 10, 50, on images as far as their packs go; d = 20 and balls of radius sqrt(d) where
problems are synthetic, K = 20 arms and eps = 0.1 for latent bandits. Regret also where the paper shows mean rewards.
"defaults": default arguments plus the constants each policy requires. "tuned": every rate of exploration, radius, width
of a test and one argument of a master by the same steps, on the same replicates, which are not reported; ridge
penalties stay at their defaults. Policies without tunable arguments are left unchanged.
"""

import math
from collections.abc import Sequence
from typing import Any

from ...policies import Binding
from ...problems import (
    ContextPerMap,
    LatentBandit,
    Problem,
    SyntheticFeatureSelection,
    SyntheticParameterSelection,
)
from ...runtime.errors import refuse
from ..experiment import Experiment, Ranking, Regime, Scale
from ..feature_selection import image_problems as map_images
from ..packs import load_pack
from ..parameter_selection import UNIFORM
from ..parameter_selection import image_problems as ball_images
from .arena_policies import MAPS, REGIONS, YARDSTICKS, Contestant, of_maps, of_regions, tuned

DIM = 20
KINDS = {
    "fs-synthetic": MAPS,
    "fs-mnist": MAPS,
    "fs-cifar100": MAPS,
    "section 9": MAPS,
    "ps-synthetic": REGIONS,
    "ps-mnist": REGIONS,
    "ps-cifar10": REGIONS,
    "latent": REGIONS,
}
"""What is selected in every family of problems."""


def contestants(problem: Problem, rounds: int) -> tuple[Contestant, ...]:
    """Return the policies of the table that can play a problem."""
    return (of_maps if "n_models" in problem.shapes else of_regions)(problem, rounds)


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies by name."""
    return {one.name: one.policy for one in contestants(problem, rounds)}


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return the problems of every family for every number of models that it allows, named after both."""
    found: dict[str, Problem] = {}
    for family in KINDS:
        found |= {f"{family}, M = {M}": problem for M in models if (problem := _problem(family, M)) is not None}
    return found


def _problem(family: str, M: int) -> Problem | None:
    """Return the problem of a family with M models, None where there are not so many."""
    if family == "fs-synthetic":
        return SyntheticFeatureSelection(n_models=M, dim=DIM)
    if family == "section 9":
        return ContextPerMap(n_models=M)
    if family == "ps-synthetic":
        return SyntheticParameterSelection(n_models=M, dim=DIM, radius=math.sqrt(DIM))
    if family == "latent":
        return LatentBandit(n_models=M, n_arms=20, error=0.1)
    if KINDS[family] == MAPS:
        return map_images(family, [M])[f"M = {M}"] if len(load_pack(family).maps) >= M else None
    return ball_images(family, "fine", [M])[f"M = {M}"] if ("fine", M) in load_pack(family).balls else None


def kind_of(problem: str) -> str:
    """Return what is selected in the problem of this name."""
    family = problem.partition(", ")[0]
    if family not in KINDS:
        raise refuse("problem", problem, "the name of a problem of the arena")
    return KINDS[family]


EXPERIMENT = Experiment(
    name="arena",
    title="Every rival in one arena",
    place="not in the paper",
    about=__doc__ or "",
    metric="regret",
    setting="problem",
    problems=problems,
    regimes={"defaults": Regime(policies), "tuned": Regime(policies, own=tuned())},
    scales={"quick": Scale((2,), 100, 6, 2), "paper": Scale((2, 10, 50), 1000, 30, 12)},
    of_paper=False,
    ranking=Ranking(kind_of, UNIFORM, YARDSTICKS),
)
