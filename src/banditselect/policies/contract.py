"""The values that pass between the shell of a policy and the two methods behind it, ``_choose`` and ``_learn``."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.features import Features
from ..runtime.decisions import Decision
from ..runtime.shapes import ExactShape
from ..runtime.workers import Worker
from ..types import Array, Index

if TYPE_CHECKING:
    from .policy import Policy


@dataclass(slots=True)
class Chosen:
    """Probabilities to draw actions from, and what decisions carry besides the action.

    Attributes
    ----------
    p: to draw from, ``(n, K)``.  keys: of the streams to draw with, ``(n,)``.
    note: given back with the reward, ``(n, w)``.  by_action: numbers ``(n, w, K)`` whose column of the action drawn
        stands behind the note.  reported: propensities to report where they are not ``p``, ``(n, K)``.
    base: the base that plays, ``(n,)``.
    """

    p: Array
    keys: Index
    note: Array | None = None
    by_action: Array | None = None
    reported: Array | None = None
    base: Index | None = None

    def whole_note(self) -> Array:
        """Return the note for every action that could be drawn, ``(n, w, K)``."""
        (n, K), note = self.p.shape, np.empty((len(self.p), 0)) if self.note is None else self.note
        every = np.broadcast_to(note[:, :, None], (n, note.shape[1], K))
        return every if self.by_action is None else np.concatenate([every, self.by_action], axis=1)


class Played(NamedTuple):
    """A round that was played: actions ``(n,)``, propensities ``(n,)`` or None, the note ``(n, w)`` or None."""

    action: Index
    probability: Array | None
    note: Any

    def rows(self, rows: Any) -> Played:
        """Return some of the rows."""
        return Played(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]


@dataclass(slots=True)
class Row:
    """A decision that has been checked, or data of ``learn``, which have neither numbers nor a decision.

    Attributes
    ----------
    ids, x, numbers: lanes, features of the actions played, numbers of the acts.
    worker: the worker that decided, None for the policy itself.  generation: of the list of models that decided.
    """

    ids: Index
    x: Features
    numbers: Index
    worker: Worker | None
    generation: int
    decision: Decision | None

    @property
    def played(self) -> Played | None:
        """The round that was played; None for data of ``learn``."""
        if self.decision is None:
            return None
        action, p = self.decision.action, self.decision.probability
        return Played(np.array(action, ndmin=1), None if p is None else np.array(p, ndmin=1), self.decision.note)


def answer(question: str, doc: str, *, by_map: bool = False) -> Any:
    """Return a property that asks the model, or a part of it (``"bank.parameters"``): an attribute or a method.

    The answer leads with the lanes, ``(N, ...)``. ``by_map``: it has an entry for every cell, ``(N, cells, ...)``, and
    is given map by map; of a policy with several maps as an array, or as a list if some map has blocks.
    """

    def ask(policy: Policy) -> Any:
        found = attrgetter(question)(policy._model)
        found = found() if callable(found) else found
        shape = policy.feature_shape
        if by_map and isinstance(shape, ExactShape) and shape.blocked:
            answers = [policy._answer(part) for part in shape.by_map(found)]
            return answers if shape.many else answers[0]
        return policy._answer(found[:, 0] if by_map and not shape.many else found)

    return property(ask, doc=doc)
