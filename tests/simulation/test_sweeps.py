"""Sweeps: problems side by side, what fails, what is refused, fair tuning."""

import numpy as np
import pytest

from banditselect import (
    OFUL,
    PSOFUL,
    BiasOFUL,
    FSSquareCB,
    Greedy,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    grid,
    on_every_ball,
    on_every_map,
    on_map,
    simulate,
    sweep,
    tune,
)
from banditselect.authoring import Chosen, argument
from banditselect.masters import LatentReference
from banditselect.problems import LatentBandit, SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.rivals import UCB1
from banditselect.simulation import Result, Steps, tuning
from banditselect.simulation.sweeps import RESERVED

PS = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5)
FS = SyntheticFeatureSelection(n_models=3, dim=4, n_actions=5, n_items=50)
SCB = SquareCB.bind(reward_range=given.reward_range)
OFUL_TOLD = OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound)


def test_a_sweep_is_its_simulations():
    problems = grid(SyntheticParameterSelection, dim=[2, 4], radius=[0.0, 1.0], n_models=3)
    assert list(problems) == ["dim=2, radius=0.0", "dim=2, radius=1.0", "dim=4, radius=0.0", "dim=4, radius=1.0"]
    policies = {"OFUL": OFUL_TOLD, "uniform": Uniform.bind()}
    results = sweep(policies, problems, rounds=20, replicates=3, seed=2, block=2)
    assert list(results) == list(problems)
    for name, problem in problems.items():
        alone = simulate(policies, problem, rounds=20, replicates=3, seed=2)
        for policy in policies:
            np.testing.assert_array_equal(results[name].curve(policy), alone.curve(policy))
        assert results[name].settings == alone.settings


def test_the_policies_of_a_sweep_may_depend_on_the_problem():
    problems = grid(SyntheticFeatureSelection, n_models=[2, 3], dim=3, n_items=40)
    results = sweep(
        lambda problem: {f"map {i}": on_map(SCB, i) for i in range(problem.n_models)}, problems, rounds=5, replicates=2
    )
    assert [results[name].policies for name in results] == [["map 0", "map 1"], ["map 0", "map 1", "map 2"]]


def test_arrays_bases_on_every_ball_and_a_reference_of_the_problem():
    problems = grid(LatentBandit, n_models=[2, 3], n_arms=4)
    bases = [UCB1.bind(noise=given.noise), on_every_ball(Greedy.bind())]
    policies = {
        "RB": RegretBalancing.bind(bases=bases, reference=LatentReference(given.error, given.n_arms, 0.5)),
        "PS, known": PSOFUL.bind(centers=np.eye(2, 4), radii=[0.1, 0.2], noise=given.noise),
    }
    results = sweep(policies, problems, rounds=5, replicates=2)
    assert not results.failures
    assert [len(result.final(name)) for result in results.values() for name in policies] == [2] * 4


def test_a_sweep_may_tune_the_policies_of_every_problem(tmp_path):
    policies = {"RB": RegretBalancing.bind(bases=on_every_ball(BiasOFUL.bind(noise=given.noise))), "u": Uniform.bind()}
    problems, size = grid(LatentBandit, n_models=[2, 3], n_arms=4), {"rounds": 5, "replicates": 2, "out": tmp_path}
    results = sweep(lambda problem: tune(policies, problem, {"scale": [0.1, 1.0]}, **size), problems, **size)
    for result in results.values():
        assert result.policies == [*policies]
        assert list(result.settings["tuning"]["policies"]) == ["RB"]


def test_policies_may_be_given_by_the_name_of_the_problem():
    """Also where one problem has two names."""
    policies = {"known": {"oracle": on_map(SCB, 0)}, "unknown": {"uniform": Uniform.bind()}}
    results = sweep(policies, {"known": FS, "unknown": FS}, rounds=5, replicates=2)
    assert {name: result.policies for name, result in results.items()} == {"known": ["oracle"], "unknown": ["uniform"]}
    with pytest.raises(ValueError, match=r"policies: got \['known', 'unknown'\], expected the names of the problems"):
        sweep(policies, {"known": FS}, rounds=5, replicates=2)


def test_a_grid_makes_every_combination_and_names_what_varies():
    made = grid(OFUL.bind, scale=[0.1, 1.0], noise=0.5)
    assert {name: binding.arguments for name, binding in made.items()} == {
        "scale=0.1": {"scale": 0.1, "noise": 0.5},
        "scale=1.0": {"scale": 1.0, "noise": 0.5},
    }
    assert list(grid(OFUL.bind, scale=[0.1], noise=0.5)) == ["one"]
    with pytest.raises(ValueError, match="grid: scale: got \\[\\], expected at least one value"):
        grid(OFUL.bind, scale=[])


