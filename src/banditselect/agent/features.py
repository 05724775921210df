"""Between maps and policies: a policy of the right shape, and features as it takes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..maps import FeatureMap, Records
from ..policies import Policy
from ..runtime.binding import Binding
from ..runtime.drawing import Seed
from ..runtime.errors import refuse, warn
from ..runtime.shapes import AnyShape, ExactShape, each, values_of
from ..types import Array, Blocked


def build(binding: Any, maps: Mapping[str, FeatureMap], seed: Seed) -> Policy:
    """Return the policy bound, for these maps, with one lane."""
    if isinstance(binding, type) and issubclass(binding, Policy):
        binding = binding.bind()
    if not isinstance(binding, Binding):
        raise refuse("Agent: policy", binding, "a policy class, or the result of its bind, such as FSIDS.bind()")
    widths, blocks = [part.width * part.blocks for part in maps.values()], [part.blocks for part in maps.values()]
    several = "dim" not in binding.parameters or "n_models" in binding.parameters
    if len(maps) > 1 and not several:
        raise refuse("Agent: policy", binding, f"a policy over {len(maps)} maps, such as FSIDS.bind()")
    shapes = {"n_models": len(maps), "dim": _one_or_all(widths), "blocks": _one_or_all(blocks)}
    policy = binding.resolve(shapes, {})(lanes=1, seed=seed)
    if not takes(policy, maps.values()):
        words = policy.feature_shape.words(None)
        raise refuse("Agent: policy", binding, f"a policy over maps of widths {widths}; it takes {words}")
    return policy


def takes(policy: Policy, maps: Iterable[FeatureMap]) -> bool:
    """Return whether a policy takes the features of these maps."""
    shape, sizes = policy.feature_shape, [(part.width, part.blocks) for part in maps]
    if isinstance(shape, ExactShape) and shape.blocked:
        return sizes == list(zip(shape.dims, shape.blocks, strict=True))
    return isinstance(shape, AnyShape) or shape.accepts(tuple(d * B for d, B in sizes), padded=False)


class UnreadColumns:
    """Warns once of contexts, and once of items, that have columns but none that the maps read."""

    def __init__(self) -> None:
        self._maps: Mapping[str, FeatureMap] = {}
        self._read: dict[str, frozenset[str]] = {}
        self._warned: set[str] = set()

    def check(self, maps: Mapping[str, FeatureMap], context: Records, items: Records, id: str) -> None:
        """Look at records before they are served; an ``id`` alone is no reason to warn."""
        if maps is not self._maps:
            self._maps, self._read = maps, {}
            for role in ("context", "items"):
                columns = [part.columns_read(role) for part in maps.values()]
                if None not in columns:
                    self._read[role] = frozenset().union(*(c for c in columns if c is not None))
        for role, records, name in (("context", context, "id"), ("items", items, id)):
            read = self._read.get(role)
            if read and role not in self._warned and not records.has_any(read):
                others = [column for column in records.names if column != name]
                if others:
                    self._warned.add(role)
                    names = ", ".join(sorted(read)[:5])
                    warn(f"{role}: no map reads one of the columns {', '.join(others[:5])}; the maps read {names}")


def _one_or_all(numbers: list[int]) -> int | list[int]:
    """Return a number for each map, or the one that all have."""
    return numbers if len(set(numbers)) > 1 else numbers[0]


def to_policy_input(policy: Policy, features: Sequence[Array | Blocked]) -> Any:
    """Return the features of K items in every map as the policy takes them for one lane."""
    rows = [each(x, lambda part: part[None]) for x in features]
    return rows if policy.feature_shape.many or len(rows) > 1 else rows[0]


def played_item(features: Any) -> Any:
    """Return the result of ``to_policy_input`` in the form for ``learn``: the first item alone."""
    if isinstance(features, list):
        return [played_item(x) for x in features]
    return each(features, lambda part: part[:, 0])


def replayed(
    lanes: int, maps: Sequence[FeatureMap], rounds: Iterable[tuple[int, Records, Records, Any]]
) -> list[tuple[Any, list[Any]]]:
    """Return the ``replay`` of ``add_models`` for these maps: the features and rewards of the rounds of every lane."""
    found: list[list[tuple[list[Any], Any]]] = [[] for _ in range(lanes)]
    for lane, context, item, reward in rounds:
        for part in maps:
            part.observe(context, item)
        found[lane].append(([part.features(context, item) for part in maps], reward))
    pairs = []
    for own in found:
        joined = [_joined(part, [features[i] for features, _ in own]) for i, part in enumerate(maps)]
        pairs.append((joined if len(joined) > 1 else joined[0], [reward for _, reward in own]))
    return pairs


def _joined(part: FeatureMap, features: list[Any]) -> Array | Blocked:
    """Return features of items, one after the other."""
    values = [values_of(x) for x in features]
    x = np.concatenate([np.empty((0, part.width)), *values])
    if part.blocks == 1:
        return x
    return Blocked(x, np.concatenate([np.empty(0, dtype=np.int64), *(x.block for x in features)]))


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


def sample_row(features: Sequence[Array | Blocked], k: int) -> Array:
    """Return the features of item k in all maps side by side."""
    return np.concatenate([values_of(x)[k] for x in features])
