"""The agent that was saved around a policy; what is wrong with its section of a file is refused by name."""

import json
from collections.abc import Mapping
from typing import Any

from .. import maps as maps_module
from ..maps import FeatureMap
from ..policies import Policy
from ..runtime import files
from .agent import VERSION, Agent
from .explanations import FeatureScale
from .features import takes
from .learners import LaneTable


@files.holder("agent")
def restored(policy: Policy, stored: Mapping[str, Any]) -> Agent:
    """Return the agent that was saved around a policy."""
    if stored["version"] != VERSION:
        raise ValueError(f"an agent of version {stored['version']}, this library reads {VERSION}")
    agent, maps, column = Agent.__new__(Agent), _maps(stored), stored["id"]
    if not isinstance(column, str):
        raise ValueError(f"id: got {column!r:.80}, expected the name of a column")
    if policy.lanes is None or not takes(policy, maps.values()):
        raise ValueError(f"maps: other ones than {type(policy).__name__} in this file takes")
    agent._hold(maps, policy, column)
    agent._lanes = LaneTable.restored(policy, stored["seats"])
    agent._scale = FeatureScale.restored(agent._scale.mean.size, stored["spread"])
    agent._keep(_items(stored["items"]), column)
    return agent


def _maps(stored: Mapping[str, Any]) -> dict[str, FeatureMap]:
    """Return the maps by name."""
    names, parts = stored["names"], [maps_module.from_dict(part) for part in stored["maps"]]
    if len(names) != len(parts) or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names: got {names!r:.80}, expected one of its own for each of {len(parts)} maps")
    for name, part in zip(names, parts, strict=True):
        if not isinstance(part, FeatureMap) or not part.fitted:
            raise ValueError(f"maps: {name!r} is not a fitted map")
    return dict(zip(names, parts, strict=True))


def _items(text: str) -> dict[Any, Any]:
    """Return the items that were registered, by their ids."""
    try:
        pairs = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"items: {error}") from error
    found = {name: row for name, row in pairs if isinstance(name, str | int) and isinstance(row, dict)}
    if len(found) < len(pairs):
        raise ValueError("items: expected records, each under an id of its own")
    return found
