"""Dynamic balancing, over any policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..plays.schedules import Power
from ..policies import shared
from ..policies.contract import answer
from ..runtime.arguments import argument
from ..runtime.files import register
from .balancing import POWERS, BoundedBases
from .master import BASES, Master


@register
class DynamicBalancing(Master):
    r"""Dynamic balancing: of the bases that pass a test in this round, the one plays whose bound on regret is smallest.

    With :math:`N_i` the number of rounds that base i played, :math:`R_i` what it earned in them, t the rounds of all,
    :math:`U_i(n) = u_i n^{e_i}` the ``reference`` and :math:`\beta` the ``bias``, each base plays once, and then

    .. math:: I_t = \arg\min_{i \in A_t} U_i(N_i), \qquad A_t = \Big\{ i : \eta_i + \frac{U_i(N_i)}{N_i} + r(N_i) \ge
              \max_j \eta_j - r(N_j) \Big\}, \qquad \eta_i = \frac{R_i}{N_i} - \beta \frac{U_i(t)}{t}

    with the width r of :class:`BalancingElimination`. A base that fails rests, and comes back when it passes again. The
    bias holds against a base what it is allowed to lose: only one of a smaller bound can keep a base from playing whose
    bound is true, and then it earns as much.

    Parameters
    ----------
    bases: as :class:`RegretBalancing` has them.
    reference: the :math:`U_i`: a number u for :math:`u \sqrt n`, or a ``Power(scale, exponent)``. A list has one of
        these for each base.
    bias: :math:`\beta`; 0 for none.
    noise, delta, scale: as :class:`BalancingElimination` has them.

    Notes
    -----
    Ties and ``learn`` are as in :class:`BalancingElimination`. The source lets biases be any functions of t, and weighs
    the bounds in the minimum by coefficients; here these are 1.

    Guarantee: with ``scale=1``, rewards learned at once, and a best expected reward that does not change, for
    :math:`U_i(n) = u_i \sqrt n` of which that of a base g holds, regret of order :math:`M u_g \sqrt T + \sum_i (u_g^2 +
    R u_g) / u_i \sqrt{N_i} + (R + \beta u_g) \sqrt{M T}`, up to logarithms of M / delta and log T (Theorem 13 of
    ``docs/math.md``). The default u = 1 is a guess.

    Reference: Cutkosky, Dann, Das, Gentile, Pacchiano, Purohit, "Dynamic balancing for model selection in bandits and
    RL", ICML 2021.
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    reference: float | Power | Sequence[float | Power] = POWERS
    bias: float = shared.SCALE
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE

    admissible = answer("admissible", "Whether each base is in A_t, ``(M,)``: may play in the next round.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return what bases earned, and a test of their bounds in every round."""
        return BoundedBases(self, lanes, lasting=False, bias=self.bias), None
