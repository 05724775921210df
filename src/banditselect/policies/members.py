"""Policies whose models come and go while they run: feature maps, regions of the parameter.

The new list of models is built aside, in a fresh policy that takes over what stays; one assignment swaps it in. So an
interruption leaves a policy as it was before, or as it is after.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import Features
from ..models.region_layout import mixture_shapes
from ..runtime.binding import Binding
from ..runtime.constraints import Numbers, Widths
from ..runtime.decisions import Decision
from ..runtime.errors import refuse
from ..runtime.inputs import as_floats, map_widths, prior_weights, rewards
from ..runtime.lanes import MemberMove, parts_of
from ..runtime.reading import Reader
from ..runtime.shapes import ExactShape, maps_of
from ..types import Array, Blocked, Index
from .contract import Row, answer
from .policy import Policy

AXES = {"regularization": -1, "radii": -1, "center_errors": -1, "radius_errors": -1, "centers": -2, "shapes": -3}
"""Arguments that may have an entry per model, and on which axis; one with fewer axes holds for all models."""


def retire_models(self: Any, which: int | Sequence[int]) -> None:
    """Take models away: their weight goes to the others in proportion, and all that they learned is dropped.

    The models that stay keep their order and move up, as in a list. All lanes change together. Decisions that wait for
    their rewards can still be learned.

    Parameters
    ----------
    which: the positions of the models that go; at least one model stays.
    """
    M = self._n
    found = np.atleast_1d(np.asarray(which))
    right = found.dtype.kind in "iu" and found.ndim == 1 and 0 < found.size < M
    if not right or found.min() < 0 or found.max() >= M or np.unique(found).size < found.size:
        raise refuse("retire_models: which", which, f"different positions between 0 and {M - 1}, not all of them")
    _check_members_may_change(self)
    kept = np.delete(np.arange(M), found)
    fresh = type(self)(**(self.settings | _without(self.settings, kept) | self._counts_of(kept)))
    with self._guard:
        self._hand_over(fresh, MemberMove(kept, np.arange(kept.size), M, kept.size), False)
        _become(self, fresh, kept)


class MapPolicy(Policy):
    """A policy over M feature maps, which come and go.

    A decision made before a change carries the features of the maps of its time. The maps that are still there learn
    it; a map that has come since sleeps: it learns nothing from that reward, which cost it what it cost the others. (To
    teach it too, ``forget`` the decision and ``learn`` its features in all maps with the reward.)
    """

    n_models: int
    dim: int | Sequence[int]
    blocks: int | Sequence[int]
    _needs_every_reward: ClassVar[bool] = False  #: whether only all rewards so far can be replayed to a new map

    model_weights = answer("weights", "Weights of the maps, ``(M,)``.")
    parameters = answer(
        "parameters", "Estimates of the maps, ``(M, d)``; with blocks a list, ``(blocks, d_i)`` each.", by_map=True
    )
    constants = answer(
        "constants", "Their constant terms, ``(M,)``, 0 without an intercept; with blocks a list.", by_map=True
    )
    retire_models = retire_models

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
        from here on the mixture predicts as well as the new map but for log(1 / share). ``docs/math.md``, section 13.

        Parameters
        ----------
        dim: the width of the new map, or one for each of several.
        blocks: how many separate parameters a new map has, or one number for each of several.
        prior_weights: the share of each new map, by default that of equal weights.
        regularization: of the new maps, where it was given for each map.
        replay: rewards that were learned, and the features of the actions played in the new map: ``(features,
            rewards)`` of shapes ``(n, d)`` and ``(n,)``, in the order in which they were learned; of several new maps a
            list of features, of one with blocks ``Blocked`` with a block for each of n. With lanes, a list of N such
            pairs. If they are all rewards learned so far the weights are exact; if they are some of them, the new map
            learns its parameter from them, but its weight begins with its share.
        """
        M, mine = self._n, self.settings
        Widths().check("add_models: dim", dim, None)
        Widths().check("add_models: blocks", blocks, None)
        widths = [int(w) for w in np.atleast_1d(np.asarray(dim))]
        k = len(widths)
        several = list(map_widths("add_models", blocks, k, "blocks"))
        changed = _appended(mine, {"regularization": regularization}, M, k) | _with_shares(mine, prior_weights, M, k)
        counts = {"n_models": M + k, "dim": _longer(self.dim, M, widths), "blocks": _longer(self.blocks, M, several)}
        _check_members_may_change(self)
        fresh = type(self)(**(mine | changed | counts))
        with self._guard:
            replayed = replay is not None and self._replay(fresh, maps_of(widths, several, many=True), replay)
            self._hand_over(fresh, MemberMove(np.arange(M), np.arange(M), M, M + k), replayed)
            _become(self, fresh, np.append(np.arange(M), np.full(k, -1)))

    def _maps(self) -> ExactShape:
        """Return the shape of the features: the widths of the maps, and how many blocks they have."""
        owner, M = type(self).__name__, self._n
        return maps_of(map_widths(owner, self.dim, M), map_widths(owner, self.blocks, M, "blocks"), many=True)

    @property
    def _n(self) -> int:
        return int(self.n_models)

    def _counts_of(self, kept: Index) -> dict[str, Any]:
        """Return the arguments that count maps, for those ``kept``."""
        each = {name: self.settings[name] for name in ("dim", "blocks") if np.ndim(self.settings[name])}
        return {"n_models": kept.size} | {name: [int(value[k]) for k in kept] for name, value in each.items()}

    def _replay(self, fresh: Any, maps: ExactShape, replay: Any) -> bool:
        """Let the last ``maps`` of a fresh policy learn what is replayed; return whether it is all that was learned."""
        M, k, N, learned = self._n, len(maps.dims), self._size, self._model.updates  # type: ignore[attr-defined]
        own, counts = np.arange(M, M + k), {"n_models": k, "dim": list(maps.dims), "blocks": list(maps.blocks)}
        guest = type(self)(**(fresh.settings | _without(fresh.settings, own) | counts))  # of the new maps alone
        pairs = [replay] if self.lanes is None else replay
        what = "(features, rewards)" if self.lanes is None else f"a list of (features, rewards) for each of {N} lanes"
        expected = f"{what}, of {k} new map{'s' * (k > 1)}"
        if not isinstance(pairs, list | tuple) or len(pairs) != N or any(len(pair) != 2 for pair in pairs):
            raise refuse("add_models: replay", replay, expected)
        before, come = dict(parts_of(self)), dict(parts_of(guest))
        for name, part in come.items():
            if hasattr(part, "count_from"):
                part.count_from(before[name])
        rows = [self._replayed(pair, maps, int(learned[lane]), expected) for lane, pair in enumerate(pairs)]
        for lane, (x, y) in enumerate(rows):
            for r in range(y.size):
                guest._learn(self._all[lane : lane + 1], x.rows(slice(r, r + 1)), y[r : r + 1], None)
        for name, part in parts_of(fresh):
            part.take(come[name], MemberMove(np.arange(k), own, k, M + k), False)
        return all(y.size == learned[lane] for lane, (_, y) in enumerate(rows))

    def _replayed(self, pair: Any, maps: ExactShape, learned: int, expected: str) -> tuple[Features, Array]:
        """Return what one lane is to replay, as features ``(n, k, d)`` and rewards ``(n,)``."""
        k = len(maps.dims)
        parts = [_arrays(m) for m in (pair[0] if k > 1 else [pair[0]])]
        y = as_floats("add_models: replay", pair[1], expected)
        right = y.ndim == 1 and (y.size == learned or (not self._needs_every_reward and y.size < learned))
        shapes = [[(y.size, d), (y.size,)][: 1 + (B > 1)] for d, B in zip(maps.dims, maps.blocks, strict=True)]
        if not right or [[array.shape for array in m] for m in parts] != shapes:
            many = f"{'' if self._needs_every_reward else 'at most '}{learned} rewards, those that were learned"
            raise refuse("add_models: replay", pair, f"{expected}, {many}")
        if y.size == 0:
            return Features(np.empty((0, k, max(maps.dims))), np.empty((0, k), dtype=np.int64)), y
        features = [Blocked(*m) if len(m) > 1 else m[0] for m in parts]
        return Reader(maps, True).played(features, y.size), rewards(y, y.size, True)

    def _hand_over(self, fresh: Any, move: MemberMove, replayed: bool) -> None:
        """Let a fresh policy of other maps take over everything learned of the maps that move."""
        total, before = self._model.total_weight(), dict(parts_of(self))  # type: ignore[attr-defined]
        for name, part in parts_of(fresh):
            if name != "_ledger":
                part.take(before[name], move, True)
        fresh._model.reweigh(total, prior_of(fresh)[move.old.size :], replayed)

    def _changed(self, columns: Index) -> list[Any]:
        """Return the history of the list of maps, with the change to maps that were the ``columns`` so far."""
        maps = self._maps()
        return [*self._changes, [columns.tolist(), list(maps.dims), list(maps.blocks)]]

    # Decisions of an earlier list of maps.

    def _columns(self, generation: int) -> list[int]:
        """Return which map of an earlier generation each map was, -1 for one that was not there."""
        columns = list(range(len(self._changes[generation][1])))
        for moved, *_ in self._changes[generation:]:
            columns = [columns[k] if k >= 0 else -1 for k in moved]
        return columns

    def _to_current_models(self, decision: Decision) -> Decision:
        g, n = decision.generation, None if decision.lanes is None else len(decision.lanes)
        if type(g) is not int or not 0 <= g < len(self._changes):
            return super()._to_current_models(decision)
        _, dims, blocks = self._changes[g]
        theirs, maps = maps_of(dims, blocks, many=True).shaped_one(decision.features, n), self._maps()
        x = np.zeros((len(theirs), self._n, max(maps.dims) + (max(maps.blocks) > 1)))
        for i, k in enumerate(self._columns(g)):
            if k >= 0:
                x[:, i, : maps.dims[i]] = theirs[:, k, : maps.dims[i]]
                if maps.blocks[i] > 1:
                    x[:, i, -1] = theirs[:, k, -1]
        return decision._replace(features=x[0] if n is None else x, generation=self._generation)

    def _restore_model_history(self, changes: Any) -> None:
        counts = [len(widths) for _, widths, _ in changes] + [self._n]
        for (columns, *sizes), before, after in zip(changes, counts[:-1], counts[1:], strict=True):
            right = len(columns) == after and all(type(k) is int and -1 <= k < before for k in columns)
            if not right or any(len(s) != before or not all(type(d) is int and d > 0 for d in s) for s in sizes):
                raise ValueError("changes of the list of models that do not fit it")
        self._changes, self._generation = changes, len(changes)

    def _learn_row(self, row: Row, y: Array) -> None:
        asleep = (
            np.flatnonzero(np.array(self._columns(row.generation)) < 0) if row.generation < self._generation else ()
        )
        if len(asleep) == 0:
            super()._learn_row(row, y)
        elif len(asleep) == self._n:
            self._acts.drop(row.worker, row.ids, row.numbers)
        else:
            with self._model.asleep(row.ids, asleep):  # type: ignore[attr-defined]
                super()._learn_row(row, y)


