"""Parameter selection: Figures 2 and 3 of the paper, on synthetic data and on images, and its worst parameters."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..masters import RegretBalancing
from ..policies import OFUL, PSIDS, PSOFUL, BiasOFUL, Binding, Uniform, given, on_every_ball
from ..problems import Classification, Problem, SyntheticParameterSelection
from ..runtime.errors import refuse
from ..simulation import Steps
from .experiment import Experiment, Regime, Scale
from .packs import BallPack, load_pack

ORACLE, PS, RB, INDIVIDUAL = "BIAS-OFUL, true centre", "PS-OFUL", "RB-OFUL", "OFUL"
OFUL_MAX, OFUL_10 = "OFUL, S = max", "OFUL, S = 10"
LIKELIHOOD, NARROW = "PS-OFUL, likelihood sets (ours)", "PS-OFUL, likelihood sets, r = c (ours)"
TRUE_BALL, UNIFORM = "PS-OFUL, likelihood sets, true ball only", "Uniform"
UNTUNED = "PS-IDS, untuned (ours)"
ADDED = LIKELIHOOD, UNTUNED

DIM = 20
PENALTY = {"regularization": Steps(1.0)}  #: lambda of OFUL; its set is valid for any
PENALTY_OF_OFUL = 0.01  #: lambda of OFUL in the practical setting of Figure 2, left: its best with the radius of theory
FACTOR = 0.005  #: on the printed radius of PS-OFUL in the practical setting, the same in all figures
GRID = {"scale": Steps(0.1), "reference": Steps(1.0), **PENALTY}  #: s of every radius; u of U(n) = u sqrt(n); lambda
OWN = {PS: {"aggregation_rate": Steps(1.0)}}  #: the rate at which SqAlg weighs the experts of PS-OFUL


def printed(**arguments: Any) -> Binding[PSOFUL]:
    """Return PS-OFUL with the radius of the paper."""
    bounds = {"feature_bound": given.feature_bound, "reward_bound": given.reward_bound, "noise": given.noise}
    return PSOFUL.bind(confidence="paper", **bounds, **arguments)


def synthetic_policies(problem: Problem, rounds: int, reward_range: Any) -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours; SqAlg, inside PS-OFUL, works on this range, None for the printed."""
    balls = {"centers": given.centers, "radii": given.radii}
    return {
        ORACLE: BiasOFUL.bind(center=given.center, radius=given.radii, noise=given.noise),
        TRUE_BALL: PSOFUL.bind(centers=given.true_centers, radii=given.radii, noise=given.noise),
        PS: printed(**balls, reward_range=reward_range),
        LIKELIHOOD: PSOFUL.bind(**balls, noise=given.noise),
        OFUL_MAX: OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound),
        OFUL_10: OFUL.bind(noise=given.noise, parameter_bound=10.0),
        UNTUNED: PSIDS.bind(**balls),
        UNIFORM: Uniform.bind(),
    }


