"""Selection among feature maps, side by side with the equations solved afresh in every round."""

import warnings

import numpy as np
import pytest

from banditselect import FSOFUL, OFUL, FSSquareCB, SquareCB
from banditselect.theory import feature_selection
from experts_by_hand import DELTA, DIMS, HI, LAM, LO, Experts, gap_weights, maps_of, played, softmax, substitution

# FSSquareCB, weighting="noise"


def test_noise_weighting_is_the_gaussian_evidence_and_its_mean():
    rng = np.random.default_rng(0)
    R = 0.4
    policy = FSSquareCB(
        n_models=3, dim=DIMS, noise=R, reward_range=(LO, HI), regularization=LAM, exploration=6.0, seed=1
    )
    experts = Experts()
    for t in range(50):
        maps = maps_of(rng, rng.integers(2, 7))
        w = softmax(-(experts.J + R**2 * experts.logdet) / (2.0 * R**2))
        p = gap_weights(w @ experts.predict(maps), 6.0 * np.sqrt(t) / (HI - LO))
        np.testing.assert_allclose(policy.model_weights, w, atol=1e-9)
        np.testing.assert_allclose(policy.probabilities(maps), p, atol=1e-9)
        decision = policy.act(maps)
        y = float(np.clip(0.5 * maps[1][decision.action].sum() + R * rng.normal(), LO, HI))
        policy.update(decision, y)
        experts.add(played(maps, decision.action), y)
    assert policy.model_weights[1] > 0.99
    for i, d in enumerate(DIMS):
        np.testing.assert_allclose(policy.parameters[i, :d], experts.theta[i], atol=1e-9)
        assert not policy.parameters[i, d:].any()


def test_noise_is_half_the_range_unless_given():
    rng = np.random.default_rng(1)
    default = FSSquareCB(n_models=2, dim=2, reward_range=(LO, HI))
    stated = FSSquareCB(n_models=2, dim=2, reward_range=(LO, HI), noise=2.0)
    for _ in range(10):
        x, y = rng.normal(size=(2, 2)), float(rng.uniform(LO, HI))
        default.learn(x, y)
        stated.learn(x, y)
    np.testing.assert_array_equal(default.model_weights, stated.model_weights)
    assert default.model_weights[0] != 0.5


@pytest.mark.parametrize("exploration", [20.0, "paper", "corrected"])
def test_one_model_is_squarecb_bit_for_bit(exploration):
    rng = np.random.default_rng(2)
    common = {"dim": 3, "reward_range": (LO, HI), "regularization": 0.3, "exploration": exploration, "seed": (4, 2)}
    common |= {"horizon": 99, "noise": 0.3, "feature_bound": 1.5, "reward_bound": 1.0, "parameter_bound": 0.7}
    weighting = "corrected" if exploration == "corrected" else "noise"
    many, one = FSSquareCB(n_models=1, weighting=weighting, **common), SquareCB(**common)
    for _ in range(60):
        x = rng.normal(size=(rng.integers(1, 6), 3))
        first, second = many.act(x[None]), one.act(x)
        assert (first.action, first.probability) == (second.action, second.probability)
        y = float(rng.uniform(LO, HI))
        many.update(first, y)
        one.update(second, y)
    np.testing.assert_array_equal(many.parameters[0], one.parameters)


# FSSquareCB, weighting="range"


@pytest.mark.parametrize("weighting", ["noise", "range"])
def test_weights_are_numbers_on_the_smallest_range_that_is_taken(weighting):
    for width in (1e-200, 1e-30):
        with pytest.raises(ValueError, match=r"FSSquareCB: reward_range: .* high - low >= 2e-30"):
            FSSquareCB(n_models=2, dim=2, reward_range=(0.0, width), weighting=weighting)
    policy, x = FSSquareCB(n_models=2, dim=2, reward_range=(0.0, 2e-30), weighting=weighting), np.ones((2, 3, 2))
    x[1] *= 2.0
    for k in range(20):
        policy.update(policy.act(x), k % 3 * 1e-30)
        assert policy.model_weights.sum() == pytest.approx(1.0)


