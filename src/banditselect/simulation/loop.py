"""The only interaction loop: policies against instances, lanes inside, common random numbers across policies."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..policies import Binding, Policy
from ..problems import Instances, Problem
from .results import Result

Progress = Callable[[int, int], None]

_MEMORY = 1_500_000_000  #: bytes of instances held at a time


def simulate(
    policies: Mapping[str, Binding[Any]],
    problem: Problem,
    *,
    rounds: int,
    replicates: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> Result:
    """Play every policy on the same instances and return the regret of each.

    Parameters
    ----------
    policies: by name, what ``bind`` returned; lanes, seed and shapes are added, and what is asked for with ``given``.
    problem: draws the instances; replicate j of every policy meets instance j.
    rounds, replicates: how long, how often.
    seed: of the instances and of the policies.
    progress: called with (rounds played, rounds in all), over all policies and replicates.

    Examples
    --------
    >>> from banditselect import SquareCB, Uniform, given, on_map
    >>> from banditselect.problems import SyntheticFeatureSelection
    >>> oracle = on_map(SquareCB.bind(reward_range=given.reward_range), 0)
    >>> problem = SyntheticFeatureSelection(n_models=2, dim=5, n_items=100)
    >>> result = simulate({"oracle": oracle, "uniform": Uniform.bind()}, problem, rounds=200, replicates=4)
    >>> bool((result.final("oracle", "regret") < result.final("uniform", "regret")).all())
    True
    """
    rounds = validation.whole_number("simulate: rounds", rounds, 1)
    replicates = validation.whole_number("simulate: replicates", replicates, 1)
    for name, binding in policies.items():
        if not isinstance(binding, Binding):
            raise validation.refuse(f"simulate: policies[{name!r}]", binding, "what Policy.bind returned")
    checkpoints = np.unique(np.linspace(1, rounds, min(rounds, 100)).round().astype(np.int64))
    curves = {name: {m: np.empty((checkpoints.size, replicates)) for m in Result.metrics} for name in policies}
    size = max(1, min(replicates, _MEMORY // problem.lane_bytes(rounds)))
    done, total = 0, rounds * replicates * len(policies)
    for first in range(0, replicates, size):
        lanes = range(first, min(first + size, replicates))
        instances = problem.draw(lanes, rounds, seed)
        for name, binding in policies.items():
            policy = build(binding, problem, instances, lanes, seed)
            for k, row in enumerate(play(policy, instances, rounds, checkpoints)):
                for metric, values in zip(Result.metrics, row, strict=True):
                    curves[name][metric][k, lanes.start : lanes.stop] = values
                if progress is not None:
                    progress(done + int(checkpoints[k]) * len(lanes), total)
            done += rounds * len(lanes)
    return Result(checkpoints=checkpoints, curves=curves)


def build(binding: Binding[Any], problem: Problem, instances: Instances, lanes: range, seed: int) -> Policy:
    """Return the policy bound, with a lane for every instance and the streams that belong to these lanes."""
    policy = binding.resolve(problem.shapes, instances.constants)(lanes=len(lanes), seed=seed)
    if not isinstance(policy, Policy):
        raise validation.refuse("simulate: policies", binding, "what Policy.bind returned")
    policy._root((), lanes.start)
    return policy


def play(policy: Policy, instances: Instances, rounds: int, checkpoints: NDArray[np.int64]) -> Any:
    """Play the rounds; yield regret and reward so far at every checkpoint, ``(N,)`` each."""
    wanted = set(checkpoints.tolist())
    regret: NDArray[np.float64] | float = 0.0
    reward: NDArray[np.float64] | float = 0.0
    for t in range(rounds):
        decision = policy.act(instances.features(t))
        means = instances.means(t)
        earned = instances.rewards(t, decision.action)
        policy.update(decision, earned)
        regret = regret + means.max(axis=1) - means[np.arange(means.shape[0]), decision.action]
        reward = reward + earned
        if t + 1 in wanted:
            yield regret, reward
