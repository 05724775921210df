"""What the loop costs besides the policy: the time of `simulate` over the time inside act and update, in one run.

The problem is the paper's synthetic feature selection with M = 10, d = 10, K = 10, 100 replicates side by side; drawing
the instances, offering features, recording and putting together are all counted. `make bench` prints the ratio.
"""

import statistics
import time
from typing import Any

from banditselect import FSSquareCB, given, simulate
from banditselect.policies import Decision
from banditselect.problems import SyntheticFeatureSelection

ROUNDS, REPLICATES, REPEATS = 2000, 100, 5

inside = 0.0


class Timed(FSSquareCB):
    """FS-SCB that adds up the time spent in it."""

    def act(self, *args: Any, **kwargs: Any) -> Decision:
        global inside
        start = time.perf_counter()
        decision = super().act(*args, **kwargs)
        inside += time.perf_counter() - start
        return decision

    def update(self, *args: Any, **kwargs: Any) -> None:
        global inside
        start = time.perf_counter()
        super().update(*args, **kwargs)
        inside += time.perf_counter() - start


def measure(rounds: int) -> tuple[float, float]:
    """Return the seconds of the whole and of the policy."""
    global inside
    inside = 0.0
    problem = SyntheticFeatureSelection(n_models=10, dim=10, n_actions=10)
    policies = {"FS-SCB": Timed.bind(reward_range=given.reward_range, noise=given.noise)}
    start = time.perf_counter()
    simulate(policies, problem, rounds=rounds, replicates=REPLICATES, workers=1, block=REPLICATES)
    return time.perf_counter() - start, inside


def main() -> None:
    measure(10)  # compile
    runs = [measure(ROUNDS) for _ in range(REPEATS)]
    ratios = sorted(whole / policy for whole, policy in runs)
    lane_rounds = ROUNDS * REPLICATES
    whole, policy = (statistics.median(column) / lane_rounds * 1e6 for column in zip(*runs, strict=True))
    print(f"simulate, FS-SCB, M=10, d=10, K=10, {REPLICATES} lanes, T={ROUNDS}, {REPEATS} runs")
    print(f"  per lane-round: whole {whole:.2f} us, policy {policy:.2f} us")
    middle = statistics.median(ratios)
    print(f"  whole / policy: median {middle:.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f}  (at most 1.5)")


if __name__ == "__main__":
    main()
