"""A decision of a policy, as a value that can wait for its reward."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..types import Index
from .workers import MAIN, Worker


class Decision(NamedTuple):
    """One decision of a policy, or one of each lane served. Frozen: its arrays are read-only.

    For a policy without lanes ``action``, ``number`` and ``base`` are whole numbers and ``probability`` a float; with
    lanes each is an array ``(n,)``.

    Attributes
    ----------
    action: the action to play.
    probability: its propensity, the probability with which it was drawn; None where it has no closed form.
    base: the base that played, for policies made of policies; else None.
    features: of the action played, ``(d,)`` or ``(M, d)`` (zero-padded to the widest map), with lanes a leading n.
    lanes: the lanes served, ``(n,)``, or None.
    number: how many acts the lane had seen before this one.
    note: numbers that the policy needs again when the reward arrives, ``(n, w)``, or None.
    lineage: fingerprint of the policy; it survives save and load.
    worker: the copy of the policy that decided, as (number, session); (0, 0) for the policy itself.
    generation: how often feature maps had been added to the policy, or taken from it.
    """

    action: Any
    probability: Any
    base: Any
    features: NDArray[np.float64]
    lanes: Index | None
    number: Any
    note: NDArray[np.float64] | None
    lineage: int
    worker: Worker = MAIN
    generation: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.to_dict() == other.to_dict()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.lineage, self.worker, np.asarray(self.number).tobytes()))

    def split(self) -> "list[Decision]":
        """Return one decision per lane, for rewards that arrive at different times; without lanes, just this one."""
        if self.lanes is None:
            return [self]
        rows = [slice(r, r + 1) for r in range(self.lanes.size)]
        return [Decision._make(v[row] if isinstance(v, np.ndarray) else v for v in self) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain numbers, lists and None, fit for JSON."""
        content = {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in self._asdict().items()
        }
        return content | {"worker": list(self.worker)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the decision that ``to_dict`` described; anything else raises ValueError."""
        if not isinstance(content, Mapping) or set(content) != set(cls._fields):
            raise ValueError(
                f"decision: got {content!r:.80}, expected a mapping with the keys {', '.join(cls._fields)}"
            )
        try:
            lanes = None if content["lanes"] is None else _frozen(content["lanes"], np.int64)
            whole = _whole if lanes is None else lambda value: _frozen(value, np.int64)
            real = float if lanes is None else lambda value: _frozen(value, np.float64)
            return cls(
                action=whole(content["action"]),
                probability=None if content["probability"] is None else real(content["probability"]),
                base=None if content["base"] is None else whole(content["base"]),
                features=_frozen(content["features"], np.float64),
                lanes=lanes,
                number=whole(content["number"]),
                note=None if content["note"] is None else _frozen(content["note"], np.float64),
                lineage=_whole(content["lineage"]),
                worker=Worker(*map(_whole, content["worker"])),
                generation=_whole(content["generation"]),
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"decision: {error}; expected what Decision.to_dict returned") from None


def _whole(value: Any) -> int:
    return int(_frozen(value, np.int64))


def _frozen(value: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only array; what would have to be rounded, parsed or cut is refused."""
    found = np.asarray(value)
    if found.dtype.kind not in ("iu" if dtype is np.int64 else "iuf"):
        raise ValueError(f"{value!r:.80} is not made of {'whole ' if dtype is np.int64 else ''}numbers")
    array = np.array(found, dtype=dtype)
    array.flags.writeable = False
    return array
