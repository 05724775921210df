"""OFUL's confidence ellipsoids around ridge estimates, and those of rewards that fade."""

import math
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import inlined, kernel, ridge
from ..kernels.features import Features
from ..runtime.lanes import LaneArrays, per_lane
from ..types import Array, Index, Mask
from .ridge_bank import BankModel, RidgeBank, known_as_zero


class SelfNormalizedRadii(LaneArrays):
    r"""The radii of OFUL's confidence ellipsoids around the ridge estimate of every model, each of level delta.

    .. math:: \beta_t = R \sqrt{\log\det(V_t \Lambda^{-1}) + 2 \log(1 / \delta)} + \sqrt\lambda S

    Reference: Abbasi-Yadkori, Pal, Szepesvari (2011), Theorem 2.

    Attributes
    ----------
    constants: R ``(N,)`` and the last terms ``(N, M)``, ``(N, 1 + M)``.
    squared: beta^2 after the last update, ``(N, M)``.
    spent: the sum of 2 beta |phi|_{V^-1} over the actions played, the least of any model, ``(N,)``: bounds the regret
        of playing the action of highest least upper bound while all sets are valid.
    """

    state = ("squared", "spent")
    fixed = ("constants",)

    def __init__(self, noise: Array, prior: Array, delta: float) -> None:
        self.constants = np.column_stack([noise, prior])
        self.log_term = math.log(1.0 / delta)
        self.squared = (noise[:, None] * math.sqrt(2.0 * self.log_term) + prior) ** 2
        self.spent = np.zeros(noise.size)

    def arrays(self) -> tuple[Any, ...]:
        """Return the arrays that kernels read: ``sets``."""
        return self.constants, self.log_term, self.squared, self.spent


class Ellipsoids(BankModel):
    """OFUL's ellipsoids around the ridge estimates of M feature maps.

    Parameters
    ----------
    bank: the regressions.  noise: sub-Gaussian constants, a number or ``(N,)``.
    bound: on the norms of the parameters, about the centres of the bank, ``(N,)``.
    regularization: that of the bank, ``(N, M)``; infinite for a known parameter.
    delta: each ellipsoid fails with at most this probability.  scale: multiplies the radii; 1 is the theory.
    least: whether the upper bound of an action is the least of all models instead of the largest.
    """

    one_kernel = True
    bank: RidgeBank
    root = property(attrgetter("bank.root"))

    def __init__(
        self,
        bank: RidgeBank,
        *,
        noise: ArrayLike,
        bound: Array,
        regularization: Array,
        delta: float,
        scale: float,
        least: bool = False,
    ) -> None:
        super().__init__(bank)
        self.scale, self.least = float(scale), least
        prior = np.sqrt(known_as_zero(regularization)) * bound[:, None]
        self.radii = SelfNormalizedRadii(per_lane(noise, len(prior)), prior, delta)

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        r"""Return :math:`\max_i \langle \phi_i(a), \hat\theta_i \rangle + s \beta_i |\phi_i(a)|_{V_i^{-1}}`.

        Shape ``(n, K)``. The least over i instead of the largest where ``least`` was chosen.
        """
        bank = self.bank
        ellipsoids = (bank.theta, self.root, bank.dims, bank.first, self.radii.squared)
        return ridge.upper_bounds(ids, x.values, x.block, ellipsoids, self.scale, self.least)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards and take the radii."""
        learn_ellipsoids(ids, x.values, x.block, y, self.bank.arrays(), self.radii.arrays())

    def squared_radii(self) -> Array:
        """Return the squared radii in the norms of V, ``(N, M)``."""
        return self.scale**2 * self.radii.squared

    def squared_radius(self) -> Array:
        """Return the squared radius of the first ellipsoid, ``(N,)``."""
        return self.squared_radii()[:, 0]

    def regret_bound(self) -> Array:
        """Return twice the widths of the actions played, summed, ``(N,)``."""
        return self.scale * self.radii.spent

    def covers(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Return whether the ellipsoid of any of these maps holds ``thetas[n]``, ``(N,)``."""
        inside = self.bank.distances(thetas, models, self.root) <= self.squared_radii()[:, models]
        return np.asarray(inside.any(axis=1))


