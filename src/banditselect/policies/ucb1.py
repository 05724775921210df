"""UCB1 for arms that are the same in every round."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import PerLane, per_lane
from ..carriers.persistence import register
from ..carriers.shapes import AnyShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number
from ..parts.exploration import greedy
from ..parts.tally import Tally
from ..types import Array, Index, Mask
from .base import Policy


@register
class UCB1(Policy):
    r"""UCB1: plays the arm with the largest upper confidence bound of its mean reward.

    With :math:`n_k` the number of rewards of arm k, :math:`\hat\mu_k` their mean, :math:`t = \sum_k n_k`, R the
    ``noise`` and s the ``scale``, each arm is played once, and then

    .. math:: a_t = \arg\max_k \hat\mu_k + 2 s R \sqrt{\frac{2 \log t}{n_k}}

    For rewards in [0, 1], R = 1/2 and s = 1 this is the index of the reference, :math:`\sqrt{2 \log t / n_k}`.

    Parameters
    ----------
    n_arms: number K of arms. An arm is the position of an action: features are ``(K, d)``, the same actions in the same
        order in every round, and their values are not looked at. Arms that cannot be played now are left out with
        ``available``.
    noise: sub-Gaussian constant R of the rewards (1/2 for rewards in [0, 1]).
    scale: multiplies the width; 1 is the theory, less is practice.

    Attributes
    ----------
    plays: rewards learned of each arm, ``(K,)``.  means: of these rewards, ``(K,)``, NaN where there are none.

    Notes
    -----
    Arms of which no reward is known, and other ties, are drawn with equal probability. ``learn`` teaches nothing, since
    features do not tell an arm, and warns of that once. Guarantee: with immediate rewards, expected regret of at most
    :math:`\sum_k 32 R^2 \log T / \Delta_k + (1 + \pi^2 / 3) \Delta_k` over the arms with gaps :math:`\Delta_k > 0`
    (Theorem 1 of the reference, where R = 1/2).

    References
    ----------
    Auer, Cesa-Bianchi, Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 2002.

    Examples
    --------
    >>> import numpy as np
    >>> policy = UCB1(n_arms=3, noise=0.1, seed=0)
    >>> for _ in range(100):
    ...     decision = policy.act(np.eye(3))
    ...     policy.update(decision, [0.2, 0.9, 0.5][decision.action])
    >>> policy.plays
    array([ 1, 97,  2])
    """

    reward_units = ("noise",)
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_arms": Number(low=1, integer=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "scale": Number(low=0.0),
    }
    _looks_up = True

    def __init__(
        self,
        *,
        n_arms: int,
        noise: float | ArrayLike = 0.5,
        scale: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_arms = n_arms
        self.noise = noise
        self.scale = scale
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return AnyShape(n_actions=int(self.n_arms))

    def _begin(self, lanes: int) -> None:
        self._constants = PerLane(width=2.0 * self.scale * per_lane(self.noise, lanes))
        self._tally = Tally(lanes, int(self.n_arms))
        self._warned = False

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        plays, earned = self._tally.plays[ids], self._tally.earned[ids]
        n = np.maximum(plays, 1)
        t = np.maximum(plays.sum(axis=1, keepdims=True), 1)
        index = earned / n + self._constants.width[ids, None] * np.sqrt(2.0 * np.log(t) / n)
        return greedy(np.where(plays == 0, np.inf, index), offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if action is not None:
            self._tally.plays[ids, action] += 1
            self._tally.earned[ids, action] += y
        elif not self._warned:
            self._warned = True
            self._messages.append("features do not tell an arm, so learn teaches nothing. No further warning is given.")

    @property
    def plays(self) -> Index:
        """Rewards learned of each arm, ``(K,)``."""
        return self._answer(self._tally.plays)

    @property
    def means(self) -> Array:
        """Mean reward of each arm so far, ``(K,)``; NaN where nothing is known."""
        with np.errstate(invalid="ignore"):
            return self._answer(self._tally.earned / self._tally.plays)
