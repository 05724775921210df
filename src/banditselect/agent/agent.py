"""The agent: a dict and a list of dicts in, an item out."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import maps as maps_room
from ..carriers import persistence, validation
from ..carriers.gate import Gate
from ..carriers.streams import Seed
from ..carriers.workers import ITSELF
from ..maps import FeatureMap, Records
from ..policies import FSIDS, Binding, Policy
from ..types import Array
from . import explanations
from .bridge import build, first_item, handed, spread_row
from .choices import Choice, Key, checked_key, serves_one
from .explanations import Explanation, Spread
from .seats import Seats

VERSION = 1  #: of the section of an agent in a file


class Agent:
    """Feature maps and a policy put together: it chooses among items as they are known, dicts or rows of a table.

    Every map turns the context and the items into features, the policy learns which of the maps explains the rewards
    and plays. With a ``key`` every customer has a learner of her own, from when she is first seen until she is retired;
    without keys there is one learner. One call at a time; two agents never share state.

    Parameters
    ----------
    maps: feature maps, fitted where they need a fit; a list, or by name.
    policy: what ``bind`` returned, without shapes: ``FSIDS.bind()``. With one map also a policy over one map:
        ``LinIDS.bind()``.
    id: the column of items that names them.
    seed: of the policy.

    Attributes
    ----------
    maps: the maps by name.
    policy: with a lane for every learner.
    keys: who has a learner.

    Examples
    --------
    >>> from banditselect import Agent, maps
    >>> age, kind = maps.Numbers("age"), maps.Categories("kind")
    >>> films = [{"id": "Alien", "kind": "horror"}, {"id": "Bambi", "kind": "family"}]
    >>> visitors = [{"age": 8 + 6 * (i % 7)} for i in range(100)]
    >>> agent = Agent(
    ...     maps={
    ...         "film": maps.Items(kind).fit(visitors, films),
    ...         "film and age": maps.Outer(context=age, items=kind).fit(visitors, films),
    ...     }
    ... )
    >>> for visitor in visitors:
    ...     choice = agent.act(visitor, films)
    ...     liked = (choice.item == "Alien") == (visitor["age"] > 20)
    ...     agent.update(choice, float(liked))
    >>> agent.act({"age": 9}, films).item
    'Bambi'
    >>> print(agent.explain(top=2))
    100 rewards learned, noise 0.175
      99.9%  film and age
               -0.116  age * kind = family
               +0.104  age * kind = horror
       0.1%  film
               -0.000828  kind = family
               +0.000822  kind = horror
    """

    def __init__(
        self,
        *,
        maps: Sequence[FeatureMap] | Mapping[str, FeatureMap],
        policy: Binding[Any] = FSIDS.bind(),  # noqa: B008 # a binding is a value
        id: str = "id",
        seed: Seed = 0,
    ) -> None:
        named = _named(maps)
        if not isinstance(id, str):
            raise validation.refuse("Agent: id", id, "the name of a column")
        self._hold({name: part._copy() for name, part in named.items()}, build(policy, named, seed), id)

    def _hold(self, maps: dict[str, FeatureMap], policy: Policy, id: str) -> None:
        self.maps, self.policy, self.id = maps, policy, id
        self._seats = Seats(policy)
        self._spread = Spread(sum(part.width for part in maps.values()))
        self._items: dict[Any, int] = {}
        self._catalogue = Records(())
        self._gate = Gate()

    def __repr__(self) -> str:
        learners = f", {len(self.keys)} keys" if self.keys else ""
        return f"<Agent: {type(self.policy).__name__} over {', '.join(self.maps)}{learners}>"

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # two objects never share state

    @property
    def keys(self) -> list[Key]:
        """The keys that have a learner, in the order in which they were first seen; None is the one without a key."""
        return list(self._seats.taken)

    # Deciding.

    def act(self, context: Any, items: Any = None, *, key: Key = None, available: ArrayLike | None = None) -> Choice:
        """Choose an item and return the decision.

        Parameters
        ----------
        context: a dict, or a row of a DataFrame; None where nothing is known.
        items: those offered now: dicts, a DataFrame, or ids that were registered; all that are registered by default.
        key: whose learner decides; a new one gets a learner. Without a key, the one of all.
        available: booleans, one for each item: False for one that may not be played now.
        """
        with self._gate, self._seats.tentatively() as seats:
            rows, names = self._offered(items)
            mask = None if available is None else validation.offered(available, 1, len(rows))
            lane = seats.take(checked_key(key))
            context = Records.one(context)
            for part in self.maps.values():
                part.observe(context, rows)
            features = [part.features(context, rows) for part in self.maps.values()]
            decision = self.policy.act(handed(self.policy, self.maps.values(), features), available=mask, lanes=[lane])
            self._spread.add(spread_row(features, self._spread.count % len(rows)))
            action = int(decision.action[0])
            return Choice(_item(rows, names, self.id, action), checked_key(key), decision)

    def probabilities(
        self, context: Any, items: Any = None, *, key: Key = None, available: ArrayLike | None = None
    ) -> Array | None:
        """Return what ``act`` would sample from, ``(K,)``, and change nothing; None where it has no closed form.

        What is scaled online is scaled by what was offered before.
        """
        with self._gate:
            rows, _ = self._offered(items)
            lane = self._seats.see(checked_key(key))
            p = self.policy.probabilities(self._features(context, rows), available=available, lanes=[lane])
        return None if p is None else p[0]

    def register(self, items: Any, *, id: str | None = None) -> None:
        """Keep items, so that they can be offered by their ids: what does not depend on the context is computed once.

        Parameters
        ----------
        items: dicts or a DataFrame. An item that is registered already is replaced.
        id: the column that names items from here on; by default it stays what it is.
        """
        column = self.id if id is None else id
        rows = Records.of(items)
        names = [_plain(name) for name in rows.column(column)]
        for k, name in enumerate(names):
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise validation.refuse(f"register: {column} of item {k}", name, "a word or a whole number")
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise validation.refuse(f"register: {column}", twice, "each id once")
        with self._gate:
            kept = dict(zip(self._items, self._catalogue.rows(), strict=True))
            kept |= dict(zip(names, rows.rows(), strict=True))
            self._keep(kept, column)

    def _keep(self, items: Mapping[Any, Any], column: str) -> None:
        self.id = column
        self._items = {name: k for k, name in enumerate(items)}
        self._catalogue = Records(list(items.values()))

    # Learning.

    def update(self, decision: Choice, reward: float) -> None:
        """Learn the reward of a decision: now or later, in any order, once."""
        with self._gate, self._seats.tentatively():
            self.policy.update(self._own(decision), validation.rewards(reward, 1, False))

    def update_many(self, decisions: Iterable[Choice], rewards: Iterable[float]) -> None:
        """Learn many decisions in the order given: all of them, or none and an error."""
        with self._gate, self._seats.tentatively():
            own = [self._own(decision) for decision in decisions]
            self.policy.update_many(own, [validation.rewards(reward, 1, False) for reward in rewards])

    def forget(self, decision: Choice) -> None:
        """Give up on a reward that will never come: the decision is settled, and nothing is learned."""
        with self._gate, self._seats.tentatively():
            self.policy.forget(self._own(decision))

    def has_learned(self, decision: Choice) -> bool:
        """Tell whether a decision was learned or given up: whoever gets it twice may drop it."""
        with self._gate:
            if self._is_retired(decision):
                return True
            if decision.key not in self._seats.taken:
                return False
            return bool(self.policy.has_learned(self._own(decision))[0])

    def learn(self, context: Any, item: Any, reward: float, *, key: Key = None) -> None:
        """Learn from data that the agent did not play: an item, or the id of one registered, and its reward."""
        with self._gate, self._seats.tentatively() as seats:
            rows, _ = self._offered([item])
            y = validation.rewards(reward, 1, False)
            lane = seats.take(checked_key(key))
            context = Records.one(context)
            for part in self.maps.values():
                part.observe(context, rows)
            self.policy.learn(first_item(self._features(context, rows)), y, lanes=[lane])

    def retire(self, key: Key) -> None:
        """Free the learner of a key for others; what it decided is not learned any more. Unknown keys are ignored."""
        if self.policy._worker != ITSELF:
            raise validation.refuse("retire", key, "the agent that this one was forked from: retire it there")
        with self._gate:
            self._seats.leave(checked_key(key))

    # Telling.

    def explain(self, key: Key = None, *, top: int = 5) -> Explanation:
        """Tell which map explains the rewards, which features matter, how sure that is.

        Parameters
        ----------
        key: whose learner is asked; one that is not known has learned nothing.
        top: how many features of every map.
        """
        validation.whole_number("explain: top", top, 0)
        with self._gate:
            key = checked_key(key)
            return explanations.explain(self.policy, self._seats.see(key), key, self.maps, self._spread, top)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing it atomically; ``banditselect.load`` continues bit-identically."""
        with self._gate:
            for name, part in self.maps.items():
                if part.unsaved is not None:
                    raise validation.refuse(f"save: maps[{name!r}]", part.unsaved, "a map that can be saved")
            content = {
                "version": VERSION,
                "id": self.id,
                "names": list(self.maps),
                "maps": [maps_room.to_dict(part) for part in self.maps.values()],
                "seats": self._seats.to_dict(),
                "spread": {"count": self._spread.count, "mean": self._spread.mean, "square": self._spread.square},
                "items": _written(dict(zip(self._items, self._catalogue.rows(), strict=True))),
            }
            persistence.save(self.policy, path, ("agent", content))

    def fork(self, worker: int | str) -> Self:
        """Return a copy that decides for this agent elsewhere, as :meth:`Policy.fork` does.

        What a copy decides is learned by key: a customer whom only the copy has seen gets a learner here with the first
        reward. What was learned is taken over with ``load(path, worker=...)``. Keys are retired in the original alone.

        Parameters
        ----------
        worker: a whole number or a name, another one for every process.
        """
        if isinstance(worker, Agent):
            raise validation.refuse("worker", worker, "a whole number or a name")
        twin = copy.deepcopy(self)
        twin.policy = self.policy.fork(worker)
        twin._seats._policy = twin.policy
        return twin

    # Behind the door.

    def _offered(self, items: Any) -> tuple[Records, list[Any] | None]:
        """Return the records of items, and their ids where they were offered by these."""
        names: list[Any] | None
        if items is None:
            rows, names = self._catalogue, list(self._items)
        elif isinstance(items, list | tuple | np.ndarray) and len(items) and not isinstance(items[0], Mapping):
            rows, names = self._by_id(items)
        else:
            rows, names = Records.of(items), None
        if not len(rows):
            expected = "at least one item" if self._items else "at least one item, or items that were registered"
            raise validation.refuse("items", items, expected)
        return rows, names

    def _by_id(self, items: Any) -> tuple[Records, list[Any] | None]:
        names = [_plain(name) for name in items]
        if not all(isinstance(name, str | int) for name in names):
            return Records.of(items), None
        unknown = next((name for name in names if name not in self._items), None)
        if unknown is not None:
            raise validation.refuse("items", unknown, "ids of items that were registered (Agent.register), or records")
        return self._catalogue.take([self._items[name] for name in names]), names

    def _features(self, context: Any, rows: Records) -> Any:
        context, maps = Records.one(context), self.maps.values()
        return handed(self.policy, maps, [part.features(context, rows) for part in maps])

    def _own(self, choice: Choice) -> Any:
        """Return the decision inside, in the lane that its key has here."""
        if self._is_retired(choice):
            expected = "a decision of a key that was not retired since"
            raise validation.refuse("decision", f"{choice.item!r} for key {choice.key!r}", expected)
        decision = choice.decision
        if decision.worker == self.policy._worker or decision.lineage != self.policy._lineage:
            return decision
        return decision._replace(lanes=np.array([self._seats.take(checked_key(choice.key))]))

    def _is_retired(self, choice: Choice) -> bool:
        """Tell whether this agent decided it for a learner that is gone."""
        if not isinstance(choice, Choice) or not serves_one(choice.decision):
            raise validation.refuse("decision", choice, "what Agent.act returned")
        decision = choice.decision
        mine = decision.worker == self.policy._worker and decision.lineage == self.policy._lineage
        return mine and [self._seats.taken.get(choice.key)] != list(decision.lanes)  # type: ignore[arg-type]


