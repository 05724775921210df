"""The contestants: plain NumPy loops, which are the yardstick, and our policies. The peers are in peers.py.

A contestant is made for a problem and returns a function that plays round t - chooses, looks the reward up, learns -
and returns the action. Features are stored in the form that the contestant takes; everything else is timed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from banditselect import OFUL, FSSquareCB, LinTS, SquareCB
from banditselect.authoring import Model, Number, Policy, argument, maps_of
from banditselect.authoring import Play as PlayOf
from banditselect.types import Array, Index

from .problem import NOISE, REWARD_RANGE, LinearProblem

Play = Callable[[int], int]

WORST_NOISE = 100.0  #: so large that no model loses its weight or is refuted, which would make a round cheaper


@dataclass(frozen=True)
class Contestant:
    """A contestant: its name, description, factory and package."""

    name: str
    what: str
    make: Callable[[LinearProblem, int], Play]
    package: str = "numpy"  #: as it is imported
    most_seeds: int | None = None  #: fewer problems if it is slow

    @property
    def installed(self) -> bool:
        """True if its package can be imported."""
        return find_spec(self.package) is not None


class NumpyLoop:
    """A ridge regression in plain NumPy: no checks, no objects, no files."""

    def __init__(self, problem: LinearProblem, seed: int) -> None:
        self.x, self.rewards = problem.first_map, problem.rewards
        self.V_inv, self.b, self.theta = np.eye(self.x.shape[2]), np.zeros(self.x.shape[2]), np.zeros(self.x.shape[2])
        self.t, self.rng = 0, np.random.default_rng(seed)


class NumpyLinUCB(NumpyLoop):
    """LinUCB with Sherman-Morrison updates, as written in a notebook."""

    def play(self, t: int) -> int:
        x = self.x[t]
        estimate = self.V_inv @ self.b
        width = np.sqrt(((x @ self.V_inv) * x).sum(axis=1))
        action = int(np.argmax(x @ estimate + width))
        z = x[action]
        gain = self.V_inv @ z
        self.V_inv -= np.outer(gain, gain) / (1.0 + z @ gain)
        self.b += self.rewards[t][action] * z
        return action


class NumpyLinUCBTight(NumpyLoop):
    """The same LinUCB with every product used twice and the estimate updated in place."""

    def play(self, t: int) -> int:
        x = self.x[t]
        x_V_inv = x @ self.V_inv
        action = int((x @ self.theta + np.sqrt(np.vecdot(x_V_inv, x))).argmax())
        z, gain = x[action], x_V_inv[action]
        step = gain / (1.0 + z @ gain)
        self.theta += step * (self.rewards[t][action] - z @ self.theta)
        self.V_inv -= gain[:, None] * step
        return action


class NumpySquareCB(NumpyLoop):
    """SquareCB on one ridge regression with gamma = 10 sqrt(t), in the same manner."""

    def play(self, t: int) -> int:
        x = self.x[t]
        y = x @ (self.V_inv @ self.b)
        best = int(np.argmax(y))
        p = 1.0 / (y.size + 10.0 * self.t**0.5 * (y[best] - y))
        p[best] += 1.0 - p.sum()
        action = min(int(np.searchsorted(p.cumsum(), self.rng.random())), y.size - 1)
        z = x[action]
        gain = self.V_inv @ z
        self.V_inv -= np.outer(gain, gain) / (1.0 + z @ gain)
        self.b += self.rewards[t][action] * z
        self.t += 1
        return action


class Empty(Policy):
    """The empty call: features are checked, a decision is given and settled, and nothing is computed."""

    n_models: int = argument(Number(low=1, integer=True), default=1)
    dim: int = argument(Number(low=1, integer=True))

    def build(self, lanes: int) -> tuple[Model, PlayOf]:
        """Return a model that learns nothing, and a play of the first action."""
        model = Nothing(maps_of([self.dim] * self.n_models, many=self.n_models > 1))
        model.updates = np.zeros(lanes, dtype=np.int64)
        return model, First()


class Nothing(Model):
    """Counts its rewards."""

    state = ("updates",)
    one_kernel = True
    updates: Index

    def learn(self, ids: Index, x: Any, y: Array, note: Array | None = None) -> None:
        self.updates[ids] += 1


class First(PlayOf):
    """Plays the first action."""

    asks: ClassVar = ()

    def probabilities(self, model: Any, ids: Index, x: Any, offered: Any, normals: Any = None) -> Array:
        first = np.zeros((ids.size, x.values.shape[2]))
        first[:, 0] = 1.0
        return first


def fs_squarecb(M: int, d: int, seed: int, lanes: int | None = None, noise: float = NOISE) -> FSSquareCB:
    """Return FS-SCB at its defaults, given the range and the noise of the problem."""
    return FSSquareCB(n_models=M, dim=d, noise=noise, reward_range=REWARD_RANGE, lanes=lanes, seed=seed)


fs_squarecb_at_worst = partial(fs_squarecb, noise=WORST_NOISE)  #: no model ever loses its weight


def _of_ours(name: str, what: str, build: Callable[[int, int, int], Policy], every_map: bool = False) -> Contestant:
    """Return a policy that sees all maps or only the true one; ``build`` gets M, d and the seed."""

    def make(problem: LinearProblem, seed: int) -> Play:
        _, M, _, d = problem.features.shape
        policy = build(M, d, seed)
        x = problem.features if every_map else problem.first_map
        act, update, rewards = policy.act, policy.update, problem.rewards

        def play(t: int) -> int:
            decision = act(x[t])
            action: int = decision.action
            update(decision, rewards[t][action])
            return action

        return play

    return Contestant(name, what, make, "banditselect")


LINUCB = Contestant("NumPy LinUCB loop", "the yardstick", lambda p, s: NumpyLinUCB(p, s).play)
TIGHT, RIDGE = "the same, every product used twice", "one ridge regression, gamma = 10 sqrt(t)"
LINUCB_TIGHT = Contestant("NumPy LinUCB loop, tight", TIGHT, lambda p, s: NumpyLinUCBTight(p, s).play)
SQUARECB = Contestant("NumPy SquareCB loop", RIDGE, lambda p, s: NumpySquareCB(p, s).play)
YARDSTICKS = (LINUCB, LINUCB_TIGHT, SQUARECB)
EMPTY = _of_ours("empty call", "one map; plays the first action, learns nothing", lambda M, d, seed: Empty(dim=d))
EMPTY_MAPS = _of_ours("empty call, M maps", "the same", lambda M, d, seed: Empty(n_models=M, dim=d), True)
OUR_OFUL = _of_ours("OFUL", "one map", lambda M, d, seed: OFUL(dim=d, noise=NOISE, seed=seed))
OUR_LIN_TS = _of_ours("LinTS", "one map", lambda M, d, seed: LinTS(dim=d, noise=NOISE, seed=seed))
OUR_SQUARECB = _of_ours("SquareCB", "one map", lambda M, d, seed: SquareCB(dim=d, reward_range=REWARD_RANGE, seed=seed))
OUR_FS = _of_ours("FS-SCB", "M = 10 maps, the first is true", fs_squarecb, True)
OUR_FS_AT_WORST = _of_ours("FS-SCB at worst", "no model loses its weight", fs_squarecb_at_worst, True)
OURS = (OUR_OFUL, OUR_LIN_TS, OUR_SQUARECB, OUR_FS, EMPTY)
