"""Policies of the appendix on latent bandits: UCB1 and greedy policies by hand, one base per ball."""

import json
import math

import numpy as np
import pytest

from banditselect import (
    OFUL,
    BiasOFUL,
    Greedy,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    on_every_ball,
    on_every_map,
    on_map,
    simulate,
    tune,
)
from banditselect.experiments import latent
from banditselect.masters import LatentReference
from banditselect.policies import OnMap
from banditselect.problems import LatentBandit, SyntheticParameterSelection
from banditselect.rivals import UCB1
from banditselect.simulation.identity import describe, digest, record_of

# UCB1


@pytest.mark.parametrize(("noise", "scale"), [(0.5, 1.0), (0.1, 1.0), (0.3, 0.2)])
def test_ucb1_equals_the_definition(noise, scale):
    rng = np.random.default_rng(0)
    rewards = rng.uniform(size=(300, 5)) + np.linspace(0.0, 0.5, 5)
    policy = UCB1(n_arms=5, noise=noise, scale=scale, seed=2)
    seen = [[] for _ in range(5)]
    for t in range(299):
        best = [k for k in range(5) if not seen[k]]
        if not best:
            index = [sum(s) / len(s) + 2.0 * scale * noise * math.sqrt(2.0 * math.log(t) / len(s)) for s in seen]
            best = [k for k in range(5) if math.isclose(index[k], max(index), rel_tol=1e-12)]
        decision = policy.act(rng.normal(size=(5, 2)))  # features do not matter
        assert decision.action in best
        assert decision.probability == pytest.approx(1.0 / len(best))
        policy.update(decision, float(rewards[t, decision.action]))
        seen[decision.action].append(rewards[t, decision.action])
    assert policy.plays.sum() == policy.rounds == 299
    assert policy.plays.min() >= 1


def test_ucb1_plays_every_arm_first_and_learns_late_rewards():
    policy = UCB1(n_arms=4, lanes=30)
    x = np.ones((30, 4, 1))
    played = np.array([policy.act(x).action for _ in range(3)])  # nothing is learned: all arms stay new
    assert {tuple(column) for column in played.T} != {tuple(column) for column in np.sort(played, axis=0).T}
    decisions = []
    for _ in range(4):
        decisions.append(policy.act(x))
        policy.update(decisions[-1], np.ones(30))
    assert (np.sort([d.action for d in decisions], axis=0) == np.arange(4)[:, None]).all()
    waiting = policy.act(x)
    policy.update(waiting, np.full(30, 3.0))
    np.testing.assert_array_equal(policy.means.sum(axis=1), 5.0)  # (1 + 3) / 2 for one arm


def test_ucb1_finds_the_best_of_fixed_arms_and_stays_below_its_bound():
    means, rounds, lanes = np.array([0.2, 0.5, 0.6, 0.9]), 1000, 20
    policy, rng, regret = UCB1(n_arms=4, lanes=lanes, seed=1), np.random.default_rng(1), np.zeros(lanes)
    for _ in range(rounds):
        decision = policy.act(np.ones((lanes, 4, 1)))
        policy.update(decision, (rng.uniform(size=lanes) < means[decision.action]).astype(float))
        regret += means.max() - means[decision.action]
    gaps = (means.max() - means)[:3]
    assert regret.mean() < (8.0 * math.log(rounds) / gaps + (1.0 + math.pi**2 / 3.0) * gaps).sum()
    assert regret.mean() < 0.25 * rounds * (means.max() - means).mean()
    assert (policy.plays.argmax(axis=1) == 3).all()