class RegionPolicy(Policy):
    """A policy over M regions of the parameter, which come and go.

    All regions read one feature map, and what they have learned follows from a few sums over all rewards
    (``models.learned_sums``). So a new region knows at once what the rewards so far have cost it, and a decision made
    before a change is learned by all regions.
    """

    centers: ArrayLike

    model_weights = answer("weights", "Weights of the regions, ``(M,)``.")
    parameters = answer("parameters", "Estimates of the regions, ``(M, d)``.")
    constants = answer("constants", "Their constant terms, ``(M,)``; 0 without an intercept.")
    retire_models = retire_models

    @classmethod
    def from_mixture(cls, means: ArrayLike, covariances: ArrayLike, weights: ArrayLike, **arguments: Any) -> Self:
        """Build the policy from a Gaussian mixture, e.g. one fitted to the parameters of past tasks.

        The arguments are those of :meth:`bind_mixture`.
        """
        return cls.bind_mixture(means, covariances, weights, **arguments)()

    @classmethod
    def bind_mixture(
        cls,
        means: ArrayLike,
        covariances: ArrayLike,
        weights: ArrayLike,
        *,
        covariance_type: str | None = None,
        **arguments: Any,
    ) -> Binding[Self]:
        """Return a factory of the policy whose prior is a Gaussian mixture, as ``bind`` does, for ``simulate``.

        Parameters
        ----------
        means: ``(M, d)``.  weights: ``(M,)``.
        covariances: ``"full"`` ``(M, d, d)``, ``"tied"`` ``(d, d)``, ``"diag"`` ``(M, d)`` or ``"spherical"`` ``(M,)``.
        covariance_type: one of these, in the words of scikit-learn; has to be given where M = d, else the shape says.
        arguments: of the constructor, such as ``noise``.
        """
        shapes = mixture_shapes(means, covariances, covariance_type)
        radius = float(np.sqrt(shapes.shape[1]))
        given: dict[str, Any] = {"centers": means, "radii": radius, "shapes": shapes, "prior_weights": weights}
        return cls.bind(**given, **arguments)

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
        Numbers(shapes=((None, None), (None, None, None))).check("add_models: centers", centers, None)
        k = np.shape(centers)[-2]
        added = {"centers": centers, "radii": radii, "center_errors": center_errors, "radius_errors": radius_errors}
        changed = _appended(mine, added | {"shapes": shapes}, M, k) | _with_shares(mine, prior_weights, M, k)
        _check_members_may_change(self)
        fresh = type(self)(**(mine | changed))
        with self._guard:
            self._hand_over(fresh, MemberMove(np.arange(M), np.arange(M), M, M + k), False)
            _become(self, fresh, np.append(np.arange(M), np.full(k, -1)))

    @property
    def _n(self) -> int:
        return int(np.shape(self.centers)[-2])

    def _counts_of(self, kept: Index) -> dict[str, Any]:
        return {}

    def _hand_over(self, fresh: Any, move: MemberMove, replayed: bool) -> None:
        """Let a fresh policy of other regions take over what this one has learned, as if it had had them all along."""
        fresh._model.adopt(self._model, type(self)(**self.settings)._model, move)

    def _changed(self, columns: Index) -> list[Any]:
        return list(self._changes)  # decisions have the same features for all lists of regions