@persistence.holder("agent")
def _restored(policy: Policy, stored: Mapping[str, Any]) -> Agent:
    """Return the agent that was saved around a policy."""
    if stored["version"] != VERSION:
        raise ValueError(f"an agent of version {stored['version']}, this library reads {VERSION}")
    agent = Agent.__new__(Agent)
    parts = [maps_room.from_dict(part) for part in stored["maps"]]
    agent._hold(dict(zip(stored["names"], parts, strict=True)), policy, stored["id"])
    agent._seats = Seats.restored(policy, stored["seats"])
    spread, kept = agent._spread, stored["spread"]
    if kept["mean"].shape != spread.mean.shape or kept["square"].shape != spread.mean.shape:
        raise ValueError("maps of other widths than they had")
    spread.count, spread.mean, spread.square = int(kept["count"]), kept["mean"], kept["square"]
    agent._keep(dict(json.loads(stored["items"])), stored["id"])
    return agent


def _named(maps: Any) -> dict[str, FeatureMap]:
    """Return maps by name, those of a list by what they are and where they stand."""
    if isinstance(maps, FeatureMap):
        maps = [maps]
    if isinstance(maps, Mapping):
        named = dict(maps)
    elif isinstance(maps, list | tuple):
        named = {f"{i}: {type(part).__name__}": part for i, part in enumerate(maps)}
    else:
        named = {}
    if not named:
        raise validation.refuse("Agent: maps", maps, "one or more feature maps, a list or by name")
    for name, part in named.items():
        if not isinstance(name, str) or not isinstance(part, FeatureMap):
            raise validation.refuse(f"Agent: maps[{name!r}]", part, "a FeatureMap under a name")
        if not part.fitted:
            raise validation.refuse(f"Agent: maps[{name!r}]", part, "a fitted map: map.fit(contexts, items) returns it")
    return named


def _item(rows: Records, names: Sequence[Any] | None, id: str, action: int) -> Any:
    """Return the id of an item, its position where it has none."""
    name = names[action] if names is not None else _plain(rows.column(id)[action])
    return name if isinstance(name, str | int) else action


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def _written(items: Mapping[Any, Any]) -> str:
    """Return items as JSON; a value that is none is refused by name."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        raise TypeError(f"{type(value).__name__} {value!r:.80}")

    rows = []
    for name, row in items.items():
        try:
            rows.append(json.dumps([name, dict(row)], default=plain))
        except (TypeError, ValueError) as error:
            raise validation.refuse(f"save: item {name!r}", str(error), "numbers, words, lists, None") from None
    return f"[{', '.join(rows)}]"
