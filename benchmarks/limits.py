"""The limits that we set ourselves: against plain NumPy, against a peer, and against the limits of the machine.

Rounds are timed at worst: no model loses its weight, no region is refuted.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from banditselect import FSIDS, FSOFUL, OFUL, PSOFUL, FSSquareCB, given, simulate
from banditselect.authoring import Policy
from banditselect.models.map_mixture import SCALES
from banditselect.problems import SyntheticFeatureSelection

from . import contestants as them
from .contestants import OUR_FS_AT_WORST, WORST_NOISE, fs_squarecb_at_worst, playing
from .figures import Figure, Part
from .measuring import Array, Block, Spread, interleaved, ratio
from .peers import VW_EXAMPLES
from .problem import NOISE, REWARD_RANGE, LinearProblem

K = 10


def figure(
    seconds: Mapping[str, Array],
    pair: tuple[str, str],
    rounds: int | Mapping[str, int],
    *,
    what: str = "",
    over: str = "",
    **limits: Any,
) -> Figure:
    """Return the ratio of a pair of contestants per round; ``rounds``: in a block, of all or of each contestant."""
    a, b = (seconds[name] / (rounds if isinstance(rounds, int) else rounds[name]) for name in pair)
    above, below = (Spread.of(one * 1e6) for one in (a, b))
    return Figure(what or pair[0], over or pair[1], ratio(a, b), above=above, below=below, **limits)


def loop(play: Callable[[int], object], rounds: int) -> Block:
    """Return a block that plays every round of the problem once more."""

    def block() -> None:
        for t in range(rounds):
            play(t)

    return block


def playing_all(policy: Policy, features: Any, rewards: Sequence[Sequence[float]]) -> Block:
    """Return a block in which a policy plays every round of features once more."""
    return loop(playing(policy, features, rewards), len(features))


def side_by_side(policy: Any, x: Array, rewards: Array, chosen: list[Any] | None = None) -> Block:
    """Return a block in which all lanes play ``x (T, N, ...)``; ``chosen`` gets the base that played in each lane."""
    every = np.arange(x.shape[1])

    def block() -> None:
        for t in range(len(x)):
            decision = policy.act(x[t])
            policy.update(decision, rewards[t, every, decision.action])
            if chosen is not None and decision.base is not None:
                chosen.append(decision.base)

    return block


def stacked(problems: Iterable[LinearProblem]) -> tuple[Array, Array]:
    """Return features ``(T, N, M, K, d)`` and rewards ``(T, N, K)`` of a problem for each lane."""
    drawn = list(problems)
    return np.stack([one.features for one in drawn], axis=1), np.stack([one.rewards for one in drawn], axis=1)


def one_lane(quick: bool) -> Part:
    """Targets a, b, c: one decision and one update per round, one lane."""
    rounds, blocks = (100, 10) if quick else (500, 100)
    ours, worst = them.OUR_OFUL, OUR_FS_AT_WORST
    narrow = [(ours, them.LINUCB, 1.3, "a"), (ours, them.LINUCB_TIGHT, None, ""), (ours, them.EMPTY, None, "")]
    narrow += [(worst, them.SQUARECB, 1.2, "b"), (worst, them.EMPTY_MAPS, None, "")]
    wide = [(worst, VW_EXAMPLES, 0.27, "c")] if VW_EXAMPLES.installed else []
    figures = []
    for d, pairs in ((10, narrow), (50, wide)):
        problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=10)
        plays = {one.name: loop(one.make(problem, 0), rounds) for pair in pairs for one in pair[:2]}
        seconds = interleaved(plays, blocks)
        for mine, other, limit, target in pairs:
            what = f"{mine.name}, d = {d}" + (", M = 10" if mine is worst else "")
            names = (mine.name, other.name)
            figures.append(figure(seconds, names, rounds, what=what, limit=limit, target=target))
    settings = f"K = {K}; {blocks} blocks of {rounds} rounds of each, in random turns"
    return Part("One lane", settings, figures, missing=[] if VW_EXAMPLES.installed else [VW_EXAMPLES.package])


def same_code(quick: bool) -> Part:
    """Targets k, l: the extra cost of selecting among one model, and of a list of maps."""
    rounds, blocks, d, M = 500, (10 if quick else 60), 10, 10
    problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=M)
    wide = LinearProblem.draw(rounds=rounds, dim=40, n_actions=K, n_models=M).features
    one, maps = problem.first_map, problem.features
    widths = np.linspace(20, 40, M).astype(int).tolist()
    cases: dict[str, tuple[Policy, Any]] = {
        "OFUL": (OFUL(dim=d, noise=NOISE), one),
        "PS-OFUL, M = 1": (PSOFUL(centers=np.zeros((1, d)), radii=1.0, noise=NOISE), one),
        "FS-OFUL, M = 1": (FSOFUL(n_models=1, dim=d, noise=NOISE), maps[:, :1].copy()),
        "an array of maps": (fs_squarecb_at_worst(M, d, 0), maps),
        "a list of maps": (fs_squarecb_at_worst(M, d, 0), [list(x) for x in maps]),
        "an array of maps of width 30": (fs_squarecb_at_worst(M, 30, 0), wide[..., :30].copy()),
        "a list of maps of widths 20 to 40": (
            FSSquareCB(n_models=M, dim=widths, noise=WORST_NOISE, reward_range=REWARD_RANGE),
            [[x[i, :, :w].copy() for i, w in enumerate(widths)] for x in wide],
        ),
    }
    seconds = interleaved({name: playing_all(*case, problem.rewards) for name, case in cases.items()}, blocks)
    duels = [("PS-OFUL, M = 1", "OFUL", 1.5, "k"), ("FS-OFUL, M = 1", "OFUL", 1.5, "k")]
    duels += [("a list of maps", "an array of maps", 1.5, "l")]
    duels += [("a list of maps of widths 20 to 40", "an array of maps of width 30", 3.0, "l")]
    figures = [figure(seconds, (a, b), rounds, limit=limit, target=target) for a, b, limit, target in duels]
    settings = f"d = {d} and M = {M} unless stated otherwise, K = {K}; maps: FS-SCB at worst; {blocks} blocks of "
    settings += f"{rounds} rounds of each, in random turns"
    return Part("One model, and lists of maps", settings, figures)


def untuned(quick: bool) -> Part:
    """Target m: the cost of learning the noise and the prior scales, over FS-SCB, which is given them."""
    figures, blocks = [], 10 if quick else 60
    for M, d, rounds, limit in ((10, 10, 500, 4.0), (100, 50, 20, 16.0)):  # each map in two views
        problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=M)
        given_noise = FSSquareCB(n_models=M, dim=d, noise=NOISE, reward_range=REWARD_RANGE)
        pair = (f"FS-IDS, M = {M}, d = {d}", "FS-SCB")
        policies = dict(zip(pair, (FSIDS(n_models=M, dim=d), given_noise), strict=True))
        plays = {name: playing_all(policy, problem.features, problem.rewards) for name, policy in policies.items()}
        for _ in range(1000 // rounds):  # weights concentrate, as they do in use
            plays[pair[0]]()
        figures.append(figure(interleaved(plays, blocks), pair, rounds, limit=limit, target="m"))
    settings = f"K = {K}, {len(SCALES)} prior scales, after 1,000 rounds; {blocks} blocks of 500 and 20 rounds of "
    return Part("Nothing to tune", f"{settings}each, in random turns", figures)


def bank(quick: bool) -> Part:
    """Target d: a bank of M ridge regressions against copying it once."""
    blocks, rounds, M, d = (10 if quick else 60), 20, 100, 50
    problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=M)
    source, target = np.ones((M, d, d)), np.empty((M, d, d))
    copy = loop(lambda _: np.copyto(target, source), rounds)
    seconds = interleaved({"FS-SCB": loop(OUR_FS_AT_WORST.make(problem, 0), rounds), "copy": copy}, blocks)
    over = f"copying M d² doubles once ({M * d * d * 8 / 1e6:g} MB)"
    settings = f"FS-SCB at worst, M = {M}, d = {d}, K = {K}, one lane; {blocks} blocks of {rounds} rounds or copies, "
    figures = [figure(seconds, ("FS-SCB", "copy"), rounds, over=over, limit=3.0, target="d")]
    return Part("A bank of ridge regressions against its floor", f"{settings}in random turns", figures)


def lanes(quick: bool) -> Part:
    """Target e: a hundred learners side by side against one."""
    blocks, N, M, d, alone, many = (10 if quick else 60), 100, 10, 10, 500, 10
    problem = LinearProblem.draw(rounds=alone, dim=d, n_actions=K, n_models=M)
    x, rewards = stacked(LinearProblem.draw(rounds=many, dim=d, n_actions=K, n_models=M, seed=j) for j in range(N))
    plays = {
        "one": loop(OUR_FS_AT_WORST.make(problem, 0), alone),
        "many": side_by_side(fs_squarecb_at_worst(M, d, 0, lanes=N), x, rewards),
    }
    per_lane, words = {"one": alone, "many": N * many}, {"what": f"a lane-round of {N} lanes", "over": "a round of one"}
    figures = [figure(interleaved(plays, blocks), ("many", "one"), per_lane, **words, limit=0.3, target="e")]
    settings = f"FS-SCB at worst, M = {M}, d = {d}, K = {K}; {blocks} blocks of {many} rounds of {N} lanes or {alone} "
    return Part("Lanes", f"{settings}rounds of one, in random turns", figures)


def regions(quick: bool) -> Part:
    """Target f: PS-OFUL with 10,000 balls against one matrix product."""
    blocks, rounds, d, M = (5 if quick else 40), 10, 20, 10_000
    problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K)
    centers = np.random.default_rng(0).normal(size=(M, d)) / np.sqrt(d)
    left, right, out = np.ones((K + 1, d)), np.ones((d, M)), np.empty((K + 1, M))
    radii: dict[str, Any] = {"equal radii": 1.0, "all radii different (0.5 to 2)": np.linspace(0.5, 2.0, M)}
    plays: dict[str, Block] = {"product": loop(lambda _: np.matmul(left, right, out=out), rounds)}
    for name, own in radii.items():
        policy = PSOFUL(centers=centers, radii=own, noise=WORST_NOISE)
        plays[name] = playing_all(policy, problem.first_map, problem.rewards)
    seconds = interleaved(plays, blocks)
    over = f"one ({K + 1}, {d}) x ({d}, {M}) product, one thread"
    figures = [
        figure(seconds, (name, "product"), rounds, over=over, limit=limit, target="f")
        for name, limit in zip(radii, (3.0, 6.0), strict=True)
    ]
    settings = f"At worst, d = {d}, K = {K}; {blocks} blocks of {rounds} rounds or products, in random turns"
    return Part("PS-OFUL with ten thousand regions", settings, figures)


def workers(quick: bool) -> Part:
    """Target g: a simulation on two processes against one."""
    repeats, rounds = (2 if quick else 5), 500
    problem = SyntheticFeatureSelection(n_models=100, dim=50, n_actions=K)
    policies = {"FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise)}
    pair = ("one worker", "two workers")
    run = partial(simulate, policies, problem, rounds=rounds, replicates=16)
    seconds = interleaved({name: partial(run, workers=n) for n, name in enumerate(pair, 1)}, repeats)
    over = "two workers (the speed-up)"
    settings = f"simulate, FS-SCB, M = 100, d = 50, 16 replicates, {rounds} rounds; {repeats} runs of each, in turn"
    return Part("Two workers", settings, [figure(seconds, pair, 1, over=over, limit=1.7, at_least=True, target="g")])


REPLICATES = 100  #: of the simulation whose loop is timed


def timed(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that adds its seconds to ``Timed.spent``."""

    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        found = method(*args, **kwargs)
        Timed.spent += time.perf_counter() - start
        return found

    return call


