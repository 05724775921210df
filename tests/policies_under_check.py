"""Every registered policy in the settings in which it is checked: what it does not pass and why, what cannot run."""

import numpy as np
import pytest

from banditselect import (
    FSIDS,
    FSMED,
    FSOFUL,
    FSTS,
    OFUL,
    PSIDS,
    PSOFUL,
    PSTS,
    BiasOFUL,
    FSSquareCB,
    Greedy,
    LinIDS,
    LinMED,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    on_map,
)
from banditselect.masters import (
    D3RB,
    ED2RB,
    EXP4,
    AdaptiveSquareCB,
    BalancingElimination,
    Corral,
    DynamicBalancing,
    LatentReference,
)
from banditselect.rivals import ALEXP, LEADER, MUCB, SEXP3, UCB1, SparseOFUL

D = 4
RANGE = (-2.0, 2.0)
CENTERS = np.array([[0.5, -0.5, 0.2, 0.1], [1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.5, 0.5]])
SHAPES = np.array([np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4) + 0.5, np.eye(4)])
BOUNDS = {"feature_bound": 3.0, "reward_bound": 3.0}
SCB_BOUNDS = {**BOUNDS, "parameter_bound": 1.0, "horizon": 500}

LAMBDA = "lambda = 1 / r^2, as the paper and BIAS-OFUL have it, carries the units of the rewards"
PRINTED = "the printed radius and rate are so wide that play stays close to uniform for hundreds of rounds"
PROVED = "the rate that is proved for every sequence explores in about half of a few hundred rounds"
PLAYED = "what learners would have earned is known of rounds that it played, and of no others"
POSITIONS = "an arm is the position of an action, whatever its features"
WEIGHED = "losses that are divided by two probabilities take thousands of rounds to tell arms apart"
UNITS = "the printed constants add terms of different units"
ON_MAPS = [on_map(SquareCB(dim=D, reward_range=RANGE), i) for i in range(3)]

