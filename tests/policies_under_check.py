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
ALIKE, RAGGED = {"n_models": 3, "dim": D}, {"n_models": 3, "dim": [4, 2, 5]}
OFULS = [OFUL(dim=D, noise=0.1), OFUL(dim=D, noise=0.1, regularization=2.0)]

BINDINGS = {
    "Uniform": Uniform.bind(),
    "Greedy": Greedy.bind(center=CENTERS[0]),
    "UCB1": UCB1.bind(n_arms=5, noise=0.1),
    "SquareCB": SquareCB.bind(dim=D, reward_range=RANGE, regularization=0.7),
    "SquareCB paper": SquareCB.bind(dim=D, noise=0.1, reward_range=RANGE, exploration="paper", **SCB_BOUNDS),
    "SquareCB corrected": SquareCB.bind(dim=D, noise=0.1, reward_range=RANGE, exploration="corrected", **SCB_BOUNDS),
    "SquareCB design": SquareCB.bind(dim=D, reward_range=RANGE, design="optimal"),
    "SquareCB design, intercept": SquareCB.bind(dim=D, reward_range=RANGE, design="optimal", intercept=True),
    "OFUL": OFUL.bind(dim=D, noise=0.1, regularization=0.3),
    "BiasOFUL": BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1),
    "BiasOFUL known": BiasOFUL.bind(center=CENTERS[0], radius=0.0, noise=0.1),
    "LinTS": LinTS.bind(dim=D, noise=0.1),
    "LinTS centred": LinTS.bind(dim=D, noise=0.1, center=CENTERS[0]),
    "SquareCB intercept": SquareCB.bind(dim=D, reward_range=RANGE, intercept=True),
    "OFUL intercept": OFUL.bind(dim=D, noise=0.1, intercept=True),
    "BiasOFUL intercept": BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1, intercept=True),
    "LinTS intercept": LinTS.bind(dim=D, noise=0.1, intercept=True),
    "FSSquareCB": FSSquareCB.bind(**ALIKE, reward_range=RANGE, noise=0.1),
    "FSSquareCB ragged": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1),
    "FSSquareCB range": FSSquareCB.bind(**ALIKE, reward_range=RANGE, regularization=0.5, weighting="range"),
    "FSSquareCB intercept": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, intercept=True),
    "FSSquareCB design": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, design="optimal"),
    "FSSquareCB design, learned": FSSquareCB.bind(
        **ALIKE, reward_range=RANGE, weighting="learned", intercept=True, design="optimal"
    ),
    "FSSquareCB learned": FSSquareCB.bind(**ALIKE, reward_range=RANGE, weighting="learned"),
    "FSSquareCB learned, intercept": FSSquareCB.bind(**RAGGED, reward_range=RANGE, weighting="learned", intercept=True),
    "FSSquareCB paper": FSSquareCB.bind(
        **ALIKE, noise=0.1, reward_range=RANGE, weighting="paper", exploration="paper", **SCB_BOUNDS
    ),
    "FSSquareCB corrected": FSSquareCB.bind(
        **ALIKE, noise=0.1, reward_range=RANGE, weighting="corrected", exploration="corrected", **SCB_BOUNDS
    ),
    "FSOFUL": FSOFUL.bind(**ALIKE, noise=0.1),
    "FSOFUL ragged online": FSOFUL.bind(**RAGGED, noise=0.1, likelihood="online", misspecification=0.01),
    "FSOFUL intercept": FSOFUL.bind(**RAGGED, noise=0.1, regularization=0.5, intercept=True),
    "PSOFUL": PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0], noise=0.1),
    "PSOFUL shapes": PSOFUL.bind(
        centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, prior_weights=[0.2, 0.3, 0.5], noise=0.1
    ),
    "PSOFUL intercept": PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0], noise=0.1, intercept=True),
    "PSOFUL paper": PSOFUL.bind(centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", **BOUNDS),
    "PSOFUL paper, own range": PSOFUL.bind(
        centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", reward_range=RANGE, **BOUNDS
    ),
    "RegretBalancing": RegretBalancing.bind(bases=[on_map(SquareCB(dim=D, reward_range=RANGE), i) for i in range(3)]),
    "RegretBalancing own": RegretBalancing.bind(bases=OFULS, reference="own", rule="balancing"),
    "RegretBalancing nested": RegretBalancing.bind(
        bases=[Uniform(), RegretBalancing(bases=[SquareCB(dim=D, reward_range=RANGE), LinTS(dim=D, noise=0.1)])],
        rule="balancing",
    ),
    "RegretBalancing latent": RegretBalancing.bind(
        bases=[UCB1(n_arms=5, noise=0.1), Greedy(center=CENTERS[0]), Greedy(center=CENTERS[1])],
        reference=LatentReference(error=0.02, n_arms=5, scale=0.1),
    ),
    "BalancingElimination": BalancingElimination.bind(
        bases=ON_MAPS, reference=[1.0, Power(0.5, 0.6), 2.0], noise=0.1, scale=0.5
    ),
    "BalancingElimination own": BalancingElimination.bind(bases=OFULS, reference="own", noise=0.1),
    "DynamicBalancing": DynamicBalancing.bind(
        bases=ON_MAPS, reference=[1.0, Power(0.5, 0.6), 2.0], noise=0.1, scale=0.5
    ),
    "D3RB": D3RB.bind(bases=ON_MAPS, coefficient=0.5, noise=0.1),
    "ED2RB": ED2RB.bind(bases=[Uniform(), LinTS(dim=D, noise=0.1)], coefficient=0.1, noise=0.1),
    "AdaptiveSquareCB": AdaptiveSquareCB.bind(dim=D, levels=2, reward_range=RANGE, horizon=500, propensities=True),
    "Corral": Corral.bind(
        bases=[SquareCB(dim=D, reward_range=RANGE), OFUL(dim=D, noise=0.1)],
        feedback="smoothed",
        reward_range=RANGE,
        snapshots=2,
        propensities=True,
    ),
    "Corral plain": Corral.bind(
        bases=[on_map(OFUL(dim=D, noise=0.1), 0), on_map(LinTS(dim=D, noise=0.1), 0)], reward_range=RANGE, horizon=400
    ),
    "Corral importance": Corral.bind(
        bases=[SEXP3(n_arms=5, reward_range=RANGE), Uniform()],
        feedback="importance",
        reward_range=RANGE,
        propensities=True,
    ),
    "EXP4": EXP4.bind(bases=[SquareCB(dim=D, reward_range=RANGE), Greedy(center=-CENTERS[0])], reward_range=RANGE),
    "EXP4 uniform": EXP4.bind(
        bases=[SEXP3(n_arms=5, reward_range=RANGE), UCB1(n_arms=5, noise=0.1)],
        exploration="uniform",
        reward_range=RANGE,
        horizon=400,
    ),
    "SEXP3": SEXP3.bind(n_arms=5, prototypes=CENTERS, reward_range=(-1.0, 1.0), learning_rate=2.0),
    "LinIDS": LinIDS.bind(dim=D),
    "LinIDS told": LinIDS.bind(dim=D, noise=0.1, intercept=False, floor=0.1),
    "FSIDS": FSIDS.bind(**ALIKE),
    "FSIDS ragged": FSIDS.bind(**RAGGED, prior_weights=[0.2, 0.3, 0.5], floor=0.05),
    "PSIDS": PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0]),
    "PSIDS shapes": PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, intercept=True),
    "PSIDS told": PSIDS.bind(centers=CENTERS, radii=0.3, noise=0.1, prior_weights=[0.2, 0.3, 0.5]),
    "FSIDS memory": FSIDS.bind(**RAGGED, memory=100),
    "PSIDS memory": PSIDS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, memory=100),
    "OFUL memory": OFUL.bind(dim=D, noise=0.1, intercept=True, memory=100),
    "LinTS memory": LinTS.bind(dim=D, noise=0.1, memory=100),
    "SquareCB memory": SquareCB.bind(dim=D, reward_range=RANGE, memory=100),
    "FSSquareCB memory": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, memory=100),
    "FSSquareCB range, memory": FSSquareCB.bind(
        **ALIKE, reward_range=RANGE, weighting="range", intercept=True, memory=100
    ),
    "FSSquareCB share": FSSquareCB.bind(**ALIKE, reward_range=RANGE, regularization=0.5, weighting="range", share=0.01),
    "LinMED": LinMED.bind(dim=D),
    "LinMED told": LinMED.bind(dim=D, noise=0.1, intercept=False, best_share=0.5),
    "FSMED": FSMED.bind(**ALIKE),
    "FSMED ragged": FSMED.bind(**RAGGED, prior_weights=[0.2, 0.3, 0.5], best_share=0.9),
    "FSTS": FSTS.bind(**ALIKE),
    "FSTS ragged": FSTS.bind(**RAGGED, prior_weights=[0.2, 0.3, 0.5], noise=0.1),
    "PSTS": PSTS.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0]),
    "PSTS shapes": PSTS.bind(centers=CENTERS, radii=[0.3, 0.5, 1.0], shapes=SHAPES, intercept=True),
    "PSTS known": PSTS.bind(centers=CENTERS, radii=0.0, noise=0.1),
    "MUCB": MUCB.bind(centers=CENTERS, horizon=500, noise=0.1),
    "MUCB robust": MUCB.bind(centers=CENTERS, horizon=500, noise=0.1, error=0.05, scale=0.5),
    "LinIDS blocks": LinIDS.bind(dim=D, blocks=3),
    "LinMED blocks": LinMED.bind(dim=D, blocks=3),
    "FSIDS blocks": FSIDS.bind(**RAGGED, blocks=[3, 1, 2]),
    "FSMED blocks, memory": FSMED.bind(**RAGGED, blocks=[3, 1, 2], memory=100.0),
    "FSSquareCB blocks": FSSquareCB.bind(**RAGGED, blocks=[3, 1, 2], reward_range=RANGE, noise=0.1, intercept=True),
    "FSSquareCB range, blocks, memory, share": FSSquareCB.bind(
        **RAGGED, blocks=[3, 1, 2], reward_range=RANGE, weighting="range", memory=100, share=0.01
    ),
    "LinTS blocks, memory": LinTS.bind(dim=D, blocks=3, noise=0.1, memory=100),
    "OFUL blocks": OFUL.bind(dim=D, blocks=3, noise=0.1),
    "LinTS blocks": LinTS.bind(dim=D, blocks=3, noise=0.1, intercept=True),
    "LEADER": LEADER.bind(**ALIKE, noise=0.1),
    "LEADER intercept": LEADER.bind(**RAGGED, noise=0.1, regularization=0.5, intercept=True),
    "ALEXP": ALEXP.bind(**ALIKE, noise=0.1, reward_range=RANGE),
    "ALEXP intercept": ALEXP.bind(**RAGGED, noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True),
    "SparseOFUL": SparseOFUL.bind(**ALIKE, noise=0.1, reward_range=RANGE),
    "SparseOFUL intercept": SparseOFUL.bind(
        **RAGGED, noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True
    ),
    "SparseOFUL corrected": SparseOFUL.bind(**ALIKE, noise=0.1, confidence="corrected", **BOUNDS),
    "SparseOFUL paper": SparseOFUL.bind(**ALIKE, noise=0.1, confidence="paper", **BOUNDS),
    "OnMap": on_map(OFUL.bind(dim=D, noise=0.1), 1),
}