def test_ucb1_takes_its_arms_and_no_others():
    policy = UCB1(n_arms=3)
    for features in (np.ones((3, 1)), np.ones((2, 3, 5)), [np.ones((3, 2)), np.ones((3, 7))]):
        policy.act(features)
    for features in (np.ones((2, 3)), np.ones((4, 3)), np.ones((3, 4, 3)), [np.ones((4, 2))]):
        with pytest.raises(ValueError, match=r"(?s)features: got .*\(\.\.\., K = 3, d\)"):
            policy.act(features)
    together = RegretBalancing(bases=[Greedy(center=[1.0, 0.0]), UCB1(n_arms=3), Uniform()])
    together.act(np.ones((3, 2)))
    for features in (np.ones((2, 2)), np.ones((3, 3))):
        with pytest.raises(ValueError, match=r"(?s)features: got .*\(K = 3, 2\)"):
            together.act(features)
    with pytest.raises(ValueError, match=r"bases\[2\]: takes 4 actions; expected 3, as others take"):
        RegretBalancing(bases=[Uniform(), UCB1(n_arms=3), UCB1(n_arms=4)])
    outer = on_map(RegretBalancing(bases=[OFUL(dim=2), UCB1(n_arms=3)]), 1)
    assert isinstance(outer, OnMap)
    outer.act(np.ones((2, 3, 2)))
    with pytest.raises(ValueError, match=r"(?s)features: got .*M, K = 3, d"):
        outer.act(np.ones((2, 4, 2)))


def test_what_ucb1_did_not_play_teaches_it_nothing_and_it_says_so_once():
    policy = UCB1(n_arms=2)
    with pytest.warns(RuntimeWarning, match="UCB1: features do not tell an arm"):
        policy.learn([1.0, 0.0], 1.0)
    policy.learn([1.0, 0.0], 1.0)
    assert policy.plays.tolist() == [0, 0]
    assert np.isnan(policy.means).all()
    with pytest.warns(RuntimeWarning, match=r"RegretBalancing: bases\[1\]: features do not tell an arm"):
        RegretBalancing(bases=[OFUL(dim=2), UCB1(n_arms=2)]).learn([1.0, 0.0], 1.0)


# Greedy


def test_greedy_plays_the_best_for_its_centre_and_learns_nothing():
    rng = np.random.default_rng(3)
    centers = rng.normal(size=(6, 3))
    policy, one = Greedy(center=centers, lanes=6), Greedy(center=centers[2])
    for _ in range(20):
        x = rng.normal(size=(6, 5, 3))
        decision = policy.act(x)
        np.testing.assert_array_equal(decision.action, np.einsum("nkd,nd->nk", x, centers).argmax(axis=1))
        np.testing.assert_array_equal(decision.probability, 1.0)
        assert one.act(x[2]).action == decision.action[2]
        policy.update(decision, rng.normal(size=6))
    np.testing.assert_array_equal(policy.rounds, 20)
    np.testing.assert_array_equal(one.probabilities([centers[2], centers[2], -centers[2]]), [0.5, 0.5, 0.0])
    same = BiasOFUL(center=centers[2], radius=0.0)
    np.testing.assert_array_equal(same.probabilities(x[2]), one.probabilities(x[2]))


def test_bad_centres_are_refused_by_name():
    for center, lanes in (
        ([], None),
        ([np.nan, 1.0], None),
        (np.ones((2, 3)), None),
        (np.ones((2, 3)), 3),
        ("x", None),
    ):
        with pytest.raises(ValueError, match="Greedy: center: got"):
            Greedy(center=center, lanes=lanes)


# LatentReference


def test_the_reference_with_numbers():
    U = LatentReference(error=0.1, n_arms=16)
    assert [U(n) for n in (0, 100, 1600, 6400)] == [0.0, 10.0 + 10.0, 160.0 + 40.0, 320.0 + 80.0]
    assert LatentReference(error=0.0, n_arms=3)(49) == 7.0
    assert LatentReference(error=1.0, n_arms=4, scale=0.5)(100) == 10.0 + 5.0
    assert U.times(2.0) == LatentReference(0.2, 16, 2.0)
    for n in (1, 50, 3000):
        assert U.times(2.0)(n) == 2.0 * U(n)
        assert U(n) == min(0.1 * n + math.sqrt(n), math.sqrt(16 * n) + math.sqrt(n))


@pytest.mark.parametrize(
    ("name", "value"), [("error", -0.1), ("error", math.nan), ("n_arms", 0), ("scale", -1.0), ("scale", "wide")]
)
def test_a_bad_reference_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"LatentReference: {name}: got {value!r}, expected a finite number"):
        LatentReference(**({"error": 0.1, "n_arms": 3} | {name: value}))


