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
"""What is recorded at every checkpoint; NaN where a policy or a problem does not have it.

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
    read, wanted = 0, iter(checkpoints.tolist())
    checkpoint = next(wanted)
    for t in range(rounds):
        available = instances.available_after(t, played[:, :t])
        decision = policy.act(instances.offer(t), available=available)
        if follows:
            played[:, t] = decision.action
        earned = instances.rewards(t, decision.action)
        seen = earned == earned
        if seen.all():
            policy.update(decision, earned)
            reward += earned
            observed += 1
        else:
            _learn_some(policy, decision, earned, seen)
            reward[seen] += earned[seen]
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
        if t + 1 == checkpoint:
            covered = np.minimum(covered, _coverage(policy, constants.get("parameter"), constants.get("model")))
            with np.errstate(invalid="ignore"):
                yield np.stack(
                    [
                        regret,
                        pseudo_regret,
                        reward,
                        reward / observed,
                        _weight(policy, constants.get("model"), n_models),
                        *_leader(policy),
                        _admissible(policy),
                        covered,
                        probability / (checkpoint - read),
                    ]
                )
            read, checkpoint = checkpoint, next(wanted, rounds + 1)
            probability[:] = 0.0


def _learn_some(policy: Policy, decision: Decision, earned: Array, seen: NDArray[np.bool_]) -> None:
    """Learn the rewards that were observed and give up on the others."""
    for rows, known in ((np.flatnonzero(seen), True), (np.flatnonzero(~seen), False)):
        if not rows.size:
            continue
        part = Decision._make(v[rows] if isinstance(v, np.ndarray) else v for v in decision)
        if known:
            policy.update(part, earned[rows])
        else:
            policy.forget(part)


def _weight(policy: Policy, model: Any, models: int | None) -> Array:
    """Return the weight of the true model, ``(N,)``; NaN where the policy's models are not those of the problem."""
    weights = getattr(policy, "model_weights", None)
    if weights is None or model is None or weights.shape[1] != (models or weights.shape[1]):
        return np.full(int(policy.lanes or 1), np.nan)
    rows = np.arange(weights.shape[0])
    true = np.broadcast_to(model, rows.shape)
    known = true < weights.shape[1]  # lane by lane: no number depends on the lanes beside it
    return np.where(known, weights[rows, np.where(known, true, 0)], np.nan)


def _leader(policy: Policy) -> tuple[Array, Array]:
    """Return the model of the largest weight, ``(N,)``, and that weight, ``(N,)``."""
    weights = getattr(policy, "model_weights", None)
    if weights is None:
        return (np.full(int(policy.lanes or 1), np.nan),) * 2
    return weights.argmax(axis=1).astype(float), weights.max(axis=1)


def _admissible(policy: Policy) -> Array:
    """Return how many models are admissible, ``(N,)``."""
    admissible = getattr(policy, "admissible", None)
    return np.full(int(policy.lanes or 1), np.nan) if admissible is None else admissible.sum(axis=1).astype(float)


def _coverage(policy: Policy, parameter: Any, model: Any) -> Array:
    """Return 1 where the confidence set holds the true parameter, 0 where not, ``(N,)``; NaN without a set."""
    answer = None if parameter is None else policy.coverage(parameter, model)
    return np.full(int(policy.lanes or 1), np.nan) if answer is None else answer
