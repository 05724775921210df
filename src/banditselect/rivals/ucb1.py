"""UCB1 for arms that are the same in every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import Features
from ..models.model import Model
from ..models.tally import Tally
from ..plays.optimism import Optimism
from ..policies import shared
from ..policies.contract import Played, answer
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.shapes import AnyShape
from ..types import Array, Index


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

    Notes
    -----
    Arms of which no reward is known, and other ties, are drawn with equal probability. ``learn`` teaches nothing, since
    features do not tell an arm, and warns of that once. Guarantee: with immediate rewards, expected regret of at most
    :math:`\sum_k 32 R^2 \log T / \Delta_k + (1 + \pi^2 / 3) \Delta_k` over the arms with gaps :math:`\Delta_k > 0`
    (Theorem 1 of the reference, where R = 1/2).

    Reference: Auer, Cesa-Bianchi, Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning
    2002.

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

    n_arms: int = argument(shared.SIZE)
    noise: float | ArrayLike = shared.NOISE
    scale: float = shared.SCALE

    plays = answer("tally.plays", "Rewards learned of each arm, ``(K,)``.")
    means = answer("means", "Mean reward of each arm so far, ``(K,)``; NaN where nothing is known.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the rewards of every arm, played by optimism."""
        self._warned = False
        return Arms(int(self.n_arms), 2.0 * self.scale * per_lane(self.noise, lanes)), Optimism()

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        tally: Tally = self._model.tally
        if played is not None:
            tally.plays[ids, played.action] += 1
            tally.earned[ids, played.action] += y
        elif not self._warned:
            self._warned = True
            self._warnings.append("features do not tell an arm, so learn teaches nothing. No further warning is given.")


class Arms(Model):
    """Scores arms by the counts and sums of their rewards.

    Attributes
    ----------
    width: what multiplies the root of 2 log t / n, ``(N,)``.
    """

    fixed = ("width",)
    reads_lookups = True

    def __init__(self, n_arms: int, width: Array) -> None:
        super().__init__(AnyShape(n_actions=n_arms))
        self.width = width
        self.tally = Tally(width.size, n_arms)

    def upper_bounds(self, ids: Index, x: Features) -> Array:
        """Return the index of every arm, ``(n, K)``."""
        plays, earned = self.tally.plays[ids], self.tally.earned[ids]
        n = np.maximum(plays, 1)
        t = np.maximum(plays.sum(axis=1, keepdims=True), 1)
        index = earned / n + self.width[ids, None] * np.sqrt(2.0 * np.log(t) / n)
        return np.where(plays == 0, np.inf, index)

    def means(self) -> Array:
        """Return the mean reward of each arm, ``(N, K)``."""
        with np.errstate(invalid="ignore"):
            return self.tally.earned / self.tally.plays
