"""BIAS-OFUL: OFUL biased towards a centre."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..models.confidence import Ellipsoids
from ..models.ridge_bank import RidgeBank, with_zero
from ..plays.optimism import Optimism
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.inputs import lane_vectors
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from . import shared
from .ellipsoid_policy import EllipsoidPolicy


@register
class BiasOFUL(EllipsoidPolicy):
    r"""BIAS-OFUL: OFUL whose ridge penalty is centred at a known point near the reward parameter.

    With h the ``center``, r the ``radius`` (a bound on :math:`|\theta_* - h|`) and :math:`\lambda = 1 / r^2`, it is
    OFUL with :math:`\hat\theta = h + V^{-1} \sum \phi (y - \langle \phi, h \rangle)` and S replaced by r. A radius of 0
    is a known parameter: the policy then plays greedily for h.

    Parameters
    ----------
    center: ``(d,)``, or one per lane ``(N, d)``.
    radius: a bound on the distance of the reward parameter from the centre.
    noise, delta, scale: as for :class:`~banditselect.OFUL`.
    intercept: whether a constant feature 1 stands before the features. The centre is 0 there, and the radius that of
        the whole parameter.

    Notes
    -----
    Departures from its source, where tasks are drawn at random: :math:`\lambda = 1 / (T \mathrm{Var}_h)` there, with T
    the horizon and :math:`\mathrm{Var}_h` the mean square of :math:`|\theta_* - h|`; here the :math:`\lambda` that the
    paper has for its balls, which needs no horizon and no distribution of tasks, but carries the units of the rewards.
    The radius of the set, :math:`R \sqrt{\log\det(V / \lambda) + 2 \log(1 / \delta)} + \sqrt\lambda r`, ends in
    :math:`\sqrt\lambda r = 1`.

    Guarantee: that of :class:`~banditselect.OFUL` for parameters within r of the centre.

    Reference: Cella, Lazaric, Pontil, "Meta-learning with stochastic linear bandits", ICML 2020.

    Examples
    --------
    >>> BiasOFUL(center=[0.0, 1.0], radius=0.0).probabilities([[1.0, 0.0], [0.0, 1.0]])
    array([0., 1.])
    """

    center: ArrayLike = argument(shared.CENTER, unit="reward")
    radius: float | ArrayLike = shared.PARAMETER_BOUND
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE
    intercept: bool = shared.NO_INTERCEPT

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return an ellipsoid around a ridge estimate about the centre, played by optimism."""
        d, radius = np.shape(self.center)[-1], per_lane(self.radius, lanes)
        with np.errstate(divide="ignore", over="ignore"):
            lam = (1.0 / radius**2)[:, None]
        center = lane_vectors(self.center, lanes, d)
        center = (with_zero(center) if self.intercept else center)[:, None]
        bank = RidgeBank.of(maps_of(d), lanes, lam, center=center, constant=self.intercept)
        return (
            Ellipsoids(bank, noise=self.noise, bound=radius, regularization=lam, delta=self.delta, scale=self.scale),
            Optimism(),
        )