EXCUSES = {  # checks that a policy cannot pass, and why
    "Uniform": {"check_learning": "it learns nothing"},
    "UCB1": {"check_permuted_actions": POSITIONS},
    "SquareCB paper": {"check_rescaling": UNITS, "check_learning": PRINTED},
    "BiasOFUL": {"check_rescaling": LAMBDA},
    "BiasOFUL intercept": {"check_rescaling": LAMBDA},
    "FSSquareCB paper": {"check_rescaling": UNITS, "check_learning": PRINTED},
    "FSSquareCB corrected": {"check_learning": PROVED},
    "PSOFUL paper": {"check_rescaling": UNITS, "check_learning": PRINTED},
    "PSOFUL paper, own range": {"check_rescaling": UNITS, "check_learning": PRINTED},
    "Corral importance": {"check_permuted_actions": POSITIONS, "check_learning": WEIGHED},
    "EXP4 uniform": {"check_permuted_actions": POSITIONS},
    "SEXP3": {"check_permuted_actions": POSITIONS},
    "ALEXP": {"check_permuted_models": PLAYED},
    "ALEXP intercept": {"check_permuted_models": PLAYED},
    "SparseOFUL corrected": {"check_learning": PRINTED},
    "SparseOFUL paper": {"check_learning": PRINTED},
}
POLICIES = {name: (binding, EXCUSES.get(name, {})) for name, binding in BINDINGS.items()}

