"""Logged decisions: what was offered, what was played, with which probability, and what it earned; and their replay."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers import validation
from ..kernels.arrays import LIMIT
from ..policies import Decision
from ..problems.base import Instances, Problem
from ..types import Array, Index, Mask
from . import tables as log_tables
from .features import LogFeatures, PerDecision, frozen

Where = Callable[[str, int], str]
"""How to name entry t of an argument in a message."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Log:
    r"""T decisions with all that was offered, what was played, its propensity, and its reward. Immutable.

    Parameters
    ----------
    features: of all actions of every decision, ``(T, K, d)`` or ``(T, M, K, d)`` for M maps, or a list of M arrays
        ``(T, K, d_i)``; or a :class:`Catalogue` or :class:`DisjointArms`, which form them when they are needed.
    action: the actions played, ``(T,)``, as positions among the K.
    propensity: the probability, in (0, 1], with which each was drawn when it was drawn, ``(T,)``.
    reward: ``(T,)``.
    available: ``(T, K)``, False for actions that a decision did not offer; None where all offered K.

    Notes
    -----
    :meth:`read` and :meth:`read_offers` take tables, :meth:`collect` takes the decisions of a policy. ``len(log)`` is
    T, and ``log[rows]`` the log of some decisions (a slice, or an array of positions).

    Examples
    --------
    >>> import numpy as np
    >>> log = Log(features=np.ones((4, 2, 3)), action=[0, 1, 1, 0], propensity=[0.5] * 4, reward=[1.0, 0.0, 2.0, 1.0])
    >>> log
    Log(4 decisions, at most 2 actions, 3 features)
    >>> log[2:].reward
    array([2., 1.])
    """

    features: LogFeatures
    action: Index
    propensity: Array
    reward: Array
    available: Mask | None

    def __init__(
        self,
        *,
        features: Any,
        action: ArrayLike,
        propensity: ArrayLike,
        reward: ArrayLike,
        available: ArrayLike | None = None,
    ) -> None:
        self._fill(features, action, propensity, reward, available, lambda name, t: f"Log: {name}[{t}]")

    def _fill(self, features: Any, action: Any, propensity: Any, reward: Any, available: Any, where: Where) -> None:
        found = features if isinstance(features, LogFeatures) else PerDecision(features)
        played = np.array(action)
        T, K = played.size if found.size is None else found.size, found.n_actions
        if played.dtype.kind not in "iu" or played.shape != (T,) or not T:
            raise validation.refuse("Log: action", action, f"whole numbers of shape ({T or 'T'},)")
        _each((played >= 0) & (played < K), "action", played, where, f"an action between 0 and {K - 1}")
        p, y = (_numbers(name, value, T) for name, value in (("propensity", propensity), ("reward", reward)))
        _each((p > 0.0) & (p <= 1.0), "propensity", p, where, "a probability in (0, 1]")
        _each(np.abs(y) <= LIMIT, "reward", y, where, "a finite number")
        mask = found.available
        if available is not None:
            mask = validation.offered(np.array(available), T, K)
            mask = mask if found.available is None else mask & found.available
        if mask is not None:
            _each(mask[np.arange(T), played], "action", played, where, "an action that was offered")
            mask = None if mask.all() else frozen(mask)
        values = {"features": found, "action": frozen(played.astype(np.int64)), "available": mask}
        for name, value in (values | {"propensity": frozen(p), "reward": frozen(y)}).items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        context: Sequence[str] | None = None,
        items: Mapping[Any, Any] | None = None,
        actions: Sequence[Any] | None = None,
        offered: str | None = None,
        action: str = "action",
        propensity: str = "propensity",
        reward: str = "reward",
    ) -> Self:
        """Read a table with one row per decision; give ``context`` or ``items``, which make the features.

        Parameters
        ----------
        source: a ``.parquet`` or ``.csv`` file, or a pandas DataFrame.
        context: columns of numbers, or of lists of numbers: the context x (p numbers in all). The features of action a
            are x in the block of a, see :class:`DisjointArms`.
        items: from the id of an action to its features: ``(d,)``, ``(M, d)``, or a list of M vectors ``(d_i,)``.
        actions: with ``context``, the ids of all actions in the order of their blocks; those in the table, sorted, by
            default. With ``items`` the order is theirs.
        offered: a column with the list of the ids that could have been played; None: all of them, in every row. With
            ``items`` the actions of a decision are counted in the order of its list.
        action, propensity, reward: the columns with the id of what was played, its probability, what it earned.
        """
        arguments = log_tables.decisions(
            source,
            context=context,
            items=items,
            actions=actions,
            offered=offered,
            columns={"action": action, "propensity": propensity, "reward": reward},
        )
        log = cls.__new__(cls)
        log._fill(**arguments)
        return log

    @classmethod
    def read_offers(
        cls,
        source: Any,
        *,
        features: Sequence[str] | Sequence[Sequence[str]] = ("features",),
        decision: str = "decision",
        chosen: str = "chosen",
        propensity: str = "propensity",
        reward: str = "reward",
    ) -> Self:
        """Read a table with one row per action offered.

        Decisions keep the order in which they first appear, and actions the order of their rows; decisions may offer
        different numbers of actions.

        Parameters
        ----------
        source: a ``.parquet`` or ``.csv`` file, or a pandas DataFrame.
        features: columns of numbers, or of lists of numbers; for M maps, M lists of columns.
        decision: the column that says which rows belong together.
        chosen: the column that is true (or 1) in the row of the action played, once for every decision.
        propensity, reward: columns that are read in the rows of what was played only.
        """
        columns = {"decision": decision, "chosen": chosen, "propensity": propensity, "reward": reward}
        log = cls.__new__(cls)
        log._fill(**log_tables.offers(source, features=features, columns=columns))
        return log

    @classmethod
    def collect(
        cls,
        features: Sequence[Any],
        decisions: Sequence[Decision],
        rewards: Sequence[Any],
        *,
        available: Sequence[Any] | None = None,
    ) -> Self:
        """Return the log of a policy's own decisions: for each, the features it was given, and its reward.

        Decisions may offer different numbers of actions; one with lanes counts as a decision of each lane served.

        Examples
        --------
        >>> import numpy as np
        >>> from banditselect import SquareCB
        >>> policy, offers = SquareCB(dim=3), [np.eye(3), np.eye(3)[:2]]
        >>> Log.collect(offers, [policy.act(x) for x in offers], [1.0, 0.0])
        Log(2 decisions, at most 3 actions, 3 features)
        """
        if not len(features) == len(decisions) == len(rewards) > 0:
            given = f"{len(features)}, {len(decisions)}, {len(rewards)}"
            raise validation.refuse("Log.collect: features, decisions, rewards", given, "the same number, at least one")
        blocks: list[tuple[tuple[Any, ...], bool, Mask]] = []
        for t, (x, decision) in enumerate(zip(features, decisions, strict=True)):
            if not isinstance(decision, Decision) or decision.probability is None:
                raise validation.refuse(f"Log.collect: decisions[{t}]", decision, "a decision with a probability")
            one = decision.lanes is None
            maps = [np.asarray(m)[None] for m in x] if one and isinstance(x, list | tuple) and np.ndim(x[0]) == 2 else x
            block = PerDecision(np.asarray(maps)[None] if one and maps is x else maps)
            n = np.size(decision.action)
            if block.size != n or (blocks and [m.shape[2:] for m in blocks[0][0]] != [(d,) for d in block.dims]):
                raise validation.refuse(f"Log.collect: features[{t}]", x, "what act was given, as at other times")
            mask = None if available is None else available[t]
            offered = np.ones((n, block.n_actions), dtype=bool)
            if mask is not None:
                offered &= validation.offered(mask, n, block.n_actions)
            blocks.append((block.features, block.many, offered))
        K = max(offered.shape[1] for _, _, offered in blocks)
        joined = [np.concatenate([_wider(maps[i], K) for maps, _, _ in blocks]) for i in range(len(blocks[0][0]))]
        return cls(
            features=joined if blocks[0][1] else joined[0],
            action=np.concatenate([np.atleast_1d(d.action) for d in decisions]),
            propensity=np.concatenate([np.atleast_1d(d.probability) for d in decisions]),
            reward=np.concatenate([np.atleast_1d(y) for y in rewards]),
            available=np.concatenate([_wider(offered, K) for _, _, offered in blocks]),
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.parquet`` or ``.csv`` file with one row per action offered, for :meth:`read_offers`.

        The features are in the column ``features``, as lists; those of M maps in ``features_0``, ``features_1``, ...
        """
        log_tables.write(self, path)

    def __len__(self) -> int:
        return self.action.size

    def __getitem__(self, rows: slice | ArrayLike) -> "Log":
        chosen: Index = np.arange(len(self))[rows if isinstance(rows, slice) else np.asarray(rows)]
        if chosen.ndim != 1 or not chosen.size:
            raise validation.refuse("Log: rows", rows, "a slice or an array of positions that holds at least one")
        return Log(
            features=self.features.take(chosen),
            action=self.action[chosen],
            propensity=self.propensity[chosen],
            reward=self.reward[chosen],
            available=None if self.available is None else self.available[chosen],
        )

    def offers(self, t: int) -> Any:
        """Return the features of the actions that decision t offered: ``(K_t, d)``, ``(M, K_t, d)``, or a list."""
        maps = self.features.maps(np.array([t]))
        if self.available is not None:
            maps = [m[:, self.available[t]] for m in maps]
        return one_or_many([m[0] for m in maps], self.features.many, axis=0)

    def played(self, t: int) -> Any:
        """Return the features of the action that decision t played, as ``Policy.learn`` takes them."""
        maps = self.features.maps(np.array([t]))
        return one_or_many([m[0, self.action[t]] for m in maps], self.features.many, axis=0)

    def __repr__(self) -> str:
        dims = self.features.dims
        width = f"{len(dims)} maps of {'/'.join(map(str, dict.fromkeys(dims)))}" if self.features.many else f"{dims[0]}"
        return f"Log({len(self)} decisions, at most {self.features.n_actions} actions, {width} features)"


class LoggedReplay(Problem):
    r"""A log as a problem: the logged reward is observed where a policy plays what was logged, and nothing elsewhere.

    Every lane meets the decisions of the log in a random order of its own, without replacement. With :math:`p_t` the
    logged propensity and :math:`c` the ``floor``, the reward of decision t is observed if the action is the logged one
    and a coin drawn beforehand, of probability :math:`\min(1, c / p_t)`, says so; else it is NaN and nothing is learned
    from the round. If c is at most the smallest propensity, then, whatever action is played, its reward is observed
    with probability c: the rounds that are observed are a fair sample, as if actions had been logged uniformly.

    Parameters
    ----------
    log: the decisions; an action that was not offered may not be played.
    floor: c, the share of rounds that is observed; the smallest propensity of the log by default. A larger one observes
        more, and favours actions whose propensity is at least c.

    Notes
    -----
    Exact for a log whose decisions are independent, that is, of a policy that did not learn meanwhile. Lanes share the
    log: their spread says how much the order and the coins matter, not how uncertain the log is. Constants:
    reward_range (smallest and largest reward of the log), noise = half of it, reward_bound, feature_bound.

    References
    ----------
    Li, Chu, Langford, Wang, "Unbiased offline evaluation of contextual-bandit-based news article recommendation
    algorithms", WSDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> log = Log(features=np.ones((4, 2, 3)), action=[0, 1, 1, 0], propensity=[0.5] * 4, reward=[1.0, 0.0, 2.0, 1.0])
    >>> instances = LoggedReplay(log=log).draw(range(1), 4, seed=0)
    >>> np.array([instances.rewards(t, np.array([1])) for t in range(4)]).ravel()
    array([ 2., nan,  0., nan])
    """

    def __init__(self, *, log: Log, floor: float | None = None) -> None:
        if not isinstance(log, Log):
            raise validation.refuse("LoggedReplay: log", log, "a Log")
        validation.Number(low=0.0, above=True, high=1.0, optional=True).check("LoggedReplay: floor", floor, None)
        self.log, self.floor = log, floor
        low, high = float(log.reward.min()), float(log.reward.max())
        half = 0.5 * (high - low) or 0.5
        rows = np.arange(len(log))
        longest = max(
            float(np.linalg.norm(m, axis=2).max()) for part in chunks(log) for m in log.features.maps(rows[part])
        )
        self._constants = {
            "reward_range": (low, high) if low < high else (low - half, low + half),
            "noise": half,
            "reward_bound": float(np.abs(log.reward).max()),
            "feature_bound": longest,
        }

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        dims = self.log.features.dims
        if not self.log.features.many:
            return {"dim": dims[0]}
        return {"n_models": len(dims), "dim": dims[0] if len(set(dims)) == 1 else list(dims)}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 9 * rounds + 8 * self.log.features.n_actions * sum(self.log.features.dims)

    def draw(self, lanes: range, rounds: int, seed: int) -> "_Replay":
        """Draw an order and coins for every lane."""
        if rounds > len(self.log):
            raise validation.refuse("rounds", rounds, f"at most {len(self.log)}, the decisions of the log")
        return _Replay(self, lanes, rounds, seed)


class _Replay(Instances):
    def __init__(self, problem: LoggedReplay, lanes: range, rounds: int, seed: int) -> None:
        self.log, self.constants = problem.log, dict(problem._constants)
        propensity = self.log.propensity
        chance = (propensity.min() if problem.floor is None else problem.floor) / propensity
        self.order = np.empty((len(lanes), rounds), dtype=np.int64)
        self.coins = np.empty((len(lanes), rounds), dtype=bool)
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            self.order[n] = rng.permutation(len(self.log))[:rounds]
            self.coins[n] = rng.uniform(size=rounds) < chance[self.order[n]]

    def features(self, t: int) -> Any:
        """Return the features of the decisions that come t-th, ``(N, K, d)``, ``(N, M, K, d)`` or a list."""
        return one_or_many(self.log.features.maps(self.order[:, t]), self.log.features.many, axis=1)

    def available(self, t: int) -> NDArray[np.bool_] | None:
        """Return which actions were offered, ``(N, K)``."""
        return None if self.log.available is None else self.log.available[self.order[:, t]]

    def means(self, t: int) -> None:
        """Return None: nobody knows the means."""

    def rewards(self, t: int, action: Index) -> Array:
        """Return the logged rewards where the actions are the logged ones and the coins allow it, NaN elsewhere."""
        rows = self.order[:, t]
        return np.where((action == self.log.action[rows]) & self.coins[:, t], self.log.reward[rows], np.nan)


def one_or_many(maps: list[Array], many: bool, axis: int) -> Any:
    """Return features as policies take them: one map, maps of one width along an axis, or a list of maps."""
    if not many:
        return maps[0]
    return np.stack(maps, axis=axis) if len({m.shape[-1] for m in maps}) == 1 else maps


def chunks(log: Log) -> list[slice]:
    """Return slices of the log whose features fit well into memory."""
    size = max(1, 4_000_000 // (log.features.n_actions * sum(log.features.dims)))
    return [slice(first, first + size) for first in range(0, len(log), size)]


def _each(good: Mask, name: str, values: Any, where: Where, expected: str) -> None:
    bad = np.flatnonzero(~good)
    if bad.size:
        raise validation.refuse(where(name, int(bad[0])), values[bad[0]].item(), expected)


def _numbers(name: str, value: Any, T: int) -> Array:
    array = np.array(validation.as_floats(f"Log: {name}", value, f"numbers of shape ({T},)"))
    if array.shape != (T,):
        raise validation.refuse(f"Log: {name}", value, f"numbers of shape ({T},)")
    return array


def _wider(block: Any, K: int) -> Any:
    """Pad the axis of actions, the second, with zeros."""
    return np.pad(block, [(0, 0), (0, K - block.shape[1])] + [(0, 0)] * (block.ndim - 2))
