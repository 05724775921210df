"""Regressions that forget, against batch solves with the weights written out."""

import numpy as np
import pytest

from banditselect import FSIDS, FSTS, PSIDS, PSTS, LinIDS, load
from banditselect.parts.forgetting import Forgetting
from banditselect.parts.mixtures import FLAT, SCALES

M = 12.0
GAMMA = 1.0 - 1.0 / M


def prior_after(rounds, d):
    """Return what is left of the prior: it fades in every round, and is given back in one direction after the other."""
    left = np.ones(d)
    for t in range(rounds):
        left *= GAMMA
        left[t % d] = 1.0
    return left


def solve(x, y, prior, center, Lambda):
    """Return theta, J and logdet(V Lambda^-1) of rewards that count gamma^age and a prior about a centre."""
    weight = GAMMA ** np.arange(len(y))[::-1]
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
    mixture, d = policy._mixture, 3 + constant
    assert mixture.forgetting.seen[0] == pytest.approx((GAMMA ** np.arange(30)).sum())
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
    mean = (GAMMA ** np.arange(30)[::-1] * centred).sum() / mixture.forgetting.seen[0]
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
        factor = policy._mixture.forgetting.factor[0, i]  # any that spans the prior would do
        np.testing.assert_allclose(factor @ factor.T, Lambda, rtol=1e-9)
        prior = (factor * prior_after(25, 3)) @ factor.T
        theta, J, logdet = solve(x, y, prior, centers[i], Lambda)
        np.testing.assert_allclose(policy.parameters[i], theta, rtol=1e-9)
        np.testing.assert_allclose(policy._mixture.bank.penalised[0, i], J, rtol=1e-9)
        np.testing.assert_allclose(policy._mixture.bank.logdet[0, i], logdet, rtol=1e-9)


@pytest.mark.parametrize("make", [LinIDS.bind(dim=2), PSIDS.bind(centers=np.eye(2), radii=[0.3, 0.0])])
def test_a_long_memory_is_all_but_none(make):
    rng = np.random.default_rng(2)
    policy, other = make(seed=1), make(memory=1e12, seed=1)
    for _ in range(50):
        x, y = rng.normal(size=(4, 2)), rng.normal()
        one, two = policy.act(x), other.act(x)
        assert one.action == two.action
        assert one.probability == pytest.approx(two.probability, rel=1e-6)
        policy.update(one, y)
        other.update(two, y)
    np.testing.assert_allclose(policy.parameters, other.parameters, rtol=1e-6)


@pytest.mark.parametrize("cls", [FSIDS, FSTS])
def test_a_model_comes_back(cls):
    """The first map is true for 300 rounds, then the second, then the first again: its weight follows."""
    rng = np.random.default_rng(3)
    policy, never = cls(n_models=2, dim=3, memory=50, seed=0), cls(n_models=2, dim=3, seed=0)
    for phase in (0, 1, 0):
        for _ in range(300):
            maps = rng.normal(size=(2, 5, 3))
            for part in (policy, never):
                decision = part.act(maps)
                part.update(decision, decision.features[phase].sum() + 0.5 * rng.normal())
        assert policy.model_weights[phase] > 0.99
    assert never.model_weights[0] < 0.99 or never.noise_estimate > 2.0 * policy.noise_estimate


def test_a_region_comes_back_in_lanes_and_files(tmp_path):
    rng = np.random.default_rng(4)
    policy = PSTS(centers=np.eye(3), radii=0.1, memory=30, lanes=2)
    for phase in (0, 1, 0):
        for _ in range(150):
            decision = policy.act(rng.normal(size=(2, 5, 3)))
            policy.update(decision, decision.features[:, phase] + 0.3 * rng.normal(size=2))
        assert (policy.model_weights[:, phase] > 0.9).all()
    policy.add_lanes(1)
    policy.save(tmp_path / "p.bsel")
    again = load(tmp_path / "p.bsel")
    x = rng.normal(size=(3, 5, 3))
    assert again.act(x) == policy.act(x)
    np.testing.assert_array_equal(again._mixture.forgetting.seen, policy._mixture.forgetting.seen)


def test_what_is_left_of_the_prior():
    fading = Forgetting(LinIDS(dim=3, intercept=False)._mixture.bank, M)
    for t in (0, 1, 2, 3, 4, 11):
        np.testing.assert_allclose(fading.prior_left(t), prior_after(t, 3))


def test_what_is_refused():
    for memory in (1.0, 0, -3.0, "long", np.nan):
        with pytest.raises(ValueError, match="LinIDS: memory: got"):
            LinIDS(dim=2, memory=memory)
    with pytest.raises(ValueError, match=r"FSIDS: memory: got 9.0, expected None: models come and go"):
        FSIDS(n_models=2, dim=2, memory=9.0).add_models(2)
