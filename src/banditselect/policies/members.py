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
from ..runtime.errors import ArgumentError, array_of, refuse
from ..runtime.inputs import as_floats, map_widths, prior_weights, rewards
from ..runtime.lanes import MemberMove, parts_of
from ..runtime.reading import Reader
from ..runtime.shapes import ExactShape, each, maps_of, values_of
from ..types import Array, Index
from .contract import Row, answer
from .policy import Policy

AXES = {
    **dict.fromkeys(("regularization", "radii", "center_errors", "radius_errors", "prior_weights"), -1),
    **{"centers": -2, "shapes": -3},
}
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
    kept = np.delete(np.arange(M), found)
    _change_models(self, _of_models(self.settings, kept), kept)


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
        M = self._n
        Widths().check("add_models: dim", dim, None)
        Widths().check("add_models: blocks", blocks, None)
        widths = [int(w) for w in np.atleast_1d(np.asarray(dim))]
        k = len(widths)
        several = list(map_widths("add_models", blocks, k, "blocks"))
        counts = {"n_models": M + k, "dim": _longer(self.dim, M, widths), "blocks": _longer(self.blocks, M, several)}
        changed = _appended(self.settings, {"regularization": regularization, "prior_weights": prior_weights}, M, k)
        _change_models(self, changed | counts, np.append(np.arange(M), np.full(k, -1)), replay)

    def _maps(self) -> ExactShape:
        """Return the shape of the features: the widths of the maps, and how many blocks they have."""
        owner, M = type(self).__name__, self._n
        return maps_of(map_widths(owner, self.dim, M), map_widths(owner, self.blocks, M, "blocks"), many=True)

    @property
    def _n(self) -> int:
        return int(self.n_models)

    def _hand_over(self, fresh: Any, move: MemberMove, replay: Any) -> None:
        """Let a fresh policy of other maps take over what the maps that stay have learned."""
        replayed = replay is not None and self._replay(fresh, replay)
        total, before = self._model.total_weight(), dict(parts_of(self))
        for name, part in parts_of(fresh):
            if name != "_ledger":
                part.take(before[name], move, True)
        fresh._model.reweigh(total, prior_of(fresh)[move.old.size :], replayed)

    def _replay(self, fresh: Any, replay: Any) -> bool:
        """Teach the new maps of a fresh policy what is replayed; return whether it is all that was learned."""
        M, N, learned = self._n, self._size, self._model.updates
        new = np.arange(M, fresh._n)
        pupil = type(self)(**(fresh.settings | _of_models(fresh.settings, new)))
        pairs = [replay] if self.lanes is None else replay
        what = "(features, rewards)" if self.lanes is None else f"a list of (features, rewards) for each of {N} lanes"
        expected = f"{what}, of {new.size} new map{'s' * (new.size > 1)}"
        if not isinstance(pairs, list | tuple) or len(pairs) != N or any(len(pair) != 2 for pair in pairs):
            raise refuse("add_models: replay", replay, expected)
        before, come = dict(parts_of(self)), dict(parts_of(pupil))
        for name, part in come.items():
            if hasattr(part, "count_from"):
                part.count_from(before[name])
        rows = [self._replayed(pair, pupil._maps(), int(learned[lane]), expected) for lane, pair in enumerate(pairs)]
        for lane, (x, y) in enumerate(rows):
            for r in range(y.size):
                pupil._learn(self._all[lane : lane + 1], x.rows(slice(r, r + 1)), y[r : r + 1], None)
        for name, part in parts_of(fresh):
            part.take(come[name], MemberMove(np.arange(new.size), new, new.size, fresh._n), False)
        return all(y.size == learned[lane] for lane, (_, y) in enumerate(rows))

    def _replayed(self, pair: Any, maps: ExactShape, learned: int, expected: str) -> tuple[Features, Array]:
        """Return what one lane is to replay, as features ``(n, k, d)`` and rewards ``(n,)``."""
        k = len(maps.dims)
        features = [each(m, array_of) for m in (pair[0] if k > 1 else [pair[0]])]  # arrays: lists might pass for rows
        y = as_floats("add_models: replay", pair[1], expected)
        right = y.ndim == 1 and (y.size == learned or (not self._needs_every_reward and y.size < learned))
        if not right or [np.shape(values_of(m)) for m in features] != [(y.size, d) for d in maps.dims]:
            many = f"{'' if self._needs_every_reward else 'at most '}{learned} rewards, those that were learned"
            raise refuse("add_models: replay", pair, f"{expected}, {many}")
        if y.size == 0:
            return Features(np.empty((0, k, max(maps.dims))), np.empty((0, k), dtype=np.int64)), y
        try:
            return Reader(maps, True).played(features, y.size), rewards(y, y.size, True)
        except ArgumentError as error:
            raise refuse("add_models: replay", error.value, error.expected) from None

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
        x, note = np.zeros((len(theirs), self._n, max(maps.dims) + (max(maps.blocks) > 1))), decision.note
        if note is not None:  # numbers of every map, as wide as the widest
            if note.shape != (len(theirs), len(dims) * max(dims)):
                raise refuse("decision", note, f"the note of width {len(dims) * max(dims)} that act gave it")
            noted = np.zeros((len(theirs), self._n, max(maps.dims)))
        for i, k in enumerate(self._columns(g)):
            if k >= 0:
                d = maps.dims[i]
                x[:, i, :d] = theirs[:, k, :d]
                if maps.blocks[i] > 1:
                    x[:, i, -1] = theirs[:, k, -1]
                if note is not None:
                    noted[:, i, :d] = note.reshape(len(theirs), len(dims), -1)[:, k, :d]
        note = None if note is None else noted.reshape(len(theirs), -1)
        return decision._replace(features=x[0] if n is None else x, note=note, generation=self._generation)

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
            with self._model.asleep(row.ids, asleep):
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
        Numbers(shapes=((None, None), (None, None, None))).check("add_models: centers", centers, None)
        M, k = self._n, np.shape(centers)[-2]
        added = {"centers": centers, "radii": radii, "center_errors": center_errors, "radius_errors": radius_errors}
        changed = _appended(self.settings, added | {"shapes": shapes, "prior_weights": prior_weights}, M, k)
        _change_models(self, changed, np.append(np.arange(M), np.full(k, -1)))

    @property
    def _n(self) -> int:
        return int(np.shape(self.centers)[-2])

    def _hand_over(self, fresh: Any, move: MemberMove, replay: Any) -> None:
        """Let a fresh policy of other regions take over what this one has learned, as if it had had them all along."""
        fresh._model.adopt(self._model, type(self)(**self.settings)._model, move)


