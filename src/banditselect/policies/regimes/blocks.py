"""What can be asked of policies over maps, of which some may have several blocks of parameters."""

from typing import Any

from ...carriers.blocks import BlockedShape
from ...types import Array
from ..base import Policy


def answer_by_map(policy: Policy, cells: Array) -> Any:
    """Return what was asked of one map, or of every map, from what belongs to all blocks in a row, ``(N, cells, ...)``.

    Without blocks an array; with blocks a list with an entry per map for a policy with several maps.
    """
    shape = policy.feature_shape
    if not isinstance(shape, BlockedShape):
        return policy._answer(cells if shape.many else cells[:, 0])
    answers = [policy._answer(part) for part in shape.by_map(cells)]
    return answers if shape.many else answers[0]
