"""The interaction loop: what is counted, and what it does not depend on."""

import subprocess
import sys

import numpy as np
import pytest

from banditselect import (
    FSIDS,
    FSOFUL,
    OFUL,
    PSOFUL,
    BiasOFUL,
    FSSquareCB,
    LinTS,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    on_every_map,
    on_map,
    simulate,
    tune,
)
from banditselect.authoring import Constraint, argument
from banditselect.problems import (
    ClassesAsArms,
    Classification,
    Instances,
    Problem,
    SyntheticFeatureSelection,
    SyntheticParameterSelection,
)
from banditselect.rivals import UCB1
from banditselect.simulation import Result
from banditselect.simulation.loop import build, checkpoints_of, play

FS = SyntheticFeatureSelection(n_models=3, dim=4, n_actions=5, n_items=50)
PS = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5)

FS_POLICIES = {
    "scb": on_map(SquareCB.bind(reward_range=given.reward_range), 0),
    "fs": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
    "fsoful": FSOFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound),
    "rb": RegretBalancing.bind(bases=on_every_map(SquareCB.bind(reward_range=given.reward_range))),
    "ts": on_map(LinTS.bind(), 1),
    "uniform": Uniform.bind(),
}
PS_POLICIES = {
    "ps": PSOFUL.bind(centers=given.centers, radii=given.radii, noise=given.noise),
    "oful": OFUL.bind(parameter_bound=given.parameter_bound, noise=given.noise),
    "bias": BiasOFUL.bind(center=given.center, radius=given.radii),
    "uniform": Uniform.bind(),
}
BOTH = pytest.mark.parametrize(
    ("problem", "policies"), [(FS, FS_POLICIES), (PS, PS_POLICIES)], ids=["features", "parameters"]
)


class Coins(Problem):
    """Three coins; with ``seen`` below 1 some rewards are not observed."""

    seen: float = argument(default=1.0)
    known: bool = argument(default=True)

    @property
    def shapes(self):
        return {"dim": 3}

    def lane_bytes(self, rounds):
        return 32 * rounds

    def draw(self, lanes, rounds, seed):
        return _Coins(self, lanes, rounds, seed)


class _Coins(Instances):
    chances = np.array([0.2, 0.5, 0.7])

    def __init__(self, problem, lanes, rounds, seed):
        draws = [np.random.default_rng((seed, lane)).uniform(size=(2, rounds)) for lane in lanes]
        self.u, self.v = np.moveaxis(np.array(draws), 1, 0)
        self.problem = problem
        self.constants = {"parameter": np.tile(self.chances, (len(lanes), 1))}

    def features(self, t):
        return np.tile(np.eye(3), (len(self.u), 1, 1))

    def means(self, t):
        return np.tile(self.chances, (len(self.u), 1)) if self.problem.known else None

    def rewards(self, t, action):
        rewards = (self.u[:, t] < self.chances[action]).astype(float)
        return np.where(self.v[:, t] < self.problem.seen, rewards, np.nan)


def alone(binding, problem, j, rounds, seed):
    """Play replicate j without lanes; return the policy, what it was given, and (best mean, mean, reward, p)."""
    instance = problem.draw(range(j, j + 1), rounds, seed)
    constants = {k: v[0] if isinstance(v, np.ndarray) else v for k, v in instance.constants.items()}
    policy = binding.resolve(problem.shapes, constants)(seed=(seed, j))
    rows = []
    for t in range(rounds):
        decision = policy.act(instance.features(t)[0])
        reward = float(instance.rewards(t, np.array([decision.action]))[0])
        policy.update(decision, reward)
        means = instance.means(t)[0]
        rows.append((means.max(), means[decision.action], reward, decision.probability or np.nan))
    return policy, constants, np.array(rows).T