def prior_of(policy: Any) -> Array:
    """Return the prior weights of the models, ``(M,)``, of sum 1; equal ones where none are given."""
    return prior_weights(f"{type(policy).__name__}: prior_weights", policy.settings.get("prior_weights"), policy._n)


def _change_models(policy: Any, arguments: Mapping[str, Any], columns: Index, replay: Any = None) -> None:
    """Give a policy other models: ``columns`` says which model each of them has been so far, -1 for a new one."""
    if policy._owned:
        raise refuse("models", type(policy).__name__, "a policy that is not part of another")
    if policy._model.fixed_members is not None:
        raise ValueError(f"{type(policy).__name__}: its models cannot come and go: {policy._model.fixed_members}")
    fresh, shape = type(policy)(**(policy.settings | arguments)), policy.feature_shape  # the shape of the models so far
    stay = np.flatnonzero(columns >= 0)
    with policy._guard:
        policy._hand_over(fresh, MemberMove(columns[stay], stay, policy._n, columns.size), replay)
        for name in ("_ledger", "_acts", "_lineage", "_guard", "_warnings"):
            fresh.__dict__[name] = policy.__dict__[name]
        # the features of decisions change with a list of maps, not with a list of regions
        change = [[columns.tolist(), list(shape.dims), list(shape.blocks)]] if shape.many else []
        fresh._changes = [*policy._changes, *change]
        fresh._generation = len(fresh._changes)
        fresh._collect_parts()
        fresh._seed_streams(policy._channel)
        cached = [n for n in vars(policy) if isinstance(getattr(type(policy), n, None), functools.cached_property)]
        policy.__dict__ = {name: value for name, value in vars(policy).items() if name not in cached} | vars(fresh)


