"""Inverse-gap play on predictions that are aggregated over experts: the steps, and ways to aggregate."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from ...carriers.decisions import Ledger
from ...carriers.lanes import LaneArrays
from ...kernels.acting import ALL_OFFERED, Drawn, mask_of
from ...kernels.features import clean
from ...kernels.ledger import NO_BOOK, UNNUMBERED, settle
from ...kernels.rounds import DONE, OUTSIDE, UNUSABLE, learn_in_range, play_gaps, play_mixture_gaps
from ...parts.aggregation import Posterior, SqAlg
from ...parts.experts import RidgeBank
from ...parts.exploration import Rates, evaluated, inverse_gap_weighting
from ...parts.reward_range import RewardRange
from ...types import Array, Index, Mask
from ..base import Played, Policy

NO_POSTERIOR = np.empty((0, 0)), np.empty(0)


class Aggregate(LaneArrays, ABC):
    """Experts that learn and predict as one.

    Parameters
    ----------
    bank: the experts.
    expected: the range of the rewards.
    messages: where warnings are put.
    """

    memo_width = 0  #: how many whole numbers ``predict`` wants to be told again with the reward

    def __init__(self, bank: RidgeBank, expected: RewardRange, messages: list[str]) -> None:
        self.bank = bank
        self.expected = expected
        self._messages = messages

    @abstractmethod
    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        """Return the prediction for every action, ``(n, K)``, and the memo ``(n, w)`` or None."""

    def play(self, ids: Index, x: Array, offered: Mask | None, rates: Rates, *place: Any) -> Played:
        """Play by inverse gaps of the predictions; ``place``: the last arguments of a kernel of ``kernels.rounds``."""
        if not clean(x):
            return UNUSABLE, None
        score, memo = self.predict(ids, x, offered)
        return play_gaps(*(ids, x, score, *rates, mask_of(offered), *place)), memo

    @abstractmethod
    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index, memo: Index | None) -> int:
        """Settle acts and learn their rewards; say how it went, as ``kernels.rounds`` does."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """The weights of the experts, ``(N, M)``."""

    @property
    def alive(self) -> Mask:
        """Which experts are admissible, ``(N, M)``."""
        return np.ones(self.bank.group.shape, dtype=bool)

    @property
    def clipped(self) -> Index:
        """How many rewards had to be clipped, ``(N,)``."""
        return np.zeros(len(self.bank.group), dtype=np.int64)


class ByEvidence(Aggregate):
    """The mean prediction under the posterior of the experts; a single expert needs none."""

    def __init__(
        self, bank: RidgeBank, expected: RewardRange, messages: list[str], posterior: Posterior | None = None
    ) -> None:
        super().__init__(bank, expected, messages)
        self.posterior = posterior

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        """Return the mean prediction for every action, ``(n, K)``."""
        return self.bank.mixture(ids, x, self._weigh(ids)), None

    def play(self, ids: Index, x: Array, offered: Mask | None, rates: Rates, *place: Any) -> Played:
        """Play by inverse gaps in one kernel."""
        if self._show is None:
            weighing = NO_POSTERIOR if self.posterior is None else self.posterior.hand()
            self._show = (self.bank.theta, self.bank.evidence, *weighing)
        theta, evidence, prior, variance = self._show
        (grown, scale, exponent), mask = rates, ALL_OFFERED if offered is None else offered
        keys, book, drawn, played = place
        status = play_mixture_gaps(
            ids, x, theta, evidence, prior, variance, grown, scale, exponent, mask, keys, book, drawn, played
        )
        return status, None

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index, memo: Index | None) -> int:
        """Settle acts and learn their rewards in one kernel."""
        if self._hand is None:
            self._hand = (*self.bank.hand(), *self.expected.hand())
        theta, root, evidence, updates, dims, lower, upper, outside = self._hand
        status = learn_in_range(ids, x, y, numbers, book, theta, root, evidence, updates, dims, lower, upper, outside)
        if status == OUTSIDE:
            self._messages += self.expected.warnings(y)
            return DONE
        return status

    def _weigh(self, ids: Index) -> Array:
        return np.ones((ids.size, 1)) if self.posterior is None else self.posterior.weigh(ids, self.bank)[0]

    @property
    def weights(self) -> Array:
        """The posterior weights of the experts, ``(N, M)``."""
        return self._weigh(np.arange(len(self.bank.group)))


class BySqAlg(Aggregate):
    """The prediction of the paper's SqAlg on the range of the rewards, what lies outside clipped."""

    def __init__(self, bank: RidgeBank, expected: RewardRange, messages: list[str]) -> None:
        super().__init__(bank, expected, messages)
        N, M = bank.group.shape
        lower, upper = self._range(np.arange(N))
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M)

    def _range(self, ids: Index) -> tuple[Array, Array]:
        """Return the range of SqAlg for what has been learned, ``(n,)`` each."""
        return np.full(ids.size, self.expected.lower), np.full(ids.size, self.expected.upper)

    def _widen(self, ids: Index) -> None:
        """Let the range of SqAlg grow with what has been learned; this one does not."""

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        """Return SqAlg's prediction for every action, ``(n, K)``."""
        return self.sqalg.predict(ids, self.bank.predict(ids, x)), None

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index, memo: Index | None) -> int:
        """Settle acts and learn their rewards."""
        if not clean(x):
            return UNUSABLE
        status = settle(ids, numbers, book)
        if status >= 0:
            return status
        f, _ = self.bank.learn(ids, x, y)
        if memo is not None:
            self.sqalg.drop(ids, memo)
        self.sqalg.update(ids, f, y)
        self._widen(ids)
        self._messages += self.expected.watch(ids, y) + self.sqalg.warnings()
        return DONE

    @property
    def weights(self) -> Array:
        """The weights of SqAlg, ``(N, M)``."""
        return self.sqalg.weights(np.arange(len(self.bank.group)))

    @property
    def alive(self) -> Mask:
        """Which experts are admissible, ``(N, M)``."""
        return self.sqalg.alive

    @property
    def clipped(self) -> Index:
        """How many rewards SqAlg had to clip to its range, ``(N,)``."""
        return self.sqalg.clipped