POLICIES = {
    "Uniform": (Uniform.bind(), {"check_learning": "it learns nothing"}),
    "Greedy": (Greedy.bind(center=CENTERS[0]), {}),
    "UCB1": (UCB1.bind(n_arms=5, noise=0.1), {"check_permuted_actions": POSITIONS}),
    "SquareCB": (SquareCB.bind(dim=D, reward_range=RANGE, regularization=0.7), {}),
    "SquareCB paper": (
        SquareCB.bind(dim=D, noise=0.1, reward_range=RANGE, exploration="paper", **SCB_BOUNDS),
        {"check_rescaling": UNITS, "check_learning": PRINTED},
    ),
    "SquareCB corrected": (
        SquareCB.bind(dim=D, noise=0.1, reward_range=RANGE, exploration="corrected", **SCB_BOUNDS),
        {},
    ),
    "SquareCB design": (SquareCB.bind(dim=D, reward_range=RANGE, design="optimal"), {}),
    "SquareCB design, intercept": (SquareCB.bind(dim=D, reward_range=RANGE, design="optimal", intercept=True), {}),
    "OFUL": (OFUL.bind(dim=D, noise=0.1, regularization=0.3), {}),
    "BiasOFUL": (BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1), {"check_rescaling": LAMBDA}),
    "BiasOFUL known": (BiasOFUL.bind(center=CENTERS[0], radius=0.0, noise=0.1), {}),
    "LinTS": (LinTS.bind(dim=D, noise=0.1), {}),
    "LinTS centred": (LinTS.bind(dim=D, noise=0.1, center=CENTERS[0]), {}),
    "SquareCB intercept": (SquareCB.bind(dim=D, reward_range=RANGE, intercept=True), {}),
    "OFUL intercept": (OFUL.bind(dim=D, noise=0.1, intercept=True), {}),
    "BiasOFUL intercept": (
        BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1, intercept=True),
        {"check_rescaling": LAMBDA},
    ),
    "LinTS intercept": (LinTS.bind(dim=D, noise=0.1, intercept=True), {}),
    "FSSquareCB": (FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, noise=0.1), {}),
    "FSSquareCB ragged": (FSSquareCB.bind(n_models=3, dim=[4, 2, 5], reward_range=RANGE, noise=0.1), {}),
    "FSSquareCB range": (
        FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, regularization=0.5, weighting="range"),
        {},
    ),
    "FSSquareCB intercept": (
        FSSquareCB.bind(n_models=3, dim=[4, 2, 5], reward_range=RANGE, noise=0.1, intercept=True),
        {},
    ),
    "FSSquareCB design": (
        FSSquareCB.bind(n_models=3, dim=[4, 2, 5], reward_range=RANGE, noise=0.1, design="optimal"),
        {},
    ),
    "FSSquareCB design, learned": (
        FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, weighting="learned", intercept=True, design="optimal"),
        {},
    ),
    "FSSquareCB learned": (FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, weighting="learned"), {}),
    "FSSquareCB learned, intercept": (
        FSSquareCB.bind(n_models=3, dim=[4, 2, 5], reward_range=RANGE, weighting="learned", intercept=True),
        {},
    ),
    "FSSquareCB paper": (
        FSSquareCB.bind(
            n_models=3,
            dim=D,
            noise=0.1,
            reward_range=RANGE,
            weighting="paper",
            exploration="paper",
            **SCB_BOUNDS,
        ),
        {"check_rescaling": UNITS, "check_learning": PRINTED},
    ),
    "FSSquareCB corrected": (
        FSSquareCB.bind(
            n_models=3,
            dim=D,
            noise=0.1,
            reward_range=RANGE,
            weighting="corrected",
            exploration="corrected",
            **SCB_BOUNDS,
        ),
        {"check_learning": PROVED},
    ),
    "FSOFUL": (FSOFUL.bind(n_models=3, dim=D, noise=0.1), {}),
    "FSOFUL ragged online": (
        FSOFUL.bind(n_models=3, dim=[4, 2, 5], noise=0.1, likelihood="online", misspecification=0.01),
        {},
    ),
    "FSOFUL intercept": (FSOFUL.bind(n_models=3, dim=[4, 2, 5], noise=0.1, regularization=0.5, intercept=True), {}),
    "PSOFUL": (PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0], noise=0.1), {}),
    "PSOFUL shapes": (
        PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, prior_weights=[0.2, 0.3, 0.5], noise=0.1),
        {},
    ),
    "PSOFUL intercept": (PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0], noise=0.1, intercept=True), {}),
    "PSOFUL paper": (
        PSOFUL.bind(centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", **BOUNDS),
        {"check_rescaling": UNITS, "check_learning": PRINTED},
    ),
    "PSOFUL paper, own range": (
        PSOFUL.bind(centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", reward_range=RANGE, **BOUNDS),
        {"check_rescaling": UNITS, "check_learning": PRINTED},
    ),
    "RegretBalancing": (
        RegretBalancing.bind(bases=[on_map(SquareCB(dim=D, reward_range=RANGE), i) for i in range(3)]),
        {},
    ),
    "RegretBalancing own": (
        RegretBalancing.bind(
            bases=[OFUL(dim=D, noise=0.1), OFUL(dim=D, noise=0.1, regularization=2.0)],
            reference="own",
            rule="balancing",
        ),
        {},
    ),
    "RegretBalancing nested": (
        RegretBalancing.bind(
            bases=[
                Uniform(),
                RegretBalancing(bases=[SquareCB(dim=D, reward_range=RANGE), LinTS(dim=D, noise=0.1)]),
            ],
            rule="balancing",
        ),
        {},
    ),
    "RegretBalancing latent": (
        RegretBalancing.bind(
            bases=[UCB1(n_arms=5, noise=0.1), Greedy(center=CENTERS[0]), Greedy(center=CENTERS[1])],
            reference=LatentReference(error=0.02, n_arms=5, scale=0.1),
        ),
        {},
    ),
    "BalancingElimination": (
        BalancingElimination.bind(bases=ON_MAPS, reference=[1.0, Power(0.5, 0.6), 2.0], noise=0.1, scale=0.5),
        {},
    ),
    "BalancingElimination own": (
        BalancingElimination.bind(
            bases=[OFUL(dim=D, noise=0.1), OFUL(dim=D, noise=0.1, regularization=2.0)], reference="own", noise=0.1
        ),
        {},
    ),
    "DynamicBalancing": (
        DynamicBalancing.bind(bases=ON_MAPS, reference=[1.0, Power(0.5, 0.6), 2.0], noise=0.1, scale=0.5),
        {},
    ),
    "D3RB": (D3RB.bind(bases=ON_MAPS, coefficient=0.5, noise=0.1), {}),
    "ED2RB": (ED2RB.bind(bases=[Uniform(), LinTS(dim=D, noise=0.1)], coefficient=0.1, noise=0.1), {}),
    "AdaptiveSquareCB": (
        AdaptiveSquareCB.bind(dim=D, levels=2, reward_range=RANGE, horizon=500, propensities=True),
        {},
    ),
    "Corral": (
        Corral.bind(
            bases=[SquareCB(dim=D, reward_range=RANGE), OFUL(dim=D, noise=0.1)],
            feedback="smoothed",
            reward_range=RANGE,
            snapshots=2,
            propensities=True,
        ),
        {},
    ),
    "Corral plain": (
        Corral.bind(
            bases=[on_map(OFUL(dim=D, noise=0.1), 0), on_map(LinTS(dim=D, noise=0.1), 0)],
            reward_range=RANGE,
            horizon=400,
        ),
        {},
    ),
    "Corral importance": (
        Corral.bind(
            bases=[SEXP3(n_arms=5, reward_range=RANGE), Uniform()],
            feedback="importance",
            reward_range=RANGE,
            propensities=True,
        ),
        {"check_permuted_actions": POSITIONS, "check_learning": WEIGHED},
    ),
    "EXP4": (
        EXP4.bind(bases=[SquareCB(dim=D, reward_range=RANGE), Greedy(center=-CENTERS[0])], reward_range=RANGE),
        {},
    ),
    "EXP4 uniform": (
        EXP4.bind(
            bases=[SEXP3(n_arms=5, reward_range=RANGE), UCB1(n_arms=5, noise=0.1)],
            exploration="uniform",
            reward_range=RANGE,
            horizon=400,
        ),
        {"check_permuted_actions": POSITIONS},
    ),
    "SEXP3": (
        SEXP3.bind(n_arms=5, prototypes=CENTERS, reward_range=(-1.0, 1.0), learning_rate=2.0),
        {"check_permuted_actions": POSITIONS},
    ),
    "LinIDS": (LinIDS.bind(dim=D), {}),
    "LinIDS told": (LinIDS.bind(dim=D, noise=0.1, intercept=False, floor=0.1), {}),
    "FSIDS": (FSIDS.bind(n_models=3, dim=D), {}),
    "FSIDS ragged": (FSIDS.bind(n_models=3, dim=[4, 2, 5], prior_weights=[0.2, 0.3, 0.5], floor=0.05), {}),
    "PSIDS": (PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0]), {}),
    "PSIDS shapes": (PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, intercept=True), {}),
    "PSIDS told": (PSIDS.bind(centers=CENTERS, radii=0.3, noise=0.1, prior_weights=[0.2, 0.3, 0.5]), {}),
    "FSIDS memory": (FSIDS.bind(n_models=3, dim=[4, 2, 5], memory=100), {}),
    "PSIDS memory": (PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, memory=100), {}),
    "OFUL memory": (OFUL.bind(dim=D, noise=0.1, intercept=True, memory=100), {}),
    "LinTS memory": (LinTS.bind(dim=D, noise=0.1, memory=100), {}),
    "SquareCB memory": (SquareCB.bind(dim=D, reward_range=RANGE, memory=100), {}),
    "FSSquareCB memory": (
        FSSquareCB.bind(n_models=3, dim=[4, 2, 5], reward_range=RANGE, noise=0.1, memory=100),
        {},
    ),
    "FSSquareCB range, memory": (
        FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, weighting="range", intercept=True, memory=100),
        {},
    ),
    "FSSquareCB share": (
        FSSquareCB.bind(n_models=3, dim=D, reward_range=RANGE, regularization=0.5, weighting="range", share=0.01),
        {},
    ),
    "LinMED": (LinMED.bind(dim=D), {}),
    "LinMED told": (LinMED.bind(dim=D, noise=0.1, intercept=False, best_share=0.5), {}),
    "FSMED": (FSMED.bind(n_models=3, dim=D), {}),
    "FSMED ragged": (FSMED.bind(n_models=3, dim=[4, 2, 5], prior_weights=[0.2, 0.3, 0.5], best_share=0.9), {}),
    "FSTS": (FSTS.bind(n_models=3, dim=D), {}),
    "FSTS ragged": (FSTS.bind(n_models=3, dim=[4, 2, 5], prior_weights=[0.2, 0.3, 0.5], noise=0.1), {}),
    "PSTS": (PSTS.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0]), {}),
    "PSTS shapes": (PSTS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, intercept=True), {}),
    "PSTS known": (PSTS.bind(centers=CENTERS, radii=0.0, noise=0.1), {}),
    "MUCB": (MUCB.bind(centers=CENTERS, horizon=500, noise=0.1), {}),
    "MUCB robust": (MUCB.bind(centers=CENTERS, horizon=500, noise=0.1, error=0.05, scale=0.5), {}),
    "LinIDS blocks": (LinIDS.bind(dim=D, blocks=3), {}),
    "LinMED blocks": (LinMED.bind(dim=D, blocks=3), {}),
    "FSIDS blocks": (FSIDS.bind(n_models=3, dim=[4, 2, 5], blocks=[3, 1, 2]), {}),
    "FSMED blocks, memory": (FSMED.bind(n_models=3, dim=[4, 2, 5], blocks=[3, 1, 2], memory=100.0), {}),
    "FSSquareCB blocks": (
        FSSquareCB.bind(n_models=3, dim=[4, 2, 5], blocks=[3, 1, 2], reward_range=RANGE, noise=0.1, intercept=True),
        {},
    ),
    "OFUL blocks": (OFUL.bind(dim=D, blocks=3, noise=0.1), {}),
    "LinTS blocks": (LinTS.bind(dim=D, blocks=3, noise=0.1, intercept=True), {}),
    "LEADER": (LEADER.bind(n_models=3, dim=D, noise=0.1), {}),
    "LEADER intercept": (LEADER.bind(n_models=3, dim=[4, 2, 5], noise=0.1, regularization=0.5, intercept=True), {}),
    "ALEXP": (ALEXP.bind(n_models=3, dim=D, noise=0.1, reward_range=RANGE), {"check_permuted_models": PLAYED}),
    "ALEXP intercept": (
        ALEXP.bind(n_models=3, dim=[4, 2, 5], noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True),
        {"check_permuted_models": PLAYED},
    ),
    "SparseOFUL": (SparseOFUL.bind(n_models=3, dim=D, noise=0.1, reward_range=RANGE), {}),
    "SparseOFUL intercept": (
        SparseOFUL.bind(n_models=3, dim=[4, 2, 5], noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True),
        {},
    ),
    "SparseOFUL corrected": (
        SparseOFUL.bind(n_models=3, dim=D, noise=0.1, confidence="corrected", **BOUNDS),
        {"check_learning": PRINTED},
    ),
    "SparseOFUL paper": (
        SparseOFUL.bind(n_models=3, dim=D, noise=0.1, confidence="paper", **BOUNDS),
        {"check_learning": PRINTED},
    ),
    "OnMap": (on_map(OFUL.bind(dim=D, noise=0.1), 1), {}),
}

