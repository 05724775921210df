"""Linear Thompson sampling on one feature map."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import ridge
from ..kernels.features import Features
from ..models.ridge_bank import RidgeBank, with_zero
from ..plays.sampling import Sampling
from ..runtime.arguments import argument
from ..runtime.constraints import Numbers
from ..runtime.errors import refuse
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from ..types import Array, Index
from . import shared
from .policy import Policy


@register
class LinTS(Policy):
    r"""Linear Thompson sampling: draws a parameter from the posterior and plays greedily for it.

    .. math:: \tilde\theta \sim N(\hat\theta_t, (s R)^2 V_t^{-1}), \qquad
              a_t = \arg\max_a \langle \phi(a), \tilde\theta \rangle

    with R the ``noise`` and s the ``scale``. The probability of an action has no closed form: ``decision.probability``
    and ``probabilities`` are None.

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.  blocks: as :class:`LinIDS` has them.
    noise: standard deviation R of the rewards.
    regularization: ridge penalty lambda > 0.
    scale: multiplies the spread; 1 is the posterior for Gaussian rewards and prior N(h, R^2 / lambda). The regret bound
        of the reference needs a spread of R sqrt(9 d log(t / delta)).
    center: h, where the ridge penalty is centred: ``(d,)``, or one per lane ``(N, d)``; None for 0. The same for all
        blocks.
    intercept: whether a constant feature 1 stands before the features. The centre is 0 there.
    memory: as for :class:`LinIDS`; the spread stays that of about m rewards.

    References
    ----------
    Agrawal, Goyal, "Thompson sampling for contextual bandits with linear payoffs", ICML 2013.

    Examples
    --------
    >>> policy = LinTS(dim=2, seed=1)
    >>> policy.update(policy.act([[1.0, 0.0], [0.0, 1.0]]), 1.0)
    >>> policy.probabilities([[1.0, 0.0], [0.0, 1.0]]) is None
    True
    """

    dim: int = argument(shared.SIZE)
    blocks: int = shared.BLOCKS
    noise: float | ArrayLike = shared.NOISE
    regularization: float | ArrayLike = shared.REGULARIZATION
    scale: float = shared.SCALE
    center: ArrayLike | None = argument(
        Numbers(shapes=((None,), (None, None)), lane_axes=2, optional=True), default=None, unit="reward"
    )
    intercept: bool = shared.NO_INTERCEPT
    memory: float | None = shared.MEMORY

    parameters = shared.PARAMETERS
    constant = shared.CONSTANT

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return a ridge regression, played by sampling its parameter."""
        h = np.zeros(self.dim) if self.center is None else np.asarray(self.center, dtype=float)
        if h.shape[-1] != self.dim:
            raise refuse("LinTS: center", self.center, f"{self.dim} numbers, as dim says")
        h = np.broadcast_to(with_zero(h) if self.intercept else h, (lanes, self.dim + self.intercept))
        lam, shape = per_lane(self.regularization, lanes)[:, None], maps_of(self.dim, self.blocks)
        model = GaussianRidge.of(shape, lanes, lam, center=h[:, None], constant=self.intercept, memory=self.memory)
        model.spread = self.scale * per_lane(self.noise, lanes)
        return model, Sampling()


class GaussianRidge(RidgeBank):
    """A ridge regression whose parameter is normal about its estimate.

    Attributes
    ----------
    spread: standard deviation of the parameter in the norm of V, ``(N,)``.
    """

    fixed = (*RidgeBank.fixed, "spread")
    spread: Array

    @property
    def n_normals(self) -> int:
        """Number of normals that ``sampled`` takes."""
        return self.theta[0].size

    def sampled(self, ids: Index, x: Features, normals: Array) -> Array:
        """Return the scores ``(n, K)`` of a parameter drawn from the posterior."""
        theta = ridge.gaussian_estimates(ids, self.root, self.theta, normals, self.spread)
        return ridge.predict(np.arange(ids.size), x.values, x.block, theta, self.first)[:, 0]
