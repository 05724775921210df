"""Who plays in the arena: the one table of all policies that select among maps or regions, a line each.

A line has the name, the policy with what it is told of a problem, what is proved of its regret, and what of it is
tuned: the rate or radius of whoever explores and one argument of a master, two at most. What it is told is read off the
binding, so that it is stated once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..carriers.binding import Constant, Several
from ..carriers.validation import map_widths
from ..policies import (
    ALEXP,
    D3RB,
    ED2RB,
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    LEADER,
    MUCB,
    OFUL,
    PSIDS,
    PSOFUL,
    PSTS,
    BalancingElimination,
    BiasOFUL,
    Binding,
    DynamicBalancing,
    FSSquareCB,
    LinIDS,
    RegretBalancing,
    SparseOFUL,
    SquareCB,
    Uniform,
    given,
    on_every_ball,
    on_every_map,
    on_map,
)
from ..problems import Classification, ContextPerMap, LatentBandit, Problem
from ..simulation.search import Steps
from ..simulation.tuning import Grid
from .ps_shared import UNIFORM, printed

MAPS, REGIONS = "maps", "regions"
FS_OFUL, RB_SCB, RBE_SCB, DB_SCB = "FS-OFUL", "RB-SCB", "RBE-SCB", "DB-SCB"
D3RB_SCB, ED2RB_SCB, LEADER_MAPS, ALEXP_MAPS = "D3RB-SCB", "ED2RB-SCB", "LEADER", "ALEXP"
BEST_MAP, TRUE_BALL, ALONE = "LinIDS, best map", "PS-IDS, true ball", "LinIDS, no balls"
YARDSTICKS = (BEST_MAP, TRUE_BALL, ALONE, UNIFORM)  #: who is told the right model, or selects nothing

WORDS = {
    "reward_range": "range of the rewards",
    "noise": "noise R",
    "parameter_bound": "bound S of the parameter",
    "feature_bound": "bound L of the features",
    "reward_bound": "bound G of the mean rewards",
    "error": "error of the models",
    "horizon": "horizon",
}
"""What a policy may be told beside the models themselves."""

NOTHING = "nothing for this setting"
BALANCED = "order sqrt(M T), if the reference bounds the regret of one base (math.md, Theorem 11)"
MIXTURE = "Bayesian regret with an additive log M in the information, for known noise and an exact prior (math.md, 11)"
ELIMINATED = "order sqrt(M T), if the reference bounds the regret of one base (math.md, Theorem 12)"
DYNAMIC = "order sqrt(M T), if the reference bounds the regret of one base (math.md, Theorem 13)"
DATA_DRIVEN = "order d M sqrt(T) + d^2 sqrt(M T), d sqrt(n) the regret of the best base (Pacchiano et al. 2024)"
ALL_RIGHT = "as OFUL on the best map, if all maps are right (Papini et al. 2021)"
ONLINE = "order sqrt(M d T (d + log M)) (Abbasi-Yadkori et al. 2012)"
LASSO = "order sqrt(T log^3 M) + T^(3/4) sqrt(log M), for actions that stay the same (Kassraie et al. 2023)"
SAMPLED = "Bayesian regret for an exact mixture prior (Hong et al. 2022)"
HONG = "expected regret 3 M + 2 eps T + 2 R sqrt(6 M T log T), whatever K (Hong et al. 2020)"
ADDITIVE = "an additive 2 R^2 log M in the squared radius (math.md, Theorem 7')"
UNPROVED = "nothing: the printed radius rests on steps that fail (paper.md)"

RATE, RADIUS, REFERENCE = {"exploration": Steps(300.0)}, {"scale": Steps(0.3)}, {"reference": Steps(1.0)}
COEFFICIENT, WEIGHTS = {"coefficient": Steps(1.0)}, {"learning_rate": Steps(1.0)}
RANGE = {"reward_range": Steps(given.reward_range, factor=10.0**0.25)}
"""What is tuned: c of the rate c sqrt(t), s of every radius, u of U(n) = u sqrt(n), the regret over sqrt(n) that every
base is believed, the rate of a master's weights, the range of SqAlg.
"""

WIDEST = 300  #: features of all maps together up to which Sparse OFUL and ALEXP play: they cost the square a round


@dataclass(frozen=True)
class Contestant:
    """A policy of the arena.

    Attributes
    ----------
    name: in tables and figures.
    policy: what ``bind`` returned, with what it is told.
    proved: of its regret, in one line.
    tuned: arguments with the values that are tried; the same steps for all.
    ours: whether it is of this library, not of others.
    """

    name: str
    policy: Binding[Any]
    proved: str = ""
    tuned: Grid = field(default_factory=dict)
    ours: bool = False

    @property
    def told(self) -> list[str]:
        """What it has to be told of a problem beside shapes, maps and balls, in words."""
        found = set(_told(self.policy))
        return [words for name, words in WORDS.items() if name in found]


def _told(value: Any) -> Iterator[str]:
    """Yield the names of the constants that a policy, or one inside it, is given."""
    if isinstance(value, Constant):
        yield value.name
    elif isinstance(value, Binding):
        yield from (name for name in value.arguments if name == "horizon")
        for part in value.arguments.values():
            yield from _told(part)
    elif isinstance(value, Several):
        yield from _told(value.policy)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _told(part)


def of_maps(problem: Problem, rounds: int) -> tuple[Contestant, ...]:
    """Return who selects among feature maps, on this problem."""
    span, bound = {"reward_range": given.reward_range}, {"noise": given.noise, "parameter_bound": given.parameter_bound}
    noise, M = {"noise": given.noise}, problem.shapes["n_models"]
    scb, ucb = on_every_map(SquareCB.bind(**span)), on_every_map(OFUL.bind(**bound))
    side_by_side = (
        Contestant("Sparse OFUL", SparseOFUL.bind(**bound, **span), ONLINE, RADIUS),
        Contestant(ALEXP_MAPS, ALEXP.bind(**bound, **span), LASSO, RADIUS | WEIGHTS),
    )
    return (
        Contestant("FS-IDS", FSIDS.bind(), MIXTURE, ours=True),
        Contestant("FS-TS", FSTS.bind(), SAMPLED),
        Contestant("FS-MED", FSMED.bind(), NOTHING, ours=True),
        Contestant(FS_OFUL, FSOFUL.bind(**bound), "order sqrt(M T) (math.md, section 9)", RADIUS, ours=True),
        Contestant("FS-SCB", FSSquareCB.bind(**span, noise=given.noise), NOTHING, RATE, ours=True),
        Contestant("FS-SCB, range", FSSquareCB.bind(**span, weighting="range"), NOTHING, RATE | RANGE),
        Contestant(RB_SCB, RegretBalancing.bind(bases=scb), BALANCED, RATE | REFERENCE),
        Contestant("RB-OFUL", RegretBalancing.bind(bases=ucb), BALANCED, RADIUS | REFERENCE),
        Contestant(RBE_SCB, BalancingElimination.bind(bases=scb, **noise), ELIMINATED, RATE | REFERENCE),
        Contestant(DB_SCB, DynamicBalancing.bind(bases=scb, **noise), DYNAMIC, RATE | REFERENCE),
        Contestant(D3RB_SCB, D3RB.bind(bases=scb, **noise), DATA_DRIVEN, RATE | COEFFICIENT),
        Contestant(ED2RB_SCB, ED2RB.bind(bases=scb, **noise), DATA_DRIVEN, RATE | COEFFICIENT),
        Contestant(LEADER_MAPS, LEADER.bind(**bound), ALL_RIGHT, RADIUS),
        *(side_by_side if np.sum(map_widths("", problem.shapes["dim"], M)) <= WIDEST else ()),
        Contestant(BEST_MAP, on_map(LinIDS.bind(), 0)),
        Contestant(UNIFORM, Uniform.bind()),
    )


def of_regions(problem: Problem, rounds: int) -> tuple[Contestant, ...]:
    """Return who selects among regions of the parameter, on this problem."""
    images = isinstance(problem, Classification)
    radii, true_radii = (given.whole_radii, given.true_radii) if images else (given.radii, given.radii)
    balls, noise = {"centers": given.centers, "radii": radii}, {"noise": given.noise}
    ucb = on_every_ball(BiasOFUL.bind(**noise), radii=radii)
    latent = (
        Contestant("mmUCB", MUCB.bind(centers=given.centers, error=given.error, **noise, horizon=rounds), HONG, RADIUS),
    )
    return (
        Contestant("PS-IDS", PSIDS.bind(**balls), MIXTURE, ours=True),
        Contestant("PS-TS", PSTS.bind(**balls), SAMPLED),
        Contestant("PS-OFUL", PSOFUL.bind(**balls, **noise), ADDITIVE, RADIUS, ours=True),
        Contestant("PS-OFUL, printed", printed(**balls, reward_range=given.reward_range), UNPROVED, RADIUS | RANGE),
        Contestant("RB-OFUL", RegretBalancing.bind(bases=ucb), BALANCED, RADIUS | REFERENCE),
        Contestant("RBE-OFUL", BalancingElimination.bind(bases=ucb, **noise), ELIMINATED, RADIUS | REFERENCE),
        Contestant("DB-OFUL", DynamicBalancing.bind(bases=ucb, **noise), DYNAMIC, RADIUS | REFERENCE),
        Contestant("D3RB-OFUL", D3RB.bind(bases=ucb, **noise), DATA_DRIVEN, RADIUS | COEFFICIENT),
        Contestant("ED2RB-OFUL", ED2RB.bind(bases=ucb, **noise), DATA_DRIVEN, RADIUS | COEFFICIENT),
        *(latent if isinstance(problem, LatentBandit) else ()),
        Contestant(TRUE_BALL, PSIDS.bind(centers=given.true_centers, radii=true_radii)),
        Contestant(ALONE, LinIDS.bind()),
        Contestant(UNIFORM, Uniform.bind()),
    )


def everyone() -> dict[str, dict[str, Contestant]]:
    """Return all contestants by what they select among and by name."""
    return {MAPS: _named(of_maps(ContextPerMap(), 2)), REGIONS: _named(of_regions(LatentBandit(), 2))}


def _named(contestants: tuple[Contestant, ...]) -> dict[str, Contestant]:
    return {one.name: one for one in contestants}


def tuned() -> dict[str, Grid]:
    """Return the values that contestants are tuned over, by name; those of one name have the same everywhere."""
    return {name: one.tuned for named in everyone().values() for name, one in named.items() if one.tuned}
