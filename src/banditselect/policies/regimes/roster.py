"""Models that come and go while a policy runs: feature maps, regions of the parameter."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...carriers import validation
from ...carriers.blocks import shape_of
from ...carriers.decisions import Decision
from ...carriers.lanes import Move, parts_of
from ...carriers.model_settings import appended, with_shares, without
from ...carriers.shapes import FeatureShape
from ...carriers.workers import Worker
from ...kernels.rounds import DONE
from ...parts.experts import RidgeBank
from ...parts.mixtures import MapsMixture
from ...types import Array, Blocked, Index
from ..base import Policy


class Weighing(Protocol):
    """What weighs the models of a policy; ``parts.joining`` says what the three do."""

    bank: RidgeBank

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the models when the last have come, with prior ``shares (k,)``, or some have gone."""

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when these rows have learned a reward that models ``asleep`` know nothing of."""


class Roster(Policy):
    """Has models that come and go."""

    def retire_models(self, which: int | Sequence[int]) -> None:
        """Take models away: what they weigh goes to the others in proportion, and all that they learned is dropped.

        The models that stay keep their order and move up, as in a list. All lanes change together. Decisions that wait
        for their rewards can still be learned.

        Parameters
        ----------
        which: the positions of the models that go; at least one model stays.
        """
        M = self._n
        expected = f"different positions between 0 and {M - 1}, not all of them"
        found = np.atleast_1d(np.asarray(which))
        right = found.dtype.kind in "iu" and found.ndim == 1 and 0 < found.size < M
        if not right or found.min() < 0 or found.max() >= M or np.unique(found).size < found.size:
            raise validation.refuse("retire_models: which", which, expected)
        self._free()
        kept = np.delete(np.arange(M), found)
        fresh = type(self)(**(self.settings | without(self.settings, kept) | self._fewer(kept)))
        with self._gate:
            self._carry(fresh, Move(kept, np.arange(kept.size), M, kept.size))
            self._become_as(fresh, kept)

    @property
    @abstractmethod
    def _n(self) -> int:
        """How many models there are."""

    @abstractmethod
    def _fewer(self, kept: Index) -> dict[str, Any]:
        """Return the settings that count models, for those ``kept``."""

    @abstractmethod
    def _carry(self, fresh: Any, move: Move) -> None:
        """Let a fresh policy of other models take over what this one has learned of those that ``move``."""

    def _free(self) -> None:
        """Refuse to change a list of models that others count on."""
        if self._owned:
            raise validation.refuse("models", type(self).__name__, "a policy that is not part of another")
        if self.settings.get("memory") is not None:
            expected = "None: models come and go where nothing is forgotten"
            raise validation.refuse(f"{type(self).__name__}: memory", self.settings["memory"], expected)

    def _become_as(self, fresh: Any, columns: Index) -> None:
        """Go on as a policy of other models, which have been the models ``columns`` so far, -1 for a new one."""
        own = {name: self.__dict__[name] for name in ("_ledger", "_lineage", "_worker", "_elsewhere", "_gate")}
        fresh.__dict__ |= own | {"_changes": self._changed(columns)}
        fresh._generation = len(fresh._changes)
        fresh._messages += self._messages
        fresh._root(self._channel)
        for name in [n for n in vars(self) if isinstance(getattr(type(self), n, None), functools.cached_property)]:
            del self.__dict__[name]  # it was found out of the models before
        self.__dict__ |= fresh.__dict__

    def _changed(self, columns: Index) -> list[Any]:
        """Return the changes that decisions have to be told of."""
        return list(self._changes)


class MapRoster(Roster):
    """Has feature maps that come and go.

    A decision that was handed out before a change carries the features of the maps of its time. It is learned by those
    that are still there; one that has come since sleeps: it learns nothing of that reward, which cost it what it cost
    the others. (To teach it too, ``forget`` the decision and ``learn`` its features in all maps with the reward.)
    """

    n_models: int
    dim: int | Sequence[int]
    blocks: int | Sequence[int]
    _partly: bool = True  #: whether a map can learn from some of the rewards alone

    def add_models(
        self,
        dim: int | Sequence[int],
        *,
        blocks: int | Sequence[int] = 1,
        prior_weights: ArrayLike | None = None,
        regularization: ArrayLike | None = None,
        replay: Any = None,
    ) -> None:
        """Add feature maps; they stand behind the others, and from now on features come for all.

        A new map has not seen the rewards so far. With all of them replayed, it is as if it had been there from the
        first. Else it begins with a share of the weights, and is taken to have predicted as the mixture did until now:
        from here on the mixture predicts as well as the new map but for log(1 / share). ``parts.joining`` says why.

        Parameters
        ----------
        dim: the width of the new map, or one for each of several.
        blocks: how many separate parameters a new map has, or one number for each of several.
        prior_weights: the share of each new map, by default that of equal weights.
        regularization: of the new maps, where it was given for each map.
        replay: rewards that were learned, and the features in the new map of what was played: ``(features, rewards)``
            of shapes ``(n, d)`` and ``(n,)``, in the order in which they were learned; of several new maps a list of
            features, of one with blocks ``Blocked`` with a block for each of n. With lanes, a list of N such pairs. If
            they are all rewards learned so far the weights are exact; if they are some of them, the new map learns its
            parameter from them, but its weight begins with its share.
        """
        M, owner = self._n, "add_models"
        validation.Widths().check(f"{owner}: dim", dim, None)
        new = [int(w) for w in np.atleast_1d(np.asarray(dim))]
        k, mine = len(new), self.settings
        validation.Widths().check(f"{owner}: blocks", blocks, None)
        several = list(validation.map_widths(owner, blocks, k, "blocks"))
        changed = appended(mine, {"regularization": regularization}, M, k) | with_shares(mine, prior_weights, M, k)
        counts = {"n_models": M + k, "dim": _longer(self.dim, M, new), "blocks": _longer(self.blocks, M, several)}
        self._free()
        fresh = type(self)(**(mine | changed | counts))
        with self._gate:
            replayed = self._replay(fresh, new, several, replay)
            self._carry(fresh, Move(np.arange(M), np.arange(M), M, M + k), replayed)
            self._become_as(fresh, np.append(np.arange(M), np.full(k, -1)))

    def _maps(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the widths of the maps, and how many blocks they have."""
        owner, M = type(self).__name__, self._n
        return validation.map_widths(owner, self.dim, M), validation.map_widths(owner, self.blocks, M, "blocks")

    def _shape(self) -> FeatureShape:
        return shape_of(*self._maps(), many=True)

    @property
    @abstractmethod
    def _weighing(self) -> Weighing:
        """What weighs the maps."""

    @property
    def _n(self) -> int:
        return int(self.n_models)

    def _fewer(self, kept: Index) -> dict[str, Any]:
        each = {name: self.settings[name] for name in ("dim", "blocks") if np.ndim(self.settings[name])}
        return {"n_models": kept.size} | {name: [int(value[k]) for k in kept] for name, value in each.items()}

    def _replay(self, fresh: Any, widths: list[int], blocks: list[int], replay: Any) -> bool:
        """Let the last maps of a fresh policy learn what is replayed; tell whether that is all that was learned."""
        if replay is None:
            return False
        M, maps, learned, N = self._n, len(widths), self._weighing.bank.updates, self._size
        own, counts = np.arange(M, M + maps), {"n_models": maps, "dim": widths, "blocks": blocks}
        guest = type(self)(**(fresh.settings | without(fresh.settings, own) | counts))  # of the new maps alone
        pairs = [replay] if self.lanes is None else replay
        what = "(features, rewards)" if self.lanes is None else f"a list of (features, rewards) for each of {N} lanes"
        expected = f"{what}, of {maps} new map{'s' * (maps > 1)}"
        if not isinstance(pairs, list | tuple) or len(pairs) != N or any(len(pair) != 2 for pair in pairs):
            raise validation.refuse("add_models: replay", replay, expected)
        before, come = dict(parts_of(self)), dict(parts_of(guest))
        for name, part in come.items():
            if isinstance(part, MapsMixture):
                part.count_from(before[name])  # type: ignore[arg-type]
        count = np.zeros(N, dtype=np.int64)
        for lane, (features, rewards) in enumerate(pairs):
            parts = [_arrays(m) for m in (features if maps > 1 else [features])]
            y = validation.as_floats("add_models: replay", rewards, expected)
            count[lane] = y.size
            right = y.ndim == 1 and (y.size == learned[lane] or (self._partly and y.size < learned[lane]))
            shapes = [[(y.size, d), (y.size,)][: 1 + (B > 1)] for d, B in zip(widths, blocks, strict=True)]
            if not right or [[array.shape for array in m] for m in parts] != shapes:
                many = f"{'at most ' if self._partly else ''}{learned[lane]} rewards, those that were learned"
                raise validation.refuse("add_models: replay", replay, f"{expected}, {many}")
            for r in range(y.size):
                ids = self._all[lane : lane + 1]
                rows = [[array[r : r + 1] for array in m] for m in parts]
                x = guest.feature_shape.one([Blocked(*m) if len(m) > 1 else m[0] for m in rows], 1)
                guest._teach(ids, x, None, validation.rewards(y[r : r + 1], 1, True), None)
        for name, part in parts_of(fresh):
            part.take(come[name], Move(np.arange(maps), own, maps, M + maps), False)
        return bool((count == learned).all())

    def _carry(self, fresh: Any, move: Move, exact: bool = False) -> None:
        total, before = self._weighing.total(), dict(parts_of(self))
        for name, part in parts_of(fresh):
            if name != "_ledger":
                part.take(before[name], move, True)
        prior = validation.prior_weights("prior_weights", fresh.settings.get("prior_weights"), move.after)
        fresh._weighing.join(total, prior[move.here.size :], exact)

    def _changed(self, columns: Index) -> list[Any]:
        return [*self._changes, [columns.tolist(), *map(list, self._maps())]]

    # Decisions of an earlier list of maps.

    def _columns(self, generation: int) -> list[int]:
        """Return which map of an earlier generation each map was, -1 for one that was not there."""
        columns = list(range(len(self._changes[generation][1])))
        for moved, *_ in self._changes[generation:]:
            columns = [columns[k] if k >= 0 else -1 for k in moved]
        return columns

    def _renewed(self, decision: Decision) -> Decision:
        g, n = decision.generation, None if decision.lanes is None else len(decision.lanes)
        if type(g) is not int or not 0 <= g < len(self._changes):
            return super()._renewed(decision)
        _, dims, several = self._changes[g]
        theirs = shape_of(tuple(dims), tuple(several), many=True).shaped_one(decision.features, n)
        widths, blocks = self._maps()
        x = np.zeros((len(theirs), self._n, max(widths) + (max(blocks) > 1)))
        for i, k in enumerate(self._columns(g)):
            if k >= 0:
                x[:, i, : widths[i]] = theirs[:, k, : widths[i]]
                if blocks[i] > 1:
                    x[:, i, -1] = theirs[:, k, -1]
        return decision._replace(features=x[0] if n is None else x, generation=self._generation)

    def _restore_changes(self, changes: Any) -> None:
        counts = [len(widths) for _, widths, _ in changes] + [self._n]
        for (columns, *sizes), before, after in zip(changes, counts[:-1], counts[1:], strict=True):
            right = len(columns) == after and all(type(k) is int and -1 <= k < before for k in columns)
            if not right or any(len(s) != before or not all(type(d) is int and d > 0 for d in s) for s in sizes):
                raise ValueError("changes of the list of models that do not fit it")
        self._changes, self._generation = changes, len(changes)

    def _learn_earlier(self, generation: int, worker: Worker | None, ids: Index, *row: Any) -> int:
        columns = np.array(self._columns(generation))
        asleep = np.flatnonzero(columns < 0)
        if asleep.size == columns.size:
            return self._drop(worker, ids, row[3])
        wake = self._weighing.rest(ids, asleep)
        status = self._learn(ids, *row) if worker is None else self._learn_other(worker, ids, *row)
        if status == DONE:
            wake()
        return status


