"""Logged decisions as a value: what was offered, what was played, with which probability, and what it earned.

Whatever judges a policy by past decisions takes a :class:`Log`, and every log is checked here, once, wherever it comes
from: arrays, tables, or the decisions of a policy.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import LIMIT
from ..policies import Decision
from ..problems.base import stacked
from ..runtime import constraints, errors, inputs
from ..runtime.settings import read_only
from ..types import Array, Blocked, Index, Mask
from . import tables
from .features import LogFeatures, PerDecision, fill, part_of

Where = Callable[[str, int], str]
"""How to name entry t of an argument in a message."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Log:
    r"""T decisions with all that was offered, what was played, its propensity, and its reward. Immutable.

    Parameters
    ----------
    features: of all actions of every decision, ``(T, K, d)`` or ``(T, M, K, d)`` for M maps, or a list of M arrays
        ``(T, K, d_i)``; or an :class:`OfferedItems`, :class:`CrossedItems` or :class:`DisjointArms`, which form them
        when they are needed.
    action: the actions played, ``(T,)``, as positions among the K.
    propensity: the probability, in (0, 1], with which each was drawn when it was drawn, ``(T,)``; a number for all.
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
            raise errors.refuse("Log: action", action, f"whole numbers of shape ({T or 'T'},)")
        _each((played >= 0) & (played < K), "action", played, where, f"an action between 0 and {K - 1}")
        if np.ndim(propensity) == 0:
            constraints.Number(low=0.0, above=True, high=1.0).check("Log: propensity", propensity, None)
            propensity = np.full(T, propensity)
        p, y = (_numbers(name, value, T) for name, value in (("propensity", propensity), ("reward", reward)))
        _each((p > 0.0) & (p <= 1.0), "propensity", p, where, "a probability in (0, 1]")
        _each(np.abs(y) <= LIMIT, "reward", y, where, "a finite number")
        mask = found.available
        if available is not None:
            mask = inputs.offered(np.array(available), T, K)
            mask = mask if found.available is None else mask & found.available
        if mask is not None:
            _each(mask[np.arange(T), played], "action", played, where, "an action that was offered")
            mask = None if mask.all() else read_only(mask)
        fill(self, features=found, action=read_only(played.astype(np.int64)), propensity=p, reward=y, available=mask)

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        context: Sequence[str] | Sequence[Sequence[str]] | None = None,
        items: Any = None,
        actions: Sequence[Any] | None = None,
        offered: str | None = None,
        action: str = "action",
        propensity: str | float = "propensity",
        reward: str = "reward",
    ) -> Self:
        """Read a table with one row per decision; ``context``, ``items``, or both make the features.

        Parameters
        ----------
        source: a ``.parquet`` or ``.csv`` file, or a DataFrame (pandas, polars, pyarrow).
        context: columns of numbers, or of lists of numbers: the context x (p numbers in all). Without ``items`` the
            features of action a are x in the block of a, see :class:`DisjointArms`; with them, all products of a number
            of the context and one of the item, see :class:`CrossedItems`. For M maps, M lists of columns.
        items: from the id of an action to its features: ``(d,)``, ``(M, d)``, or a list of M vectors ``(d_i,)``; or a
            DataFrame of numbers with the ids as its index; or a list of M such tables, one for every map. Where
            ``context`` has M maps too, the i-th is crossed with the i-th; one map of either serves all of the other.
        actions: without ``items``, the ids of all actions in the order of their blocks; those in the table, sorted, by
            default. With ``items`` the order is theirs.
        offered: a column with the list of the ids that could have been played; None: all of them, in every row. With
            ``items`` the actions of a decision are counted in the order of its list.
        action, propensity, reward: the columns with the id of what was played, its probability, what it earned. A
            number in the place of a propensity is that of all.
        """
        columns = {"action": action, "propensity": propensity, "reward": reward}
        return cls._of(tables.decisions(source, context, items, actions, offered, columns))

    @classmethod
    def read_offers(
        cls,
        source: Any,
        *,
        features: Sequence[str] | Sequence[Sequence[str]] = ("features",),
        decision: str = "decision",
        chosen: str = "chosen",
        propensity: str | float = "propensity",
        reward: str = "reward",
    ) -> Self:
        """Read a table with one row per action offered.

        Decisions keep the order in which they first appear, and actions the order of their rows; decisions may offer
        different numbers of actions.

        Parameters
        ----------
        source: a ``.parquet`` or ``.csv`` file, or a DataFrame (pandas, polars, pyarrow).
        features: columns of numbers, or of lists of numbers; for M maps, M lists of columns.
        decision: the column that says which rows belong together.
        chosen: the column that is true (or 1) in the row of the action played, once for every decision.
        propensity, reward: columns that are read in the rows of what was played only; a number is the propensity of
            all.
        """
        columns = {"decision": decision, "chosen": chosen, "propensity": propensity, "reward": reward}
        return cls._of(tables.offers(source, features, columns))

    @classmethod
    def _of(cls, arguments: dict[str, Any]) -> Self:
        log = cls.__new__(cls)
        log._fill(**arguments)
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
            raise errors.refuse("Log.collect: features, decisions, rewards", given, "the same number, at least one")
        blocks: list[PerDecision] = []
        masks: list[Mask] = []
        for t, (x, decision) in enumerate(zip(features, decisions, strict=True)):
            if not isinstance(decision, Decision) or decision.probability is None:
                raise errors.refuse(f"Log.collect: decisions[{t}]", decision, "a decision with a probability")
            block = PerDecision(_one_more_axis(x) if decision.lanes is None else x)
            n, widths = np.size(decision.action), [m.shape[2] for m in block.features]
            if block.size != n or (blocks and widths != [m.shape[2] for m in blocks[0].features]):
                raise errors.refuse(f"Log.collect: features[{t}]", x, "what act was given, as at other times")
            if not _holds(block, decision):
                expected = f"what act was given: action {decision.action} does not have the features of decisions[{t}]"
                raise errors.refuse(f"Log.collect: features[{t}]", x, expected)
            mask = None if available is None else available[t]
            everything = np.ones(block.n_actions, dtype=bool)
            masks.append(inputs.offered(everything if mask is None else mask, n, block.n_actions))
            blocks.append(block)
        K = max(block.n_actions for block in blocks)
        of_all = zip(*(block.shown(np.arange(block.size or 0)) for block in blocks), strict=True)
        joined = [_joined(maps, K) for maps in of_all]
        return cls(
            features=joined if blocks[0].many else joined[0],
            action=np.concatenate([np.atleast_1d(d.action) for d in decisions]),
            propensity=np.concatenate([np.atleast_1d(d.probability) for d in decisions]),
            reward=np.concatenate([np.atleast_1d(y) for y in rewards]),
            available=np.concatenate([_wider(mask, K) for mask in masks]),
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.parquet`` or ``.csv`` file with one row per action offered, for :meth:`read_offers`.

        The features are in the column ``features``, as lists; those of M maps in ``features_0``, ``features_1``, ...
        """
        tables.write(self, path)

    def __len__(self) -> int:
        return self.action.size

    def __getitem__(self, rows: slice | ArrayLike) -> "Log":
        chosen: Index = np.arange(len(self))[rows if isinstance(rows, slice) else np.asarray(rows)]
        if chosen.ndim != 1 or not chosen.size:
            raise errors.refuse("Log: rows", rows, "a slice or an array of positions that holds at least one")
        columns = {name: getattr(self, name)[chosen] for name in ("action", "propensity", "reward")}
        available = None if self.available is None else self.available[chosen]
        return Log(features=self.features.take(chosen), **columns, available=available)

    @property
    def offered(self) -> Mask:
        """Which actions every decision offered, ``(T, K)``: ``available``, written out where that is None."""
        return np.ones((len(self), self.features.n_actions), dtype=bool) if self.available is None else self.available

    def offers(self, t: int) -> Any:
        """Return the features of the actions that decision t offered: ``(K_t, d)``, ``(M, K_t, d)``, or a list."""
        maps = self.features.maps(np.array([t]))
        if self.available is not None:
            maps = [m[:, self.available[t]] for m in maps]
        return stacked([m[0] for m in maps], self.features.many, axis=0)

    def played(self, t: int) -> Any:
        """Return the features of the action that decision t played, as ``Policy.learn`` takes them."""
        maps = [part_of(m, (0, self.action[t])) for m in self.features.shown(np.array([t]))]
        return stacked(maps, self.features.many, axis=0)

    def __repr__(self) -> str:
        dims = self.features.dims
        width = f"{len(dims)} maps of {'/'.join(map(str, dict.fromkeys(dims)))}" if self.features.many else f"{dims[0]}"
        return f"Log({len(self)} decisions, at most {self.features.n_actions} actions, {width} features)"


