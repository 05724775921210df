"""OFUL on one feature map, and OFUL biased towards a centre."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers
from ..kernels.rounds import learn_ellipsoid
from ..parts.confidence import Ellipsoid
from ..parts.experts import RidgeBank
from ..types import Array, Index
from .base import per_lane
from .optimistic import OptimisticPolicy
from .registry import register


class _OneEllipsoid(OptimisticPolicy):
    """What OFUL and BiasOFUL share: a ridge about a centre, its ellipsoid, and optimism over it."""

    noise: float | ArrayLike
    delta: float

    def _build(self, lanes: int, center: Array, regularization: Array, bound: Array) -> Sequence[str]:
        with np.errstate(invalid="ignore"):
            prior = np.where(np.isinf(regularization), 0.0, np.sqrt(regularization) * bound)
        self._bank = RidgeBank(
            lanes=lanes,
            dims=np.array([center.shape[1]]),
            regularization=regularization[:, None],
            center=center[:, None],
        )
        self._sets = Ellipsoid(self._bank, noise=per_lane(self.noise, lanes), prior=prior, delta=self.delta)
        return ("_bank", "_sets")

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        self._sets.update(ids, self._bank, self._bank.learn(ids, x, y))

    def _learn(self, ids: Index, x: Array, y: Array, numbers: Index, memo: Index | None) -> int:
        bank, sets, book = self._bank, self._sets, self._ledger.book
        return learn_ellipsoid(
            ids,
            x,
            y,
            numbers,
            book,
            bank.theta,
            bank.root,
            bank.evidence,
            bank.updates,
            bank.dims,
            sets.constants,
            sets.log_term,
            sets.squared_radii,
            sets.spent,
        )

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``."""
        return self._told(self._bank.theta[:, 0])

    @property
    def squared_radii(self) -> Any:
        """Squared radius of the confidence ellipsoid in the norm of V."""
        return self._told(self.scale**2 * self._sets.squared_radii[:, 0])

    @property
    def regret_bound(self) -> Any:
        """Twice the widths of what was played: bounds the regret while the set is valid and rewards come at once."""
        return self._told(self.scale * self._sets.spent)

    def covers(self, theta: ArrayLike) -> Any:
        """Tell whether the confidence set contains ``theta``, ``(d,)`` or one per lane ``(N, d)``."""
        thetas = lane_vectors(theta, self._size, self._bank.theta.shape[2])
        return self._told(self._bank.distances(thetas)[:, 0] <= self.scale**2 * self._sets.squared_radii[:, 0])


def lane_vectors(theta: ArrayLike, lanes: int, dim: int) -> Array:
    """Return one parameter, or one per lane, as ``(N, d)``."""
    values = validation.as_floats("theta", theta, f"finite numbers of shape ({dim},) or ({lanes}, {dim})")
    if values.shape not in ((dim,), (lanes, dim)) or not np.isfinite(values).all():
        raise validation.refuse("theta", theta, f"finite numbers of shape ({dim},) or ({lanes}, {dim})")
    return np.array(np.broadcast_to(values, (lanes, dim)))


@register
class OFUL(_OneEllipsoid):
    r"""OFUL: plays the action whose reward could be highest within a confidence ellipsoid.

    With R the ``noise``, S the ``parameter_bound``, :math:`\lambda` the ``regularization``:

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\theta_t \rangle + \beta_t |\phi(a)|_{V_t^{-1}}, \quad
              \beta_t = R \sqrt{\log\det(V_t / \lambda) + 2 \log(1 / \delta)} + \sqrt\lambda S

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    noise: sub-Gaussian constant R of the rewards (1/2 for rewards in [0, 1]).
    parameter_bound: S, a bound on the norm of the reward parameter.
    delta: the set fails with at most this probability, over all rounds together.
    regularization: ridge penalty lambda > 0.
    scale: multiplies the radius; 1 is the theory, less is practice.

    Attributes
    ----------
    parameters: ``(d,)``.  squared_radii: beta^2.  covers(theta).
    regret_bound: of the regret so far, with probability 1 - delta, if every reward is learned before the next act.

    References
    ----------
    Abbasi-Yadkori, Pal, Szepesvari, "Improved algorithms for linear stochastic bandits", NeurIPS 2011.

    Examples
    --------
    >>> policy = OFUL(dim=2, noise=0.1, delta=0.05)
    >>> round(policy.squared_radii, 4)
    1.5495
    >>> policy.update(policy.act([[1.0, 0.0], [0.0, 2.0]]), 0.3)
    >>> policy.parameters
    array([0.  , 0.12])
    """

    reward_units = ("noise", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "scale": Number(low=0.0),
    }

    def __init__(
        self,
        *,
        dim: int,
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike = 1.0,
        scale: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.scale = scale
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((int(self.dim),), many=False)

    def _begin(self, lanes: int) -> Sequence[str]:
        bound = per_lane(self.parameter_bound, lanes)
        return self._build(lanes, np.zeros((lanes, int(self.dim))), per_lane(self.regularization, lanes), bound)


@register
class BiasOFUL(_OneEllipsoid):
    r"""BIAS-OFUL: OFUL whose ridge penalty is centred at a known point near the reward parameter.

    With h the ``center``, r the ``radius`` (a bound on :math:`|\theta_* - h|`) and :math:`\lambda = 1 / r^2`, it is
    OFUL with :math:`\hat\theta = h + V^{-1} \sum \phi (y - \langle \phi, h \rangle)` and S replaced by r. A radius of 0
    is a known parameter: the policy then plays greedily for h.

    Parameters
    ----------
    center: ``(d,)``, or one per lane ``(N, d)``.
    radius: a bound on the distance of the reward parameter from the centre.
    noise, delta, scale: as for :class:`OFUL`.

    Attributes
    ----------
    parameters: ``(d,)``.  squared_radii.  covers(theta).  regret_bound.

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
        "center": Numbers(shapes=((None,), (None, None))),
        "radius": Number(low=0.0, per_lane=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "scale": Number(low=0.0),
    }

    def __init__(
        self,
        *,
        center: ArrayLike,
        radius: float | ArrayLike = 1.0,
        noise: float | ArrayLike = 0.5,
        delta: float = 0.05,
        scale: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.center = center
        self.radius = radius
        self.noise = noise
        self.delta = delta
        self.scale = scale
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.center)[-1],), many=False)

    def _begin(self, lanes: int) -> Sequence[str]:
        if np.ndim(self.center) == 2 and (self.lanes is None or len(np.asarray(self.center)) != self.lanes):
            raise validation.refuse("BiasOFUL: center", self.center, "shape (d,), or (N, d) with lanes=N")
        radius = per_lane(self.radius, lanes)
        center = lane_vectors(self.center, lanes, np.shape(self.center)[-1])
        with np.errstate(divide="ignore", over="ignore"):
            return self._build(lanes, center, 1.0 / radius**2, radius)

    def _is_per_lane(self, name: str, value: Any) -> bool:
        return super()._is_per_lane(name, value) or (name == "center" and np.ndim(value) == 2)
