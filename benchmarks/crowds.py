"""The cost of an act among many actions: SquareCB by optimal design against plain SquareCB and OFUL."""

import warnings
from typing import Any

import numpy as np

from banditselect import OFUL, SquareCB
from banditselect.actions import Ball
from banditselect.authoring import Policy

from .figures import Part
from .limits import figure, playing
from .measuring import Block, interleaved
from .problem import NOISE, REWARD_RANGE, LinearProblem

D = 10
CROWDS = {100: 50, 1000: 20, 10_000: 5, 100_000: 2}  #: rounds of a block, by the number of actions


def crowds(quick: bool) -> Part:
    """Target o: a round by design against one of plain SquareCB and, for the most actions, of OFUL."""
    blocks, figures = (4 if quick else 30), []
    mine, plain, oful, ball = "SquareCB by design", "SquareCB", "OFUL", "a ball"
    for K, rounds in CROWDS.items():
        problem = LinearProblem.draw(rounds=rounds, dim=D, n_actions=K)
        policies: dict[str, Policy] = {
            mine: SquareCB(dim=D, reward_range=REWARD_RANGE, design="optimal"),
            plain: SquareCB(dim=D, reward_range=REWARD_RANGE),
            oful: OFUL(dim=D, noise=NOISE),
        }
        plays = {name: playing(policy, problem.first_map, problem.rewards) for name, policy in policies.items()}
        if K == 100:
            plays[ball] = _on_a_ball(rounds)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*nearly uniformly", RuntimeWarning)
            for play in plays.values():
                for _ in range(-(-200 // rounds)):
                    play()
            seconds = interleaved(plays, blocks)
        figures.append(figure(seconds, (mine, plain), rounds, what=f"{mine}, K = {K:,}"))
        limit: dict[str, Any] = {"limit": 10.0, "target": "o"} if max(CROWDS) == K else {}
        figures.append(figure(seconds, (mine, oful), rounds, what=f"{mine}, K = {K:,}", **limit))
        if K == 100:
            figures.append(figure(seconds, (ball, mine), rounds, over=f"{mine}, K = {K:,}"))
    settings = f"d = {D}, one lane, after 200 rounds; {blocks} blocks of 50 (K = 100) to 2 rounds (K = 100,000) of "
    settings += "each, in random turns; the ball has all vectors of length at most 1"
    return Part("Many actions", settings, figures)


def _on_a_ball(rounds: int) -> Block:
    """Return a block in which SquareCB plays on the unit ball."""
    policy, theta = SquareCB(dim=D, reward_range=REWARD_RANGE, design="optimal"), np.eye(D)[0]
    rng = np.random.default_rng(0)

    def block() -> None:
        for _ in range(rounds):
            decision = policy.act(Ball(D))
            policy.update(decision, float(decision.features @ theta + NOISE * rng.normal()))

    return block
