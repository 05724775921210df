"""The only interaction loop: a policy with a lane for every instance plays them round by round."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..policies import Binding, Decision, Policy
from ..problems import Instances, Problem
from ..runtime import errors
from ..types import Array, Index

METRICS = {
    "regret": "what the action of highest mean would have earned minus what was earned, summed over the rounds",
    "pseudo_regret": "the same for the mean rewards",
    "reward": "earned so far",
    "mean_reward": "earned so far, divided by the number of rewards observed",
    "weight": "of the true model",
    "leader": "the number of the model that the policy gives the largest weight, the first of several",
    "leading_weight": "of that model; the problem need not have a true one",
    "admissible": "how many models are admissible",
    "coverage": "1 if the confidence set held the true parameter at this checkpoint and all before it, else 0",
    "probability": "of the actions played, mean over the rounds since the checkpoint before",
}
"""Metrics recorded at every checkpoint; NaN where a policy or a problem does not have it.

With noise that does not depend on the action, regret and pseudo-regret are equal: the regret of the paper (eq:regret).
"""


def checkpoints_of(rounds: int) -> Index:
    """Return the rounds after which the metrics are read: every round up to 100 of them, then 100 evenly spaced."""
    return np.unique(np.linspace(1, rounds, min(rounds, 100)).round().astype(np.int64))


def build(binding: Binding[Any], problem: Problem, instances: Instances, lanes: range, seed: int) -> Policy:
    """Return the policy bound, with a lane for every instance and the streams that belong to these lanes."""
    policy = binding.resolve(problem.shapes, instances.constants)(lanes=len(lanes), seed=seed)
    if not isinstance(policy, Policy):
        raise errors.refuse("simulate: policies", binding, "what Policy.bind returned")
    policy._seed_streams((), lanes.start)
    return policy


def play(
    policy: Policy, instances: Instances, rounds: int, checkpoints: Index, n_models: int | None = None
) -> Iterator[Array]:
    """Play the rounds; yield the metrics at every checkpoint, ``(metrics, N)`` in the order of ``METRICS``.

    ``n_models``: how many feature maps the problem has, None for one; its models are those, or its ``centers``.
    """
    n = int(policy.lanes or 1)
    rows = np.arange(n)
    regret, pseudo_regret, reward, probability = (np.zeros(n) for _ in range(4))
    observed = np.zeros(n, dtype=np.int64)
    covered = np.ones(n)
    follows = type(instances).available_after is not Instances.available_after
    played = np.empty((n, rounds if follows else 0), dtype=np.int64)
    constants = instances.constants
    if n_models is None and "centers" in constants:
        n_models = int(np.shape(constants["centers"])[-2])
    read, wanted = 0, set(checkpoints.tolist())
    for t in range(rounds):
        available = instances.available_after(t, played[:, :t])
        decision = policy.act(instances.offer(t), available=available)
        if follows:
            played[:, t] = decision.action
        earned = instances.rewards(t, decision.action)
        seen = earned == earned
        if seen.all():
            policy.update(decision, earned)
        else:
            _learn_some(policy, decision, earned, seen)
        reward += np.where(seen, earned, 0.0)
        observed += seen
        means = instances.means(t)
        if means is None:
            pseudo_regret += np.nan
            regret += np.nan
        else:
            best = (means if available is None else np.where(available, means, -np.inf)).argmax(axis=1)
            pseudo_regret += means[rows, best] - means[rows, decision.action]
            regret += instances.rewards(t, best) - earned
        probability += np.nan if decision.probability is None else decision.probability
        if t + 1 in wanted:
            covered = np.minimum(covered, _coverage(policy, constants.get("parameter"), constants.get("model")))
            beliefs = _beliefs(policy, constants.get("model"), n_models)
            with np.errstate(invalid="ignore"):
                mean_reward, mean_probability = reward / observed, probability / (t + 1 - read)
            yield np.stack([regret, pseudo_regret, reward, mean_reward, *beliefs, covered, mean_probability])
            read, probability = t + 1, np.zeros(n)


def _learn_some(policy: Policy, decision: Decision, earned: Array, seen: NDArray[np.bool_]) -> None:
    """Learn the rewards that were observed and give up on the others."""
    for rows in (np.flatnonzero(seen), np.flatnonzero(~seen)):
        part = Decision._make(v[rows] if isinstance(v, np.ndarray) else v for v in decision)
        if rows.size and seen[rows[0]]:
            policy.update(part, earned[rows])
        elif rows.size:
            policy.forget(part)


def _beliefs(policy: Policy, model: Any, n_models: int | None) -> list[Array]:
    """Return the weight of the true model, the model of the largest weight, its weight, and how many are admissible.

    ``(N,)`` each. The first is NaN where the policy's models are not those of the problem, all where it has none.
    """
    unknown = np.full(int(policy.lanes or 1), np.nan)
    weights, admissible = getattr(policy, "model_weights", None), getattr(policy, "admissible", None)
    count = unknown if admissible is None else admissible.sum(axis=1).astype(float)
    if weights is None:
        return [unknown, unknown, unknown, count]
    weight, M = unknown, weights.shape[1]
    if model is not None and (n_models or M) == M:
        true = np.broadcast_to(model, unknown.shape)
        own = weights[np.arange(true.size), np.minimum(true, M - 1)]
        weight = np.where(true < M, own, np.nan)  # lane by lane: no number depends on the lanes beside it
    return [weight, weights.argmax(axis=1).astype(float), weights.max(axis=1), count]


def _coverage(policy: Policy, parameter: Any, model: Any) -> Array:
    """Return 1 where the confidence set holds the true parameter, 0 where not, ``(N,)``; NaN without a set."""
    answer = None if parameter is None else policy.coverage(parameter, model)
    return np.full(int(policy.lanes or 1), np.nan) if answer is None else answer
