"""The limits that we set ourselves: against plain NumPy, against a peer, and against the limits of the machine.

Rounds are timed at worst: no model loses its weight, no region is refuted.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from banditselect import FSIDS, FSOFUL, OFUL, PSOFUL, FSSquareCB, given, problems, simulate
from banditselect.authoring import Policy
from banditselect.models.map_mixture import SCALES

from . import whole_loop
from .contestants import (
    EMPTY,
    EMPTY_MAPS,
    LINUCB,
    LINUCB_TIGHT,
    OUR_FS_AT_WORST,
    OUR_OFUL,
    SQUARECB,
    WORST_NOISE,
    Contestant,
    Play,
    fs_squarecb_at_worst,
)
from .figures import Figure, Part
from .measuring import Array, Block, Spread, interleaved, ratio
from .peers import VW_EXAMPLES
from .problem import NOISE, REWARD_RANGE, LinearProblem

K = 10


def figure(
    seconds: Mapping[str, Array],
    pair: tuple[str, str],
    what: str,
    over: str,
    *,
    rounds: Mapping[str, int],
    **limits: Any,
) -> Figure:
    """Return the ratio of a pair of contestants per round; ``rounds`` says how many a block of each plays."""
    a, b = (seconds[name] / rounds[name] for name in pair)
    return Figure(what, over, ratio(a, b), above=Spread.of(a).times(1e6), below=Spread.of(b).times(1e6), **limits)


def loop(play: Play, rounds: int) -> Block:
    """Return a block that plays every round of the problem once more."""

    def block() -> None:
        for t in range(rounds):
            play(t)

    return block


def playing(policy: Policy, features: Any, rewards: Sequence[Sequence[float]]) -> Block:
    """Return a block in which a policy plays every round of features once more."""

    def play(t: int) -> int:
        decision = policy.act(features[t])
        action: int = decision.action
        policy.update(decision, rewards[t][action])
        return action

    return loop(play, len(features))


def one_lane(quick: bool) -> Part:
    """Targets a, b, c: one decision and one update per round, one lane."""
    rounds, blocks = (100, 10) if quick else (500, 100)
    narrow = [OUR_OFUL, OUR_FS_AT_WORST, LINUCB, LINUCB_TIGHT, SQUARECB, EMPTY, EMPTY_MAPS]
    wide = [OUR_FS_AT_WORST, *([VW_EXAMPLES] if VW_EXAMPLES.installed else [])]
    seconds: dict[str, Array] = {}
    for d, contestants in ((10, narrow), (50, wide)):
        problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=10)
        playing = {f"{c.name}, d = {d}": loop(c.make(problem, 0), rounds) for c in contestants}
        seconds |= interleaved(playing, blocks)
    duels: list[tuple[int, Contestant, Contestant, dict[str, Any]]] = [
        (10, OUR_OFUL, LINUCB, {"limit": 0.45, "target": "a"}),
        (10, OUR_OFUL, LINUCB_TIGHT, {}),
        (10, OUR_OFUL, EMPTY, {}),
        (10, OUR_FS_AT_WORST, SQUARECB, {"limit": 0.8, "target": "b"}),
        (10, OUR_FS_AT_WORST, EMPTY_MAPS, {}),
        (50, OUR_FS_AT_WORST, VW_EXAMPLES, {"limit": 0.2, "target": "c"}),
    ]
    figures = []
    for d, mine, other, limits in duels:
        pair = (f"{mine.name}, d = {d}", f"{other.name}, d = {d}")
        if pair[1] in seconds:
            what = pair[0] + (", M = 10" if mine is OUR_FS_AT_WORST else "")
            figures.append(figure(seconds, pair, what, other.name, rounds=dict.fromkeys(pair, rounds), **limits))
    return Part(
        title="One lane",
        settings=f"K = {K}; {blocks} blocks of {rounds} rounds of each, in random turns",
        figures=figures,
        missing=[] if VW_EXAMPLES.installed else [VW_EXAMPLES.package],
    )


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
    seconds = interleaved({name: playing(*case, problem.rewards) for name, case in cases.items()}, blocks)
    duels = [
        ("PS-OFUL, M = 1", "OFUL", 1.5, "k"),
        ("FS-OFUL, M = 1", "OFUL", 1.5, "k"),
        ("a list of maps", "an array of maps", 1.5, "l"),
        ("a list of maps of widths 20 to 40", "an array of maps of width 30", 3.0, "l"),
    ]
    return Part(
        title="One model, and lists of maps",
        settings=f"d = {d} and M = {M} unless stated otherwise, K = {K}; maps: FS-SCB at worst; {blocks} blocks of "
        f"{rounds} rounds of each, in random turns",
        figures=[
            figure(seconds, (a, b), a, b, rounds=dict.fromkeys((a, b), rounds), limit=limit, target=target)
            for a, b, limit, target in duels
        ],
    )


def untuned(quick: bool) -> Part:
    """Target m: the cost of learning the noise and the prior scales, over FS-SCB, which is given them."""
    cases, figures = [(10, 10, 500, 4.0), (100, 50, 20, float(len(SCALES)))], []
    blocks = 10 if quick else 60
    for M, d, rounds, limit in cases:
        problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=M)
        told = FSSquareCB(n_models=M, dim=d, noise=NOISE, reward_range=REWARD_RANGE)
        pair = (f"FS-IDS, M = {M}, d = {d}", "FS-SCB")
        plays = {pair[0]: FSIDS(n_models=M, dim=d), pair[1]: told}
        blocks_of = {name: playing(policy, problem.features, problem.rewards) for name, policy in plays.items()}
        for _ in range(1000 // rounds):  # weights concentrate, as they do in use
            blocks_of[pair[0]]()
        seconds = interleaved(blocks_of, blocks)
        figures.append(figure(seconds, pair, *pair, rounds=dict.fromkeys(pair, rounds), limit=limit, target="m"))
    return Part(
        title="Nothing to tune",
        settings=f"K = {K}, {len(SCALES)} prior scales, after 1,000 rounds; {blocks} blocks of 500 and 20 rounds of "
        "each, in random turns",
        figures=figures,
    )


def bank(quick: bool) -> Part:
    """Target d: a bank of M ridge regressions against copying it once."""
    blocks, rounds, M, d = (10 if quick else 60), 20, 100, 50
    problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K, n_models=M)
    source, target = np.ones((M, d, d)), np.empty((M, d, d))

    def copy() -> None:
        for _ in range(rounds):
            np.copyto(target, source)

    pair = ("FS-SCB", "copy")
    seconds = interleaved({"FS-SCB": loop(OUR_FS_AT_WORST.make(problem, 0), rounds), "copy": copy}, blocks)
    over = f"copying M d² doubles once ({M * d * d * 8 / 1e6:g} MB)"
    return Part(
        title="A bank of ridge regressions against its floor",
        settings=f"FS-SCB at worst, M = {M}, d = {d}, K = {K}, one lane; {blocks} blocks of {rounds} rounds or copies, "
        "in random turns",
        figures=[figure(seconds, pair, "FS-SCB", over, rounds=dict.fromkeys(pair, rounds), limit=3.0, target="d")],
    )


def lanes(quick: bool) -> Part:
    """Target e: a hundred learners side by side against one."""
    blocks, N, M, d = (10 if quick else 60), 100, 10, 10
    rounds = {"one": 500, "many": 10}
    problem = LinearProblem.draw(rounds=rounds["one"], dim=d, n_actions=K, n_models=M)
    problems_of = [LinearProblem.draw(rounds=rounds["many"], dim=d, n_actions=K, n_models=M, seed=j) for j in range(N)]
    x = np.stack([problem.features for problem in problems_of], axis=1)
    rewards = np.stack([problem.rewards for problem in problems_of], axis=1)
    policy, every = fs_squarecb_at_worst(M, d, 0, lanes=N), np.arange(N)

    def side_by_side() -> None:
        for t in range(rounds["many"]):
            decision = policy.act(x[t])
            policy.update(decision, rewards[t, every, decision.action])

    alone = loop(OUR_FS_AT_WORST.make(problem, 0), rounds["one"])
    seconds = interleaved({"one": alone, "many": side_by_side}, blocks)
    per_lane = {"one": rounds["one"], "many": N * rounds["many"]}
    what = f"a lane-round of {N} lanes"
    return Part(
        title="Lanes",
        settings=f"FS-SCB at worst, M = {M}, d = {d}, K = {K}; {blocks} blocks of {rounds['many']} rounds of {N} lanes "
        f"or {rounds['one']} rounds of one, in random turns",
        figures=[figure(seconds, ("many", "one"), what, "a round of one", rounds=per_lane, limit=0.3, target="e")],
    )


def regions(quick: bool) -> Part:
    """Target f: PS-OFUL with 10,000 balls against one matrix product."""
    blocks, rounds, d, M = (5 if quick else 40), 10, 20, 10_000
    problem = LinearProblem.draw(rounds=rounds, dim=d, n_actions=K)
    centers = np.random.default_rng(0).normal(size=(M, d)) / np.sqrt(d)
    left, right, out = np.ones((K + 1, d)), np.ones((d, M)), np.empty((K + 1, M))

    def with_radii(radii: ArrayLike) -> Block:
        return playing(PSOFUL(centers=centers, radii=radii, noise=WORST_NOISE), problem.first_map, problem.rewards)

    def product() -> None:
        for _ in range(rounds):
            np.matmul(left, right, out=out)

    named = {"equal radii": with_radii(1.0), "all radii different (0.5 to 2)": with_radii(np.linspace(0.5, 2.0, M))}
    seconds = interleaved(named | {"product": product}, blocks)
    over = f"one ({K + 1}, {d}) x ({d}, {M}) product, one thread"
    return Part(
        title="PS-OFUL with ten thousand regions",
        settings=f"At worst, d = {d}, K = {K}; {blocks} blocks of {rounds} rounds or products, in random turns",
        figures=[
            figure(
                seconds, (name, "product"), name, over, rounds=dict.fromkeys(seconds, rounds), limit=limit, target="f"
            )
            for name, limit in zip(named, (3.0, 6.0), strict=True)
        ],
    )


def workers(quick: bool) -> Part:
    """Target g: a simulation on two processes against one."""
    repeats, rounds = (2 if quick else 5), 500
    problem = problems.SyntheticFeatureSelection(n_models=100, dim=50, n_actions=K)
    policies = {"FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise)}

    def run(n: int) -> Block:
        return lambda: simulate(policies, problem, rounds=rounds, replicates=16, workers=n)

    pair = ("one worker", "two workers")
    seconds = interleaved({"one worker": run(1), "two workers": run(2)}, repeats)
    whole, over = dict.fromkeys(pair, 1), "two workers (the speed-up)"
    return Part(
        title="Two workers",
        settings=f"simulate, FS-SCB, M = 100, d = 50, 16 replicates, {rounds} rounds; {repeats} runs of each, in turn",
        figures=[figure(seconds, pair, pair[0], over, rounds=whole, limit=1.7, at_least=True, target="g")],
    )


def simulation_loop(quick: bool) -> Part:
    """Target i: the time that simulate adds to that of the policy."""
    settings = ((1000, 500),) if quick else ((1000, 2000), (10_000, 2000), (10_000, 10_000))
    repeats = 2 if quick else 5
    whole_loop.measure(10, 100)  # compile
    figures = []
    for n_items, rounds in settings:
        runs = [whole_loop.measure(rounds, n_items) for _ in range(repeats)]
        pair = ("whole", "policy")
        seconds = {part: np.array([run[part] for run in runs]) / 1e6 for part in pair}
        what, once = f"simulate, {n_items} items, T = {rounds}", dict.fromkeys(pair, 1)
        figures.append(figure(seconds, pair, what, "its policy alone", rounds=once, limit=1.5, target="i"))
    return Part(
        title="The loop of simulate",
        settings=f"FS-SCB, M = 10, d = 10, K = {K}, {whole_loop.REPLICATES} replicates side by side; {repeats} runs, "
        "the policy's share timed inside them; microseconds per lane and round",
        figures=figures,
    )
