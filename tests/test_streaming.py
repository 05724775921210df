"""Agents judged, replayed and taught by rounds of records: numbers by hand, and those of arrays that hold all."""

import math
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from banditselect import Agent as Real
from banditselect import LinIDS, LinMED, SquareCB, maps
from banditselect.logs import Log, Round, evaluate, evaluate_rounds, learn_rounds, replay_rounds
from banditselect.logs.estimates import Tally

ITEMS = [{"id": "a"}, {"id": "b"}]
Z = 1.959963984540054


class Decided(NamedTuple):
    action: int


class Agent:
    """Prefers the second item by the weight ``x`` of the context; notes what it is told."""

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


def drawn(n, seed=0, shift=0.0):
    """Yield rounds that were played with probabilities 1/4 and 3/4."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        x, action = rng.normal(), int(rng.uniform() < 0.75)
        reward = shift + x * action + 0.1 * rng.normal()
        yield Round({"x": x}, ITEMS, action, reward, 0.75 if action else 0.25)


def as_log(rounds):
    rounds = list(rounds)
    columns = {name: [getattr(r, name) for r in rounds] for name in ("action", "reward")}
    log = Log(features=np.ones((len(rounds), 2, 1)), propensity=[r.probability for r in rounds], **columns)
    return log, np.array([Agent().probabilities(r.context, ITEMS) for r in rounds]), rounds


@pytest.mark.parametrize("clip", [None, 1.5])
@pytest.mark.parametrize("n", [2, 999, 1000, 2500])
@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_a_stream_is_judged_as_an_array_is(n, clip, shift):
    log, p, rounds = as_log(drawn(n, shift=shift))

    def model(context, items):
        return [shift, shift + 0.5 * context["x"]]

    q = np.array([model(r.context, ITEMS) for r in rounds])
    found = evaluate_rounds(Agent(), drawn(n, shift=shift), predictions=model, clip=clip, delta=0.1)
    same = evaluate_rounds(Agent().probabilities, rounds, predictions=model, clip=clip, delta=0.1)
    assert found == same
    w = p[np.arange(n), log.action] / log.propensity
    w = w if clip is None else np.minimum(w, clip)
    z, y, scale = 1.6448536269514722, log.reward, 1.0 + shift
    for name, terms in {"ips": w * y, "dr": (p * q).sum(axis=1) + w * (y - q[np.arange(n), log.action])}.items():
        estimate = getattr(found, name)
        assert estimate.estimate == pytest.approx(terms.mean(), abs=1e-9 * scale)
        half = z * terms.std(ddof=1) / math.sqrt(n)
        assert estimate.high - estimate.estimate == pytest.approx(half, rel=1e-6, abs=1e-8 * scale)
    ratio = (w @ y) / w.sum()
    assert found.snips.estimate == pytest.approx(ratio, abs=1e-9 * scale)
    half = z * math.sqrt(n / (n - 1) * ((w * (y - ratio)) ** 2).sum()) / w.sum()
    assert found.snips.high - ratio == pytest.approx(half, rel=1e-6, abs=1e-8 * scale)
    assert found.effective_sample_size == pytest.approx(w.sum() ** 2 / (w @ w))
    assert (found.n, found.largest_weight) == (n, w.max())
    array = evaluate(p, log, predictions=q, clip=clip, delta=0.1)
    assert found.dr.estimate == pytest.approx(array.dr.estimate, abs=1e-9 * scale)
    assert found.snips.low == pytest.approx(array.snips.low, abs=1e-8 * scale)


def test_the_mean_of_the_rewards_before_is_the_model_of_dr():
    rounds = [Round({}, ITEMS, 0, 4.0, 0.5), Round({}, ITEMS, 1, 2.0, 0.5), Round({}, ITEMS, 1, 9.0, 0.25)]
    found = evaluate_rounds(lambda context, items: [0.25, 0.75], rounds)
    # weights 1/2, 3/2, 3; models 0, 4, 3: terms 0 + 2, 4 - 3, 3 + 18
    assert found.dr.estimate == pytest.approx(24.0 / 3.0)
    assert found.dr.high - 8.0 == pytest.approx(Z * math.sqrt((36.0 + 49.0 + 169.0) / 2.0 / 3.0))
    assert found.ips.estimate == pytest.approx((2.0 + 3.0 + 27.0) / 3.0)


def test_a_copy_learns_after_it_was_asked():
    agent, rounds = Agent(), list(drawn(3))
    found = evaluate_rounds(agent, rounds, learn=True)
    assert agent.learned == []
    terms = []
    for t, r in enumerate(rounds):
        p = 1.0 / (1.0 + math.exp(-r.context["x"] - 0.1 * t))
        terms.append((p if r.action else 1.0 - p) / r.probability * r.reward)
    assert found.ips.estimate == pytest.approx(np.mean(terms))


def test_an_agent_is_taught_what_was_played():
    agent, rounds = Agent(), list(drawn(5))
    assert learn_rounds(agent, iter(rounds)) == 5
    assert agent.learned == [(r.context["x"], "ab"[r.action], r.reward) for r in rounds]


def test_replay_tells_the_rewards_of_what_was_logged():
    agent, twin, rounds = Agent(), Agent(), list(drawn(400))
    found = replay_rounds(agent, iter(rounds), floor=0.25, seed=3)
    coins, told = np.random.default_rng(3), []
    for r in rounds:
        action = twin.act(r.context, r.items).action
        if coins.uniform() < 0.25 / r.probability and action == r.action:
            told.append((action, r.reward))
    assert agent.updated == told
    assert (found.n, found.observed, agent.forgotten) == (400, len(told), 400 - len(told))
    rewards = np.array([reward for _, reward in told])
    assert found.mean_reward.estimate == pytest.approx(rewards.mean())
    half = Z * rewards.std(ddof=1) / math.sqrt(rewards.size)
    assert found.mean_reward.high - rewards.mean() == pytest.approx(half)


def test_replay_observes_a_fair_share():
    """Of each action as often as it is played: the mean is that of playing. False alarm 1e-5 for each of two tests."""
    agent, n = Agent(), 20_000
    found = replay_rounds(agent, drawn(n, seed=7), floor=0.25, seed=8)
    assert stats.binomtest(found.observed, n, 0.25).pvalue > 1e-5
    x = np.random.default_rng(9).normal(size=200_000)
    truth = (x / (1.0 + np.exp(-x))).mean()
    error = (found.mean_reward.high - found.mean_reward.low) / (2.0 * Z)
    assert abs(found.mean_reward.estimate - truth) < 4.42 * math.hypot(error, x.std() / math.sqrt(x.size))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate_rounds(Agent(), drawn(1)), "rounds: got '1 rounds', expected at least 2"),
        (lambda: evaluate_rounds(Agent(), []), "rounds: got '0 rounds'"),
        (lambda: evaluate_rounds(Agent(), drawn(9), clip=0.0), "evaluate_rounds: clip: got 0.0"),
        (lambda: evaluate_rounds(Agent(), drawn(9), delta=1.0), "evaluate_rounds: delta: got 1.0"),
        (lambda: evaluate_rounds(lambda c, i: [0.5], drawn(9)), "agent at round 0: got .*2 probabilities that sum"),
        (lambda: evaluate_rounds(lambda c, i: [0.5, 0.6], drawn(9)), "agent at round 0: got .*2 probabilities"),
        (lambda: evaluate_rounds(lambda c, i: None, drawn(9)), "agent at round 0: got None"),
        (lambda: evaluate_rounds(lambda c, i: [0.5, 0.5], drawn(9), learn=True), "agent: got .*, or learn=False"),
        (
            lambda: evaluate_rounds(Agent(), drawn(9), predictions=lambda c, i: [math.nan, 1.0]),
            "predictions at round 0: got .*2 finite numbers",
        ),
        (lambda: replay_rounds(Agent(), drawn(9), floor=0.0), "floor: got 0.0"),
        (lambda: replay_rounds(Agent(), drawn(9), floor=1e-9), "rounds: got '9 rounds, 0 of them observed'"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_that_cannot_be_right_are_warned_of():
    rounds = (r._replace(probability=1.0) for r in drawn(500))
    with pytest.warns(RuntimeWarning, match="the importance weights have mean"):
        evaluate_rounds(Agent(), rounds)


def test_memory_does_not_grow_with_the_rounds():
    def peak(n):
        tracemalloc.start()
        evaluate_rounds(Agent(), drawn(n))
        replay_rounds(Agent(), (r._replace(probability=1.0) for r in drawn(n)), floor=1e-2)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1500)
    assert peak(10_000) < peak(1500) + 100_000


def test_blocks_add_up():
    rng = np.random.default_rng(5)
    values = 1e6 + rng.normal(size=(700, 3))
    tally = Tally(3)
    for part in np.split(values, [1, 2, 300, 650]):
        tally.add(part)
    np.testing.assert_allclose(tally.mean, values.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(tally.error, values.std(axis=0, ddof=1) / np.sqrt(700), rtol=1e-8)


# Agents with a block of parameters for every item.

FILMS = [{"id": name} for name in ("Alien", "Bambi", "Casablanca")]
AGE = maps.Numbers("age", scale=None)
ARMS = maps.Disjoint(context=AGE, capacity=3).fit([], FILMS)  # and one block for all other items


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


@pytest.mark.parametrize(
    ("policy", "wide"),
    [
        (SquareCB.bind(reward_range=(-1.0, 2.0)), SquareCB(dim=8, reward_range=(-1.0, 2.0), seed=(3, 0))),
        (LinIDS.bind(intercept=False), LinIDS(dim=8, intercept=False, seed=(3, 0))),
        (LinMED.bind(intercept=False), LinMED(dim=8, intercept=False, seed=(3, 0))),
    ],
)
def test_disjoint_maps_are_judged_taught_and_replayed_as_one_wide_parameter(policy, wide):
    agent, by_hand = Real(maps={"arms": ARMS}, policy=policy, seed=3), Wide(wide)
    for one in (agent, by_hand):
        assert learn_rounds(one, visits(60)) == 60
    for learn in (False, True):
        found, wanted = (evaluate_rounds(one, visits(300, seed=1), learn=learn) for one in (agent, by_hand))
        for name in ("ips", "snips", "dr"):
            assert getattr(found, name).estimate == pytest.approx(getattr(wanted, name).estimate, rel=1e-9)
    np.testing.assert_allclose(agent.policy.parameters[0].ravel(), wide.parameters, rtol=1e-9, atol=1e-12)
    found, wanted = (replay_rounds(one, visits(400, seed=2), floor=0.33) for one in (agent, by_hand))
    assert found.observed == wanted.observed > 100
    assert found.mean_reward.estimate == pytest.approx(wanted.mean_reward.estimate, rel=1e-12)
    np.testing.assert_allclose(agent.policy.parameters[0].ravel(), wide.parameters, rtol=1e-9, atol=1e-12)
