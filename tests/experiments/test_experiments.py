"""The experiments: each is complete, and every policy of every regime plays."""

import dataclasses
import math

import numpy as np
import pytest

from banditselect import PSOFUL, given
from banditselect.experiments import EXPERIMENTS, REGIMES, SCALES, Scale, latent
from banditselect.experiments.experiment import Regime
from banditselect.experiments.feature_selection import BEST, FS, RB, SECOND, UNIFORM, chosen_maps
from banditselect.experiments.packs import load_pack
from banditselect.simulation import Results, simulate

NAMES = "fs-synthetic fs-mnist fs-cifar100 ps-synthetic ps-worst ps-cifar10 ps-cifar10-coarse ps-mnist ps-mnist-coarse"
NAMES += " latent meta-tasks mood mood-maps arena"
ONE_REGIME = {"ps-worst", "meta-tasks", "mood", "mood-maps"}


def test_there_are_those_of_the_paper_each_with_its_regimes_and_two_scales():
    assert set(EXPERIMENTS) == set(NAMES.split())
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        first = "defaults" if name.startswith("arena") else "theory"
        assert set(experiment.regimes) <= set(REGIMES)
        shown = {"practical"} if experiment.shown else set()
        assert set(experiment.regimes) == ({first} if name in ONE_REGIME else {first, "tuned"} | shown)
        assert set(experiment.scales) == set(SCALES)
        if not experiment.of_paper:
            continue
        assert "What the text leaves open" in experiment.about or name == "latent"
        tuned = {"regularization"} if name.startswith("ps") and name != "ps-worst" else set()
        assert set(experiment.regimes["theory"].grid) == tuned
        assert name in ONE_REGIME or experiment.regimes["tuned"].grid
        replicates = {"ps-worst": 375}.get(name, 100 if name.startswith("fs") else 50)
        assert experiment.scales["paper"].replicates == replicates


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "regime"), [(name, regime) for name in sorted(EXPERIMENTS) for regime in EXPERIMENTS[name].regimes]
)
def test_every_policy_plays(name, regime):
    experiment = EXPERIMENTS[name]
    problems = experiment.problems([3] if experiment.scales["quick"].models and name[:2] == "fs" else [2])
    problem = list(problems.values())[-1]
    result = simulate(experiment.regimes[regime].policies(problem, 4), problem, rounds=4, replicates=2)
    for policy in result.policies:
        assert np.isfinite(result.final(policy, experiment.metric)).all()


def test_a_regime_is_stored_and_the_tuning_with_it(tmp_path):
    experiment = EXPERIMENTS["ps-synthetic"]
    phases = []
    found = experiment.run("tuned", Scale((), 3, 2, 2), out=tmp_path, phase=phases.append)
    again = Results.load(tmp_path / "results.parquet")
    assert list(found) == list(again) == list(experiment.problems(()))
    record = again["b = 0"].settings["tuning"]
    assert record["grid"]["scale"] == vars(experiment.regimes["tuned"].grid["scale"])
    assert set(record["policies"]) == set(again["b = 0"].policies) - {"PS-IDS, untuned (ours)", "Uniform"}
    assert set(record["policies"]["OFUL, S = max"]["choice"]) == {"scale", "regularization"}
    assert set(record["policies"]["PS-OFUL"]["choice"]) == {"scale", "aggregation_rate"}
    assert phases[0] == "ps-synthetic, tuned: tuning, step 1"
    assert phases[-1] == "ps-synthetic, tuned: playing"


def test_the_practical_rate_is_the_root_of_k_t():
    """alpha = sqrt(K T) on the range of the rewards, for every policy that explores by gaps; U(n) = sqrt(K n)."""
    for name in ("fs-synthetic", "fs-mnist", "fs-cifar100"):
        problem = EXPERIMENTS[name].problems([2])["M = 2"]
        chosen = EXPERIMENTS[name].regimes["practical"].policies(problem, 1000)
        constants = problem.draw(range(2), 5, 3).constants
        low, high = constants["reward_range"]
        policies = {key: chosen[key].resolve(problem.shapes, constants) for key in (FS, BEST, SECOND, RB)}
        inside = [policies[FS], policies[BEST].arguments["policy"], policies[SECOND].arguments["policy"]]
        inside += [base.arguments["policy"] for base in policies[RB].arguments["bases"]]
        assert len(inside) == 5
        for policy in inside:
            assert policy.arguments["exploration"](7) / (high - low) == pytest.approx(100.0)
            assert policy.arguments["reward_range"] == (low, high)
            assert policy.arguments["regularization"] == 1.0
        assert policies[FS].arguments["weighting"] == "range"
        assert policies[RB].arguments["reference"] == pytest.approx(math.sqrt(10.0))


