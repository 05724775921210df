"""A one-map policy on one of the maps of a feature-selection problem."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.binding import Binding, Pending
from ..carriers.blocks import BlockedShape
from ..carriers.decisions import Ledger
from ..carriers.lanes import PerLane
from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape, SomeMaps
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, Number
from ..kernels.acting import Drawn
from ..kernels.features import Lookup, clean
from ..kernels.rounds import DONE, UNUSABLE, take
from ..types import Array, Index, Mask
from .base import Chosen, Played, Policy


def copied(policy: Policy | Callable[..., Policy], lanes: int | None, seed: Seed, name: str) -> Policy:
    """Return a fresh policy of our own with these lanes and this seed, from a fresh policy or a factory."""
    built = policy if isinstance(policy, Policy) or not callable(policy) else policy(lanes=lanes, seed=seed)
    if not isinstance(built, Policy):
        raise validation.refuse(name, policy, "a policy, or a factory that takes lanes and seed and returns one")
    if built._ledger.acts.any() or built._ledger.rounds.any():
        raise validation.refuse(name, policy, "a fresh policy: this one has already played or learned")
    return type(built)(**(copy.deepcopy(built.settings) | {"lanes": lanes, "seed": seed}))


@overload
def on_map(policy: Binding[Any], index: ArrayLike | Pending) -> Binding["OnMap"]: ...
@overload
def on_map(policy: Policy, index: ArrayLike) -> "OnMap": ...
def on_map(policy: Any, index: Any) -> Any:
    """Return ``policy``, which takes features ``(K, d)``, as a policy that takes ``(M, K, d)`` and looks at one map.

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
        raise validation.refuse("on_map: policy", policy, "a policy, or what bind returned")
    return OnMap(policy=policy, index=index, lanes=policy.lanes, seed=policy.seed)


@register
class OnMap(Policy):
    """What :func:`on_map` returns: ``policy`` on map ``index``, or on one per lane; it answers what ``policy`` does."""

    reward_units = ("policy",)
    _looks_up = True
    constraints: ClassVar[dict[str, Constraint]] = {
        "policy": Constraint(),
        "index": Number(low=0, integer=True, per_lane=True),
    }

    def __init__(self, *, policy: Any, index: ArrayLike, lanes: int | None = None, seed: Seed = 0) -> None:
        self.policy = copied(policy, lanes, seed, "OnMap: policy")
        self.index = index
        self.has_propensity = self.policy.has_propensity
        super().__init__(lanes, seed)

    @staticmethod
    def _shapes_inside(shapes: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shapes that the policy on the map sees."""
        dim, index = shapes.get("dim"), arguments.get("index", 0)
        if isinstance(dim, list | tuple | np.ndarray):
            known = [] if isinstance(index, Pending) else np.ravel(index).tolist()
            widths = {dim[i] for i in known if 0 <= i < len(dim)} if known else set(dim)
            if len(widths) > 1:
                raise validation.refuse("on_map: index", index, f"maps of one width; those of this problem have {dim}")
            dim = next(iter(widths), dim)
        return {"dim": dim} if "dim" in shapes else {}

    def _shape(self) -> FeatureShape:
        shape = self.policy.feature_shape
        if not isinstance(shape, ExactShape) or shape.many or isinstance(shape, BlockedShape):
            raise validation.refuse("OnMap: policy", self.policy, "a policy that takes features of shape (K, d)")
        self._width = shape.dims[0]
        used = tuple((int(i), self._width) for i in np.unique(self.index))
        return SomeMaps(used, n_actions=shape.n_actions)

    def _begin(self, lanes: int) -> None:
        index = np.asarray(self.index, dtype=np.int64)
        self._index = PerLane(map=np.array(np.broadcast_to(index, lanes)))
        self._fixed = None if index.ndim else int(index)  # the map of all lanes
        self._memo_width = self.policy._memo_width
        self._names_base = self.policy._names_base
        self._weighs, self._is_master = self.policy._weighs, self.policy._is_master
        self._messages = self.policy._messages  # what it says is said here

    def _wrote(self, memo: Index) -> bool:
        return self.policy._wrote(memo)

    def _extend(self, fresh: Self) -> None:
        used = dict.fromkeys(pair for this in (self, fresh) for pair in this.feature_shape.used)  # type: ignore[attr-defined]
        super()._extend(fresh)
        self._door.shape = replace(self.feature_shape, used=tuple(used))  # type: ignore[type-var]

    def _mine(self, ids: Index, x: Any) -> Any:
        """Return the features of the map of every row, ``(n, 1, K, d)`` or ``(n, 1, d)``."""
        i = self._fixed
        if i is None:
            maps = self._index.map[ids]
            if isinstance(x, Lookup):
                return x.on_maps(maps, self._width)
            return np.ascontiguousarray(x[np.arange(ids.size), maps, ..., : self._width][:, None])
        if isinstance(x, Lookup):
            return x.on_map(i, self._width)
        return np.ascontiguousarray(x[:, i : i + 1, ..., : self._width])

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        return self.policy._distribution(ids, self._mine(ids, x), offered)

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        return self.policy._choose(ids, self._mine(ids, x), offered, numbers)

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        if not clean(x):
            return UNUSABLE, None
        mine = np.empty((ids.size, 1, self._width))
        status, memo = self.policy._play(ids, self._mine(ids, x), offered, ledger, drawn, mine)
        if status == DONE:
            take(x, drawn, played)
        return status, memo

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        mine = self._mine(ids, x)
        mine.setflags(write=False)
        self.policy._teach(ids, mine, action, y, memo)

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Tell of each lane whose true ``model`` is this map whether the set holds the parameter; NaN of the others."""
        true = np.broadcast_to(-1 if model is None else model, self._size) == self.index
        inner = self.policy.coverage(parameter, None) if true.any() else None
        return None if inner is None else np.where(true, inner, np.nan)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "policy":
            raise AttributeError(name)
        return getattr(self.policy, name)
