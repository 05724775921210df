"""SquareCB that adapts to how far rewards are from linear."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..carriers.decisions import read
from ..carriers.lanes import PerLane
from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, OneOf, YesNo
from ..types import Array, Index
from .corral import Corral
from .regimes.optimal_design import DESIGNS
from .squarecb import EXPLORATION, SquareCB


@dataclass(frozen=True)
class Capped:
    """The schedule ``scale sqrt(t)``, at most ``most``."""

    scale: float
    most: float

    def __call__(self, t: float) -> float:
        """Return the value after ``t`` updates."""
        return float(min(self.scale * t**0.5, self.most))


@register
class AdaptiveSquareCB(Corral):
    r"""SquareCB for rewards that are nearly linear in the features, without being told how nearly.

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
    bases: the SquareCB of each level, the widest error first.  plays: rounds of each, ``(L + 1,)``.
    model_weights: of the levels, ``(L + 1,)``.  outside: rewards outside ``reward_range``.

    Notes
    -----
    The reference shows, for a master that differs (FTRL with a bias in the place of CORRAL's growing rates) and
    :math:`\alpha = \min(\sqrt{d T / (\rho R)}, \sqrt d / \varepsilon_i)`, :math:`\rho` the largest 1 / p of the base
    and R the regret of its regression, an expected regret of order
    :math:`d \sqrt T + \varepsilon \sqrt d T`, up to logarithms, with the error :math:`\varepsilon` unknown, also where
    contexts are chosen by an adversary. Here n, the rounds that a base has played, stands for :math:`T / \rho`. No
    guarantee is proved for what is played.

    Measured (d = 5, K = 20, T = 4000, ``levels=8``, 10 lanes, errors of 0, .1 and .3 with signs that look random to the
    features): regret 362, 572 and 1410, where ``SquareCB(design="optimal")`` has 8, 214 and 1010. Such errors average
    out, and the price of the master is all that is left: take it where they may conspire.

    References
    ----------
    Foster, Gentile, Mohri, Zimmert, "Adapting to misspecification in contextual bandits", NeurIPS 2020.

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

    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "levels": Number(low=1, integer=True),
        "exploration": Number(low=0.0),
        "design": OneOf(DESIGNS),
        "regularization": Number(low=SMALLEST),
        "reward_range": Bounds(),
        "horizon": Number(low=2, integer=True, optional=True),
        "learning_rate": Number(low=SMALLEST),
        "propensities": YesNo(),
    }
    reward_units = ("reward_range",)  # type: ignore[assignment]

    def __init__(
        self,
        *,
        dim: int,
        levels: int = 6,
        exploration: float = EXPLORATION,
        design: str = "optimal",
        regularization: float = 1.0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        horizon: int | None = None,
        learning_rate: float = 1.0,
        propensities: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        for name, value in {"dim": dim, "levels": levels, "exploration": exploration}.items():
            self.constraints[name].check(f"AdaptiveSquareCB: {name}", value, None)
        self.dim = dim
        self.levels = levels
        self.exploration = exploration
        self.design = design
        self.regularization = regularization
        bases = [
            SquareCB.bind(
                dim=dim,
                regularization=regularization,
                exploration=Capped(exploration, cap) if cap else exploration,
                design=design,
                reward_range=reward_range,
            )
            for cap in [*(2.0**i * dim**0.5 for i in range(1, levels + 1)), None]
        ]
        super().__init__(
            bases=bases,
            feedback="plain",
            reward_range=reward_range,
            horizon=horizon,
            learning_rate=learning_rate,
            propensities=propensities,
            lanes=lanes,
            seed=seed,
        )

    def _begin(self, lanes: int) -> None:
        super()._begin(lanes)
        self._counts = PerLane(times=np.ones(lanes))  # how often the reward that is being learned counts

    def _settle(self, ids: Index, own: Index, y: Array) -> Array:
        self._counts.times[ids] = 1.0 / read(own[:, 1])
        return super()._settle(ids, own, y)

    def _teach_base(self, i: int, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if action is not None:
            root = np.sqrt(self._counts.times[ids])
            x, y = x * root[:, None, None], y * root
            x.setflags(write=False)
        said = list(self._messages)
        super()._teach_base(i, ids, x, action, y, memo)
        self._messages[:] = said  # a base has rewards of other sizes than its range is for
