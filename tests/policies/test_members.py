"""Models that come and go: what they weigh, by batch solves, and against policies that had them from the first."""

import math

import numpy as np
import pytest

from banditselect import FSIDS, FSMED, FSOFUL, FSTS, PSIDS, PSOFUL, PSTS, Decision, FSSquareCB, RegretBalancing, load
from banditselect.kernels.features import NO_BLOCK, Features
from banditselect.runtime.errors import ArgumentError
from banditselect.runtime.lanes import parts_of

K = 4


def data(rounds, widths, seed=0):
    """Return features of the actions played, one array ``(rounds, d_i)`` per map, and rewards of the last map."""
    rng = np.random.default_rng(seed)
    maps = [rng.normal(size=(rounds, width)) for width in widths]
    return maps, maps[-1].sum(axis=1) * 0.5 + 0.3 * rng.normal(size=rounds)


def teach(policy, maps, y, rows):
    for r in rows:
        policy.learn([m[r] for m in maps], y[r])


def losses(x, y, lam, variance):
    """Return L = J + R^2 logdet(V / lambda) of a ridge regression, by a batch solve."""
    V = lam * np.eye(x.shape[1]) + x.T @ x
    theta = np.linalg.solve(V, x.T @ y)
    J = ((y - x @ theta) ** 2).sum() + lam * theta @ theta
    return J + variance * (np.linalg.slogdet(V)[1] - x.shape[1] * math.log(lam))


def test_a_map_that_comes_late_is_taken_to_have_predicted_as_the_mixture():
    """Z is a sum over what was there; the new map has w Z, and pays for itself from then on. All by batch solves."""
    R, lam, t = 0.4, 2.0, 15
    maps, y = data(40, (3, 2, 4))
    policy = FSSquareCB(n_models=2, dim=[3, 2], noise=R, regularization=lam, reward_range=(-9.0, 9.0))
    teach(policy, maps[:2], y, range(t))
    policy.add_models(4)
    assert policy.model_weights[2] == pytest.approx(1 / 3, rel=1e-12)
    teach(policy, maps, y, range(t, 40))
    old = [losses(m, y, lam, R**2) for m in maps[:2]]
    Z = sum(math.exp(-losses(m[:t], y[:t], lam, R**2) / (2 * R**2)) / 2 for m in maps[:2])
    late = losses(maps[2][t:], y[t:], lam, R**2)
    weights = np.array(
        [math.exp(-loss / (2 * R**2)) / 2 * 2 / 3 for loss in old] + [Z / 3 * math.exp(-late / (2 * R**2))]
    )
    np.testing.assert_allclose(policy.model_weights, weights / weights.sum(), rtol=1e-9)
    mixture = -2 * R**2 * math.log(weights.sum()) + 2 * R**2 * math.log(Z)
    assert mixture <= late + 2 * R**2 * math.log(3) + 1e-9


def test_a_map_that_comes_late_takes_over_what_is_known_of_the_noise():
    maps, y = data(40, (3, 2, 4), seed=2)
    policy = FSIDS(n_models=2, dim=[3, 2])
    teach(policy, maps[:2], y, range(30))
    noise = policy.noise_estimate
    policy.add_models(4)
    assert policy.noise_estimate == pytest.approx(noise, rel=1e-12)
    assert policy.model_weights[2] == pytest.approx(1 / 3, rel=1e-12)
    np.testing.assert_array_equal(policy.parameters[2], np.zeros(4))


POLICIES = {
    "FSIDS": FSIDS.bind(),
    "FSIDS told": FSIDS.bind(noise=0.4, intercept=False),
    "FSMED": FSMED.bind(),
    "FSTS": FSTS.bind(),
    "FSOFUL": FSOFUL.bind(noise=0.4, intercept=True),
    "FSOFUL online": FSOFUL.bind(noise=0.4, likelihood="online"),
    "FSSquareCB": FSSquareCB.bind(noise=0.4, reward_range=(-9.0, 9.0), intercept=True),
    "FSSquareCB range": FSSquareCB.bind(weighting="range", reward_range=(-2.0, 2.0)),
    "FSSquareCB learned": FSSquareCB.bind(weighting="learned", reward_range=(-9.0, 9.0), intercept=True),
}


