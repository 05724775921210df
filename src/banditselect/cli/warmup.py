"""The command ``warmup``: compile kernels now, on all cores, so that no process has to later."""

import functools
import inspect
import itertools
import multiprocessing
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from .. import problems, regions
from ..actions.catalogue import Catalogue
from ..agent import Agent
from ..checks.game import Game
from ..experiments import EXPERIMENTS
from ..kernels.disk import DiskCache
from ..maps import candidates
from ..policies import OFUL, Binding, Policy, registered
from ..runtime.constraints import Constraint, NumberOrName, OneOf, Rate, YesNo
from ..simulation import engines, simulate
from ..simulation.cells import leave_with
from ..simulation.progress import OnProgress, Progress
from .listing import one_of

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
"""Values of arguments for a policy that is only compiled."""

CHANGING: tuple[dict[str, Any], ...] = ({"memory": 50.0}, {"weighting": "range", "share": 0.1})  #: where models change

Step = tuple[Any, ...]  #: a function and its arguments


def warm_up(steps: Sequence[Step], tell: OnProgress = lambda progress: None) -> tuple[set[str], list[str]]:
    """Take steps that compile kernels, on all cores, and compile nothing in this process.

    ``tell`` is called with the progress. Returns the folders that have the compiled forms, and why any cannot be kept.
    """
    folders, refused, others = set[str](), list[str](), set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(engines.cores(), multiprocessing.get_context("spawn"), leave_with, (os.getpid(), True))
    try:
        for done, future in enumerate(as_completed([pool.submit(_take, *step) for step in steps]), 1):
            found, reasons = future.result()
            folders, refused = folders | found, refused or reasons
            tell(Progress(len(steps), done, 0, 0, done / len(steps), None))
        pool.shutdown()
    finally:
        for worker in set(multiprocessing.active_children()) - others:  # interrupted
            worker.terminate()
    return folders, refused


def warm_up_aloud(names: Sequence[str] = ()) -> None:
    """Compile, show the progress on stderr and where the result is kept; exit with 1 if nothing could be kept."""
    for name in set(names) - (known := known_names()).keys():
        print(f"error: warmup: got {name!r}, expected {one_of(name, known)}", file=sys.stderr)
        raise SystemExit(2)
    in_turns = itertools.zip_longest(*(known[name]() for name in names or known))  # neighbours share few kernels
    steps = list(dict.fromkeys(step for turn in in_turns for step in turn if step is not None))
    try:
        from .session import Display
    except ImportError:  # without rich
        folders, refused = warm_up(steps, _say)
    else:
        with Display(quiet=False) as display:
            folders, refused = warm_up(steps, display.phase("compiling", "steps"))
    if refused or not folders:
        print(f"error: nothing was kept: {'; '.join(refused) or 'NUMBA_DISABLE_JIT is set'}", file=sys.stderr)
        raise SystemExit(1)
    print(f"compiled, and kept in {', '.join(sorted(folders))}", file=sys.stderr)


def _say(at: Progress) -> None:
    if at.cells_done % 10 == 0 or at.cells_done == at.cells:
        print(f"compiling: {at.cells_done} of {at.cells} steps", file=sys.stderr, flush=True)


def known_names() -> dict[str, Callable[[], list[Step]]]:
    """Return by name a function that lists the steps which compile what is needed."""
    own = [name for name, cls in registered().items() if cls.__module__.startswith("banditselect.")]
    return {
        **{name: functools.partial(_of_policy, name) for name in own},
        "Agent": lambda: [(_play_agent, key) for key in (None, "customer")],
        "regions": lambda: [(_find_regions,)],
        **{n: functools.partial(of_experiments, [(n, r) for r in e.regimes]) for n, e in EXPERIMENTS.items()},
        "reproduce": lambda: of_experiments([(n, "practical") for n, e in EXPERIMENTS.items() if e.shown]),
    }


