"""All contestants on the same problems: time per round, single calls, regret, in one run."""

from collections import defaultdict
from collections.abc import Sequence
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from .contestants import EMPTY, LINUCB, OURS, YARDSTICKS, Contestant, Play
from .figures import Part, Row
from .measuring import Spread, package_version, percentiles, ratio, undisturbed
from .peers import PEERS
from .problem import LinearProblem

Ints = NDArray[np.int64]


def timed_rounds(play: Play, rounds: range) -> tuple[Ints, Ints]:
    """Play rounds; return the actions and the nanoseconds of each call."""
    actions, nanoseconds = np.empty(len(rounds), dtype=np.int64), np.empty(len(rounds), dtype=np.int64)
    for i, t in enumerate(rounds):
        start = perf_counter_ns()
        action = play(t)
        nanoseconds[i] = perf_counter_ns() - start
        actions[i] = action
    return actions, nanoseconds


def compare(
    contestants: Sequence[Contestant], *, dim: int, n_models: int, seeds: int, rounds: int, block: int
) -> list[Row]:
    """Return one row per contestant; all take turns, ``block`` rounds at a time, on every one of ``seeds`` problems."""
    order = np.random.default_rng(0)
    nanoseconds: dict[str, list[Ints]] = defaultdict(list)
    regrets: dict[str, list[float]] = defaultdict(list)
    warm_up = LinearProblem.draw(rounds=20, dim=dim, n_models=n_models, seed=seeds)
    for contestant in contestants:
        timed_rounds(contestant.make(warm_up, 0), range(20))
    for seed in range(seeds):
        problem = LinearProblem.draw(rounds=rounds, dim=dim, n_models=n_models, seed=seed)
        playing = [c for c in contestants if c.most_seeds is None or seed < c.most_seeds]
        plays = [contestant.make(problem, seed) for contestant in playing]
        actions: list[list[Ints]] = [[] for _ in playing]
        with undisturbed():
            for start in range(0, rounds, block):
                for i in order.permutation(len(playing)):
                    played, spent = timed_rounds(plays[i], range(start, min(start + block, rounds)))
                    actions[i].append(played)
                    nanoseconds[playing[i].name].append(spent)
        for contestant, played_by in zip(playing, actions, strict=True):
            regrets[contestant.name].append(problem.regret(np.concatenate(played_by)))
    per_block = {name: np.array([part.mean() for part in parts]) / 1e3 for name, parts in nanoseconds.items()}
    rows = []
    for contestant in contestants:
        name = contestant.name
        mine, regret = per_block[name], regrets[name]
        rows.append(
            Row(
                name,
                contestant.what,
                package_version(contestant.package),
                Spread.of(mine),
                to_yardstick=ratio(mine, per_block[LINUCB.name][: mine.size]),
                to_empty_call=ratio(mine, per_block[EMPTY.name][: mine.size]),
                calls=sum(part.size for part in nanoseconds[name]),
                latency=percentiles(np.concatenate(nanoseconds[name])),
                problems=len(regret),
                regret=float(np.mean(regret)),
                standard_error=float(np.std(regret, ddof=1) / np.sqrt(len(regret))) if len(regret) > 1 else None,
            )
        )
    return rows


def peers(dim: int, quick: bool) -> Part:
    """Return the comparison in d dimensions with every peer that is installed."""
    present = [peer for peer in PEERS if peer.installed]
    seeds, rounds, block = (2, 300, 100) if quick else (10, 2000, 200)
    rows = compare([*YARDSTICKS, *OURS, *present], dim=dim, n_models=10, seeds=seeds, rounds=rounds, block=block)
    settings = (
        f"One lane; {seeds} problems of {rounds} rounds, fewer for slow ones; {block} rounds at a time, in random "
    )
    missing = sorted({peer.package for peer in PEERS if not peer.installed})
    return Part(f"Peers on one problem, d = {dim}, K = 10", f"{settings}turns", rows=rows, missing=missing)
