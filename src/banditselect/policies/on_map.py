"""A one-map policy on one of the maps of a feature-selection problem."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from .. import validation
from ..lanes import LaneArrays
from ..streams import Channel, Seed
from ..validation import Constraint, ExactShape, FeatureShape, Number, SomeMaps, Whatever
from .base import Array, Choice, Index, Mask, Policy
from .binding import Binding
from .registry import register
from .regret_balancing import copied

P = TypeVar("P", bound=Policy)


@overload
def on_map(policy: Binding[Any], index: int) -> Binding["OnMap"]: ...
@overload
def on_map(policy: Policy, index: int) -> "OnMap": ...
def on_map(policy: Any, index: int) -> Any:
    """Return ``policy``, which takes features ``(K, d)``, as a policy that takes ``(M, K, d)`` and looks at one map.

    Parameters
    ----------
    policy: a fresh policy (it is copied), or what ``bind`` returned (then a factory is returned).
    index: which map, counted from 0.

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
    """What :func:`on_map` returns: ``policy`` on map ``index``. What can be asked of the policy can be asked here."""

    reward_units = ("policy",)
    _nested = True
    constraints: ClassVar[dict[str, Constraint]] = {"policy": Whatever(), "index": Number(low=0, integer=True)}

    def __init__(self, *, policy: Any, index: int, lanes: int | None = None, seed: Seed = 0) -> None:
        self.policy = copied(policy, lanes, seed, "OnMap: policy")
        self.index = index
        self.has_propensity = self.policy.has_propensity
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        shape = self.policy._features
        if not isinstance(shape, ExactShape) or shape.many:
            raise validation.refuse("OnMap: policy", self.policy, "a policy that takes features of shape (K, d)")
        self._width = shape.dims[0]
        return SomeMaps(((int(self.index), self._width),))

    def _begin(self, lanes: int) -> Sequence[str]:
        self._memo_width = self.policy._memo_width
        self._has_bases = self.policy._has_bases
        return ()

    def _wrote(self, memo: Index) -> bool:
        return self.policy._wrote(memo)

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self.policy._root(channel, first)

    def _mine(self, x: Array) -> Array:
        i = int(self.index)
        return np.ascontiguousarray(x[:, i : i + 1, ..., : self._width])

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, Index | None]:
        return self.policy._distribution(ids, self._mine(x), offered)

    def _choose(self, ids: Index, x: Array, offered: Mask, numbers: Index) -> Choice:
        return self.policy._choose(ids, self._mine(x), offered, numbers)

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        self.policy._teach(ids, self._mine(x), y, memo)

    def _drain(self) -> list[str]:
        return super()._drain() + self.policy._drain()

    def _extend(self, fresh: Any) -> None:
        super()._extend(fresh)
        self.policy._extend(fresh.policy)

    def _state(self) -> Iterator[tuple[str, LaneArrays]]:
        yield from super()._state()
        for name, part in self.policy._state():
            yield f"policy.{name}", part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "policy":
            raise AttributeError(name)
        return getattr(self.policy, name)