def test_range_weighting_is_sqalg_on_the_range_with_clipping_counted():
    rng = np.random.default_rng(3)
    policy = FSSquareCB(
        n_models=3, dim=DIMS, reward_range=(LO, HI), regularization=LAM, exploration=6.0, weighting="range", seed=1
    )
    experts, loss, outside = Experts(), np.zeros(3), 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(50):
            maps = maps_of(rng, rng.integers(2, 7))
            w = softmax(-2.0 / (HI - LO) ** 2 * loss)
            f = experts.predict(maps)
            p = gap_weights(substitution(f, w, LO, HI - LO), 6.0 * np.sqrt(t) / (HI - LO))
            np.testing.assert_allclose(policy.model_weights, w, atol=1e-9)
            np.testing.assert_allclose(policy.probabilities(maps), p, atol=1e-9)
            decision = policy.act(maps)
            y = float(1.2 * maps[1][decision.action].sum() + 0.4 * rng.normal())
            policy.update(decision, y)
            loss += (np.clip(f[:, decision.action], LO, HI) - np.clip(y, LO, HI)) ** 2
            outside += not LO <= y <= HI
            experts.add(played(maps, decision.action), y)
    assert [str(w.message).split(":")[2][:14] for w in caught] == [" it is clipped"]
    assert 5 < outside < 45
    assert policy.outside == policy.clipped == outside
    assert policy.admissible.all()


# FSSquareCB, weighting="paper"


def printed_bound(t, *, R, L, G, S, dims=DIMS, lam=LAM):
    """eq:addmisable-experts, model by model."""
    d = np.array(dims)
    return G + R * L * np.sqrt(d * np.log((1.0 + t * L**2 / (lam * d)) / DELTA)) + L * np.sqrt(lam) * S


@pytest.mark.parametrize("horizon", [None, 30])
@pytest.mark.parametrize("G", [0.05, 0.8, 50.0], ids=["all fall", "some fall", "none falls"])
def test_paper_weighting_is_sqalg_on_the_printed_range_with_admissibility(G, horizon):
    rng = np.random.default_rng(4)
    constants = {"R": 0.1, "L": 0.3, "G": G, "S": 0.5}
    policy = FSSquareCB(
        n_models=3,
        dim=DIMS,
        noise=0.1,
        reward_range=(LO, HI),
        regularization=LAM,
        exploration=6.0,
        weighting="paper",
        delta=DELTA,
        feature_bound=0.3,
        reward_bound=G,
        parameter_bound=0.5,
        horizon=horizon,
        seed=1,
    )
    experts, loss, alive, clipped, kept = Experts(), np.zeros(3), np.ones(3, dtype=bool), 0, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(50):
            half = printed_bound(max(t, horizon or 0), **constants).max()
            maps = maps_of(rng, rng.integers(2, 7), scale=0.1 if t % 7 == 6 else 0.5)
            f = experts.predict(maps)
            excess = np.abs(f).max(axis=1) - printed_bound(t, **constants)
            now = alive & (excess <= 0.0)
            if not now.any():
                now[np.argmin(np.where(alive, excess, np.inf))] = True
                kept = True
            eta = 2.0 / (2.0 * half) ** 2
            np.testing.assert_allclose(policy.model_weights, softmax(np.where(alive, -eta * loss, -np.inf)), atol=1e-9)
            score = substitution(f, softmax(np.where(now, -eta * loss, -np.inf)), -half, 2.0 * half)
            p = gap_weights(score, 6.0 * np.sqrt(t) / (HI - LO))
            np.testing.assert_allclose(policy.probabilities(maps), p, atol=1e-9)
            decision = policy.act(maps)
            np.testing.assert_array_equal(policy.admissible, alive)  # what falls, falls with the reward
            y = float(np.clip(maps[1][decision.action].sum() + 0.1 * rng.normal(), LO, HI))
            policy.update(decision, y)
            alive = now
            loss += (np.clip(f[:, decision.action], -half, half) - np.clip(y, -half, half)) ** 2
            clipped += abs(y) > half
            experts.add(played(maps, decision.action), y)
            np.testing.assert_array_equal(policy.admissible, alive)
    assert alive.sum() == {0.05: 1, 0.8: 2, 50.0: 3}[G]
    assert policy.clipped == clipped
    assert [str(w.message)[:41] for w in caught] == ["FSSquareCB: no expert predicts within its"] * kept
    assert kept == (G == 0.05)
    assert all(w.filename == __file__ for w in caught)