def test_some_rewards_teach_the_parameter_alone():
    maps, y = data(30, (3, 4), seed=4)
    policy, other = FSSquareCB(n_models=1, dim=3, noise=0.4), FSSquareCB(n_models=1, dim=4, noise=0.4)
    with pytest.warns(RuntimeWarning, match="outside reward_range"):
        teach(policy, maps[:1], y, range(30))
    with pytest.warns(RuntimeWarning, match="outside reward_range"):
        teach(other, maps[1:], y, range(10, 30))
    policy.add_models(4, replay=(maps[1][10:], y[10:]))
    np.testing.assert_allclose(policy.model_weights, [0.5, 0.5], rtol=1e-12)
    np.testing.assert_allclose(policy.parameters[1], other.parameters[0], rtol=1e-9)
    sets = FSOFUL(n_models=1, dim=3, noise=4.0)
    teach(sets, maps[:1], y, range(30))
    with pytest.raises(ValueError, match=r"add_models: replay: .* 30 rewards, those that were learned"):
        sets.add_models(4, replay=(maps[1][10:], y[10:]))


@pytest.mark.parametrize("form", [list, lambda maps: [m.tolist() for m in maps], np.stack])
def test_replayed_features_may_be_arrays_lists_or_one_array_of_as_many_rows_as_maps(form):
    maps, y = data(2, (3, 3, 3), seed=6)
    policy, whole = FSIDS(n_models=1, dim=3), FSIDS(n_models=3, dim=3)
    teach(policy, maps[:1], y, range(2))
    teach(whole, maps, y, range(2))
    for bad in (form(maps[1:])[:1], [[[1.0]], [[1.0]]], "maps"):
        with pytest.raises(ArgumentError, match="add_models: replay") as refused:
            policy.add_models([3, 3], replay=(bad, y))
        assert refused.value.argument == "replay"
    policy.add_models([3, 3], replay=(form(maps[1:]), y))
    np.testing.assert_allclose(policy.parameters, whole.parameters, rtol=1e-9, atol=1e-12)


def test_lanes_are_replayed_each_its_own():
    maps, y = data(16, (3, 4), seed=5)
    policy, whole = FSIDS(n_models=1, dim=3, lanes=2), FSIDS(n_models=2, dim=[3, 4], lanes=2)
    for r in range(16):  # lane 1 learns every second reward
        for lane in range(2 - r % 2):
            policy.learn([maps[0][r : r + 1]], [y[r]], lanes=[lane])
            whole.learn([m[r : r + 1] for m in maps], [y[r]], lanes=[lane])
    policy.add_models(4, replay=[(maps[1], y), (maps[1][::2], y[::2])])
    np.testing.assert_allclose(policy.model_weights, whole.model_weights, rtol=1e-8)
    policy.add_lanes(1)
    np.testing.assert_allclose(policy.model_weights[2], [0.5, 0.5])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", POLICIES)
def test_models_that_go_leave_their_weight_to_the_others(kind):
    maps, y = data(12, (3, 2, 4), seed=6)
    policy = POLICIES[kind](n_models=3, dim=[3, 2, 4])
    teach(policy, maps, y, range(12))
    weights, estimates, total = policy.model_weights, policy.parameters, policy.model.total_weight()
    if kind.startswith("FSOFUL"):
        radii = policy.squared_radii
    policy.retire_models([2])
    np.testing.assert_allclose(policy.model_weights, weights[:2] / weights[:2].sum(), rtol=1e-9)
    np.testing.assert_allclose(policy.parameters, estimates[:2, :3], rtol=1e-12)
    np.testing.assert_allclose(policy.model.total_weight(), total, rtol=1e-12)
    if kind.startswith("FSOFUL"):
        np.testing.assert_allclose(policy.squared_radii, radii[:2], rtol=1e-9)
    policy.add_models(4)
    assert policy.model_weights[2] == pytest.approx(1 / 3)
    np.testing.assert_allclose(policy.model.total_weight(), total, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [kind for kind in POLICIES if kind not in ("FSMED", "FSTS")])
