"""Methods of a policy beside its rounds: copies for workers, more lanes, many rows at once."""

from __future__ import annotations

import copy
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


def fork(self: P, worker: int | str | Policy) -> P:
    """Return a copy that acts for this policy in another process, with random numbers and act numbers of its own.

    Every copy, and the policy itself, can learn the decisions of all others: each once, in any order. Usually one
    of them learns and is saved, and the others act and read what it has learned with ``load(path, worker=copy)``.

    Parameters
    ----------
    worker: a whole number or a name, different for every process. The copy begins a new session, so a process that
        is restarted under its number repeats nothing. Or the policy that has been this worker so far: the copy
        takes its place and continues its count of acts; the other must not act again.

    Examples
    --------
    >>> from banditselect import SquareCB
    >>> policy = SquareCB(dim=2)
    >>> copies = [policy.fork(worker) for worker in (0, "shop-7")]
    >>> for decision in [copy.act([[1.0, 0.0], [0.0, 1.0]]) for copy in copies]:
    ...     policy.update(decision, 0.5)
    >>> policy.rounds
    2
    """
    former: Any = worker
    with self._guard:
        twin, acts = copy.deepcopy(self), np.zeros(self._size, dtype=np.int64)
    if hasattr(former, "_acts"):
        who, theirs = former._acts.worker, former._ledger.acts
        if former._lineage != self._lineage or who == MAIN or theirs.size > acts.size:
            raise refuse("worker", worker, "a worker that was forked from this policy")
        acts[: theirs.size] = theirs
        if self._acts.from_workers.is_closed(who):
            who, acts[:] = Worker.fresh(who.number), 0
    else:
        if not isinstance(former, str):
            Number(low=0, high=MOST - 1, integer=True).check("worker", former, None)
            former = int(former)
        who = Worker.fresh(former)
    twin._acts.act_as(who, acts)
    twin._seed_streams(who.channel)
    return twin


def add_lanes(self: Policy, n: int, **arguments: Any) -> None:
    """Append n fresh lanes. Arguments that were given per lane are given here for the new lanes.

    The state is copied once: add many lanes at a time. A master whose bases have arguments per lane cannot grow.
    """
    if self.lanes is None:
        raise refuse("add_lanes", n, "a policy that was built with lanes")
    n = whole_number("add_lanes: n", n, 1)
    names = _per_lane(self)
    if set(arguments) != set(names):
        expected = f"the arguments that were given per lane, for the new lanes: {', '.join(sorted(names)) or 'none'}"
        raise refuse("add_lanes", sorted(arguments), expected)
    fresh = type(self)(**(_blueprint(self.settings) | dict(arguments) | {"lanes": n}))
    joined = {}
    for name in names:
        mine, new = np.asarray(getattr(self, name)), np.asarray(arguments[name])
        if new.shape != (n, *mine.shape[1:]):
            raise refuse(f"add_lanes: {name}", arguments[name], f"shape {(n, *mine.shape[1:])}")
        joined[name] = read_only(np.concatenate([mine, new]))
    fresh._seed_streams(self._channel, self.lanes)
    changing: list[Any] = [self, *(part for _, part in self._parts), *_policies_inside(self)]
    with self._guard:
        before = [(vars(one), dict(vars(one))) for one in changing]
        try:
            self.__dict__ |= joined
            for (_, part), (_, new_lanes) in zip(self._parts, fresh._parts, strict=True):
                part.extend(new_lanes)
            for one, other in zip([self, *_policies_inside(self)], [fresh, *_policies_inside(fresh)], strict=True):
                one._add(other)
        except BaseException:  # interrupted, or out of memory: all parts have as many lanes as before
            for now, then in before:
                now.update(then)
            raise


def reset_lanes(self: Policy, lanes: ArrayLike) -> None:
    """Make lanes fresh again, to serve others; later rewards for their earlier decisions are refused.

    Act numbers continue, so a lane does not draw the random numbers of its first acts again.
    """
    if self.lanes is None:
        raise refuse("reset_lanes", lanes, "a policy that was built with lanes")
    ids = self._ids(lanes)
    per_lane = {name: np.asarray(getattr(self, name))[ids] for name in _per_lane(self)}
    fresh = type(self)(**(_blueprint(self.settings) | per_lane | {"lanes": ids.size}))
    with self._guard:
        for (_, mine), (_, theirs) in zip(self._parts, fresh._parts, strict=True):
            mine.reset(ids, theirs)
        self._acts.from_workers.clear(set(ids.tolist()))


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


def probabilities_many(self: Policy, features: Any, *, available: ArrayLike | None = None) -> Array | None:
    """Return the probabilities of n rounds in the present state, ``(n, K)``, for a policy without lanes.

    ``features`` lead with an axis of n rounds; ``available`` is ``(n, K)``.
    """
    if self.lanes is not None:
        raise refuse("probabilities_many", self.lanes, "a policy without lanes")
    first = features[0] if self.feature_shape.many and isinstance(features, list | tuple) else features
    n = len(first.values if isinstance(first, Blocked) else first)
    x = Reader(self.feature_shape, True).actions(features, n)
    K = x.values.shape[2]
    mask = np.ones((n, K), dtype=bool) if available is None else offered(available, n, K)
    if not self.has_propensity:
        return None
    p, counts = np.zeros((n, K)), mask.sum(axis=1)
    with self._guard:
        for count in np.unique(counts).tolist():  # rows that share a lane are to offer equally many actions
            rows = np.flatnonzero(counts == count)
            some = None if count == K else mask[rows]
            p[rows] = self._probabilities(np.zeros(rows.size, dtype=np.int64), x.rows(rows), some)
    check_distribution(self, p, (n, K))
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
