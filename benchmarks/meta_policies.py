"""The cost of choosing among M bases, over the bases that play: one lane, and many side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from banditselect import RegretBalancing, SquareCB
from banditselect.masters import D3RB, ED2RB, BalancingElimination, Corral, DynamicBalancing
from banditselect.types import Index

from .figures import Figure, Part
from .limits import K, figure, playing, side_by_side, stacked
from .measuring import Array, Block, interleaved
from .problem import REWARD_RANGE, LinearProblem

BALANCING = (RegretBalancing, BalancingElimination, DynamicBalancing, D3RB, ED2RB)
POLICIES = {cls.__name__: cls.bind() for cls in BALANCING} | {"Corral": Corral.bind(reward_range=REWARD_RANGE)}
"""Policies that ask one base in a round."""

D, LANES = 10, 50
LIMIT: dict[str, Any] = {"limit": 3.0, "target": "j"}


def meta_policies(quick: bool) -> Part:
    """Target j: a meta-policy costs at most three times its active base."""
    blocks, rounds = (3, 50) if quick else (40, 300)
    figures = [one for M in (2, 10, 50) for one in _one_lane(M, rounds, blocks)]
    figures += [one for M in (2, 10, 50) for one in _many_lanes(M, rounds // 15, blocks)]
    settings = f"M times SquareCB on one map, d = {D}, K = {K}; policies at their defaults, after two blocks; {blocks} "
    settings += f"blocks of {rounds} rounds of each, with lanes {rounds // 15}, in random turns. Each base on its "
    settings += "lanes: every base acts and learns for the lanes that chose it in the second block, in separate calls"
    return Part("Choosing among policies", settings, figures)


def _base(lanes: int | None = None) -> SquareCB:
    return SquareCB(dim=D, reward_range=REWARD_RANGE, lanes=lanes)


def _one_lane(M: int, rounds: int, blocks: int) -> list[Figure]:
    problem = LinearProblem.draw(rounds=rounds, dim=D, n_actions=K)
    policies = {name: policy(bases=[_base()] * M) for name, policy in POLICIES.items()} | {"SquareCB": _base()}
    plays = {name: playing(policy, problem.first_map, problem.rewards) for name, policy in policies.items()}
    seconds = interleaved(plays, blocks, warm_up=2)
    return [figure(seconds, (name, "SquareCB"), rounds, what=f"{name}, M = {M}", **LIMIT) for name in POLICIES]


def _many_lanes(M: int, rounds: int, blocks: int) -> list[Figure]:
    x, rewards = stacked(LinearProblem.draw(rounds=rounds, dim=D, n_actions=K, seed=lane) for lane in range(LANES))
    x = x[:, :, 0]
    plays: dict[str, Block] = {"all": side_by_side(_base(LANES), x, rewards)}
    for name, policy in POLICIES.items():
        chosen: list[Index] = []
        plays[name] = block = side_by_side(policy(bases=[_base()] * M, lanes=LANES), x, rewards, chosen)
        block()
        block()
        plays[f"{name}'s bases"] = apart([_base(LANES) for _ in range(M)], x, rewards, chosen[rounds:])
    seconds, figures = interleaved(plays, blocks), []
    for name in POLICIES:
        what, over = f"{name}, M = {M}, {LANES} lanes", f"SquareCB, {LANES} lanes"
        pair = (name, f"{name}'s bases")
        figures.append(figure(seconds, pair, rounds, what=what, over="each base on its lanes", **LIMIT))
        figures.append(figure(seconds, (name, "all"), rounds, what=what, over=over))
    return figures


def apart(bases: Sequence[SquareCB], x: Array, rewards: Array, chosen: Sequence[Index]) -> Block:
    """Return a block in which every base plays for the lanes that have chosen it in each round."""
    turns = [
        (t, bases[i], lanes, x[t, lanes])
        for t, base in enumerate(chosen)
        for i in np.unique(base)
        for lanes in [np.flatnonzero(base == i)]
    ]

    def block() -> None:
        for t, base, lanes, features in turns:
            decision = base.act(features, lanes=lanes)
            base.update(decision, rewards[t, lanes, decision.action])

    return block
