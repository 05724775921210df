"""The cost of an act among many actions: SquareCB by optimal design against plain SquareCB and OFUL."""

import warnings

import numpy as np

from banditselect import OFUL, SquareCB
from banditselect.actions import Ball
from banditselect.authoring import Policy

from .figures import Figure, Part
from .limits import figure, playing
from .measuring import Array, Block, interleaved
from .problem import NOISE, REWARD_RANGE, LinearProblem

D = 10
CROWDS = {100: 50, 1000: 20, 10_000: 5, 100_000: 2}  #: rounds of a block, by the number of actions


def crowds(quick: bool) -> Part:
    """Target o: a round by design against one of plain SquareCB and, for the most actions, of OFUL."""
    blocks, figures = (4 if quick else 30), []
    for K, rounds in CROWDS.items():
        problem = LinearProblem.draw(rounds=rounds, dim=D, n_actions=K)
        policies: dict[str, Policy] = {
            "SquareCB by design": SquareCB(dim=D, reward_range=REWARD_RANGE, design="optimal"),
            "SquareCB": SquareCB(dim=D, reward_range=REWARD_RANGE),
            "OFUL": OFUL(dim=D, noise=NOISE),
        }
        plays = {name: playing(policy, problem.first_map, problem.rewards) for name, policy in policies.items()}
        if K == 100:
            plays["a ball"] = _on_a_ball(rounds)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*nearly uniformly", RuntimeWarning)
            for _ in range(-(-200 // rounds)):
                for play in plays.values():
                    play()
            seconds = interleaved(plays, blocks)
        figures += [_duel(seconds, "SquareCB by design", other, K, rounds) for other in ("SquareCB", "OFUL")]
        if K == 100:
            figures.append(_duel(seconds, "a ball", "SquareCB by design", K, rounds))
    return Part(
        title="Many actions",
        settings=f"d = {D}, one lane, after 200 rounds; {blocks} blocks of 50 (K = 100) to 2 rounds (K = 100,000) of "
        "each, in random turns; the ball has all vectors of length at most 1",
        figures=figures,
    )


def _on_a_ball(rounds: int) -> Block:
    """Return a block in which SquareCB plays on the unit ball."""
    policy, theta = SquareCB(dim=D, reward_range=REWARD_RANGE, design="optimal"), np.eye(D)[0]
    rng = np.random.default_rng(0)

    def block() -> None:
        for _ in range(rounds):
            decision = policy.act(Ball(D))
            policy.update(decision, float(decision.features @ theta + NOISE * rng.normal()))

    return block


def _duel(seconds: dict[str, Array], mine: str, other: str, K: int, rounds: int) -> Figure:
    limit = {"limit": 10.0, "target": "o"} if other == "OFUL" and max(CROWDS) == K else {}
    what, over = (f"{mine}, K = {K:,}", other) if mine != "a ball" else (f"{mine}", f"{other}, K = {K:,}")
    return figure(seconds, (mine, other), what, over, rounds=dict.fromkeys((mine, other), rounds), **limit)