def test_an_action_that_is_not_offered_makes_no_expert_fall():
    bounds = {"feature_bound": 0.1, "reward_bound": 1.0, "parameter_bound": 0.1}
    policy = FSSquareCB(n_models=2, dim=1, weighting="paper", noise=0.01, **bounds)
    policy.learn([[1.0], [1.0]], 1.0)
    features = np.array([[[0.1], [100.0]], [[0.1], [0.1]]])  # the first map predicts 50 for the second action
    policy.update(policy.act(features, available=[True, False]), 0.5)
    assert policy.admissible.tolist() == [True, True]
    policy.update(policy.act(-features), 0.5)  # -50: the bound is on both sides
    assert policy.admissible.tolist() == [False, True]


def test_decisions_that_overlap_never_empty_the_admissible_set():
    bounds = {"feature_bound": 0.1, "reward_bound": 1.0, "parameter_bound": 0.1}
    policy = FSSquareCB(n_models=2, dim=1, weighting="paper", noise=0.01, **bounds)
    policy.learn([[1.0], [1.0]], 1.0)
    one = policy.act([[[9.0]], [[0.1]]])  # only the second map predicts within its bound
    two = policy.act([[[0.1]], [[9.0]]])  # only the first
    policy.update(one, 0.5)
    assert policy.admissible.tolist() == [False, True]
    policy.update(two, 0.5)
    assert policy.admissible.tolist() == [False, True]


@pytest.mark.parametrize(("n_models", "horizon", "n_actions"), [(1, 100, 2), (4, 100, 2), (4, 5000, 2), (64, 100, 6)])
def test_printed_exploration(n_models, horizon, n_actions):
    """The rate, from the probabilities of actions that are 1/2 apart."""
    bounds = {"noise": 0.3, "delta": DELTA, "feature_bound": 1.5, "reward_bound": 1.0, "parameter_bound": 0.7}
    policy = FSSquareCB(n_models=n_models, dim=2, exploration="paper", horizon=horizon, **bounds)
    policy.learn(np.tile([1.0, 0.0], (n_models, 1)), 1.0)  # theta = (1/2, 0) on every map
    x = np.zeros((n_actions, 2))
    x[0, 0] = 1.0
    p = policy.probabilities(np.tile(x, (n_models, 1, 1)))
    printed = feature_selection.D(t=horizon, dim=2, n_models=n_models, regularization=1.0, form="printed", **bounds)
    assert (1.0 / p[1] - n_actions) / 0.5 == pytest.approx(np.sqrt(n_actions * horizon / printed), rel=1e-9)


@pytest.mark.parametrize("cls", [FSSquareCB, FSOFUL])
def test_maps_and_penalties_must_be_as_many_as_models(cls):
    with pytest.raises(ValueError, match=rf"{cls.__name__}: dim: .*n_models=2"):
        cls(n_models=2, dim=[3, 4, 5])
    with pytest.raises(ValueError, match=rf"{cls.__name__}: regularization: .*n_models=2"):
        cls(n_models=2, dim=3, regularization=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=rf"{cls.__name__}: regularization: .*>= 1e-30"):
        cls(n_models=2, dim=3, regularization=[1.0, 0.0])
    with pytest.raises(ValueError, match="features: "):
        cls(n_models=2, dim=[3, 4]).act([np.ones((5, 4)), np.ones((5, 3))])


# FSOFUL