def synthetic_practical(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius times ``FACTOR``, OFUL with that of theory, and our two."""
    chosen = synthetic_policies(problem, rounds, given.reward_range)
    del chosen[ORACLE], chosen[TRUE_BALL]
    rivals = {name: _changed(chosen[name], regularization=PENALTY_OF_OFUL) for name in (OFUL_MAX, OFUL_10)}
    return chosen | {PS: _changed(chosen[PS], scale=FACTOR)} | rivals


def _changed(policy: Binding[Any], **arguments: Any) -> Binding[Any]:
    """Return a policy with other arguments."""
    return Binding(policy.cls, {**policy.arguments, **arguments})


def worst_policies(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius, ours, and uniform play."""
    balls = {"centers": given.centers, "radii": given.radii}
    ours = PSOFUL.bind(**balls, noise=given.noise)
    return {PS: printed(**balls), LIKELIHOOD: ours, UNIFORM: Uniform.bind()}


def synthetic_problems(truth: str, radii: Mapping[str, float], models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every radius; M = 10 is fixed."""
    return {f"b = {b}": SyntheticParameterSelection(dim=DIM, radius=radius, truth=truth) for b, radius in radii.items()}


def image_policies(problem: Problem, rounds: int, reward_range: Any, reference: Any) -> dict[str, Binding[Any]]:
    """Return the policies of the figure, and ours; ``reward_range`` as above, ``reference``: of regret balancing."""
    balls = {"centers": given.centers, "radii": given.radii, "center_errors": given.center_errors}
    noise = {"noise": given.noise}
    bases = on_every_ball(BiasOFUL.bind(**noise), radii=given.whole_radii)
    return {
        ORACLE: BiasOFUL.bind(center=given.center, radius=given.radius, **noise),
        TRUE_BALL: PSOFUL.bind(centers=given.true_centers, radii=given.true_radii, **noise),
        PS: printed(**balls, reward_range=reward_range),
        LIKELIHOOD: PSOFUL.bind(**balls, **noise),
        NARROW: PSOFUL.bind(centers=given.centers, radii=given.center_errors, **noise),
        RB: RegretBalancing.bind(bases=bases, reference=reference),
        INDIVIDUAL: OFUL.bind(parameter_bound=given.parameter_bound, **noise),
        UNTUNED: PSIDS.bind(centers=given.centers, radii=given.whole_radii),
        UNIFORM: Uniform.bind(),
    }


def image_practical(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return PS-OFUL with the printed radius times ``FACTOR``, its rivals with the radii of theory, and our two."""
    chosen = image_policies(problem, rounds, given.reward_range, "own")
    del chosen[TRUE_BALL], chosen[NARROW]
    return chosen | {PS: _changed(chosen[PS], scale=FACTOR)}


def image_problems(name: str, kind: str, models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number M of balls of a pack, of the kind "fine" or "coarse".

    One of the first M classes pays; S of individual learning is that of fine balls.
    """
    pack: BallPack = load_pack(name)
    found: dict[str, Problem] = {}
    for M in models:
        if (kind, M) not in pack.balls:
            raise refuse(f"{name}: models", M, "one of " + ", ".join(str(m) for k, m in pack.balls if k == kind))
        balls, fine = pack.balls[kind, M], pack.balls["fine", M]
        whole = balls.radii + balls.center_errors
        reach = np.linalg.norm(fine.centers, axis=1) + fine.radii + fine.center_errors
        constants = {"centers": balls.centers, "radii": balls.radii, "center_errors": balls.center_errors}
        own = np.zeros(int(pack.labels.max()) + 1, dtype=np.int64)
        own[:M] = balls.components
        found[f"M = {M}"] = Classification(
            features=pack.features,
            labels=pack.labels,
            reward="label",
            targets=list(range(M)),
            constants=constants | {"whole_radii": whole, "parameter_bound": float(reach.max())},
            class_constants={
                "center": balls.centers[own],
                "radius": whole[own],
                "true_centers": balls.centers[own, None],
                "true_radii": whole[own, None],
                "model": own,
            },
        )
    return found


SYNTHETIC = Experiment(
    name="ps-synthetic",
    title="Parameter selection, synthetic",
    place="Figure 2, left",
    about="""Parameter selection, synthetic (paper, Fig. 2 left).

The paper: d = 20, M = 10 balls with N(0, I) centres and radius b in {0, sqrt(d), 2 sqrt(d)}, 10 actions N(0, 0.01 I) a
round, noise U[-1/2, 1/2]; PS-OFUL against OFUL with S = 10 and with S = max_i (|mu_i| + b_i); 50 problems.

What the text leaves open and what we chose: theta uniform in the ball; T = 1000, delta = 0.05, R = 1 / sqrt(12), the
tight constant of this noise; lambda of OFUL, whose set is valid for any, tuned in theory and "tuned", and .01 in
"practical". SqAlg inside PS-OFUL works on the range of the rewards instead of the printed one, on which its weights
would never move, in all but theory. S = 10 is not a bound at b = 2 sqrt(d), where larger parameters occur.
""",
    metric="regret",
    setting="radius b of the balls",
    shown=(PS, OFUL_MAX, OFUL_10),
    added=ADDED,
    problems=partial(
        synthetic_problems, "random", {"0": 0.0, "sqrt(d)": math.sqrt(DIM), "2 sqrt(d)": 2.0 * math.sqrt(DIM)}
    ),
    regimes={
        "theory": Regime(partial(synthetic_policies, reward_range=None), PENALTY),
        "practical": Regime(synthetic_practical),
        "tuned": Regime(
            partial(synthetic_policies, reward_range=given.reward_range), {"scale": GRID["scale"], **PENALTY}, OWN
        ),
    },
    scales={"quick": Scale((), 1000, 50, 4), "paper": Scale((), 1000, 50, 100)},
)

WORST = Experiment(
    name="ps-worst",
    title="Parameter selection, worst parameters",
    place="Section 2.3",
    about="""Parameter selection, worst parameters (paper, eq:transfer-regret).

The paper bounds the transfer regret, which is the supremum over all parameters in the balls of the regret, and measures
regrets at parameters drawn at random. Here the same balls, actions and noise are met with five parameters at which
learning may cost most: far from the origin, near it, between the two closest balls and opposite, and at a centre. The
largest of the five regrets is a lower bound of the supremum, so a bound that it exceeds is wrong.

What the text leaves open and what we chose: as in the synthetic experiment (d = 20, M = 10, T = 1000), with b = 1, the
largest radius that the theorem allows, and b = sqrt(d); 75 sets of balls for each, which are 375 replicates.
""",
    metric="regret",
    setting="radius b of the balls",
    problems=partial(synthetic_problems, "extremes", {"1": 1.0, "sqrt(d)": math.sqrt(DIM)}),
    regimes={"theory": Regime(worst_policies)},
    scales={"quick": Scale((), 300, 10, 0), "paper": Scale((), 1000, 375, 0)},
)

FINE = """Parameter selection on {images} (paper, {place}).

The paper: the 12 neurons before the last layer of {theirs}; 100 M data sets of size 500, a linear
model for each, a Gaussian mixture with M components: its means and covariances are the centres and radii of M balls;
each round 10 images, one of class s* in [M]; rewards Ber(0.9) for it, Ber(0.1) for others. PS-OFUL, RB-OFUL, OFUL, and
BIAS-OFUL with the centre of the true model; 50 runs.

What the text leaves open and what we chose: rounds offer official test images; the "OFUL baselines" of RB-OFUL are
BIAS-OFUL on every ball; M = 2, 5, 10, T = 2000, delta = 0.05, R = 0.427 (the tight constant of these coins), U(n) the
bound that each base has on its own regret, or u sqrt(n) where u is tuned; S = max_i (|mu_i| + r_i) of these balls for
OFUL, whose lambda is tuned in theory and "tuned", and 1 in "practical"; SqAlg inside PS-OFUL works on the printed range
in theory, else on that of the rewards. The network is {ours}. Features are whitened and 1
is appended (d = 13); the fits are calibrated to rewards 0.9 and 0.1. Balls come from images that the network has not
seen. The mixture is one of spherical Gaussians, since a ball is asked for. A radius b is the RMS distance of the
mixture's component to its centre, c the error of that centre; the paper's policies have r = b + c. Most of b is
estimation noise of the fits, not spread of the class, so PS-OFUL with r = c is shown as well. Rewards are not exactly
linear: no bound of theory applies. Tuning plays other tasks on the same images.
"""
COARSE = """Parameter selection on {images} with less accurate models (paper, {place}).

The paper: as {name}, with 10 M data sets of size 50, so that the balls are wider and worse; 50 runs.

What the text leaves open and what we chose: as in {name}.
"""
CIFAR10 = {
    "images": "CIFAR-10",
    "theirs": "EfficientNetV2-S, fine-tuned",
    "ours": "EfficientNet-Lite0 with such a layer",
}
MNIST = {"images": "MNIST", "theirs": "a CNN with 98 % accuracy", "ours": "a small CNN"}


def _on_images(name: str, kind: str, place: str, words: Mapping[str, str]) -> Experiment:
    """Return an experiment on the balls of a pack, its fine or its coarse ones."""
    return Experiment(
        name=name if kind == "fine" else f"{name}-coarse",
        title=f"Parameter selection, {words['images']}" + (", coarse models" if kind == "coarse" else ""),
        place=place,
        about=(COARSE if kind == "coarse" else FINE).format(name=name, place=place, **words),
        metric="mean_reward",
        setting="balls M",
        problems=partial(image_problems, name, kind),
        regimes={
            "theory": Regime(partial(image_policies, reward_range=None, reference="own"), PENALTY),
            "practical": Regime(image_practical),
            "tuned": Regime(partial(image_policies, reward_range=given.reward_range, reference=1.0), GRID, OWN),
        },
        scales={"quick": Scale((2, 5, 10), 2000, 50, 4), "paper": Scale((2, 5, 10), 2000, 50, 100)},
        shown=(PS, RB, ORACLE, INDIVIDUAL),
        added=ADDED,
    )


EXPERIMENTS = (
    SYNTHETIC,
    WORST,
    _on_images("ps-cifar10", "fine", "Figure 2, right", CIFAR10),
    _on_images("ps-cifar10", "coarse", "Figure 3", CIFAR10),
    _on_images("ps-mnist", "fine", "Appendix F", MNIST),
    _on_images("ps-mnist", "coarse", "Appendix F", MNIST),
)
