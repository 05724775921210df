"""The alarm for wrong assumptions: its tests by hand, how often it rings without cause, and when it must ring."""

import math
import warnings

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from banditselect import FSOFUL, PSOFUL
from banditselect.kernels.features import played
from banditselect.models.alarms import Alarm, log_variance_grid, log_variance_martingale, screen
from banditselect.models.ridge_bank import RidgeBank
from banditselect.runtime.shapes import maps_of
from sets_by_hand import bank_of, sets_of

LANE = np.array([0])
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


def map_policy(lanes, noise=0.5):
    return FSOFUL(n_models=2, dim=3, noise=noise, parameter_bound=1.1, delta=DELTA, lanes=lanes)


def explained(features, noise, rng):
    """Return rewards that are linear in the features of the first map, with this much noise."""
    first = features if features.ndim == 2 else features[:, 0]
    return first @ [1.0, 0.3, 0.0] + noise * rng.normal(size=len(features))


def unexplained(features, noise, rng):
    return np.sin(3.0 * features.sum(axis=(1, 2))) + noise * rng.normal(size=len(features))


def outside(features, noise, rng):
    return features @ [-1.0, -1.0, 1.0] + noise * rng.normal(size=len(features))


@pytest.mark.slow
@pytest.mark.filterwarnings(ALARM)
@pytest.mark.parametrize(("policy_of", "shape"), [(ball_policy, (3, 3)), (map_policy, (2, 3, 3))])
def test_false_alarms(policy_of, shape):
    """At most delta of the lanes ring over 1,000 rounds; false alarm of this test below 1e-4."""
    lanes, rng = 2000, np.random.default_rng(0)
    features, reward = (lambda: rng.normal(size=(lanes, *shape))), (lambda x, d: explained(d.features, 0.5, rng))
    assert play(policy_of(lanes), features, reward, 1000).sum() <= stats.binom.ppf(1.0 - 1e-4, lanes, DELTA)


@pytest.mark.filterwarnings(ALARM)
@pytest.mark.parametrize(
    ("policy", "shape", "reward", "noise", "rings"),
    [
        (ball_policy(20), (3, 3), explained, 0.45, False),
        (ball_policy(20), (3, 3), explained, 1.0, True),  # of .5
        (ball_policy(20), (3, 3), outside, 0.1, True),
        (map_policy(20, 0.3), (2, 3, 3), unexplained, 0.3, True),
    ],
)
def test_what_no_model_explains_rings(policy, shape, reward, noise, rings):
    rng = np.random.default_rng(1)
    raised = play(policy, lambda: rng.normal(size=(20, *shape)), lambda x, d: reward(d.features, noise, rng), 300)
    assert raised.all() if rings else not raised.any()


def test_the_first_alarm_is_warned_of_once_and_stays():
    rng = np.random.default_rng(4)
    policy = ball_policy(None, noise=0.1)

    def noise(rounds):
        for _ in range(rounds):
            policy.update(policy.act(rng.normal(size=(3, 3))), float(rng.normal()))

    with pytest.warns(RuntimeWarning, match="no model explains the rewards") as caught:
        noise(100)
    assert len(caught) == 1
    assert policy.misspecified
    for _ in range(200):
        decision = policy.act(rng.normal(size=(3, 3)))
        policy.update(decision, float(decision.features[0]))
    assert policy.misspecified


