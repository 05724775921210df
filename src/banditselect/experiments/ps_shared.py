"""What the four experiments on parameter selection with images share: balls, and policies by regime."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..masters import RegretBalancing
from ..policies import OFUL, PSIDS, PSOFUL, BiasOFUL, Binding, Uniform, given, on_every_ball
from ..problems import Classification, Problem
from ..runtime.errors import refuse
from ..simulation.search import Steps
from .experiment import Experiment, Regime, Scale
from .packs import BallPack, load_pack

ORACLE, PS, RB, INDIVIDUAL = "BIAS-OFUL, true centre", "PS-OFUL", "RB-OFUL", "OFUL"
LIKELIHOOD, NARROW = "PS-OFUL, likelihood sets (ours)", "PS-OFUL, likelihood sets, r = c (ours)"
TRUE_BALL, UNIFORM = "PS-OFUL, likelihood sets, true ball only", "Uniform"
UNTUNED = "PS-IDS, untuned (ours)"
ADDED = LIKELIHOOD, UNTUNED

PENALTY = {"regularization": Steps(1.0)}
"""lambda of OFUL; its set is valid for any."""

FACTOR = 0.005
"""The practical factor on the printed radius of PS-OFUL, the same in all figures."""

GRID = {"scale": Steps(0.1), "reference": Steps(1.0), **PENALTY}
"""s of every radius; u of U(n) = u sqrt(n); lambda of OFUL."""

OWN = {PS: {"aggregation_rate": Steps(1.0)}}
"""The rate at which SqAlg weighs the experts of PS-OFUL."""


def policies(problem: Problem, rounds: int, reward_range: Any, reference: Any) -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours.

    ``reward_range``: on which SqAlg works inside PS-OFUL, None for the printed.  ``reference``: of regret balancing.
    """
    balls = {"centers": given.centers, "radii": given.radii, "center_errors": given.center_errors}
    noise = {"noise": given.noise}
    return {
        ORACLE: BiasOFUL.bind(center=given.center, radius=given.radius, **noise),
        TRUE_BALL: PSOFUL.bind(centers=given.true_centers, radii=given.true_radii, **noise),
        PS: printed(**balls, reward_range=reward_range),
        LIKELIHOOD: PSOFUL.bind(**balls, **noise),
        NARROW: PSOFUL.bind(centers=given.centers, radii=given.center_errors, **noise),
        RB: RegretBalancing.bind(
            bases=on_every_ball(BiasOFUL.bind(**noise), radii=given.whole_radii), reference=reference
        ),
        INDIVIDUAL: OFUL.bind(parameter_bound=given.parameter_bound, **noise),
        UNTUNED: PSIDS.bind(centers=given.centers, radii=given.whole_radii),
        UNIFORM: Uniform.bind(),
    }


def practical(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius times ``FACTOR``, its rivals with the radii of theory, and our two."""
    chosen = policies(problem, rounds, given.reward_range, "own")
    del chosen[TRUE_BALL], chosen[NARROW]
    return chosen | {PS: Binding(PSOFUL, chosen[PS].arguments | {"scale": FACTOR})}


theory = partial(policies, reward_range=None, reference="own")
tuned = partial(policies, reward_range=given.reward_range, reference=1.0)


def printed(**arguments: Any) -> Binding[PSOFUL]:
    """Return PS-OFUL with the radius of the paper."""
    bounds = {"feature_bound": given.feature_bound, "reward_bound": given.reward_bound, "noise": given.noise}
    return PSOFUL.bind(confidence="paper", **bounds, **arguments)


def image_experiment(name: str, title: str, place: str, about: str) -> Experiment:
    """Return an experiment on the balls of the pack of this name; on its coarse ones if the name ends so."""
    pack, kind = name.removesuffix("-coarse"), "coarse" if name.endswith("-coarse") else "fine"
    return Experiment(
        name=name,
        title=title,
        place=place,
        about=about,
        metric="mean_reward",
        setting="balls M",
        problems=partial(image_problems, pack, kind),
        regimes={
            "theory": Regime(theory, PENALTY),
            "practical": Regime(practical),
            "tuned": Regime(tuned, GRID, OWN),
        },
        scales={"quick": Scale((2, 5, 10), 2000, 50, 4), "paper": Scale((2, 5, 10), 2000, 50, 100)},
        data=lambda: load_pack(pack).facts,
        shown=(PS, RB, ORACLE, INDIVIDUAL),
        added=ADDED,
    )


def image_problems(name: str, kind: str, models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of balls of a pack, of the kind "fine" or "coarse"."""
    pack = load_pack(name)
    for M in models:
        if (kind, M) not in pack.balls:
            raise refuse(f"{name}: models", M, "one of " + ", ".join(str(m) for k, m in pack.balls if k == kind))
    return {f"M = {M}": _image_problem(pack, kind, M) for M in models}


def _image_problem(pack: BallPack, kind: str, M: int) -> Classification:
    """Return the problem in which one of the first M classes pays; S of individual learning is that of fine balls."""
    balls, fine = pack.balls[kind, M], pack.balls["fine", M]
    whole = balls.radii + balls.center_errors
    reach = np.linalg.norm(fine.centers, axis=1) + fine.radii + fine.center_errors
    own = np.zeros(int(pack.labels.max()) + 1, dtype=np.int64)
    own[:M] = balls.components
    return Classification(
        features=pack.features,
        labels=pack.labels,
        reward="label",
        targets=list(range(M)),
        constants={
            "centers": balls.centers,
            "radii": balls.radii,
            "center_errors": balls.center_errors,
            "whole_radii": whole,
            "parameter_bound": float(reach.max()),
        },
        class_constants={
            "center": balls.centers[own],
            "radius": whole[own],
            "true_centers": balls.centers[own, None],
            "true_radii": whole[own, None],
            "model": own,
        },
    )
