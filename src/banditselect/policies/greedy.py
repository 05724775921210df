"""The greedy policy of a known parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import ridge
from ..kernels.features import Features
from ..models.model import Model
from ..plays.optimism import Best
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.inputs import lane_vectors
from ..runtime.shapes import maps_of
from ..types import Array, Index
from . import shared
from .policy import Policy


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

    center: ArrayLike = argument(shared.CENTER, unit="reward")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the known parameter, played greedily."""
        return KnownParameter(lane_vectors(self.center, lanes, np.shape(self.center)[-1])), Best()


class KnownParameter(Model):
    """Predicts with a given parameter ``theta (N, d)`` and learns nothing."""

    fixed = ("theta",)
    shared = ("first",)
    reads_lookups = True

    def __init__(self, theta: Array) -> None:
        super().__init__(maps_of(theta.shape[1]))
        self.theta, self.first = theta[:, None], np.arange(2)

    def predict(self, ids: Index, x: Features) -> Array:
        """Return the predicted reward of every action, ``(n, K)``."""
        return ridge.predict(ids, x.values, x.block, self.theta, self.first)[:, 0]
