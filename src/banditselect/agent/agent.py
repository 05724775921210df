"""The agent: a dict and a list of dicts in, an item out."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..maps import FeatureMap, Records
from ..maps.unknown import without_examples
from ..policies import FSIDS, Binding, Policy
from ..policies.members import MapPolicy
from ..runtime import constraints, errors, files, inputs
from ..runtime.drawing import Seed
from ..runtime.guard import OneCallAtATime
from ..runtime.workers import MAIN
from ..types import Array, Blocked
from . import explanations
from .decision import AgentDecision, Key, checked_key, serves_one
from .explanations import Explanation, FeatureScale
from .features import UnreadColumns, build, played_item, replayed, sample_row, takes, to_policy_input
from .learners import LaneTable


@files.register
class Agent:
    """Feature maps and a policy put together: it chooses among items as they are known, dicts or rows of a table.

    Every map turns the context and the items into features, the policy learns which of the maps explains the rewards
    and plays. With a ``key`` every customer has a separate learner, from the first act until the key is retired;
    without keys there is one learner. One call at a time; two agents never share state.

    Parameters
    ----------
    maps: feature maps, fitted where they need a fit; a list, or by name. None: maps that need no examples, which hash
        all columns of the records (:class:`banditselect.maps.AnyColumns`).
    policy: the result of ``bind``, without shapes: ``FSIDS.bind()``. With one map also a policy over one map:
        ``LinIDS.bind()``.
    id: the column of items that names them.
    seed: of the policy.

    Attributes
    ----------
    maps: the maps by name.
    policy: with a lane for every learner.
    keys: the keys that have a learner.

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
    100 rewards learned, noise 0.172
      90.1%  film and age
               -0.0991  age * kind = family
               +0.0946  age * kind = horror
       9.9%  film
               -0.000828  kind = family
               +0.000822  kind = horror
    """

    def __init__(
        self,
        *,
        maps: Sequence[FeatureMap] | Mapping[str, FeatureMap] | None = None,
        policy: Binding[Any] = FSIDS.bind(),  # noqa: B008 # a binding is a value
        id: str = "id",
        seed: Seed = 0,
    ) -> None:
        if not isinstance(id, str):
            raise errors.refuse("Agent: id", id, "the name of a column")
        named = _named(without_examples(id) if maps is None else maps)
        self._hold({name: copy.copy(part) for name, part in named.items()}, build(policy, named, seed), id)

    def _hold(self, maps: dict[str, FeatureMap], policy: Policy, id: str) -> None:
        self.maps, self.policy, self.id = maps, policy, id
        self._lanes = LaneTable(policy)
        self._scale = FeatureScale(sum(part.width for part in maps.values()))
        self._items: dict[Any, int] = {}
        self._catalogue = Records(())
        self._unread = UnreadColumns()
        self._guard = OneCallAtATime()

    def __repr__(self) -> str:
        learners = f", {len(self.keys)} keys" if self.keys else ""
        return f"<Agent: {type(self.policy).__name__} over {', '.join(self.maps)}{learners}>"

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # two objects never share state

    @property
    def keys(self) -> list[Key]:
        """The keys that have a learner, in the order in which they were first seen; None is the one without a key."""
        return list(self._lanes.lane_of)

    # Deciding.

    def act(
        self, context: Any, items: Any = None, *, key: Key = None, available: ArrayLike | None = None
    ) -> AgentDecision:
        """Choose an item and return the decision.

        Parameters
        ----------
        context: a dict, or a row of a DataFrame; None where nothing is known.
        items: those offered now: dicts, a DataFrame, or ids that were registered; all that are registered by default.
        key: of the learner that decides; a new key gets a learner. Without a key, the one that all share.
        available: booleans, one for each item: False for one that may not be played now.
        """
        with self._guard, self._lanes as lanes:
            rows, names = self._offered(items)
            mask = None if available is None else inputs.offered(available, 1, len(rows))
            lane = lanes.assign(checked_key(key))
            features = self._features(context, rows, observe=True)
            decision = self.policy.act(to_policy_input(self.policy, features), available=mask, lanes=[lane])
            self._scale.add(sample_row(features, self._scale.count % len(rows)))
            action = int(decision.action[0])
            return AgentDecision(_item(rows, names, self.id, action), checked_key(key), decision)

    def probabilities(
        self, context: Any, items: Any = None, *, key: Key = None, available: ArrayLike | None = None
    ) -> Array | None:
        """Return what ``act`` would sample from, ``(K,)``, and change nothing; None where it has no closed form.

        Features that are scaled online are scaled by the items offered before.
        """
        with self._guard:
            rows, _ = self._offered(items)
            lane = self._lanes.lane_or_next(checked_key(key))
            features = to_policy_input(self.policy, self._features(context, rows))
            p = self.policy.probabilities(features, available=available, lanes=[lane])
        return None if p is None else p[0]

    def register(self, items: Any, *, id: str | None = None) -> None:
        """Keep items, so that they can be offered by their ids: what does not depend on the context is computed once.

        Parameters
        ----------
        items: dicts or a DataFrame. An item that is registered already is replaced.
        id: the column that names items from here on; by default it stays what it is.
        """
        column = self.id if id is None else id
        rows = Records.of(items, "items")
        names = [_plain(name) for name in rows.column(column)]
        for k, name in enumerate(names):
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise errors.refuse(f"register: {column} of item {k}", name, "a word or a whole number")
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise errors.refuse(f"register: {column}", twice, "each id once")
        with self._guard:
            kept = dict(zip(self._items, self._catalogue.rows(), strict=True))
            kept |= dict(zip(names, rows.rows(), strict=True))
            self._keep(kept, column)

    def _keep(self, items: Mapping[Any, Any], column: str) -> None:
        catalogue, places = Records(list(items.values())), {name: k for k, name in enumerate(items)}
        self.id, self._items, self._catalogue = column, places, catalogue  # no call between: all of them or none

    # Learning.

    def update(self, decision: AgentDecision, reward: float) -> None:
        """Learn the reward of a decision: now or later, in any order, once."""
        with self._guard, self._lanes:
            self.policy.update(self._own(decision), inputs.rewards(reward, 1, False))

    def update_many(self, decisions: Iterable[AgentDecision], rewards: Iterable[float]) -> None:
        """Learn many decisions in the order given: all of them, or none and an error."""
        with self._guard, self._lanes:
            own = [self._own(decision) for decision in decisions]
            self.policy.update_many(own, [inputs.rewards(reward, 1, False) for reward in rewards])

    def forget(self, decision: AgentDecision) -> None:
        """Give up on a reward that will never come: the decision is settled, and nothing is learned."""
        with self._guard, self._lanes:
            self.policy.forget(self._own(decision))

    def has_learned(self, decision: AgentDecision) -> bool:
        """Return whether a decision was learned or given up; a reward that arrives twice may then be dropped."""
        with self._guard:
            if self._is_retired(decision):
                return True
            if decision.key not in self._lanes.lane_of:
                return False
            return bool(self.policy.has_learned(self._own(decision))[0])

    def learn(self, context: Any, item: Any, reward: float, *, key: Key = None) -> None:
        """Learn from data that the agent did not play: an item, or the id of one registered, and its reward."""
        with self._guard, self._lanes as lanes:
            rows, _ = self._offered([item])
            y = inputs.rewards(reward, 1, False)
            lane = lanes.assign(checked_key(key))
            features = to_policy_input(self.policy, self._features(context, rows, observe=True))
            self.policy.learn(played_item(features), y, lanes=[lane])

    def retire(self, key: Key) -> None:
        """Free the learner of a key for others; late rewards for it are refused. Unknown keys are ignored."""
        if self.policy._acts.worker != MAIN:
            raise errors.refuse("retire", key, "the agent that this one was forked from: retire it there")
        with self._guard:
            self._lanes.release(checked_key(key))

    # Maps that come and go.

    def add_maps(
        self,
        maps: Sequence[FeatureMap] | Mapping[str, FeatureMap],
        *,
        prior_weights: ArrayLike | None = None,
        replay: Iterable[Sequence[Any]] = (),
    ) -> None:
        """Add feature maps while the agent runs, for all keys; ``add_models`` of the policy sets their weights.

        Decisions that wait for their rewards are still learned, by the maps that were there.

        Parameters
        ----------
        maps: as in the constructor, under names that no other map has.
        prior_weights: the share of each new map, by default that of equal weights.
        replay: rounds that the agent has learned, in that order, which the new maps learn too: ``(context, item,
            reward)``, of a key ``(context, item, reward, key)``. If they are all, it is as if the new maps had been
            there from the first, except for features that are scaled online.
        """
        with self._guard:
            policy = self._changing("add_maps")
            new = {name: copy.copy(part) for name, part in _named(maps, self.maps).items()}
            twice = next((name for name in new if name in self.maps), None)
            if twice is not None:
                raise errors.refuse("add_maps: maps", twice, "names that no other map has")
            parts, rounds = list(new.values()), list(replay)
            given = None
            if rounds:
                given = replayed(int(policy.lanes or 0), parts, self._learned(rounds))
                self._lanes.reset_released()
            widths, blocks = [part.width for part in parts], [part.blocks for part in parts]
            policy.add_models(widths, blocks=blocks, prior_weights=prior_weights, replay=given)
            self.maps = self.maps | new
            self._scale.grow(sum(part.width for part in parts))

    def retire_maps(self, names: str | Sequence[str]) -> None:
        """Remove maps, by name; at least one stays. Their weights go to the others in proportion."""
        with self._guard:
            policy, gone = self._changing("retire_maps"), [names] if isinstance(names, str) else list(names)
            if not gone or not set(gone) < set(self.maps) or len(set(gone)) < len(gone):
                expected = f"some of {', '.join(map(repr, self.maps))}, each once, and not all"
                raise errors.refuse("retire_maps: names", names, expected)
            policy.retire_models([i for i, name in enumerate(self.maps) if name in gone])
            stays = [np.full(part.width, name not in gone) for name, part in self.maps.items()]
            self._scale.keep(np.concatenate(stays))
            self.maps = {name: part for name, part in self.maps.items() if name not in gone}

    def _changing(self, what: str) -> MapPolicy:
        """Return the policy if its maps may come and go here."""
        if not isinstance(self.policy, MapPolicy):
            raise errors.refuse(what, type(self.policy).__name__, "a policy that selects maps, such as FSIDS")
        if self.policy._acts.worker != MAIN:
            raise errors.refuse(what, self, "the agent that this one was forked from: change it there")
        return self.policy

    def _learned(self, rounds: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Records, Records, Any]]:
        """Yield the lane, the context, the item and the reward of rounds that are replayed."""
        for k, one in enumerate(rounds):
            if not isinstance(one, Sequence) or len(one) not in (3, 4):
                raise errors.refuse(f"add_maps: replay[{k}]", one, "(context, item, reward), or with a key")
            context, item, reward, *key = one
            lane = self._lanes.lane_of.get(checked_key(key[0] if key else None))
            if lane is None:
                raise errors.refuse(f"add_maps: replay[{k}]", one, "a round of a key that has a learner")
            yield lane, Records.one(context), self._offered([item])[0], reward

    # Explain, save, fork.

    def explain(self, key: Key = None, *, top: int = 5) -> Explanation:
        """Explain which map predicts the rewards, which features matter, and how sure that is.

        Parameters
        ----------
        key: of the learner to explain; the learner of an unknown key has learned nothing.
        top: how many features of every map.
        """
        constraints.whole_number("explain: top", top, 0)
        with self._guard:
            key = checked_key(key)
            return explanations.explain(self.policy, self._lanes.lane_or_next(key), key, self.maps, self._scale, top)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, replacing it atomically; ``banditselect.load`` continues bit-identically."""
        with self._guard:
            files.save(self, path)

    @property
    def settings(self) -> dict[str, Any]:
        """The maps, fitted as they are, and the name of the column of ids."""
        return {"maps": self.maps, "id": self.id}

    def learned(self) -> dict[str, Any]:
        """Return the rest of its state, as files have it."""
        items = [list(self._items), [dict(row) for row in self._catalogue.rows()]]
        own = {"lanes": self._lanes.learned(), "scale": self._scale.learned(), "items": items}
        return {"policy": self.policy} | own

    @classmethod
    def restored(cls, settings: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """Return the agent of a file; parts that do not fit together are refused by name."""
        agent, maps, policy, id = cls.__new__(cls), _named(settings["maps"]), learned["policy"], settings["id"]
        if not isinstance(id, str):
            raise errors.refuse("id", id, "the name of a column")
        if policy.lanes is None or not takes(policy, maps.values()):
            raise ValueError(f"maps: other ones than {type(policy).__name__} in this file takes")
        agent._hold(maps, policy, id)
        agent._lanes.restore(learned["lanes"])
        agent._scale.restore(learned["scale"])
        names, rows = learned["items"]
        known = all(isinstance(name, str | int) for name in names) and all(isinstance(row, dict) for row in rows)
        if not known or len(set(names)) != len(rows):
            raise errors.refuse("items", names, f"different ids of {len(rows)} records")
        agent._keep(dict(zip(names, rows, strict=True)), id)
        return agent

    def fork(self, worker: int | str) -> Self:
        """Return a copy that decides for this agent in another process, as :meth:`Policy.fork` does.

        Decisions of a copy are learned by key: a customer of the copy alone gets a learner here with the first
        reward. A copy picks up new learning with ``load(path, worker=...)``. Keys are retired in the original.

        Parameters
        ----------
        worker: a whole number or a name, another one for every process.
        """
        if isinstance(worker, Agent):
            raise errors.refuse("worker", worker, "a whole number or a name")
        twin = copy.deepcopy(self)
        twin.policy = self.policy.fork(worker)
        twin._lanes._policy = twin.policy
        return twin

    # Inside.

    def _offered(self, items: Any) -> tuple[Records, list[Any] | None]:
        """Return the records of items, and their ids where they were offered by these."""
        listed = isinstance(items, Sequence | np.ndarray) and not isinstance(items, str | bytes) and len(items) > 0
        ids = [_plain(id) for id in items] if listed and not isinstance(items[0], Mapping) else []
        names: list[Any] | None = None
        if items is None:
            rows, names = self._catalogue, list(self._items)
        elif ids and all(isinstance(id, str | int) for id in ids):
            unknown = next((id for id in ids if id not in self._items), None)
            if unknown is not None:
                raise errors.refuse("items", unknown, "ids of items that were registered (Agent.register), or records")
            rows, names = self._catalogue.take([self._items[id] for id in ids]), ids
        else:
            rows = Records.of(items, "items")
        if not len(rows):
            expected = "at least one item" if self._items else "at least one item, or items that were registered"
            raise errors.refuse("items", items, expected)
        return rows, names

    def _features(self, context: Any, rows: Records, *, observe: bool = False) -> list[Array | Blocked]:
        """Return the features of items in every map; ``observe``: maps that are scaled online see them before."""
        context = Records.one(context)
        self._unread.check(self.maps, context, rows, self.id)
        for part in self.maps.values() if observe else ():
            part.observe(context, rows)
        return [part.features(context, rows) for part in self.maps.values()]

    def _own(self, decision: AgentDecision) -> Any:
        """Return the decision of the policy, in the lane that its key has here."""
        if self._is_retired(decision):
            expected = "a decision of a key that was not retired since"
            raise errors.refuse("decision", f"{decision.item!r} for key {decision.key!r}", expected)
        inside = decision.decision
        if inside.worker == self.policy._acts.worker or inside.lineage != self.policy._lineage:
            return inside
        return inside._replace(lanes=np.array([self._lanes.assign(checked_key(decision.key))]))

    def _is_retired(self, decision: AgentDecision) -> bool:
        """Return whether this agent decided it for a learner that was retired since."""
        if not isinstance(decision, AgentDecision) or not serves_one(decision.decision):
            raise errors.refuse("decision", decision, "the result of Agent.act")
        inside = decision.decision
        mine = inside.worker == self.policy._acts.worker and inside.lineage == self.policy._lineage
        return mine and [self._lanes.lane_of.get(decision.key)] != list(inside.lanes)  # type: ignore[arg-type]


def _named(maps: Any, taken: Collection[str] = ()) -> dict[str, FeatureMap]:
    """Return maps by name; those of a list are named by position and class, numbered behind those ``taken``."""
    if isinstance(maps, FeatureMap):
        maps = [maps]
    if isinstance(maps, Mapping):
        named = dict(maps)
    elif isinstance(maps, list | tuple):
        named = {}
        for part in maps:
            number = len(taken) + len(named)
            while (name := f"{number}: {type(part).__name__}") in taken or name in named:
                number += 1
            named[name] = part
    else:
        named = {}
    if not named:
        raise errors.refuse("Agent: maps", maps, "one or more feature maps, a list or by name")
    for name, part in named.items():
        if not isinstance(name, str) or not isinstance(part, FeatureMap):
            raise errors.refuse(f"Agent: maps[{name!r}]", part, "a FeatureMap under a name")
        if not part.fitted:
            raise errors.refuse(f"Agent: maps[{name!r}]", part, "a fitted map: map.fit(contexts, items) returns it")
    return named


def _item(rows: Records, names: Sequence[Any] | None, id: str, action: int) -> Any:
    """Return the id of an item, its position where it has none."""
    name = names[action] if names is not None else _plain(rows.column(id)[action])
    return name if isinstance(name, str | int) else action


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name
