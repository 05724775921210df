"""OFUL on one feature map."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..models.confidence import DiscountedEllipsoid, Ellipsoids
from ..models.ridge_bank import RidgeBank
from ..plays.optimism import Optimism
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from . import shared
from .ellipsoid_policy import EllipsoidPolicy


@register
class OFUL(EllipsoidPolicy):
    r"""OFUL: plays the action whose reward could be highest within a confidence ellipsoid.

    With R the ``noise``, S the ``parameter_bound``, :math:`\lambda` the ``regularization``:

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\theta_t \rangle + \beta_t |\phi(a)|_{V_t^{-1}}, \quad
              \beta_t = R \sqrt{\log\det(V_t / \lambda) + 2 \log(1 / \delta)} + \sqrt\lambda S

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    blocks: as :class:`LinIDS` has them; bounds speak of all blocks together.
    noise: sub-Gaussian constant R of the rewards (1/2 for rewards in [0, 1]).
    parameter_bound: S, a bound on the norm of the reward parameter.
    delta: the set fails with at most this probability, over all rounds together.
    regularization: ridge penalty lambda > 0.
    scale: multiplies the radius; 1 is the theory, less is practice.
    intercept: whether a constant feature 1 stands before the features; bounds speak of the whole parameter then.
    memory: as for :class:`LinIDS`; the set is then that of D-LinUCB, see the notes.

    Notes
    -----
    With a ``memory``, :math:`\gamma = 1 - 1 / m`, and :math:`V_t`, :math:`W_t` made of the features played with the
    weights :math:`\gamma^k` and :math:`\gamma^{2 k}`:

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\theta_t \rangle +
              \beta_t |\phi(a)|_{V_t^{-1} W_t V_t^{-1}}, \quad
              \beta_t = R \sqrt{\log\det(W_t / \lambda) + 2 \log(t (t + 1) / \delta)} + \sqrt\lambda S

    The set is valid, and so is ``regret_bound``, while the parameter does not change; ``docs/math.md``, section 14,
    says how far off it may be after a change. A reward takes about d^3 steps then, instead of d^2.

    References: Abbasi-Yadkori, Pal, Szepesvari, "Improved algorithms for linear stochastic bandits", NeurIPS 2011.
    Russac, Vernade, Cappe, "Weighted linear bandits for non-stationary environments", NeurIPS 2019.

    Examples
    --------
    >>> policy = OFUL(dim=2, noise=0.1, delta=0.05)
    >>> round(policy.squared_radii, 4)
    1.5495
    >>> policy.update(policy.act([[1.0, 0.0], [0.0, 2.0]]), 0.3)
    >>> policy.parameters
    array([0.  , 0.12])
    """

    dim: int = argument(shared.SIZE)
    blocks: int = shared.BLOCKS
    noise: float | ArrayLike = shared.NOISE
    parameter_bound: float | ArrayLike = shared.PARAMETER_BOUND
    delta: float = shared.DELTA
    regularization: float | ArrayLike = shared.REGULARIZATION
    scale: float = shared.SCALE
    intercept: bool = shared.NO_INTERCEPT
    memory: float | None = shared.MEMORY

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return an ellipsoid around a ridge estimate, played by optimism."""
        shape, lam = maps_of(self.dim, self.blocks), per_lane(self.regularization, lanes)[:, None]
        if self.memory is not None:
            self.demand("memory was given", default=("blocks",))
        bank = RidgeBank.of(shape, lanes, lam, constant=self.intercept, memory=self.memory)
        ellipsoid = Ellipsoids if self.memory is None else DiscountedEllipsoid
        bound = per_lane(self.parameter_bound, lanes)
        return (
            ellipsoid(bank, noise=self.noise, bound=bound, regularization=lam, delta=self.delta, scale=self.scale),
            Optimism(),
        )