@BOTH
def test_every_metric_by_an_independent_loop(problem, policies):
    rounds, replicates, seed = 30, 3, 5
    result = simulate(policies, problem, rounds=rounds, replicates=replicates, seed=seed)
    np.testing.assert_array_equal(result.checkpoints, np.arange(1, rounds + 1))
    for name, binding in policies.items():
        for j in range(replicates):
            policy, constants, (best, mean, reward, probability) = alone(binding, problem, j, rounds, seed)
            expected = {
                "regret": np.cumsum(best - mean),
                "pseudo_regret": np.cumsum(best - mean),
                "reward": np.cumsum(reward),
                "mean_reward": np.cumsum(reward) / np.arange(1, rounds + 1),
                "probability": probability,
            }
            for metric, values in expected.items():
                np.testing.assert_allclose(result.curve(name, metric)[:, j], values, atol=1e-12)
            weights = getattr(policy, "model_weights", None)
            weight = np.nan if weights is None else weights[constants["model"]]
            np.testing.assert_allclose(result.final(name, "weight")[j], weight, atol=1e-12)
            leader = (np.nan, np.nan) if weights is None else (weights.argmax(), weights.max())
            for metric, value in zip(("leader", "leading_weight"), leader, strict=True):
                np.testing.assert_allclose(result.final(name, metric)[j], value, atol=1e-12)
            admissible = getattr(policy, "admissible", None)
            count = np.nan if admissible is None else admissible.sum()
            np.testing.assert_array_equal(result.final(name, "admissible")[j], count)


def test_the_leader_is_recorded_where_there_is_no_true_model():
    labels = np.arange(90) % 3
    good = np.eye(3)[labels] + 0.1 * np.random.default_rng(1).normal(size=(90, 3))
    noise = np.random.default_rng(2).normal(size=(90, 3))
    problem = ClassesAsArms(features=[noise, good, noise + good], labels=labels)
    result = simulate({"FSIDS": FSIDS.bind(), "uniform": Uniform.bind()}, problem, rounds=90, replicates=3)
    assert np.isnan(result.final("FSIDS", "weight")).all()
    np.testing.assert_array_equal(result.final("FSIDS", "leader"), 1.0)
    assert (result.final("FSIDS", "leading_weight") > 0.9).all()
    first = result.curve("FSIDS", "leading_weight")[0]
    assert ((first >= 1 / 3) & (first < 0.9)).all()
    assert np.isnan(result.final("uniform", "leader")).all()


def test_coverage_is_that_of_the_true_model_and_once_lost_stays_lost():
    sure = {"noise": given.noise, "parameter_bound": given.parameter_bound, "delta": 1e-9}
    result = simulate(
        {
            "true map": on_map(OFUL.bind(**sure), 0),
            "wrong map": on_map(OFUL.bind(**sure), 1),
            "too small": on_map(OFUL.bind(noise=given.noise, scale=1e-3), 0),
            "FS-OFUL": FSOFUL.bind(**sure),
            "no sets": FS_POLICIES["fs"],
        },
        FS,
        rounds=200,
        replicates=6,
    )
    assert (result.curve("true map", "coverage") == 1.0).all()
    assert (result.curve("FS-OFUL", "coverage") == 1.0).all()
    assert np.isnan(result.curve("wrong map", "coverage")).all()
    assert np.isnan(result.curve("no sets", "coverage")).all()
    lost = result.curve("too small", "coverage")
    assert (lost[0] == 0.0).all()  # nothing learned yet: the set is a point
    assert (np.diff(lost, axis=0) <= 0.0).all()


def test_the_regret_of_coins_counts_what_the_best_coin_would_have_given():
    """The best coin is 2: regret compares its toss with the toss earned, pseudo-regret the chances."""
    result = simulate({"uniform": Uniform.bind()}, Coins(), rounds=50, replicates=4, seed=3)
    policy = Uniform(lanes=4, seed=3)
    instances = Coins().draw(range(4), 50, 3)
    regret, pseudo = np.zeros(4), np.zeros(4)
    for t in range(50):
        action = policy.act(instances.features(t)).action
        toss = instances.u[:, t] < instances.chances[:, None]  # (3, N)
        regret += toss[2].astype(float) - toss[action, np.arange(4)]
        pseudo += 0.7 - instances.chances[action]
    np.testing.assert_array_equal(result.final("uniform", "regret"), regret)
    np.testing.assert_allclose(result.final("uniform", "pseudo_regret"), pseudo)


