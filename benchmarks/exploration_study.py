"""Which exploration constant should be the default? SquareCB with alpha_t = c sqrt(t) / (hi - lo) on eight problems.

For every problem and every c: mean regret over the replicates, as a multiple of the best c's on that problem. One value
serves all problems, so the default is the c whose worst multiple is smallest. The numbers in docs/exploration.md are
this script's output.

    python benchmarks/exploration_study.py [--replicates 100] [--rounds 2000]
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from banditselect import SquareCB
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection

Array = NDArray[np.float64]
GRID = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)

Round = tuple[
    Array, Array, Callable[[Array], Array]
]  # features (N, K, d), means (N, K), noise: played means -> rewards
Play = Callable[[np.random.Generator, int], Round]


def uniform_noise(rng: np.random.Generator) -> Callable[[Array], Array]:
    return lambda means: means + rng.uniform(-0.5, 0.5, means.shape)


def coin(rng: np.random.Generator) -> Callable[[Array], Array]:
    return lambda means: (rng.uniform(size=means.shape) < means).astype(float)


def linear(N: int, K: int, d: int, seed: int) -> Play:
    """Gaussian features, a parameter of norm 1."""
    theta = np.random.default_rng(seed).normal(size=(N, d))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)

    def play(rng: np.random.Generator, t: int) -> Round:
        x = rng.normal(size=(N, K, d)) / np.sqrt(d)
        return x, np.einsum("nkd,nd->nk", x, theta), uniform_noise(rng)

    return play


def arms(N: int, K: int, best: float, others: float) -> Play:
    """A K-armed bandit with coin rewards."""
    x = np.tile(np.eye(K), (N, 1, 1))
    means = np.full((N, K), others)
    means[:, 0] = best
    return lambda rng, t: (x, means, coin(rng))


def classes(N: int, seed: int) -> Play:
    """Ten noisy class embeddings, one of the class wanted: coin(.9) for it, coin(.1) for the others."""
    K, d = 10, 12
    centres = np.random.default_rng(seed).normal(size=(N, K, d))

    def play(rng: np.random.Generator, t: int) -> Round:
        x = centres + 0.7 * rng.normal(size=(N, K, d))
        x = np.concatenate([x / np.sqrt(d), np.ones((N, K, 1))], axis=2)
        means = np.full((N, K), 0.1)
        means[:, 0] = 0.9
        return x, means, coin(rng)

    return play


def synthetic(instances: object) -> Play:
    """The first map of a problem of the package."""

    def play(rng: np.random.Generator, t: int) -> Round:
        x = instances.features(t)  # type: ignore[attr-defined]
        x = x[:, 0] if x.ndim == 4 else x
        return np.ascontiguousarray(x), instances.means(t), uniform_noise(rng)  # type: ignore[attr-defined]

    return play


def regret(play: Play, dim: int, span: tuple[float, float], c: float, N: int, rounds: int) -> Array:
    """Regret of every replicate, ``(N,)``."""
    rng = np.random.default_rng(1)
    policy = SquareCB(dim=dim, exploration=c, reward_range=span, lanes=N, seed=2)
    total = np.zeros(N)
    for t in range(rounds):
        x, means, noise = play(rng, t)
        decision = policy.act(x)
        played = means[np.arange(N), decision.action]
        policy.update(decision, noise(played))
        total += means.max(axis=1) - played
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2000)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", ".*lies outside")  # rarely, and the range is a scale, not a law
    N, T = options.replicates, options.rounds
    fs = SyntheticFeatureSelection(n_models=1).draw(range(N), T, seed=77)
    ps = SyntheticParameterSelection(radius=4.5).draw(range(N), T, seed=77)
    problems: dict[str, tuple[Play, int, tuple[float, float]]] = {
        "fs-synthetic, true map (d=50, K=10)": (synthetic(fs), 50, (-2.5, 2.5)),
        "ps-synthetic, b=4.5 (d=20, K=10)": (synthetic(ps), 20, (-3.0, 3.0)),
        "linear, d=10, K=10": (linear(N, 10, 10, 1), 10, (-2.0, 2.0)),
        "linear, d=10, K=100": (linear(N, 100, 10, 2), 10, (-2.0, 2.0)),
        "linear, d=5, K=2": (linear(N, 2, 5, 3), 5, (-2.0, 2.0)),
        "classes, coins .9/.1 (d=13, K=10)": (classes(N, 4), 13, (0.0, 1.0)),
        "10 arms, coins .9/.1": (arms(N, 10, 0.9, 0.1), 10, (0.0, 1.0)),
        "10 arms, coins .5/.4": (arms(N, 10, 0.5, 0.4), 10, (0.0, 1.0)),
    }
    print(f"Mean regret of SquareCB after {T} rounds, {N} problems each, ± standard error (multiple of the best c).\n")
    print("| problem | " + " | ".join(f"c = {c:g}" for c in GRID) + " |")
    print("|---|" + "---|" * len(GRID))
    ratios = []
    for name, (play, dim, span) in problems.items():
        runs = np.array([regret(play, dim, span, c, N, T) for c in GRID])
        values, errors = runs.mean(axis=1), runs.std(axis=1, ddof=1) / np.sqrt(N)
        ratios.append(values / values.min())
        cells = [f"{v:.0f} ± {e:.1f} ({r:.2f})" for v, e, r in zip(values, errors, ratios[-1], strict=True)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for label, row in (
        ("worst multiple", np.max(ratios, axis=0)),
        ("geometric mean of the multiples", np.exp(np.mean(np.log(ratios), axis=0))),
    ):
        print(f"| **{label}** | " + " | ".join(f"{r:.2f}" for r in row) + " |")


if __name__ == "__main__":
    main()