def prior_of(policy: Any) -> Array:
    """Return the prior weights of the models, ``(M,)``, of sum 1; equal ones where none are given."""
    return prior_weights(f"{type(policy).__name__}: prior_weights", policy.settings.get("prior_weights"), policy._n)


def _check_members_may_change(policy: Policy) -> None:
    """Refuse to change a list of models that something else depends on."""
    if policy._owned:
        raise refuse("models", type(policy).__name__, "a policy that is not part of another")
    if policy._model.fixed_members is not None:
        raise ValueError(f"{type(policy).__name__}: its models cannot come and go: {policy._model.fixed_members}")


def _become(policy: Any, fresh: Any, columns: Index) -> None:
    """Replace the models: ``fresh`` has those that were the models ``columns`` so far, -1 for a new one."""
    for name in ("_ledger", "_acts", "_lineage", "_guard", "_warnings"):
        fresh.__dict__[name] = policy.__dict__[name]
    fresh._changes = policy._changed(columns)
    fresh._generation = len(fresh._changes)
    fresh._collect_parts()
    fresh._seed_streams(policy._channel)
    stale = [n for n in vars(policy) if isinstance(getattr(type(policy), n, None), functools.cached_property)]
    policy.__dict__ = {name: value for name, value in vars(policy).items() if name not in stale} | vars(fresh)