def test_a_decision_of_earlier_maps_teaches_those_that_saw_it(kind):
    rng = np.random.default_rng(7)
    policy, twin = (POLICIES[kind](n_models=2, dim=[3, 2]) for _ in range(2))
    waiting = []
    for r in range(14):
        maps = [rng.normal(size=(K, width)) for width in (3, 2)]
        decision, same, y = policy.act(maps), twin.act(maps), rng.normal()
        assert decision.action == same.action
        if r < 10:
            policy.update(decision, y)
            twin.update(same, y)
        else:
            waiting.append((decision, same, y))
    policy.add_models(4)
    for decision, same, y in waiting[:2]:
        policy.update(Decision.from_dict(decision.to_dict()), y)
        twin.update(same, y)
    policy.update_many([w[0] for w in waiting[2:]], [w[2] for w in waiting[2:]])
    twin.update_many([w[1] for w in waiting[2:]], [w[2] for w in waiting[2:]])
    np.testing.assert_allclose(policy.model_weights, [*twin.model_weights * 2 / 3, 1 / 3], rtol=1e-9)
    np.testing.assert_allclose(policy.parameters[:2, :3], twin.parameters, rtol=1e-12)
    np.testing.assert_array_equal(policy.parameters[2], np.zeros(4))
    fresh = dict(parts_of(POLICIES[kind](n_models=3, dim=[3, 2, 4])))
    for way, part in parts_of(policy):
        if way.endswith("bank"):
            np.testing.assert_array_equal(part.theta[:, 2::3], fresh[way].theta[:, 2::3])
    assert policy.rounds == 14
    with pytest.raises(ValueError, match="already has a reward"):
        policy.update(waiting[0][0], 1.0)


def test_a_decision_that_no_map_saw_is_settled():
    policy = FSIDS(n_models=1, dim=2)
    decision = policy.act([np.ones((K, 2))])
    policy.add_models(3)
    policy.retire_models(0)
    policy.update(decision, 1.0)
    assert policy.rounds == 0
    assert policy.has_learned(decision)
    with pytest.raises(ValueError, match="already has a reward"):
        policy.update(decision, 1.0)


def test_decisions_of_copies_and_of_the_future():
    policy = FSIDS(n_models=2, dim=2, seed=1)
    copy = policy.fork("shop")
    decision = copy.act(np.ones((2, K, 2)))
    policy.add_models(2)
    policy.update(decision, 0.5)
    assert policy.rounds == 1
    with pytest.raises(ValueError, match=r"decision: generation: got 1, expected at most 0"):
        copy.update(policy.act(np.ones((3, K, 2))), 0.5)
    assert policy.fork(copy).act(np.ones((3, K, 2))).number == 1


def test_the_aggregate_of_the_range_is_as_good_as_a_late_expert_but_for_its_share():
    """SqAlg on [0, 1]: from its entry on, the loss exceeds that of any expert by at most log(M) / 2."""
    rng = np.random.default_rng(8)
    policy = FSSquareCB(n_models=2, dim=3, weighting="range", regularization=0.1)
    x = rng.normal(size=(3, 60, 3))
    y = np.clip(0.5 + 0.2 * x[2].sum(axis=1) + 0.05 * rng.normal(size=60), 0.0, 1.0)
    spent, own = 0.0, 0.0
    for t in range(60):
        if t == 20:
            policy.add_models(3)
        maps = x[: policy.n_models, t, None]
        prediction = policy.model.predict(np.zeros(1, dtype=np.int64), Features(maps[None].copy(), NO_BLOCK))[0, 0]
        if t >= 20:
            spent += (prediction - y[t]) ** 2
            own += (np.clip(x[2, t] @ policy.parameters[2], 0.0, 1.0) - y[t]) ** 2
        policy.learn(maps[:, 0], y[t])
    assert spent <= own + 0.5 * math.log(3) + 1e-9
    assert policy.model_weights[2] > 0.5