def _longer(mine: int | Sequence[int], M: int, new: list[int]) -> int | list[int]:
    """Return a number for each of M maps and of those that are new, or the one that all have."""
    if np.ndim(mine) == 0 and set(new) == {mine}:
        return mine  # type: ignore[return-value]
    return [*validation.map_widths("", mine, M), *new]


def _arrays(features: Any) -> list[Any]:
    """Return the features of what was played, and behind them the blocks where there are some."""
    values, *block = features if isinstance(features, Blocked) else (features,)
    return [np.asarray(values, dtype=float), *map(np.asarray, block)]


class RegionRoster(Roster):
    """Has regions of the parameter that come and go.

    All regions read one feature map, and what they have learned follows from a few sums over all rewards (see
    ``parts.retelling``). So a new region knows at once what the rewards so far have cost it.
    """

    centers: ArrayLike
    _holder: str  #: the attribute that has the regions

    def add_models(
        self,
        centers: ArrayLike,
        *,
        radii: ArrayLike | None = None,
        center_errors: ArrayLike | None = None,
        radius_errors: ArrayLike | None = None,
        shapes: ArrayLike | None = None,
        prior_weights: ArrayLike | None = None,
    ) -> None:
        """Add regions; they stand behind the others.

        The policy is then, up to rounding, what it had been with these regions from the first. A region that was itself
        made from the rewards that this policy has learned counts them twice, and is believed too much.

        Parameters
        ----------
        centers: ``(k, d)``, or one set per lane ``(N, k, d)``.
        radii, center_errors, radius_errors, shapes: of the new regions, as in the constructor; may be left out where
            one number holds for all.
        prior_weights: the share of each new region, by default that of equal weights.
        """
        M, mine = self._n, self.settings
        validation.Numbers(shapes=((None, None), (None, None, None))).check("add_models: centers", centers, None)
        k = np.shape(centers)[-2]
        told = {"centers": centers, "radii": radii, "center_errors": center_errors, "radius_errors": radius_errors}
        changed = appended(mine, told | {"shapes": shapes}, M, k) | with_shares(mine, prior_weights, M, k)
        self._free()
        fresh = type(self)(**(mine | changed))
        with self._gate:
            self._carry(fresh, Move(np.arange(M), np.arange(M), M, M + k))
            self._become_as(fresh, np.append(np.arange(M), np.full(k, -1)))

    @property
    def _n(self) -> int:
        return int(np.shape(self.centers)[-2])

    def _fewer(self, kept: Index) -> dict[str, Any]:
        return {}

    def _carry(self, fresh: Any, move: Move) -> None:
        begun, before, way = type(self)(**self.settings), dict(parts_of(self)), self._holder
        getattr(fresh, way).carry(getattr(self, way), getattr(begun, way), move)
        for name, part in parts_of(fresh):
            if name.partition(".")[0] not in (way, "_ledger"):
                part.take(before[name], move, True)
