"""Logs of softmax decisions on linear rewards, for the tests of estimates."""

import numpy as np

from banditselect.logs import Log

THETA = np.array([0.5, -0.3, 0.2])


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def drawn(rng, T, *, greed, K=4, noise=0.3, constant=0.0):
    """Return a log of softmax decisions on linear rewards, and the mean rewards ``(T, K)``."""
    x = rng.normal(size=(T, K, 3))
    means = x @ THETA + constant
    p = softmax(greed * means)
    action = (rng.uniform(size=(T, 1)) > p.cumsum(axis=1)).sum(axis=1)
    chosen = np.arange(T), action
    reward = means[chosen] + rng.normal(0.0, noise, T)
    return Log(features=x, action=action, propensity=p[chosen], reward=reward), means


def two_maps(T):
    """Return a log whose first map is noise and whose second explains the rewards, a log of that alone, and means."""
    log, means = drawn(np.random.default_rng(8), T, greed=0.5)
    x = log.features.features[0]
    noise = np.random.default_rng(9).normal(size=(T, 4, 2))
    rest = {"action": log.action, "propensity": log.propensity, "reward": log.reward}
    return Log(features=[noise, x], **rest), log, means