def test_constants_of_the_problem_inside_a_schedule():
    binding = RegretBalancing.bind(bases=[Uniform()], reference=LatentReference(given.error, given.n_arms))
    assert binding.resolve({}, {"error": 0.25, "n_arms": 7})().reference == LatentReference(0.25, 7)
    assert SquareCB.bind(exploration=Power(given.rate)).resolve({"dim": 2}, {"rate": 3.0})().exploration == Power(3.0)
    with pytest.raises(ValueError, match=r"given.error: got 'error', expected a constant of the problem: n_arms"):
        binding.resolve({}, {"n_arms": 7})
    with pytest.raises(ValueError, match=r"LatentReference: error: got -1.0"):
        binding.resolve({}, {"error": -1.0, "n_arms": 7})


# on_every_ball

CENTERS = np.arange(24.0).reshape(2, 3, 4)


def test_one_base_per_ball():
    binding = RegretBalancing.bind(bases=on_every_ball(BiasOFUL.bind(noise=given.noise)))
    for radii, wanted in ((0.5, [0.5] * 3), (np.array([0.1, 0.2, 0.3]), [0.1, 0.2, 0.3])):
        policy = binding.resolve({"dim": 4}, {"centers": CENTERS, "radii": radii, "noise": 0.2})(lanes=2)
        for i, base in enumerate(policy.bases):
            np.testing.assert_array_equal(base.center, CENTERS[:, i])
            assert (base.radius, base.noise, base.lanes) == (wanted[i], 0.2, 2)
    radii = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    policy = binding.resolve({}, {"centers": CENTERS, "radii": radii, "noise": np.array([0.2, 0.3])})(lanes=2)
    np.testing.assert_array_equal([base.radius for base in policy.bases], radii.T)
    own = on_every_ball(BiasOFUL.bind(radius=9.0), centers=CENTERS[0])
    policy = RegretBalancing.bind(bases=own).resolve({}, {})()
    assert [base.radius for base in policy.bases] == [9.0] * 3
    np.testing.assert_array_equal([base.center for base in policy.bases], CENTERS[0])


def test_bases_on_balls_stand_beside_others():
    bases = [Uniform.bind(), on_every_ball(Greedy.bind()), on_every_ball(BiasOFUL.bind(), radii=1.0)]
    found = RegretBalancing.bind(bases=bases).resolve({}, {"centers": CENTERS})(lanes=2).bases
    assert [type(b) for b in found] == [Uniform] + 3 * [Greedy] + 3 * [BiasOFUL]
    mixed = RegretBalancing.bind(bases=[on_every_map(OFUL.bind()), Uniform.bind()])
    found = mixed.resolve({"dim": 2, "n_models": 2}, {})().bases
    assert [type(b) for b in found] == [OnMap, OnMap, Uniform]


def test_balls_that_will_not_do_are_refused_by_name():
    for wrong in (BiasOFUL(center=[1.0]), OFUL.bind(), Greedy.bind(center=[1.0]), Greedy):
        with pytest.raises(ValueError, match=r"on_every_ball: policy: got .*argument center that is not bound"):
            on_every_ball(wrong)
    bases = on_every_ball(BiasOFUL.bind())
    with pytest.raises(ValueError, match="on_every_ball: centers: got"):
        bases.resolve({}, {"centers": np.ones(3), "radii": 1.0})
    with pytest.raises(ValueError, match=r"on_every_ball: radii: got .*\(3,\) or \(N, 3\)"):
        bases.resolve({}, {"centers": CENTERS, "radii": np.ones(2)})
    with pytest.raises(ValueError, match=r"given.centers: got 'centers', expected a constant of the problem: noise"):
        bases.resolve({}, {"noise": 1.0})


