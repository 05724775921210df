"""The study of defaults: measures by hand, every policy plays every problem, a stopped study goes on."""

import numpy as np
import pytest

from banditselect.statistics import share_interval
from benchmarks.studies import calibration
from benchmarks.studies import defaults as study
from benchmarks.studies.defaults_problems import Trace


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
    assert (weight.tolist(), right.tolist(), rounds.tolist()) == ([1.0, 0.6], [True, False], [30, 20])
    assert sum(row[1] for row in calibration.reliability(weight, right)) == 2


@pytest.mark.parametrize("kind", calibration.KINDS)
def test_a_calibration_problem_has_weights_of_both_policies(kind):
    run = min((calibration.play(kind, seed) for seed in range(5)), key=lambda run: run["rounds"])
    assert run["rounds"] >= 20
    assert 0 <= run["true"] < len(run["FSIDS"]) == len(run["FSSquareCB"])
    assert sum(run["FSIDS"]) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", study.PROBLEMS)
def test_every_policy_plays(name):
    several = study.REGIONS if name in study.BALLS else study.MANY_MAPS
    one_map = [*study.ONE_MAP, *(study.ARMS if study.PROBLEMS[name].arms else ())]
    for contestant in several if name in study.BALLS or len(study.PROBLEMS[name].widths) > 1 else one_map:
        found = study.play(name, contestant, [0, 1], 15)
        assert len(found["regret"]) == len(found["earned"]) == 2
        assert min(found["regret"]) >= 0.0


def test_multiples_and_sticking_by_hand():
    cells = {"p": {"a": {"regret": [1.0, 3.0]}, "b": {"regret": [4.0, 60.0]}}, "q": {"a": {"regret": [6.0, 6.0]}}}
    np.testing.assert_array_equal(study.means_of(cells, ["a", "b"]), [[2.0, 32.0], [6.0, np.nan]])
    cells["p"]["a"]["late"], cells["p"]["b"]["late"], cells["q"]["a"]["late"] = [0.0, 0.1], [0.5, 0.05, 1.0], [0.0, 0.0]
    assert study.sticking(cells, ["a", "b"], "p") == ["runs that stick: p", "0 of 2", "2 of 3"]
    assert study.sticking(cells, ["a", "b"], "q")[1:] == ["0 of 2", "–"]
    rows = study.summary(np.array([[1.0, 8.0], [4.0, np.nan]]))
    assert rows == [["worst multiple", "4.00", "–"], ["geometric mean of the multiples", "2.00", "–"]]


def test_the_regret_of_the_last_rounds():
    means = np.tile([0.0, 1.0, 0.5], (20, 1))
    trace = Trace(np.zeros((20, 1, 3, 1)), means, means)
    assert trace.regret(np.array([1] * 18 + [0, 1])) == 1.0
    assert trace.late(np.array([0] * 18 + [0, 1])) == pytest.approx(1.0)  # uniform play loses 1/2 a round
    assert trace.late(np.array([0] * 18 + [1, 1])) == 0.0
