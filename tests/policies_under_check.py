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
PRINTED = {"noise": 0.1, **BOUNDS, "parameter_bound": 1.0, "horizon": 500}
PRIOR = [0.2, 0.3, 0.5]

# arguments that many have
SCB = {"dim": D, "reward_range": RANGE}
MAPS, RAGGED = {"n_models": 3, "dim": D}, {"n_models": 3, "dim": [4, 2, 5]}
IN_BLOCKS = {**RAGGED, "blocks": [3, 1, 2]}
BALLS = {"centers": CENTERS, "radii": [0.3, 0.5, 0.0]}
ELLIPSOIDS = {"centers": CENTERS, "radii": [0.3, 0.5, 1.0], "shapes": SHAPES}

ON_MAPS = [on_map(SquareCB(**SCB), i) for i in range(3)]
TWO_OFUL = [OFUL(dim=D, noise=0.1), OFUL(dim=D, noise=0.1, regularization=2.0)]
REFERENCE = [1.0, Power(0.5, 0.6), 2.0]

BINDINGS = {
    "Uniform": Uniform.bind(),
    "Greedy": Greedy.bind(center=CENTERS[0]),
    "UCB1": UCB1.bind(n_arms=5, noise=0.1),
    "SquareCB": SquareCB.bind(**SCB, regularization=0.7),
    "SquareCB paper": SquareCB.bind(**SCB, exploration="paper", **PRINTED),
    "SquareCB corrected": SquareCB.bind(**SCB, exploration="corrected", **PRINTED),
    "SquareCB design": SquareCB.bind(**SCB, design="optimal"),
    "SquareCB design, intercept": SquareCB.bind(**SCB, design="optimal", intercept=True),
    "SquareCB intercept": SquareCB.bind(**SCB, intercept=True),
    "SquareCB memory": SquareCB.bind(**SCB, memory=100),
    "OFUL": OFUL.bind(dim=D, noise=0.1, regularization=0.3),
    "OFUL intercept": OFUL.bind(dim=D, noise=0.1, intercept=True),
    "OFUL memory": OFUL.bind(dim=D, noise=0.1, intercept=True, memory=100),
    "OFUL blocks": OFUL.bind(dim=D, blocks=3, noise=0.1),
    "BiasOFUL": BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1),
    "BiasOFUL known": BiasOFUL.bind(center=CENTERS[0], radius=0.0, noise=0.1),
    "BiasOFUL intercept": BiasOFUL.bind(center=CENTERS[0], radius=0.5, noise=0.1, intercept=True),
    "LinTS": LinTS.bind(dim=D, noise=0.1),
    "LinTS centred": LinTS.bind(dim=D, noise=0.1, center=CENTERS[0]),
    "LinTS intercept": LinTS.bind(dim=D, noise=0.1, intercept=True),
    "LinTS memory": LinTS.bind(dim=D, noise=0.1, memory=100),
    "LinTS blocks, memory": LinTS.bind(dim=D, blocks=3, noise=0.1, memory=100),
    "LinTS blocks": LinTS.bind(dim=D, blocks=3, noise=0.1, intercept=True),
    "LinIDS": LinIDS.bind(dim=D),
    "LinIDS told": LinIDS.bind(dim=D, noise=0.1, intercept=False, floor=0.1),
    "LinIDS blocks": LinIDS.bind(dim=D, blocks=3),
    "LinMED": LinMED.bind(dim=D),
    "LinMED told": LinMED.bind(dim=D, noise=0.1, intercept=False, best_share=0.5),
    "LinMED blocks": LinMED.bind(dim=D, blocks=3),
    "FSSquareCB": FSSquareCB.bind(**MAPS, reward_range=RANGE, noise=0.1),
    "FSSquareCB ragged": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1),
    "FSSquareCB range": FSSquareCB.bind(**MAPS, reward_range=RANGE, regularization=0.5, weighting="range"),
    "FSSquareCB intercept": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, intercept=True),
    "FSSquareCB design": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, design="optimal"),
    "FSSquareCB design, learned": FSSquareCB.bind(
        **MAPS, reward_range=RANGE, weighting="learned", intercept=True, design="optimal"
    ),
    "FSSquareCB learned": FSSquareCB.bind(**MAPS, reward_range=RANGE, weighting="learned"),
    "FSSquareCB learned, intercept": FSSquareCB.bind(**RAGGED, reward_range=RANGE, weighting="learned", intercept=True),
    "FSSquareCB paper": FSSquareCB.bind(**MAPS, reward_range=RANGE, weighting="paper", exploration="paper", **PRINTED),
    "FSSquareCB corrected": FSSquareCB.bind(
        **MAPS, reward_range=RANGE, weighting="corrected", exploration="corrected", **PRINTED
    ),
    "FSSquareCB memory": FSSquareCB.bind(**RAGGED, reward_range=RANGE, noise=0.1, memory=100),
    "FSSquareCB range, memory": FSSquareCB.bind(
        **MAPS, reward_range=RANGE, weighting="range", intercept=True, memory=100
    ),
    "FSSquareCB share": FSSquareCB.bind(**MAPS, reward_range=RANGE, regularization=0.5, weighting="range", share=0.01),
    "FSSquareCB range, blocks, memory, share": FSSquareCB.bind(
        **IN_BLOCKS, reward_range=RANGE, weighting="range", memory=100, share=0.01
    ),
    "FSSquareCB blocks": FSSquareCB.bind(**IN_BLOCKS, reward_range=RANGE, noise=0.1, intercept=True),
    "FSOFUL": FSOFUL.bind(**MAPS, noise=0.1),
    "FSOFUL ragged online": FSOFUL.bind(**RAGGED, noise=0.1, likelihood="online", misspecification=0.01),
    "FSOFUL intercept": FSOFUL.bind(**RAGGED, noise=0.1, regularization=0.5, intercept=True),
    "FSIDS": FSIDS.bind(**MAPS),
    "FSIDS ragged": FSIDS.bind(**RAGGED, prior_weights=PRIOR, floor=0.05),
    "FSIDS memory": FSIDS.bind(**RAGGED, memory=100),
    "FSIDS memory learned": FSIDS.bind(**RAGGED, memory="learned"),
    "FSIDS blocks, memory learned": FSIDS.bind(**IN_BLOCKS, memory="learned"),
    "LinIDS memory learned": LinIDS.bind(dim=D, memory="learned"),
    "PSIDS memory learned": PSIDS.bind(**BALLS, memory="learned"),
    "FSIDS blocks": FSIDS.bind(**IN_BLOCKS),
    "FSMED": FSMED.bind(**MAPS),
    "FSMED ragged": FSMED.bind(**RAGGED, prior_weights=PRIOR, best_share=0.9),
    "FSMED blocks, memory": FSMED.bind(**IN_BLOCKS, memory=100.0),
    "FSTS": FSTS.bind(**MAPS),
    "FSTS ragged": FSTS.bind(**RAGGED, prior_weights=PRIOR, noise=0.1),
    "PSOFUL": PSOFUL.bind(**BALLS, noise=0.1),
    "PSOFUL shapes": PSOFUL.bind(**ELLIPSOIDS, prior_weights=PRIOR, noise=0.1),
    "PSOFUL intercept": PSOFUL.bind(**BALLS, noise=0.1, intercept=True),
    "PSOFUL paper": PSOFUL.bind(centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", **BOUNDS),
    "PSOFUL paper, own range": PSOFUL.bind(
        centers=CENTERS, radii=0.3, noise=0.1, confidence="paper", reward_range=RANGE, **BOUNDS
    ),
    "PSIDS": PSIDS.bind(**BALLS),
    "PSIDS shapes": PSIDS.bind(**ELLIPSOIDS, intercept=True),
    "PSIDS told": PSIDS.bind(centers=CENTERS, radii=0.3, noise=0.1, prior_weights=PRIOR),
    "PSIDS memory": PSIDS.bind(**ELLIPSOIDS, memory=100),
    "PSTS": PSTS.bind(**BALLS),
    "PSTS shapes": PSTS.bind(**ELLIPSOIDS, intercept=True),
    "PSTS known": PSTS.bind(centers=CENTERS, radii=0.0, noise=0.1),
    "RegretBalancing": RegretBalancing.bind(bases=ON_MAPS),
    "RegretBalancing own": RegretBalancing.bind(bases=TWO_OFUL, reference="own", rule="balancing"),
    "RegretBalancing nested": RegretBalancing.bind(
        bases=[Uniform(), RegretBalancing(bases=[SquareCB(**SCB), LinTS(dim=D, noise=0.1)])], rule="balancing"
    ),
    "RegretBalancing latent": RegretBalancing.bind(
        bases=[UCB1(n_arms=5, noise=0.1), Greedy(center=CENTERS[0]), Greedy(center=CENTERS[1])],
        reference=LatentReference(error=0.02, n_arms=5, scale=0.1),
    ),
    "BalancingElimination": BalancingElimination.bind(bases=ON_MAPS, reference=REFERENCE, noise=0.1, scale=0.5),
    "BalancingElimination own": BalancingElimination.bind(bases=TWO_OFUL, reference="own", noise=0.1),
    "DynamicBalancing": DynamicBalancing.bind(bases=ON_MAPS, reference=REFERENCE, noise=0.1, scale=0.5),
    "D3RB": D3RB.bind(bases=ON_MAPS, coefficient=0.5, noise=0.1),
    "ED2RB": ED2RB.bind(bases=[Uniform(), LinTS(dim=D, noise=0.1)], coefficient=0.1, noise=0.1),
    "AdaptiveSquareCB": AdaptiveSquareCB.bind(**SCB, levels=2, horizon=500, propensities=True),
    "Corral": Corral.bind(
        bases=[SquareCB(**SCB), OFUL(dim=D, noise=0.1)],
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
    "EXP4": EXP4.bind(bases=[SquareCB(**SCB), Greedy(center=-CENTERS[0])], reward_range=RANGE),
    "EXP4 uniform": EXP4.bind(
        bases=[SEXP3(n_arms=5, reward_range=RANGE), UCB1(n_arms=5, noise=0.1)],
        exploration="uniform",
        reward_range=RANGE,
        horizon=400,
    ),
    "SEXP3": SEXP3.bind(n_arms=5, prototypes=CENTERS, reward_range=(-1.0, 1.0), learning_rate=2.0),
    "MUCB": MUCB.bind(centers=CENTERS, horizon=500, noise=0.1),
    "MUCB robust": MUCB.bind(centers=CENTERS, horizon=500, noise=0.1, error=0.05, scale=0.5),
    "LEADER": LEADER.bind(**MAPS, noise=0.1),
    "LEADER intercept": LEADER.bind(**RAGGED, noise=0.1, regularization=0.5, intercept=True),
    "ALEXP": ALEXP.bind(**MAPS, noise=0.1, reward_range=RANGE),
    "ALEXP intercept": ALEXP.bind(**RAGGED, noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True),
    "SparseOFUL": SparseOFUL.bind(**MAPS, noise=0.1, reward_range=RANGE),
    "SparseOFUL intercept": SparseOFUL.bind(
        **RAGGED, noise=0.1, reward_range=RANGE, regularization=0.5, intercept=True
    ),
    "SparseOFUL corrected": SparseOFUL.bind(**MAPS, noise=0.1, confidence="corrected", **BOUNDS),
    "SparseOFUL paper": SparseOFUL.bind(**MAPS, noise=0.1, confidence="paper", **BOUNDS),
    "OnMap": on_map(OFUL.bind(dim=D, noise=0.1), 1),
    "OnMap blocks": on_map(LinIDS.bind(dim=D, blocks=3), 1),
}

WIDE = "the printed radius and rate are so wide that play stays close to uniform for hundreds of rounds"
PROVED = "the rate that is proved for every sequence explores in about half of a few hundred rounds"
WEIGHED = "losses that are divided by two probabilities take thousands of rounds to tell arms apart"
POSITIONS = {"check_permuted_actions": "an arm is the position of an action, whatever its features"}
PLAYED = {
    "check_permuted_models": "what learners would have earned is known of rounds that it played, and of no others"
}
OFFERED = {"check_permuted_models": "the twin learns rewards without the actions offered, which alone show a level"}
UNITS = {"check_rescaling": "the printed constants add terms of different units", "check_learning": WIDE}
LAMBDA = {"check_rescaling": "lambda = 1 / r^2, as the paper and BIAS-OFUL have it, carries the units of the rewards"}

EXCUSES = {
    "ALEXP": PLAYED,
    "ALEXP intercept": PLAYED,
    "FSIDS blocks": OFFERED,
    "Uniform": {"check_learning": "it learns nothing"},
    "UCB1": POSITIONS,
    "SEXP3": POSITIONS,
    "EXP4 uniform": POSITIONS,
    "Corral importance": {**POSITIONS, "check_learning": WEIGHED},
    "SquareCB paper": UNITS,
    "FSSquareCB paper": UNITS,
    "FSSquareCB corrected": {"check_learning": PROVED},
    "PSOFUL paper": UNITS,
    "PSOFUL paper, own range": UNITS,
    "BiasOFUL": LAMBDA,
    "BiasOFUL intercept": LAMBDA,
    "SparseOFUL paper": {"check_learning": WIDE},
    "SparseOFUL corrected": {"check_learning": WIDE},
}
POLICIES = {name: (binding, EXCUSES.get(name, {})) for name, binding in BINDINGS.items()}

ESTIMATES = {"check_batch", "check_regularization", "check_order_of_rewards"}  # need ``parameters`` of ridges
PRIORS = {"check_batch", "check_regularization"}  # need estimates that no constant term stands beside
MODELS = {"check_permuted_models"}  # needs ``model_weights`` of maps or regions
PROBABILITIES = {"check_probabilities", "check_frequencies", "check_ties", "check_permuted_actions"}  # a closed form

NEITHER = {
    *(Uniform, Greedy, UCB1, SEXP3, MUCB, LinIDS, LinMED, RegretBalancing, BalancingElimination, DynamicBalancing),
    *(D3RB, ED2RB, AdaptiveSquareCB, Corral, EXP4),
}
NO_WEIGHTS = {*NEITHER, SquareCB, OFUL, BiasOFUL, LinTS, LEADER, type(BINDINGS["OnMap"](lanes=None, seed=0))}
NO_RIDGES = {*NEITHER, FSIDS, FSMED, FSTS, PSIDS, PSTS}
OWN_PENALTY = {BiasOFUL, FSSquareCB, FSOFUL, PSOFUL, LEADER, ALEXP, SparseOFUL}  # unless it is given
DRAWN = {LinTS, FSTS, PSTS}
STAYS = {
    *("FSIDS memory learned", "FSIDS blocks, memory learned", "PSIDS memory learned"),
    *("FSIDS memory", "PSIDS memory", "FSSquareCB memory", "FSSquareCB range, memory", "FSSquareCB share"),
    *("FSMED blocks, memory", "PSTS known", "FSSquareCB range, blocks, memory, share"),
    *("FSSquareCB paper", "FSSquareCB corrected", "PSOFUL paper", "PSOFUL paper, own range"),
}


def skipped(name, binding):
    """Return the checks that cannot run on a policy."""
    cls, given = binding.cls, binding.arguments
    found = MODELS if cls in NO_WEIGHTS else set()
    other = name == "OnMap blocks" or given.get("weighting") == "learned"
    if cls in NO_RIDGES or {"memory", "blocks"} & set(given) or other:
        found = found | ESTIMATES
    elif given.get("intercept"):
        found = found | PRIORS
    elif cls in OWN_PENALTY and "regularization" not in given:
        found = found | {"check_regularization"}
    if cls in DRAWN or name in ("RegretBalancing nested", "ED2RB", "Corral plain"):
        found = found | PROBABILITIES
    if name in ("UCB1", "SEXP3", "RegretBalancing latent", "Corral importance", "EXP4 uniform"):
        found = found | {"check_ties"}
    if name in STAYS or not hasattr(cls, "add_models"):
        found = found | {"check_models"}  # its list of models is what it is
    return found if binding(lanes=None, seed=0).unit_free else found | {"check_units"}  # it claims nothing of units


SKIPPED = {name: skipped(name, binding) for name, binding in BINDINGS.items()}
ESSENTIAL = {
    *("SquareCB design", "OFUL intercept", "OFUL blocks", "LinTS memory", "FSSquareCB ragged", "PSOFUL shapes"),
    *(name for name, binding in BINDINGS.items() if name == binding.cls.__name__),
}
NAMES = [name if name in ESSENTIAL else pytest.param(name, marks=pytest.mark.slow) for name in POLICIES]
