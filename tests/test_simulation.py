"""The synthetic problems and the loop: what is drawn, what is counted, and what it does not depend on."""

import numpy as np
import pytest
from scipy import stats

from banditselect import (
    OFUL,
    PSOFUL,
    BiasOFUL,
    FSSquareCB,
    LinTS,
    Result,
    SquareCB,
    Uniform,
    given,
    on_map,
    simulate,
)
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.simulation import loop

FS = SyntheticFeatureSelection(n_models=3, dim=4, n_actions=5, n_items=50)
PS = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5)

FS_POLICIES = {
    "scb": on_map(SquareCB.bind(reward_range=given.reward_range), 0),
    "fs": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
    "ts": on_map(LinTS.bind(), 1),
    "uniform": Uniform.bind(),
}
PS_POLICIES = {
    "ps": PSOFUL.bind(centers=given.centers, radii=given.radii, noise=given.noise),
    "oful": OFUL.bind(parameter_bound=given.parameter_bound, noise=given.noise),
    "bias": BiasOFUL.bind(center=given.center, radius=given.radii),
    "uniform": Uniform.bind(),
}


# Problems


@pytest.mark.parametrize("problem", [FS, PS], ids=["features", "parameters"])
def test_an_instance_depends_on_seed_and_lane_only(problem):
    many, one = problem.draw(range(2, 5), 6, seed=7), problem.draw(range(3, 4), 6, seed=7)
    other = problem.draw(range(3, 4), 6, seed=8)
    action = np.array([1])
    for t in range(6):
        np.testing.assert_array_equal(many.features(t)[1:2], one.features(t))
        np.testing.assert_array_equal(many.means(t)[1:2], one.means(t))
        np.testing.assert_array_equal(many.rewards(t, np.array([0, 1, 2]))[1:2], one.rewards(t, action))
        assert not np.array_equal(other.features(t), one.features(t))
        assert not np.array_equal(many.features(t)[0], many.features(t)[1])
    for name, value in many.constants.items():
        if np.ndim(value) and np.shape(value)[0] == 3 and name != "reward_range":
            np.testing.assert_array_equal(value[1:2], one.constants[name])


def test_feature_selection_has_the_means_and_constants_that_it_says():
    instances = FS.draw(range(4), 30, seed=0)
    assert FS.shapes == {"n_models": 3, "dim": 4}
    constants = instances.constants
    assert constants["noise"] == pytest.approx(np.sqrt(1.0 / 12.0))
    assert (constants["model"], constants["reward_range"]) == (0, (-2.5, 2.5))
    x = np.array([instances.features(t) for t in range(30)])  # (T, N, M, K, d)
    means = np.array([instances.means(t) for t in range(30)])
    assert x.shape == (30, 4, 3, 5, 4)
    for n in range(4):
        theta, residual, _, _ = np.linalg.lstsq(x[:, n, 0].reshape(-1, 4), means[:, n].ravel(), rcond=None)
        assert residual[0] < 1e-20  # the first map explains the means
        assert np.linalg.norm(theta) == pytest.approx(constants["parameter_bound"][n])
        wrong = np.linalg.lstsq(x[:, n, 1].reshape(-1, 4), means[:, n].ravel(), rcond=None)[1]
        assert wrong[0] > 1e-3
    assert (np.linalg.norm(x, axis=-1).max(axis=(0, 2, 3)) <= constants["feature_bound"] * (1 + 1e-6)).all()
    assert (np.abs(means).max(axis=(0, 2)) <= constants["reward_bound"]).all()
    norms = np.array([np.linalg.norm(m, axis=2).max() for m in instances.maps])  # over all items, offered or not
    np.testing.assert_allclose(norms, constants["feature_bound"], rtol=1e-6)
    np.testing.assert_allclose(np.abs(instances.values).max(axis=1), constants["reward_bound"])


@pytest.mark.parametrize("n_items", [5, 7, 50])
def test_the_items_of_a_round_are_different_and_equally_likely(n_items):
    """False alarm 1e-5 (chi-square over the items)."""
    problem = SyntheticFeatureSelection(n_models=1, dim=1, n_actions=5, n_items=n_items)
    items = problem.draw(range(1), 4000, seed=1).items[0]
    assert items.min() >= 0
    assert all(len(set(row)) == 5 for row in items.tolist())
    assert stats.chisquare(np.bincount(items[:, 0], minlength=n_items)).pvalue > 1e-5
    assert stats.chisquare(np.bincount(items[:, 4], minlength=n_items)).pvalue > 1e-5


def test_feature_selection_draws_the_paper_s_distributions():
    """Kolmogorov and Smirnov, three tests of false alarm 2e-5."""
    problem = SyntheticFeatureSelection(n_models=2, dim=30, n_items=300)
    lanes = 40
    instances = problem.draw(range(lanes), 50, seed=2)
    maps = np.array(instances.maps, dtype=float)  # (N, M, items, d)
    theta = np.array([np.linalg.lstsq(m[0], v, rcond=None)[0] for m, v in zip(maps, instances.values, strict=True)])
    assert stats.kstest(theta.ravel() / 0.1, "norm").pvalue > 2e-5
    around = (maps - theta[:, None, None])[:, :, ::7].ravel() / np.sqrt(0.1)
    assert stats.kstest(around, "norm").pvalue > 2e-5
    assert stats.kstest(instances.noise.ravel(), "uniform", (-0.5, 1.0)).pvalue > 2e-5


