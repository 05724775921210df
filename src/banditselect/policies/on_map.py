"""A one-map policy on one of the maps of a feature-selection problem."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import Features
from ..models.model import Model
from ..runtime.arguments import argument
from ..runtime.binding import Binding, Pending
from ..runtime.constraints import Constraint, Number
from ..runtime.drawing import Seed
from ..runtime.errors import refuse
from ..runtime.files import register
from ..runtime.reading import Reader
from ..runtime.shapes import ExactShape, SomeMaps
from ..types import Array, Index, Mask
from .contract import Chosen, Played
from .policy import Policy


@overload
def on_map(policy: Binding[Any], index: ArrayLike | Pending) -> Binding[OnMap]: ...
@overload
def on_map(policy: Policy, index: ArrayLike) -> OnMap: ...
def on_map(policy: Any, index: Any) -> Any:
    """Return ``policy``, which takes features ``(K, d)``, as a policy that takes ``(M, K, d)`` and looks at one map.

    A policy with ``blocks`` takes a list of maps, of which the one that it looks at is ``Blocked``.

    Parameters
    ----------
    policy: a fresh policy (it is copied), or what ``bind`` returned (then a factory is returned).
    index: which map, counted from 0; or one per lane ``(N,)``. ``given.model`` is the oracle that knows the true map of
        every replicate.

    Examples
    --------
    >>> import numpy as np
    >>> from banditselect import SquareCB
    >>> policy = on_map(SquareCB(dim=2), 1)
    >>> policy.update(policy.act(np.ones((3, 4, 2))), 1.0)
    >>> policy.parameters.round(3)
    array([0.333, 0.333])
    """
    if isinstance(policy, Binding):
        return OnMap.bind(policy=policy, index=index)
    if not isinstance(policy, Policy):
        raise refuse("on_map: policy", policy, "a policy, or what bind returned")
    return OnMap(policy=policy, index=index, lanes=policy.lanes, seed=policy.seed)


class OwnPolicy(Constraint):
    """A fresh policy, or a factory that takes lanes and seed and returns one; what is stored is a copy."""

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> Policy:
        """Return a fresh policy of these lanes and this seed."""
        return fresh_copy(value, lanes, seed, name)


def fresh_copy(policy: Any, lanes: int | None, seed: Seed, name: str) -> Policy:
    """Return a fresh policy of these lanes and this seed, from a fresh policy or a factory; ``name`` is for errors."""
    built = policy if isinstance(policy, Policy) or not callable(policy) else policy(lanes=lanes, seed=seed)
    if not isinstance(built, Policy):
        raise refuse(name, policy, "a policy, or a factory that takes lanes and seed and returns one")
    if built._ledger.acts.any() or built._ledger.rounds.any():
        raise refuse(name, policy, "a fresh policy: this one has already played or learned")
    return type(built)(**(copy.deepcopy(built.settings) | {"lanes": lanes, "seed": seed}))


@register
class OnMap(Policy):
    """Plays ``policy`` on map ``index``, or on one map per lane; returned by :func:`on_map`."""

    policy: Any = argument(OwnPolicy(), unit="reward")
    index: ArrayLike = argument(Number(low=0, integer=True, per_lane=True))

    def build(self, lanes: int) -> tuple[Model, None]:
        """Return the map of every lane."""
        inner = self.policy
        shape = inner.feature_shape
        if not isinstance(shape, ExactShape) or shape.many:
            raise refuse("OnMap: policy", inner, "a policy that takes features of shape (K, d), or Blocked")
        self.has_propensity = inner.has_propensity
        self.is_master, self.reads_propensity = inner.is_master, inner.reads_propensity  # type: ignore[misc]
        self._warnings = inner._warnings  # its warnings are given here
        model = MapOfLanes(np.asarray(self.index, dtype=np.int64), shape, lanes)
        model.ridge_estimates = inner.ridge_estimates
        return model, None

    @staticmethod
    def _shapes_inside(shapes: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shapes that the policy on the map sees."""
        found, index = {}, arguments.get("index", 0)
        known = [] if isinstance(index, Pending) else np.ravel(index).tolist()
        for name in shapes.keys() & {"dim", "blocks"}:
            of_maps = shapes[name]
            if isinstance(of_maps, list | tuple | np.ndarray):
                values = {of_maps[i] for i in known if 0 <= i < len(of_maps)} if known else set(of_maps)
                if len(values) > 1:
                    raise refuse("on_map: index", index, f"maps of one width; those of this problem have {of_maps}")
                of_maps = next(iter(values), of_maps)
            found[name] = of_maps
        return found

    def _map(self, ids: Index, x: Features) -> Features:
        """Return the features of the map of every row, as those of one map."""
        lanes = self._model
        return x.map(lanes.map[ids] if lanes.common is None else lanes.common, lanes.width, lanes.blocks > 1)

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        return self.policy._choose(ids, self._map(ids, x), offered, numbers)

    def _probabilities(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        return self.policy._probabilities(ids, self._map(ids, x), offered)

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        self.policy._learn_inside(ids, self._map(ids, x), y, played)

    @property
    def _note_width(self) -> int:
        return self.policy._note_width

    def _reads(self, note: Array) -> bool:
        return self.policy._reads(note)

    def _add(self, fresh: Policy) -> None:
        super()._add(fresh)
        shape: Any = self.feature_shape
        used = dict.fromkeys((*shape.used, *fresh.feature_shape.used))  # type: ignore[attr-defined]
        parts = shape.parts[:1] * len(used)
        self._reader, looks_up = Reader(replace(shape, used=tuple(used), parts=parts), True), self._reader.reads_lookups
        self._reader.reads_lookups = looks_up

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Return for each lane whose true ``model`` is its map whether the set holds the parameter; else NaN."""
        true = np.broadcast_to(-1 if model is None else model, self._size) == self.index
        inner = self.policy.coverage(parameter, None) if true.any() else None
        return None if inner is None else np.where(true, inner, np.nan)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "policy":
            raise AttributeError(name)
        return getattr(self.policy, name)


class MapOfLanes(Model):
    """Knows the map of every lane, ``map (N,)``, or the one that all have in ``common``; learns nothing."""

    fixed = ("map",)
    reads_lookups = True

    def __init__(self, index: Index, shape: ExactShape, lanes: int) -> None:
        self.width, self.blocks = shape.dims[0], shape.blocks[0]
        used = tuple((int(i), self.width) for i in np.unique(index))
        parts = (self.blocks,) * len(used) if self.blocks > 1 else ()
        super().__init__(SomeMaps(used, n_actions=shape.n_actions, parts=parts))
        self.map = np.array(np.broadcast_to(index, lanes))
        self.common = None if index.ndim else int(index)
