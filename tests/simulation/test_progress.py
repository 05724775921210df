"""Progress of a sweep: counts and estimates worked out beforehand, with a clock that the test moves."""

import pytest

from banditselect import Uniform, sweep
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation.cells import Cell
from banditselect.simulation.progress import Meter

PROBLEM = SyntheticFeatureSelection(n_models=2, dim=3, n_actions=4, n_items=40)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def cell(policy, first, key=None, problem="p", lanes=2, rounds=100):
    return Cell(problem, policy, range(first, first + lanes), rounds, 0, key)


def meter(cells, *, reused=(), timings=None, workers=1):
    told, clock = [], Clock()
    return Meter(cells, reused, timings or {}, workers, told.append, clock), told, clock


def state(cells, done, reused, fraction, seconds_left):
    return cells, done, reused, pytest.approx(fraction), seconds_left


def shown(p):
    return p.cells, p.cells_done, p.cells_reused, p.fraction, p.seconds_left


def test_before_anything_is_known_there_is_no_estimate():
    _, told, _ = meter([cell("a", 0), cell("a", 2)])
    assert [shown(p) for p in told] == [state(2, 0, 0, 0.0, None)]


def test_counts_and_time_left_by_hand():
    cells = [cell("a", 0), cell("b", 0), cell("a", 2), cell("b", 2)]  # 200 rounds each
    m, told, clock = meter(cells)
    clock.now += 5.0
    m.playing(cells[0], 50)  # of 100 rounds, on two lanes
    assert shown(told[-1]) == state(4, 0, 0, 1 / 8, None)
    clock.now += 5.0
    m.finished(cells[0], 10.0)  # a: 0.05 s a round; b is not known and taken to cost the same
    assert shown(told[-1]) == state(4, 1, 0, 1 / 4, pytest.approx(30.0))
    clock.now += 40.0
    m.finished(cells[1], 40.0)  # b: 0.2 s a round; left are one a (10 s) and one b (40 s)
    assert shown(told[-1]) == state(4, 2, 0, 1 / 2, pytest.approx(50.0))
    m.playing(cells[2], 50)
    assert shown(told[-1]) == state(4, 2, 0, 0.55, pytest.approx(45.0))


def test_what_is_left_is_shared_by_the_workers_but_not_by_more_than_there_are_cells():
    cells = [cell("a", 2 * k) for k in range(4)]
    m, told, clock = meter(cells, workers=3)
    clock.now += 10.0
    m.finished(cells[0], 10.0)
    assert told[-1].seconds_left == pytest.approx(10.0)  # three cells at a time
    m.finished(cells[1], 10.0)
    m.finished(cells[2], 10.0)
    assert told[-1].seconds_left == pytest.approx(10.0)  # one cell, however many workers


def test_an_unknown_number_of_workers_is_told_from_how_many_ran_at_a_time():
    cells = [cell("a", 2 * k) for k in range(10)]
    m, told, clock = meter(cells, workers=None)
    clock.now += 10.0
    m.finished(cells[0], 10.0)
    m.finished(cells[1], 10.0)  # 20 s of work in 10 s
    assert told[-1].seconds_left == pytest.approx(8 * 10.0 / 2)


def test_what_the_store_has_counts_as_done_but_not_as_speed():
    cells = [cell("a", 0, "k0"), cell("a", 2, "k1"), cell("a", 4, "k2")]
    m, told, clock = meter(cells, reused=cells[:2])
    assert shown(told[-1]) == state(3, 2, 2, 2 / 3, None)
    clock.now += 4.0
    m.finished(cells[2], 4.0)
    assert shown(told[-1]) == state(3, 3, 2, 1.0, 0.0)


def test_a_resumed_sweep_knows_from_the_timings_of_the_store_how_long_it_takes():
    cells = [cell("a", 0, "k0"), cell("b", 0, "k1"), cell("a", 2, "k2"), cell("b", 2, "k3")]
    _, told, _ = meter(cells, reused=cells[:2], timings={"k0": 10.0, "k1": 30.0, "another sweep": 1e9}, workers=2)
    assert shown(told[-1]) == state(4, 2, 2, 1 / 2, pytest.approx(20.0))


def test_the_same_policy_on_another_problem_costs_what_it_cost_there():
    cells = [cell("a", 0), cell("a", 0, problem="q"), cell("a", 2), cell("a", 2, problem="q")]
    m, told, clock = meter(cells)
    clock.now += 110.0
    m.finished(cells[0], 10.0)
    m.finished(cells[1], 100.0)
    assert told[-1].seconds_left == pytest.approx(110.0)
    m.finished(cells[2], 10.0)
    assert told[-1].seconds_left == pytest.approx(100.0)


def test_nobody_is_told_where_nobody_asks():
    cells = [cell("a", 0)]
    m = Meter(cells, [], {}, 1, None)
    m.playing(cells[0], 1)
    m.finished(cells[0], 1.0)


class Broken(Uniform):
    def _learn(self, ids, x, y, played):
        raise ArithmeticError("broken")


@pytest.mark.parametrize("workers", [1, 2])
def test_counts_never_fall_and_end_in_the_totals_also_where_cells_fail(tmp_path, workers):
    policies = {"uniform": Uniform.bind(), "broken": Broken.bind()}
    options = {"rounds": 30, "replicates": 4, "block": 1, "workers": workers, "out": tmp_path}
    told, again = [], []
    sweep(policies, {"p": PROBLEM}, **options, progress=told.append)
    sweep(policies, {"p": PROBLEM}, **options, progress=again.append)
    for seen, reused in ((told, 0), (again, 4)):
        assert all(p.cells == 8 and p.cells_reused == reused for p in seen)
        done = [p.cells_done for p in seen]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (reused, 8)
        assert (seen[-1].fraction, seen[-1].seconds_left) == (1.0, 0.0)
        assert all(p.seconds_left is None or p.seconds_left >= 0.0 for p in seen)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_error_in_progress_is_the_caller_s_and_no_failure_of_a_cell(workers):
    def broken(progress):
        if progress.fraction:
            raise LookupError("no terminal")

    with pytest.raises(LookupError, match="no terminal"):
        sweep({"u": Uniform.bind()}, {"p": PROBLEM}, rounds=30, replicates=4, block=1, workers=workers, progress=broken)


def test_a_failed_cell_counts_as_done_and_teaches_nothing_about_time():
    cells = [cell("a", 0), cell("b", 0), cell("b", 2)]
    m, told, clock = meter(cells)
    clock.now += 10.0
    m.finished(cells[0], 0.5, failed=True)
    assert shown(told[-1]) == state(3, 1, 0, 1 / 3, None)
    assert told[-1].cells_failed == 1
    m.finished(cells[1], 10.0)
    assert shown(told[-1]) == state(3, 2, 0, 2 / 3, pytest.approx(10.0))
    assert told[-1].cells_failed == 1


def test_the_fraction_is_of_time_once_that_is_known_and_of_rounds_before():
    cells = [cell("a", 0), cell("b", 0), cell("a", 2), cell("b", 2)]
    m, told, _ = meter(cells)
    m.playing(cells[0], 50)
    assert told[-1].fraction == pytest.approx(1 / 8)
    m.finished(cells[0], 10.0)
    assert told[-1].fraction == pytest.approx(1 / 4)
    m.finished(cells[1], 40.0)  # of 100 s in all, 50 are done
    assert told[-1].fraction == pytest.approx(1 / 2)
    m.finished(cells[3], 40.0)
    assert told[-1].fraction == pytest.approx(9 / 10)
    m.finished(cells[2], 10.0)
    assert told[-1].fraction == pytest.approx(1.0)
