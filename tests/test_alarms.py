"""The alarm for wrong assumptions: how often it rings without cause, and when it must ring."""

import warnings

import numpy as np
import pytest
from scipy import stats

from banditselect import FSOFUL, PSOFUL
from banditselect.parts.confidence import Alarm

DELTA = 0.05
ALARM = "ignore:.*no model explains:RuntimeWarning"


def play(policy, features, reward, rounds):
    for _ in range(rounds):
        x = features()
        decision = policy.act(x)
        policy.update(decision, reward(x, decision))
    return policy.misspecified


def ball_policy(lanes, noise=0.5, **arguments):
    centers = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return PSOFUL(centers=centers, radii=0.3, noise=noise, delta=DELTA, lanes=lanes, **arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings(ALARM)
@pytest.mark.parametrize("kind", ["balls", "maps"])
def test_false_alarms(kind):
    """At most delta of the lanes ring over 1,000 rounds; false alarm of this test below 1e-4."""
    lanes = 2000
    rng = np.random.default_rng(0)
    theta = np.array([1.0, 0.3, 0.0])
    if kind == "balls":
        policy = ball_policy(lanes)
        raised = play(
            policy,
            lambda: rng.normal(size=(lanes, 3, 3)),
            lambda x, d: d.features @ theta + 0.5 * rng.normal(size=lanes),
            1000,
        )
    else:
        policy = FSOFUL(n_models=2, dim=3, noise=0.5, parameter_bound=1.1, delta=DELTA, lanes=lanes)
        raised = play(
            policy,
            lambda: rng.normal(size=(lanes, 2, 3, 3)),
            lambda x, d: d.features[:, 0] @ theta + 0.5 * rng.normal(size=lanes),
            1000,
        )
    print(f"{kind}: false alarm in {100 * raised.mean():.2f} % of {lanes} lanes")
    assert raised.sum() <= stats.binom.ppf(1.0 - 1e-4, lanes, DELTA)


@pytest.mark.filterwarnings(ALARM)
def test_noise_larger_than_stated_rings():
    lanes = 20
    rng = np.random.default_rng(1)
    theta = np.array([1.0, 0.3, 0.0])
    for factor, expected in ((0.9, False), (2.0, True)):
        raised = play(
            ball_policy(lanes),
            lambda: rng.normal(size=(lanes, 3, 3)),
            lambda x, d, f=factor: d.features @ theta + 0.5 * f * rng.normal(size=lanes),
            150,
        )
        assert raised.all() if expected else not raised.any()


@pytest.mark.filterwarnings(ALARM)
def test_a_parameter_outside_all_balls_rings_even_with_little_noise():
    lanes = 20
    rng = np.random.default_rng(2)
    raised = play(
        ball_policy(lanes),
        lambda: rng.normal(size=(lanes, 3, 3)),
        lambda x, d: d.features @ [-1.0, -1.0, 1.0] + 0.1 * rng.normal(size=lanes),
        200,
    )
    assert raised.all()


@pytest.mark.filterwarnings(ALARM)
def test_rewards_that_no_map_explains_ring():
    lanes = 20
    rng = np.random.default_rng(3)
    policy = FSOFUL(n_models=2, dim=3, noise=0.3, parameter_bound=1.0, delta=DELTA, lanes=lanes)
    raised = play(
        policy,
        lambda: rng.normal(size=(lanes, 2, 3, 3)),
        lambda x, d: np.sin(3.0 * d.features.sum(axis=(1, 2))) + 0.3 * rng.normal(size=lanes),
        300,
    )
    assert raised.all()


def test_the_first_alarm_is_warned_of_once_and_stays():
    rng = np.random.default_rng(4)
    policy = ball_policy(None, noise=0.1)

    def unexplained(rounds):
        for _ in range(rounds):
            policy.update(policy.act(rng.normal(size=(3, 3))), float(rng.normal()))

    with pytest.warns(RuntimeWarning, match="no model explains the rewards") as caught:
        unexplained(100)
    assert len(caught) == 1
    assert policy.misspecified
    for _ in range(200):
        decision = policy.act(rng.normal(size=(3, 3)))
        policy.update(decision, float(decision.features[0]))
    assert policy.misspecified


def test_the_warning_says_how_many_lanes_and_has_one_level_for_all():
    """Ten of 400 lanes are wrong; a lane that rings at its own level only is marked, and nobody is warned of it."""
    lanes, wrong = 400, 10
    rng = np.random.default_rng(5)
    policy = ball_policy(lanes)
    theta = np.tile([1.0, 0.3, 0.0], (lanes, 1))
    theta[:wrong] = [-1.0, -1.0, 1.0]
    warned = None
    for _ in range(60):
        decision = policy.act(rng.normal(size=(lanes, 3, 3)))
        reward = (decision.features * theta).sum(axis=1) + 0.5 * rng.normal(size=lanes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            policy.update(decision, reward)
        if caught:
            assert warned is None
            warned = str(caught[0].message)
            assert f"no model explains the rewards of {policy.misspecified.sum()} of 400 lanes with" in warned
            assert policy.misspecified.sum() > 1  # the first that rang was not loud enough for 400
    assert warned is not None
    assert policy.misspecified[:wrong].all()


def test_the_alarm_of_an_object_is_that_of_one_test_at_the_level_of_its_lanes():
    delta = 0.05
    ids = np.arange(4)
    for value, alarms, warns in ((3.6, False, False), (3.8, True, False), (5.0, True, False), (5.2, True, True)):
        alarm = Alarm(lanes=4, delta=delta, misspecification=0.0)  # log(2 / delta) = 3.69, log(8 / delta) = 5.08
        verdict = np.zeros((4, 3))
        verdict[2] = (2.0 if value > alarm.level else 0.0), 0.0, value
        assert alarm.judge(ids, verdict, np.full(4, 9), np.ones(4)) == warns
        assert alarm.raised.tolist() == [False, False, alarms, False]
        assert not alarm.judge(ids, verdict, np.full(4, 9), np.ones(4))  # once


def test_an_empty_printed_set_rings():
    policy = PSOFUL(
        centers=[[1.0, 0.0]], radii=0.0, noise=0.01, confidence="paper", feature_bound=1.0, reward_bound=1.0
    )
    assert not policy.misspecified
    policy._sets.constants.prior[
        :
    ] = -1e9  # no data make the printed set empty in a test's time: gamma is far too large
    decision = policy.act([[1.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="the printed confidence set is empty"):
        policy.update(decision, 0.0)
    assert policy.misspecified
