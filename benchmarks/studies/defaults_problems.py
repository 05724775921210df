"""The problems on which defaults are chosen, each drawn whole: every policy meets the same features and noise.

They are not the reported experiments of the paper: they use other seeds, and no image packs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.types import Array


class Trace(NamedTuple):
    """One replicate: features ``(T, P, K, d)``, mean rewards and rewards of all actions ``(T, K)``, balls if any."""

    features: Array
    means: Array
    rewards: Array
    centers: Array = np.empty((0, 0))
    radii: Array = np.empty(0)

    def regret(self, actions: NDArray[np.int64]) -> float:
        """Return the regret of playing these actions ``(T,)``."""
        return float((self.means.max(axis=1) - self.means[np.arange(len(actions)), actions]).sum())

    def late(self, actions: NDArray[np.int64]) -> float:
        """Return the regret in the last tenth of the rounds over that of uniform play; 0 if both are 0."""
        rows = np.arange(len(actions) - max(len(actions) // 10, 1), len(actions))
        best = self.means[rows].max(axis=1)
        uniform = float((best - self.means[rows].mean(axis=1)).sum())
        return float((best - self.means[rows, actions[rows]]).sum()) / uniform if uniform > 0.0 else 0.0


class Problem(NamedTuple):
    """A problem: draws a trace from a seed and a number of rounds, and has constants for the policies."""

    draw: Callable[[int, int], Trace]
    rounds: int = 2000
    widths: tuple[int, ...] = (10,)
    span: tuple[float, float] = (0.0, 1.0)  # the scale of rewards
    noise: float = 0.5  # a sub-Gaussian constant of the rewards, or the standard deviation if they have none
    arms: int = 0  # K, where an action is its number and nothing else

    @property
    def shape(self) -> dict[str, Any]:
        """The arguments of a policy for several maps."""
        return {"n_models": len(self.widths), "dim": self.widths}


def rng_of(seed: int, *key: int) -> np.random.Generator:
    """Return the random generator of a replicate; keys separate problems."""
    return np.random.default_rng((20_000 + seed, *key))


def coins(rng: np.random.Generator, means: Array) -> Array:
    """Return rewards 0 and 1 of these means."""
    return (rng.uniform(size=means.shape) < means).astype(float)


def linear(seed: int, T: int, K: int, d: int, noise: str = "uniform") -> Trace:
    """Gaussian features, a parameter of norm 1, noise of standard deviation about .3 or .5."""
    rng = rng_of(seed, 1, K, d)
    theta = rng.normal(size=d)
    x = rng.normal(size=(T, 1, K, d)) / np.sqrt(d)
    means = x[:, 0] @ (theta / np.linalg.norm(theta))
    if noise == "uniform":
        error = rng.uniform(-0.5, 0.5, (T, K))
    elif noise == "heavy":  # Student's t with 2.5 degrees, of standard deviation 1/2
        error = 0.5 * rng.standard_t(2.5, (T, K)) / np.sqrt(5.0)
    else:  # uneven: most where the first feature is large
        error = rng.normal(size=(T, K)) * (0.05 + np.sqrt(d) * np.abs(x[:, 0, :, 0]))
    return Trace(x, means, means + error)


def arms(seed: int, T: int, K: int, best: float, others: float) -> Trace:
    """K coins without features."""
    rng = rng_of(seed, 2, K, int(100 * best))
    means = np.full((T, K), others)
    means[:, rng.integers(K)] = best
    return Trace(np.broadcast_to(np.eye(K), (T, 1, K, K)), means, coins(rng, means))


def quiet_arms(seed: int, T: int, noise: float, K: int = 10) -> Trace:
    """K arms of means N(0, 1) with little noise; no arm is informative about another."""
    rng = rng_of(seed, 3, K)
    means = np.tile(rng.normal(size=K), (T, 1))
    return Trace(np.broadcast_to(np.eye(K), (T, 1, K, K)), means, means + noise * rng.normal(size=(T, K)))


def classes(seed: int, T: int, noise: float | None = None) -> Trace:
    """Ten noisy class embeddings and a one, with a target class: .9 for it, .1 for the others; coins, or with noise."""
    rng = rng_of(seed, 4)
    K, d = 10, 12
    x = np.ones((T, 1, K, d + 1))
    x[..., :d] = (rng.normal(size=(K, d)) + 0.7 * rng.normal(size=(T, 1, K, d))) / np.sqrt(d)
    means = np.full((T, K), 0.1)
    means[:, 0] = 0.9
    return Trace(x, means, coins(rng, means) if noise is None else means + noise * rng.normal(size=(T, K)))


def class_balls(seed: int, T: int) -> Trace:
    """Classes again; a ball around the parameter fitted for each class, one of which is the target."""
    rng = rng_of(seed, 5)
    K, d = 10, 12
    embedded = rng.normal(size=(K, d))
    past = (embedded + 0.7 * rng.normal(size=(200, K, d))) / np.sqrt(d)
    A = past.reshape(-1, d).T @ past.reshape(-1, d) + np.eye(d)
    targets = np.full((200, K, K), 0.1)
    targets[:, np.arange(K), np.arange(K)] = 0.9
    centers = np.linalg.solve(A, past.reshape(-1, d).T @ targets.reshape(-1, K)).T
    radius = 0.5 * np.sqrt(((centers - centers.mean(axis=0)) ** 2).sum(axis=1).mean())
    x = (embedded + 0.7 * rng.normal(size=(T, 1, K, d))) / np.sqrt(d)
    means = np.full((T, K), 0.1)
    means[:, rng.integers(K)] = 0.9
    return Trace(x, means, coins(rng, means), centers, np.full(K, radius))


def fs_synthetic(seed: int, T: int, n_models: int = 1) -> Trace:
    """The synthetic problem of feature selection; its first map is true."""
    x, means, _ = synthetic(SyntheticFeatureSelection(n_models=n_models), seed, T)
    return Trace(x, means, means + rng_of(seed, 6).uniform(-0.5, 0.5, means.shape))


def ps_synthetic(seed: int, T: int, radius: float = 4.5) -> Trace:
    """The synthetic problem of parameter selection."""
    x, means, constants = synthetic(SyntheticParameterSelection(radius=radius), seed, T)
    centers = np.asarray(constants["centers"])[0]
    rewards = means + rng_of(seed, 7).uniform(-0.5, 0.5, means.shape)
    return Trace(x[:, None], means, rewards, centers, np.full(len(centers), radius))


def synthetic(problem: Any, seed: int, T: int) -> tuple[Array, Array, Any]:
    """Return features, mean rewards and constants of one instance of a problem of the library."""
    drawn = problem.draw(range(seed, seed + 1), T, seed=77)
    x = np.stack([drawn.features(t)[0] for t in range(T)]).astype(float)
    return x, np.stack([drawn.means(t)[0] for t in range(T)]), drawn.constants


def contexts_of_maps(seed: int, T: int, M: int) -> Trace:
    """Section 9 of docs/math.md: a map differs from the others on only one context in M; D = R = 1/2."""
    rng = rng_of(seed, 8, M)
    context = rng.integers(M, size=T)
    x = np.zeros((T, M, 2, 2))
    x[:, :, 1, 0] = 1.0
    x[np.arange(T), context, 1, 1] = 1.0
    means = np.zeros((T, 2))
    means[:, 1] = np.where(context == 0, 0.5, -0.5)
    return Trace(x, means, means + 0.5 * rng.normal(size=(T, 2)))


def rare_clicks(seed: int, T: int, true: int, K: int = 10) -> Trace:
    """Clicks at a base rate of 4 %; maps of 40, 80, 160 features, one true, or with -1 none.

    The mean is .04 e^s, at most .9, with s a standard normal that is linear in the features of the true map.
    """
    rng = rng_of(seed, 9)
    x = np.zeros((T, len(CLICK_WIDTHS), K, max(CLICK_WIDTHS)))
    for i, width in enumerate(CLICK_WIDTHS):
        x[:, i, :, :width] = rng.normal(size=(T, K, width)) / np.sqrt(width)
    means = np.full((T, K), 0.04)
    if true >= 0:
        theta = rng.normal(size=CLICK_WIDTHS[true])
        s = x[:, true, :, : theta.size] @ (theta / np.linalg.norm(theta)) * np.sqrt(theta.size)
        means = np.minimum(0.04 * np.exp(s), 0.9)
    return Trace(x, means, coins(rng, means))


def frequent_clicks(seed: int, T: int, K: int = 5, d: int = 5) -> Trace:
    """Clicks of mean .5 + .3 x, with x the first feature of the second of three maps."""
    rng = rng_of(seed, 10)
    x = rng.uniform(-1.0, 1.0, (T, 3, K, d))
    means = 0.5 + 0.3 * x[:, 1, :, 0]
    return Trace(x, means, coins(rng, means))


def grid(seed: int, T: int, K: int, d: int = 8) -> Trace:
    """K points of a line, the same in every round; the mean is a smooth function of the point."""
    rng = rng_of(seed, 11, K)
    waves, phases = 4.0 * rng.normal(size=d), rng.uniform(0.0, 2.0 * np.pi, d)
    x = np.cos(np.linspace(0.0, 1.0, K)[:, None] * waves + phases) * np.sqrt(2.0 / d)
    means = np.tile(x @ rng.normal(size=d), (T, 1))
    return Trace(np.broadcast_to(x, (T, 1, K, d)), means, means + 0.3 * rng.normal(size=(T, K)))


CLICK_WIDTHS = (40, 80, 160)

EIGHT = {
    "fs-synthetic, true map (d=50, K=10)": Problem(fs_synthetic, widths=(50,), span=(-2.5, 2.5)),
    "ps-synthetic, b=4.5 (d=20, K=10)": Problem(ps_synthetic, widths=(20,), span=(-3.0, 3.0)),
    "linear, d=10, K=10": Problem(partial(linear, K=10, d=10), span=(-2.0, 2.0)),
    "linear, d=10, K=100": Problem(partial(linear, K=100, d=10), span=(-2.0, 2.0)),
    "linear, d=5, K=2": Problem(partial(linear, K=2, d=5), widths=(5,), span=(-2.0, 2.0)),
    "classes, coins .9/.1 (d=13, K=10)": Problem(classes, widths=(13,)),
    "10 arms, coins .9/.1": Problem(partial(arms, K=10, best=0.9, others=0.1), arms=10),
    "10 arms, coins .5/.4": Problem(partial(arms, K=10, best=0.5, others=0.4), arms=10),
}
"""The problems on which one default is to serve all."""

HARD = {
    "heavy tails (t, 2.5)": Problem(partial(linear, K=10, d=10, noise="heavy"), span=(-2.0, 2.0)),
    "uneven noise": Problem(partial(linear, K=10, d=10, noise="uneven"), span=(-4.0, 4.0), noise=1.0),
    "classes, noise .05": Problem(partial(classes, noise=0.05), widths=(13,), rounds=1000, noise=0.05),
    "10 arms, noise .1": Problem(partial(quiet_arms, noise=0.1), rounds=500, span=(-2.0, 2.0), noise=0.1, arms=10),
    "10 arms, noise .01": Problem(partial(quiet_arms, noise=0.01), rounds=500, span=(-2.0, 2.0), noise=0.01, arms=10),
}
"""Where what linear regression assumes is wrong, or of no use."""

GRIDS = {
    f"grid of {K}": Problem(partial(grid, K=K), rounds=500, widths=(8,), span=(-2.0, 2.0), noise=0.3)
    for K in (2, 10, 100, 1000)
}
"""Actions that are more and more alike."""

SELECTION = {
    "fs-synthetic, 10 maps": Problem(partial(fs_synthetic, n_models=10), 1000, (50,) * 10, (-2.5, 2.5)),
    "section 9, M=4": Problem(partial(contexts_of_maps, M=4), 4000, (2,) * 4, (-2.0, 2.0)),
    "section 9, M=16": Problem(partial(contexts_of_maps, M=16), 4000, (2,) * 16, (-2.0, 2.0)),
    "clicks .5 + .3 x": Problem(frequent_clicks, 300, (5,) * 3),
}
"""One map of several is true."""

CLICKS = {
    f"rare clicks, {name}": Problem(partial(rare_clicks, true=true), 1000, CLICK_WIDTHS)
    for true, name in ((-1, "pure noise"), (0, "40 true"), (1, "80 true"), (2, "160 true"))
}
"""Maps of different width, and little to tell them by."""

BALLS = {
    "ps-synthetic, 10 balls, b=0.5": Problem(partial(ps_synthetic, radius=0.5), 1000, (20,), (-3.0, 3.0)),
    "ps-synthetic, 10 balls, b=4.5": Problem(ps_synthetic, 1000, (20,), (-3.0, 3.0)),
    "classes, 10 balls": Problem(class_balls, 1000, (12,)),
}
"""One ball of several is true, or nearly."""
