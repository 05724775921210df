"""Regressions that forget, against batch solves with the weights written out."""

import math
import re

import numpy as np
import pytest

from banditselect import FSIDS, FSTS, OFUL, PSIDS, PSTS, Blocked, FSSquareCB, LinIDS, LinTS, SquareCB
from banditselect.models.forgetting import Forgetting
from banditselect.models.map_mixture import SCALES
from banditselect.models.mixture import FLAT

M = 12.0
GAMMA = 1.0 - 1.0 / M


def prior_after(rounds, d, gamma=GAMMA):
    """Return what is left of the prior: it fades in every round, and is given back in one direction after the other."""
    left = np.ones(d)
    for t in range(rounds):
        left *= gamma
        left[t % d] = 1.0
    return left


def solve(x, y, prior, center, Lambda, gamma=GAMMA):
    """Return theta, J and logdet(V Lambda^-1) of rewards that count gamma^age and a prior about a centre."""
    weight = gamma ** np.arange(len(y))[::-1]
    V = prior + (weight[:, None] * x).T @ x
    theta = np.linalg.solve(V, prior @ center + (weight * y) @ x)
    J = (weight * (y - x @ theta) ** 2).sum() + (theta - center) @ prior @ (theta - center)
    return theta, J, np.linalg.slogdet(V)[1] - np.linalg.slogdet(Lambda)[1]


