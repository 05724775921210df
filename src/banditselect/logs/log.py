"""Logged decisions as arrays: the features offered, the action played, its propensity, and its reward.

Every log is checked here, once, wherever it comes from: arrays, rounds of records, or the decisions of a policy.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import LIMIT
from ..maps import Records
from ..policies import Decision
from ..runtime import constraints, errors, inputs
from ..runtime.extras import need
from ..runtime.settings import read_only
from ..runtime.shapes import each, stacked, values_of
from ..types import Array, Blocked, Index, Mask
from .features import DenseFeatures, LogFeatures, mapped
from .rounds import Round, Rounds, columns_of


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Log:
    """T decisions with the features of all actions offered, the action played, its propensity, and its reward.

    Immutable. ``len(log)`` is T, and ``log[rows]`` the log of some decisions (a slice, or an array of positions).

    Parameters
    ----------
    features: of all actions of every decision, ``(T, K, d)`` or ``(T, M, K, d)`` for M maps, or a list of M arrays
        ``(T, K, d_i)``; a map with several blocks of parameters is a ``Blocked``, ``(T, K, d)`` and ``(T, K)``.
    action: the actions played, ``(T,)``, as positions among the K.
    propensity: the probability, in (0, 1], with which each was drawn when it was drawn, ``(T,)``; a number for all.
    reward: ``(T,)``.
    available: ``(T, K)``, False for actions that a decision did not offer; None where all offered K.

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
        found = features if isinstance(features, LogFeatures) else DenseFeatures(features)
        played, T, K = np.array(action), found.size, found.n_actions
        if played.dtype.kind not in "iu" or played.shape != (T,):
            raise errors.refuse("Log: action", action, f"whole numbers of shape ({T},)")
        _each((played >= 0) & (played < K), "action", played, f"an action between 0 and {K - 1}")
        if np.ndim(propensity) == 0:
            constraints.Number(low=0.0, above=True, high=1.0).check("Log: propensity", propensity, None)
            propensity = np.full(T, propensity)
        p, y = (_numbers(name, value, T) for name, value in (("propensity", propensity), ("reward", reward)))
        _each((p > 0.0) & (p <= 1.0), "propensity", p, "a probability in (0, 1]")
        _each(np.abs(y) <= LIMIT, "reward", y, "a finite number")
        mask = found.available
        if available is not None:
            mask = inputs.offered(np.array(available), T, K)
            mask = mask if found.available is None else mask & found.available
        if mask is not None:
            _each(mask[np.arange(T), played], "action", played, "an action that was offered")
            mask = None if mask.all() else read_only(mask)
        action = read_only(played.astype(np.int64))
        vars(self).update(features=found, action=action, propensity=p, reward=y, available=mask)

    @classmethod
    def from_rounds(cls, rounds: Iterable[Round], maps: Any) -> Self:
        """Return rounds of records as a log whose features are made by maps.

        Records and what encoders make of them are kept; the features of all actions are formed when they are needed,
        some decisions at a time.

        Parameters
        ----------
        rounds: as ``read_decisions`` and other readers return them, or any rounds.
        maps: a feature map, or M of them (a list, or a dict with their names). One that is not fitted is fitted to the
            contexts and items of the log; ``maps.Disjoint`` gives blocks to items that have none. Text in a column that
            a map reads as numbers is refused; missing values count as they do for an agent.

        Examples
        --------
        >>> from banditselect import maps
        >>> items = [{"price": 2.0}, {"price": 4.0}]
        >>> rounds = [Round({"age": 30}, items, 0, 1.0, 0.5), Round({"age": 40}, items, 1, 0.0, 0.5)]
        >>> age, price = maps.Numbers("age", scale=None), maps.Numbers("price", scale=None)
        >>> log = Log.from_rounds(rounds, maps.Outer(context=age, items=price))
        >>> log.offers(1)
        array([[ 40.,   2.,  80.],
               [ 40.,   4., 160.]])
        """
        columns = rounds.columns() if isinstance(rounds, Rounds) else columns_of(rounds)
        if not len(columns.action):
            raise errors.refuse("Log.from_rounds: rounds", "no round", "at least one")
        contexts, items = (_records(part, len(columns.action)) for part in (columns.contexts, columns.items))
        return cls(
            features=mapped(maps, contexts, items, columns.offered),
            action=columns.action,
            propensity=columns.probability,
            reward=columns.reward,
        )

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
        blocks: list[DenseFeatures] = []
        masks: list[Mask] = []
        for t, (x, decision) in enumerate(zip(features, decisions, strict=True)):
            if not isinstance(decision, Decision) or decision.probability is None:
                raise errors.refuse(f"Log.collect: decisions[{t}]", decision, "a decision with a probability")
            block, n = DenseFeatures(_one_more_axis(x) if decision.lanes is None else x), np.size(decision.action)
            widths = [values_of(m).shape[2] for m in block.features]
            if block.size != n or widths != [values_of(m).shape[2] for m in (blocks or [block])[0].features]:
                raise errors.refuse(f"Log.collect: features[{t}]", x, "what act was given, as at other times")
            if not _holds(block, decision):
                expected = f"what act was given: action {decision.action} does not have the features of decisions[{t}]"
                raise errors.refuse(f"Log.collect: features[{t}]", x, expected)
            mask = np.ones(block.n_actions, dtype=bool) if available is None or available[t] is None else available[t]
            masks.append(inputs.offered(mask, n, block.n_actions))
            blocks.append(block)
        K = max(block.n_actions for block in blocks)
        joined = [_joined(parts, K) for parts in zip(*(block.features for block in blocks), strict=True)]
        return cls(
            features=joined if blocks[0].many else joined[0],
            action=np.concatenate([np.atleast_1d(d.action) for d in decisions]),
            propensity=np.concatenate([np.atleast_1d(d.probability) for d in decisions]),
            reward=np.concatenate([np.atleast_1d(y) for y in rewards]),
            available=_joined(masks, K),
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.parquet`` or ``.csv`` file with one row per action offered, for :func:`read_offers`.

        The features are in the column ``features``, as lists; those of M maps in ``features_0``, ``features_1``, ...
        """
        suffix = Path(path).suffix.lower()
        if suffix not in (".parquet", ".csv"):
            raise errors.refuse("Log.write: path", path, "a file that ends in .parquet or .csv")
        row, position = np.nonzero(self.offered)
        chosen = position == self.action[row]
        content: dict[str, Any] = {
            "decision": row,
            "chosen": chosen,
            "propensity": np.where(chosen, self.propensity[row], np.nan),
            "reward": np.where(chosen, self.reward[row], np.nan),
        }
        for i, m in enumerate(self.features.maps(np.arange(len(self)))):
            content[f"features_{i}" if self.features.many else "features"] = m[self.offered].tolist()
        table = need("pandas", "experiments").DataFrame(content)
        (table.to_parquet if suffix == ".parquet" else table.to_csv)(path, index=False)

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
        """The actions that every decision offered, ``(T, K)``: ``available``, or all True where that is None."""
        whole = np.broadcast_to(np.True_, (len(self), self.features.n_actions))
        return whole if self.available is None else self.available

    def offers(self, t: int) -> Any:
        """Return the features of the actions that decision t offered: ``(K_t, d)``, ``(M, K_t, d)``, or a list."""
        return self.part(self.features.maps(np.array([t])), 0, self.offered[t])

    def played(self, t: int) -> Any:
        """Return the features of the action that decision t played, as ``Policy.learn`` takes them."""
        return self.part(self.features.shown(np.array([t])), 0, self.action[t])

    def part(self, maps: Sequence[Any], i: int, actions: Any) -> Any:
        """Return the features of some actions of the i-th decision of some, in the form that policies take."""
        return stacked([each(m, lambda array: array[i, actions]) for m in maps], self.features.many, axis=0)

    def __repr__(self) -> str:
        dims = self.features.dims
        width = f"{len(dims)} maps of {'/'.join(map(str, dict.fromkeys(dims)))}" if self.features.many else f"{dims[0]}"
        return f"Log({len(self)} decisions, at most {self.features.n_actions} actions, {width} features)"


def chunks(log: Log, step: int = 1) -> list[Index]:
    """Return the positions of every ``step``-th decision, cut where more features would not fit well into memory."""
    size = max(1, 4_000_000 // (log.features.n_actions * sum(log.features.dims)))
    rows = np.arange(0, len(log), step)
    return np.split(rows, range(size, len(rows), size))


def _records(part: Any, n: int) -> Records:
    """Return columns, or a list of records, as records; n empty ones where there are no columns."""
    columns = isinstance(part, Mapping)
    return Records(need("pandas", "experiments").DataFrame(part) if columns and part else [{}] * n if columns else part)


def _each(good: Mask, name: str, values: Any, expected: str) -> None:
    for t in np.flatnonzero(~good)[:1]:
        raise errors.refuse(f"Log: {name}[{t}]", values[t].item(), expected)


def _numbers(name: str, value: Any, T: int) -> Array:
    array = read_only(inputs.as_floats(f"Log: {name}", value, f"numbers of shape ({T},)"))
    if array.shape != (T,):
        raise errors.refuse(f"Log: {name}", value, f"numbers of shape ({T},)")
    return array


def _holds(block: DenseFeatures, decision: Decision) -> bool:
    """Return whether the actions played have the features that the decision carries."""
    action = np.atleast_1d(decision.action)
    carried = decision.features.reshape(action.size, -1, decision.features.shape[-1])
    if action.max() >= block.n_actions or carried.shape[1] != len(block.features):
        return False
    rows = np.arange(action.size)
    for i, m in enumerate(block.shown(rows)):
        x = values_of(m)[rows, action]
        alike = np.array_equal(x, carried[:, i, : x.shape[1]])
        if not alike or (isinstance(m, Blocked) and not np.array_equal(m.block[rows, action], carried[:, i, -1])):
            return False
    return True


def _one_more_axis(x: Any) -> Any:
    """Return the features that a policy without lanes was given with an axis of decisions."""
    if isinstance(x, list | tuple) and not isinstance(x, Blocked) and (isinstance(x[0], Blocked) or np.ndim(x[0]) == 2):
        return [_one_more_axis(m) for m in x]
    return each(x, lambda part: np.asarray(part)[None])


def _joined(parts: Sequence[Any], K: int) -> Any:
    """Return what several decisions offered in one map, one behind the other, with K actions each, filled up with 0."""
    if isinstance(parts[0], Blocked):
        return Blocked(*(_joined(arrays, K) for arrays in zip(*parts, strict=True)))
    widths = [[(0, 0), (0, K - part.shape[1])] + [(0, 0)] * (part.ndim - 2) for part in parts]
    return np.concatenate([np.pad(part, width) for part, width in zip(parts, widths, strict=True)])
