"""ED2RB: balancing of regrets that are estimated anew in every round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..models.model import Model
from ..policies import shared
from ..policies.contract import answer
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.files import register
from ..runtime.inputs import SMALLEST
from .data_driven import EstimatedRegrets
from .master import Bases, Master


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

    .. math:: r(n) = 1.7 c R \sqrt{\frac{\log\log 2n + 0.72 \log(10.4 M / \delta)}{n}}

    where R is the ``noise`` and c the ``scale``. Potentials stay within a factor of two of each other.

    Parameters
    ----------
    bases: fresh policies, or factories; copied with this policy's lanes and seed, never shared.
    coefficient: :math:`d_{min}`, the regret over :math:`\sqrt n` that every base is believed; smaller ones are not
        distinguished.
    noise: sub-Gaussian constant R of a reward, given all that was before; what contexts change of it included. Half the
        range, where rewards have one.
    delta: the guarantee holds with probability 1 - delta.
    scale: multiplies the width r; 1 is the theory, less is practice.

    Attributes
    ----------
    bases: the copies.  plays: rounds per base, ``(M,)``.  model_weights: share of the rounds of each base, ``(M,)``.
    coefficients: the :math:`\hat d_i`, ``(M,)``, that fall again when a base does better.  potentials: the
    :math:`\phi_i`, ``(M,)``.

    Notes
    -----
    No bound on the regret of any base has to be known. Of bases with the same potential the first plays, so the
    propensity of an action is that of the base. ``learn`` teaches every base; ``update`` only the one that played. With
    late rewards potentials may be further apart.

    Departure from print: its width is :math:`c \sqrt{\log(M \log n / \delta) / n}` for rewards in [0, 1] and a constant
    c without a value; at n = 1 that is no number. The authors' code lets the floor :math:`d_{min} \sqrt{N_i}`
    pass the factor of two.

    Guarantee, of the reference: with rewards learned at once, and a best expected reward that does not change, regret
    of order :math:`d M \sqrt T + d^2 \sqrt{M T}` up to logarithms, where d is a regret over :math:`\sqrt n` that the
    best base has had late in its rounds, or :math:`d_{min}` if that is larger, for rewards in [0, 1].

    References
    ----------
    Pacchiano, Dann, Gentile, "Data-driven online model selection with regret guarantees", AISTATS 2024.

    Examples
    --------
    >>> from banditselect import OFUL, Uniform
    >>> policy = ED2RB(bases=[Uniform(), OFUL(dim=1)], noise=0.1, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act([[1.0], [2.0]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.plays, policy.coefficients.round(2)
    (array([ 37, 163]), array([2.18, 1.  ]))
    """

    bases: Sequence[Any] = argument(Bases(), unit="reward")
    coefficient: float = argument(Number(low=SMALLEST), default=1.0, unit="reward")
    noise: float | ArrayLike = shared.NOISE
    delta: float = shared.DELTA
    scale: float = shared.SCALE

    coefficients = answer("coefficient", "Estimated regret of each base over the root of its rounds, ``(M,)``.")
    potentials = answer("potential", "Balanced regrets: the base with the smallest plays next, ``(M,)``.")

    def build(self, lanes: int) -> tuple[Model, None]:
        """Return what bases earned, and the regrets that this shows."""
        return EstimatedRegrets(self, lanes, doubling=False), None
