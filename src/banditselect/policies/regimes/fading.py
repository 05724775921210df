"""Where rewards fade: OFUL's ellipsoid, and the aggregate of experts by their evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...carriers import validation
from ...kernels import acting, forgetting, ridge
from ...kernels.features import clean
from ...kernels.ledger import settle
from ...kernels.rounds import DONE, UNUSABLE
from ...parts.forgetting import Forgetting
from ...types import Array, Index, Mask
from .inverse_gap import ByEvidence
from .optimism import OneEllipsoid


class FadingEllipsoid(OneEllipsoid):
    r"""The ellipsoid of D-LinUCB: around a ridge estimate of rewards that count :math:`\gamma^k` when k rounds old.

    With V the matrix of these weights (``parts.forgetting``) and
    :math:`W = \lambda I + \sum_s \gamma^{2 (t - s)} x_s x_s^\top` that of their squares, a parameter that has not
    changed satisfies, with probability :math:`1 - \delta` for all t at once (``docs/math.md``, section 14),

    .. math:: |\theta_* - \hat\theta_t|_{V W^{-1} V} \le \beta_t =
              R \sqrt{\log\det(W / \lambda) + 2 \log(t (t + 1) / \delta)} + \sqrt\lambda S

    Parameters
    ----------
    memory: m of :class:`~banditselect.parts.forgetting.Forgetting`.  arguments: those of ``OneEllipsoid``.

    Attributes
    ----------
    squares: W, ``(N, d, d)``.  reach: a root of :math:`V^{-1} W V^{-1}`, ``(N, 1, d, d)``, which takes :math:`d^3`
        steps for every reward.  penalty: lambda, ``(N,)``.
    """

    state = ("squares", "reach")
    fixed = ("penalty",)

    def __init__(self, memory: float, **arguments: Any) -> None:
        if arguments["blocks"] > 1:
            raise validation.refuse("OFUL: memory", memory, "None where the map has blocks: W is that of one parameter")
        super().__init__(**arguments)
        self.forgetting = Forgetting(self.bank, memory)
        self.penalty = np.array(arguments["regularization"])
        d = self.bank.theta.shape[2]
        self.squares = self.penalty[:, None, None] * np.eye(d)
        self.reach = np.array(self.bank.root[..., :d], order="C")

    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that the set allows, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        acting.upper_bounds(*(ids, x, *self.show(ids), out))
        return out

    def show(self, ids: Index) -> tuple[Any, ...]:
        """Return what ``play_kernel`` is shown; it is the same for all lanes, and kept."""
        self._show = (self.bank.theta, self.reach, self.bank.dims, self.radii, self.scale)
        return self._show

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index) -> int:
        """Settle acts and learn their rewards."""
        if not clean(x):
            return UNUSABLE
        status = settle(ids, numbers, book)
        if status >= 0:
            return status
        bank, (constants, log_term, radii, spent) = self.bank, self.ellipsoid.hand()
        self.forgetting.learn(ids, bank, x, y)
        gamma, root, updates = self.forgetting.gamma, bank.root, bank.updates
        forgetting.fade_ellipsoids(
            *(ids, x, gamma, self.penalty, root, updates, constants, log_term),
            *(self.squares, self.reach, radii, spent),
        )
        return DONE

    def holds(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Tell whether the ellipsoid of lane n, which has one map, holds ``thetas[n]``, ``(N,)``."""
        out = np.empty((len(thetas), 1))
        ridge.distances(self.bank.theta, self.reach, self.bank.group, thetas, out)
        return out[:, 0] <= self.scale**2 * self.radii[:, 0]


class ByFadingEvidence(ByEvidence):
    """The mean prediction under the posterior of experts that forget, whose evidence fades with the rewards."""

    forgetting: Forgetting

    def __init__(self, forgetting: Forgetting, *experts: Any) -> None:
        super().__init__(*experts)
        self.forgetting = forgetting

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index, memo: Index | None) -> int:
        """Settle acts and learn their rewards."""
        if not clean(x):
            return UNUSABLE
        status = settle(ids, numbers, book)
        if status >= 0:
            return status
        self.forgetting.learn(ids, self.bank, x, y)
        self._messages += self.expected.watch(ids, y)
        return DONE
