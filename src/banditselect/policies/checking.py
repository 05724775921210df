"""Check decisions before they are learned, and policies when they are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernel
from ..models.model import Model
from ..plays.play import Play
from ..runtime.decisions import Decision
from ..runtime.errors import refuse, shown
from ..runtime.inputs import rewards as rewards_of
from ..runtime.ledger import MOST
from ..runtime.settings import literal, same
from ..runtime.workers import Worker
from ..types import Array, Mask
from .contract import Row

if TYPE_CHECKING:
    from .policy import Policy

STORED = tuple(map(np.dtype, (np.float64, np.int64, np.uint8, np.bool_)))  #: what files hold
LARGEST = 1.0 + 1e-9  #: a probability may be as large, by rounding
LEAST = 2.0**-54  #: one that rewards are divided by is larger: a draw has 53 random bits


def checked(policy: Policy, decision: Decision) -> Row:
    """Return what a decision of this policy says; refuse any other."""
    if type(decision) is not Decision:
        raise refuse("decision", decision, "what act returned")
    action, probability, _, features, served, number, note, lineage, worker, generation = decision
    if lineage != policy._lineage:
        raise ValueError("this decision was made by another policy: update the policy whose act returned it")
    if (served is None) != (policy.lanes is None):
        raise refuse("decision", served, "lanes as this policy has them")
    if generation != policy._generation:
        return replace(checked(policy, policy._to_current_models(decision)), generation=generation)
    K, width = policy._n_actions, policy._note_width
    most, least = MOST if K is None else K, LEAST if policy.reads_propensity else 0.0
    if served is None:
        ids, right = policy._all, type(action) is type(number) is int and 0 <= action < most and 0 <= number < MOST
        possible = probability is None or (type(probability) is float and least < probability <= LARGEST)
    else:
        ids = policy._all if served is policy._every else policy._ids(served)
        right = _are_whole(action, ids.size, most) and _are_whole(number, ids.size, MOST)
        p = probability
        possible = p is None or (p.shape == ids.shape and p.dtype == np.float64 and all_between(p, least, LARGEST))
    if not right:
        limit = "" if K is None else f" below {K}"
        raise refuse("decision", (action, number), f"an action{limit} and the number of an act for each lane")
    if not possible or (probability is None and policy.reads_propensity):
        raise refuse("decision", probability, f"probabilities above {least:g} and at most 1")
    if (note is not None or width) and (note is None or note.shape != (ids.size, width) or not policy._reads(note)):
        raise refuse("decision", note, f"the note of width {width} that act gave it")
    mine = policy._acts.worker
    if worker is mine or worker == mine:
        worker = None  # type: ignore[assignment]
    elif not isinstance(worker, Worker) or not all(type(part) is int and 0 <= part < MOST for part in worker):
        raise refuse("decision", worker, "a Worker(number, session)")
    numbers = np.array([number]) if served is None else number
    return Row(ids, policy._reader.played(features, ids.size), numbers, worker, generation, decision)


def all_checked(policy: Policy, decisions: Sequence[Decision], rewards: Sequence[Any]) -> list[tuple[Row, Array]]:
    """Return what decisions of this policy say and their rewards, if all can be learned."""
    if len(decisions) != len(rewards):
        raise refuse("rewards", rewards, f"one for each of the {len(decisions)} decisions")
    ready: list[tuple[Row, Array]] = []
    seen: set[tuple[Any, ...]] = set()
    for decision, reward in zip(decisions, rewards, strict=True):
        row = checked(policy, decision)
        acts = {(row.worker, *act) for act in zip(row.ids.tolist(), row.numbers.tolist(), strict=True)}
        if acts & seen:
            raise refuse("decisions", decision.number, "each decision once")
        seen |= acts
        policy._acts.check_waiting(row.worker, row.ids, row.numbers)
        ready.append((row, rewards_of(reward, row.ids.size, policy.lanes is not None)))
    return ready


def _are_whole(values: Any, n: int, most: int) -> bool:
    """Return whether these are n whole numbers from 0 to below ``most``."""
    right = isinstance(values, np.ndarray) and values.dtype == np.int64 and values.shape == (n,)
    return right and all_between(values, -1, most - 1)


@kernel
def all_between(values: NDArray[Any], low: float, high: float) -> bool:
    """Return whether every entry of ``values (n,)`` is above ``low`` and at most ``high``."""
    good = True
    for r in range(values.size):
        good &= low < values[r] and values[r] <= high
    return good


def demand(
    self: Policy,
    reason: str,
    *,
    default: Sequence[str] = (),
    given: Sequence[str] = (),
    other: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> None:
    """Refuse arguments that do not go with a choice.

    Parameters
    ----------
    reason: the choice, as in ``'design="optimal" was chosen'``.
    default: arguments that have to keep their defaults.  given: arguments that have to be given, not None.
    other: arguments with the values that they must not have.
    """
    owner = type(self).__name__
    for name in default:
        value, usual = getattr(self, name), self.arguments[name].default
        if not same(value, usual) and not (np.ndim(value) and np.all(np.equal(value, usual))):
            raise refuse(f"{owner}: {name}", value, f"{literal(usual)}, since {reason}")
    for name in given:
        if getattr(self, name) is None:
            expected = getattr(self.arguments[name].constraint, "expected", "a value").removesuffix(" or None")
            raise refuse(f"{owner}: {name}", None, f"{expected}, since {reason}")
    for name, values in other.items():
        if getattr(self, name) in values:
            raise refuse(f"{owner}: {name}", getattr(self, name), f"another choice, since {reason}")


def check_distribution(policy: Policy, p: Any, shape: tuple[int, int], offered: Mask | None = None) -> None:
    """Refuse probabilities that are no array of this shape whose rows sum to 1 over the actions offered."""
    right = isinstance(p, np.ndarray) and p.shape == shape and p.dtype == np.float64
    if not (right and (p >= 0.0).all() and (np.abs(p.sum(axis=1) - 1.0) <= 1e-9).all()):
        name = f"{type(policy).__name__}: probabilities"
        raise refuse(name, p, f"probabilities, float64 of shape {shape}, whose rows sum to 1")
    if offered is not None and p[~offered].any():
        raise refuse(f"{type(policy).__name__}: probabilities", p, "0 for every action that is not available")


def built(policy: Policy, chooses: bool) -> tuple[Any, Any]:
    """Return the model and the play that ``build`` makes; refuse a model that does not answer what the play asks.

    ``chooses``: whether the policy writes ``_choose``, so that it needs no play.
    """
    made, owner = policy.build(policy._size), type(policy).__name__
    model, play = made if isinstance(made, tuple) and len(made) == 2 else (None, None)
    if not isinstance(model, Model) or not (isinstance(play, Play) or (play is None and chooses)):
        raise TypeError(f"{owner}: build returned {made!r:.80}, expected a pair: a Model and a Play, both objects")
    kind = type(model).__name__
    if not hasattr(model, "shape"):
        raise TypeError(f"{owner}: {kind} has no shape: call super().__init__(shape) in its __init__")
    if getattr(model, "one_kernel", False) and not hasattr(model, "updates"):
        raise TypeError(f"{owner}: {kind} has one_kernel, but no updates (N,) that the kernel raises last")
    for question in () if play is None else play.asks:
        if not hasattr(model, question):
            raise TypeError(f"{owner}: {type(play).__name__} asks for {question}, which {kind} does not answer")
    return model, play


def check_arrays(policy: Policy) -> None:
    """Refuse arrays that would be lost when the policy is saved, extended by lanes or restored."""
    owner, lanes = type(policy).__name__, policy._size
    remedy = (
        "keep it in a Model (or LaneArrays) whose `state` names it, if it is learned, or whose `fixed` names it, if it "
        "follows from the arguments; each has a row per lane. Arrays without lanes are named in `shared`"
    )
    for name, value in vars(policy).items():
        if name not in (*policy.arguments, "_all", "_every") and _holds_arrays(value):
            raise TypeError(f"{owner}: {name} is an array of the policy itself, which is lost: {remedy}")
    for way, part in policy._parts:
        for name, value in vars(part).items():
            if name not in (*part.state, *part.fixed, *part.shared) and _holds_arrays(value):
                raise TypeError(f"{owner}: {way}.{name} is an array without a name: {remedy}")
        for name in (*part.state, *part.fixed):
            array = getattr(part, name, None)
            if not (isinstance(array, np.ndarray) and array.dtype in STORED and array.shape[:1] == (lanes,)):
                expected = f"an array of {', '.join(map(str, STORED))} with a row for each of {lanes} lanes"
                raise TypeError(f"{owner}: {way}.{name}: got {shown(array)}, expected {expected}")


def _holds_arrays(value: Any) -> bool:
    """Return whether a value is an array or a list, tuple or dict of arrays."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(part, np.ndarray) for part in parts)
