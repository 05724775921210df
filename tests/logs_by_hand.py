"""Logs of softmax decisions on linear rewards, and rounds of records with agents, for the tests of estimates."""

import math
from typing import NamedTuple

import numpy as np

from banditselect import maps
from banditselect.logs import Log, Round

Z = 1.959963984540054
ITEMS = [{"id": "a"}, {"id": "b"}]
FILMS = [{"id": name} for name in ("Alien", "Bambi", "Casablanca")]
ARMS = maps.Disjoint(context=maps.Numbers("age", scale=None), capacity=3).fit([], FILMS)  # and one block for others
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
    return Log(**vars(log) | {"features": [noise, x]}), log, means


class Decided(NamedTuple):
    action: int


class Logistic:
    """Prefers the second item by the weight ``x`` of the context; records its calls."""

    def __init__(self):
        self.learned, self.updated, self.forgotten = [], [], 0
        self.rng = np.random.default_rng(0)

    def probabilities(self, context, items):
        p = 1.0 / (1.0 + math.exp(-context["x"] - 0.1 * len(self.learned)))
        return [1.0 - p, p, *[0.0] * (len(items) - 2)]

    def learn(self, context, item, reward):
        self.learned.append((context["x"], item["id"], reward))

    def act(self, context, items):
        return Decided(int(self.rng.uniform() < self.probabilities(context, items)[1]))

    def update(self, decision, reward):
        self.updated.append((decision.action, reward))

    def forget(self, decision):
        self.forgotten += 1


def by_weight(n, seed=0, shift=0.0):
    """Yield rounds that were played with probabilities 1/4 and 3/4."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        x, action = rng.normal(), int(rng.uniform() < 0.75)
        reward = shift + x * action + 0.1 * rng.normal()
        yield Round({"x": x}, ITEMS, action, reward, 0.75 if action else 0.25)


def visits(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        age, shown = rng.uniform(-1.0, 1.0), rng.permutation(3)[: rng.integers(2, 4)]
        played = int(rng.integers(len(shown)))
        reward = 0.5 + [0.4, -0.4, 0.1][shown[played]] * age + 0.1 * rng.normal()
        yield Round({"age": age}, [FILMS[k] for k in shown], played, reward, 1.0 / len(shown))


class Wide:
    """The same by hand: e_item (x) (1, age), and one parameter for all."""

    def __init__(self, policy):
        self.policy, self.update, self.forget = policy, policy.update, policy.forget

    def features(self, context, items):
        place = np.array([["Alien", "Bambi", "Casablanca"].index(item["id"]) for item in items])
        return np.kron(np.eye(4)[place], [1.0, context["age"]])

    def probabilities(self, context, items):
        return self.policy.probabilities(self.features(context, items))

    def learn(self, context, item, reward):
        self.policy.learn(self.features(context, [item])[0], reward)

    def act(self, context, items):
        return self.policy.act(self.features(context, items))
