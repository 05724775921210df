"""Regret bound balancing with elimination, over any policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..policies import shared
from ..policies.contract import answer
from ..runtime.arguments import argument
from ..runtime.files import register
from .balancing import REFERENCE, BoundedBases, Reference
from .master import BASES, Master


@register
class BalancingElimination(Master):
    r"""Regret bound balancing and elimination: the base plays whose bound on regret is smallest, while it holds.

    With :math:`N_i` the number of rounds that base i played, :math:`R_i` what it earned in them, :math:`U_i` the
    ``reference`` and A the bases that are not eliminated, each base plays once, and then

    .. math:: I_t = \arg\min_{i \in A} U_i(N_i)

    so that the bounds stay in balance. A base is eliminated for good when it has earned so little that its bound cannot
    be true: after any round in which

    .. math:: \frac{R_i + U_i(N_i)}{N_i} + r(N_i) < \max_{j \in A} \frac{R_j}{N_j} - r(N_j), \qquad
              r(n) = 1.7 c R \sqrt{\frac{\log\log 2n + 0.72 \log(10.4 M / \delta)}{n}}

    where R is the ``noise`` and c the ``scale``.

    Parameters
    ----------
    bases, reference: as :class:`RegretBalancing` has them.
    noise: sub-Gaussian constant R of a reward, given all that was before; what contexts change of it included. Half the
        range, where rewards have one.
    delta: the guarantee holds with probability 1 - delta.
    scale: multiplies the width r; 1 is the theory, less is practice.

    Notes
    -----
    Of bases with the same bound the first plays, so the propensity of an action is that of the base. ``learn`` teaches
    every base; ``update`` only the one that played.

    Departure from print: its width is :math:`c \sqrt{\log(M \log n / \delta) / n}` for rewards in [0, 1] and a constant
    c without a value; at n = 1 that is no number.

    Guarantee: with ``scale=1``, rewards learned at once, and a best expected reward that does not change, a base whose
    bound holds is never eliminated; for :math:`U_i(n) = u_i \sqrt n` and such a base g, regret of order
    :math:`M u_g \sqrt T + \sum_i (u_g^2 + R u_g) / u_i \sqrt{N_i} + R \sqrt{M T}`, up to logarithms of M / delta and
    log T: :math:`(u + R) \sqrt{M T}` where all bounds are the same (Theorem 12 of ``docs/math.md``). The default u = 1
    is a guess.

    Reference: Pacchiano, Dann, Gentile, Bartlett, "Regret bound balancing and elimination for model selection in
    bandits and RL", 2020.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform
    >>> policy = BalancingElimination(bases=[Uniform(), OFUL(dim=1)], noise=0.1, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act([[1.0], [2.0]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.plays, policy.admissible
    (array([ 18, 182]), array([False,  True]))
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    reference: Reference | Sequence[Reference] = REFERENCE
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE

    admissible = answer("admissible", "Whether each base is not eliminated, ``(M,)``; some base always is not.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return what bases earned, and a test of their bounds that eliminates for good."""
        return BoundedBases(self, lanes, lasting=True), None