@pytest.mark.parametrize("eps", [0.0, 0.05])
@pytest.mark.parametrize("likelihood", ["evidence", "online"])
def test_fsoful_against_brute_force(likelihood, eps):
    rng = np.random.default_rng(5)
    R, S, scale = 0.2, 1.5, 0.6
    policy = FSOFUL(
        n_models=3,
        dim=DIMS,
        noise=R,
        parameter_bound=S,
        delta=DELTA,
        regularization=LAM,
        likelihood=likelihood,
        scale=scale,
        misspecification=eps,
    )
    experts, theta = Experts(), np.array([0.8, -0.9])
    R2, drift = (2.0 * R**2, 2.0 * eps**2) if eps else (R**2, 0.0)
    refuted = 0
    for t in range(50):
        L = experts.online if likelihood == "online" else experts.J + R2 * experts.logdet
        B = -2.0 * R2 * np.log(np.mean(np.exp(-L / (2.0 * R2))))
        rho_2 = B + 2.0 * R2 * np.log(1.0 / DELTA) + drift * t + LAM * S**2 - experts.J
        np.testing.assert_allclose(policy.squared_radii, policy.scale**2 * rho_2, atol=1e-9)
        np.testing.assert_allclose(policy.model_weights, softmax(-L / (2.0 * R2)), atol=1e-9)
        np.testing.assert_array_equal(policy.admissible, rho_2 >= 0.0)
        maps = maps_of(rng, rng.integers(2, 7))
        rho = np.sqrt(np.maximum(rho_2, 0.0))[:, None]
        ucb = np.where((rho_2 >= 0.0)[:, None], experts.predict(maps) + scale * rho * experts.widths(maps), -np.inf)
        decision = policy.act(maps)
        assert decision.action == np.argmax(ucb.max(axis=0))
        refuted += (rho_2 < 0.0).any()
        for i, (V, center) in enumerate(zip(experts.V, experts.theta, strict=True)):
            z = rng.normal(size=DIMS[i])
            edge = scale * rho[i] * z / np.sqrt(z @ V @ z)
            assert policy.covers(center + 0.999 * edge, model=i) == (rho_2[i] >= 0.0)
            assert not policy.covers(center + 1.001 * edge, i) or rho_2[i] == 0.0
        y = float(maps[1][decision.action] @ theta + R * rng.normal())
        policy.update(decision, y)
        experts.add(played(maps, decision.action), y)
    assert refuted > 5
    assert policy.admissible[1]
    assert not policy.misspecified


def test_fsoful_with_one_model_has_the_smaller_radius_of_the_two():
    rng = np.random.default_rng(6)
    R, lam, S = 0.3, 0.7, 1.1
    common = {"dim": 3, "noise": R, "regularization": lam, "parameter_bound": S, "delta": DELTA}
    one, oful = FSOFUL(n_models=1, **common), OFUL(**common)
    X = rng.normal(size=(30, 3))
    for x in X:
        y = float(x @ [0.5, -0.5, 0.2] + R * rng.normal())
        one.learn(x[None], y)
        oful.learn(x, y)
    logdet = np.linalg.slogdet(np.eye(3) + X.T @ X / lam)[1]
    a, b = R * np.sqrt(logdet + 2.0 * np.log(1.0 / DELTA)), np.sqrt(lam) * S
    np.testing.assert_allclose(one.squared_radii, [a**2 + b**2], rtol=1e-10)
    assert oful.squared_radii == pytest.approx((a + b) ** 2, rel=1e-10)


@pytest.mark.filterwarnings("ignore:.*no model explains:RuntimeWarning")
def test_fsoful_never_refutes_its_leader_and_never_plays_for_a_refuted_map():
    rng = np.random.default_rng(7)
    policy = FSOFUL(n_models=2, dim=1, noise=0.05, parameter_bound=2.0)
    for _ in range(60):
        x = rng.normal(size=(2, 1))
        policy.learn(x, float(x[0, 0]))
    assert policy.admissible.tolist() == [True, False]
    # the refuted map promises much for the second action, the other a little for the first
    assert policy.act([[[1.0], [-1.0]], [[0.0], [1e6]]]).action == 0


def test_fsoful_covers_by_any_model():
    policy = FSOFUL(n_models=2, dim=1, noise=0.1)
    for _ in range(50):
        policy.learn([[1.0], [-1.0]], 0.5)
    assert policy.covers([0.5])
    assert policy.covers([-0.5])
    assert [policy.covers([0.5], i) for i in (0, 1)] == [True, False]
    assert not policy.covers([0.9])
    with pytest.raises(ValueError, match="model: got None"):
        FSOFUL(n_models=2, dim=[1, 2]).covers([0.5])


@pytest.mark.parametrize("model", [-1, 3, 0.5, "0"])
def test_fsoful_covers_names_a_model_that_does_not_exist(model):
    with pytest.raises(ValueError, match="model"):
        FSOFUL(n_models=3, dim=2).covers([0.0, 0.0], model)
    with pytest.raises(ValueError, match="theta"):
        FSOFUL(n_models=3, dim=2).covers([0.0], 1)
