"""Rewards with a level that all actions of a round share: the table of docs/defaults.md.

``python -m benchmarks.studies.levels``, a minute on one core. Map 0 is right; every lane has a parameter of its own.
"""

import warnings
from collections.abc import Callable

import numpy as np

from banditselect import FSIDS
from banditselect.models.map_mixture import MapMixture
from banditselect.plays.information import Information
from banditselect.policies.members import prior_of
from banditselect.policies.shared import ModelAndPlay
from banditselect.types import Array

from ..pages import markdown_table

ROUNDS, LANES, K = 1000, 300, 5
World = Callable[[np.random.Generator, int, Array], tuple[Array, Array]]


class AsGiven(FSIDS):
    """FS-IDS with one view of every map."""

    def build(self, lanes: int) -> ModelAndPlay:
        model = MapMixture(self._maps(), lanes, noise=None, prior=prior_of(self), intercept=True)
        return model, Information(self.floor)


def effects(x: Array, theta: Array) -> Array:
    return np.einsum("nkd,nd->nk", x, theta)


def visitor(level: float) -> World:
    """Map 0 has the items, map 1 has nothing but the visitor, who sets the level."""

    def draw(rng: np.random.Generator, t: int, theta: Array) -> tuple[Array, Array]:
        x, context = rng.normal(size=(len(theta), 2, K, 5)), rng.normal(size=(len(theta), 5))
        x[:, 1] = context[:, None]
        return x, effects(x[:, 0], theta) + level * context.sum(axis=1)[:, None] / np.sqrt(5.0)

    return draw


def trend(rng: np.random.Generator, t: int, theta: Array) -> tuple[Array, Array]:
    """Map 1 has the time as a column; rewards rise by 3."""
    x = rng.normal(size=(len(theta), 2, K, 5))
    x[:, 1, :, 0] = t / ROUNDS
    return x, effects(x[:, 0], theta) + 3.0 * t / ROUNDS


def beside(rng: np.random.Generator, t: int, theta: Array) -> tuple[Array, Array]:
    """Three maps have three columns of the visitor beside three of the item; those of map 1 set a level of sd 2."""
    x, context = rng.normal(size=(len(theta), 3, K, 6)), rng.normal(size=(len(theta), 3, 3))
    x[:, :, :, :3] = context[:, :, None]
    return x, effects(x[:, 0, :, 3:], 1.5 * theta[:, :3]) + 2.0 * context[:, 1].sum(axis=1)[:, None] / np.sqrt(3.0)


def plain(n_maps: int, n_actions: int) -> World:
    """There is no level."""

    def draw(rng: np.random.Generator, t: int, theta: Array) -> tuple[Array, Array]:
        x = rng.normal(size=(len(theta), n_maps, n_actions, 5))
        return x, effects(x[:, 0], theta)

    return draw


WORLDS: dict[str, World] = {
    **{f"level of sd {sd}, explained by the wrong map, M = 2": visitor(sd) for sd in (0.0, 1.0, 2.0, 6.0, 10.0, 20.0)},
    "trend, the wrong map has the time, M = 2": trend,
    "level of sd 2, each map has a visitor beside the item, M = 3": beside,
    **{f"no level, M = {M}, K = {n}": plain(M, n) for M, n in ((5, 5), (30, 5), (5, 2))},
}


def play(policy: type[FSIDS], world: World) -> list[str]:
    """Return regret with its standard error, and in how many lanes the right map is the most probable in the end."""
    rng, lanes = np.random.default_rng(0), np.arange(LANES)
    theta = rng.normal(size=(LANES, 5))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    x, _ = world(np.random.default_rng(1), 0, theta)
    learner, regret = policy(n_models=x.shape[1], dim=x.shape[3], lanes=LANES, seed=1), np.zeros(LANES)
    for t in range(ROUNDS):
        x, mean = world(rng, t, theta)
        decision = learner.act(x)
        regret += mean.max(axis=1) - mean[lanes, decision.action]
        learner.update(decision, mean[lanes, decision.action] + rng.normal(size=LANES))
    right = (learner.model_weights.argmax(axis=1) == 0).sum()
    return [f"{regret.mean():.1f} ± {regret.std(ddof=1) / np.sqrt(LANES):.1f}", f"{right} of {LANES}"]


if __name__ == "__main__":
    warnings.filterwarnings("ignore", ".*no map shows that the actions")  # in a few lanes they hardly do
    rows = [[name, *play(AsGiven, world), *play(FSIDS, world)] for name, world in WORLDS.items()]
    print(markdown_table(["world", "maps as given: regret", "right map", "two views: regret", "right map"], rows))
