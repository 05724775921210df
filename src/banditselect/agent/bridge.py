"""Between maps and policies: a policy of the right shape, and features as it takes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..carriers.binding import Binding
from ..carriers.shapes import AnyShape
from ..carriers.streams import Seed
from ..carriers.validation import refuse
from ..maps import FeatureMap
from ..policies import Policy
from ..types import Array, Blocked


def build(binding: Any, maps: Mapping[str, FeatureMap], seed: Seed) -> Policy:
    """Return the policy bound, for these maps, with one lane."""
    if isinstance(binding, type) and issubclass(binding, Policy):
        binding = binding.bind()
    if not isinstance(binding, Binding):
        raise refuse("Agent: policy", binding, "what Policy.bind returned, such as FSIDS.bind()")
    native = "blocks" in binding.parameters
    widths = [part.width if native else part.width * part.blocks for part in maps.values()]
    several = "dim" not in binding.parameters or "n_models" in binding.parameters
    if len(maps) > 1 and not several:
        raise refuse("Agent: policy", binding, f"a policy over {len(maps)} maps, such as FSIDS.bind()")
    shapes = {"n_models": len(maps), "dim": _one_or_all(widths)}
    if native:
        shapes["blocks"] = _one_or_all([part.blocks for part in maps.values()])
    policy = binding.resolve(shapes, {})(lanes=1, seed=seed)
    shape = policy.feature_shape
    if not isinstance(shape, AnyShape) and not shape.accepts(tuple(widths), padded=False):
        raise refuse("Agent: policy", binding, f"a policy over maps of widths {widths}; it takes {shape.words(None)}")
    return policy


def _one_or_all(numbers: list[int]) -> int | list[int]:
    """Return a number for each map, or the one that all have."""
    return numbers if len(set(numbers)) > 1 else numbers[0]


def handed(policy: Policy, maps: Iterable[FeatureMap], features: Sequence[Array | Blocked]) -> Any:
    """Return the features of K items in every map as the policy takes them for one lane."""
    native = hasattr(policy, "blocks")
    rows = [_row(x if native else _dense(part, x)) for part, x in zip(maps, features, strict=True)]
    return rows if policy.feature_shape.many or len(rows) > 1 else rows[0]


def first_item(features: Any) -> Any:
    """Return what ``handed`` returned as ``learn`` takes it: the first item alone."""
    if isinstance(features, list):
        return [first_item(x) for x in features]
    return Blocked(features.values[:, 0], features.block[:, 0]) if isinstance(features, Blocked) else features[:, 0]


def _row(x: Array | Blocked) -> Array | Blocked:
    """Return features with an axis of lanes."""
    return Blocked(x.values[None], x.block[None]) if isinstance(x, Blocked) else x[None]


def _dense(part: FeatureMap, x: Array | Blocked) -> Array:
    """Return features with columns of their own for every block of parameters."""
    if not isinstance(x, Blocked):
        return x
    K, width = x.values.shape
    wide = np.zeros((K, part.blocks, width))
    wide[np.arange(K), x.block] = x.values
    return wide.reshape(K, -1)


def estimates(policy: Policy, lane: int, maps: Sequence[FeatureMap]) -> list[Array]:
    """Return the estimates of every model of a policy in a lane, of one with blocks those of one behind another."""
    parameters = getattr(policy, "parameters", None)
    if parameters is None:
        return []
    if isinstance(parameters, list):
        return [own[lane].ravel() for own in parameters]
    own = parameters[lane]
    alone = own.ndim == 1 or (len(maps) == 1 and maps[0].blocks > 1 and not policy.feature_shape.many)
    return [own.ravel()] if alone else list(own)


def spread_row(features: Sequence[Array | Blocked], k: int) -> Array:
    """Return the features of item k in all maps side by side."""
    return np.concatenate([(x.values if isinstance(x, Blocked) else x)[k] for x in features])