def test_sets_hold_the_parameter_of_a_map_that_comes_late():
    """400 lanes at delta = 0.05: more than 45 failures have probability below 1e-6."""
    rng = np.random.default_rng(9)
    N, theta = 400, np.array([0.6, -0.6])
    policy = FSOFUL(n_models=2, dim=2, noise=0.5, delta=0.05, lanes=N, seed=2)
    held = np.ones(N, dtype=bool)
    for t in range(60):
        if t == 20:
            policy.add_models(2)
        x = rng.normal(size=(N, 3, K, 2))
        decision = policy.act(np.ascontiguousarray(x[:, : policy.n_models]))
        mean = x[np.arange(N), 2, decision.action] @ theta if t >= 20 else 0.5 * rng.choice([-1.0, 1.0], N)
        policy.update(decision, mean + 0.5 * rng.choice([-1.0, 1.0], N))
        if t >= 20:
            held &= policy.covers(theta, model=2)
    assert (~held).sum() <= 45
    assert policy.model_weights[:, 2].mean() > 0.9


CENTERS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.5]])
NEW = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
SHAPES = np.stack([np.diag([1.0, 2.0, 0.5])] * 5)
REGIONS = {
    "PSIDS": (PSIDS, {"radii": 0.2}, {}),
    "PSIDS told": (PSIDS, {"radii": [0.2, 0.1, 0.0], "noise": 0.3}, {"radii": [0.3, 0.0]}),
    "PSIDS shapes": (PSIDS, {"radii": 0.3, "intercept": True, "shapes": SHAPES[:3]}, {"shapes": SHAPES[3:]}),
    "PSTS lanes": (PSTS, {"radii": 0.2, "lanes": 2}, {}),
    "PSOFUL": (PSOFUL, {"radii": [0.2, 0.3, 0.0], "noise": 0.3}, {"radii": [0.4, 0.0]}),
    "PSOFUL intercept": (PSOFUL, {"radii": 0.5, "noise": 0.3, "intercept": True}, {}),
}