class LearningRate(Protocol):
    """The rate alpha of inverse-gap play."""

    def __call__(self, ids: Index, updates: Index, n_actions: int, offered: Mask | None) -> Rates:
        """Return the rates of these lanes, which have learned ``updates (N,)`` rewards."""
        ...


class InverseGapPolicy(Policy):
    """Plays an action the less the further its prediction lies below the best."""

    _experts: Aggregate
    _rate: LearningRate
    _steps = (*Policy._steps, "_rates")
    _looks_up = True

    def _rates(self, ids: Index, K: int, offered: Mask | None) -> Array:
        """Return alpha_t, ``(n,)``."""
        return evaluated(ids, self._rate(ids, self._experts.bank.updates, K, offered))

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        prediction, memo = self._experts.predict(ids, x, offered)
        return inverse_gap_weighting(prediction, self._rates(ids, x.shape[2], offered), offered), memo

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        self._experts.learn(ids, x, y, UNNUMBERED, NO_BOOK, memo)

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        rates = self._rate(ids, self._experts.bank.updates, x.shape[2], offered)
        return self._experts.play(ids, x, offered, rates, self._streams.keys, ledger.book, drawn, played)

    def _learn(self, ids: Index, x: Array, action: Index | None, y: Array, numbers: Index, memo: Index | None) -> int:
        return self._experts.learn(ids, x, y, numbers, self._ledger.book, memo)

    @property
    def outside(self) -> Any:
        """How many rewards fell outside ``reward_range``."""
        return self._answer(self._experts.expected.outside)


class AggregatePolicy(InverseGapPolicy):
    """What can be asked of a policy that aggregates several experts."""

    @property
    def model_weights(self) -> Array:
        """Weights of the models, ``(M,)``."""
        return self._answer(self._experts.weights)

    @property
    def admissible(self) -> Mask:
        """Which experts are admissible, ``(M,)``."""
        return self._answer(self._experts.alive)

    @property
    def parameters(self) -> Array:
        """Ridge estimates, ``(M, d)``."""
        return self._answer(self._experts.bank.theta)

    @property
    def clipped(self) -> Index:
        """How many rewards SqAlg had to clip to its range."""
        return self._answer(self._experts.clipped)