REFUSED = {
    "rounds": [0, 1.5, None],
    "replicates": [0, 1.5, None, RESERVED + 1],
    "seed": [-1, 0.5, None, (1, 2), 2**32],
    "engine": ["cloud", None],
    "workers": [0, 1.5],
    "address": ["tcp://127.0.0.1:1"],
    "block": [0, 2.5],
}
REFUSALS = [(f"^{name}: ", {name: value}) for name, values in REFUSED.items() for value in values] + [
    (r"policies: got \{\}", {"policies": {}}),
    (r"policies: got .*expected a dict of what bind returned by name", {"policies": OFUL_TOLD}),
    (r"policies: got .*expected a dict of what bind returned by name", {"policies": [OFUL_TOLD]}),
    ("policies: got 1, expected names that are text", {"policies": {1: OFUL_TOLD}}),
    (r"policies\['u'\]: got Uniform.*what Policy\.bind returned", {"policies": {"u": Uniform()}}),
    (r"policies\['u'\]: .*what Policy\.bind returned", {"policies": {"u": Uniform}}),
    (r"problems\['a'\]: got 3", {"problems": {"a": 3}}),
    (r"problems: got \[.*, expected at least one problem, by name", {"problems": [PS]}),
    (r"problems: got \{\}", {"problems": {}}),
    (r"rounds: got 1000000000000000, expected .* <= 1e\+09", {"rounds": 10**15}),
    (r"replicates: got 1000000000000, expected fewer: 20,000,000,000 cells", {"replicates": 10**12}),
    ("out: got '', expected the name of a folder", {"out": ""}),
]


@pytest.mark.parametrize(("match", "changes"), REFUSALS)
def test_what_cannot_be_run_is_refused_by_name_before_anything_is_written(tmp_path, match, changes):
    run = {"policies": {"u": Uniform.bind()}, "problems": {"p": PS}, "rounds": 2, "replicates": 2}
    with pytest.raises(ValueError, match=match):
        sweep(**(run | {"out": tmp_path / "out"} | changes))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("theirs", "out"), [("file", "file"), ("folder/results.parquet", "folder")])
def test_a_folder_that_is_not_ours_stays_as_it_is(tmp_path, theirs, out):
    path = tmp_path / theirs
    path.parent.mkdir(exist_ok=True)
    path.write_text("theirs")
    with pytest.raises(ValueError, match=r"out: .* a folder"):
        sweep({"u": Uniform.bind()}, {"p": PS}, out=tmp_path / out, rounds=2, replicates=2)
    assert path.read_text() == "theirs"


def test_a_constant_that_the_problem_lacks_is_refused_with_those_that_it_has():
    with pytest.raises(ValueError, match=r"given\.horizon: .*center, centers"):
        simulate({"a": OFUL.bind(noise=given.horizon)}, PS, rounds=2, replicates=2)


# Tuning


class Scaled(Uniform):
    """Plays action ``choice``."""

    choice: int = argument(default=0)

    def _probabilities(self, ids, x, offered):
        p = np.zeros((ids.size, x.values.shape[2]))
        p[:, self.choice] = 1.0
        return p

    def _choose(self, ids, x, offered, numbers):
        return Chosen(self._probabilities(ids, x, offered), self._streams.keys[ids])


def test_tuning_chooses_the_best_mean_on_replicates_that_are_never_reported(monkeypatch):
    met = []
    draw = SyntheticParameterSelection.draw
    monkeypatch.setattr(
        SyntheticParameterSelection, "draw", lambda self, lanes, *rest: met.append(lanes) or draw(self, lanes, *rest)
    )
    choices = [0, 1, 2, 3, 4]
    tuned = tune({"one": Scaled.bind()}, PS, {"choice": choices}, rounds=30, replicates=4, seed=1)
    assert met == [range(RESERVED, RESERVED + 4)]
    instances = draw(PS, range(RESERVED, RESERVED + 4), 30, 1)
    means = np.array([instances.means(t) for t in range(30)])  # (T, N, K)
    regret = (means.max(axis=2, keepdims=True) - means).sum(axis=0)  # (N, K)
    best = int(regret.mean(axis=0).argmin())
    assert tuned["one"].arguments == {"choice": best}
    record = tuned.record["policies"]["one"]
    assert record["choice"] == {"choice": best}
    np.testing.assert_allclose([row["mean"] for row in record["tried"]], regret.mean(axis=0))
    np.testing.assert_allclose(
        [row["standard error"] for row in record["tried"]], regret.std(axis=0, ddof=1) / 2.0, rtol=1e-12
    )
    most = tune({"one": Scaled.bind()}, PS, {"choice": choices}, rounds=30, replicates=4, seed=1, metric="reward")
    rewards = np.array([[instances.rewards(t, np.full(4, a)) for a in choices] for t in range(30)]).sum(axis=0)
    assert most["one"].arguments == {"choice": int(rewards.mean(axis=1).argmax())}


