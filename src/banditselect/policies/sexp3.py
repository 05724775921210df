"""S-EXP3: EXP3 for each class of rounds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.decisions import read, written
from ..carriers.persistence import register
from ..carriers.shapes import AnyShape, ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, Numbers, OneOf
from ..kernels.arrays import UNIT
from ..parts.adversarial import ExponentialWeights, counted
from ..parts.reward_range import RewardRange
from ..types import Array, Index, Mask
from .base import Chosen, Policy


@register
class SEXP3(Policy):
    r"""S-EXP3: exponential weights over arms, apart for each class of rounds, from losses weighed by propensities.

    A round belongs to the class c of the prototype that is nearest to the mean of its features over the arms. With
    :math:`\kappa` the number of arms offered, S the sum of these numbers over the rounds of the class so far, this one
    included, and p the probability with which the arm was played,

    .. math:: p(a) \propto e^{-\eta L_c(a)}, \qquad
              L_c(a) \leftarrow L_c(a) + \frac{1[a = a_t]}{p(a)} \frac{hi - y}{hi - lo}, \qquad
              \eta = b \sqrt{\frac{\log \kappa}{S}}.

    Parameters
    ----------
    n_arms: number K of arms. An arm is the position of an action: features are ``(K, d)``, the same actions in the same
        order in every round. Arms that cannot be played now are left out with ``available``.
    prototypes: one row for each of C classes, ``(C, d)``; None for one class: EXP3.
    role: ``"alone"``, or ``"adviser"``: the arms are drawn by an :class:`EXP4` that mixes in uniform play at
        :math:`t^{-1/3}`, so that propensities may be that small; then :math:`\eta = b (\kappa \log^2 \kappa /
        S^2)^{1/3}`.
    reward_range: (lo, hi) of the rewards: a scale. What lies outside is learned as it is, because a master may hand on
        rewards that it has weighed.
    horizon: T, the number of rounds; then S is :math:`\kappa T / C`, and half of it if ``"alone"``. None if unknown.
    learning_rate: b.

    Attributes
    ----------
    visits: rounds learned of each class, ``(C,)``.  outside: rewards outside ``reward_range``.

    Notes
    -----
    ``learn`` teaches nothing, since features tell neither an arm nor its probability, and warns of that once.
    Guarantee: ``"alone"``, b = 1, for any sequence of losses in [0, 1] fixed in advance, expected regret of at most
    :math:`2 \sqrt{T C K \log K}` against the best arm of each class, and of :math:`\sqrt{2 T C K \log K}` with the
    horizon (Theorem 3.1 of the second reference, class by class).

    References
    ----------
    Maillard, Munos, "Adaptive bandits: towards the best history-dependent strategy", AISTATS 2011. Bubeck,
    Cesa-Bianchi, "Regret analysis of stochastic and nonstochastic multi-armed bandit problems", 2012.

    Examples
    --------
    >>> policy = SEXP3(n_arms=2, prototypes=[[0.0], [1.0]], seed=0)
    >>> for t in range(400):
    ...     state = t % 2
    ...     decision = policy.act([[state], [state]])
    ...     policy.update(decision, decision.action == state)
    >>> policy.probabilities([[1.0], [1.0]]).round(2), policy.visits
    (array([0., 1.]), array([200, 200]))
    """

    reward_units = ("reward_range",)
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_arms": Number(low=1, integer=True),
        "prototypes": Numbers(shapes=((None, None),), optional=True),
        "role": OneOf(("alone", "adviser")),
        "reward_range": Bounds(),
        "horizon": Number(low=1, integer=True, optional=True),
        "learning_rate": Number(low=SMALLEST),
    }
    _memo_width = 3  # the class, how many arms were offered, the propensity
    _weighs = True

    def __init__(
        self,
        *,
        n_arms: int,
        prototypes: ArrayLike | None = None,
        role: str = "alone",
        reward_range: tuple[float, float] = (0.0, 1.0),
        horizon: int | None = None,
        learning_rate: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_arms = n_arms
        self.prototypes = prototypes
        self.role = role
        self.reward_range = reward_range
        self.horizon = horizon
        self.learning_rate = learning_rate
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        K = int(self.n_arms)
        if self.prototypes is None:
            return AnyShape(n_actions=K)
        return ExactShape((np.shape(self.prototypes)[1],), many=False, n_actions=K)

    def _begin(self, lanes: int) -> None:
        classes = 1 if self.prototypes is None else len(np.asarray(self.prototypes))
        self._weights = ExponentialWeights(lanes, classes, int(self.n_arms))
        self._range = RewardRange(self.reward_range, lanes, "losses are scaled to it, and no bound holds")
        self._warned = False

    def _class(self, x: Array) -> Index:
        """Return the class of every row, ``(n,)``."""
        if self.prototypes is None:
            return np.zeros(x.shape[0], dtype=np.int64)
        distance = x[:, 0].mean(axis=1)[:, None] - np.asarray(self.prototypes, dtype=float)
        return (distance**2).sum(axis=2).argmin(axis=1)

    def _rate(self, ids: Index, cls: Index, kappa: Index) -> Array:
        """Return the rates of these rows, where so many arms are offered, ``(n,)`` each."""
        alone, C = self.role == "alone", self._weights.visits.shape[1]
        horizon = None if self.horizon is None else self.horizon / C / (2.0 if alone else 1.0)
        S = self._weights.offers[ids, cls] + kappa if horizon is None else kappa * horizon
        log = np.log(kappa)
        return self.learning_rate * (np.sqrt(log / S) if alone else np.cbrt(kappa * (log / S) ** 2))

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index]:
        cls, kappa = self._class(x), counted(x, offered)
        p = self._weights.weights(ids, cls, self._rate(ids, cls, kappa), offered)
        return p, np.column_stack([cls, kappa, np.ones_like(cls)])

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        p, memo = self._distribution(ids, x, offered)
        action, probability = self._streams.draw(ids, numbers, p)
        memo[:, 2] = np.maximum(written(probability), 1)
        return action, probability, memo

    def _wrote(self, memo: Index) -> bool:
        low, high = [0, 1, 1], [self._weights.visits.shape[1] - 1, int(self.n_arms), int(UNIT)]
        return bool(((memo >= low) & (memo <= high)).all())

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if action is None or memo is None:
            if not self._warned:
                self._warned = True
                self._messages.append("features tell no arm, so learn teaches nothing. No further warning is given.")
            return
        self._messages += self._range.watch(ids, y)
        weights, cls = self._weights, memo[:, 0]
        weights.count(ids, cls, memo[:, 1])
        weights.losses[ids, cls, action] += (self._range.upper - y) / self._range.span / read(memo[:, 2])

    @property
    def visits(self) -> Index:
        """Rounds learned of each class, ``(C,)``."""
        return self._answer(self._weights.visits)

    @property
    def outside(self) -> Any:
        """How many rewards lay outside ``reward_range``."""
        return self._answer(self._range.outside)
