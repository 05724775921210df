"""The laboratory of the study of defaults computes what the shipped policies play, in another way."""

import numpy as np
import pytest

from banditselect import FSIDS, PSIDS, LinIDS
from banditselect.statistics import share_interval
from benchmarks import defaults_calibration as calibration
from benchmarks import defaults_study as study
from benchmarks.defaults_laboratory import Laboratory
from benchmarks.defaults_problems import Trace
from benchmarks.defaults_runs import ARMS, MANY_MAPS, ONE_MAP, PROBLEMS, REGIONS, Runs, applies, play_chunk


def one_map(x):
    return x[0]


def follow(policy, laboratory, features, rewards, offer=one_map):
    """Play the policy; the laboratory must give the same probabilities and, with the same draws, the same actions."""
    for x, y in zip(features, rewards, strict=True):
        offered = offer(x)
        p = policy.probabilities(offered)
        np.testing.assert_allclose(laboratory.probabilities(x), p, rtol=0.0, atol=1e-9)
        decision = policy.act(offered)
        assert p[decision.action] == decision.probability > 0.0
        policy.update(decision, y[decision.action])
        laboratory.learn(x[:, decision.action], y[decision.action])


@pytest.mark.slow  # the laboratory compiles for long
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("scale", "zero", "noise"), [(1.0, 0.0, 0.3), (50.0, 1e3, 10.0), (1e-3, -2.0, 1e-4)])
def test_one_map(constant, scale, zero, noise):
    rng = np.random.default_rng(1)
    x = scale * rng.normal(size=(300, 1, 6, 4))
    y = zero * constant + x[:, 0].sum(axis=2) + noise * rng.normal(size=(300, 6))
    follow(LinIDS(dim=4, intercept=constant), Laboratory.of_maps([4], constant=constant), x, y)


@pytest.mark.slow
def test_coins_with_arms_of_their_own():
    """Each arm has a length of its own: of arms that are equal but for rounding, either way may take another."""
    rng = np.random.default_rng(2)
    x = np.tile(np.diag([1.0, 1.1, 1.2, 1.3, 1.4]), (300, 1, 1, 1))
    y = (rng.uniform(size=(300, 5)) < [0.2, 0.3, 0.5, 0.3, 0.2]).astype(float)
    follow(LinIDS(dim=5), Laboratory.of_maps([5]), x, y)