def test_the_result_records_the_grid_and_the_choice():
    values = [0.05, 1.0]
    tuned = tune({"OFUL": OFUL_TOLD, "LinTS": LinTS.bind()}, PS, {"scale": values}, rounds=20, replicates=2)
    result = simulate(tuned, PS, rounds=20, replicates=3)
    tuning = result.settings["tuning"]
    assert tuning["grid"] == {"scale": values}
    assert tuning["replicates"] == [RESERVED, RESERVED + 2]
    for name in ("OFUL", "LinTS"):
        assert tuning["policies"][name]["choice"]["scale"] in values
        told = result.settings["policies"][name]["arguments"]
        assert told["scale"] == tuning["policies"][name]["choice"]["scale"]
        assert [row["arguments"] for row in tuning["policies"][name]["tried"]] == [{"scale": v} for v in values]


def test_a_policy_is_tuned_where_it_has_the_argument_itself_or_inside():
    policies = {
        "on a map": on_map(SCB, 0),
        "RB": RegretBalancing.bind(bases=on_every_map(SCB)),
        "RB of two": RegretBalancing.bind(bases=[on_map(SCB, 0), on_map(SCB, 1)]),
        "FS": FSSquareCB.bind(reward_range=given.reward_range),
    }
    grid = {"exploration": [7.0, Power(3.0, 0.25)], "reference": [0.5, 2.0]}
    tuned = tune(policies, FS, grid, rounds=10, replicates=2)
    told = tuned.record["policies"]
    assert [len(told[name]["tried"]) for name in policies] == [2, 4, 4, 2]
    assert tuned["FS"].arguments["exploration"] in grid["exploration"]
    inner = tuned["RB of two"].arguments["bases"]
    assert inner[0].arguments["policy"].arguments["exploration"] in grid["exploration"]
    assert inner[1].arguments["policy"].arguments["exploration"] in grid["exploration"]
    assert tuned["RB"].arguments["bases"].policy.arguments["exploration"] in grid["exploration"]
    assert policies["RB"].arguments["bases"].policy.arguments == SCB.arguments  # what was given is as it was
    assert told["RB"]["tried"][2]["arguments"] == {"exploration": 7.0, "reference": 2.0}


def test_a_policy_without_the_argument_stays_as_it_is():
    tuned = tune({"u": Uniform.bind(), "o": OFUL_TOLD}, PS, {"scale": [0.1, 1.0]}, rounds=5, replicates=2)
    assert list(tuned) == ["u", "o"]
    assert tuned["u"].arguments == {}
    assert list(simulate(tuned, PS, rounds=5, replicates=2).settings["tuning"]["policies"]) == ["o"]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"grid": {"width": [1]}}, "grid: got 'width', expected an argument of at least one of the policies"),
        ({"grid": {"scale": [0.1], "seed": [1]}}, "grid: got 'seed', expected an argument of at least one"),
        ({"grid": {}}, r"grid: got \{\}, expected arguments with values to try"),
        ({"grid": {"scale": 0.1}}, r"grid: scale: got 0\.1, expected a list of at least one value, or Steps"),
        ({"grid": {"scale": [-1.0]}}, "OFUL: scale: got -1.0"),
        ({"policies": [OFUL_TOLD]}, r"policies: got \[.*, expected a dict of what bind returned by name"),
        ({"metric": "loss"}, "metric: got 'loss'"),
        ({"metric": "weight"}, "metric: got 'weight', expected a metric that .* has on every replicate"),
        ({"own": {"ofu": {"scale": [1.0]}}}, "own: got 'ofu', expected the name of a policy"),
        ({"own": {"o": {"width": [1.0]}}}, r"own\['o'\]: got 'width', expected one of its arguments"),
        ({"own": {"o": {"scale": 1.0}}}, r"own\['o'\]: scale: got 1\.0, expected a list of at least one value"),
    ],
)
def test_what_cannot_be_tuned_is_refused_by_name(changes, match):
    with pytest.raises(ValueError, match=match):
        tune(**({"policies": {"o": OFUL_TOLD}, "problem": PS, "grid": {"scale": [0.1]}, "rounds": 2} | changes))


