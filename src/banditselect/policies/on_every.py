"""As many policies as the problem has models: one per feature map, or one per ball."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.binding import Binding, Constant, Pending, Several, given
from ..runtime.errors import refuse
from .on_map import OnMap, on_map


@dataclass(frozen=True, repr=False)
class EveryMap(Several):
    """The bases of a master, one per feature map, for problems with any number of maps: ``on_every_map(policy)``.

    Parameters
    ----------
    policy: what ``bind`` returned, of a policy that takes features ``(K, d)``.

    Examples
    --------
    >>> from banditselect import RegretBalancing, SquareCB, on_every_map
    >>> balancing = RegretBalancing.bind(bases=on_every_map(SquareCB.bind()))
    >>> len(balancing.resolve({"n_models": 3, "dim": 2}, {})().bases)
    3
    """

    policy: Binding[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Binding):
            raise refuse("on_every_map: policy", self.policy, "what bind returned")

    def __repr__(self) -> str:
        return f"on_every_map({self.policy!r})"

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> list[Binding[OnMap]]:
        """Return the policy on map 0, 1, ..."""
        if "n_models" not in shapes:
            raise refuse("on_every_map", dict(shapes), "a problem with several feature maps")
        return [on_map(self.policy, i).resolve(shapes, constants) for i in range(shapes["n_models"])]


@dataclass(frozen=True, repr=False)
class EveryBall(Several):
    """The bases of a master, one per ball of a parameter-selection problem: ``on_every_ball(policy)``.

    Base i is ``policy`` with ``center`` the i-th of the centres and, if it has that argument and it is not bound,
    ``radius`` the i-th of the radii. RB-OFUL over M balls is ``RegretBalancing.bind(bases=on_every_ball(BiasOFUL.bind(
    noise=given.noise)))``; a list of bases may mix them with others.

    Parameters
    ----------
    policy: what ``bind`` returned, of a policy that has an argument ``center``, which is not bound.
    centers: ``(M, d)``, or one set per lane ``(N, M, d)``; those of the problem by default.
    radii: a number, ``(M,)``, or ``(N, M)``; those of the problem by default.

    Examples
    --------
    >>> from banditselect import Greedy, RegretBalancing, Uniform, on_every_ball
    >>> latent = RegretBalancing.bind(bases=[Uniform.bind(), on_every_ball(Greedy.bind())])
    >>> latent.resolve({}, {"centers": [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]})().bases
    (Uniform(), Greedy(center=[0.9, 0.1]), Greedy(center=[0.2, 0.8]), Greedy(center=[0.5, 0.5]))
    """

    policy: Binding[Any]
    _: KW_ONLY
    centers: ArrayLike | Pending = given.centers
    radii: ArrayLike | Pending = given.radii
    filled: ClassVar[tuple[str, ...]] = ("center",)

    def __post_init__(self) -> None:
        policy = self.policy
        if not isinstance(policy, Binding) or "center" not in policy.parameters or "center" in policy.arguments:
            expected = "what bind returned, of a policy with an argument center that is not bound"
            raise refuse("on_every_ball: policy", policy, expected)

    def __repr__(self) -> str:
        own = {"centers": self.centers, "radii": self.radii}
        shown = [f", {n}={v!r}" for n, v in own.items() if not (isinstance(v, Constant) and v == Constant(n))]
        return f"on_every_ball({self.policy!r}{''.join(shown)})"

    @property
    def whole(self) -> Binding[Any]:
        """The policy with all centres and radii in the place of its own."""
        own = {"center": self.centers} | ({"radius": self.radii} if self._gives_radii else {})
        return Binding(self.policy.cls, self.policy.arguments | own)

    @property
    def _gives_radii(self) -> bool:
        return "radius" in self.policy.parameters and "radius" not in self.policy.arguments

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> list[Binding[Any]]:
        """Return the policy on ball 0, 1, ..."""
        whole = self.whole.resolve(shapes, constants)
        centers = np.asarray(whole.arguments["center"], dtype=float)
        if centers.ndim not in (2, 3):
            raise refuse("on_every_ball: centers", centers, "shape (M, d) or (N, M, d)")
        M = centers.shape[-2]
        each: dict[str, Any] = {"center": np.moveaxis(centers, -2, 0).copy()}
        if self._gives_radii:
            radii = np.asarray(whole.arguments["radius"], dtype=float)
            if radii.ndim > 2 or radii.shape[-1:] not in ((), (M,)):
                raise refuse("on_every_ball: radii", radii, f"shape (), ({M},) or (N, {M})")
            radii = np.broadcast_to(radii, (*radii.shape[:-1], M))
            each["radius"] = list(radii.T.copy()) if radii.ndim == 2 else radii.tolist()
        return [Binding(whole.cls, whole.arguments | {name: v[i] for name, v in each.items()}) for i in range(M)]


on_every_map, on_every_ball = EveryMap, EveryBall  #: read as calls: bases=on_every_map(policy)
