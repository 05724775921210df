"""Explain in words what an agent has learned: the map, its features, how sure that is."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..maps import Disjoint, FeatureMap
from ..policies import Policy
from ..runtime.shapes import SomeMaps
from ..types import Array, Mask
from .decision import Key
from .features import estimates

SURE = 0.99  #: how probable it has to be that there is a level, and which map explains it


class FeatureScale:
    """The spread of every feature among the items offered: each act adds one item, the next position in turn.

    Attributes
    ----------
    count: items looked at.
    since: how many were before a feature was there, ``(d_1 + d_2 + ...,)``, of all maps side by side.
    mean: of the features.
    square: the sum of squares about it.
    """

    def __init__(self, width: int) -> None:
        self.count = 0
        self.since = np.zeros(width, dtype=np.int64)
        self.mean, self.square = np.zeros((2, width))

    def add(self, row: Array) -> None:
        """Look at one more item."""
        count, step = self.count + 1, row - self.mean
        mean = self.mean + step / (count - self.since)
        square = self.square + step * (row - mean)
        self.count, self.mean, self.square = count, mean, square

    def deviation(self) -> Array:
        """Return the standard deviations."""
        return np.sqrt(self.square / np.maximum(self.count - self.since, 1))

    def grow(self, width: int) -> None:
        """Have more features from here on, behind the others."""
        self.since = np.append(self.since, np.full(width, self.count))
        self.mean, self.square = np.append(self.mean, np.zeros(width)), np.append(self.square, np.zeros(width))

    def keep(self, which: Mask) -> None:
        """Have some of the features only."""
        self.since, self.mean, self.square = self.since[which], self.mean[which], self.square[which]

    def learned(self) -> dict[str, Any]:
        """Return it as files have it."""
        return dict(vars(self))

    def restore(self, learned: dict[str, Any]) -> None:
        """Take over what was saved; ValueError if that is not of as many features."""
        since, mean, square = (learned[name] for name in ("since", "mean", "square"))
        for name, mine in (("since", self.since), ("mean", self.mean), ("square", self.square)):
            theirs = learned[name]
            if theirs.shape != mine.shape or theirs.dtype != mine.dtype or not np.isfinite(theirs).all():
                raise ValueError(f"scale: {name} is not that of {mine.size} features")
        if since.min() < 0 or since.max() > learned["count"] or square.min() < 0.0:
            raise ValueError("scale: counts or squares that cannot be")
        self.count, self.since, self.mean, self.square = int(learned["count"]), since, mean, square


@dataclass(frozen=True)
class Effect:
    """A feature and what it does.

    Attributes
    ----------
    feature: its name; with a block of parameters for every item, behind the name of the item.
    parameter: the estimate.
    effect: the parameter times the standard deviation of the feature among the items offered: how far a typical
        difference between two items moves the expected reward.
    """

    feature: str
    parameter: float
    effect: float


@dataclass(frozen=True)
class Model:
    """A model that the policy holds: a feature map, or a region of the parameter on one.

    Attributes
    ----------
    name: of the map.
    weight: how probable it is.
    effects: its features of largest effect.
    """

    name: str
    weight: float
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Explanation:
    """The state of a learner in words. Printed, it is a few lines.

    Attributes
    ----------
    key: of the learner.
    rounds: rewards learned.
    noise: estimated standard deviation of the rewards; None where the policy does not estimate it, or cannot yet.
    models: by weight, the most probable first; empty for a policy that has neither weights nor estimates.
    level: the map that explains the level which all items of a round share; None where rewards show no such level.
    """

    key: Key
    rounds: int
    noise: float | None
    models: tuple[Model, ...]
    level: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, fit for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        who = "" if self.key is None else f" for {self.key!r}"
        noise = "" if self.noise is None else f", noise {self.noise:.3g}"
        lines = [f"{self.rounds} rewards learned{who}{noise}"]
        for model in self.models:
            lines.append(f"{model.weight:7.1%}  {model.name}")
            lines += [f"{'':11}{effect.effect:+.3g}  {effect.feature}" for effect in model.effects]
        if self.level is not None:
            lines.append(f"The level that all items of a round share is explained by {self.level}.")
        return "\n".join(lines)


def explain(
    policy: Policy, lane: int, key: Key, maps: dict[str, FeatureMap], scale: FeatureScale, top: int
) -> Explanation:
    """Return what the policy has learned in a lane, with the ``top`` features of every model."""
    weights, noise = getattr(policy, "model_weights", None), getattr(policy, "noise_estimate", None)
    noise = None if noise is None or np.isnan(noise[lane]) else float(noise[lane])
    models: list[Model] = []
    theta = estimates(policy, lane, list(maps.values()))
    weight = np.full(len(theta), 1.0 / max(len(theta), 1)) if weights is None else weights[lane]
    ends = np.cumsum([m.width for m in maps.values()])
    for i, (row, part) in enumerate(zip(theta, _maps_of(policy, len(theta), len(maps)), strict=True)):
        name, own = list(maps.items())[part]
        label = f"{name}, region {i}" if len(theta) > 1 and not policy.feature_shape.many else name
        deviation = scale.deviation()[ends[part] - own.width : ends[part]]
        models.append(Model(label, float(weight[i]), _effects(own, row, deviation, top)))
    rounds = int(policy.rounds[lane])
    shares, level = getattr(policy, "level_weights", None), None
    if shares is not None and min(policy.level_weight[lane], shares[lane].max()) > SURE:  # type: ignore[attr-defined]
        level = list(maps)[int(shares[lane].argmax())]
    return Explanation(key, rounds, noise, tuple(sorted(models, key=lambda model: -model.weight)), level)


def _maps_of(policy: Policy, n_models: int, n_maps: int) -> list[int]:
    """Return the map that each model of a policy is over: its own, or the one that all have."""
    shape = policy.feature_shape
    if isinstance(shape, SomeMaps):
        return [shape.used[0][0]] * n_models
    return list(range(n_maps)) if shape.many and n_models else [0] * n_models


def _effects(feature_map: FeatureMap, parameter: Array, deviation: Array, top: int) -> tuple[Effect, ...]:
    """Return the features of largest effect; the parameters of several blocks lie one behind another."""
    width, blocks = feature_map.width, feature_map.blocks
    effect = (parameter[: blocks * width].reshape(blocks, width) * deviation).ravel()
    order = np.argsort(-np.abs(effect), kind="stable")[:top]
    names = feature_map.names
    ids = [*feature_map.ids, *["others"] * blocks] if isinstance(feature_map, Disjoint) else []
    found = []
    for k in order.tolist():
        if effect[k] != 0.0:
            block = f"{ids[k // width]}: " if ids else ""
            found.append(Effect(block + names[k % width], float(parameter[k]), float(effect[k])))
    return tuple(found)