def test_tuning_that_cannot_be_stored_is_refused_before_there_is_a_folder(tmp_path):
    policies = {"scb": SquareCB.bind(exploration=lambda t: t)}
    with pytest.raises(ValueError, match=r"out: .*exploration.*cannot be stored"):
        tune(policies, PS, {"regularization": [1.0]}, rounds=2, replicates=1, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Seeds and storage


def test_more_replicates_keep_all_that_is_stored_also_in_blocks_that_were_not_full(tmp_path, monkeypatch):
    met = []
    draw = SyntheticParameterSelection.draw
    monkeypatch.setattr(
        SyntheticParameterSelection, "draw", lambda self, lanes, *rest: met.append(lanes) or draw(self, lanes, *rest)
    )
    policies = {"u": Uniform.bind()}
    simulate(policies, PS, rounds=5, replicates=4, out=tmp_path)
    for replicates in (7, 9):
        with pytest.warns(RuntimeWarning, match="replicates: . is now"):
            simulate(policies, PS, rounds=5, replicates=replicates, out=tmp_path)
    assert met == [range(4), range(4, 7), range(7, 9)]
    whole = simulate(policies, PS, rounds=5, replicates=9)
    np.testing.assert_array_equal(Result.load(tmp_path / "results.parquet").curve("u"), whole.curve("u"))
    with pytest.warns(RuntimeWarning, match="replicates: 9 is now 4"):
        simulate(policies, PS, rounds=5, replicates=4, out=tmp_path)
    assert len(met) == 4  # nothing but the comparison above was drawn again


def test_a_policy_may_have_values_of_its_own_and_walks_where_they_are_steps():
    policies = {"OFUL": OFUL_TOLD, "LinTS": LinTS.bind(noise=given.noise)}
    options = {"rounds": 30, "replicates": 4, "own": {"OFUL": {"regularization": Steps(1.0, factor=10.0)}}}
    tuned = tune(policies, PS, {"scale": [0.1, 1.0]}, **options)
    assert set(tuned.record["policies"]["LinTS"]["choice"]) == {"scale"}
    record = tuned.record["policies"]["OFUL"]
    assert set(record["choice"]) == {"scale", "regularization"}
    assert tuned.record["own"] == {"OFUL": {"regularization": {"start": 1.0, "factor": 10.0, "reach": 20}}}
    best = min(record["tried"], key=lambda row: row["mean"])["arguments"]["regularization"]
    assert best <= record["choice"]["regularization"] <= 1.0  # the best, or between it and the start
    tried = {round(row["arguments"]["regularization"], 12) for row in record["tried"]}
    assert {best / 10.0, best * 10.0} <= tried  # both neighbours of the best are worse


def test_a_step_to_a_value_that_the_policy_refuses_is_no_step():
    """From delta = .5 the next is 1.58; what begins with a refusal is an error all the same."""
    tuned = tune({"OFUL": OFUL_TOLD}, PS, {"delta": Steps(0.5)}, rounds=10, replicates=2)
    tried = [row["arguments"]["delta"] for row in tuned.record["policies"]["OFUL"]["tried"]]
    assert max(tried) == 0.5
    with pytest.raises(ValueError, match=r"OFUL: delta: got 1\.5"):
        tune({"OFUL": OFUL_TOLD}, PS, {"delta": Steps(1.5)}, rounds=10, replicates=2)


def test_several_problems_are_tuned_side_by_side_as_if_alone():
    problems = {f"M = {M}": SyntheticParameterSelection(n_models=M, dim=3) for M in (2, 3, 4)}
    policies = {name: {"OFUL": OFUL.bind(noise=given.noise), "uniform": Uniform.bind()} for name in problems}
    options = {"grid": {"scale": Steps(1.0)}, "own": None, "rounds": 50, "replicates": 4, "metric": "regret"}
    chosen = tuning.tune_all(policies, problems, **options, phase=lambda _: None, workers=1)
    assert list(chosen) == list(problems)
    assert chosen["M = 3"].record == tune(policies["M = 3"], problems["M = 3"], **options).record


def test_an_interrupted_tuning_continues_to_the_same_choice_with_any_number_of_workers(tmp_path):
    def stop(at):
        seen.append(at)
        if len(seen) > 40:
            raise KeyboardInterrupt

    options = {"rounds": 20, "replicates": 30}
    seen, axes = [], {"scale": Steps(1.0), "regularization": Steps(1.0)}
    whole = tune({"OFUL": OFUL_TOLD}, PS, axes, **options)
    assert {row["n"] for row in whole.record["policies"]["OFUL"]["tried"]} == {10, 30}
    with pytest.raises(KeyboardInterrupt):
        tune({"OFUL": OFUL_TOLD}, PS, axes, out=tmp_path, progress=stop, **options)
    assert any(tmp_path.rglob("*.cell"))
    assert tune({"OFUL": OFUL_TOLD}, PS, axes, out=tmp_path, workers=2, **options).record == whole.record
