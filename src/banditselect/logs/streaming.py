"""Judges, replays and teaches an agent from rounds of records, in one pass that holds a few of them at a time.

An agent is anything with these methods: ``probabilities(context, items)`` to be judged,
``learn(context, item, reward)`` to be taught, ``act(context, items)``, ``update(decision, reward)`` and
``forget(decision)`` to be replayed.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import constraints, errors, inputs
from ..types import Array
from .estimates import TOLERANCE, Estimate, Estimates, Tally, WeightedRewards
from .replay import chance_to_observe
from .rounds import Record, Round

_BLOCK = 1000  #: rounds whose numbers are added up at a time


class Judged(Protocol):
    """What can be judged by rounds."""

    def probabilities(self, context: Record, items: Sequence[Record], /) -> ArrayLike | None:
        """Return the probabilities of all items."""


class Taught(Protocol):
    """What can learn from rounds."""

    def learn(self, context: Record, item: Record, reward: float, /) -> None:
        """Learn what was played."""


class Replayed(Protocol):
    """What can play through rounds; a decision has an ``action``, the position of the item."""

    def act(self, context: Record, items: Sequence[Record], /) -> Any:
        """Decide."""

    def update(self, decision: Any, reward: float, /) -> None:
        """Learn a reward."""

    def forget(self, decision: Any, /) -> None:
        """Give up on a reward."""


Asked = Callable[[Record, Sequence[Record]], Any]


def evaluate_rounds(
    agent: Judged | Asked,
    rounds: Iterable[Round],
    *,
    learn: bool = False,
    predictions: Asked | None = None,
    clip: float | None = None,
    delta: float = 0.05,
) -> Estimates:
    """Estimate what an agent would have earned per round, had it decided the rounds of a log.

    The estimators, their intervals and their warning are those of :func:`evaluate`, but for the model of dr.

    Parameters
    ----------
    agent: which is not changed; or a function from the context and the items to the probabilities of the items.
    rounds: what a reader returned, or any rounds; they are gone through once.
    learn: False: the agent as it is. True: at every round a copy is asked for its probabilities and then learns the
        logged item and its reward, see :func:`evaluate`.
    predictions: the model of dr, a function from the context and the items to the rewards that it expects; it must not
        have seen these rewards. None: the mean of the rewards before, for every item.
    clip: weights above it count as ``clip``.
    delta: the intervals have confidence 1 - delta.

    Notes
    -----
    dr is unbiased also where the logging policy learned meanwhile, since its model has seen earlier rounds only.

    Examples
    --------
    >>> items = [{"id": "a"}, {"id": "b"}]
    >>> rounds = [Round({}, items, 0, 1.0, 0.5), Round({}, items, 1, 0.0, 0.5), Round({}, items, 1, 2.0, 0.25)]
    >>> found = evaluate_rounds(lambda context, items: [0.5, 0.5], rounds)  # weights 1, 1, 2
    >>> found.ips.estimate, found.snips.estimate
    (1.6666666666666667, 1.25)
    """
    constraints.Number(low=0.0, above=True, optional=True).check("evaluate_rounds: clip", clip, None)
    constraints.Number(low=0.0, above=True, high=1.0, below=True).check("evaluate_rounds: delta", delta, None)
    if learn and not hasattr(agent, "learn"):
        raise errors.refuse("evaluate_rounds: agent", agent, "an agent that learns, or learn=False")
    learner: Any = copy.deepcopy(agent) if learn else agent
    ask: Asked = learner.probabilities if hasattr(learner, "probabilities") else learner
    sums, before, n = WeightedRewards(clip), 0.0, 0

    def terms() -> Iterator[tuple[float, float, float, float]]:
        """Yield of every round the weight, the reward, what the model expects of the agent, and what it missed."""
        nonlocal before, n
        for t, (context, items, action, reward, probability) in enumerate(rounds):
            p = _numbers(f"evaluate_rounds: agent at round {t}", ask(context, items), len(items), law=True)
            if predictions is None:
                direct = expected = before
            else:
                q = _numbers(f"evaluate_rounds: predictions at round {t}", predictions(context, items), len(items))
                direct, expected = float(p @ q), float(q[action])
            if learn:
                learner.learn(context, items[action], reward)
            n += 1
            before += (reward - before) / n
            yield float(p[action]) / probability, reward, direct, reward - expected

    for block in _blocks(terms()):
        sums.add(*block.T)
    if n < 2:
        raise errors.refuse("evaluate_rounds: rounds", f"{n} rounds", "at least 2")
    return sums.estimates(delta)


@dataclass(frozen=True)
class Replay:
    """What :func:`replay_rounds` returns.

    Attributes
    ----------
    mean_reward: of the rounds that were observed, with an interval.
    n: rounds of the log.  observed: those in which the agent played what was logged, and the coin allowed it.
    """

    mean_reward: Estimate
    n: int
    observed: int


def replay_rounds(
    agent: Replayed, rounds: Iterable[Round], *, floor: float, seed: int = 0, delta: float = 0.05
) -> Replay:
    """Let an agent play through the rounds of a log; it is told a reward where it plays what was logged.

    This is :class:`LoggedReplay` in the order of the log. **The agent learns**; replay a copy to keep it as it is.

    Parameters
    ----------
    agent: it decides every round, learns the rewards that it is told, and forgets the other decisions.
    floor: the share of rounds that is observed; fair if it is at most the smallest probability in the log. A larger one
        observes more, and favours actions whose probability is at least ``floor``.
    seed: of the coins.
    delta: the interval has confidence 1 - delta.
    """
    constraints.Number(low=0.0, above=True, high=1.0).check("replay_rounds: floor", floor, None)
    constraints.Number(low=0.0, above=True, high=1.0, below=True).check("replay_rounds: delta", delta, None)
    inputs.check_seed("replay_rounds: seed", seed)
    rng, tally, n = np.random.default_rng(seed), Tally(1), 0

    def observed() -> Iterator[tuple[float]]:
        nonlocal n
        for context, items, action, reward, probability in rounds:
            n += 1
            decision = agent.act(context, items)
            coin = rng.uniform() < chance_to_observe(probability, floor)
            if coin and decision.action == action:
                agent.update(decision, reward)
                yield (reward,)
            else:
                agent.forget(decision)

    for block in _blocks(observed()):
        tally.add(block)
    if tally.n < 2:
        expected = "at least 2 in which the agent plays what was logged"
        raise errors.refuse("replay_rounds: rounds", f"{n} rounds, {tally.n} of them observed", expected)
    return Replay(tally.interval(0, NormalDist().inv_cdf(1.0 - 0.5 * delta)), n, tally.n)


def learn_rounds(agent: Taught, rounds: Iterable[Round]) -> int:
    """Teach an agent what was played in the rounds of a log and what it earned; return how many there were."""
    n = 0
    for context, items, action, reward, _ in rounds:
        agent.learn(context, items[action], reward)
        n += 1
    return n


def _blocks(rows: Iterator[tuple[float, ...]]) -> Iterator[Array]:
    """Yield rows of numbers as arrays, a block at a time."""
    block: list[tuple[float, ...]] = []
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK:
            yield np.array(block)
            block = []
    if block:
        yield np.array(block)


def _numbers(name: str, value: Any, n: int, law: bool = False) -> Array:
    """Return a finite number for every item; with ``law`` probabilities that sum to 1."""
    expected = f"{n} {'probabilities that sum to 1' if law else 'finite numbers'}"
    if value is None:
        raise errors.refuse(name, value, expected)
    found = inputs.as_floats(name, value, expected)
    good = found.shape == (n,) and bool(np.isfinite(found).all())
    if not good or (law and (found.min() < 0.0 or abs(found.sum() - 1.0) > TOLERANCE)):
        raise errors.refuse(name, value, expected)
    return found
