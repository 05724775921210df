"""The cost of choosing among M bases, over the bases that play: one lane, and many side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from banditselect import RegretBalancing, SquareCB
from banditselect.masters import D3RB, ED2RB, BalancingElimination, Corral, DynamicBalancing
from banditselect.types import Index

from .figures import Figure, Part
from .limits import K, figure, playing
from .measuring import Array, Block, interleaved
from .problem import REWARD_RANGE, LinearProblem

BALANCING = (RegretBalancing, BalancingElimination, DynamicBalancing, D3RB, ED2RB)
POLICIES = {cls.__name__: cls.bind() for cls in BALANCING} | {"Corral": Corral.bind(reward_range=REWARD_RANGE)}
"""Policies that ask one base in a round."""

D, LANES, LIMIT = 10, 50, 3.0


def meta_policies(quick: bool) -> Part:
    """Target j: a meta-policy costs at most three times what its active base does."""
    blocks, rounds = (3, 50) if quick else (40, 300)
    figures = []
    for M in (2, 10, 50):
        figures += _one_lane(M, rounds, blocks)
    for M in (2, 10, 50):
        figures += _many_lanes(M, rounds // 15, blocks)
    return Part(
        title="Choosing among policies",
        settings=f"M times SquareCB on one map, d = {D}, K = {K}; policies at their defaults, after two blocks; "
        f"{blocks} blocks of {rounds} rounds of each, with lanes {rounds // 15}, in random turns. Each base on its "
        "lanes: every base acts and learns for the lanes that chose it in the second block, in separate calls",
        figures=figures,
    )


def _base(lanes: int | None = None) -> SquareCB:
    return SquareCB(dim=D, reward_range=REWARD_RANGE, lanes=lanes)


def _one_lane(M: int, rounds: int, blocks: int) -> list[Figure]:
    problem = LinearProblem.draw(rounds=rounds, dim=D, n_actions=K)
    policies = {name: policy(bases=[_base()] * M) for name, policy in POLICIES.items()} | {"SquareCB": _base()}
    plays = {name: playing(policy, problem.first_map, problem.rewards) for name, policy in policies.items()}
    seconds = interleaved(plays, blocks, warm_up=2)
    per_block = dict.fromkeys(plays, rounds)
    pairs = [(name, "SquareCB") for name in POLICIES]
    limits: dict[str, Any] = {"limit": LIMIT, "target": "j"}
    return [figure(seconds, pair, f"{pair[0]}, M = {M}", pair[1], rounds=per_block, **limits) for pair in pairs]


def _many_lanes(M: int, rounds: int, blocks: int) -> list[Figure]:
    problems = [LinearProblem.draw(rounds=rounds, dim=D, n_actions=K, seed=lane) for lane in range(LANES)]
    x = np.stack([problem.first_map for problem in problems], axis=1)
    rewards = np.stack([problem.rewards for problem in problems], axis=1)
    plays: dict[str, Block] = {"all": side_by_side(_base(LANES), x, rewards, [])}
    for name, policy in POLICIES.items():
        chosen: list[Index] = []
        plays[name] = block = side_by_side(policy(bases=[_base()] * M, lanes=LANES), x, rewards, chosen)
        block()
        block()
        plays[f"{name}'s bases"] = apart([_base(LANES) for _ in range(M)], x, rewards, chosen[rounds:])
    seconds = interleaved(plays, blocks)
    per_block, figures = dict.fromkeys(plays, rounds), []
    for name in POLICIES:
        what, limits = f"{name}, M = {M}, {LANES} lanes", {"limit": LIMIT, "target": "j"}
        pair = (name, f"{name}'s bases")
        figures.append(figure(seconds, pair, what, "each base on its lanes", rounds=per_block, **limits))
        figures.append(figure(seconds, (name, "all"), what, f"SquareCB, {LANES} lanes", rounds=per_block))
    return figures


def side_by_side(policy: Any, x: Array, rewards: Array, chosen: list[Index]) -> Block:
    """Return a block in which all lanes play; ``chosen`` gets the base of each lane, if there are several."""
    every = np.arange(LANES)

    def block() -> None:
        for t in range(len(x)):
            decision = policy.act(x[t])
            policy.update(decision, rewards[t, every, decision.action])
            if decision.base is not None:
                chosen.append(decision.base)

    return block


def apart(bases: Sequence[SquareCB], x: Array, rewards: Array, chosen: Sequence[Index]) -> Block:
    """Return a block in which every base plays for the lanes that have chosen it in each round."""
    groups = [[(i, np.flatnonzero(base == i)) for i in np.unique(base)] for base in chosen]
    features = [[x[t, lanes] for _, lanes in group] for t, group in enumerate(groups)]

    def block() -> None:
        for t, group in enumerate(groups):
            for (i, lanes), mine in zip(group, features[t], strict=True):
                decision = bases[i].act(mine, lanes=lanes)
                bases[i].update(decision, rewards[t, lanes, decision.action])

    return block