def _take(step: Callable[..., None], *arguments: Any) -> tuple[set[str], list[str]]:
    """Take one step in a process of the pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        step(*arguments)
    return DiskCache.folders, DiskCache.refused


def _of_policy(name: str) -> list[Step]:
    return [(_play_policy, name, lanes, shown) for lanes in (None, 2) for shown in (None, np.float32, np.float64)]


def _play_policy(name: str, lanes: int | None, shown: Any) -> None:
    for binding in _forms(registered()[name]):
        _play(binding(lanes=lanes, seed=0), shown)


def of_experiments(chosen: Sequence[tuple[str, str]]) -> list[Step]:
    """Return a step for every policy on every problem of experiments and regimes, one where only numbers differ."""
    found: dict[str, Step] = {}
    for name, wanted in chosen:
        for (title, regime, policy), (problem, binding) in _played(name).items():
            if regime == wanted:
                kind = re.sub(r"[-+]?\d[-+.\de]*", "", f"{problem!r} {binding!r}")
                found.setdefault(kind, (_play_experiment, name, (title, regime, policy)))
    return list(found.values())


@functools.cache
def _played(name: str) -> dict[tuple[str, str, str], tuple[problems.Problem, Binding[Any]]]:
    """Return what plays in an experiment on the fewest models: by problem, regime and policy."""
    scale = EXPERIMENTS[name].scales["quick"]
    return {
        (title, regime, policy): (problem, binding)
        for title, problem in EXPERIMENTS[name].problems(scale.models[:1]).items()
        for regime, chosen in EXPERIMENTS[name].regimes.items()
        for policy, binding in chosen.policies(problem, scale.rounds).items()
    }


def _play_experiment(name: str, where: tuple[str, str, str]) -> None:
    problem, binding = _played(name)[where]
    simulate({where[2]: binding}, problem, rounds=10, replicates=5, workers=1)


def _play_agent(key: str | None) -> None:
    """Let an agent play on numbers, categories and text."""
    visitors = [{"age": 20.0 + k, "country": "FR" if k % 3 else "BR", "asks": f"a red {k}"} for k in range(30)]
    items = [{"id": k, "genre": "western" if k % 2 else "drama", "year": 1950 + 7 * (k % 9)} for k in range(4)]
    agent = Agent(maps=candidates(visitors, items))
    for visitor in visitors[:3]:
        agent.update(agent.act(visitor, items, key=key), 1.0)
    agent.explain()


def _find_regions() -> None:
    regions.from_fits(np.eye(D), np.tile(np.eye(D), (D, 1, 1)), n_regions=1)


def _forms(cls: type[Policy]) -> Iterator[Binding[Any]]:
    """Yield a policy in each form that an argument chooses by name."""
    parameters = inspect.signature(cls).parameters
    needed = {n: ARGUMENTS[n] for n, p in parameters.items() if p.default is p.empty and n in ARGUMENTS}
    told = {n: ARGUMENTS[n] for n in parameters if n in ARGUMENTS}
    yield cls.bind(**needed)
    for changing in CHANGING:
        if parameters.keys() >= changing.keys():
            yield cls.bind(**needed, **changing)
    names = {argument: _names(a.constraint) for argument, a in cls.arguments.items()}
    for name in dict.fromkeys(name for choices in names.values() for name in choices):
        chosen = {argument: name for argument, choices in names.items() if name in choices}
        binding = cls.bind(**needed, **chosen)
        try:
            binding(lanes=None, seed=0)
        except ValueError:  # formulas ask for more
            binding = cls.bind(**(told | chosen))
        yield binding


def _names(constraint: Constraint) -> tuple[Any, ...]:
    if isinstance(constraint, NumberOrName | OneOf | Rate):
        return constraint.names
    return (True, False) * isinstance(constraint, YesNo)


def _play(policy: Policy, shown: Any) -> None:
    """Play with an array, or with a catalogue of this precision; with a mask; ask what can be asked."""
    lanes = policy.lanes
    game = Game(policy, range(lanes or 1), n_actions=4)
    for available in (None, [True, True, False, True]):
        maps = game.features()
        features = game.shown(maps)
        if shown is not None:
            items = np.arange(4) if lanes is None else np.tile(np.arange(4), (lanes, 1))
            whole = [m[0].astype(shown) for m in maps]
            features = Catalogue(whole if game.many else whole[0]).offer(items)
        policy.probabilities(features, available=available)
        decision = policy.act(features, available=available)
        policy.update(decision, game.reward(maps, decision.action))
    policy.forget(policy.act(features))
    policy.learn(decision.features, game.reward(maps, decision.action))
