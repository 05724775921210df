"""The greedy policy of a known parameter."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import PerLane
from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import Constraint, Numbers, lane_vectors
from ..kernels import ridge
from ..parts.exploration import greedy
from ..types import Array, Index, Mask
from .base import Policy


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
    constraints: ClassVar[dict[str, Constraint]] = {"center": Numbers(shapes=((None,), (None, None)), lane_axes=2)}
    _looks_up = True

    def __init__(self, *, center: ArrayLike, lanes: int | None = None, seed: Seed = 0) -> None:
        self.center = center
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.center)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        self._known = PerLane(theta=lane_vectors(self.center, lanes, np.shape(self.center)[-1])[:, None])

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        score = np.empty((ids.size, 1, x.shape[2]))
        ridge.predict(ids, x, self._known.theta, score)
        return greedy(score[:, 0], offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        pass
