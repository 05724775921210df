"""SqAlg's regret and substitution, admissibility, weights that fade or are shared."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from banditselect.models.sqalg import SqAlg

LANE = np.array([0])
unit = st.floats(0.0, 1.0)


def sqalg(M, lower=0.0, upper=1.0, lanes=1, **options):
    return SqAlg(lower=np.full(lanes, lower), upper=np.full(lanes, upper), n_models=M, **options)


class Play:
    """One lane of SqAlg with the books kept outside it."""

    def __init__(self, M, lower=0.0, upper=1.0, **options):
        self.sq, self.loss, self.own = sqalg(M, lower, upper, **options), np.zeros(M), 0.0

    def predict(self, f):
        return float(self.sq.predict(LANE, np.array(f, dtype=float).reshape(1, -1, 1))[0, 0])

    def learn(self, f, y):
        self.own += (self.predict(f) - y) ** 2
        self.loss += (np.asarray(f) - y) ** 2
        self.sq.update(LANE, np.array(f, dtype=float)[None], np.array([float(y)]))

    def within_bound(self, alive=slice(None), overflow=0.0):
        length = float(self.sq.upper[0] - self.sq.lower[0])
        bound = length**2 / 2.0 * math.log(self.loss.size) + overflow
        return self.own - self.loss[alive].min() <= bound + 1e-12 * max(self.own, bound)


def greedy_reward(play, f, lower=0.0, upper=1.0):
    """Return the end of the range that leaves the larger regret against the best expert so far."""
    yhat = play.predict(f)
    return max((lower, upper), key=lambda y: (yhat - y) ** 2 - (play.loss + (np.asarray(f) - y) ** 2).min())


@given(
    rounds=st.integers(2, 6).flatmap(
        lambda M: st.lists(st.tuples(st.lists(unit, min_size=M, max_size=M), unit), min_size=1, max_size=30)
    ),
    lower=st.floats(-10.0, 10.0),
    length=st.floats(0.01, 100.0),
)
def test_regret_on_any_sequence(rounds, lower, length):
    play = Play(len(rounds[0][0]), lower, lower + length)
    for h, y in rounds:
        f = np.clip(lower + length * np.array(h), lower, lower + length)
        play.learn(f, min(lower + length * y, lower + length))
        assert play.within_bound()


EXPERTS = {  # between -1 and 3
    "constant": lambda rng, M: np.linspace(-1.0, 3.0, M),
    "random": lambda rng, M: rng.uniform(-1.0, 3.0, size=M),
    "flips": lambda rng, M: rng.choice([-1.0, 3.0], size=M),
}


@pytest.mark.parametrize("M", [2, 3, 10])
@pytest.mark.parametrize("experts", EXPERTS)
def test_regret_against_a_greedy_adversary(M, experts):
    rng = np.random.default_rng(M)
    play = Play(M, -1.0, 3.0)
    for _ in range(400):
        f = EXPERTS[experts](rng, M)
        play.learn(f, greedy_reward(play, f, -1.0, 3.0))
        assert play.within_bound()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", ["the range grows", "the leader is removed", "rewards overflow"])
def test_regret_while_something_changes(change, seed):
    rng = np.random.default_rng(seed)
    play, overflow = Play(6, 0.0, 0.1 if change == "the range grows" else 1.0), 0.0
    for t in range(300):
        if change == "the range grows" and t % 20 == 19:
            grow = rng.uniform(0.0, 0.3, size=2)
            play.sq.widen(LANE, play.sq.lower - grow[0], play.sq.upper + grow[1])
        if change == "the leader is removed" and t % 60 == 59:
            play.sq.alive[0, play.sq.weights(LANE)[0].argmax()] = False
        lower, upper = float(play.sq.lower[0]), float(play.sq.upper[0])
        f = rng.choice([lower, upper, rng.uniform(lower, upper)], size=6)
        y = greedy_reward(play, f, lower, upper)
        if change == "rewards overflow":
            y += rng.choice([0.0, 0.3, -0.3])
            overflow += abs(y - np.clip(y, lower, upper))
        play.learn(f, y)
        assert play.within_bound(play.sq.alive[0], 2.0 * overflow)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_shared_weights_are_those_of_all_sequences_of_experts(share):
    """Brute force: a prior over all sequences in which the next expert is another with probability ``share``."""
    rng, M, T = np.random.default_rng(7), 3, 6
    f, y = rng.uniform(size=(T, M)), rng.uniform(size=T)
    sq = sqalg(M, share=share)
    for t in range(T):
        sq.update(LANE, f[t : t + 1], y[t : t + 1])
    weights = np.zeros(M)
    for sequence in itertools.product(range(M), repeat=T + 1):
        prior = 1.0 / M
        for one, two in itertools.pairwise(sequence):
            prior *= 1.0 - share if one == two else share / (M - 1)
        loss = sum((f[t, i] - y[t]) ** 2 for t, i in enumerate(sequence[:T]))
        weights[sequence[T]] += prior * math.exp(-2.0 * loss)
    np.testing.assert_allclose(sq.weights(LANE)[0], weights / weights.sum(), rtol=1e-12)
    assert sq.total_weight()[0] == pytest.approx(math.log(weights.sum()), rel=1e-12)


def least_loss(losses, switches):
    """Return the least loss of experts ``(T, M)`` that change exactly 0, 1, ... times, by dynamic programming."""
    best = np.full((switches + 1, losses.shape[1]), np.inf)
    best[0] = 0.0
    for t, loss in enumerate(losses):
        first, second = np.sort(best, axis=1)[:, :2].T
        others = np.where(best == first[:, None], second[:, None], first[:, None])  # the least of all other experts
        if t > 0:
            best[1:] = np.minimum(best[1:], others[:-1])
        best += loss
    return best.min(axis=1)


@pytest.mark.parametrize("M", [2, 5])
@pytest.mark.parametrize("experts", EXPERTS)
@pytest.mark.parametrize("share", [0.002, 0.05, 0.4])
def test_regret_against_experts_that_change(M, experts, share):
    """On every prefix, against every number of changes up to 20, without slack but for rounding."""
    rng = np.random.default_rng(M)
    play, losses = Play(M, -1.0, 3.0, share=share), []
    for t in range(150):
        f = EXPERTS[experts](rng, M)
        if t % 50 == 49:
            play.loss[:] = 0.0  # the adversary looks at the regret since then
        before = play.loss.copy()
        play.learn(f, greedy_reward(play, f, -1.0, 3.0))
        losses.append(play.loss - before)
        if t in (0, 1, 49, 50, 99, 149):
            k = np.arange(min(20, t) + 1)
            bound = 8.0 * (math.log(M) + k * math.log((M - 1) / share) - (t - k) * math.log1p(-share))
            assert (play.own - least_loss(np.array(losses), k.size - 1) <= bound + 1e-12 * play.own).all()


@pytest.mark.parametrize("M", [2, 5])
@pytest.mark.parametrize("memory", [2.0, 10.0, 100.0])
def test_regret_where_losses_fade(M, memory):
    """At every time, where what happened k rounds ago counts gamma^k; and of the plain losses, at log M per memory."""
    rng, gamma = np.random.default_rng(M), 1.0 - 1.0 / memory
    play, losses, own, plain = Play(M, 0.0, 2.0, gamma=gamma), np.zeros(M), 0.0, np.zeros(M)
    for t in range(300):
        f = rng.choice([0.0, 2.0, rng.uniform(0.0, 2.0)], size=M)
        play.loss = losses * gamma
        y = greedy_reward(play, f, 0.0, 2.0)
        error = (play.predict(f) - y) ** 2
        own, losses = gamma * own + error, gamma * losses + (f - y) ** 2
        play.learn(f, y)
        plain += (f - y) ** 2
        np.testing.assert_allclose(play.sq.loss[0], gamma * losses, rtol=1e-12)
        assert own - losses.min() <= 2.0 * math.log(M) * (1.0 + 1e-12)
        assert play.own - plain.min() <= 2.0 * math.log(M) * (1.0 + t / memory) * (1.0 + 1e-12)


def test_losses_that_fade_by_hand():
    sq = sqalg(2, lanes=2, gamma=0.5)
    sq.update(LANE, np.array([[0.0, 1.0]]), np.array([0.0]))
    sq.update(LANE, np.array([[0.5, 1.0]]), np.array([1.0]))
    np.testing.assert_allclose(sq.loss, [[0.125, 0.25], [0.0, 0.0]], rtol=1e-14)


def test_shared_weights_of_a_long_run_stay_finite():
    sq = sqalg(3, share=1e-9)
    for _ in range(3000):
        sq.update(LANE, np.array([[0.0, 1.0, 1.0]]), np.array([0.0]))
    np.testing.assert_allclose(sq.weights(LANE)[0, 1:], 5e-10 / (1.0 - math.exp(-2.0)), rtol=1e-6)
    assert np.isfinite(sq.loss).all()


@given(
    loss=st.lists(st.floats(0.0, 50.0), min_size=1, max_size=6),
    data=st.data(),
    lower=st.floats(-5.0, 5.0),
    length=st.floats(0.1, 10.0),
)
@settings(max_examples=300)
def test_the_prediction_lies_in_the_interval_of_the_paper(loss, data, lower, length):
    h = np.array(data.draw(st.lists(unit | st.sampled_from([0.0, 1.0]), min_size=len(loss), max_size=len(loss))))
    sq = sqalg(len(loss), lower, lower + length)
    sq.loss[0] = np.array(loss) * length**2
    yhat = float(sq.predict(LANE, (lower + length * h)[None, :, None])[0, 0])
    log_v = -2.0 * np.array(loss) - logsumexp(-2.0 * np.array(loss))
    y = (yhat - lower) / length
    assert y**2 <= -0.5 * logsumexp(log_v - 2.0 * h**2) + 1e-12
    assert (1.0 - y) ** 2 <= -0.5 * logsumexp(log_v - 2.0 * (1.0 - h) ** 2) + 1e-12


def test_weights_by_hand():
    sq = sqalg(2, -1.0, 3.0)  # l = 4, eta = 2/16
    np.testing.assert_array_equal(sq.weights(LANE), [[0.5, 0.5]])
    sq.loss[0] = [8.0, 0.0]
    e = math.exp(-1.0)
    np.testing.assert_allclose(sq.weights(LANE), [[e / (1.0 + e), 1.0 / (1.0 + e)]], rtol=1e-14)
    sq.widen(LANE, np.array([-3.0]), np.array([2.0]))  # [-3, 3]: eta = 2/36
    e = math.exp(-8.0 / 18.0)
    np.testing.assert_allclose(sq.weights(LANE), [[e / (1.0 + e), 1.0 / (1.0 + e)]], rtol=1e-14)


def test_a_rate_multiplies_the_exponent():
    """Range 2, losses 1 and 1.5: the weights are exp(-3 * 2 / 4) and exp(-3 * 2 * 1.5 / 4) over their sum."""
    sq = sqalg(2, -1.0, 1.0, rate=3.0)
    sq.loss[0] = [1.0, 1.5]
    expected = np.exp([-1.5, -2.25]) / np.exp([-1.5, -2.25]).sum()
    np.testing.assert_allclose(sq.weights(LANE)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(sq.total_weight(), np.log(np.exp([-1.5, -2.25]).sum() / 2), rtol=1e-12)


def test_weights_of_huge_losses():
    sq = sqalg(3)
    sq.loss[0] = [1e12 + 1.0, 1e12, 1e12 + 500.0]
    w = sq.weights(LANE)[0]
    assert w.sum() == pytest.approx(1.0, rel=1e-14)
    assert w[0] / w[1] == pytest.approx(math.exp(-2.0), rel=1e-3)  # 1e12 itself is rounded to 1e-4
    assert w[2] == 0.0


def test_weights_over_some_experts():
    sq = sqalg(3)
    sq.loss[0] = [0.0, 0.5, 1.0]
    sq.alive[0, 0] = False
    e = math.exp(-1.0)
    np.testing.assert_allclose(sq.weights(LANE), [[0.0, 1.0 / (1.0 + e), e / (1.0 + e)]], rtol=1e-14)
    np.testing.assert_array_equal(sq.weights(LANE, np.array([[True, False, False]])), [[1.0, 0.0, 0.0]])
    f = np.array([[[0.3], [9.0], [-9.0]]])
    assert sq.predict(LANE, f, np.array([[True, False, False]]))[0, 0] == pytest.approx(
        0.5 + (0.3**2 - 0.7**2) / 2, rel=1e-14
    )


def test_one_expert_is_repeated():
    sq = sqalg(1, -2.0, 2.0)
    np.testing.assert_allclose(sq.predict(LANE, np.array([[[-2.0, 0.5, 2.0]]])), [[-2.0, 0.5, 2.0]], rtol=1e-14)


def test_the_range_only_grows():
    sq = sqalg(2, lanes=2)
    sq.widen(np.array([1]), np.array([0.5]), np.array([0.6]))
    np.testing.assert_array_equal([sq.lower, sq.upper], [[0.0, 0.0], [1.0, 1.0]])
    sq.widen(np.array([1]), np.array([-2.0]), np.array([0.6]))
    np.testing.assert_array_equal([sq.lower, sq.upper], [[0.0, -2.0], [1.0, 1.0]])


def test_what_overflows_the_range_is_clipped_and_counted():
    sq = sqalg(2, lanes=3)
    ids = np.arange(3)
    sq.update(ids, np.array([[0.25, 5.0], [0.0, 1.0], [-1.0, 0.5]]), np.array([1.5, 0.5, -3.0]))
    np.testing.assert_array_equal(sq.clipped, [1, 0, 1])
    np.testing.assert_allclose(sq.loss, [[0.5625, 0.0], [0.25, 0.25], [0.0, 0.25]], rtol=1e-14)
    sq.update(np.array([2]), np.zeros((1, 2)), np.array([7.0]))
    np.testing.assert_array_equal(sq.clipped, [1, 0, 2])
    np.testing.assert_array_equal(sq.predict(np.array([1]), np.array([[[-4.0, 9.0], [-0.5, 1.5]]])), [[0.0, 1.0]])


@pytest.mark.parametrize(
    ("alive", "excess", "after"),
    [
        ([True] * 4, [0.5, 0.5, 0.0, -2.0], [0, 0, 1, 1]),
        ([True, False, True], [1.0, -5.0, -1.0], [0, 0, 1]),  # what fell stays down
        ([True] * 3, [3.0, 1.0, 2.0], [0, 2, 0]),  # where all would fall, the least violating stays
        ([False, True, True], [-1.0, 5.0, 4.0], [0, 0, 2]),
    ],
)
def test_experts_fall_beyond_their_bounds(alive, excess, after):
    sq = sqalg(len(alive), lanes=2)
    sq.alive[1] = alive
    np.testing.assert_array_equal(sq.admit(np.array([1]), np.array([excess])), [after])
    np.testing.assert_array_equal(sq.alive[1], alive)  # admit itself changes nothing


def test_where_all_would_fall_one_warning_is_given():
    sq = sqalg(2)
    sq.drop(LANE, sq.admit(LANE, np.array([[0.0, 0.0]])))
    assert sq.warnings() == []  # the experts stand
    kept = sq.admit(LANE, np.array([[2.0, 1.0]]))
    assert sq.warnings() == []  # asking changes nothing
    sq.drop(LANE, kept)
    (warning,) = sq.warnings()
    assert "the one that exceeds it least is kept" in warning
    sq.drop(LANE, sq.admit(LANE, np.array([[2.0, 1.0]])))
    assert sq.warnings() == []  # once is enough


def test_experts_are_dropped_for_good_but_never_the_last():
    sq = sqalg(3, lanes=3)
    sq.drop(np.array([1, 2]), np.array([[True, True, False], [True, True, True]]))
    np.testing.assert_array_equal(sq.alive, [[True] * 3, [True, True, False], [True] * 3])
    sq.drop(np.array([1]), np.array([[False, True, True]]))
    np.testing.assert_array_equal(sq.alive[1], [False, True, False])
    sq.drop(np.array([1]), np.array([[True, False, True]]))  # decisions that overlapped and disagree entirely
    np.testing.assert_array_equal(sq.alive[1], [False, True, False])