def test_a_reward_that_is_not_observed_is_not_learned_and_not_counted():
    problem = Coins(seen=0.4, known=False)
    checkpoints = checkpoints_of(60)
    instances = problem.draw(range(3), 60, 1)
    policy = build(SquareCB.bind(reward_range=(0.0, 1.0)), problem, instances, range(3), 1)
    last = list(play(policy, instances, 60, checkpoints))[-1]
    seen = instances.v < 0.4
    np.testing.assert_array_equal(policy.rounds, seen.sum(axis=1))
    metrics = dict(zip(Result.metrics, last, strict=True))
    np.testing.assert_allclose(metrics["mean_reward"], metrics["reward"] / seen.sum(axis=1))
    assert np.isnan(metrics["regret"]).all()
    assert np.isnan(metrics["pseudo_regret"]).all()
    for j in range(3):  # as if only the rounds observed had been played
        alone = SquareCB(dim=3, reward_range=(0.0, 1.0), seed=(1, j))
        for t in range(60):
            decision = alone.act(np.eye(3))
            if seen[j, t]:
                alone.update(decision, float(instances.u[j, t] < instances.chances[decision.action]))
        np.testing.assert_allclose(policy.parameters[j], alone.parameters, atol=1e-12)


@BOTH
def test_blocks_change_nothing(problem, policies):
    whole = simulate(policies, problem, rounds=20, replicates=5, seed=6)
    for block in (1, 2, 5, 100):
        parts = simulate(policies, problem, rounds=20, replicates=5, seed=6, block=block)
        for name in policies:
            for metric in Result.metrics:
                np.testing.assert_array_equal(parts.curve(name, metric), whole.curve(name, metric))
        assert parts.settings == whole.settings


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


def test_a_policy_gets_nothing_but_shapes_and_what_it_asks_for():
    asked = simulate({"asked": OFUL.bind(noise=given.noise), "told nothing": OFUL.bind()}, PS, rounds=5, replicates=2)
    told = asked.settings["policies"]
    assert told["asked"]["arguments"]["noise"] == pytest.approx(12.0**-0.5)
    assert told["told nothing"]["arguments"]["noise"] == OFUL(dim=4).noise
    assert told["told nothing"]["arguments"]["parameter_bound"] == OFUL(dim=4).parameter_bound
    assert told["told nothing"]["arguments"]["dim"] == 4


def test_the_settings_that_policies_really_had_are_in_the_result():
    result = simulate(FS_POLICIES | {"bound": FS_POLICIES["fsoful"]}, FS, rounds=5, replicates=7, block=3)
    settings = result.settings
    bounds = FS.draw(range(7), 5, 0).constants["parameter_bound"]
    assert settings["policies"]["bound"]["arguments"]["parameter_bound"] == {"per replicate": bounds.tolist()}
    assert settings["policies"]["scb"]["policy"] == "OnMap"
    assert settings["policies"]["scb"]["arguments"]["policy"]["arguments"]["reward_range"] == [-2.5, 2.5]
    assert settings["policies"]["rb"]["arguments"]["bases"]["on every map"]["arguments"]["dim"] == 4
    assert settings["problem"]["arguments"]["n_models"] == 3
    assert (settings["rounds"], settings["replicates"], settings["seed"]) == (5, 7, 0)


def test_maps_of_several_widths_reach_policies_and_bases():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    maps = [rng.normal(size=(60, 2)), rng.normal(size=(60, 4)) + labels[:, None]]
    result = simulate(
        {
            "fs": FSSquareCB.bind(reward_range=given.reward_range),
            "rb": RegretBalancing.bind(bases=on_every_map(SquareCB.bind(reward_range=given.reward_range))),
            "second": on_map(SquareCB.bind(reward_range=given.reward_range), 1),
            "first, sets": on_map(OFUL.bind(), 0),
            "second, sets": on_map(OFUL.bind(), 1),
        },
        Classification(features=maps, labels=labels, n_actions=3, true_map=1),
        rounds=20,
        replicates=2,
    )
    assert np.isnan(result.final("first, sets", "coverage")).all()  # the parameter is that of the second
    assert not np.isnan(result.final("second, sets", "coverage")).any()
    assert result.settings["policies"]["second"]["arguments"]["policy"]["arguments"]["dim"] == 4
    assert np.isfinite(result.final("rb", "regret")).all()