@pytest.mark.parametrize("first", [1.0, 1e-3])
@pytest.mark.parametrize("constant", [False, True])
def test_maps_against_a_batch_solve(first, constant):
    """With a first feature a thousand times smaller the unit changes on the way: so does all that was learned."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    x[0] *= first / np.linalg.norm(x[0])
    policy = FSIDS(n_models=2, dim=[3, 2], intercept=constant, memory=M)
    for t in range(30):
        policy.learn([x[t], x[t, :2]], y[t])
    mixture, d = policy.model, 3 + constant
    assert mixture.bank.forgetting.seen[0] == pytest.approx((GAMMA ** np.arange(30)).sum())
    z = np.hstack([np.ones((30, int(constant))), x / np.sqrt(mixture.size[0, 0])])
    centred = y - y[0] if constant else y
    for k, scale in enumerate(SCALES):
        Lambda = np.full(d, 1.0 / scale)
        Lambda[: int(constant)] = FLAT
        prior = np.diag(Lambda * prior_after(30, d))
        theta, J, logdet = solve(z, centred, prior, np.zeros(d), np.diag(Lambda))
        np.testing.assert_allclose(mixture.bank.theta[0, 2 * k], theta, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(mixture.bank.penalised[0, 2 * k], J, rtol=1e-7)
        np.testing.assert_allclose(mixture.bank.logdet[0, 2 * k], logdet, rtol=1e-7, atol=1e-9)
    mean = (GAMMA ** np.arange(30)[::-1] * centred).sum() / mixture.bank.forgetting.seen[0]
    assert mixture.moments[0, 1] == pytest.approx(mean if constant else 0.0)


def test_regions_against_a_batch_solve():
    rng = np.random.default_rng(1)
    centers, spread = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 3))
    shapes = spread @ spread.swapaxes(1, 2) + np.eye(3)
    x, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    policy = PSIDS(centers=centers, radii=0.7, shapes=shapes, noise=0.5, memory=M)
    for t in range(25):
        policy.learn(x[t], y[t])
    for i in range(2):
        Lambda = np.exp2(np.round(np.log2(3 * 0.25) - 2 * np.log2(0.7))) * np.linalg.inv(shapes[i])
        factor = policy.model.bank.forgetting.factor[0, i]  # any that spans the prior would do
        np.testing.assert_allclose(factor @ factor.T, Lambda, rtol=1e-9)
        prior = (factor * prior_after(25, 3)) @ factor.T
        theta, J, logdet = solve(x, y, prior, centers[i], Lambda)
        np.testing.assert_allclose(policy.parameters[i], theta, rtol=1e-9)
        np.testing.assert_allclose(policy.model.bank.penalised[0, i], J, rtol=1e-9)
        np.testing.assert_allclose(policy.model.bank.logdet[0, i], logdet, rtol=1e-9)


def ellipsoid(x, lam, R=0.4, S=2.0, delta=0.1):
    """Return V, the matrix of the squared weights, and beta after these features, by their definitions."""
    t, d = x.shape
    age = np.arange(t)[::-1]
    V = lam * np.diag(prior_after(t, d)) + (GAMMA**age * x.T) @ x
    W = lam * np.eye(d) + (GAMMA ** (2 * age) * x.T) @ x
    union = math.log(t * (t + 1)) if t else 0.0
    logdet = np.linalg.slogdet(W / lam)[1]
    return V, W, R * math.sqrt(logdet + 2.0 * (math.log(1.0 / delta) + union)) + math.sqrt(lam) * S


@pytest.mark.parametrize("constant", [False, True])
def test_the_ellipsoid_against_its_definition(constant):
    rng, d = np.random.default_rng(5), 3 + constant
    x, y, offers = rng.normal(size=(25, d)), rng.normal(size=25), rng.normal(size=(8, 6, d))
    x[:, : int(constant)] = offers[..., : int(constant)] = 1.0
    policy = OFUL(dim=3, noise=0.4, parameter_bound=2.0, delta=0.1, regularization=0.3, intercept=constant, memory=M)
    spent = 0.0
    for t in range(25):
        V, W, beta = ellipsoid(x[:t], 0.3)
        assert policy.squared_radii == pytest.approx(beta**2, rel=1e-9)
        inverse = np.linalg.inv(V)
        reach = inverse @ W @ inverse
        spent += 2.0 * beta * math.sqrt(x[t] @ reach @ x[t])
        policy.learn(x[t, int(constant) :], y[t])
        assert policy.regret_bound == pytest.approx(spent, rel=1e-9)
    V, W, beta = ellipsoid(x, 0.3)
    weight = GAMMA ** np.arange(25)[::-1]
    theta = np.linalg.solve(V, (weight * y) @ x)
    np.testing.assert_allclose(np.append(policy.constant, policy.parameters)[1 - constant :], theta, rtol=1e-9)
    inverse = np.linalg.inv(V)
    reach = inverse @ W @ inverse
    for offer in offers:
        upper = offer @ theta + beta * np.sqrt(np.einsum("ki,ij,kj->k", offer, reach, offer))
        assert policy.probabilities(offer[:, int(constant) :])[upper.argmax()] == 1.0
        edge = theta + beta * np.linalg.cholesky(reach) @ (offer[0] / np.linalg.norm(offer[0]))
        assert policy.covers(theta + (1.0 - 1e-9) * (edge - theta))
        assert not policy.covers(theta + (1.0 + 1e-9) * (edge - theta))


def test_the_ellipsoid_holds_a_parameter_at_length():
    """It may leave the set in half of 2,000 lanes; 1,090 are four standard deviations more, and a false alarm 4e-5."""
    rng, lanes = np.random.default_rng(6), 2000
    policy = OFUL(dim=2, noise=0.5, parameter_bound=0.2, delta=0.5, memory=5.0, lanes=lanes)
    theta = rng.normal(size=(lanes, 2))
    theta *= 0.2 / np.linalg.norm(theta, axis=1, keepdims=True)
    left = np.zeros(lanes, dtype=bool)
    for _ in range(200):
        x = rng.normal(size=(lanes, 2))
        policy.learn(x, (x * theta).sum(axis=1) + 0.5 * rng.normal(size=lanes))
        left |= ~policy.covers(theta)
    assert left.sum() <= 1090


def test_features_of_any_size_leave_the_ellipsoid_finite():
    policy = OFUL(dim=3, memory=4.0)
    for size in (1e9, 1e-9, 1.0, 1e12):
        for row in size * np.eye(3):
            policy.learn(row + size, 1.0)
        assert np.isfinite(policy.squared_radii)
        assert policy.covers(policy.parameters)


@pytest.mark.parametrize("make", [LinTS.bind(dim=3, regularization=0.6), SquareCB.bind(dim=3, regularization=0.6)])
def test_one_ridge_against_a_batch_solve(make):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(20, 3)), rng.uniform(size=20)
    policy = make(memory=M)
    for t in range(20):
        policy.learn(x[t], y[t])
    prior = 0.6 * np.diag(prior_after(20, 3))
    theta, _, _ = solve(x, y, prior, np.zeros(3), 0.6 * np.eye(3))
    np.testing.assert_allclose(policy.parameters, theta, rtol=1e-9)
    bank = policy.model if isinstance(policy, LinTS) else policy.model.bank
    V = prior + (GAMMA ** np.arange(20)[::-1] * x.T) @ x
    np.testing.assert_allclose(bank.precision_of(0, 0), V, rtol=1e-9)


@pytest.mark.parametrize("exploration", [7.0, lambda t: 7.0 * math.sqrt(t)])
def test_the_rate_counts_the_rewards_that_are_remembered(exploration):
    policy = SquareCB(dim=1, exploration=exploration, reward_range=(0.0, 2.0), memory=M)
    for _ in range(40):
        policy.learn([1.0], 1.5)
    alpha = 7.0 / 2.0 * math.sqrt((1.0 - GAMMA**40) / (1.0 - GAMMA))
    gap = policy.parameters[0] * 0.5
    assert policy.probabilities([[1.0], [0.5]])[1] == pytest.approx(1.0 / (2.0 + alpha * gap), rel=1e-9)
    assert policy.rounds == 40


def of_maps(x, y, R, gamma=GAMMA):
    """Return predictions ``(T, M)`` made before each reward, and the evidence of ridges of penalty 1."""
    T, models, d = x.shape
    f, loss = np.zeros((T, models)), np.zeros(models)
    for i in range(models):
        for t in range(1, T + 1):
            prior = np.diag(prior_after(t, d, gamma))
            theta, J, logdet = solve(x[:t, i], y[:t], prior, np.zeros(d), np.eye(d), gamma)
            loss[i] = J + R**2 * logdet
            if t < T:
                f[t, i] = x[t, i] @ theta
    return f, loss


@pytest.fixture
def two_maps():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(30, 2, 3))
    return x, np.clip(0.5 + 0.2 * x[:, 0].sum(axis=1) + 0.1 * rng.normal(size=30), 0.0, 1.0)


def taught(x, y, **options):
    policy = FSSquareCB(n_models=2, dim=3, regularization=1.0, noise=0.3, **options)
    for t in range(len(y)):
        policy.learn(x[t], y[t])
    return policy.model_weights


def test_weights_by_evidence_fade(two_maps):
    x, y = two_maps
    _, loss = of_maps(x, y, 0.3)
    weight = np.exp(-(loss - loss.min()) / (2.0 * 0.3**2))
    np.testing.assert_allclose(taught(x, y, memory=M), weight / weight.sum(), rtol=1e-7)


def test_weights_of_sqalg_fade(two_maps):
    x, y = two_maps
    f, _ = of_maps(x, y, 0.3)
    loss = (GAMMA ** np.arange(1, 31)[::-1, None] * (np.clip(f, 0.0, 1.0) - y[:, None]) ** 2).sum(axis=0)
    weight = np.exp(-2.0 * loss)
    np.testing.assert_allclose(taught(x, y, weighting="range", memory=M), weight / weight.sum(), rtol=1e-9)


@pytest.mark.parametrize("memory", [None, M])
def test_weights_of_sqalg_are_shared(two_maps, memory):
    """With a memory the regressions forget, and the weights only as they are shared."""
    x, y = two_maps
    f, _ = of_maps(x, y, 0.3, 1.0 if memory is None else GAMMA)
    weight = np.array([0.5, 0.5])
    for t in range(30):
        weight *= np.exp(-2.0 * (np.clip(f[t], 0.0, 1.0) - y[t]) ** 2)
        weight = 0.9 * weight + 0.1 * weight[::-1]
    found = taught(x, y, weighting="range", share=0.1, memory=memory)
    np.testing.assert_allclose(found, weight / weight.sum(), rtol=1e-9)


CHANGING = [
    *((cls.bind(n_models=2, dim=3, memory=50), 0.99) for cls in (FSIDS, FSTS)),
    (PSTS.bind(centers=np.eye(3), radii=0.1, memory=30), 0.9),
    *(
        (FSSquareCB.bind(n_models=2, dim=3, reward_range=(-6.0, 6.0), **options), 0.7)  # wide, so a reward teaches less
        for options in (
            {"noise": 0.5, "memory": 50},
            {"weighting": "learned", "memory": 50},
            {"weighting": "range", "memory": 50},
            {"weighting": "range", "memory": 50, "share": 0.01},
            {"weighting": "range", "share": 0.01},
        )
    ),
]


@pytest.mark.parametrize(("make", "least"), CHANGING)
def test_a_model_comes_back(make, least):
    """The first model is true for 300 rounds, then the second, then the first again: its weight follows."""
    rng, policy = np.random.default_rng(3), make(lanes=2, seed=0)
    regions = "centers" in make.arguments
    for phase in (0, 1, 0):
        for _ in range(300):
            decision = policy.act(rng.normal(size=(2, 5, 3) if regions else (2, 2, 5, 3)))
            means = decision.features[:, phase] if regions else decision.features[:, phase].sum(axis=1)
            policy.update(decision, np.clip(means + 0.5 * rng.normal(size=2), -6.0, 6.0))
        assert (policy.model_weights[:, phase] > least).all()


def test_what_is_left_of_the_prior():
    bank = LinIDS(dim=3, intercept=False).model.bank
    fading = Forgetting(M, bank.root, bank.theta)
    for t in (0, 1, 2, 3, 4, 11):
        np.testing.assert_allclose(fading.prior_left(t), prior_after(t, 3))


BOUNDS = {"feature_bound": 1.0, "reward_bound": 1.0, "parameter_bound": 1.0, "horizon": 9}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *((OFUL.bind(dim=2, memory=m), f"OFUL: memory: got {m!r}, expected a finite number > 1") for m in (1.0, -3.0)),
        (OFUL.bind(dim=2, blocks=2, memory=9.0), "OFUL: blocks: got 2, expected 1, since memory was given"),
        (SquareCB.bind(dim=2, exploration="paper", memory=9.0, **BOUNDS), "SquareCB: memory: got 9.0, expected None"),
        (
            FSSquareCB.bind(n_models=2, dim=2, weighting="corrected", exploration="corrected", memory=9.0, **BOUNDS),
            "FSSquareCB: memory: got 9.0, expected None",
        ),
        (
            FSSquareCB.bind(n_models=2, dim=2, weighting="paper", share=0.1, **BOUNDS),
            "FSSquareCB: share: got 0.1, expected 0.0",
        ),
        (FSSquareCB.bind(n_models=2, dim=2, share=0.1), 'share: got 0.1, expected 0, or weighting="range"'),
        (FSSquareCB.bind(n_models=2, dim=2, weighting="range", share=1.0), "share: got 1.0, expected a finite number"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(lanes=None, seed=0)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (FSIDS(n_models=2, dim=2, memory=9.0), "memory has to be None"),
        (FSSquareCB(n_models=2, dim=2, memory=9.0), "memory has to be None"),
        (FSSquareCB(n_models=2, dim=2, weighting="range", share=0.1), "share has to be 0"),
    ],
)
def test_no_models_come_or_go_where_what_was_learned_fades(policy, expected):
    for change in (lambda: policy.add_models(2), lambda: policy.retire_models(0)):
        with pytest.raises(ValueError, match=rf"its models cannot come and go: .*{expected}"):
            change()


@pytest.mark.parametrize(
    "make", [LinTS.bind(dim=2), SquareCB.bind(dim=2), FSSquareCB.bind(n_models=1, dim=2, regularization=1.0)]
)
def test_a_block_forgets_as_one_that_is_alone_and_sees_nothing_in_the_rounds_of_the_others(make):
    rng = np.random.default_rng(3)
    many = "n_models" in make.arguments
    together, alone = make(blocks=3, memory=M, seed=0), [make(memory=M, seed=0) for _ in range(3)]
    for _ in range(40):
        x, block, y = rng.normal(size=(1, 2)), rng.integers(3, size=1), rng.uniform()
        offered = Blocked(x, block)
        together.update(together.act([offered] if many else offered), y)
        for b, policy in enumerate(alone):
            seen = x * (b == block[0])
            policy.update(policy.act(seen[None] if many else seen), y * (b == block[0]))
    estimates = together.parameters[0] if many else together.parameters
    for b, policy in enumerate(alone):
        np.testing.assert_allclose(estimates[b], policy.parameters[0] if many else policy.parameters, atol=1e-9)