def test_the_warning_says_how_many_lanes_and_has_one_level_for_all():
    """Ten of 400 lanes are wrong; a lane that rings at its own level only is marked, without a warning."""
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
        alarm = Alarm(4, delta)  # log(2 / delta) = 3.69, log(8 / delta) = 5.08
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
    policy.model.prior[:] = -1e9  # no data make the printed set empty in a test's time: gamma is far too large
    decision = policy.act([[1.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="the printed confidence set is empty"):
        policy.update(decision, 0.0)
    assert policy.misspecified


# The tests.


@pytest.mark.parametrize(
    ("X", "t", "value"),
    [
        (1200, 1000, 6.46868636),
        (1150, 1000, 2.79030750),
        (150, 100, 3.28446947),
        (30, 10, 3.53639420),
        (50, 100, -3.29110979),
        (0, 10, -1.79175947),
    ],
)
def test_variance_martingale_worked_numbers(X, t, value):
    assert log_variance_martingale(float(X), t) == pytest.approx(value, abs=6e-9)


@pytest.mark.parametrize(("X", "t"), [(0.5, 1), (3.0, 1), (8.0, 2), (14.0, 7), (80.0, 50), (190.0, 200)])
def test_variance_martingale_is_the_integral(X, t):
    value, _ = integrate.quad(lambda s: s ** (t / 2) * math.exp((1 - s) * X / 2), 0.0, 1.0, epsabs=0, epsrel=1e-11)
    assert log_variance_martingale(X, t) == pytest.approx(math.log(value), abs=1e-9)


def test_variance_grid_worked_numbers():
    assert log_variance_grid(150.0, 100, 0.0) == pytest.approx(3.33463430, abs=6e-9)
    assert log_variance_grid(150.0, 100, 0.2) == pytest.approx(2.41560054, abs=6e-9)


# delta = .1 gives each of its tests the level .05, at which the thresholds below are stated.


def watch(J, t, *, challenger=np.inf, R=1.0, penalty=0.0, misspecification=0.0, alarm=None):
    alarm = alarm or Alarm(1, 0.1, misspecification)
    bank = bank_of([[0.0, J, 0.0], [0.0, J + 3.0, 0.0]], t)
    sets = sets_of(bank, noise=R, penalty=(penalty, penalty), delta=0.1, misspecification=misspecification)
    new = look(alarm, LANE, sets, np.array([challenger]))
    return new, bool(alarm.raised[0])


def look(alarm, ids, sets, challenger):
    """Screen as the kernels that learn do, and judge what is suspect; return whether it is the first alarm."""
    bank = sets.bank
    verdict = screen(ids, bank.evidence, bank.updates, challenger, sets.arrays(), alarm.level)
    return verdict.size > 0 and alarm.judge(ids, verdict, bank.updates, sets.noise)


@pytest.mark.parametrize(
    ("t", "below", "above"), [(10, 28.166, 28.168), (100, 148.174, 148.176), (1000, 1153.15, 1153.17)]
)
def test_variance_alarm_fires_at_its_threshold(t, below, above):
    assert watch(below, t) == (False, False)
    assert watch(above, t) == (True, True)
    assert watch(0.25 * below + 7.0, t, R=0.5, penalty=7.0) == (False, False)
    assert watch(0.25 * above + 7.0, t, R=0.5, penalty=7.0) == (True, True)


def test_variance_alarm_with_misspecification():
    t, eps = 100, 0.2
    s = np.arange(1, 20) / 20.0

    def value(X):
        return special.logsumexp(t / 2 * np.log(s) + (1 - s) * X / 2 - t * (1 - s) * eps**2 / (2 * s)) - math.log(19.0)

    X = optimize.brentq(lambda X: value(X) - math.log(20.0), 100.0, 300.0)
    assert watch(X - 1e-6, t, misspecification=eps) == (False, False)
    assert watch(X + 1e-6, t, misspecification=eps) == (True, True)
    for R in (0.5, 3.0):
        assert watch(R**2 * (X - 1e-6), t, R=R, misspecification=R * eps) == (False, False)
        assert watch(R**2 * (X + 1e-6), t, R=R, misspecification=R * eps) == (True, True)
    assert X > 148.18  # where the plain test has fired already


@pytest.mark.parametrize(("eps", "bar"), [(0.0, 8.0 * math.log(20.0)), (0.3, 16.0 * math.log(20.0) + 2.0 * 900 * 0.09)])
def test_challenger_alarm_fires_at_its_threshold(eps, bar):
    """R = 2: 2 R^2 log(2 / delta), or with eps twice that and 2 t eps^2; X / t < 1 keeps the variance test silent."""
    J, settings = 500.0, {"R": 2.0, "penalty": 5.0, "misspecification": eps}
    assert watch(J, 900, challenger=J - 5.0 - bar + 0.01, **settings) == (False, False)
    assert watch(J, 900, challenger=J - 5.0 - bar - 0.01, **settings) == (True, True)


def test_no_alarm_without_a_reason():
    assert watch(0.0, 0) == (False, False)
    assert watch(0.0, 50) == (False, False)
    assert watch(49.9, 50) == (False, False)
    assert watch(1.0, 50, penalty=20.0, challenger=0.0) == (False, False)


def play_alarm(*, seed, lanes, T, R, noise_scale, hidden=0.0):
    """Return the share of lanes that raised an alarm; the challenger is a ridge that sees the hidden feature."""
    rng = np.random.default_rng(seed)
    bank = RidgeBank.of(maps_of([2, 2], many=True), lanes, np.ones((lanes, 2)))
    rival = RidgeBank.of(maps_of(3), lanes, np.ones((lanes, 1)))
    sets = sets_of(bank, noise=R, delta=0.1)
    alarm, ids = Alarm(lanes, 0.1), np.arange(lanes)
    for _ in range(T):
        x = rng.normal(size=(lanes, 3))
        y = x @ [0.6, -0.6, hidden] + noise_scale * R * rng.normal(size=lanes)
        bank.learn(ids, played(np.ascontiguousarray(np.stack([x[:, :2], x[:, 1::-1]], axis=1))), y)
        rival.learn(ids, played(x[:, None]), y)
        look(alarm, ids, sets, rival.penalised[:, 0] + R**2 * rival.logdet[:, 0])
    return alarm.raised.mean()


def test_a_better_challenger_alarms_where_the_noise_is_small():
    """A hidden feature of size .4, hardly any noise: the variance .16 is below R^2 = .25; the challenger shows it."""
    assert play_alarm(seed=3, lanes=20, T=150, R=0.5, noise_scale=0.1, hidden=0.4) == 1.0
    assert play_alarm(seed=3, lanes=20, T=150, R=0.5, noise_scale=0.1, hidden=0.0) == 0.0
