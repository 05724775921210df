"""One decision and one update per round, one lane: our policies against a plain NumPy loop, in one run.

The yardstick is LinUCB with Sherman-Morrison updates written out in NumPy, without checks or objects. Blocks of rounds
of all contestants are interleaved, so that whatever else the machine does meets them alike; what is reported are
ratios of times within a block.

    python benchmarks/one_lane.py [--blocks 40] [--rounds 500]
"""

import argparse
import platform
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from banditselect import OFUL, FSSquareCB

Array = NDArray[np.float64]
D, K, M = 10, 10, 10


class NumpyLinUCB:
    """LinUCB as one would write it for a notebook."""

    def __init__(self) -> None:
        self.V_inv = np.eye(D)
        self.b = np.zeros(D)

    def round(self, x: Array, theta: Array, noise: float) -> None:
        estimate = self.V_inv @ self.b
        width = np.sqrt(((x @ self.V_inv) * x).sum(axis=1))
        z = x[int(np.argmax(x @ estimate + width))]
        gain = self.V_inv @ z
        self.V_inv -= np.outer(gain, gain) / (1.0 + z @ gain)
        self.b += (float(z @ theta) + noise) * z


def policy_round(policy: OFUL | FSSquareCB, true_map: int | None) -> Callable[[Array, Array, float], None]:
    def play(x: Array, theta: Array, noise: float) -> None:
        decision = policy.act(x)
        z = decision.features if true_map is None else decision.features[true_map]
        policy.update(decision, float(z @ theta) + noise)

    return play


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=500)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    theta = rng.normal(size=D) / np.sqrt(D)
    one = rng.normal(size=(options.rounds, K, D)) / np.sqrt(D)
    many = rng.normal(size=(options.rounds, M, K, D)) / np.sqrt(D)
    noise = rng.uniform(-0.5, 0.5, options.rounds)
    contestants: dict[str, tuple[Callable[[Array, Array, float], None], Array]] = {
        "NumPy LinUCB loop": (NumpyLinUCB().round, one),
        "OFUL": (policy_round(OFUL(dim=D, noise=0.289), None), one),
        f"FS-SCB, M={M}": (
            policy_round(FSSquareCB(n_models=M, dim=D, noise=0.289, reward_range=(-4.0, 4.0)), 0),
            many,
        ),
    }
    for play, features in contestants.values():  # compile and warm up
        for x in features[:50]:
            play(x, theta, 0.0)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.blocks):
        for name, (play, features) in contestants.items():
            start = time.process_time()
            for x, eta in zip(features, noise, strict=True):
                play(x, theta, eta)
            times[name].append((time.process_time() - start) / options.rounds * 1e6)
    yard = np.array(times["NumPy LinUCB loop"])
    machine = platform.processor() or platform.machine()
    print(f"d={D}, K={K}, {options.blocks} interleaved blocks of {options.rounds} rounds, {machine}")
    print(f"{'':<22}{'us/round':>10}{'best':>8}{'ratio to the NumPy loop: median':>34}{'10 %':>8}{'90 %':>8}")
    for name, values in times.items():
        us = np.array(values)
        low, middle, high = np.quantile(us / yard, (0.1, 0.5, 0.9))
        print(f"{name:<22}{np.median(us):>10.1f}{us.min():>8.1f}{middle:>34.2f}{low:>8.2f}{high:>8.2f}")


if __name__ == "__main__":
    main()
