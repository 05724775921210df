"""The cost of the loop around the policy: the time of `simulate` over the time inside act and update, in one run.

The problem is synthetic feature selection with M = 10, d = 10, K = 10, 100 replicates side by side, and 1,000 items
each or the paper's 10,000. Drawing the instances, offering their items, and all else (means, rewards, recording,
collecting) are timed separately. With 10,000 items an instance has up to a million random numbers (350 MB for all),
nearly as many for 2,000 rounds as for 10,000: for few rounds they are most of the cost of the loop. The first run of a
row is slower if its memory is new to the process or, on a virtual machine, to the host; later runs reuse the memory of
the run before, as the blocks of a sweep do. A sweep draws an instance once for all policies that play it.
"""

import statistics
import time
import weakref
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from banditselect import FSSquareCB, given, simulate
from banditselect.problems import Instances, SyntheticFeatureSelection

REPLICATES, REPEATS = 100, 5
PARTS = ("policy", "drawing", "features")

spent: Counter[str] = Counter()


def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[part] += time.perf_counter() - start  # type: ignore[assignment]

    return call


class Timed(FSSquareCB):
    """FS-SCB that adds up the time spent in it."""

    act = timed("policy", FSSquareCB.act)
    update = timed("policy", FSSquareCB.update)


class TimedProblem(SyntheticFeatureSelection):
    """The problem that adds up the time for drawing and for features."""

    def draw(self, *args: Any) -> Instances:  # type: ignore[override]
        instances = timed("drawing", super().draw)(*args)
        itself = weakref.proxy(instances)  # no cycle, which would hold the memory of this draw beyond the next
        instances.offer = timed("features", partial(type(instances).offer, itself))
        return instances


def measure(rounds: int, n_items: int) -> dict[str, float]:
    """Return microseconds per lane and round: in total and by part."""
    spent.clear()
    problem = TimedProblem(n_models=10, dim=10, n_actions=10, n_items=n_items)
    policies = {"FS-SCB": Timed.bind(reward_range=given.reward_range, noise=given.noise)}
    start = time.perf_counter()
    simulate(policies, problem, rounds=rounds, replicates=REPLICATES, workers=1, block=REPLICATES)
    whole = time.perf_counter() - start
    told = {part: spent[part] for part in PARTS} | {"rest": whole - sum(spent.values()), "whole": whole}
    return {part: seconds / (rounds * REPLICATES) * 1e6 for part, seconds in told.items()}


def main() -> None:
    measure(10, 100)  # compile
    print(f"simulate, FS-SCB, M=10, d=10, K=10, {REPLICATES} lanes, {REPEATS} runs, medians")
    for n_items, rounds in ((1000, 2000), (10_000, 2000), (10_000, 10_000)):
        runs = [measure(rounds, n_items) for _ in range(REPEATS)]
        ratios = sorted(run["whole"] / run["policy"] for run in runs)
        parts = ", ".join(f"{part} {statistics.median(run[part] for run in runs):.2f}" for part in runs[0])
        print(f"  {n_items} items, T={rounds}: us per lane-round: {parts}")
        print(f"    whole / policy: {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
