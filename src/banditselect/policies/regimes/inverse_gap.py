"""Inverse-gap play on predictions that are aggregated over experts: the steps, and ways to aggregate."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...carriers import validation
from ...carriers.decisions import Ledger
from ...carriers.lanes import LaneArrays
from ...kernels.acting import ALL_OFFERED, Drawn, mask_of
from ...kernels.features import InBlocks, clean, prepared
from ...kernels.ledger import NO_BOOK, UNNUMBERED, settle
from ...kernels.rounds import DONE, OUTSIDE, UNUSABLE, learn_in_range, play_gaps, play_mixture_gaps
from ...parts.aggregation import Posterior, SqAlg
from ...parts.experts import RidgeBank, split
from ...parts.exploration import Rates, Schedule, Scheduled, evaluated, inverse_gap_weighting
from ...parts.forgetting import Forgetting, ScheduledFading
from ...parts.mixtures import MapsMixture
from ...parts.reward_range import RewardRange
from ...types import Array, Index, Mask
from ..base import Played, Policy
from .blocks import answer_by_map
from .optimal_design import OptimalDesign

NO_POSTERIOR = np.empty((0, 0)), np.empty(0)


class Aggregate(LaneArrays, ABC):
    """Experts that learn and predict as one.

    Parameters
    ----------
    bank: the experts.
    expected: the range of the rewards.
    messages: where warnings are put.
    constant: whether it is to be shown features behind a constant 1.

    Attributes
    ----------
    as_given: whether it takes features as they come; else as ``prepared`` returns them.
    forgetting: how rewards fade; None where they do not.
    """

    forgetting: Forgetting | None = None
    memo_width = 0  #: how many whole numbers ``predict`` wants to be told again with the reward

    def __init__(self, bank: RidgeBank, expected: RewardRange, messages: list[str], constant: bool) -> None:
        self.bank = bank
        self.expected = expected
        self._messages = messages
        self.constant = constant
        self.as_given = not constant and bank.first is None

    def prepared(self, ids: Index, x: Array) -> Any:
        """Return features as it is to be shown them."""
        seen = self.bank.read(x)
        return prepared(ids, seen) if self.constant else seen

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

    @abstractmethod
    def weigh(self, ids: Index) -> Array:
        """Return the weights of the experts in these lanes, ``(n, M)``."""

    @property
    def weights(self) -> Array:
        """The weights of the experts, ``(N, M)``."""
        return self.weigh(np.arange(len(self.bank.group)))

    @abstractmethod
    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""

    @abstractmethod
    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the experts when the last have come or some have gone, see ``parts.joining``."""

    @abstractmethod
    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when a reward was learned that experts ``asleep`` know nothing of."""

    def estimates(self) -> tuple[Array, Array]:
        """Return what the experts have learned: constant terms ``(N, M)``, parameters ``(N, M, d)``.

        With blocks, of every block, those of an expert side by side.
        """
        return split(self.bank.theta, self.constant)

    @property
    def alive(self) -> Mask:
        """Which experts are admissible, ``(N, M)``."""
        return np.ones(self.weights.shape, dtype=bool)

    @property
    def clipped(self) -> Index:
        """How many rewards had to be clipped, ``(N,)``."""
        return np.zeros(len(self.bank.group), dtype=np.int64)


class ByEvidence(Aggregate):
    """The mean prediction under the posterior of the experts; a single expert needs none."""

    def __init__(
        self,
        bank: RidgeBank,
        expected: RewardRange,
        messages: list[str],
        constant: bool,
        posterior: Posterior | None = None,
    ) -> None:
        super().__init__(bank, expected, messages, constant)
        self.posterior = posterior

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        """Return the mean prediction for every action, ``(n, K)``."""
        return self.bank.mixture(ids, x, self.weigh(ids)), None

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

    def weigh(self, ids: Index) -> Array:
        """Return the posterior weights of the experts in these lanes, ``(n, M)``."""
        return np.ones((ids.size, 1)) if self.posterior is None else self.posterior.weigh(ids, self.bank)[0]

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return self.posterior.total(self.bank)  # type: ignore[union-attr]

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the experts when the last have come or some have gone."""
        self.posterior.join(self.bank, total, shares, replayed)  # type: ignore[union-attr]

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when a reward was learned that experts ``asleep`` know nothing of."""
        return self.posterior.rest(ids, asleep, self.bank)  # type: ignore[union-attr]


class BySqAlg(Aggregate):
    """The prediction of the paper's SqAlg on the range of the rewards, what lies outside clipped.

    Where rewards fade, so do its losses, unless a ``share`` of the weights lets them return.
    """

    def __init__(
        self,
        bank: RidgeBank,
        expected: RewardRange,
        messages: list[str],
        constant: bool,
        forgetting: Forgetting | None = None,
        share: float = 0.0,
        rate: float = 1.0,
    ) -> None:
        super().__init__(bank, expected, messages, constant)
        N, M = bank.group.shape
        lower, upper = self._range(np.arange(N))
        gamma = 1.0 if forgetting is None or share > 0.0 else forgetting.gamma
        self.forgetting = forgetting
        self.sqalg = SqAlg(lower=lower, upper=upper, n_models=M, gamma=gamma, share=share, rate=rate)

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
        if self.forgetting is None:
            f, _ = self.bank.learn(ids, x, y)
        else:
            one = InBlocks(x.x[:, :, None], x.first) if isinstance(x, InBlocks) else x[:, :, None]
            f = self.bank.predict(ids, one)[:, :, 0]  # as it was played, before the round has faded
            self.forgetting.learn(ids, self.bank, x, y)
        if memo is not None:
            self.sqalg.drop(ids, memo)
        self.sqalg.update(ids, f, y)
        self._widen(ids)
        self._messages += self.expected.watch(ids, y) + self.sqalg.warnings()
        return DONE

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return self.sqalg.total()

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the experts when the last have come or some have gone."""
        self.sqalg.join(total, shares, replayed)

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when a reward was learned that experts ``asleep`` know nothing of."""
        put_back, wake = self.bank.rest(ids, asleep), self.sqalg.rest(ids, asleep)

        def both() -> None:
            put_back()
            wake()

        return both

    def weigh(self, ids: Index) -> Array:
        """Return the weights of SqAlg in these lanes, ``(n, M)``."""
        return self.sqalg.weights(ids)

    @property
    def alive(self) -> Mask:
        """Which experts are admissible, ``(N, M)``."""
        return self.sqalg.alive

    @property
    def clipped(self) -> Index:
        """How many rewards SqAlg had to clip to its range, ``(N,)``."""
        return self.sqalg.clipped


class ByMixture(Aggregate):
    """The mean prediction under the posterior of experts whose noise and prior scales are learned.

    The mixture has a constant term of its own, and counts rewards from the first then: predictions are relative to it.

    Parameters
    ----------
    policy: a policy with the arguments intercept, noise, regularization, exploration and memory; noise and
        regularization, which are learned, and the printed rate, which needs them, are refused by name.
    dims, blocks: widths of the maps, and how many blocks of parameters they have.
    """

    def __init__(
        self, policy: Policy, dims: tuple[int, ...], blocks: tuple[int, ...], lanes: int, expected: RewardRange
    ) -> None:
        given = policy.settings
        wrong = {name: "None" for name in ("noise", "regularization") if given[name] is not None}
        if isinstance(given["exploration"], str):
            wrong["exploration"] = "a number or a schedule"
        for name, what in wrong.items():
            expectation = f'{what}, since weighting="learned" was chosen'
            raise validation.refuse(f"{type(policy).__name__}: {name}", given[name], expectation)
        self.mixture = MapsMixture(
            lanes=lanes,
            dims=dims,
            constant=bool(given["intercept"]),
            noise=None,
            prior=np.full(len(dims), 1.0 / len(dims)),
            blocks=blocks,
            memory=given["memory"],
        )
        self.forgetting = self.mixture.forgetting
        super().__init__(self.mixture.bank, expected, policy._messages, constant=False)
        self.as_given = True  # the mixture prepares them

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        """Return the mean prediction for every action, ``(n, K)``."""
        _, weights, _ = self.mixture.weigh(ids)
        return self.bank.mixture(ids, self.mixture.prepared(ids, x), weights), None

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index, memo: Index | None) -> int:
        """Settle acts and learn their rewards."""
        if not clean(x):
            return UNUSABLE
        status = settle(ids, numbers, book)
        if status >= 0:
            return status
        self.mixture.learn(ids, x, y)
        self._messages += self.expected.watch(ids, y)
        return DONE

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return self.mixture.total()

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps when the last have come or some have gone."""
        self.mixture.join(total, shares, replayed)

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when a reward was learned that maps ``asleep`` know nothing of."""
        return self.mixture.rest(ids, asleep)

    def weigh(self, ids: Index) -> Array:
        """Return how probable the maps are in these lanes, ``(n, M)``."""
        return self.mixture.weights()[ids]

    def estimates(self) -> tuple[Array, Array]:
        """Return the means of the posterior: constant terms ``(N, M)``, parameters ``(N, M, d)``."""
        return self.mixture.estimates()


class LearningRate(Protocol):
    """The rate alpha of inverse-gap play."""

    def __call__(self, ids: Index, updates: Index, n_actions: int, offered: Mask | None) -> Rates:
        """Return the rates of these lanes, which have learned ``updates (N,)`` rewards."""
        ...


class InverseGapPolicy(Policy):
    """Plays an action the less the further its prediction lies below the best."""

    _experts: Aggregate
    _rate: LearningRate
    _design: OptimalDesign | None = None
    _steps = (*Policy._steps, "_rates")
    _looks_up = True
    _instead = 'design="optimal", LinIDS, LinTS or OFUL'  #: what does not spread over all actions
    _warned = False

    def _rates(self, ids: Index, K: int, offered: Mask | None) -> Array:
        """Return alpha_t, ``(n,)``."""
        return evaluated(ids, self._rate(ids, self._experts.bank.updates, K, offered))

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index | None]:
        experts = self._experts
        prediction, memo = experts.predict(ids, x if experts.as_given else experts.prepared(ids, x), offered)
        alpha = self._rates(ids, x.shape[2], offered)
        if self._design is None:
            return inverse_gap_weighting(prediction, alpha, offered), memo
        return self._design.probabilities(ids, x, prediction, alpha, offered, experts.weigh(ids)), memo

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        experts = self._experts
        experts.learn(ids, x if experts.as_given else experts.prepared(ids, x), y, UNNUMBERED, NO_BOOK, memo)

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        if self._design is not None:
            return Policy._play(self, ids, x, offered, ledger, drawn, played)
        experts = self._experts
        if not experts.as_given:
            x = experts.prepared(ids, x)
        K = x.shape[2]
        if K > 1000 and not self._warned:
            self._watch_crowd(K if offered is None else int(offered.sum(axis=1).max()))
        rates = self._rate(ids, experts.bank.updates, K, offered)
        return experts.play(ids, x, offered, rates, self._streams.keys, ledger.book, drawn, played)

    def _watch_crowd(self, K: int) -> None:
        """Warn once of more actions than the rate is made for."""
        if isinstance(self._rate, Scheduled) and self._rate.crowd < K:
            self._warned = True
            validation.warn(
                f"{type(self).__name__}: {K} actions are played nearly uniformly: the best one, if all others earn a "
                "tenth of reward_range less, in less than half of the rounds even after 10,000 rewards. "
                f"Use {self._instead}, or a larger exploration, which plays the best more often."
            )

    def _learn(self, ids: Index, x: Array, action: Index | None, y: Array, numbers: Index, memo: Index | None) -> int:
        experts = self._experts
        if not experts.as_given:
            x = experts.prepared(ids, x)
        return experts.learn(ids, x, y, numbers, self._ledger.book, memo)

    def _scheduled(self, exploration: float | Schedule) -> Scheduled:
        """Return the rate of a schedule for as many rewards as the experts remember."""
        fading, span = self._experts.forgetting, self._experts.expected.span
        return Scheduled(exploration, span) if fading is None else ScheduledFading(exploration, span, fading)

    @property
    def outside(self) -> Any:
        """How many rewards fell outside ``reward_range``."""
        return self._answer(self._experts.expected.outside)


class AggregatePolicy(InverseGapPolicy):
    """What can be asked of a policy that aggregates several experts."""

    _instead = 'design="optimal", FSIDS, FSTS or FSOFUL'

    @property
    def model_weights(self) -> Array:
        """Weights of the models, ``(M,)``."""
        return self._answer(self._experts.weights)

    @property
    def admissible(self) -> Mask:
        """Which experts are admissible, ``(M,)``."""
        return self._answer(self._experts.alive)

    @property
    def parameters(self) -> Any:
        """Estimates of the experts, ``(M, d)``; with blocks a list, ``(blocks, d_i)`` of a map that has several."""
        return answer_by_map(self, self._experts.estimates()[1])

    @property
    def constants(self) -> Any:
        """Their constant terms, ``(M,)``; 0 without an intercept. With blocks a list."""
        return answer_by_map(self, self._experts.estimates()[0])

    @property
    def clipped(self) -> Index:
        """How many rewards SqAlg had to clip to its range."""
        return self._answer(self._experts.clipped)
