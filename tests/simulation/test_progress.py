"""Progress of a sweep: counts and estimates worked out beforehand, with a clock that the test moves."""

import pytest

from banditselect import Uniform, sweep
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation.cells import Cell
from banditselect.simulation.progress import Meter

PROBLEM = SyntheticFeatureSelection(n_models=2, dim=3, n_actions=4, n_items=40)


def cell(policy, first, key=None, problem="p"):
    """Return a cell of 100 rounds on two lanes."""
    return Cell(problem, policy, range(first, first + 2), 100, 0, key)


def meter(cells, workers=1, **known):
    """Return a meter, what it shows, and a function that notes cells as finished, some seconds later."""
    shown, now = [], [1000.0]
    counter = Meter(cells, known.get("reused", ()), known.get("timings", {}), workers, shown.append, lambda: now[0])

    def finish(seconds, *finished, **how):
        now[0] += seconds
        for one in finished:
            counter.finished(one, seconds, **how)
        return shown[-1].fraction, shown[-1].seconds_left

    return counter, shown, finish


def about(fraction, seconds_left):
    return pytest.approx(fraction), None if seconds_left is None else pytest.approx(seconds_left)


def test_counts_and_time_left_by_hand():
    cells = a, b, a2, b2 = [cell("a", 0), cell("b", 0), cell("a", 2), cell("b", 2)]
    counter, shown, finish = meter(cells)
    assert (shown[-1].fraction, shown[-1].seconds_left) == (0.0, None)
    counter.playing(a, 50)
    assert (shown[-1].fraction, shown[-1].seconds_left) == about(1 / 8, None)
    assert finish(10.0, a) == about(1 / 4, 30.0)  # a: 0.05 s a round; b is not known and taken to cost the same
    assert finish(40.0, b) == about(1 / 2, 50.0)  # b: 0.2 s a round; left are one a (10 s) and one b (40 s)
    counter.playing(a2, 50)
    assert (shown[-1].fraction, shown[-1].seconds_left) == about(0.55, 45.0)
    assert finish(40.0, b2) == about(0.95, 5.0)
    assert finish(10.0, a2) == (1.0, 0.0)
    assert [p.cells_done for p in shown] == [0, 0, 1, 2, 2, 3, 4]
    assert {(p.cells, p.cells_reused, p.cells_failed) for p in shown} == {(4, 0, 0)}


def test_what_is_left_is_shared_by_the_workers_but_not_by_more_than_there_are_cells():
    cells = [cell("a", 2 * k) for k in range(4)]
    _, _, finish = meter(cells, workers=3)
    assert finish(10.0, cells[0]) == about(1 / 4, 10.0)  # three cells at a time
    assert finish(10.0, *cells[1:3]) == about(3 / 4, 10.0)  # one cell, however many workers
    cells = [cell("a", 2 * k) for k in range(10)]
    _, _, finish = meter(cells, workers=None)
    assert finish(10.0, *cells[:2]) == about(1 / 5, 8 * 10.0 / 2)  # 20 s of work in 10 s: two at a time


def test_what_the_store_has_counts_as_done_and_its_timings_say_how_long_the_rest_takes():
    cells = [cell("a", 0, "k0"), cell("b", 0, "k1"), cell("a", 2, "k2"), cell("b", 2, "k3")]
    _, shown, finish = meter(cells, reused=cells[:3])
    assert (shown[-1].cells_done, shown[-1].cells_reused) == (3, 3)
    assert (shown[-1].fraction, shown[-1].seconds_left) == about(3 / 4, None)
    assert finish(4.0, cells[3]) == (1.0, 0.0)
    _, shown, _ = meter(cells, 2, reused=cells[:2], timings={"k0": 10.0, "k1": 30.0, "another sweep": 1e9})
    assert (shown[-1].fraction, shown[-1].seconds_left) == about(1 / 2, 20.0)


def test_the_same_policy_on_another_problem_costs_what_it_cost_there():
    cells = [cell("a", 0), cell("a", 0, problem="q"), cell("a", 2), cell("a", 2, problem="q")]
    _, _, finish = meter(cells)
    finish(10.0, cells[0])
    assert finish(100.0, cells[1]) == about(1 / 2, 110.0)
    assert finish(10.0, cells[2]) == about(12 / 22, 100.0)


def test_a_failed_cell_counts_as_done_and_says_nothing_about_time():
    cells = [cell("a", 0), cell("b", 0), cell("b", 2)]
    _, shown, finish = meter(cells)
    assert finish(0.5, cells[0], failed=True) == about(1 / 3, None)
    assert finish(10.0, cells[1]) == about(2 / 3, 10.0)
    assert (shown[-1].cells_done, shown[-1].cells_failed) == (2, 1)


def test_without_a_callback_nothing_is_shown():
    counter = Meter([cell("a", 0)], [], {}, 1, None)
    counter.playing(cell("a", 0), 1)
    counter.finished(cell("a", 0), 1.0)


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