def test_one_policy_per_map_needs_a_problem_with_maps():
    with pytest.raises(ValueError, match=r"on_every_map: .*a problem with several feature maps"):
        simulate({"rb": RegretBalancing.bind(bases=on_every_map(OFUL.bind()))}, PS, rounds=2, replicates=1)
    with pytest.raises(ValueError, match="on_every_map: policy"):
        on_every_map(OFUL(dim=3))


def test_the_weight_is_that_of_a_model_of_the_problem():
    two = [OFUL.bind(noise=given.noise), Uniform.bind()]
    three = [BiasOFUL.bind(center=np.eye(4)[i], radius=1.0) for i in range(3)]
    policies = {"two": RegretBalancing.bind(bases=two), "three": RegretBalancing.bind(bases=three)}
    result = simulate(policies, PS, rounds=20, replicates=4)
    assert np.isnan(result.curve("two", "weight")).all()  # two bases are not the three balls
    assert np.isfinite(result.curve("three", "weight")).all()


class Once(Problem):
    """As many arms as rounds, each of which may be played once."""

    n_arms: int = argument(default=6)

    @property
    def shapes(self):
        return {"n_arms": self.n_arms, "dim": self.n_arms}

    def draw(self, lanes, rounds, seed):
        return _Once(self.n_arms, lanes, seed)

    def lane_bytes(self, rounds):
        return 8 * self.n_arms


class _Once(Instances):
    def __init__(self, n_arms, lanes, seed):
        self.value = np.array([np.random.default_rng((seed, lane)).permutation(n_arms) for lane in lanes], dtype=float)
        self.constants = {}

    def features(self, t):
        return np.tile(np.eye(self.value.shape[1]), (len(self.value), 1, 1))

    def available_after(self, t, played):
        mask = np.ones(self.value.shape, dtype=bool)
        np.put_along_axis(mask, played, False, axis=1)
        return mask

    def means(self, t):
        return self.value

    def rewards(self, t, action):
        return self.value[np.arange(action.size), action]


def test_what_may_be_played_may_depend_on_what_was_played():
    """Every arm once: all policies earn 0 + ... + 5; the regret of a round is against the best arm that is left."""
    result = simulate({"uniform": Uniform.bind(), "ucb": UCB1.bind()}, Once(), rounds=6, replicates=8, block=3)
    for name in ("uniform", "ucb"):
        np.testing.assert_array_equal(result.final(name, "reward"), 15.0)
        assert (np.diff(result.curve(name), axis=0)[-1] == 0.0).all()  # one arm is left
        assert result.final(name).min() >= 0.0
    with pytest.raises(ValueError, match="available"):
        simulate({"uniform": Uniform.bind()}, Once(), rounds=7, replicates=1)


class Overwritten(Constraint):
    def check(self, name, value, lanes):
        value *= 0.0


class Greedy(BiasOFUL):
    """Writes into what it is given."""

    center: np.ndarray = argument(Overwritten())


def test_no_policy_changes_what_the_next_is_given():
    with pytest.raises(ValueError, match="read-only"):
        simulate({"greedy": Greedy.bind(center=given.center)}, PS, rounds=2, replicates=2)


def test_the_candidates_of_a_tuning_warn_under_the_name_of_the_policy_as_it_was_given():
    tight = on_map(SquareCB.bind(reward_range=(0.0, 1e-3)), 0)
    with pytest.warns(RuntimeWarning) as caught:
        tune({"tight #1": tight, "tight #2": tight}, FS, {"exploration": [1.0, 9.0]}, rounds=30, replicates=2)
    assert [str(w.message).partition(":")[0] for w in caught] == ["tight #1", "tight #2"]


def test_simulation_needs_numpy_and_numba_alone():
    blocked = ["joblib", "pandas", "pyarrow", "matplotlib", "cloudpickle", "threadpoolctl", "typer", "rich", "scipy"]
    blocked += ["narwhals", "polars"]
    program = f"""
import sys
for name in {blocked}:
    sys.modules[name] = None
from banditselect import Uniform, problems, simulate
problem = problems.SyntheticParameterSelection(n_models=2, dim=2)
result = simulate({{"u": Uniform.bind()}}, problem, rounds=3, replicates=2)
print(result.final("u").shape, result.summary().split()[0])
try:
    result.to_pandas()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "(2,) policy",
        'pandas is not installed: pip install "banditselect[experiments]"',
    ]
