"""Replay: let an agent or a policy learn from its own decisions, by rejection sampling from a log."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ..runtime import constraints, errors
from .estimators import Estimate, RunningMoments
from .log import Log
from .rounds import Round


@dataclass(frozen=True)
class Replay:
    """The result of :func:`replay`.

    Attributes
    ----------
    mean_reward: of the rounds that were observed, with an interval.
    n: rounds of the log.  observed: those in which the learner played the logged action, and the coin allowed it.
    """

    mean_reward: Estimate
    n: int
    observed: int


def replay(
    learner: Any, log: Log | Iterable[Round], *, floor: float | None = None, seed: int = 0, delta: float = 0.05
) -> Replay:
    r"""Let an agent or a policy play through a log in order; it learns a reward where it plays the logged action.

    With :math:`p_t` the logged propensity and :math:`c` the ``floor``, a round whose logged action it plays is observed
    with probability :math:`\min(1, c / p_t)`. If c is at most the smallest propensity, every action is observed with
    probability c: the rounds observed are a fair sample. **The learner learns**; replay a copy to keep it as it is.

    Parameters
    ----------
    learner: a policy without lanes for a ``Log``, an agent for rounds; it has ``act``, ``update(decision, reward)`` and
        ``forget(decision)``.
    log: a ``Log``, or rounds of records, which are iterated over once.
    floor: c. None: the smallest propensity of a ``Log``; of rounds it is not known before their end. A larger one
        observes more, and favours actions whose propensity is at least c.
    seed: of the coins.
    delta: the interval has confidence 1 - delta.

    References
    ----------
    Li, Chu, Langford, Wang, "Unbiased offline evaluation of contextual-bandit-based news article recommendation
    algorithms", WSDM 2011.
    """
    constraints.Number(low=0.0, above=True, high=1.0, optional=True).check("replay: floor", floor, None)
    constraints.Number(low=0.0, above=True, high=1.0, below=True).check("replay: delta", delta, None)
    constraints.Seeds().check("replay: seed", seed, None)
    if floor is None:
        if not isinstance(log, Log):
            raise errors.refuse("replay: floor", floor, "a number, at most the smallest probability of the rounds")
        floor = float(log.propensity.min())
    rng, seen, n = np.random.default_rng(seed), RunningMoments(1), 0
    for offer, action, reward, probability in _offers(log):
        n += 1
        decision = learner.act(*offer)
        coin = rng.uniform() < chance_to_observe(probability, floor)
        if coin and decision.action == action:
            learner.update(decision, reward)
            seen.add(np.array([[reward]]))
        else:
            learner.forget(decision)
    if seen.n < 2:
        expected = "at least 2 in which the learner plays the logged action"
        raise errors.refuse("replay: log", f"{n} rounds, {seen.n} of them observed", expected)
    return Replay(seen.interval(0, NormalDist().inv_cdf(1.0 - 0.5 * delta)), n, seen.n)


def chance_to_observe(propensity: Any, floor: float) -> Any:
    """Return with which probability a reward is observed where the logged action is played, at most 1."""
    return np.minimum(1.0, floor / propensity)


def _offers(log: Log | Iterable[Round]) -> Iterator[tuple[tuple[Any, ...], int, float, float]]:
    """Yield for every decision the arguments of ``act``, the position played, its reward and its propensity."""
    if not isinstance(log, Log):
        for context, items, action, reward, probability in log:
            yield (context, items), action, reward, probability
        return
    for t, offered in enumerate(log.offered):
        features = log.part(log.features.shown(np.array([t])), 0, offered)
        yield (features,), int(offered[: log.action[t]].sum()), float(log.reward[t]), float(log.propensity[t])
