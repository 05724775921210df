"""The greedy policy of a known parameter."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.lanes import LaneArrays
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, Numbers
from ..kernels import ridge
from ..parts.exploration import greedy
from ..types import Array, Index, Mask
from .base import Policy
from .oful import lane_vectors
from .registry import register


class Known(LaneArrays):
    """A parameter that is not learned, ``(N, 1, d)``."""

    fixed = ("theta",)

    def __init__(self, theta: Array) -> None:
        self.theta = theta[:, None]


@register
class Greedy(Policy):
    r"""Trusts a model: plays the action that is best for a given parameter, and learns nothing.

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\mu \rangle

    with :math:`\hat\mu` the ``center``. It is what one plays without a bandit, hence the baseline that a learner must
    beat, and as a base of :class:`RegretBalancing` the policy of one latent model.

    Parameters
    ----------
    center: the parameter, ``(d,)``, or one per lane ``(N, d)``; features are ``(K, d)``.

    Notes
    -----
    Guarantee: if every mean reward is within :math:`\varepsilon` of :math:`\langle \phi(a), \hat\mu \rangle`, the
    regret is at most :math:`2 \varepsilon` a round; nothing is found out if it is not.

    Examples
    --------
    >>> policy = Greedy(center=[0.2, 0.5])
    >>> policy.probabilities([[1.0, 0.0], [0.0, 1.0], [2.0, 0.3]])
    array([0., 0., 1.])
    """

    reward_units = ("center",)
    constraints: ClassVar[dict[str, Constraint]] = {"center": Numbers(shapes=((None,), (None, None)))}

    def __init__(self, *, center: ArrayLike, lanes: int | None = None, seed: Seed = 0) -> None:
        self.center = center
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.center)[-1],), many=False)

    def _begin(self, lanes: int) -> Sequence[str]:
        if np.ndim(self.center) == 2 and (self.lanes is None or len(np.asarray(self.center)) != self.lanes):
            raise validation.refuse("Greedy: center", self.center, "shape (d,), or (N, d) with lanes=N")
        self._known = Known(lane_vectors(self.center, lanes, np.shape(self.center)[-1]))
        return ("_known",)

    def _is_per_lane(self, name: str, value: Any) -> bool:
        return name == "center" and np.ndim(value) == 2

    def _distribution(self, ids: Index, x: Array, offered: Mask) -> tuple[Array, None]:
        score = np.empty((ids.size, 1, x.shape[2]))
        ridge.predict(ids, x, self._known.theta, score)
        return greedy(score[:, 0], offered), None

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        pass