ESTIMATES = {"check_batch", "check_regularization", "check_order_of_rewards"}  # need ``parameters`` of ridges
PRIORS = {"check_batch", "check_regularization"}  # need estimates that no constant term stands beside
MODELS = {"check_permuted_models"}  # needs ``model_weights`` of maps or regions
PROBABILITIES = {  # need a closed form
    "check_probabilities",
    "check_frequencies",
    "check_ties",
    "check_permuted_actions",
}

SKIPPED = {
    "LinIDS blocks": MODELS | ESTIMATES,
    "LinMED blocks": MODELS | ESTIMATES,
    "FSIDS blocks": ESTIMATES,
    "FSMED blocks, memory": ESTIMATES,
    "FSSquareCB blocks": ESTIMATES,
    "OFUL blocks": MODELS | ESTIMATES,
    "LinTS blocks": MODELS | ESTIMATES | PROBABILITIES,
    "Uniform": ESTIMATES | MODELS,
    "Greedy": ESTIMATES | MODELS,
    "UCB1": ESTIMATES | MODELS | {"check_ties"},
    "SquareCB": MODELS,
    "SquareCB paper": MODELS,
    "SquareCB corrected": MODELS,
    "SquareCB design": MODELS,
    "SquareCB design, intercept": MODELS | PRIORS,
    "OFUL": MODELS,
    "BiasOFUL": MODELS | {"check_regularization"},
    "BiasOFUL known": MODELS | {"check_regularization"},
    "LinTS": MODELS | PROBABILITIES,
    "LinTS centred": MODELS | PROBABILITIES,
    "SquareCB intercept": MODELS | PRIORS,
    "OFUL intercept": MODELS | PRIORS,
    "BiasOFUL intercept": MODELS | PRIORS,
    "LinTS intercept": MODELS | PROBABILITIES | PRIORS,
    "FSSquareCB": {"check_regularization"},
    "FSSquareCB ragged": {"check_regularization"},
    "FSSquareCB paper": {"check_regularization"},
    "FSSquareCB corrected": {"check_regularization"},
    "FSSquareCB intercept": PRIORS,
    "FSSquareCB design": {"check_regularization"},
    "FSSquareCB design, learned": ESTIMATES,
    "FSSquareCB learned": ESTIMATES,
    "FSSquareCB learned, intercept": ESTIMATES,
    "FSOFUL": {"check_regularization"},
    "FSOFUL ragged online": {"check_regularization"},
    "FSOFUL intercept": PRIORS,
    "PSOFUL intercept": PRIORS,
    "PSOFUL": {"check_regularization"},
    "PSOFUL shapes": {"check_regularization"},
    "PSOFUL paper": {"check_regularization"},
    "PSOFUL paper, own range": {"check_regularization"},
    "RegretBalancing": ESTIMATES | MODELS,
    "RegretBalancing own": ESTIMATES | MODELS,
    "RegretBalancing nested": ESTIMATES | MODELS | PROBABILITIES,
    "RegretBalancing latent": ESTIMATES | MODELS | {"check_ties"},
    "BalancingElimination": ESTIMATES | MODELS,
    "BalancingElimination own": ESTIMATES | MODELS,
    "DynamicBalancing": ESTIMATES | MODELS,
    "D3RB": ESTIMATES | MODELS,
    "ED2RB": ESTIMATES | MODELS | PROBABILITIES,
    "AdaptiveSquareCB": ESTIMATES | MODELS,
    "Corral": ESTIMATES | MODELS,
    "Corral plain": ESTIMATES | MODELS | PROBABILITIES,
    "Corral importance": ESTIMATES | MODELS | {"check_ties"},
    "EXP4": ESTIMATES | MODELS,
    "EXP4 uniform": ESTIMATES | MODELS | {"check_ties"},
    "SEXP3": ESTIMATES | MODELS | {"check_ties"},
    "LinIDS": MODELS | ESTIMATES,
    "LinIDS told": MODELS | ESTIMATES,
    "FSIDS": ESTIMATES,
    "FSIDS ragged": ESTIMATES,
    "PSIDS": ESTIMATES,
    "PSIDS shapes": ESTIMATES,
    "PSIDS told": ESTIMATES,
    "FSIDS memory": ESTIMATES,
    "PSIDS memory": ESTIMATES,
    "OFUL memory": MODELS | ESTIMATES,
    "LinTS memory": MODELS | ESTIMATES | PROBABILITIES,
    "SquareCB memory": MODELS | ESTIMATES,
    "FSSquareCB memory": ESTIMATES,
    "FSSquareCB range, memory": ESTIMATES,
    "LinMED": MODELS | ESTIMATES,
    "LinMED told": MODELS | ESTIMATES,
    "FSMED": ESTIMATES,
    "FSMED ragged": ESTIMATES,
    "FSTS": ESTIMATES | PROBABILITIES,
    "FSTS ragged": ESTIMATES | PROBABILITIES,
    "PSTS": ESTIMATES | PROBABILITIES,
    "PSTS shapes": ESTIMATES | PROBABILITIES,
    "PSTS known": ESTIMATES | PROBABILITIES,
    "MUCB": ESTIMATES | MODELS,
    "MUCB robust": ESTIMATES | MODELS,
    "LEADER": MODELS | {"check_regularization"},
    "LEADER intercept": MODELS | PRIORS,
    "ALEXP": {"check_regularization"},
    "ALEXP intercept": PRIORS,
    "SparseOFUL": {"check_regularization"},
    "SparseOFUL intercept": PRIORS,
    "SparseOFUL corrected": {"check_regularization"},
    "SparseOFUL paper": {"check_regularization"},
    "OnMap": MODELS,
}  # the others run every check but one
STAYS = {
    *("FSIDS memory", "PSIDS memory", "FSSquareCB memory", "FSSquareCB range, memory", "FSSquareCB share"),
    *("FSMED blocks, memory", "PSTS known"),
    *("FSSquareCB paper", "FSSquareCB corrected", "PSOFUL paper", "PSOFUL paper, own range"),
}
for name, (binding, _) in POLICIES.items():
    if not binding(lanes=None, seed=0).unit_free:
        SKIPPED[name] = SKIPPED.get(name, set()) | {"check_units"}  # it claims nothing of units
    if name in STAYS or not hasattr(binding.cls, "add_models"):
        SKIPPED[name] = SKIPPED.get(name, set()) | {"check_models"}  # its list of models is what it is

ESSENTIAL = {
    *("SquareCB design", "OFUL intercept", "OFUL blocks", "LinTS memory", "FSSquareCB ragged", "PSOFUL shapes"),
    *(name for name, (binding, _) in POLICIES.items() if name == binding.cls.__name__),
}
NAMES = [name if name in ESSENTIAL else pytest.param(name, marks=pytest.mark.slow) for name in POLICIES]