def test_the_practical_factor_is_on_ps_oful_alone():
    for name, own in (("ps-synthetic", 0.01), ("ps-cifar10", 1.0), ("ps-mnist-coarse", 1.0)):
        experiment = EXPERIMENTS[name]
        problem = next(iter(experiment.problems([2]).values()))
        practical, theory = (experiment.regimes[regime].policies(problem, 9) for regime in ("practical", "theory"))
        assert set(practical) == {*experiment.shown, *experiment.added, UNIFORM}
        changed = {key: practical[key].arguments for key in practical if repr(practical[key]) != repr(theory[key])}
        assert changed.pop("PS-OFUL") == theory["PS-OFUL"].arguments | {
            "scale": 0.005,
            "reward_range": given.reward_range,
        }
        assert all(key.startswith("OFUL") and one["regularization"] == own for key, one in changed.items())
        assert len(changed) == (2 if name == "ps-synthetic" else 0)


def test_an_alarm_that_is_known_is_not_printed(tmp_path):
    """The policies get a tenth of the noise, so the likelihood sets refute every ball: pytest would fail on it."""
    balls = {"centers": given.centers, "radii": given.radii, "noise": given.noise * 0.1}
    regime = Regime(lambda problem, rounds: {"PS": PSOFUL.bind(**balls)})
    made = dataclasses.replace(EXPERIMENTS["ps-synthetic"], regimes={"practical": regime})
    found = made.run("practical", Scale((), 50, 2, 0), out=tmp_path, workers=1)
    with pytest.warns(RuntimeWarning, match="no model explains the rewards"):
        simulate({"PS": PSOFUL.bind(**balls)}, made.problems(())["b = 0"], rounds=50, replicates=2, workers=1)
    assert found["b = 0"].replicates == 2


def test_models_that_a_pack_does_not_have_are_refused():
    with pytest.raises(ValueError, match=r"fs-mnist: models: got \[2, 21\], expected numbers up to 20"):
        EXPERIMENTS["fs-mnist"].problems([2, 21])
    with pytest.raises(ValueError, match="ps-mnist: models: got 3, expected one of 2, 5, 10"):
        EXPERIMENTS["ps-mnist"].problems([3])


def test_individual_learning_does_not_know_the_balls():
    fine, coarse = (EXPERIMENTS[name].problems([5])["M = 5"] for name in ("ps-mnist", "ps-mnist-coarse"))
    told = [problem.draw(range(2), 3, 0).constants for problem in (fine, coarse)]
    assert told[0]["parameter_bound"] == told[1]["parameter_bound"]
    assert (told[0]["whole_radii"] < told[1]["whole_radii"]).all()


def test_maps_of_a_pack_are_chosen_from_best_to_worst():
    for M in (2, 3, 5, 10, 20):
        chosen = chosen_maps(20, M)
        assert len(set(chosen)) == M
        assert chosen == sorted(chosen)
        assert chosen[:2] == [0, 1]
        assert M == 2 or chosen[-1] == 19


def test_image_problems_are_what_the_paper_says():
    """Ten images a round, one of the class that pays; linear rewards in the best map, or coins .9 and .1."""
    problem = EXPERIMENTS["fs-mnist"].problems([2])["M = 2"]
    pack = load_pack("fs-mnist")
    instances = problem.draw(range(3), 20, 0)
    np.testing.assert_allclose(instances.constants["parameter"], pack.parameters[instances.constants["label"]])
    for t in range(20):
        own = pack.labels[instances.items[:, t]] == instances.constants["label"][:, None]
        assert (own.sum(axis=1) == 1).all()
        assert own.shape == (3, 10)
    problem = EXPERIMENTS["ps-cifar10-coarse"].problems([5])["M = 5"]
    instances = problem.draw(range(8), 20, 0)
    assert set(np.unique(instances.means(3))) == {0.1, 0.9}
    assert instances.constants["label"].max() < 5
    balls = load_pack("ps-cifar10").balls["coarse", 5]
    own = balls.components[instances.constants["label"]]
    np.testing.assert_array_equal(instances.constants["model"], own)
    np.testing.assert_array_equal(instances.constants["center"], balls.centers[own])
    np.testing.assert_array_equal(instances.constants["radius"], (balls.radii + balls.center_errors)[own])


def test_latent_problems_vary_one_thing_at_a_time():
    assert len(latent.problems()) == 10
    assert "PS-OFUL, likelihood sets (ours)" not in latent.policies(latent.problems()["K=200, M=5, ε=0.1"], 1)
