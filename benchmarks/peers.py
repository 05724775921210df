"""The peers: other libraries for contextual bandits, each by the fastest path that it documents for this problem.

The problem has features per action and one parameter shared by all. Libraries whose bandits have one model per arm
solve it with one arm (or with the regression under their bandit), asked for the scores of K contexts. Features are
stored in the container that a peer takes (array, tuples, dictionaries, text); none pays for converting an array.
"""

import random
from functools import partial

import numpy as np

from .contestants import Contestant, Play
from .problem import REWARD_RANGE, LinearProblem

VW_OPTIONS = "--cb_explore_adf --squarecb --quiet"


def vowpal_wabbit(problem: LinearProblem, seed: int, text: bool) -> Play:
    """SquareCB of Vowpal Wabbit: examples made from dictionaries, or parsed from text once per round."""
    from vowpalwabbit import Workspace

    vw = Workspace(f"{VW_OPTIONS} --random_seed {seed}")
    rewards, draw, rounds = problem.rewards, random.Random(seed).choices, problem.first_map.tolist()
    actions = range(len(rounds[0]))
    if text:
        lines = ["\n".join("|a " + " ".join(f"{i}:{v:.9g}" for i, v in enumerate(x)) for x in xs) for xs in rounds]
    else:
        features = [[{"a": dict(enumerate(x))} for x in xs] for xs in rounds]

    def play(t: int) -> int:
        if text:
            examples = vw.parse(lines[t])
        else:
            examples = [vw.example(part) for part in features[t]]
            for example in examples:
                example.setup_example()
        p = vw.predict(examples)
        action: int = draw(actions, p)[0]
        examples[action].set_label_string(f"0:{-rewards[t][action]}:{p[action]}")
        vw.learn(examples)
        vw.finish_example(examples)
        return action

    return play


def coba(problem: LinearProblem, seed: int, corral: bool) -> Play:
    """LinUCB of coba on features of actions, or CORRAL over four LinUCB, whose rewards must lie in [0, 1]."""
    from coba.learners import CorralLearner, LinUCBLearner

    offered = [[tuple(row) for row in rows] for rows in problem.first_map.tolist()]
    low, high = REWARD_RANGE if corral else (0.0, 1.0)
    rewards = [[(reward - low) / (high - low) for reward in row] for row in problem.rewards]
    alphas = (0.1, 0.3, 1.0, 3.0) if corral else (1.0,)
    bases = [LinUCBLearner(alpha=alpha, features=["a"], seed=seed + 1) for alpha in alphas]
    learner = CorralLearner(bases, T=len(offered), seed=seed + 1) if corral else bases[0]

    def play(t: int) -> int:
        chosen, probability, *info = learner.predict(None, offered[t])
        action = offered[t].index(chosen)
        learner.learn(None, chosen, rewards[t][action], probability, **(info[0] if info else {}))
        return action

    return play


def mabwiser(problem: LinearProblem, seed: int) -> Play:
    """LinUCB of MABWiser: one arm, whose expectations (upper bounds) are asked for K contexts."""
    from mabwiser.mab import MAB, LearningPolicy

    x, rewards = problem.first_map, problem.rewards
    arm = np.array([0])
    learner = MAB([0], LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), seed=seed)
    learner.fit(arm, np.zeros(1), np.zeros((1, x.shape[2])))  # it wants data before it predicts: these say nothing

    def play(t: int) -> int:
        scores = [score[0] for score in learner.predict_expectations(x[t])]
        action = scores.index(max(scores))
        learner.partial_fit(arm, np.array([rewards[t][action]]), x[t, action : action + 1])
        return action

    return play


def contextualbandits(problem: LinearProblem, seed: int) -> Play:
    """The regression under LinUCB of contextualbandits: upper bounds of K rows, Sherman-Morrison updates."""
    from contextualbandits.linreg import LinearRegression

    x, rewards = problem.first_map, problem.rewards
    learner = LinearRegression(lambda_=1.0, fit_intercept=False, method="sm", use_float=False)
    learner.partial_fit(np.zeros((1, x.shape[2])), np.zeros(1))  # it wants data before it predicts: these say nothing

    def play(t: int) -> int:
        action = int(np.argmax(learner.predict_ucb(x[t], alpha=1.0)))
        learner.partial_fit(x[t, action : action + 1], np.array([rewards[t][action]]))
        return action

    return play


def river(problem: LinearProblem, seed: int) -> Play:
    """The regression under LinUCBDisjoint of river: mean and deviation of each action, one model for all."""
    from river.linear_model import BayesianLinearRegression

    learner = BayesianLinearRegression(alpha=1.0, beta=1.0)
    rewards = problem.rewards
    features = [[dict(enumerate(row)) for row in rows] for rows in problem.first_map.tolist()]

    def play(t: int) -> int:
        bounds = []
        for x in features[t]:
            told = learner.predict_one(x, with_dist=True)
            bounds.append(told.mu + max(told.sigma**2 - 1.0, 0.0) ** 0.5)  # less the noise, it is LinUCB's width
        action = bounds.index(max(bounds))
        learner.learn_one(features[t][action], rewards[t][action])
        return action

    return play


def bayesianbandits(problem: LinearProblem, seed: int, policy: str) -> Play:
    """An agent of bayesianbandits with one learner for all arms, given the true noise."""
    import bayesianbandits as bb

    _, K, d = problem.first_map.shape
    x, rewards = problem.first_map.reshape(-1, 1, K * d), problem.rewards
    agent = bb.LipschitzContextualAgent(
        [bb.Arm(action) for action in range(K)],
        getattr(bb, policy)(),
        bb.FunctionArmFeaturizer(lambda rows, tokens: rows.reshape(-1, K, d)[:, tokens].transpose(0, 2, 1)),
        bb.NormalRegressor(alpha=1.0, beta=12.0),
        random_seed=seed,
    )

    def play(t: int) -> int:
        action: int = agent.pull(x[t])[0]
        agent.update(x[t], np.array([rewards[t][action]]))
        return action

    return play


TEXT, OBJECTS = (partial(vowpal_wabbit, text=text) for text in (True, False))
LINUCB, CORRAL = (partial(coba, corral=corral) for corral in (False, True))
THOMPSON, QUANTILES = (partial(bayesianbandits, policy=one) for one in ("ThompsonSampling", "UpperConfidenceBound"))
REGRESSION = "the regression under its LinUCB; its bandits are disjoint"
EXAMPLES = "squarecb; example objects from dictionaries"
VW_EXAMPLES = Contestant("Vowpal Wabbit, examples", EXAMPLES, OBJECTS, "vowpalwabbit")
PEERS = (
    VW_EXAMPLES,
    Contestant("Vowpal Wabbit, text", "squarecb; text ready, parsed once a round", TEXT, "vowpalwabbit"),
    Contestant("coba LinUCB", "features of actions", LINUCB, "coba"),
    Contestant("coba CORRAL", "over 4 LinUCB; rewards scaled to [0, 1]", CORRAL, "coba", most_seeds=3),
    Contestant("MABWiser LinUCB", "one arm, asked for K contexts", mabwiser, "mabwiser"),
    Contestant("contextualbandits", REGRESSION, contextualbandits, "contextualbandits"),
    Contestant("river", "the regression under LinUCBDisjoint, one for all arms", river, "river"),
    Contestant("bayesianbandits TS", "agent with one learner for all arms", THOMPSON, "bayesianbandits"),
    Contestant("bayesianbandits UCB", "the same; quantiles of 1000 samples", QUANTILES, "bayesianbandits"),
)
