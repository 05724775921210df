"""Likelihood-ratio sets, OFUL's ellipsoid, alarms: the worked numbers and what must hold on any data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from banditselect.kernels.selection import screen
from banditselect.parts.confidence import (
    Alarm,
    Ellipsoid,
    LikelihoodSets,
    chi_square_quantile,
    log_regularized_gamma,
    log_variance_grid,
    log_variance_martingale,
)
from banditselect.parts.experts import RidgeBank, SharedRidgeBank

LANE = np.array([0])


def sets_of(bank, *, noise=0.5, penalty=(1.0, 1.0), prior=None, delta=0.05, online=False, misspecification=0.0):
    lanes, M = bank.updates.size, len(penalty)
    return LikelihoodSets(
        bank,
        noise=np.full(lanes, noise),
        penalty=np.tile(np.array(penalty, dtype=float), (lanes, 1)),
        prior=np.full(M, 1.0 / M) if prior is None else np.array(prior),
        delta=delta,
        online=online,
        misspecification=misspecification,
    )


def bank_of(evidence, t=0):
    """Return a bank of one lane whose sums per model (logdet, J, online loss) are these after t updates."""
    M = len(evidence)
    bank = RidgeBank(lanes=1, dims=np.ones(M, dtype=np.int64), regularization=np.ones((1, M)))
    bank.evidence[0] = np.transpose(evidence)
    bank.updates[0] = t
    return bank


@pytest.fixture
def two_balls():
    """Return the bank of the worked example: three rounds, two balls of one feature map."""
    bank = SharedRidgeBank(
        center=np.array([[[0.0, 0.0], [1.0, 0.0]]]),
        precision=np.array([[np.eye(2), 4.0 * np.eye(2)]]),
        group=np.array([[0, 1]]),
    )
    for x, y in [((1.0, 0.0), 0.9), ((0.0, 1.0), 0.2), ((0.6, 0.8), 0.5)]:
        bank.learn(LANE, np.array([[x]]), np.array([y]))
    return bank


def test_worked_example_of_the_bank(two_balls):
    np.testing.assert_allclose(two_balls.penalised[0], [0.44, 0.052], rtol=1e-12)
    np.testing.assert_allclose(two_balls.logdet[0], [1.79175947, 0.628608659], rtol=5e-9)
    np.testing.assert_allclose(two_balls.online[0], [0.8725, 0.0644], rtol=1e-12)
    np.testing.assert_allclose(two_balls.theta[0], [[0.48, 0.14], [0.968, 0.024]], rtol=1e-12)


@pytest.mark.parametrize(
    ("online", "B", "squared"),
    [(True, 0.320374734, (2.37824087, 2.76624087)), (False, 0.441248903, (2.49911504, 2.88711504))],
)
def test_worked_example_of_the_sets(two_balls, online, B, squared):
    sets = sets_of(two_balls, penalty=(1.0 * 1.0**2, 4.0 * 0.5**2), prior=(0.5, 0.5), online=online)
    assert sets.weigh(LANE, two_balls)[1][0] == pytest.approx(B, rel=5e-9)
    np.testing.assert_allclose(sets.squared_radii[0], squared, rtol=5e-9)


def test_worked_example_with_misspecification(two_balls):
    sets = sets_of(two_balls, misspecification=0.1)
    assert sets.weigh(LANE, two_balls)[1][0] == pytest.approx(0.737915966, rel=5e-9)
    np.testing.assert_allclose(sets.squared_radii[0], [4.35364824, 4.74164824], rtol=5e-9)


def test_radii_of_the_example_set():
    """Bounds 7 (c), E1: t=1000, d=10, R=.5, L=S=lam=1, delta=.05, with log det at its bound d log(1 + t / d)."""
    logdet = 10.0 * math.log(101.0)
    bank = bank_of([[logdet, 123.0, 150.0]], t=1000)
    ellipsoid = Ellipsoid(bank, noise=np.array([0.5]), prior=np.array([[1.0]]), delta=0.05)
    assert ellipsoid.squared_radii[0, 0] == pytest.approx(21.2566556, rel=5e-9)
    assert sets_of(bank, penalty=(1.0,)).squared_radii[0, 0] == pytest.approx(14.0356674, rel=5e-9)


def test_ellipsoid_by_hand():
    noise, prior = np.array([9.0, 0.5]), np.array([[9.0], [2.0]])
    bank = RidgeBank(lanes=2, dims=np.array([2]), regularization=np.ones((2, 1)))
    ellipsoid = Ellipsoid(bank, noise=noise, prior=prior, delta=math.exp(-2.0))
    np.testing.assert_allclose(ellipsoid.squared_radii, [[27.0**2], [3.0**2]], rtol=1e-14)
    np.testing.assert_array_equal(ellipsoid.spent, 0.0)
    bank.evidence[1, 0, 0] = 5.0
    ellipsoid.update(np.array([1]), bank, np.array([[[7.0]], [[0.25]]]))
    np.testing.assert_allclose(ellipsoid.spent, [0.0, 2.0 * 3.0 * 0.5], rtol=1e-14)  # under the old radius
    np.testing.assert_allclose(ellipsoid.squared_radii, [[27.0**2], [3.5**2]], rtol=1e-14)


def run(seed, lam, center, T, R, noise_scale=1.0, theta=(0.5, -0.5), lanes=1):
    """Return a bank that learned T rounds of a linear reward in each lane."""
    rng = np.random.default_rng(seed)
    M, d = np.shape(center)
    bank = RidgeBank(
        lanes=lanes,
        dims=np.full(M, d),
        regularization=np.tile(lam, (lanes, 1)),
        center=np.tile(np.array(center, dtype=float), (lanes, 1, 1)),
    )
    for _ in range(T):
        x = rng.normal(size=(lanes, d))
        y = x @ np.array(theta) + noise_scale * R * rng.normal(size=lanes)
        bank.learn(np.arange(lanes), np.repeat(x[:, None], M, axis=1), y)
    return bank


def test_one_model_is_smaller_than_oful():
    bank = run(0, [2.0], [[0.0, 0.0]], 50, 0.3)
    found = sets_of(bank, noise=0.3, penalty=(2.0 * 1.5**2,), delta=0.1).squared_radii[0, 0]
    a = 0.09 * (bank.logdet[0, 0] + 2.0 * math.log(10.0))
    b = 2.0 * 1.5**2
    assert found == pytest.approx(a + b, rel=1e-12)
    assert found < (math.sqrt(a) + math.sqrt(b)) ** 2


def test_the_mixture_runs_over_refuted_models_too():
    evidence = np.array([[0.5, 3.0, 3.5], [0.1, 90.0, 95.0], [0.7, 3.1, 3.9], [0.0, 400.0, 400.0]])
    prior, R_sq = np.array([0.1, 0.2, 0.3, 0.4]), 0.25
    rho = sets_of(bank_of(evidence), penalty=(1.0, 2.0, 3.0, 0.0), prior=prior).squared_radii[0]
    assert list(rho < 0.0) == [False, True, False, True]
    L = evidence[:, 1] + R_sq * evidence[:, 0]
    B = -2.0 * R_sq * special.logsumexp(-L / (2.0 * R_sq), b=prior)
    expected = B + 2.0 * R_sq * math.log(20.0) + np.array([1.0, 2.0, 3.0, 0.0]) - evidence[:, 1]
    np.testing.assert_allclose(rho, expected, rtol=1e-12)
    # an average over the two that stand would be smaller by R^2 2 log(1 / .4)
    alive = -2.0 * R_sq * special.logsumexp(-L[[0, 2]] / (2.0 * R_sq), b=prior[[0, 2]] / 0.4)
    assert B - alive == pytest.approx(2.0 * R_sq * math.log(1.0 / 0.4), rel=1e-9)


coordinate = st.floats(-5.0, 5.0)


@given(
    data=st.lists(st.tuples(coordinate, coordinate, st.floats(-50.0, 50.0)), max_size=15),
    centers=st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=4),
    noise=st.floats(0.05, 5.0),
    online=st.booleans(),
    misspecification=st.sampled_from([0.0, 0.2]),
)
def test_the_leader_is_never_refuted(data, centers, noise, online, misspecification):
    M = len(centers)
    bank = SharedRidgeBank(
        center=np.array([centers]), precision=np.array([[np.eye(2)]]), group=np.zeros((1, M), dtype=np.int64)
    )
    for a, b, y in data:
        bank.learn(LANE, np.array([[[a, b]]]), np.array([y]))
    sets = sets_of(bank, noise=noise, penalty=(0.5,) * M, online=online, misspecification=misspecification)
    variance = noise**2 * (2.0 if misspecification else 1.0)
    loss = bank.online[0] if online else bank.penalised[0] + variance * bank.logdet[0]
    least = 2.0 * variance * math.log(20.0) + 0.5
    assert sets.squared_radii[0, loss.argmin()] >= least - 1e-9 * max(least, loss.max())


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("misspecification", [0.0, 0.3])
def test_the_true_parameter_stays_inside_at_length(online, misspecification):
    """The parameter lies on the edge of its ball. If the sets missed in a share delta of runs, this alarms in 1e-6."""
    lanes, T, R, delta = 400, 60, 0.5, 0.1
    rng = np.random.default_rng(7)
    center, lam, radius = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), np.array([4.0, 1.0, 0.5]), 0.5
    theta = center[1] + radius * np.array([0.6, 0.8])
    bank = RidgeBank(
        lanes=lanes, dims=np.full(3, 2), regularization=np.tile(lam, (lanes, 1)), center=np.tile(center, (lanes, 1, 1))
    )
    sets = sets_of(
        bank, noise=R, penalty=lam * radius**2, delta=delta, online=online, misspecification=misspecification
    )
    ids, missed = np.arange(lanes), np.zeros(lanes, dtype=bool)
    for _ in range(T):
        x = rng.normal(size=(lanes, 2))
        y = x @ theta + misspecification * np.sign(x[:, 0]) + R * rng.normal(size=lanes)
        bank.learn(ids, np.repeat(x[:, None], 3, axis=1), y)
        sets.update(ids, bank)
        missed |= bank.distances(np.tile(theta, (lanes, 1)))[:, 1] > sets.squared_radii[:, 1]
    assert missed.sum() <= stats.binom.isf(1e-6, lanes, delta)


def test_a_known_parameter_in_the_sets():
    """Infinite regularisation: inside while the squared residuals are at most B + 2 R^2 log(1 / delta)."""
    center, R = np.array([[[1.0], [0.0]]]), 0.2
    bank = SharedRidgeBank(center=center, precision=np.array([[[[np.inf]]]]), group=np.zeros((1, 2), dtype=np.int64))
    x, y = np.array([1.0, -1.0, 2.0]), np.array([0.9, -1.1, 2.1])
    for a, b in zip(x, y, strict=True):
        bank.learn(LANE, np.array([[[a]]]), np.array([b]))
    L = np.array([np.sum((y - x) ** 2), np.sum(y**2)])
    B = -2.0 * R**2 * special.logsumexp(-L / (2.0 * R**2), b=0.5)
    rho = sets_of(bank, noise=R, penalty=(0.0, 0.0)).squared_radii[0]
    np.testing.assert_allclose(rho, B + 2.0 * R**2 * math.log(20.0) - L, rtol=1e-12)
    assert list(rho >= 0.0) == [True, False]


def test_radii_change_only_in_the_lanes_updated():
    bank = RidgeBank(lanes=3, dims=np.array([2]), regularization=np.ones((3, 1)))
    sets = sets_of(bank, penalty=(1.0,))
    before = sets.squared_radii.copy()
    bank.learn(np.array([1, 2]), np.ones((2, 1, 2)), np.ones(2))
    sets.update(np.array([2]), bank)
    np.testing.assert_array_equal(sets.squared_radii[:2], before[:2])
    np.testing.assert_allclose(sets.squared_radii[2], before[2] + 0.25 * math.log(3.0), rtol=1e-12)


# The special functions.


@pytest.mark.parametrize("a", [0.5, 1.0, 1.5, 6.0, 51.0, 501.0, 5001.0, 50_001.0])
def test_log_regularized_gamma(a):
    for x in a * np.array([1e-3, 0.1, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 3.0]) + 1e-3:
        P, Q = special.gammainc(a, x), special.gammaincc(a, x)
        expected = math.log(P) if 1e-250 < P < 0.5 else math.log1p(-Q) if P >= 0.5 else None
        if expected is not None:
            assert log_regularized_gamma(a, x) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_log_regularized_gamma_far_below_what_a_double_holds():
    """P(a, x) ~ x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + ...) for x << a."""
    a, x = 5000.0, 5.0
    series = math.log1p(x / (a + 1.0) + x**2 / ((a + 1.0) * (a + 2.0)))
    assert log_regularized_gamma(a, x) == pytest.approx(a * math.log(x) - x - math.lgamma(a + 1.0) + series, rel=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 100, 1000])
@pytest.mark.parametrize("share", [1e-9, 0.01, 0.5, 0.9, 0.95, 0.999, 1.0 - 1e-9])
def test_chi_square_quantile(share, dim):
    assert chi_square_quantile(share, dim) == pytest.approx(stats.chi2.ppf(share, dim), rel=1e-7)


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


@pytest.mark.parametrize(
    ("t", "ratio", "digits"), [(10, 2.8167, 4), (100, 1.48175, 5), (1000, 1.15316, 5), (10_000, 1.05139, 5)]
)
def test_variance_martingale_thresholds(t, ratio, digits):
    half = 0.5 * 10.0**-digits
    assert (
        log_variance_martingale((ratio - half) * t, t) < math.log(20.0) < log_variance_martingale((ratio + half) * t, t)
    )


def test_variance_grid_worked_numbers():
    assert log_variance_grid(150.0, 100, 0.0) == pytest.approx(3.33463430, abs=6e-9)
    assert log_variance_grid(150.0, 100, 0.2) == pytest.approx(2.41560054, abs=6e-9)


# The alarm. delta = .1 gives each of its tests the level .05, at which the thresholds above are stated.


def watch(J, t, *, challenger=np.inf, R=1.0, penalty=0.0, misspecification=0.0, alarm=None):
    alarm = alarm or Alarm(lanes=1, delta=0.1, misspecification=misspecification)
    bank = bank_of([[0.0, J, 0.0], [0.0, J + 3.0, 0.0]], t)
    sets = sets_of(bank, noise=R, penalty=(penalty, penalty), delta=0.1, misspecification=misspecification)
    new = look(alarm, LANE, sets, bank, np.array([challenger]), np.array([R]))
    return new, bool(alarm.raised[0])


def look(alarm, ids, sets, bank, challenger, noise):
    """Screen as the kernels that learn do, and judge what is suspect; tell whether it is the first alarm."""
    verdict = np.empty((ids.size, 3))
    limits = (sets.penalty, sets.variance, noise, bank.updates, challenger, sets.drift, alarm.level, verdict)
    return screen(ids, bank.evidence, *limits) and alarm.judge(ids, verdict, bank.updates, noise)


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


def test_an_alarm_stays_raised_and_is_new_once():
    alarm = Alarm(lanes=1, delta=0.1, misspecification=0.0)
    assert watch(1.0, 10, alarm=alarm) == (False, False)
    assert watch(90.0, 10, alarm=alarm) == (True, True)
    assert watch(90.0, 10, alarm=alarm) == (False, True)
    assert watch(1.0, 10, alarm=alarm) == (False, True)


def test_alarms_of_lanes_are_apart():
    alarm = Alarm(lanes=3, delta=0.1, misspecification=0.0)
    bank = RidgeBank(lanes=3, dims=np.array([1]), regularization=np.ones((3, 1)))
    bank.evidence[:, 1, 0], bank.updates[:] = [20.0, 90.0, 90.0], 10
    sets = sets_of(bank, noise=1.0, penalty=(0.0,), delta=0.1)
    noise = np.array([0.5, 1.0, 3.0])
    assert not look(alarm, np.array([2]), sets, bank, np.array([np.inf]), noise)
    assert look(alarm, np.array([2, 0]), sets, bank, np.full(2, np.inf), noise)
    np.testing.assert_array_equal(alarm.raised, [True, False, False])
    assert not look(alarm, np.array([0, 2]), sets, bank, np.full(2, np.inf), noise)
    bank.evidence[0, 1, 0] = 0.0
    assert not look(alarm, np.arange(3), sets, bank, np.full(3, np.inf), noise)  # lane 1 is new, but not the first
    np.testing.assert_array_equal(alarm.raised, [True, True, False])


def play_alarm(*, seed, lanes, T, R, noise_scale, hidden=0.0):
    """Return the share of lanes that raised an alarm; the challenger is a ridge that sees the hidden feature."""
    rng = np.random.default_rng(seed)
    bank = RidgeBank(lanes=lanes, dims=np.array([2, 2]), regularization=np.ones((lanes, 2)))
    rival = RidgeBank(lanes=lanes, dims=np.array([3]), regularization=np.ones((lanes, 1)))
    sets = sets_of(bank, noise=R, delta=0.1)
    alarm, noise, ids = Alarm(lanes=lanes, delta=0.1, misspecification=0.0), np.full(lanes, R), np.arange(lanes)
    for _ in range(T):
        x = rng.normal(size=(lanes, 3))
        y = x @ [0.6, -0.6, hidden] + noise_scale * R * rng.normal(size=lanes)
        bank.learn(ids, np.ascontiguousarray(np.stack([x[:, :2], x[:, 1::-1]], axis=1)), y)
        rival.learn(ids, x[:, None], y)
        look(alarm, ids, sets, bank, rival.penalised[:, 0] + R**2 * rival.logdet[:, 0], noise)
    return alarm.raised.mean()


def test_false_alarms_are_rare_at_length():
    """Under the assumptions a share of at most delta = .1 alarms; this fails by chance in at most 1e-6."""
    assert play_alarm(seed=0, lanes=300, T=150, R=0.5, noise_scale=1.0) * 300 <= stats.binom.isf(1e-6, 300, 0.1)


def test_small_noise_never_alarms_at_length():
    assert play_alarm(seed=1, lanes=50, T=150, R=0.5, noise_scale=0.5) == 0.0


def test_too_much_noise_alarms():
    assert play_alarm(seed=2, lanes=20, T=100, R=0.5, noise_scale=2.0) == 1.0


def test_a_better_challenger_alarms_where_the_noise_is_small():
    """A hidden feature of size .4, hardly any noise: the variance .16 is below R^2 = .25, only the challenger tells."""
    assert play_alarm(seed=3, lanes=20, T=150, R=0.5, noise_scale=0.1, hidden=0.4) == 1.0
    assert play_alarm(seed=3, lanes=20, T=150, R=0.5, noise_scale=0.1, hidden=0.0) == 0.0
