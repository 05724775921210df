"""A decision of an agent, as a value that can wait for its reward."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..runtime.decisions import Decision
from ..runtime.errors import refuse

Key = str | int | None
_FIELDS = ("item", "action", "probability", "key", "decision")


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """One decision of an agent. Frozen.

    Attributes
    ----------
    item: the id of the item to play; its position among those offered where it has none.
    key: of the learner that decided, None for the one without a key.
    decision: of the policy inside, with everything that learning needs.
    """

    item: Any
    key: Key
    decision: Decision

    @property
    def action(self) -> int:
        """The position of the item among those offered."""
        return int(self.decision.action[0])

    @property
    def probability(self) -> float | None:
        """The probability with which the item was drawn; None where it has no closed form."""
        probability = self.decision.probability
        return None if probability is None else float(probability[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain numbers, words, lists and None, fit for JSON."""
        return {name: getattr(self, name) for name in _FIELDS} | {"decision": self.decision.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the decision that ``to_dict`` described; anything else raises ValueError."""
        if not isinstance(content, Mapping) or set(content) != set(_FIELDS):
            raise refuse("decision", content, f"a mapping with the keys {', '.join(_FIELDS)}")
        decision = Decision.from_dict(content["decision"])
        made = cls(content["item"], checked_key(content["key"]), decision)
        if not serves_one(decision) or (made.action, made.probability) != (content["action"], content["probability"]):
            raise refuse("decision", content, "the result of AgentDecision.to_dict")
        return made


def serves_one(decision: Any) -> bool:
    """Return whether a decision of a policy is for one lane."""
    arrays = (decision.lanes, decision.action, decision.number) if isinstance(decision, Decision) else (None,)
    return all(isinstance(array, np.ndarray) and array.shape == (1,) for array in arrays)


def checked_key(key: Any) -> Key:
    """Return a key; refuse keys that a file would not keep distinct."""
    if isinstance(key, np.integer | np.str_):
        key = key.item()
    if key is None or isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)):
        return key
    raise refuse("key", key, "a word or a whole number, or None")