def test_parameter_selection_has_the_means_and_constants_that_it_says():
    instances = PS.draw(range(6), 20, seed=3)
    constants = instances.constants
    assert PS.shapes == {"dim": 4}
    assert constants["noise"] == pytest.approx(np.sqrt(1.0 / 12.0))
    assert constants["radii"] == 0.5
    x = np.array([instances.features(t) for t in range(20)])  # (T, N, K, d)
    means = np.array([instances.means(t) for t in range(20)])
    for n in range(6):
        theta, residual, _, _ = np.linalg.lstsq(x[:, n].reshape(-1, 4), means[:, n].ravel(), rcond=None)
        assert residual[0] < 1e-20
        center = constants["centers"][n, constants["model"][n]]
        np.testing.assert_array_equal(constants["center"][n], center)
        assert np.linalg.norm(theta - center) <= 0.5 * (1 + 1e-9)
    assert constants["parameter_bound"] == pytest.approx(np.linalg.norm(constants["centers"], axis=2).max(axis=1) + 0.5)
    assert constants["feature_bound"] == pytest.approx(np.linalg.norm(x, axis=3).max(axis=(0, 2)))
    assert constants["reward_bound"] == pytest.approx(np.abs(means).max(axis=(0, 2)))
    reward = np.array([instances.rewards(t, np.full(6, 2)) for t in range(20)])
    assert np.abs(reward - means[:, :, 2]).max() <= 0.5


def test_parameter_selection_draws_uniformly_in_the_ball():
    """False alarm 2e-5 for each of the five tests."""
    lanes, d, b = 4000, 3, 1.7
    problem = SyntheticParameterSelection(n_models=4, dim=d, n_actions=2, radius=b)
    instances = problem.draw(range(lanes), 2, seed=4)
    gap = instances.theta - instances.constants["center"]
    radius = np.linalg.norm(gap, axis=1)
    assert stats.kstest((radius / b) ** d, "uniform").pvalue > 2e-5  # P(|z| <= r) = (r / b)^d
    assert stats.kstest(gap[:, 0] / radius, "uniform", (-1.0, 2.0)).pvalue > 2e-5  # Archimedes: flat for d = 3
    assert stats.chisquare(np.bincount(instances.model, minlength=4)).pvalue > 2e-5
    assert stats.kstest(instances.constants["centers"].ravel(), "norm").pvalue > 2e-5
    assert stats.kstest(instances.actions.ravel() / 0.1, "norm").pvalue > 2e-5


def test_a_radius_of_zero_puts_the_parameter_on_a_centre():
    instances = SyntheticParameterSelection(n_models=3, dim=2).draw(range(5), 3, seed=0)
    np.testing.assert_array_equal(instances.theta, instances.constants["center"])


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (SyntheticFeatureSelection, "n_models", 0),
        (SyntheticFeatureSelection, "dim", 1.5),
        (SyntheticFeatureSelection, "n_items", 9),
        (SyntheticParameterSelection, "n_actions", 0),
        (SyntheticParameterSelection, "radius", -1.0),
        (SyntheticParameterSelection, "radius", np.nan),
    ],
)
def test_problems_that_cannot_be_are_refused_by_name(cls, name, value):
    with pytest.raises(ValueError, match=f"{cls.__name__}: {name}"):
        cls(**{name: value})


# The loop


@pytest.mark.parametrize(
    ("problem", "policies"), [(FS, FS_POLICIES), (PS, PS_POLICIES)], ids=["features", "parameters"]
)
def test_regret_and_reward_by_an_independent_loop(problem, policies):
    rounds, replicates, seed = 30, 3, 5
    result = simulate(policies, problem, rounds=rounds, replicates=replicates, seed=seed)
    np.testing.assert_array_equal(result.checkpoints, np.arange(1, rounds + 1))
    for name, binding in policies.items():
        for j in range(replicates):  # a policy without lanes on one instance
            instance = problem.draw(range(j, j + 1), rounds, seed)
            constants = {
                k: v[0] if isinstance(v, np.ndarray) else v for k, v in instance.constants.items()
            }  # of this instance
            policy = binding.resolve(problem.shapes, constants)(seed=(seed, j))
            regret, reward = [], []
            for t in range(rounds):
                decision = policy.act(instance.features(t)[0])
                means = instance.means(t)[0]
                y = means[decision.action] + instance.noise[0, t]
                policy.update(decision, float(y))
                regret.append(max(means) - means[decision.action])
                reward.append(y)
            np.testing.assert_allclose(result.curve(name, "regret")[:, j], np.cumsum(regret), atol=1e-12)
            np.testing.assert_allclose(result.curve(name, "reward")[:, j], np.cumsum(reward), atol=1e-12)


