"""A small game that any policy can play, and what the checks of policies share."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..policies import Decision, Policy, load
from ..runtime.shapes import ExactShape, SomeMaps, values_of
from ..types import Array, Blocked

Factory = Callable[..., Policy]

ROUNDS = 40
N_ACTIONS = 6


class Game:
    """Features and rewards for a policy, one instance per lane; lane j is the same in any set of lanes."""

    def __init__(self, policy: Policy, lanes: range, n_actions: int = N_ACTIONS, noise: float = 0.05) -> None:
        shape = policy.feature_shape
        self.many, self.map = shape.many, 0
        self.dims: tuple[int, ...] = (3,)
        self._map_per_model = isinstance(shape, ExactShape) and shape.many
        self.blocks: tuple[int, ...] = ()
        if isinstance(shape, ExactShape):
            self.dims, self.blocks = shape.dims, shape.blocks if shape.blocked else ()
        elif isinstance(shape, SomeMaps):
            used = dict(shape.used)
            self.map = min(used)
            self.dims = tuple(used.get(i, used[self.map]) for i in range(max(used) + 2))
            parts = dict(zip(used, shape.parts, strict=False))
            self.blocks = tuple(parts.get(i, 1) for i in range(len(self.dims))) if parts else ()
        self.fixed = shape.n_actions is not None  # actions are known by their positions: they stay what they are
        self.noise, self.n_actions, self.lanes = noise, shape.n_actions or n_actions, lanes
        self._arms: list[Array] = []
        self.single = policy.lanes is None
        self.rngs = [np.random.default_rng((7, lane)) for lane in lanes]
        self.theta = _parameter(policy, self.dims[self.map])

    def features(self) -> list[Array]:
        """Draw a map per entry, ``(n, K, d_i)`` each; only once where actions are known by their positions."""
        if self._arms:
            return [m.copy() for m in self._arms]
        drawn = [[rng.normal(0.0, 1.0, (self.n_actions, d)) for d in self.dims] for rng in self.rngs]
        maps = [np.stack([row[i] for row in drawn]) / np.sqrt(d) for i, d in enumerate(self.dims)]
        self._arms = [m.copy() for m in maps] if self.fixed else []
        return maps

    def shown(self, maps: list[Array]) -> Any:
        """Return the features as the policy takes them."""
        maps = self.in_blocks([m[0] for m in maps] if self.single else maps)
        if not self.many:
            return maps[0]
        return maps if self.blocks or len(set(self.dims)) > 1 else np.stack(maps, axis=0 if self.single else 1)

    def one(self, row: list[Array]) -> Any:
        """Return the features of one action, ``(d_i,)`` in every map, as ``learn`` takes them."""
        row = self.in_blocks(row)
        return row if self.many else row[0]

    def in_blocks(self, maps: list[Array]) -> list[Any]:
        """Return maps with blocks: that of an action is the number of its features above 0, modulo their number."""
        if not self.blocks:
            return maps
        pairs = zip(maps, self.blocks, strict=True)
        return [Blocked(m, (m > 0.0).sum(axis=-1) % B) if B > 1 else m for m, B in pairs]

    def map_of(self, model: int) -> int:
        """Return the map that a model's estimate belongs to."""
        return model if self._map_per_model else self.map

    def means(self, maps: list[Array]) -> Array:
        """Return the mean rewards, ``(n, K)``."""
        return maps[self.map] @ self.theta

    def reward(self, maps: list[Array], action: Any) -> Any:
        """Return the reward of the action played, a float or ``(n,)``."""
        actions = np.atleast_1d(action)
        noise = np.array([rng.normal(0.0, self.noise) for rng in self.rngs])
        y = self.means(maps)[np.arange(actions.size), actions] + noise
        return float(y[0]) if self.single else y

    def act(self, policy: Policy, lanes: list[int] | None = None) -> tuple[Decision, Any, list[Array]]:
        """Let a policy act on fresh features; return its decision, the reward that this earns, and the features."""
        maps = self.features()
        decision = policy.act(self.shown(maps), lanes=lanes)
        return decision, self.reward(maps, decision.action), maps


def _parameter(policy: Policy, dim: int) -> Array:
    """Return a parameter that the policy's assumptions allow."""
    inner = getattr(policy, "policy", None) or next(iter(getattr(policy, "bases", ())), None)
    if isinstance(inner, Policy):
        return _parameter(inner, dim)
    for name in ("centers", "center"):
        if getattr(policy, name, None) is not None:
            return np.array(getattr(policy, name), dtype=float).reshape(-1, dim)[0]
    direction = np.linspace(-1.0, 1.0, dim + 2)[1:-1]
    return direction / np.linalg.norm(direction)


def play(policy: Policy, game: Game, rounds: int, lanes: list[int] | None = None) -> list[tuple[Any, Any]]:
    """Play and learn, in all lanes or in some; return actions and probabilities."""
    trace = []
    for _ in range(rounds):
        decision, reward, _ = game.act(policy, lanes)
        policy.update(decision, reward)
        trace.append((decision.action, decision.probability))
    return trace


def make(factory: Factory, lanes: int | None = None, seed: Any = 3) -> tuple[Policy, Game]:
    """Return a fresh policy and a game for it."""
    policy = factory(lanes=lanes, seed=seed)
    return policy, Game(policy, range(1 if lanes is None else lanes))


def snapshot(policy: Policy, lanes: slice = slice(None)) -> dict[str, bytes]:
    """Return everything that the policy has learned, or these lanes of it, to the last bit."""
    return {
        f"{part}.{name}": array[lanes].tobytes()
        for part, content in policy._parts
        for name, array in content.learned().items()
    }


def saved(policy: Policy) -> Any:
    """Return the policy as it is loaded from a file to which it was saved; assert that it is the same."""
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy.bsel")
        again = load(Path(folder) / "policy.bsel")
    assert repr(again) == repr(policy), "the settings changed"
    assert snapshot(again) == snapshot(policy), "the state changed"
    return again


def arrays_of(shown: Any) -> list[Any]:
    """Return the arrays of features that are shown to a policy; without the blocks of actions."""
    return [values_of(m) for m in (shown if isinstance(shown, list) else [shown])]


def refuses(call: Callable[[], Any], word: str, what: str) -> None:
    """Assert that a call raises a ValueError that names ``word``."""
    try:
        call()
    except ValueError as error:
        message = str(error)
    else:
        raise AssertionError(f"{what}: not refused")
    assert word in message, f"{what}: the message does not name {word!r}: {message}"