def chunks(log: Log, step: int = 1) -> list[Index]:
    """Return the positions of every ``step``-th decision, cut where more features would not fit well into memory."""
    size = max(1, 4_000_000 // (log.features.n_actions * sum(log.features.dims)))
    rows = np.arange(0, len(log), step)
    return np.split(rows, range(size, len(rows), size))


def _each(good: Mask, name: str, values: Any, where: Where, expected: str) -> None:
    for t in np.flatnonzero(~good)[:1]:
        raise errors.refuse(where(name, int(t)), values[t].item(), expected)


def _numbers(name: str, value: Any, T: int) -> Array:
    array = read_only(inputs.as_floats(f"Log: {name}", value, f"numbers of shape ({T},)"))
    if array.shape != (T,):
        raise errors.refuse(f"Log: {name}", value, f"numbers of shape ({T},)")
    return array


def _holds(block: PerDecision, decision: Decision) -> bool:
    """Tell whether the actions played have the features that the decision carries."""
    action = np.atleast_1d(decision.action)
    if action.max() >= block.n_actions:
        return False
    carried = decision.features.reshape(action.size, -1, decision.features.shape[-1])
    if carried.shape[1] != len(block.features):
        return False
    rows = np.arange(action.size)
    for i, m in enumerate(block.shown(rows)):
        x, *of = (part[rows, action] for part in (m if isinstance(m, Blocked) else (m,)))
        if not np.array_equal(x, carried[:, i, : x.shape[1]]) or not all(
            np.array_equal(b, carried[:, i, -1]) for b in of
        ):
            return False
    return True


def _one_more_axis(x: Any) -> Any:
    """Return the features that a policy without lanes was given with an axis of decisions."""
    if isinstance(x, Blocked):
        return Blocked(np.asarray(x.values)[None], np.asarray(x.block)[None])
    if isinstance(x, list | tuple) and (isinstance(x[0], Blocked) or np.ndim(x[0]) == 2):
        return [_one_more_axis(m) for m in x]
    return np.asarray(x)[None]


def _joined(maps: Sequence[Any], K: int) -> Any:
    """Return what several decisions offered in one map, one behind the other, with K actions each."""
    if isinstance(maps[0], Blocked):
        return Blocked(*(np.concatenate([_wider(part, K) for part in parts]) for parts in zip(*maps, strict=True)))
    return np.concatenate([_wider(m, K) for m in maps])


def _wider(block: Any, K: int) -> Any:
    """Pad the axis of actions, the second, with zeros."""
    return np.pad(block, [(0, 0), (0, K - block.shape[1])] + [(0, 0)] * (block.ndim - 2))
