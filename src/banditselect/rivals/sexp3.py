"""S-EXP3: EXP3 for each class of rounds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import Features
from ..models.exponential_weights import ExponentialWeights, counted
from ..models.model import Model
from ..models.reward_range import RewardRange
from ..policies import shared
from ..policies.contract import Chosen, Played, answer
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Numbers, OneOf
from ..runtime.files import register
from ..runtime.shapes import AnyShape, ExactShape
from ..types import Array, Index, Mask


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
    n_arms: number K of arms, as :class:`UCB1` has them.
    prototypes: one row for each of C classes, ``(C, d)``; None for one class: EXP3.
    role: ``"alone"``, or ``"adviser"``: the arms are drawn by an :class:`EXP4` that mixes in uniform play at
        :math:`t^{-1/3}`, so that propensities may be that small; then :math:`\eta = b (\kappa \log^2 \kappa /
        S^2)^{1/3}`.
    reward_range: (lo, hi) of the rewards: a scale. Rewards outside are learned as they are: a master may have weighed
        them.
    horizon: T, the number of rounds; then S is :math:`\kappa T / C`, and half of it if ``"alone"``. None if unknown.
    learning_rate: b.

    Notes
    -----
    ``learn`` teaches nothing, since features tell neither an arm nor its probability, and warns of that once.
    Guarantee: ``"alone"``, b = 1, for any sequence of losses in [0, 1] fixed in advance, expected regret of at most
    :math:`2 \sqrt{T C K \log K}` against the best arm of each class, and of :math:`\sqrt{2 T C K \log K}` with the
    horizon (Theorem 3.1 of the second reference, class by class).

    References: Maillard, Munos, "Adaptive bandits: towards the best history-dependent strategy", AISTATS 2011. Bubeck,
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

    n_arms: int = argument(shared.SIZE)
    prototypes: ArrayLike | None = argument(Numbers(shapes=((None, None),), optional=True), default=None)
    role: str = argument(OneOf(("alone", "adviser")), default="alone")
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    horizon: int | None = shared.HORIZON_OR_NONE
    learning_rate: float = shared.RATE_FACTOR

    reads_propensity: ClassVar[bool] = True

    visits = answer("arms.visits", "Rounds learned of each class, ``(C,)``.")
    outside = shared.OUTSIDE_OF_RANGE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the losses of the arms in every class."""
        self._warned = False
        K, C = int(self.n_arms), 1 if self.prototypes is None else len(np.asarray(self.prototypes))
        d = None if self.prototypes is None else np.shape(self.prototypes)[1]
        shape = AnyShape(n_actions=K) if d is None else ExactShape((d,), many=False, n_actions=K)
        model: Any = Model(shape)
        model.note_width = 2  # the class, and how many arms were offered
        model.arms = ExponentialWeights(lanes, C, K)
        model.range = RewardRange(self.reward_range, lanes, "losses are scaled to it, and no bound holds")
        return model, None

    def _class(self, x: Array) -> Index:
        """Return the class of every row of features, ``(n,)``."""
        if self.prototypes is None:
            return np.zeros(x.shape[0], dtype=np.int64)
        distance = x[:, 0].mean(axis=1)[:, None] - np.asarray(self.prototypes, dtype=float)
        return (distance**2).sum(axis=2).argmin(axis=1)

    def _rate(self, ids: Index, cls: Index, kappa: Index) -> Array:
        """Return the rates of these rows, where so many arms are offered, ``(n,)`` each."""
        arms: ExponentialWeights = self._model.arms
        alone, C = self.role == "alone", arms.visits.shape[1]
        horizon = None if self.horizon is None else self.horizon / C / (2.0 if alone else 1.0)
        S = arms.offers[ids, cls] + kappa if horizon is None else kappa * horizon
        log = np.log(kappa)
        return self.learning_rate * (np.sqrt(log / S) if alone else np.cbrt(kappa * (log / S) ** 2))

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        cls, kappa = self._class(x.values), counted(x, offered)
        p = self._model.arms.weights(ids, cls, self._rate(ids, cls, kappa), offered)
        return Chosen(p, self._streams.keys[ids], np.column_stack([cls, kappa]).astype(float))

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        model = self._model
        if played is not None:
            cls, kappa = played.note.T.astype(np.int64)
            self._warnings += model.range.watch(ids, y)
            model.arms.count(ids, cls, kappa)
            loss = (model.range.upper - y) / model.range.span
            model.arms.losses[ids, cls, played.action] += loss / played.probability
        elif not self._warned:
            self._warned = True
            self._warnings.append("features tell no arm, so learn teaches nothing. No further warning is given.")

    def _reads(self, note: Array) -> bool:
        low, high = [0, 1], [self._model.arms.visits.shape[1] - 1, int(self.n_arms)]
        return bool(((note >= low) & (note <= high) & (note == np.floor(note))).all())
