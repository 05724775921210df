"""Services of a policy beside its rounds: copies for workers, lanes, many rows at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.binding import Binding
from ..runtime.constraints import Number, whole_number
from ..runtime.errors import refuse, warn
from ..runtime.inputs import offered
from ..runtime.ledger import MOST
from ..runtime.reading import Reader
from ..runtime.settings import read_only
from ..runtime.workers import MAIN, Worker
from ..types import Array, Blocked
from .checking import check_distribution

if TYPE_CHECKING:
    from .policy import Policy

P = TypeVar("P", bound="Policy")

MANY_ACTIONS = 1000  #: of more, a play may warn


def forked(policy: P, worker: Any) -> P:
    """Return a copy that acts as this worker: a number, a name, or the policy that was the worker so far."""
    with policy._guard:
        twin, acts = copy.deepcopy(policy), np.zeros(policy._size, dtype=np.int64)
    if hasattr(worker, "_acts"):
        who, theirs = worker._acts.worker, worker._ledger.acts
        if worker._lineage != policy._lineage or who == MAIN or theirs.size > acts.size:
            raise refuse("worker", worker, "a worker that was forked from this policy")
        acts[: theirs.size] = theirs
        if policy._acts.from_workers.is_closed(who):
            who, acts[:] = Worker.fresh(who.number), 0
    else:
        if not isinstance(worker, str):
            Number(low=0, high=MOST - 1, integer=True).check("worker", worker, None)
            worker = int(worker)
        who = Worker.fresh(worker)
    twin._acts.act_as(who, acts)
    twin._seed_streams(who.channel)
    return twin


def add_lanes(policy: Policy, n: int, arguments: Mapping[str, Any]) -> None:
    """Append n fresh lanes; ``arguments``: those that were given per lane, for the new lanes."""
    if policy.lanes is None:
        raise refuse("add_lanes", n, "a policy that was built with lanes")
    n = whole_number("add_lanes: n", n, 1)
    names = _per_lane(policy)
    if set(arguments) != set(names):
        expected = f"the arguments that were given per lane, for the new lanes: {', '.join(sorted(names)) or 'none'}"
        raise refuse("add_lanes", sorted(arguments), expected)
    fresh = type(policy)(**(_blueprint(policy.settings) | dict(arguments) | {"lanes": n}))
    joined = {}
    for name in names:
        mine, new = np.asarray(getattr(policy, name)), np.asarray(arguments[name])
        if new.shape != (n, *mine.shape[1:]):
            raise refuse(f"add_lanes: {name}", arguments[name], f"shape {(n, *mine.shape[1:])}")
        joined[name] = read_only(np.concatenate([mine, new]))
    fresh._seed_streams(policy._channel, policy.lanes)
    changing: list[Any] = [policy, *(part for _, part in policy._parts), *_policies_inside(policy)]
    with policy._guard:
        before = [(vars(one), dict(vars(one))) for one in changing]
        try:
            policy.__dict__ |= joined
            for (_, part), (_, new_lanes) in zip(policy._parts, fresh._parts, strict=True):
                part.extend(new_lanes)
            for one, other in zip([policy, *_policies_inside(policy)], [fresh, *_policies_inside(fresh)], strict=True):
                one._add(other)
        except BaseException:  # interrupted, or out of memory: all parts have as many lanes as before
            for now, then in before:
                now.update(then)
            raise


def reset_lanes(policy: Policy, lanes: ArrayLike) -> None:
    """Make these lanes fresh again."""
    if policy.lanes is None:
        raise refuse("reset_lanes", lanes, "a policy that was built with lanes")
    ids = policy._ids(lanes)
    per_lane = {name: np.asarray(getattr(policy, name))[ids] for name in _per_lane(policy)}
    fresh = type(policy)(**(_blueprint(policy.settings) | per_lane | {"lanes": ids.size}))
    with policy._guard:
        for (_, mine), (_, theirs) in zip(policy._parts, fresh._parts, strict=True):
            mine.reset(ids, theirs)
        policy._acts.from_workers.clear(set(ids.tolist()))


def warn_of_actions(policy: Policy, n_actions: int) -> None:
    """Give the warning of the play about so many actions, once; that of the policy inside a view."""
    if policy._play is None and not policy.is_master:
        for _, inner in policy._inside():
            warn_of_actions(inner, n_actions)
    elif policy._play is not None and not policy._warned_of_actions:
        text = policy._play.warning(n_actions)
        if text is not None:
            policy._warned_of_actions = True
            warn(f"{type(policy).__name__}: {text}")


def probabilities_many(policy: Policy, features: Any, available: ArrayLike | None) -> Array | None:
    """Return the probabilities of many rows in the present state of a policy without lanes, ``(n, K)``."""
    if policy.lanes is not None:
        raise refuse("probabilities_many", policy.lanes, "a policy without lanes")
    first = features[0] if policy.feature_shape.many and isinstance(features, list | tuple) else features
    n = len(first.values if isinstance(first, Blocked) else first)
    x = Reader(policy.feature_shape, True).actions(features, n)
    K = x.values.shape[2]
    mask = np.ones((n, K), dtype=bool) if available is None else offered(available, n, K)
    if not policy.has_propensity:
        return None
    p, counts = np.zeros((n, K)), mask.sum(axis=1)
    with policy._guard:
        for count in np.unique(counts).tolist():  # rows that share a lane are to offer equally many actions
            rows = np.flatnonzero(counts == count)
            some = None if count == K else mask[rows]
            p[rows] = policy._probabilities(np.zeros(rows.size, dtype=np.int64), x.rows(rows), some)
    check_distribution(policy, p, (n, K))
    return p


def _per_lane(policy: Policy) -> list[str]:
    """Return the names of the arguments that were given per lane."""
    return [name for name, a in policy.arguments.items() if a.constraint.is_per_lane(getattr(policy, name))]


def _policies_inside(policy: Policy) -> list[Policy]:
    """Return the policies inside a policy, and those inside them."""
    return [deeper for _, inner in policy._inside() for deeper in (inner, *_policies_inside(inner))]


def _blueprint(value: Any) -> Any:
    """Return settings in which every policy is replaced by a factory of a fresh one."""
    if hasattr(value, "_parts"):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        return Binding(type(value), _blueprint(own))
    if isinstance(value, dict):
        return {name: _blueprint(part) for name, part in value.items()}
    return type(value)(map(_blueprint, value)) if isinstance(value, list | tuple) else value