class DiscountedEllipsoid(Ellipsoids):
    r"""The ellipsoid of D-LinUCB: around a ridge estimate of rewards that count :math:`\gamma^k` when k rounds old.

    With V the matrix of these weights (``models.forgetting``) and
    :math:`W = \lambda I + \sum_s \gamma^{2 (t - s)} x_s x_s^\top` that of their squares, a parameter that has not
    changed satisfies, with probability :math:`1 - \delta` for all t at once (``docs/math.md``, section 14),

    .. math:: |\theta_* - \hat\theta_t|_{V W^{-1} V} \le \beta_t =
              R \sqrt{\log\det(W / \lambda) + 2 \log(t (t + 1) / \delta)} + \sqrt\lambda S

    The ``bank`` has one ridge per lane that forgets, over a map with one block.

    Attributes
    ----------
    W: ``(N, d, d)``.  root_of_W: a root of :math:`V^{-1} W V^{-1}`, ``(N, 1, d, d)``, which takes :math:`d^3` steps for
        every reward.  penalty: lambda, ``(N,)``.
    """

    state = ("W", "root_of_W")
    fixed = ("penalty",)
    one_kernel = False
    root = property(attrgetter("root_of_W"))

    def __init__(self, bank: RidgeBank, *, regularization: Array, **arguments: Any) -> None:
        super().__init__(bank, regularization=regularization, **arguments)
        self.penalty = regularization[:, 0].copy()
        d = bank.theta.shape[2]
        self.W = self.penalty[:, None, None] * np.eye(d)
        self.root_of_W = np.array(bank.root[..., :d], order="C")

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards and take the ellipsoid."""
        bank = self.bank
        bank.step(ids, x, y)
        discounted = (self.penalty, self.W, self.root_of_W)
        gamma = bank.forgetting.gamma  # type: ignore[union-attr]
        fade_ellipsoids(ids, x.values, gamma, bank.root, bank.updates, discounted, self.radii.arrays())


@inlined
def take_radii(ids: Index, evidence: Array, before: Array, sets: Any) -> None:
    """Add the least ``2 beta_i sqrt(q_i)`` to ``spent[n]``; write ``squared[n, i] = beta_i^2`` for the bank as it is.

    ``q_i = before[1, r, i]``, the leverages before the update.
    """
    constants, log_term, squared, spent = sets
    for r in range(ids.size):
        n = ids[r]
        least = np.inf
        for i in range(squared.shape[1]):
            least = min(least, math.sqrt(squared[n, i] * before[1, r, i]))
            radius = constants[n, 0] * math.sqrt(evidence[n, 0, i] + 2.0 * log_term) + constants[n, 1 + i]
            squared[n, i] = radius * radius
        spent[n] += 2.0 * least


@kernel
def learn_ellipsoids(ids: Index, x: Array, block: Index, y: Array, ridges: Any, sets: Any) -> None:
    """Learn ``x (n, P, d)`` and ``y (n,)`` in a bank of ridges and take the radii of their ellipsoids."""
    before = np.empty((2, ids.size, sets[2].shape[1]))
    ridge.learn(ids, x, block, y, ridges, before)
    take_radii(ids, ridges[2], before, sets)


@kernel
def fade_ellipsoids(
    ids: Index, x: Array, gamma: float, root: Array, updates: Index, discounted: Any, sets: Any
) -> None:
    """Let ``W`` fade to ``gamma^2 W + (1 - gamma^2) penalty I + x x'``, and take the ellipsoid, for ``x (n, 1, d)``.

    ``discounted = (penalty, W, root_of_W)``; the ``V`` of ``root`` has learned ``x`` already. Add
    ``2 beta |root_of_W' x|`` of the old set to ``spent[n]``.
    """
    penalty, W, root_of_W = discounted
    constants, log_term, squared, spent = sets
    d = W.shape[1]
    half, across = np.empty((d, d)), np.empty((d, d))
    for r in range(ids.size):
        n = ids[r]
        width = 0.0
        for k in range(d):
            total = 0.0
            for j in range(d):
                total += root_of_W[n, 0, j, k] * x[r, 0, j]
            width += total * total
        spent[n] += 2.0 * math.sqrt(squared[n, 0] * width)
        for j in range(d):
            for k in range(d):
                W[n, j, k] = gamma * gamma * W[n, j, k] + x[r, 0, j] * x[r, 0, k]
            W[n, j, j] += (1.0 - gamma * gamma) * penalty[n]
        logdet = ridge.cholesky(W[n], 0.0, penalty[n], half)
        across[:] = root_of_W[n, 0] = 0.0
        for j in range(d):
            for k in range(d):
                for m in range(j + 1):
                    across[k, m] += root[n, 0, j, k] * half[j, m]
        for j in range(d):
            for k in range(d):
                for m in range(d):
                    root_of_W[n, 0, j, m] += root[n, 0, j, k] * across[k, m]
        t = float(updates[n])
        radius = constants[n, 0] * math.sqrt(logdet + 2.0 * (log_term + math.log(t * (t + 1.0)))) + constants[n, 1]
        squared[n, 0] = radius * radius
