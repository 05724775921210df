"""D3RB and ED2RB: balancing of regrets that are estimated from the rewards of the bases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import kernel
from ..policies import shared
from ..policies.contract import answer
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.files import register
from ..runtime.inputs import SMALLEST
from ..types import Array, Index
from .balancing import MeanWidths, TalliedBases, radius, share_least
from .master import BASES, Master

COEFFICIENT = argument(Number(low=SMALLEST), default=1.0, unit="reward")
COEFFICIENTS = answer("coefficient", "Estimated regret of each base over the root of its rounds, ``(M,)``.")
POTENTIALS = answer("potential", "Balanced regrets: the base with the smallest plays next, ``(M,)``.")


@register
class D3RB(Master):
    r"""Doubling data-driven regret balancing: each base is believed a small regret until its rewards refute that.

    Base i has played :math:`N_i` rounds and earned :math:`R_i` in them. Its regret is thought to be
    :math:`\hat d_i \sqrt{N_i}`, where :math:`\hat d_i` begins with the ``coefficient``. Each base plays once, and then
    the one whose regret is smallest:

    .. math:: I_t = \arg\min_i \phi_i, \qquad \phi_i = \hat d_i \sqrt{N_i}

    After its reward, the :math:`\hat d_i` of the base that played is doubled if that is too little to explain it:

    .. math:: \frac{R_i}{N_i} + \frac{\hat d_i}{\sqrt{N_i}} + r(N_i) < \max_j \frac{R_j}{N_j} - r(N_j), \qquad
              r(n) = 1.7 c R \sqrt{\frac{\log\log 2n + 0.72 \log(10.4 M / \delta)}{n}}

    where R is the ``noise`` and c the ``scale``.

    Parameters
    ----------
    bases: as :class:`RegretBalancing` has them.
    coefficient: :math:`d_{min}`, the regret over :math:`\sqrt n` that every base is believed; smaller ones are not
        distinguished.
    noise, delta, scale: as :class:`BalancingElimination` has them.

    Notes
    -----
    No bound on the regret of any base has to be known. The ``coefficients`` :math:`\hat d_i` never fall. Ties,
    ``learn`` and the departure of the width from print are as in :class:`BalancingElimination`.

    Guarantee, of the reference: with rewards learned at once, and a best expected reward that does not change, regret
    of order :math:`d M \sqrt T + d^2 \sqrt{M T}` up to logarithms, where d is the largest regret over :math:`\sqrt n`
    that the best base has had in its rounds, or :math:`d_{min}` if that is larger, for rewards in [0, 1].

    Reference: Pacchiano, Dann, Gentile, "Data-driven online model selection with regret guarantees", AISTATS 2024.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform
    >>> policy = D3RB(bases=[Uniform(), OFUL(dim=1)], noise=0.1, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act([[1.0], [2.0]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.plays, policy.coefficients
    (array([ 37, 163]), array([4., 1.]))
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    coefficient: float = COEFFICIENT
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE

    coefficients, potentials = COEFFICIENTS, POTENTIALS

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return what bases earned, and the regrets that this shows."""
        return EstimatedRegrets(self, lanes, doubling=True), None


@register
class ED2RB(Master):
    r"""Estimating data-driven regret balancing: each base is believed the regret that its rewards show.

    Base i has played :math:`N_i` rounds and earned :math:`R_i` in them; its potential :math:`\phi_i` begins with the
    ``coefficient`` :math:`d_{min}`. Each base plays once, and then the one with the smallest potential,
    :math:`I_t = \arg\min_i \phi_i`. After its reward, the regret of the base that played is estimated, and its
    potential becomes :math:`\phi'_i`:

    .. math:: \hat d_i = \max\Big\{ d_{min}, \sqrt{N_i} \Big( \max_j \Big( \frac{R_j}{N_j} - r(N_j) \Big) -
              \frac{R_i}{N_i} - r(N_i) \Big) \Big\}, \qquad
              \phi'_i = \min\big\{ \max\{ \phi_i, \hat d_i \sqrt{N_i} \}, 2 \phi_i \big\}

    with the width r of :class:`D3RB`. Potentials stay within a factor of two of each other.

    Parameters
    ----------
    bases, coefficient, noise, delta, scale: as :class:`D3RB` has them.

    Notes
    -----
    As for :class:`D3RB`, but the ``coefficients`` fall again when a base does better; with late rewards potentials may
    be further apart. The authors' code lets the floor :math:`d_{min} \sqrt{N_i}` pass the factor of two. In the
    guarantee d is a regret over :math:`\sqrt n` that the best base has had late in its rounds.

    Reference: Pacchiano, Dann, Gentile, "Data-driven online model selection with regret guarantees", AISTATS 2024.
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    coefficient: float = COEFFICIENT
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE

    coefficients, potentials = COEFFICIENTS, POTENTIALS

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return what bases earned, and the regrets that this shows."""
        return EstimatedRegrets(self, lanes, doubling=False), None


class EstimatedRegrets(TalliedBases):
    """The base plays whose potential is smallest; what it earns changes its own.

    If ``doubling``, a coefficient that is too small is doubled; else it is estimated.

    Attributes
    ----------
    coefficient: the regret of a base is thought to be ``coefficient sqrt(n)``, ``(N, M)``.
    potential: what is balanced in its place, ``(N, M)``. Both begin with the smallest coefficient.
    """

    state = ("coefficient", "potential")
    nonnegative = ("coefficient", "potential")

    def __init__(self, master: Any, lanes: int, *, doubling: bool) -> None:
        super().__init__(master, lanes)
        self.widths = MeanWidths(master, lanes)
        self.smallest, self.doubling = float(master.coefficient), doubling
        self.coefficient, self.potential = (np.full((lanes, len(master.bases)), self.smallest) for _ in range(2))

    def shares(self, ids: Index) -> tuple[Array, bool]:
        """Return shares ``(n, M)`` that are 1 for the base to play, and that no lane has a choice."""
        among = np.ones((ids.size, self.potential.shape[1]), dtype=bool)
        return share_least(ids, self.tally.plays, self.potential, among), False

    def record(self, ids: Index, base: Index | None, share: Array | None, y: Array) -> Array:
        """Count rewards, and estimate regrets from them."""
        if base is not None:
            regrets = (self.coefficient, self.potential, self.smallest)
            record_regret(ids, base, y, self.tally.arrays(), regrets, self.widths.arrays(), self.doubling)
        return y


@kernel
def record_regret(ids: Index, base: Index, y: Array, tally: Any, regrets: Any, widths: Any, doubling: bool) -> None:
    """Count rewards, and estimate from them the regret ``coefficient_i sqrt(plays_i)`` of the bases that played.

    ``excess_i = sqrt(plays_i) (max_j (earned_j / plays_j - spread_j) - earned_i / plays_i - spread_i)``. If
    ``doubling``, a coefficient below it is doubled and the potential is the regret; else the coefficient is
    ``max(smallest, excess)`` and the potential the regret, but at least what it was and at most twice that.
    ``spread`` is the ``radius``, NaN where it is not known.
    """
    plays, earned = tally
    coefficient, potential, smallest = regrets
    spread, width, log_term = widths
    for r in range(ids.size):
        n, i = ids[r], base[r]
        plays[n, i] += 1
        earned[n, i] += y[r]
        spread[n, i] = np.nan
        level = -np.inf
        for j in range(plays.shape[1]):
            if plays[n, j] > 0:
                if np.isnan(spread[n, j]):
                    spread[n, j] = radius(plays[n, j], width[n], log_term)
                level = max(level, earned[n, j] / plays[n, j] - spread[n, j])
        root = math.sqrt(plays[n, i])
        excess = root * (level - earned[n, i] / plays[n, i] - spread[n, i])
        if not doubling:
            coefficient[n, i] = max(smallest, excess)
            potential[n, i] = max(potential[n, i], min(coefficient[n, i] * root, 2.0 * potential[n, i]))
        else:
            if coefficient[n, i] < excess:
                coefficient[n, i] *= 2.0
            potential[n, i] = coefficient[n, i] * root
