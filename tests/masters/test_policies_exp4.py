"""EXP4, EXP4.IX and S-EXP3 by hand, and what they lose."""

import math

import numpy as np
import pytest

from banditselect import OFUL, Greedy, RegretBalancing, SquareCB, Uniform, on_map
from banditselect.masters import EXP4, Corral
from banditselect.rivals import SEXP3, UCB1, maillard_munos

ARMS = np.eye(2)
UP, DOWN = Greedy(center=[1.0, 0.0]), Greedy(center=[0.0, 1.0])


# EXP4 with numbers


def test_three_rounds_of_ix_by_hand():
    """Experts: the first arm, the second, both; losses .5, 1, 0 of any arm; T = 8, so eta = sqrt(log 3 / 8)."""
    eta = math.sqrt(2.0 * math.log(3.0) / (2.0 * 8.0))
    assert eta == pytest.approx(0.370576, abs=1e-6)
    advice = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    policy, L = EXP4(bases=[UP, DOWN, Uniform()], horizon=8, seed=1), np.zeros(3)
    for loss in (0.5, 1.0, 0.0):
        w = [math.exp(-eta * v) for v in L]
        q = [v / sum(w) for v in w]
        p = [q[0] + q[2] / 2.0, q[1] + q[2] / 2.0]
        np.testing.assert_allclose(policy.model_weights, q, rtol=1e-12)
        np.testing.assert_allclose(policy.probabilities(ARMS), p, rtol=1e-12)
        decision = policy.act(ARMS)
        assert decision.probability == pytest.approx(p[decision.action], rel=1e-12)
        policy.update(decision, 1.0 - loss)
        L = [v + advice[i, decision.action] * loss / (p[decision.action] + eta / 2.0) for i, v in enumerate(L)]
    np.testing.assert_allclose(policy.model.bases.losses[0, 0], L, rtol=1e-12)
    first = 0.5 / (0.5 + eta / 2.0)
    assert first == pytest.approx(0.729620, abs=1e-6)


def test_anytime_rates_and_mixing_by_hand():
    """Two experts that disagree, K = 2: eta = sqrt(log 2 / 2 t), gamma = min(1/2, sqrt(2 log 2 / t))."""
    policy, L = EXP4(bases=[UP, DOWN], exploration="uniform", reward_range=(0.0, 2.0), seed=0), [0.0, 0.0]
    for t in range(1, 40):
        eta, gamma = math.sqrt(math.log(2.0) / (2.0 * t)), min(0.5, math.sqrt(2.0 * math.log(2.0) / t))
        q = 1.0 / (1.0 + math.exp(eta * (L[0] - L[1])))
        p = (1.0 - gamma) * q + gamma / 2.0
        decision = policy.act(ARMS)
        np.testing.assert_allclose(policy.probabilities(ARMS), [p, 1.0 - p], rtol=1e-11)
        np.testing.assert_allclose(policy.model_weights, [q, 1.0 - q], rtol=1e-11)
        policy.update(decision, 1.5 if decision.action == 0 else 0.5)
        L[decision.action] += (0.25, 0.75)[decision.action] / (p, 1.0 - p)[decision.action]
    slow = EXP4(bases=[UP, DOWN], exploration="uniform", mixing=0.6, horizon=27)
    slow.model.bases.losses[0, 0] = 0.0, 1e9
    np.testing.assert_allclose(slow.probabilities(ARMS), [0.9, 0.1])  # gamma = .6 / 3


def test_the_actions_that_are_offered_count():
    policy = EXP4(bases=[UP, DOWN], exploration="uniform", horizon=4)
    np.testing.assert_allclose(policy.probabilities(ARMS, available=[True, False]), [1.0, 0.0])
    decision = policy.act(ARMS, available=[True, False])
    assert (decision.action, decision.note[0, 0]) == (0, 1)


def test_late_rewards_are_weighed_as_they_were_played():
    policy = EXP4(bases=[UP, DOWN], seed=2)
    waiting = policy.act(ARMS)
    for _ in range(20):
        decision = policy.act(ARMS)
        policy.update(decision, float(decision.action))
    before = policy.model.bases.losses[0, 0].copy()
    policy.update(waiting, 0.0)
    beta = math.sqrt(math.log(2.0) / 2.0) / 2.0
    expected = np.zeros(2)
    expected[waiting.action] = 1.0 / (0.5 + beta)
    np.testing.assert_allclose(policy.model.bases.losses[0, 0] - before, expected)


# Its bases


