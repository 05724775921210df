"""SquareCB that adapts to how far rewards are from linear."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..kernels.features import Features
from ..policies import shared
from ..policies.contract import Played
from ..policies.squarecb import EXPLORATION, SquareCB
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..runtime.files import register
from ..runtime.inputs import SMALLEST
from ..types import Array, Index
from .log_barrier import HORIZON, PROPENSITIES, BarrierModel
from .master import Master, copies


@register
class AdaptiveSquareCB(Master):
    r"""SquareCB for rewards that are nearly linear in the features, to an unknown degree.

    If mean rewards lie within :math:`\varepsilon (hi - lo)` of a linear function, SquareCB should not grow greedier
    than :math:`\sqrt d / \varepsilon`: a smaller gap than the error is no reason to stay away from an action. CORRAL
    chooses among bases with, after n rewards of their own and for :math:`\varepsilon_i = 2^{-i}`, i = 1, ..., L,

    .. math:: \alpha_n = \frac{1}{hi - lo} \min\Big( c \sqrt n, \frac{\sqrt d}{\varepsilon_i} \Big),

    and a last one without a cap, for :math:`\varepsilon = 0`. A base that played with probability p learns by a ridge
    regression in which the reward counts 1 / p times, so that what it has learned is what all rounds would have taught.

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    levels: L.
    exploration: c.
    design: ``"uniform"`` or ``"optimal"``, as of :class:`SquareCB`.
    regularization: ridge penalty lambda > 0.
    reward_range: (lo, hi) of the rewards.
    horizon, learning_rate, propensities: of :class:`Corral`.

    Attributes
    ----------
    bases: the SquareCB of each level, the widest error first.

    Notes
    -----
    The reference shows, for a master that differs (FTRL with a bias in the place of CORRAL's growing rates) and
    :math:`\alpha = \min(\sqrt{d T / (\rho R)}, \sqrt d / \varepsilon_i)`, :math:`\rho` the largest 1 / p of the base
    and R the regret of its regression, an expected regret of order
    :math:`d \sqrt T + \varepsilon \sqrt d T`, up to logarithms, with the error :math:`\varepsilon` unknown, also where
    contexts are chosen by an adversary. Here n, the rounds that a base has played, takes the place of
    :math:`T / \rho`. No guarantee is proved for this play.

    Measured (d = 5, K = 20, T = 4000, ``levels=8``, 10 lanes, errors of 0, .1 and .3 with signs that look random to the
    features): regret 362, 572 and 1410, where ``SquareCB(design="optimal")`` has 8, 214 and 1010. Such errors average
    out, and the price of the master is all that is left: take it where they may conspire.

    Reference: Foster, Gentile, Mohri, Zimmert, "Adapting to misspecification in contextual bandits", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = AdaptiveSquareCB(dim=3, levels=3, reward_range=(-1.0, 1.0), seed=0)
    >>> for _ in range(300):
    ...     decision = policy.act(rng.uniform(-0.5, 0.5, size=(5, 3)))
    ...     policy.update(decision, decision.features.sum() / 2.0)
    >>> policy.model_weights.shape
    (4,)
    """

    dim: int = argument(shared.SIZE)
    levels: int = argument(Number(low=1, integer=True), default=6)
    exploration: float = argument(Number(low=0.0), default=EXPLORATION)
    design: str = argument(OneOf(("uniform", "optimal")), default="optimal")
    regularization: float = argument(Number(low=SMALLEST), default=1.0)
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    horizon: int | None = HORIZON
    learning_rate: float = shared.RATE_FACTOR
    propensities: bool = PROPENSITIES

    notes_share: ClassVar[bool] = True

    outside = shared.OUTSIDE_OF_RANGE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return weights under the log barrier, over a SquareCB for each level of error."""
        d, levels, c = int(self.dim), int(self.levels), self.exploration
        caps = [*(2.0**i * d**0.5 for i in range(1, levels + 1)), None]
        own = {name: getattr(self, name) for name in ("dim", "regularization", "design", "reward_range")}
        rates: list[Any] = [c if cap is None else (lambda t, cap=cap: float(min(c * t**0.5, cap))) for cap in caps]
        bases = [SquareCB.bind(exploration=rate, **own) for rate in rates]
        self.bases = copies("AdaptiveSquareCB: bases", bases, self.lanes, self.seed)
        return BarrierModel(self, lanes), None

    def _learn_base(self, i: int, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        if played is not None:
            root = np.sqrt(1.0 / played.note[:, 1])  # the reward counts 1 / p times
            x, y = Features(x.values * root[:, None, None], x.block), y * root
        warnings = list(self._warnings)
        super()._learn_base(i, ids, x, y, played)
        self._warnings[:] = warnings  # a base has rewards of other sizes than its range is for