PROBABILITIES = {"check_probabilities", "check_frequencies", "check_ties", "check_permuted_actions"}
ESTIMATES = {"check_batch", "check_regularization", "check_order_of_rewards"}

SELECT = {"FSIDS", "FSMED", "FSOFUL", "FSTS", "FSSquareCB", "PSIDS", "PSOFUL", "PSTS", "ALEXP", "SparseOFUL"}
SAMPLE = {"LinTS", "FSTS", "PSTS", "RegretBalancing nested", "ED2RB", "Corral plain"}  # themselves, or in a base
RIDGES = {"SquareCB", "FSSquareCB", "OFUL", "FSOFUL", "BiasOFUL", "PSOFUL", "LinTS", "LEADER", "ALEXP", "SparseOFUL"}
RIDGES |= {"OnMap"}
ONE_PENALTY = {"SquareCB", "OFUL", "OnMap", "LinTS", "FSSquareCB range", "FSSquareCB share"}  # a number is given
BY_POSITION = {"UCB1", "SEXP3", "RegretBalancing latent", "Corral importance", "EXP4 uniform"}
STAYS = {"FSSquareCB share", "PSTS known", "FSSquareCB paper", "FSSquareCB corrected"}  # no model is added


def expected_skips(name, binding):
    """Return the checks that cannot run for a policy in a setting of this name."""
    cls, setting = binding.cls.__name__, name.removeprefix(binding.cls.__name__)
    own = {cls, name}
    skipped = set() if own & SELECT else {"check_permuted_models"}  # it has no weights of models
    if own & SAMPLE:
        skipped |= PROBABILITIES
    if not own & RIDGES or any(word in setting for word in ("learned", "memory", "blocks")):
        skipped |= ESTIMATES  # it has no estimates of ridges whose rewards count alike
    elif "intercept" in setting:
        skipped |= ESTIMATES - {"check_order_of_rewards"}
    elif not own & ONE_PENALTY:
        skipped |= {"check_regularization"}
    if own & BY_POSITION:
        skipped |= {"check_ties"}
    if not binding(lanes=None, seed=0).unit_free:
        skipped |= {"check_units"}  # it claims nothing of units
    if own & STAYS or "memory" in setting or "PSOFUL paper" in name or not hasattr(binding.cls, "add_models"):
        skipped |= {"check_models"}
    return skipped


SKIPPED = {name: skipped for name, binding in BINDINGS.items() if (skipped := expected_skips(name, binding))}

ESSENTIAL = {
    *("SquareCB design", "OFUL intercept", "OFUL blocks", "LinTS memory", "FSSquareCB ragged", "PSOFUL shapes"),
    *(name for name, binding in BINDINGS.items() if name == binding.cls.__name__),
}
NAMES = [name if name in ESSENTIAL else pytest.param(name, marks=pytest.mark.slow) for name in POLICIES]