def _longer(mine: int | Sequence[int], M: int, new: list[int]) -> int | list[int]:
    """Return a number for each of M maps and of the new maps, or the one that all have."""
    if np.ndim(mine) == 0 and set(new) == {mine}:
        return mine  # type: ignore[return-value]
    return [*map_widths("", mine, M), *new]


def _arrays(features: Any) -> list[Any]:
    """Return the features of the actions played, and behind them their blocks where there are some."""
    values, *block = features if isinstance(features, Blocked) else (features,)
    return [np.asarray(values, dtype=float), *map(np.asarray, block)]


# Arguments with an entry per model.


def _appended(settings: Mapping[str, Any], added: Mapping[str, Any], before: int, new: int) -> dict[str, Any]:
    """Return the arguments in ``AXES`` for ``new`` models more; ``added``: those of the new models, or None."""
    found = {}
    for name, axis in AXES.items():
        value = added.get(name)
        if name not in settings or (value is None and np.ndim(settings[name]) < -axis):
            if value is not None:
                raise refuse(f"add_models: {name}", value, "None: this policy has no such argument")
            continue
        mine = settings[name]
        if mine is None or value is None:
            expected = "None, as for the other models" if mine is None else "one for each new model, as for the others"
            raise refuse(f"add_models: {name}", value, expected)
        parts = [_per_model(f"add_models: {name}", *part, axis) for part in ((mine, before), (value, new))]
        lead = max((part.shape[:axis] for part in parts), key=len)
        fits = len({part.shape[part.ndim + axis + 1 :] for part in parts}) == 1
        if not fits or any(part.shape[:axis] not in ((), lead) for part in parts):
            raise refuse(f"add_models: {name}", value, f"numbers like those of the other models, {np.shape(mine)}")
        found[name] = np.concatenate([np.broadcast_to(p, (*lead, *p.shape[axis:])) for p in parts], axis=axis)
    return found


