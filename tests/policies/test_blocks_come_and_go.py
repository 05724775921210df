"""Maps with blocks that come and go, and that forget, against maps with one wide parameter and against batch solves."""

import math

import numpy as np
import pytest
from test_members import POLICIES

from banditselect import FSIDS, FSTS, Blocked, Decision, LinIDS, LinMED, load
from banditselect.checks.game import snapshot
from banditselect.models.map_mixture import KNOWN_NOISE_SCALES, SCALES
from banditselect.models.mixture import FLAT
from blocks_by_hand import EXACT, Traffic, wide, with_level

DIMS, BLOCKS = (3, 2, 4), (1, 3, 2)
WIDTHS = [d * B for d, B in zip(DIMS, BLOCKS, strict=True)]


def compared(ours, theirs):
    """Compare two policies, one with blocks and one with wide parameters."""
    for what in ("model_weights", "squared_radii", "misspecified", "noise_estimate"):
        if hasattr(ours, what):
            np.testing.assert_allclose(getattr(ours, what), getattr(theirs, what), **EXACT, err_msg=what)
    estimates = list(ours.parameters) if isinstance(ours.parameters, list) else list(np.moveaxis(ours.parameters, 1, 0))
    for i, own in enumerate(estimates):
        own = own.reshape(len(own), -1)
        wanted = theirs.parameters[:, i, : own.shape[1]]
        np.testing.assert_allclose(own[:, : wanted.shape[1]], wanted, **EXACT)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [kind for kind in POLICIES if kind != "FSTS"])  # its draws are of another order
def test_blocks_come_and_go_as_one_wide_parameter(kind, tmp_path):
    """One map, then three, of which two have blocks; then the first goes, then the second; rewards come late."""
    ours = POLICIES[kind](n_models=1, dim=3, intercept=False, lanes=2, seed=1)
    theirs = POLICIES[kind](n_models=1, dim=3, intercept=False, lanes=2, seed=1)
    rng, waiting, there = np.random.default_rng(3), [], [0]

    def play(rounds):
        traffic = Traffic([DIMS[i] for i in there], [BLOCKS[i] for i in there], 2, seed=int(rng.integers(99)))
        for _ in range(rounds):
            values, block = traffic.draw()
            maps = [traffic.shown(values, block), traffic.wide(values, block, False)]
            maps = [m if isinstance(m, list) else [m] for m in maps]
            one, two = ours.act(maps[0]), theirs.act(maps[1])
            np.testing.assert_array_equal(one.action, two.action)
            if ours.has_propensity:
                np.testing.assert_allclose(ours.probabilities(maps[0]), theirs.probabilities(maps[1]), **EXACT)
            waiting.append((one, two, traffic.reward(values, block, one.action)))
            while len(waiting) > 3:
                learn(int(rng.integers(len(waiting))))

    def learn(k):
        one, two, y = waiting.pop(k)
        ours.update(Decision.from_dict(one.to_dict()), y)
        theirs.update(two, y)

    play(12)
    ours.add_models(DIMS[1:], blocks=BLOCKS[1:])
    theirs.add_models(WIDTHS[1:])
    there = [0, 1, 2]
    compared(ours, theirs)
    play(15)
    compared(ours, theirs)
    ours.save(tmp_path / "p.bsel")
    ours = load(tmp_path / "p.bsel")
    for gone in (0, 0):
        ours.retire_models(gone)
        theirs.retire_models(gone)
        there = there[1:]
        compared(ours, theirs)
        play(8)
    while waiting:
        learn(0)
    compared(ours, theirs)
    assert ours.settings["blocks"] == [2]
    ours.save(tmp_path / "p.bsel")
    assert snapshot(load(tmp_path / "p.bsel")) == snapshot(ours)