def test_every_base_learns_every_round_and_learn_leaves_the_weights():
    policy = EXP4(bases=[OFUL(dim=1), SquareCB(dim=1), UCB1(n_arms=2)], seed=0)
    for k in range(5):
        policy.update(policy.act([[1.0], [1.0]]), 1.0)
        assert [float(b.parameters[0]) for b in policy.bases[:2]] == pytest.approx([(k + 1.0) / (k + 2.0)] * 2)
        assert policy.bases[2].plays.sum() == k + 1
    weights = policy.model_weights
    with pytest.warns(RuntimeWarning, match=r"bases\[2\]: features do not tell"):
        policy.learn([1.0], 1.0)
    np.testing.assert_array_equal(policy.model_weights, weights)
    assert policy.bases[0].rounds == 6


def test_a_base_that_weighs_is_told_the_propensity_of_the_mixture():
    policy = EXP4(bases=[on_map(SEXP3(n_arms=2, prototypes=[[0.0], [1.0]]), 0), Uniform()], seed=3)
    policy.bases[0].policy.model.arms.losses[0, 1] = 0.0, 3.0
    x = np.ones((1, 2, 1))
    p = policy.probabilities(x)
    assert p[0] > 0.65
    decision = policy.act(x)
    losses = policy.bases[0].policy.model.arms.losses[0, 1].copy()
    policy.update(decision, 0.25)
    told = policy.bases[0].policy.model.arms.losses[0, 1] - losses
    assert told[decision.action] == pytest.approx(0.75 / p[decision.action])
    assert policy.bases[0].visits.tolist() == [0, 1]


@pytest.mark.parametrize("inner", [RegretBalancing, Corral])
def test_a_master_tells_its_bases_with_which_probability_they_played(inner):
    """Ties and draws between bases change the propensity that is reported, and not what a base divides by."""
    policy = inner(bases=[SEXP3(n_arms=2), EXP4(bases=[Uniform(), Greedy(center=[1.0])])], seed=4)
    policy.bases[0].model.arms.losses[0, 0] = 0.0, 3.0
    p = policy.bases[0].probabilities([[1.0], [0.0]])
    while (decision := policy.act([[1.0], [0.0]])).base != 0:
        pass
    assert decision.probability != p[decision.action]
    before = policy.bases[0].model.arms.losses[0, 0].copy()
    policy.update(decision, 0.25)
    losses = policy.bases[0].model.arms.losses[0, 0] - before
    assert losses[decision.action] == pytest.approx(0.75 / p[decision.action])
    while (decision := policy.act([[1.0], [0.0]])).base != 1:
        pass
    policy.update(decision, 0.25)
    assert policy.bases[1].rounds == 1


def test_a_decision_with_a_probability_of_one_by_rounding_is_learned():
    policy = EXP4(bases=[SEXP3(n_arms=2), UCB1(n_arms=2)])
    decision = policy.act(ARMS)
    policy.update(decision._replace(probability=1.0 + 2.0**-52), 0.5)
    assert policy.rounds == 1


# S-EXP3


def test_sexp3_by_hand():
    policy = SEXP3(n_arms=2, prototypes=[[0.0], [1.0]], seed=0)
    L, n = np.zeros((2, 2)), np.zeros(2)
    for t in range(30):
        c = int(t % 3 == 0)
        x = np.array([[0.3 + 0.4 * c - 0.05], [0.3 + 0.4 * c + 0.05]])  # the mean is .3 or .7
        n[c] += 1
        w = np.exp(-math.sqrt(math.log(2.0) / (2.0 * n[c])) * L[c])
        p = w / w.sum()
        decision = policy.act(x)
        assert decision.probability == pytest.approx(p[decision.action], rel=1e-11)
        y = 0.8 if decision.action == c else 0.1
        policy.update(decision, y)
        L[c, decision.action] += (1.0 - y) / p[decision.action]
    assert policy.visits.tolist() == n.tolist()
    np.testing.assert_allclose(policy.model.arms.losses[0], L, rtol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "eta"),
    [
        ({"horizon": 50}, math.sqrt(2.0 * math.log(4.0) * 2 / (4.0 * 50.0))),
        ({"role": "adviser"}, (math.log(4.0) ** 2 / 4.0) ** (1.0 / 3.0)),
        ({"role": "adviser", "horizon": 50}, (math.log(4.0) ** 2 / (4.0 * 25.0**2)) ** (1.0 / 3.0)),
        ({"learning_rate": 3.0}, 3.0 * math.sqrt(math.log(4.0) / 4.0)),
    ],
)
def test_rates_of_sexp3_by_hand(arguments, eta):
    policy = SEXP3(n_arms=4, prototypes=[[0.0], [1.0]], **arguments)
    policy.model.arms.losses[0, 1] = 0.0, 1.0, 2.0, 0.5
    w = np.exp(-eta * policy.model.arms.losses[0, 1])
    np.testing.assert_allclose(policy.probabilities(np.ones((4, 1))), w / w.sum(), rtol=1e-12)