@pytest.mark.parametrize("kind", REGIONS)
def test_a_region_that_comes_late_has_been_there_from_the_first(kind):
    cls, arguments, added = REGIONS[kind]
    joined = {name: [*arguments[name], *value] for name, value in added.items()}
    policy, whole = cls(centers=CENTERS, **arguments), cls(centers=np.vstack([CENTERS, NEW]), **arguments | joined)
    some = {name: np.array(value)[[1, 3, 4]] for name, value in joined.items()}
    fewer = cls(centers=np.vstack([CENTERS[1:2], NEW]), **arguments | some)
    rng, front = np.random.default_rng(10), (2,) if "lanes" in arguments else ()
    for _ in range(25):
        x = rng.normal(size=(*front, 3))
        y = x @ [0.4, 0.6, 0.0] + 0.3 * rng.normal(size=front)
        for part in (policy, whole, fewer):
            part.learn(x, y)
    policy.add_models(NEW, **added)
    for name in ("model_weights", "parameters", "constants", "squared_radii", "noise_estimate"):
        if hasattr(whole, name):
            np.testing.assert_allclose(getattr(policy, name), getattr(whole, name), rtol=1e-8, atol=1e-10, err_msg=name)
    policy.retire_models([0, 2])
    np.testing.assert_allclose(policy.model_weights, fewer.model_weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(policy.parameters, fewer.parameters, rtol=1e-8, atol=1e-10)
    assert np.shape(policy.centers) == (3, 3)


def test_the_online_loss_of_a_late_region_is_that_of_the_mixture():
    policy = PSOFUL(centers=CENTERS, radii=0.5, noise=0.3, likelihood="online")
    rng = np.random.default_rng(11)
    for x in rng.normal(size=(15, 3)):
        policy.learn(x, x @ [0.4, 0.6, 0.0] + 0.3 * rng.normal())
    before = policy.model_weights
    policy.add_models(NEW)
    np.testing.assert_allclose(policy.model_weights, [*before * 3 / 5, 0.2, 0.2], rtol=1e-9)


def test_known_parameters_cannot_tell_what_they_learned():
    policy, fewer = PSTS(centers=CENTERS, radii=0.0, noise=0.3), PSTS(centers=CENTERS[1:], radii=0.0, noise=0.3)
    for x in np.random.default_rng(12).normal(size=(9, 3)):
        policy.learn(x, x.sum())
        fewer.learn(x, x.sum())
    with pytest.raises(ValueError, match="known parameters"):
        policy.add_models(NEW)
    policy.retire_models(0)
    np.testing.assert_allclose(policy.model_weights, fewer.model_weights, rtol=1e-12)


def test_what_is_refused_changes_nothing():
    maps, y = data(5, (3, 3))
    policy = FSOFUL(n_models=2, dim=3, regularization=[1.0, 2.0], noise=0.3)
    teach(policy, maps, y, range(5))
    before = {way: part.learned() for way, part in parts_of(policy)}
    for words, call in (
        ("dim", lambda: policy.add_models(0)),
        ("regularization: got None, expected one for each new model", lambda: policy.add_models(2)),
        ("regularization", lambda: policy.add_models(2, regularization=[1.0, 2.0])),
        ("prior_weights", lambda: policy.add_models(2, regularization=1.0, prior_weights=0.5)),
        ("replay", lambda: policy.add_models(2, regularization=1.0, replay=(maps[0], y))),
        ("which", lambda: policy.retire_models([0, 1])),
        ("which", lambda: policy.retire_models(2)),
        ("which", lambda: policy.retire_models([0, 0])),
        ("which", lambda: policy.retire_models([])),
        ("which", lambda: policy.retire_models(0.5)),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert repr(policy) == "FSOFUL(n_models=2, dim=3, noise=0.3, regularization=[1.0, 2.0])"
    for way, part in parts_of(policy):
        assert all(np.array_equal(part.learned()[name], array) for name, array in before[way].items())
    with pytest.raises(ValueError, match=r"prior_weights: .*sum < 1"):
        FSIDS(n_models=2, dim=3).add_models(3, prior_weights=1.0)
    with pytest.raises(ValueError, match=r"shapes: got .*None, as for the other"):
        PSIDS(centers=CENTERS).add_models(NEW, shapes=SHAPES[3:])
    base = RegretBalancing(bases=[FSIDS(n_models=2, dim=3)]).bases[0]
    with pytest.raises(ValueError, match="not part of another"):
        base.add_models(3)


def test_settings_follow(tmp_path):
    policy = FSOFUL(n_models=2, dim=3, regularization=[1.0, 2.0], noise=0.3)
    policy.add_models([3, 5], regularization=[3.0, 4.0])
    assert repr(policy) == "FSOFUL(n_models=4, dim=[3, 3, 3, 5], noise=0.3, regularization=[1.0, 2.0, 3.0, 4.0])"
    policy.retire_models([1, 3])
    assert repr(policy) == "FSOFUL(n_models=2, dim=[3, 3], noise=0.3, regularization=[1.0, 3.0])"
    policy.save(tmp_path / "p.bsel")
    again = load(tmp_path / "p.bsel")
    assert again._changes == policy._changes
    lanes = PSIDS(centers=np.stack([CENTERS, -CENTERS]), radii=[0.1, 0.2, 0.3], lanes=2)
    lanes.add_models(NEW, radii=0.4)
    assert lanes.centers.shape == (2, 5, 3)
    np.testing.assert_array_equal(lanes.radii, [0.1, 0.2, 0.3, 0.4, 0.4])
    with pytest.raises(AttributeError, match="is a setting"):
        policy.n_models = 3
