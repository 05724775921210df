"""BIAS-OFUL: OFUL biased towards a centre."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers, YesNo, lane_vectors
from .regimes.optimism import EllipsoidPolicy, OneEllipsoid


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

    Attributes
    ----------
    parameters: ``(d,)``.  constant: the constant term.  squared_radii.  covers(theta).  regret_bound.

    Notes
    -----
    Departures from its source, where tasks are drawn at random: :math:`\lambda = 1 / (T \mathrm{Var}_h)` there, with T
    the horizon and :math:`\mathrm{Var}_h` the mean square of :math:`|\theta_* - h|`; here the :math:`\lambda` that the
    paper has for its balls, which needs no horizon and no distribution of tasks, but carries the units of the rewards.
    The radius of the set, :math:`R \sqrt{\log\det(V / \lambda) + 2 \log(1 / \delta)} + \sqrt\lambda r`, ends in
    :math:`\sqrt\lambda r = 1`.

    Guarantee: that of :class:`~banditselect.OFUL` for parameters within r of the centre.

    References
    ----------
    Cella, Lazaric, Pontil, "Meta-learning with stochastic linear bandits", ICML 2020.

    Examples
    --------
    >>> BiasOFUL(center=[0.0, 1.0], radius=0.0).probabilities([[1.0, 0.0], [0.0, 1.0]])
    array([0., 1.])
    """

    reward_units = ("center", "radius", "noise")
    constraints: ClassVar[dict[str, Constraint]] = {
        "center": Numbers(shapes=((None,), (None, None)), lane_axes=2),
        "radius": Number(low=0.0, per_lane=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "scale": Number(low=0.0),
        "intercept": YesNo(),
    }

    def __init__(
        self,
        *,
        center: ArrayLike,
        radius: float | ArrayLike = 1.0,
        noise: float | ArrayLike = 0.5,
        delta: float = 0.05,
        scale: float = 1.0,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.center = center
        self.radius = radius
        self.noise = noise
        self.delta = delta
        self.scale = scale
        self.intercept = intercept
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.center)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        radius = per_lane(self.radius, lanes)
        with np.errstate(divide="ignore", over="ignore"):
            lam = 1.0 / radius**2
        self._sets = OneEllipsoid(
            center=lane_vectors(self.center, lanes, np.shape(self.center)[-1]),
            regularization=lam,
            bound=radius,
            noise=self.noise,
            delta=self.delta,
            scale=self.scale,
            constant=bool(self.intercept),
        )