def test_sexp3_with_one_class_takes_any_features_and_learns_only_what_it_played():
    policy = SEXP3(n_arms=3)
    policy.update(policy.act(np.ones((2, 3, 5))), 0.5)
    with pytest.warns(RuntimeWarning, match="learn teaches nothing"):
        policy.learn([1.0], 1.0)
    assert policy.visits.tolist() == [1]


# Regret


def adversary(T, K):
    """Losses that change sides: half of the time the first arm is good, then the last, and the middle ones never."""
    losses = np.full((T, K), 0.9)
    losses[: T // 3, 0], losses[T // 4 :, -1] = 0.1, 0.2
    return losses


@pytest.mark.parametrize("exploration", ["ix", "uniform"])
def test_regret_of_exp4_is_below_the_bound(exploration):
    """Each of 40 lanes below the bound of probability 1 - 1e-6 (ix); the mean and 5 standard errors (uniform)."""
    T, K, lanes = 1500, 3, 40
    centers = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.2, 0.1]])
    policy = EXP4(bases=[Greedy(center=c) for c in centers], exploration=exploration, horizon=T, lanes=lanes, seed=1)
    losses, x, regret = adversary(T, K), np.tile(np.eye(K), (lanes, 1, 1)), np.zeros(lanes)
    for t in range(T):
        decision = policy.act(x)
        policy.update(decision, 1.0 - losses[t, decision.action])
        regret += losses[t, decision.action] - losses[t, 2]
    log = math.log(len(centers))
    if exploration == "ix":
        bound = 2.0 * math.sqrt(2.0 * K * T * log) + (math.sqrt(2.0 * K * T / log) + 1.0) * math.log(2.0 / 1e-6)
        assert regret.max() < bound
        assert regret.mean() < 2.0 * math.sqrt(2.0 * K * T * log)
    else:
        bound = math.sqrt(K * log / T) * T + 3.0 * math.sqrt(K * T * log / 2.0)
        assert regret.mean() + 5.0 * regret.std(ddof=1) / math.sqrt(lanes) < bound
    assert regret.mean() < 0.4 * (losses.mean() - losses[:, 2].mean()) * T


@pytest.mark.parametrize("horizon", [None, 1500])
def test_regret_of_sexp3_is_below_the_bound(horizon):
    """The mean of 200 lanes and 5 standard errors."""
    T, K, C, lanes = 1500, 3, 2, 200
    policy = SEXP3(n_arms=K, prototypes=np.eye(C), horizon=horizon, lanes=lanes, seed=1)
    losses, regret = adversary(T, K), np.zeros(lanes)
    for t in range(T):
        c = t % C
        row = losses[t] if c else losses[t, ::-1]
        decision = policy.act(np.tile(np.eye(C)[c], (lanes, K, 1)))
        policy.update(decision, 1.0 - row[decision.action])
        regret += row[decision.action] - row[2 if c else 0]
    bound = (2.0 if horizon is None else math.sqrt(2.0)) * math.sqrt(T * C * K * math.log(K))
    assert regret.mean() + 5.0 * regret.std(ddof=1) / math.sqrt(lanes) < bound


def test_maillard_and_munos_find_the_map_whose_classes_tell():
    """The mean regret of 20 lanes and 5 standard errors, against the best arm of each class of the second map."""
    T, K, lanes = 2500, 3, 20
    factory = maillard_munos(prototypes=[np.eye(2), np.eye(3)], n_arms=K, horizon=T)
    policy, rng = factory(lanes=lanes, seed=0), np.random.default_rng(0)
    regret = np.zeros(lanes)
    for _ in range(T):
        noise, c = rng.integers(2), rng.integers(3)
        maps = [np.tile(np.eye(d)[k], (lanes, K, 1)) for d, k in ((2, noise), (3, c))]
        decision = policy.act(maps)
        loss = np.where(decision.action == c, 0.1, 0.9)
        policy.update(decision, 1.0 - loss)
        regret += loss - 0.1
    gamma = (3.0 * K * math.log(K) / T) ** (1.0 / 3.0)
    bound = 2.5 * gamma * T + 3.0 * math.sqrt(K * T * math.log(2.0) / 2.0)
    assert policy.mixing / T ** (1.0 / 3.0) == pytest.approx(gamma)
    assert regret.mean() + 5.0 * regret.std(ddof=1) / math.sqrt(lanes) < bound
    assert (policy.model_weights[:, 1] > 0.9).all()
    assert regret.mean() < 0.6 * T * 0.8 * 2.0 / 3.0