# Arguments with an entry per model.


def _longer(mine: int | Sequence[int], M: int, new: list[int]) -> int | list[int]:
    """Return a number for each of M maps and of the new maps, or the one that all have."""
    if np.ndim(mine) == 0 and set(new) == {mine}:
        return mine  # type: ignore[return-value]
    return [*map_widths("", mine, M), *new]


def _of_models(settings: Mapping[str, Any], kept: Index) -> dict[str, Any]:
    """Return the arguments with an entry per model for the models ``kept`` alone."""
    axes = {name: axis for name, axis in AXES.items() if np.ndim(settings.get(name, 0)) >= -axis}
    found: dict[str, Any] = {name: np.take(np.asarray(settings[name]), kept, axis=axis) for name, axis in axes.items()}
    found |= {
        name: [int(settings[name][k]) for k in kept] for name in ("dim", "blocks") if np.ndim(settings.get(name, 0))
    }
    return found | ({"n_models": kept.size} if "n_models" in settings else {})


def _appended(settings: Mapping[str, Any], added: dict[str, Any], before: int, new: int) -> dict[str, Any]:
    """Return the arguments in ``AXES`` for ``new`` models more; ``added``: those of the new models, or None."""
    found = _with_shares(settings, added["prior_weights"], before, new)
    for name, axis in AXES.items():
        mine: Any = settings.get(name)
        value = added.get(name)
        if name == "prior_weights" or (value is None and np.ndim(mine) < -axis):
            continue
        expected = "None: this policy has no such argument"
        if name in settings:
            expected = "None, as for the other models" if mine is None else "one for each new model, as for the others"
        if mine is None or value is None:
            raise refuse(f"add_models: {name}", value, expected)
        found[name] = _joined(f"add_models: {name}", mine, value, before, new, axis)
    return found


def _joined(name: str, mine: Any, value: Any, before: int, new: int, axis: int) -> Array:
    """Return an argument of the models so far and that of the new ones, one after the other along an axis."""
    parts = []
    for one, n in ((mine, before), (value, new)):
        expected = f"numbers, one entry for each of {n} models"
        part = as_floats(name, one, expected)
        part = np.full(n, part) if axis == -1 and part.ndim == 0 else part
        if part.ndim < -axis or part.shape[axis] != n:
            raise refuse(name, one, expected)
        parts.append(part)
    try:
        lanes = np.broadcast_shapes(*(part.shape[:axis] for part in parts))
        return np.concatenate([np.broadcast_to(p, (*lanes, *p.shape[axis:])) for p in parts], axis=axis)
    except ValueError:
        raise refuse(name, value, f"numbers like those of the other models, {np.shape(mine)}") from None


def _with_shares(settings: Mapping[str, Any], given: ArrayLike | None, before: int, new: int) -> dict[str, Any]:
    """Return the argument ``prior_weights`` once new models have a share each, by default that of equal weights."""
    name, mine = "add_models: prior_weights", settings.get("prior_weights")
    if given is not None and "prior_weights" not in settings:
        raise refuse(name, given, "None: this policy takes all models to be equally probable")
    if given is None and mine is None:
        return {}
    expected = f"shares of the {new} new models, numbers > 0 of sum < 1"
    share = as_floats(name, 1.0 / (before + new) if given is None else given, expected)
    share = np.full(new, share) if share.ndim == 0 else share
    if share.shape != (new,) or not share.min() > 0.0 or not share.sum() < 1.0:
        raise refuse(name, given, expected)
    mine = np.ones(before) if mine is None else np.asarray(mine, dtype=float)
    return {"prior_weights": np.concatenate([mine / mine.sum() * (1.0 - share.sum()), share])}
