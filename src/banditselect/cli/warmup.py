"""The command ``warmup``: compile every kernel now, so that no process has to later."""

import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import problems, regions
from ..carriers.catalogues import Catalogue
from ..carriers.validation import Constraint, OneOf, Rate, YesNo
from ..checks.game import Game
from ..kernels.disk import Kept
from ..policies import OFUL, Binding, LinTS, Policy, RegretBalancing, SquareCB, Uniform, registered
from ..problems.randomness import NOISES
from ..simulation import simulate

D = 3
ARGUMENTS: dict[str, Any] = {
    "n_models": 2,
    "dim": D,
    "noise": 0.5,
    "centers": np.eye(2, D),
    "center": np.eye(D)[0],
    "radii": 0.5,
    "radius": 0.5,
    "n_arms": 4,
    "bases": [OFUL(dim=D), OFUL(dim=D, regularization=2.0)],
    "policy": OFUL(dim=D),
    "index": 1,
    "horizon": 100,
    "feature_bound": 1.0,
    "reward_bound": 1.0,
    "parameter_bound": 1.0,
}
"""What an argument may be of a policy that is only to be compiled."""


CHANGING: tuple[dict[str, Any], ...] = ({"memory": 50.0}, {"weighting": "range", "share": 0.1})
"""What a policy that has such arguments is told for a world that changes."""


def warm_up() -> Iterator[str]:
    """Let every policy play in every form, draw problems, find regions; yield what comes next, in words.

    What is compiled is kept where ``kernels.disk`` says.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?!compiled kernels)", RuntimeWarning)
        for name, cls in registered().items():
            if cls.__module__.startswith(__package__.partition(".")[0] + "."):
                yield name
                for binding in _forms(cls):
                    for lanes in (None, 2):
                        _play(binding(lanes=lanes, seed=0))
        yield "policies inside others"
        inner = RegretBalancing(bases=[SquareCB(dim=D), LinTS(dim=D, noise=0.5)])
        for lanes in (None, 2):
            _play(RegretBalancing(bases=[Uniform(), inner], rule="balancing", lanes=lanes))
        yield "problems"
        for problem in _problems():
            simulate({"uniform": Uniform.bind()}, problem, rounds=5, replicates=2, workers=1)
        yield "regions"
        regions.from_fits(np.eye(D), np.tile(np.eye(D), (D, 1, 1)), n_regions=1)


def warm_up_aloud() -> None:
    """Do it, and say on stderr what is being compiled and where it is kept; exit with 1 if it could not be."""
    for name in warm_up():
        print(f"compiling: {name}", file=sys.stderr, flush=True)
    if Kept.refused or not Kept.folders:
        print(f"error: nothing was kept: {'; '.join(Kept.refused) or 'NUMBA_DISABLE_JIT is set'}", file=sys.stderr)
        raise SystemExit(1)
    print(f"compiled, and kept in {', '.join(sorted(Kept.folders))}", file=sys.stderr)


def _problems() -> Iterator[problems.Problem]:
    """Yield small problems of every kind that is drawn by kernels."""
    for noise in NOISES.names:
        yield problems.SyntheticFeatureSelection(n_models=2, dim=D, n_items=20, noise=noise)
        yield problems.SyntheticParameterSelection(n_models=2, dim=D, noise=noise)
    yield problems.LatentBandit()
    rng = np.random.default_rng(0)
    maps = [rng.normal(size=(20, width)) for width in (D, D + 1)]
    yield problems.Classification(features=maps, labels=np.arange(20) % 4, n_actions=4)


def _forms(cls: type[Policy]) -> Iterator[Binding[Any]]:
    """Yield a policy in each form that an argument chooses by name."""
    parameters = inspect.signature(cls).parameters
    needed = {n: ARGUMENTS[n] for n, p in parameters.items() if p.default is p.empty and n in ARGUMENTS}
    told = {n: ARGUMENTS[n] for n in parameters if n in ARGUMENTS}
    yield cls.bind(**needed)
    for changing in CHANGING:
        if parameters.keys() >= changing.keys():
            yield cls.bind(**needed, **changing)
    for name in dict.fromkeys(name for constraint in cls.constraints.values() for name in _names(constraint)):
        chosen = {argument: name for argument, constraint in cls.constraints.items() if name in _names(constraint)}
        binding = cls.bind(**needed, **chosen)
        try:
            binding(lanes=None, seed=0)
        except ValueError:  # formulas ask for more
            binding = cls.bind(**(told | chosen))
        yield binding


def _names(constraint: Constraint) -> tuple[Any, ...]:
    return constraint.names if isinstance(constraint, OneOf | Rate) else (True, False) * isinstance(constraint, YesNo)


def _play(policy: Policy) -> None:
    """Play with an array, with a catalogue of either precision, with a mask; ask what can be asked."""
    lanes = policy.lanes
    game = Game(policy, range(lanes or 1), n_actions=4)
    for number in range(4):
        maps = game.features()
        features = game.shown(maps)
        items = np.arange(4) if lanes is None else np.tile(np.arange(4), (lanes, 1))
        if number in (1, 2):
            whole = [m[0].astype(np.float32 if number == 1 else np.float64) for m in maps]
            features = Catalogue(whole if game.many else whole[0]).offer(items)
        available = None if number < 3 else [True, True, False, True]
        policy.probabilities(features, available=available)
        decision = policy.act(features, available=available)
        policy.update(decision, game.reward(maps, decision.action))
    policy.forget(policy.act(features))
    policy.learn(decision.features, game.reward(maps, decision.action))