@pytest.mark.parametrize(
    ("problem", "policies"), [(FS, FS_POLICIES), (PS, PS_POLICIES)], ids=["features", "parameters"]
)
def test_chunks_change_nothing(problem, policies, monkeypatch):
    whole = simulate(policies, problem, rounds=20, replicates=5, seed=6)
    drawn = []
    draw = type(problem).draw
    monkeypatch.setattr(
        type(problem), "draw", lambda self, lanes, *rest: drawn.append(lanes) or draw(self, lanes, *rest)
    )
    for memory, chunks in ((1, 5), (2 * problem.lane_bytes(20), 3)):
        monkeypatch.setattr(loop, "_MEMORY", memory)
        drawn.clear()
        parts = simulate(policies, problem, rounds=20, replicates=5, seed=6)
        assert len(drawn) == chunks
        for name in policies:
            for metric in Result.metrics:
                np.testing.assert_array_equal(parts.curve(name, metric), whole.curve(name, metric))


def test_all_policies_meet_the_same_instances_and_noise():
    twice = simulate({"a": FS_POLICIES["fs"], "b": FS_POLICIES["fs"]}, FS, rounds=40, replicates=3, seed=1)
    np.testing.assert_array_equal(twice.curve("a", "regret"), twice.curve("b", "regret"))
    np.testing.assert_array_equal(twice.curve("a", "reward"), twice.curve("b", "reward"))
    beside = simulate(FS_POLICIES, FS, rounds=40, replicates=3, seed=1)
    np.testing.assert_array_equal(beside.curve("fs", "reward"), twice.curve("a", "reward"))
    other = simulate(FS_POLICIES, FS, rounds=40, replicates=3, seed=2)
    assert not np.array_equal(beside.curve("fs", "reward"), other.curve("fs", "reward"))


def test_more_replicates_keep_those_there_were():
    few = simulate(PS_POLICIES, PS, rounds=15, replicates=2)
    many = simulate(PS_POLICIES, PS, rounds=15, replicates=5)
    for name in PS_POLICIES:
        np.testing.assert_array_equal(many.curve(name, "regret")[:, :2], few.curve(name, "regret"))


def test_curves_are_read_at_a_hundred_checkpoints_and_the_end():
    result = simulate({"uniform": Uniform.bind()}, PS, rounds=250, replicates=2)
    assert result.checkpoints.size == 100
    assert (result.checkpoints[0], result.checkpoints[-1]) == (1, 250)
    assert (np.diff(result.checkpoints) > 0).all()
    curve = result.curve("uniform", "regret")
    assert curve.shape == (100, 2)
    assert (np.diff(curve, axis=0) >= 0.0).all()
    np.testing.assert_array_equal(result.final("uniform", "regret"), curve[-1])


def test_progress_counts_every_round_of_every_policy(monkeypatch):
    monkeypatch.setattr(loop, "_MEMORY", 1)
    calls = []
    simulate(PS_POLICIES, PS, rounds=3, replicates=2, progress=lambda done, total: calls.append((done, total)))
    total = 3 * 2 * len(PS_POLICIES)
    assert calls == [(k, total) for k in range(1, total + 1)]


@pytest.mark.parametrize("policy", [Uniform(), Uniform, "uniform", None])
def test_what_is_not_a_binding_is_refused_by_name(policy):
    with pytest.raises(ValueError, match="policies"):
        simulate({"mine": policy}, PS, rounds=2, replicates=2)


def test_bad_arguments_are_refused_by_name():
    for name in ("rounds", "replicates"):
        for value in (0, 1.5, None):
            with pytest.raises(ValueError, match=f"simulate: {name}"):
                simulate(PS_POLICIES, PS, **({"rounds": 2, "replicates": 2} | {name: value}))
    with pytest.raises(ValueError, match=r"given\.horizon: .*center, centers"):
        simulate({"a": OFUL.bind(noise=given.horizon)}, PS, rounds=2, replicates=2)


# Results


def test_a_result_names_what_it_does_not_have():
    result = simulate(PS_POLICIES, PS, rounds=2, replicates=2)
    for ask in (result.curve, result.final):
        with pytest.raises(ValueError, match="policy: got 'PS', expected one of 'ps', 'oful', 'bias', 'uniform'"):
            ask("PS", "regret")
        with pytest.raises(ValueError, match="metric: got 'loss', expected one of 'regret', 'reward'"):
            ask("ps", "loss")
    with pytest.raises(ValueError, match="metric"):
        result.summary("loss")


def test_the_summary_by_hand():
    curves = {"a": {"regret": np.array([[0.0] * 3, [1.0, 2.0, 6.0]]), "reward": np.array([[0.0] * 3, [4.0, 5.0, 9.0]])}}
    result = Result(checkpoints=np.array([1, 2]), curves=curves)
    header, line = result.summary().splitlines()
    assert header.split() == ["policy", "mean", "±", "s.e.", "median", "worst"]
    error = np.sqrt((4.0 + 1.0 + 9.0) / 2.0 / 3.0)  # 1.53
    assert line.split() == ["a", "3.0", f"{error:.1f}", "2.0", "6.0"]
    assert result.summary("reward").split()[-1] == "4.0"