@pytest.mark.slow
@pytest.mark.parametrize("constant", [True, False])
def test_maps_of_different_widths(constant):
    rng = np.random.default_rng(3)
    widths = [3, 5, 2]
    x = rng.normal(size=(300, 3, 6, 5))
    for i, width in enumerate(widths):
        x[:, i, :, width:] = 0.0
    y = 0.4 * x[:, 1].sum(axis=2) + rng.normal(size=(300, 6))
    policy = FSIDS(n_models=3, dim=widths, intercept=constant)
    laboratory = Laboratory.of_maps(widths, constant=constant)
    for rounds in np.split(np.arange(300), 10):
        follow(policy, laboratory, x[rounds], y[rounds], lambda z: [z[i, :, :w] for i, w in enumerate(widths)])
        np.testing.assert_allclose(laboratory.model_weights, policy.model_weights, rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_balls():
    rng = np.random.default_rng(4)
    centers, radii = rng.normal(size=(3, 4)), np.array([0.2, 0.5, 1.0])
    x = rng.normal(size=(300, 1, 6, 4))
    y = x[:, 0] @ (centers[1] + 0.2) + 0.5 * rng.normal(size=(300, 6))
    policy, laboratory = PSIDS(centers=centers, radii=radii), Laboratory.of_regions(centers, radii)
    follow(policy, laboratory, x, y)
    np.testing.assert_allclose(laboratory.model_weights, policy.model_weights, rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_the_whole_loop_takes_the_same_steps():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(50, 2, 4, 3)), rng.normal(size=(50, 4))
    actions, weights = Laboratory.of_maps([3, 3]).play(x, y, 7, read=[10, 50])
    draws, laboratory, read = np.random.default_rng(7).uniform(size=50), Laboratory.of_maps([3, 3]), []
    for t in range(50):
        p = laboratory.probabilities(x[t]).cumsum()
        assert actions[t] == np.searchsorted(p, draws[t] * p[-1], side="right")
        laboratory.learn(x[t, :, actions[t]], y[t, actions[t]])
        if t + 1 in (10, 50):
            read.append(laboratory.model_weights)
    np.testing.assert_allclose(weights, read, atol=1e-12)


def test_reliability_by_hand():
    weight = np.array([0.6, 0.6, 0.65, 0.95, 0.95, 0.94])
    right = np.array([True, False, False, True, True, True])
    (low, high) = calibration.reliability(weight, right)
    assert low[:2] == ("0.5 to 0.7", 3)
    assert low[2:4] == pytest.approx((1.85 / 3, 1 / 3))
    assert low[4:] == share_interval(1, 3)
    assert high[:2] == ("0.9 to 0.95", 3)
    assert calibration.expected_error(weight, right) == pytest.approx((1.85 / 3 - 1 / 3 + 1.0 - 2.84 / 3) / 2)


def test_the_surest_winner_is_counted_too():
    runs = [{"FSIDS": [0.0, 1.0 + 1e-15], "true": 1, "rounds": 30}, {"FSIDS": [0.6, 0.4], "true": 1, "rounds": 20}]
    weight, right, rounds = calibration.winners(runs, "FSIDS")
    assert weight.tolist() == [1.0, 0.6]
    assert right.tolist() == [True, False]
    assert rounds.tolist() == [30, 20]
    assert sum(row[1] for row in calibration.reliability(weight, right)) == 2


@pytest.mark.parametrize("kind", calibration.KINDS)
def test_a_calibration_problem_has_weights_of_both_policies(kind):
    run = min(calibration.play_many(kind, list(range(5))), key=lambda run: run["rounds"])
    assert run["rounds"] >= 20
    assert 0 <= run["true"] < len(run["FSIDS"]) == len(run["FSSquareCB"])
    assert sum(run["FSIDS"]) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_everyone_plays_and_what_is_kept_is_of_every_replicate(name):
    problem = PROBLEMS[name]
    maps = MANY_MAPS if len(problem.widths) > 1 else {**ONE_MAP, **ARMS}
    names = [c for c in ("shipped", *(REGIONS if problem.regions else maps)) if applies(c, problem)]
    for kept in play_chunk(name, names, [0, 1], 15).values():
        assert len(kept["regret"]) == len(kept["earned"]) == 2
        assert min(kept["regret"]) >= 0.0


def test_multiples_and_sticking_by_hand():
    cells = {"p": {"a": {"regret": [1.0, 3.0]}, "b": {"regret": [4.0, 60.0]}}, "q": {"a": {"regret": [6.0, 6.0]}}}
    np.testing.assert_array_equal(study.means_of(cells, ["a", "b"]), [[2.0, 32.0], [6.0, np.nan]])
    cells["p"]["a"]["late"], cells["p"]["b"]["late"], cells["q"]["a"]["late"] = [0.0, 0.1], [0.5, 0.05, 1.0], [0.0, 0.0]
    assert study.sticking(cells, ["a", "b"], "p") == ["runs that stick: p", "0 of 2", "2 of 3"]
    assert study.sticking(cells, ["a", "b"], "q")[1:] == ["0 of 2", "–"]
    rows = study.summary(np.array([[1.0, 8.0], [4.0, np.nan]]))
    assert rows == [["worst multiple", "4.00", "–"], ["geometric mean of the multiples", "2.00", "–"]]


def test_what_is_lost_at_last():
    means = np.tile([0.0, 1.0, 0.5], (20, 1))
    trace = Trace(np.zeros((20, 1, 3, 1)), means, means)
    assert trace.regret(np.array([1] * 18 + [0, 1])) == 1.0
    assert trace.late(np.array([0] * 18 + [0, 1])) == pytest.approx(1.0)  # uniform play loses 1/2 a round
    assert trace.late(np.array([0] * 18 + [1, 1])) == 0.0


def test_a_study_that_was_stopped_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "runs.json"
    first = Runs(path, quick=True, workers=1).cells(["grid of 2"], ["LinIDS"], 2)
    monkeypatch.setattr(Runs, "spread", None)  # nothing is left to be run
    assert Runs(path, quick=True, workers=1).cells(["grid of 2"], ["LinIDS"], 2) == first