def _per_model(name: str, value: Any, n: int, axis: int) -> Any:
    """Return numbers with one entry for each of n models."""
    expected = f"numbers, one entry for each of {n} models"
    array = as_floats(name, value, expected)
    if axis == -1 and array.ndim == 0:
        return np.full(n, float(array))
    if array.ndim < -axis or array.shape[axis] != n:
        raise refuse(name, value, expected)
    return array


def _without(settings: Mapping[str, Any], kept: Index) -> dict[str, Any]:
    """Return the arguments with an entry per model for the models ``kept`` alone."""
    axes = {name: axis for name, axis in AXES.items() if np.ndim(settings.get(name, 0.0)) >= -axis}
    found = {name: np.take(np.asarray(settings[name]), kept, axis=axis) for name, axis in axes.items()}
    if settings.get("prior_weights") is not None:
        found["prior_weights"] = np.asarray(settings["prior_weights"], dtype=float)[kept]
    return found


def _with_shares(settings: Mapping[str, Any], given: ArrayLike | None, before: int, new: int) -> dict[str, Any]:
    """Return the argument ``prior_weights`` once new models have a share each, by default that of equal weights."""
    if given is not None and "prior_weights" not in settings:
        raise refuse("add_models: prior_weights", given, "None: this policy takes all models to be equally probable")
    if "prior_weights" not in settings or (given is None and settings["prior_weights"] is None):
        return {}
    expected = f"shares of the {new} new models, numbers > 0 of sum < 1"
    share = (
        np.full(new, 1.0 / (before + new)) if given is None else as_floats("add_models: prior_weights", given, expected)
    )
    if share.shape not in ((), (new,)) or not share.min() > 0.0 or not np.broadcast_to(share, new).sum() < 1.0:
        raise refuse("add_models: prior_weights", given, expected)
    share = np.broadcast_to(share, new)
    mine = np.ones(before) if settings["prior_weights"] is None else np.asarray(settings["prior_weights"], dtype=float)
    return {"prior_weights": np.concatenate([mine / mine.sum() * (1.0 - share.sum()), share])}
