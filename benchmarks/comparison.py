"""All contestants on the same problems: time per round, single calls, regret, in one run."""

from collections.abc import Sequence
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from banditselect.runtime.quantiles import standard_error

from .contestants import EMPTY, LINUCB, OURS, YARDSTICKS, Contestant
from .figures import Part, Row
from .measuring import PERCENTILES, Spread, interleaved, package_version, ratio
from .peers import PEERS
from .problem import LinearProblem

Ints = NDArray[np.int64]


class Player:
    """A contestant on one problem: plays a block of rounds when called, and times each of them."""

    def __init__(self, contestant: Contestant, problem: LinearProblem, seed: int, block: int) -> None:
        self.play, self.block = contestant.make(problem, seed), block
        self.actions = np.empty(len(problem.rewards), dtype=np.int64)
        self.nanoseconds = self.actions.copy()
        self.t = 0

    def __call__(self) -> None:
        for t in range(self.t, min(self.t + self.block, self.actions.size)):
            start = perf_counter_ns()
            action = self.play(t)
            self.nanoseconds[t] = perf_counter_ns() - start
            self.actions[t] = action
        self.t += self.block


def compare(
    contestants: Sequence[Contestant], *, dim: int, n_models: int, seeds: int, rounds: int, block: int
) -> list[Row]:
    """Return one row per contestant; all take turns, ``block`` rounds at a time, on every one of ``seeds`` problems."""
    nanoseconds: dict[str, list[Ints]] = {contestant.name: [] for contestant in contestants}
    regrets: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    warm_up = LinearProblem.draw(rounds=20, dim=dim, n_models=n_models, seed=seeds)
    for contestant in contestants:
        Player(contestant, warm_up, 0, 20)()
    starts = range(block, rounds, block)
    for seed in range(seeds):
        problem = LinearProblem.draw(rounds=rounds, dim=dim, n_models=n_models, seed=seed)
        playing = [one for one in contestants if one.most_seeds is None or seed < one.most_seeds]
        players = {one.name: Player(one, problem, seed, block) for one in playing}
        interleaved(players, len(starts) + 1, warm_up=0, seed=seed)
        for name, player in players.items():
            regrets[name].append(problem.regret(player.actions))
            nanoseconds[name] += np.split(player.nanoseconds, starts)
    per_block = {name: np.array([part.mean() for part in parts]) / 1e3 for name, parts in nanoseconds.items()}
    rows = []
    for one in contestants:
        mine, regret, calls = per_block[one.name], regrets[one.name], np.concatenate(nanoseconds[one.name])
        rows.append(
            Row(
                one.name,
                one.what,
                package_version(one.package),
                Spread.of(mine),
                to_yardstick=ratio(mine, per_block[LINUCB.name][: mine.size]),
                to_empty_call=ratio(mine, per_block[EMPTY.name][: mine.size]),
                calls=calls.size,
                latency={f"{p:g}": float(np.percentile(calls, p)) / 1e3 for p in PERCENTILES},
                problems=len(regret),
                regret=float(np.mean(regret)),
                standard_error=float(standard_error(np.array(regret))) if len(regret) > 1 else None,
            )
        )
    return rows


def peers(dim: int, quick: bool) -> Part:
    """Return the comparison in d dimensions with every peer that is installed."""
    present = [peer for peer in PEERS if peer.installed]
    seeds, rounds, block = (2, 300, 100) if quick else (10, 2000, 200)
    rows = compare([*YARDSTICKS, *OURS, *present], dim=dim, n_models=10, seeds=seeds, rounds=rounds, block=block)
    settings = f"One lane; {seeds} problems of {rounds} rounds, fewer for slow ones; {block} rounds at a time, in "
    missing = sorted({peer.package for peer in PEERS if not peer.installed})
    return Part(f"Peers on one problem, d = {dim}, K = 10", f"{settings}random turns", rows=rows, missing=missing)