class Timed(FSSquareCB):
    spent = 0.0
    act, update = timed(FSSquareCB.act), timed(FSSquareCB.update)


def simulation_loop(quick: bool) -> Part:
    """Target i: the time that simulate adds to that of the policy, in one run.

    With 10,000 items an instance has up to a million random numbers (350 MB for all), nearly as many for 2,000 rounds
    as for 10,000: for few rounds they are most of the cost. A sweep draws an instance once for all policies.
    """
    sizes = ((1000, 500),) if quick else ((1000, 2000), (10_000, 2000), (10_000, 10_000))
    repeats, figures = (2 if quick else 5), []
    policies = {"FS-SCB": Timed.bind(reward_range=given.reward_range, noise=given.noise)}

    def measure(n_items: int, rounds: int) -> tuple[float, float]:
        problem = SyntheticFeatureSelection(n_models=10, dim=10, n_actions=K, n_items=n_items)
        Timed.spent, start = 0.0, time.perf_counter()
        simulate(policies, problem, rounds=rounds, replicates=REPLICATES, workers=1, block=REPLICATES)
        return time.perf_counter() - start, Timed.spent

    measure(100, 10)  # compile
    for n_items, rounds in sizes:
        whole, policy = np.array([measure(n_items, rounds) for _ in range(repeats)]).T
        seconds, words = {"whole": whole, "policy": policy}, f"simulate, {n_items} items, T = {rounds}"
        limits: dict[str, Any] = {"what": words, "over": "its policy alone", "limit": 1.5, "target": "i"}
        figures.append(figure(seconds, ("whole", "policy"), rounds * REPLICATES, **limits))
    settings = f"FS-SCB, M = 10, d = 10, K = {K}, {REPLICATES} replicates side by side; {repeats} runs, the policy's "
    return Part("The loop of simulate", f"{settings}share timed inside them; microseconds per lane and round", figures)