def data(rounds, seed=0):
    """Features and blocks of the actions played in every map, and rewards that the last map explains."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=(rounds, d)) for d in DIMS]
    blocks = [rng.integers(0, B, rounds) for B in BLOCKS]
    theta = rng.normal(size=(BLOCKS[-1], DIMS[-1]))
    return values, blocks, (values[-1] * theta[blocks[-1]]).sum(axis=1) + 0.3 * rng.normal(size=rounds)


def shown(values, blocks, rows, maps):
    found = [Blocked(values[i][rows], blocks[i][rows]) if BLOCKS[i] > 1 else values[i][rows] for i in maps]
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kind", POLICIES)
def test_blocks_to_which_everything_is_replayed_have_been_there_from_the_first(kind, intercept):
    values, blocks, y = data(25)
    policy = POLICIES[kind](n_models=1, dim=3, intercept=intercept)
    whole = POLICIES[kind](n_models=3, dim=DIMS, blocks=BLOCKS, intercept=intercept)
    for r in range(20):
        policy.learn(shown(values, blocks, r, [0]), y[r])
    policy.add_models(DIMS[1:], blocks=BLOCKS[1:], replay=(shown(values, blocks, slice(20), [1, 2]), y[:20]))
    for r in range(25):
        whole.learn(shown(values, blocks, r, [0, 1, 2]), y[r])
        if r >= 20:
            policy.learn(shown(values, blocks, r, [0, 1, 2]), y[r])
    np.testing.assert_allclose(policy.model_weights, whole.model_weights, rtol=1e-8, atol=1e-30)
    for what in ("parameters", "constants", "squared_radii"):
        for mine, theirs in zip(getattr(policy, what, ()), getattr(whole, what, ()), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_a_map_with_blocks_that_comes_late_pays_for_itself():
    """FSTS told the noise, with constants: the odds of the new map by batch solves of its share and what it cost."""
    R, t, values, blocks, y = 0.4, 12, *data(30, seed=1)
    policy, old = (FSTS(n_models=2, dim=3, noise=R) for _ in range(2))
    other = np.random.default_rng(7).normal(size=(30, 3))
    for r in range(t):
        for part in (policy, old):
            part.learn([values[0][r], other[r]], y[r])
    before = old.model.total_weight()[0]
    policy.add_models(2, blocks=3, prior_weights=0.1)
    np.testing.assert_allclose(policy.prior_weights, [0.45, 0.45, 0.1])
    np.testing.assert_allclose(policy.model_weights, [*0.9 * old.model_weights, 0.1], rtol=1e-10)
    for r in range(t, 30):
        policy.learn([values[0][r], other[r], Blocked(values[1][r], blocks[1][r])], y[r])
        old.learn([values[0][r], other[r]], y[r])
    size = policy.model.size[0, 2]  # the unit of the map, which has changed on the way
    z, centred = with_level(values[1][t:] / np.sqrt(size), blocks[1][t:], 3), y[t:] - y[0]
    log_likelihood = []
    for scale in KNOWN_NOISE_SCALES:
        precision = np.append(FLAT, np.full(9, 1.0 / scale))
        V = np.diag(precision) + z.T @ z
        theta = np.linalg.solve(V, z.T @ centred)
        logdet = np.linalg.slogdet(V)[1] - np.log(precision).sum()
        log_likelihood.append(-(centred @ centred - theta @ V @ theta) / (2 * R**2) - logdet / 2)
    late = np.logaddexp.reduce(log_likelihood) - math.log(len(KNOWN_NOISE_SCALES))
    odds = math.log(0.1 / 0.9) + late - (old.model.total_weight()[0] - before)
    assert math.log(policy.model_weights[2] / policy.model_weights[:2].sum()) == pytest.approx(odds, rel=1e-9)
    assert size > 100 * (values[1][t] ** 2).sum()


def test_what_is_refused_changes_nothing():
    policy = FSIDS(n_models=1, dim=3)
    values, blocks, y = data(6)
    for r in range(6):
        policy.learn([values[0][r]], y[r])
    before, words = snapshot(policy), repr(policy)
    played = Blocked(values[1], blocks[1])
    for expected, arguments in (
        ("blocks", {"blocks": 0}),
        ("blocks", {"blocks": [2, 2]}),
        ("replay", {"blocks": 3, "replay": (values[1], y)}),
        ("replay", {"replay": (played, y)}),
        ("replay", {"blocks": 3, "replay": (played._replace(block=blocks[1][:3]), y)}),
        ("from 0 to 1", {"blocks": 2, "replay": (played, y)}),
    ):
        with pytest.raises(ValueError, match=expected):
            policy.add_models(2, **arguments)
    assert snapshot(policy) == before
    assert repr(policy) == words


# Forgetting.

M = 12.0
GAMMA = 1.0 - 1.0 / M


def prior_after(rounds, d):
    """The prior left in one block: it fades in every round, and is given back in one direction of d."""
    left = np.ones(d)
    for t in range(rounds):
        left *= GAMMA
        left[t % d] = 1.0
    return left


@pytest.mark.parametrize("first", [1.0, 1e-3])
@pytest.mark.parametrize("constant", [False, True])
def test_blocks_that_forget_against_a_batch_solve(first, constant):
    """All blocks fade in every round. With a first feature a thousand times smaller the unit changes on the way."""
    rng = np.random.default_rng(0)
    x, block, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30), rng.normal(size=30)
    x[0] *= first / np.linalg.norm(x[0])
    policy = FSIDS(n_models=2, dim=[2, 3], blocks=[3, 1], intercept=constant, memory=M, lanes=2)
    other = rng.normal(size=(30, 3))
    for t in range(30):
        policy.learn([Blocked(x[t][None], block[t][None]), other[t][None]], y[t : t + 1], lanes=[1])
    mixture, d = policy.model, 2 + constant
    z = wide(x / np.sqrt(mixture.size[1, 0]), block, 3, constant)
    centred, weight = y - y[0] if constant else y, GAMMA ** np.arange(30)[::-1]
    assert mixture.bank.forgetting.seen.tolist() == [0.0, pytest.approx(weight.sum())]
    for k, scale in enumerate(SCALES):
        D = 3 + constant  # of the widest map, whose directions are counted
        prior = np.diag(np.tile(prior_after(30, D)[:d], 3) / scale)
        V = prior + (weight[:, None] * z).T @ z
        theta = np.linalg.solve(V, (weight * centred) @ z)
        J = (weight * (centred - z @ theta) ** 2).sum() + theta @ prior @ theta
        logdet = np.linalg.slogdet(V)[1] + z.shape[1] * math.log(scale)
        cells = slice(4 * k, 4 * k + 3)
        np.testing.assert_allclose(mixture.bank.theta[1, cells, :d].ravel(), theta, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(mixture.bank.penalised[1, 2 * k], J, rtol=1e-7)
        np.testing.assert_allclose(mixture.bank.logdet[1, 2 * k], logdet, rtol=1e-7, atol=1e-8)
        if constant:  # the level and its precision, by a solve with a column of ones
            dense = with_level(x / np.sqrt(mixture.size[1, 0]), block, 3)
            V = np.diag(np.append(FLAT, np.diag(prior))) + (weight[:, None] * dense).T @ dense
            information, moment, _ = mixture.level[1, :, 2 * k]
            inverse = np.linalg.inv(V)
            assert 1.0 / (FLAT + information) == pytest.approx(inverse[0, 0], rel=1e-7)
            assert moment / (FLAT + information) == pytest.approx(inverse[0] @ dense.T @ (weight * centred), rel=1e-6)


def test_a_block_that_is_not_played_is_forgotten_too(tmp_path):
    policy = LinIDS(dim=1, blocks=2, intercept=False, memory=10.0, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(60):
        policy.learn(Blocked([1.0], 0), 5.0 + rng.normal())
    assert policy.parameters[0, 0] == pytest.approx(5.0, abs=1.5)
    policy.save(tmp_path / "p.bsel")
    again = load(tmp_path / "p.bsel")
    for _ in range(200):
        y = rng.normal()
        for part in (policy, again):
            part.learn(Blocked([1.0], 1), y)
    assert abs(policy.parameters[0, 0]) < 0.01
    assert snapshot(again) == snapshot(policy)


# Minimum empirical divergence with constants of blocks.


@pytest.mark.parametrize("blocks", [3, 1])
def test_the_confidence_of_divergent_play_knows_no_level(blocks):
    """p = q f with beta from the logdet of V without the level of rewards; the design is uniform for few actions."""
    rng = np.random.default_rng(2)
    policy, d, K, t = LinMED(dim=2, blocks=blocks, noise=0.5, best_share=0.5), 2, 4, 9
    x, b, y = rng.normal(size=(t, d)), rng.integers(0, blocks, t), 3.0 + rng.normal(size=t)
    for r in range(t):
        policy.learn(Blocked(x[r], b[r]) if blocks > 1 else x[r], y[r])
    offer, of = rng.normal(size=(K, d)), np.arange(K) % blocks
    size = policy.model.size[0, 0]
    columns = with_level if blocks > 1 else lambda v, k, n: wide(v, k, n, True)
    Z, A = columns(x / np.sqrt(size), b, blocks), columns(offer / np.sqrt(size), of, blocks)
    centred, models, log_weight = y - y[0], [], []
    for scale in KNOWN_NOISE_SCALES:
        precision = np.append(FLAT, np.full(Z.shape[1] - 1, 1.0 / scale))
        V = np.diag(precision) + Z.T @ Z
        theta = np.linalg.solve(V, Z.T @ centred)
        logdet = np.linalg.slogdet(V)[1] - np.log(precision).sum()
        log_weight.append(-(centred @ centred - theta @ V @ theta) / (2 * 0.25) - logdet / 2)
        models.append((theta, np.linalg.inv(V), logdet - math.log1p(t / FLAT)))
    w = np.exp(np.array(log_weight) - max(log_weight))
    w /= w.sum()
    keep = w * w.size >= 1e-3
    models, w = [m for m, k in zip(models, keep, strict=True) if k], w[keep] / w[keep].sum()
    f = np.array([A @ theta for theta, _, _ in models])
    mean = w @ f
    best = int(mean.argmax())
    gap = mean[best] - mean
    spread = np.zeros(K)
    for share, own, (_, inverse, _) in zip(w, f, models, strict=True):
        apart = A - A[best]
        spread += share * (0.25 * np.einsum("aj,jk,ak->a", apart, inverse, apart) + (own[best] - own - gap) ** 2)
    beta = (math.sqrt(max(w @ [m[2] for m in models], 0.0) + 2.0 * math.log1p(t)) + 1.0) ** 2
    close = np.where(np.arange(K) == best, 1.0, np.exp(-(gap**2) / (beta * np.where(spread > 0, spread, 1.0))))
    q = np.full(K, 0.25 / K + 0.25 / K)
    q[best] += 0.5
    expected = q * close / (q * close).sum()
    shown = Blocked(offer, of) if blocks > 1 else offer
    np.testing.assert_allclose(policy.probabilities(shown), expected, **EXACT)
