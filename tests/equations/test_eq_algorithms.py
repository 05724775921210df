"""The labelled equations that are steps of an algorithm, with numbers worked out by hand."""

import math

import numpy as np
import pytest

from banditselect import PSOFUL, RegretBalancing, Uniform
from banditselect.models.sqalg import SqAlg
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.simulation import simulate
from plays_alone import inverse_gap_weighting


def test_eq_dist_over_actions():
    """K = 3, alpha = 4, predictions 1, .5, 0: 1 / (3 + 2), 1 / (3 + 4), the rest on the first."""
    p = inverse_gap_weighting(np.array([[1.0, 0.5, 0.0]]), np.array([4.0]), None)
    np.testing.assert_allclose(p[0], [1 - 1 / 5 - 1 / 7, 1 / 5, 1 / 7], rtol=1e-15)


def test_eq_update_weight_exprtt():
    """Range [0, 2], predictions .4 and 1.6, reward 2: scaled losses .64 and .04, weights as e^-1.28 to e^-.08."""
    sq = SqAlg(lower=np.zeros(1), upper=np.full(1, 2.0), n_models=2)
    sq.update(np.array([0]), np.array([[0.4, 1.6]]), np.array([2.0]))
    ratio = math.exp(-2 * 0.64) / math.exp(-2 * 0.04)
    np.testing.assert_allclose(sq.weights(np.array([0]))[0], [ratio / (1 + ratio), 1 / (1 + ratio)], rtol=1e-12)


def test_eq_regression_oracle():
    """Equal weights, predictions 0 and 1 on [0, 1]: D(0) = D(1), so the prediction is 1/2; then one reward 0."""
    sq = SqAlg(lower=np.zeros(1), upper=np.ones(1), n_models=2)
    assert sq.predict(np.array([0]), np.array([[[0.0], [1.0]]]))[0, 0] == 0.5
    sq.update(np.array([0]), np.array([[0.0, 1.0]]), np.array([0.0]))
    v = np.array([1.0, math.exp(-2.0)]) / (1.0 + math.exp(-2.0))
    d0 = -0.5 * math.log(v[0] + v[1] * math.exp(-2.0))
    d1 = -0.5 * math.log(v[0] * math.exp(-2.0) + v[1])
    assert sq.predict(np.array([0]), np.array([[[0.0], [1.0]]]))[0, 0] == pytest.approx(
        0.5 + 0.5 * (d0 - d1), rel=1e-12
    )


def test_eq_regret_balancing():
    """One play each, rewards .2 and .9, U = sqrt(n): 1.2 against 1.9; a reward 0 later (.9 + sqrt 2) / 2 = 1.157."""
    policy = RegretBalancing(bases=[Uniform(), Uniform()], reference=1.0)
    for _ in range(2):
        decision = policy.act([[1.0]])
        policy.update(decision, [0.2, 0.9][decision.base])
    decision = policy.act([[1.0]])
    assert decision.base == 1
    policy.update(decision, 0.0)
    assert policy.act([[1.0]]).base == 0


def test_eq_ps_oful_confidence_set():
    """d = 1, L = 1, S = 2, one prediction yhat for phi = 1: the set is (yhat - th)^2 + th^2 <= gamma_1 + 4."""
    policy = PSOFUL(centers=[[1.0]], radii=1.0, noise=0.5, confidence="paper", feature_bound=1.0, reward_bound=2.0)
    policy.update(policy.act([[1.0]]), 1.0)
    R, L, G, d, t, M, delta = 0.5, 1.0, 2.0, 1, 1, 1, 0.05
    m = 4 * d * math.log(1 + t * L**2 / d)
    U = 3 + 2 * m + 32 * R**2 * math.log((2 * math.sqrt(2) * R + math.sqrt(2 + m)) / delta)
    sq_regret = 8 * math.log(M) * ((G + L) ** 2 + R**2 * L**2 * d * math.log((1 + t * L**2 / d) / delta))
    v = 1 + sq_regret + U + 2 * R * math.sqrt(2 * (1 + U) * math.log(math.sqrt(1 + U) / delta))
    gamma = 1 + 2 * (v - 1) + 32 * R**2 * math.log((R * math.sqrt(8) + math.sqrt(v)) / delta)
    yhat = 1.0  # the only expert predicts its centre
    middle = yhat / 2.0
    half_width = math.sqrt((gamma + 4.0 - (yhat**2 - 2.0 * middle**2)) / 2.0)
    for sign in (-1.0, 1.0):
        assert policy.covers([middle + sign * half_width * 0.999])
        assert not policy.covers([middle + sign * half_width * 1.001])


@pytest.mark.parametrize(
    "problem", [SyntheticFeatureSelection(n_models=2, dim=3, n_items=30), SyntheticParameterSelection()]
)
def test_eq_regret_and_transfer_regret2(problem):
    """The sum over the rounds of the best mean less the mean played."""
    result = simulate({"uniform": Uniform.bind()}, problem, rounds=7, replicates=2, seed=3)
    instances = problem.draw(range(2), 7, 3)
    policy = Uniform(lanes=2, seed=3)
    total = np.zeros(2)
    for t in range(7):
        means = instances.means(t)
        action = policy.act(instances.features(t)).action
        total += [means[n].max() - means[n, action[n]] for n in range(2)]
    np.testing.assert_allclose(result.final("uniform", "regret"), total, rtol=1e-12)
