"""Every rival in one arena: all policies that select among maps or regions, on the same problems.

Not in the paper, which compares with regret balancing. Here they play the synthetic problems, the images, the
example of docs/math.md in which every wrong map is refuted on a context of its own (section 9), and latent bandits; all
on the same instances and the same noise.

Our choices: T = 1000; M = 2, 10, 50, on images as far as their packs go; d = 20 and balls of radius sqrt(d) where
problems are synthetic, K = 20 arms and eps = 0.1 for latent bandits. Regret also where the paper shows mean rewards.
"defaults": default arguments plus the constants each policy requires. "tuned": every rate of exploration, radius, width
of a test and one argument of a master by the same steps, on the same replicates, which are not reported; ridge
penalties stay at their defaults. Policies without tunable arguments are left unchanged.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...masters import D3RB, ED2RB, EXP4, BalancingElimination, Corral, DynamicBalancing, RegretBalancing
from ...policies import (
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    OFUL,
    PSIDS,
    PSOFUL,
    PSTS,
    BiasOFUL,
    Binding,
    FSSquareCB,
    LinIDS,
    SquareCB,
    Uniform,
    given,
    on_every_ball,
    on_every_map,
    on_map,
)
from ...problems import (
    Classification,
    ContextPerMap,
    LatentBandit,
    Problem,
    SyntheticFeatureSelection,
    SyntheticParameterSelection,
)
from ...rivals import ALEXP, LEADER, MUCB, SparseOFUL, maillard_munos
from ...runtime.errors import refuse
from ...runtime.inputs import map_widths
from ...simulation import Steps
from ...simulation.tuning import Grid
from ..experiment import Experiment, Regime, Scale
from ..feature_selection import image_problems as map_images
from ..packs import load_pack
from ..parameter_selection import UNIFORM, printed
from ..parameter_selection import image_problems as ball_images

MAPS, REGIONS = "maps", "regions"
BEST_MAP, TRUE_BALL, ALONE = "LinIDS, best map", "PS-IDS, true ball", "LinIDS, no balls"
YARDSTICKS = (BEST_MAP, TRUE_BALL, ALONE, UNIFORM)  #: given the right model, or selecting nothing
FS_OFUL, RB_SCB, RBE_SCB, DB_SCB = "FS-OFUL", "RB-SCB", "RBE-SCB", "DB-SCB"
D3RB_SCB, ED2RB_SCB, LEADER_MAPS, ALEXP_MAPS = "D3RB-SCB", "ED2RB-SCB", "LEADER", "ALEXP"
CORRAL_SCB, CORRAL = "CORRAL-SCB", "CORRAL-OFUL"
CORRAL_SMOOTHED, CORRAL_IMPORTANCE = "CORRAL-OFUL, smoothed", "CORRAL-OFUL, importance"

WORDS = {
    "given.reward_range": "range of the rewards",
    "given.noise": "noise R",
    "given.parameter_bound": "bound S of the parameter",
    "given.feature_bound": "bound L of the features",
    "given.reward_bound": "bound G of the mean rewards",
    "given.error": "error of the models",
    "horizon=": "horizon",
}
"""Constants that a policy, or one inside it, may be given beside the models themselves, as its repr shows them."""

NOTHING = "nothing for this setting"
BALANCED = "order sqrt(M T), if one reference for all bases bounds the regret of one (math.md, Theorem 11)"
ELIMINATED = "order sqrt(M T), if one reference for all bases bounds the regret of one (math.md, Theorem 12)"
DYNAMIC = "order sqrt(M T), if one reference for all bases bounds the regret of one (math.md, Theorem 13)"
DATA_DRIVEN = "order d M sqrt(T) + d^2 sqrt(M T), d sqrt(n) the regret of the best base (Pacchiano et al. 2024)"
SMOOTHED = "order sqrt(T), up to powers of M, over bases of regret u sqrt(n) (Pacchiano et al. 2020)"
PLAIN = "nothing: bases that learn plain rewards may be stuck"
WEIGHED = (
    "nothing over ridge regressions; order u^2 sqrt(M T) over stable bases of regret u sqrt(T) (Agarwal et al. 2017)"
)
ADVICE = "order sqrt(K T log M), against the advice as it is given (Auer et al. 2002, Neu 2015)"
CLASSES = "order T^(2/3), against the best arm of every class (Maillard and Munos 2011)"
ALL_RIGHT = "as OFUL on the best map up to a factor log M, if all maps are right (Papini et al. 2021)"
ONLINE = "order sqrt(M d T (d + log M)), by the conversion of Abbasi-Yadkori et al. 2012"
LASSO = "order sqrt(T log^3 M) + T^(3/4) sqrt(log M), for actions that stay the same (Kassraie et al. 2023)"
DESIGNED = "nothing for this rate; of a round, whatever K (math.md, Lemma 8; Zhu et al. 2022)"
MIXTURE = (
    "nothing for a noise that is learned; for a known one and an exact prior Bayesian regret with an additive log M "
)
MIXTURE += "in the information (math.md, 11)"
SAMPLED = (
    "nothing for a noise that is learned; for a known one and an exact mixture prior Bayesian regret (Hong et al. 2022)"
)
LATENT = "expected regret 3 M + 2 eps T + 2 R sqrt(6 M T log T), for every K (Hong et al. 2020)"
ADDITIVE = "an additive 2 R^2 log M in the squared radius (math.md, Theorem 7')"
UNPROVED = "nothing: the printed radius rests on steps that fail (paper.md)"

RATE, RADIUS, REFERENCE = {"exploration": Steps(300.0)}, {"scale": Steps(0.3)}, {"reference": Steps(1.0)}
COEFFICIENT, WEIGHTS = {"coefficient": Steps(1.0)}, {"learning_rate": Steps(1.0)}
TESTED = RATE | RADIUS
RANGE = {"reward_range": Steps(given.reward_range, factor=10.0**0.25)}
"""Tuned constants: c of the rate c sqrt(t); s of every radius and of every width of a test; u of U(n) = u sqrt(n); the
regret over sqrt(n) that every base is believed; the rate of a master's weights; the range of SqAlg.
"""

IMPORTANCE, REPLAYS = {"feedback": "importance"}, {"feedback": "smoothed"}


@dataclass(frozen=True)
class Contestant:
    """A policy of the arena."""

    name: str
    policy: Binding[Any]  # with the constants that it is given
    proved: str = ""  # of its regret, in one line
    tuned: Grid = field(default_factory=dict)  # arguments with the values that are tried; the same steps for all
    ours: bool = False  # whether it is of this library, not of others
    where: Callable[[Problem], bool] = lambda problem: True  # the problems that it plays

    @property
    def told(self) -> list[str]:
        """Constants of the problem that it needs beside shapes, maps and balls, in words."""
        shown = repr(self.policy)
        return [words for name, words in WORDS.items() if name in shown]


def _narrow(most: int) -> Callable[[Problem], bool]:
    """Return where M maps as wide as the widest have at most so many features: a round costs some the square of it."""

    def narrow(problem: Problem) -> bool:
        M = problem.shapes["n_models"]
        return M * max(map_widths("", problem.shapes["dim"], M)) <= most

    return narrow


def of_maps(problem: Problem, rounds: int) -> tuple[Contestant, ...]:
    """Return the policies that select among feature maps on this problem."""
    span, noise = {"reward_range": given.reward_range}, {"noise": given.noise}
    bound, timed = noise | {"parameter_bound": given.parameter_bound}, span | {"horizon": rounds}
    scb, ucb = on_every_map(SquareCB.bind(**span)), on_every_map(OFUL.bind(**bound))
    mean = [[[0.5, 0.0], [0.5, 0.5]]] * problem.shapes["n_models"]  # of both actions: off a map's context, and on it
    contestants = (
        Contestant("FS-IDS", FSIDS.bind(), MIXTURE, ours=True),
        Contestant("FS-TS", FSTS.bind(), SAMPLED),
        Contestant("FS-MED", FSMED.bind(), NOTHING, ours=True),
        Contestant(FS_OFUL, FSOFUL.bind(**bound), "order sqrt(M T) (math.md, section 9)", RADIUS, ours=True),
        Contestant("FS-SCB", FSSquareCB.bind(**span, **noise), NOTHING, RATE, ours=True),
        Contestant("FS-SCB, design", FSSquareCB.bind(**span, **noise, design="optimal"), DESIGNED, RATE, ours=True),
        Contestant("FS-SCB, range", FSSquareCB.bind(**span, weighting="range"), NOTHING, RATE | RANGE),
        Contestant(RB_SCB, RegretBalancing.bind(bases=scb), BALANCED, RATE | REFERENCE),
        Contestant("RB-OFUL", RegretBalancing.bind(bases=ucb), BALANCED, RADIUS | REFERENCE),
        Contestant(RBE_SCB, BalancingElimination.bind(bases=scb, **noise), ELIMINATED, TESTED | REFERENCE),
        Contestant(DB_SCB, DynamicBalancing.bind(bases=scb, **noise), DYNAMIC, TESTED | REFERENCE),
        Contestant(D3RB_SCB, D3RB.bind(bases=scb, **noise), DATA_DRIVEN, TESTED | COEFFICIENT),
        Contestant(ED2RB_SCB, ED2RB.bind(bases=scb, **noise), DATA_DRIVEN, TESTED | COEFFICIENT),
        Contestant(CORRAL_SCB, Corral.bind(bases=scb, **timed), PLAIN, RATE | WEIGHTS),
        Contestant(CORRAL, Corral.bind(bases=ucb, **timed), PLAIN, RADIUS | WEIGHTS),
        Contestant(CORRAL_SMOOTHED, Corral.bind(bases=ucb, **timed, **REPLAYS), SMOOTHED, RADIUS | WEIGHTS),
        Contestant(CORRAL_IMPORTANCE, Corral.bind(bases=ucb, **timed, **IMPORTANCE), WEIGHED, RADIUS | WEIGHTS),
        Contestant("EXP4.IX-OFUL", EXP4.bind(bases=ucb, **timed), ADVICE, RADIUS | WEIGHTS),
        Contestant("EXP4-OFUL", EXP4.bind(bases=ucb, **timed, exploration="uniform"), ADVICE, RADIUS | WEIGHTS),
        Contestant(
            "S-EXP3",
            maillard_munos(prototypes=mean, n_arms=2, **timed),
            CLASSES,
            WEIGHTS,
            where=lambda problem: isinstance(problem, ContextPerMap),
        ),
        Contestant(LEADER_MAPS, LEADER.bind(**bound), ALL_RIGHT, RADIUS),
        Contestant("Sparse OFUL", SparseOFUL.bind(**bound, **span), ONLINE, RADIUS, where=_narrow(60)),
        Contestant(ALEXP_MAPS, ALEXP.bind(**bound, **span), LASSO, RADIUS | WEIGHTS, where=_narrow(300)),
        Contestant(BEST_MAP, on_map(LinIDS.bind(), 0)),
        Contestant(UNIFORM, Uniform.bind()),
    )
    return tuple(one for one in contestants if one.where(problem))


def of_regions(problem: Problem, rounds: int) -> tuple[Contestant, ...]:
    """Return the policies that select among regions of the parameter on this problem."""
    images = isinstance(problem, Classification)
    radii, true_radii = (given.whole_radii, given.true_radii) if images else (given.radii, given.radii)
    balls, noise = {"centers": given.centers, "radii": radii}, {"noise": given.noise}
    timed = {"reward_range": given.reward_range, "horizon": rounds}
    known = {"centers": given.centers, "error": given.error, **noise, "horizon": rounds}
    ucb = on_every_ball(BiasOFUL.bind(**noise), radii=radii)
    contestants = (
        Contestant("PS-IDS", PSIDS.bind(**balls), MIXTURE, ours=True),
        Contestant("PS-TS", PSTS.bind(**balls), SAMPLED),
        Contestant("PS-OFUL", PSOFUL.bind(**balls, **noise), ADDITIVE, RADIUS, ours=True),
        Contestant("PS-OFUL, printed", printed(**balls, reward_range=given.reward_range), UNPROVED, RADIUS | RANGE),
        Contestant("RB-OFUL", RegretBalancing.bind(bases=ucb), BALANCED, RADIUS | REFERENCE),
        Contestant("RBE-OFUL", BalancingElimination.bind(bases=ucb, **noise), ELIMINATED, RADIUS | REFERENCE),
        Contestant("DB-OFUL", DynamicBalancing.bind(bases=ucb, **noise), DYNAMIC, RADIUS | REFERENCE),
        Contestant("D3RB-OFUL", D3RB.bind(bases=ucb, **noise), DATA_DRIVEN, RADIUS | COEFFICIENT),
        Contestant("ED2RB-OFUL", ED2RB.bind(bases=ucb, **noise), DATA_DRIVEN, RADIUS | COEFFICIENT),
        Contestant(CORRAL, Corral.bind(bases=ucb, **timed), PLAIN, RADIUS | WEIGHTS),
        Contestant(CORRAL_SMOOTHED, Corral.bind(bases=ucb, **timed, **REPLAYS), SMOOTHED, RADIUS | WEIGHTS),
        Contestant(CORRAL_IMPORTANCE, Corral.bind(bases=ucb, **timed, **IMPORTANCE), WEIGHED, RADIUS | WEIGHTS),
        Contestant("EXP4.IX-OFUL", EXP4.bind(bases=ucb, **timed), ADVICE, RADIUS | WEIGHTS),
        Contestant("EXP4-OFUL", EXP4.bind(bases=ucb, **timed, exploration="uniform"), ADVICE, RADIUS | WEIGHTS),
        Contestant(
            "mmUCB", MUCB.bind(**known), LATENT, RADIUS, where=lambda problem: isinstance(problem, LatentBandit)
        ),
        Contestant(TRUE_BALL, PSIDS.bind(centers=given.true_centers, radii=true_radii)),
        Contestant(ALONE, LinIDS.bind()),
        Contestant(UNIFORM, Uniform.bind()),
    )
    return tuple(one for one in contestants if one.where(problem))


def everyone() -> dict[str, dict[str, Contestant]]:
    """Return all contestants by kind (maps or regions) and name."""
    every = {MAPS: of_maps(ContextPerMap(n_models=2), 2), REGIONS: of_regions(LatentBandit(), 2)}
    return {kind: {one.name: one for one in contestants} for kind, contestants in every.items()}


def tuned() -> dict[str, Grid]:
    """Return the values that contestants are tuned over, by name; those of one name have the same everywhere."""
    return {name: one.tuned for named in everyone().values() for name, one in named.items() if one.tuned}


def _maps_of(pack: str, M: int) -> Problem | None:
    return map_images(pack, [M])[f"M = {M}"] if len(load_pack(pack).maps) >= M else None


def _balls_of(pack: str, M: int) -> Problem | None:
    return ball_images(pack, "fine", [M])[f"M = {M}"] if ("fine", M) in load_pack(pack).balls else None


DIM = 20
FAMILIES: dict[str, tuple[str, Callable[[int], Problem | None]]] = {
    "fs-synthetic": (MAPS, lambda M: SyntheticFeatureSelection(n_models=M, dim=DIM)),
    "fs-mnist": (MAPS, partial(_maps_of, "fs-mnist")),
    "fs-cifar100": (MAPS, partial(_maps_of, "fs-cifar100")),
    "section 9": (MAPS, lambda M: ContextPerMap(n_models=M)),
    "ps-synthetic": (REGIONS, lambda M: SyntheticParameterSelection(n_models=M, dim=DIM, radius=math.sqrt(DIM))),
    "ps-mnist": (REGIONS, partial(_balls_of, "ps-mnist")),
    "ps-cifar10": (REGIONS, partial(_balls_of, "ps-cifar10")),
    "latent": (REGIONS, lambda M: LatentBandit(n_models=M, n_arms=20, error=0.1)),
}
"""Families of problems: the models selected among, and the problem with M of them; None where there are not so many."""


def problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return the problems of every family for every number of models that it allows, named after both."""
    found = {f"{name}, M = {M}": make(M) for name, (_, make) in FAMILIES.items() for M in models}
    return {name: problem for name, problem in found.items() if problem is not None}


def kind_of(problem: str) -> str:
    """Return what is selected in the problem of this name."""
    family = problem.partition(", ")[0]
    if family not in FAMILIES:
        raise refuse("problem", problem, "the name of a problem of the arena")
    return FAMILIES[family][0]


def policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies that can play a problem, by name."""
    every = (of_maps if "n_models" in problem.shapes else of_regions)(problem, rounds)
    return {one.name: one.policy for one in every}


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
    ranked=True,
)
