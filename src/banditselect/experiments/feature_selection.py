"""Feature selection: Figure 1 of the paper, on synthetic data and on MNIST, and CIFAR-100 of its appendix.

All three have the policies of the figure, and ours, in the same three regimes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..masters import RegretBalancing
from ..plays.schedules import Power
from ..policies import FSIDS, FSOFUL, Binding, FSSquareCB, Pending, SquareCB, Uniform, given, on_every_map, on_map
from ..problems import Classification, Problem, SyntheticFeatureSelection
from ..runtime.errors import refuse
from ..simulation import Steps
from .experiment import Experiment, Regime, Scale
from .packs import load_pack

BEST, SECOND, WORST = "SquareCB, best map", "SquareCB, second best map", "SquareCB, worst map"
FS, RB = "FS-SCB", "RB-SCB"
PROVED, NOISE_AWARE = "FS-SCB, as proved (ours)", "FS-SCB, noise-aware (ours)"
OPTIMISTIC = "FS-OFUL (ours)"
UNTUNED, UNIFORM = "FS-IDS, untuned (ours)", "Uniform"

# c of the rate c sqrt(t), from about sqrt(K); lambda; u of U(n) = u sqrt(n); s of the radius of likelihood sets
GRID = {"exploration": Steps(3.0), "regularization": Steps(1.0), "reference": Steps(1.0), "scale": Steps(0.1)}
OWN = {FS: {"aggregation_rate": Steps(1.0)}}  #: the rate at which SqAlg weighs the experts of FS-SCB


def theory(problem: Problem, rounds: int) -> dict[str, Binding[Any]]:
    """Return the policies as the paper prints them: the constant rates and SqAlg's range, for this horizon.

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
    """Return the policies before they are tuned; all but the untuned one are given the range of the rewards."""
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


def synthetic_problems(models: Sequence[int]) -> dict[str, Problem]:
    """Return a problem for every number of maps."""
    return {f"M = {n_models}": SyntheticFeatureSelection(n_models=n_models) for n_models in models}


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


SYNTHETIC = """Feature selection, synthetic (paper, Fig. 1 top).

The paper: d = 50, 10 actions a round out of 10,000, noise U[-1/2, 1/2]; FS-SCB and RB-SCB for several M, SquareCB on
the best, the second best and the worst map; 100 problems.

What the text leaves open and what we chose: M = 2, 10, 20, T = 2000, delta = 0.05. {theory} The
constants of an instance (L, G, S) are its own. Every wrong map is equally useless here: "second best" and "worst" are
two of them. The features of every map are drawn about the parameter itself, so that their mean gives it away without
any reward: a strong penalty, under which the estimate points where the rewarded features do, finds it.
"""
MNIST = """Feature selection on MNIST (paper, Fig. 1 bottom, and App. F).

The paper: the layer before the last of a CNN, d = 10, after M different numbers of epochs; accuracies from 20 % to 97
%, the second best 84 %; rewards are linear in the best map, with the parameter of a random class, plus noise U[-1/2,
1/2]; 10 images a round, one of that class; 100 problems.

What the text leaves open and what we chose: rounds offer official test images; M = 2, 5, 10, 20 (the best map, the
second best, and others down to the worst), T = 2000, delta = 0.05. {theory} Rewards are not cut
to [0, 1], which would make them non-linear. Snapshots come from one training run; its own head has the accuracy stated,
but the bandit fits a head of its own, so that the worst map is far from useless. Maps have RMS norm 1. Parameters are
fitted with class weights 1:9, as often as rounds offer the classes. Tuning plays other tasks on the same images.
"""
CIFAR100 = """Feature selection on CIFAR-100 (paper, App. F).

The paper: 1280 features of a fine-tuned EfficientNet-B0 through Gaussian random matrices to d_i in [2, 128]; accuracies
from 5 % to 78 %, the second best 55 %; tasks as on MNIST, 100 classes; 100 problems.

What the text leaves open and what we chose: rounds offer official test images; the best map has d_i = 128 and the
others are far narrower, as listed below, for accuracies like the paper's; M = 2, 5, 10, 20, T = 2000, delta = 0.05.
{theory} The network is EfficientNet-Lite0. Parameters are fitted with class weights 1:9; with
equal weights the rewards of all images are so close to each other that the noise drowns them. Maps have RMS norm 1.
Rewards are not cut to [0, 1]. Tuning plays other tasks on the same images.
"""
THEORY = """In the regime of theory
lambda = 1 for the paper's policies, d R^2 / S^2 for ours, and U(n) = sqrt(n), since no bound of SquareCB is known for
every n."""


def _experiment(
    name: str, on: str, place: str, about: str, problems: Any, models: tuple[int, ...], replicates: int
) -> Experiment:
    """Return an experiment in all regimes; ``replicates``: those of the quick version."""
    return Experiment(
        name=name,
        title=f"Feature selection, {on}",
        place=place,
        about=about.format(theory=THEORY),
        metric="regret",
        setting="feature maps M",
        problems=problems,
        regimes={"theory": Regime(theory), "practical": Regime(practical), "tuned": Regime(tuned, GRID, OWN)},
        scales={"quick": Scale(models, 2000, replicates, 4), "paper": Scale(models, 2000, 100, 100)},
        shown=(FS, RB, BEST, SECOND, WORST),
        added=(OPTIMISTIC, UNTUNED),
    )


IMAGES = (2, 5, 10, 20)
EXPERIMENTS = (
    _experiment("fs-synthetic", "synthetic", "Figure 1, top", SYNTHETIC, synthetic_problems, (2, 10, 20), 10),
    _experiment("fs-mnist", "MNIST", "Figure 1, bottom", MNIST, partial(image_problems, "fs-mnist"), IMAGES, 40),
    _experiment("fs-cifar100", "CIFAR-100", "Appendix F", CIFAR100, partial(image_problems, "fs-cifar100"), IMAGES, 10),
)