def test_on_every_ball_equals_the_bases_written_out():
    problem = SyntheticParameterSelection(n_models=3, dim=4, radius=0.5)
    centers = problem.draw(range(1), 30, 0).constants["centers"][0]
    written = [BiasOFUL.bind(center=c, radius=0.5, noise=given.noise) for c in centers]
    policies = {
        "every": RegretBalancing.bind(bases=on_every_ball(BiasOFUL.bind(noise=given.noise))),
        "written": RegretBalancing.bind(bases=written),
    }
    result = simulate(policies, problem, rounds=30, replicates=1)
    np.testing.assert_array_equal(result.curve("every", "reward"), result.curve("written", "reward"))
    assert np.isfinite(result.curve("every", "weight")).all()  # its bases are the models of the problem


def test_what_was_played_on_every_ball_is_told_and_tuned():
    every = on_every_ball(BiasOFUL.bind(noise=given.noise))
    constants = {"centers": CENTERS, "radii": 0.5, "noise": 0.2}
    told = record_of(RegretBalancing.bind(bases=[UCB1.bind(), every]), {"n_arms": 4}, constants)
    first, rest = told["arguments"]["bases"]
    assert first == {"policy": "UCB1", "arguments": {"n_arms": 4, "noise": 0.5, "scale": 1.0}}
    inside = rest["on every ball"]["arguments"]
    assert inside["center"] == {"per replicate": CENTERS.tolist()}
    assert (inside["radius"], inside["noise"]) == (0.5, 0.2)
    given_in_a_schedule = RegretBalancing.bind(bases=[Uniform.bind()], reference=LatentReference(given.error, 3))
    told = record_of(given_in_a_schedule, {}, {"error": 0.25})["arguments"]
    assert told["reference"] == "LatentReference(error=0.25, n_arms=3, scale=1.0)"
    different = [
        every,
        on_every_map(BiasOFUL.bind(noise=given.noise)),
        on_every_ball(BiasOFUL.bind()),
        on_every_ball(BiasOFUL.bind(noise=given.noise), radii=0.3),
        on_every_ball(BiasOFUL.bind(noise=given.noise), centers=CENTERS[0]),
        on_every_ball(Greedy.bind()),
        LatentReference(given.error, given.n_arms),
        LatentReference(given.error, 3),
        LatentReference(given.error, 3, 0.5),
    ]
    names = {digest(describe("x", value)) for value in different}
    assert len(names) == len(different)
    assert json.loads(json.dumps(describe("x", every))) == describe("x", every)
    assert repr(every) == "on_every_ball(BiasOFUL.bind(noise=given.noise))"
    assert repr(on_every_ball(BiasOFUL.bind(), radii=0.3)) == "on_every_ball(BiasOFUL.bind(), radii=0.3)"
    problem = SyntheticParameterSelection(n_models=2, dim=3, radius=0.5)
    policies = {"rb": RegretBalancing.bind(bases=[every, OFUL.bind()])}
    tuned = tune(policies, problem, {"scale": [0.1, 1.0]}, rounds=10, replicates=2)
    bases = tuned["rb"].arguments["bases"]
    assert bases[0].policy.arguments["scale"] == bases[1].arguments["scale"]
    with pytest.raises(ValueError, match="grid: got 'center', expected an argument of at least one"):
        tune(policies, problem, {"center": [[0.0] * 3]}, rounds=10, replicates=2)


# The experiment


def test_the_experiment_plays_and_the_true_model_is_within_its_error():
    problem = LatentBandit(n_models=3, n_arms=6, error=0.05)
    policies = latent.policies(problem, 100)
    result = simulate(policies, problem, rounds=100, replicates=4)
    assert result.policies == list(policies)
    assert (result.final("greedy, true model known", "pseudo_regret") <= 100 * 2 * 0.05).all()
    told = result.settings["policies"]["RB, as printed"]["arguments"]
    assert told["reference"] == "LatentReference(error=0.05, n_arms=6, scale=1.0)"


def test_one_thing_varies_at_a_time():
    found = [(p.n_arms, p.n_models, p.error) for p in latent.problems().values()]
    assert len(set(found)) == len(found) == 10
    centre = (50, 5, 0.1)
    assert centre in found
    assert all(sum(a != b for a, b in zip(case, centre, strict=True)) <= 1 or case[2] == 0.5 for case in found)
