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
    widths = [part.width * part.blocks for part in maps.values()]
    several = "dim" not in binding.parameters or "n_models" in binding.parameters
    if len(maps) > 1 and not several:
        raise refuse("Agent: policy", binding, f"a policy over {len(maps)} maps, such as FSIDS.bind()")
    shapes = {"n_models": len(maps), "dim": widths if len(set(widths)) > 1 else widths[0]}
    policy = binding.resolve(shapes, {})(lanes=1, seed=seed)
    shape = policy.feature_shape
    if not isinstance(shape, AnyShape) and not shape.accepts(tuple(widths), padded=False):
        raise refuse("Agent: policy", binding, f"a policy over maps of widths {widths}; it takes {shape.words(None)}")
    return policy


def handed(policy: Policy, maps: Iterable[FeatureMap], features: Sequence[Array | Blocked]) -> Any:
    """Return the features of K items in every map as the policy takes them for one lane."""
    dense = [_dense(part, x)[None] for part, x in zip(maps, features, strict=True)]
    return dense if policy.feature_shape.many or len(dense) > 1 else dense[0]


def _dense(part: FeatureMap, x: Array | Blocked) -> Array:
    """Return features with a block of columns for every block of parameters."""
    if not isinstance(x, Blocked):
        return x
    K, width = x.values.shape
    wide = np.zeros((K, part.blocks, width))
    wide[np.arange(K), x.block] = x.values
    return wide.reshape(K, -1)


def spread_row(features: Sequence[Array | Blocked], k: int) -> Array:
    """Return the features of item k in all maps side by side."""
    return np.concatenate([(x.values if isinstance(x, Blocked) else x)[k] for x in features])
