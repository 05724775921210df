"""A one-map policy on one of the maps of a feature-selection problem."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from ..carriers import validation
from ..carriers.binding import Binding, Several
from ..carriers.lanes import LaneArrays
from ..carriers.shapes import ExactShape, FeatureShape, SomeMaps
from ..carriers.streams import Channel, Seed
from ..carriers.validation import Constraint, Number, Whatever
from ..kernels.features import Lookup
from ..types import Array, Index, Mask
from .base import Choice, Policy
from .registry import register

P = TypeVar("P", bound=Policy)


def copied(policy: Policy | Callable[..., Policy], lanes: int | None, seed: Seed, name: str) -> Policy:
    """Return a fresh policy of our own with these lanes and this seed, from a fresh policy or a factory."""
    built = policy if isinstance(policy, Policy) or not callable(policy) else policy(lanes=lanes, seed=seed)
    if not isinstance(built, Policy):
        raise validation.refuse(name, policy, "a policy, or a factory that takes lanes and seed and returns one")
    if built._ledger.acts.any() or built._ledger.rounds.any():
        raise validation.refuse(name, policy, "a fresh policy: this one has already played or learned")
    return type(built)(**(copy.deepcopy(built.settings) | {"lanes": lanes, "seed": seed}))


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


@dataclass(frozen=True)
class EveryMap(Several):
    """One policy per map of the problem that will be met: what :func:`on_every_map` returns."""

    policy: Binding[Any]

    def __repr__(self) -> str:
        return f"on_every_map({self.policy!r})"

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> list[Binding["OnMap"]]:
        """Return the policy on map 0, 1, ..."""
        if "n_models" not in shapes:
            raise validation.refuse("on_every_map", dict(shapes), "a problem with several feature maps")
        return [on_map(self.policy, i).resolve(shapes, constants) for i in range(shapes["n_models"])]


def on_every_map(policy: Binding[Any]) -> EveryMap:
    """Return the bases of a meta-policy, one per feature map, for problems with any number of maps.

    Parameters
    ----------
    policy: what ``bind`` returned, of a policy that takes features ``(K, d)``.

    Examples
    --------
    >>> from banditselect import RegretBalancing, SquareCB
    >>> balancing = RegretBalancing.bind(bases=on_every_map(SquareCB.bind()))
    >>> len(balancing.resolve({"n_models": 3, "dim": 2}, {})().bases)
    3
    """
    if not isinstance(policy, Binding):
        raise validation.refuse("on_every_map: policy", policy, "what bind returned")
    return EveryMap(policy)


@register
class OnMap(Policy):
    """What :func:`on_map` returns: ``policy`` on map ``index``. What can be asked of the policy can be asked here."""

    reward_units = ("policy",)
    constraints: ClassVar[dict[str, Constraint]] = {"policy": Whatever(), "index": Number(low=0, integer=True)}

    def __init__(self, *, policy: Any, index: int, lanes: int | None = None, seed: Seed = 0) -> None:
        self.policy = copied(policy, lanes, seed, "OnMap: policy")
        self.index = index
        self.has_propensity = self.policy.has_propensity
        super().__init__(lanes, seed)

    @staticmethod
    def _shapes_inside(shapes: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shapes that the policy on the map sees."""
        dim, index = shapes.get("dim"), arguments.get("index", 0)
        if isinstance(dim, list | tuple | np.ndarray) and 0 <= index < len(dim):
            dim = dim[index]
        return {"dim": dim} if "dim" in shapes else {}

    def _shape(self) -> FeatureShape:
        shape = self.policy._features
        if not isinstance(shape, ExactShape) or shape.many:
            raise validation.refuse("OnMap: policy", self.policy, "a policy that takes features of shape (K, d)")
        self._width = shape.dims[0]
        return SomeMaps(((int(self.index), self._width),), n_actions=shape.n_actions)

    def _begin(self, lanes: int) -> Sequence[str]:
        self._memo_width = self.policy._memo_width
        self._has_bases = self.policy._has_bases
        return ()

    def _wrote(self, memo: Index) -> bool:
        return self.policy._wrote(memo)

    def _root(self, channel: Channel, first: int = 0) -> None:
        super()._root(channel, first)
        self.policy._root(channel, first)

    def _can_look_up(self) -> bool:
        return super()._can_look_up() and self.policy._looks_up

    def _mine(self, x: Array) -> Any:
        i = int(self.index)
        if isinstance(x, Lookup):
            return x.on_map(i, self._width)
        return np.ascontiguousarray(x[:, i : i + 1, ..., : self._width])

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, Index | None]:
        return self.policy._distribution(ids, self._mine(x), offered)

    def _choose(self, ids: Index, x: Array, offered: Mask, numbers: Index) -> Choice:
        return self.policy._choose(ids, self._mine(x), offered, numbers)

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        self.policy._teach(ids, self._mine(x), y, memo)
        for message in self.policy._drain():
            self._say(message)

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
