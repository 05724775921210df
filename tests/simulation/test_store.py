"""The folder of a sweep: what is found again, what is not, and what lies where."""

import importlib
import itertools
import json
import sys
import warnings

import numpy as np
import pytest
from stored_sweeps import CELLS, POLICIES, PROBLEMS, cells_played, names, run, table, whole_sweep

from banditselect import FSSquareCB, Power, RegretBalancing, SquareCB, Uniform, given, on_every_map, on_map, tune
from banditselect.problems import SyntheticFeatureSelection
from banditselect.runtime import files
from banditselect.simulation import Results, cells, identity
from banditselect.simulation.identity import digest
from banditselect.simulation.store import Store

RANGE = (-10.0, 10.0)

played = pytest.fixture(cells_played)
whole = pytest.fixture(scope="module")(whole_sweep)


# Cells that are found again


def test_a_finished_sweep_is_not_run_again_and_gives_the_same(tmp_path, whole, played):
    first = run(tmp_path)
    assert len(played) == CELLS
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = run(tmp_path)
    assert len(played) == CELLS
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert table(tmp_path) == table(whole)
    loaded = Results.load(tmp_path / "results.parquet")
    unstored = run(None)
    for name in PROBLEMS:
        for other in (again[name], loaded[name], unstored[name]):
            for policy, metric in itertools.product(POLICIES, other.metrics):
                np.testing.assert_array_equal(first[name].curve(policy, metric), other.curve(policy, metric))
            assert first[name].settings == other.settings


def test_fewer_replicates_policies_or_problems_run_nothing(tmp_path, played):
    run(tmp_path)
    parts = [{"replicates": 2}, {"policies": {"fs": POLICIES["fs"]}}, {"problems": {"2 maps": PROBLEMS["2 maps"]}}]
    for part in parts:
        with pytest.warns(RuntimeWarning, match="holds another sweep"):
            run(tmp_path, **part)
    assert len(played) == CELLS


def test_names_and_order_of_policies_and_problems_are_not_part_of_a_cell(tmp_path, played):
    first = run(tmp_path)
    run(tmp_path, policies=dict(reversed(POLICIES.items())), problems=dict(reversed(PROBLEMS.items())))
    with pytest.warns(RuntimeWarning, match=r"holds another sweep .*policies\)"):
        renamed = run(tmp_path, policies={f"new {name}": binding for name, binding in POLICIES.items()})
    assert len(played) == CELLS
    np.testing.assert_array_equal(first["2 maps"].curve("fs"), renamed["2 maps"].curve("new fs"))


def test_tuning_is_found_again(tmp_path, played):
    policies, problem = {"scb": on_map(SquareCB.bind(reward_range=RANGE), 0)}, PROBLEMS["2 maps"]
    options = {"rounds": 20, "replicates": 3, "out": tmp_path, "workers": 1}
    first = tune(policies, problem, {"exploration": [1.0, 10.0]}, **options)
    count = len(played)
    assert tune(policies, problem, {"exploration": [1.0, 10.0]}, **options).record == first.record
    assert len(played) == count == 2


# Cells that are not


CHANGES = {
    "rounds": ({"rounds": 31}, "rounds: 30 is now 31"),
    "seed": ({"seed": 1}, "seed: 0 is now 1"),
    "argument": (
        {"policies": {**POLICIES, "fs": FSSquareCB.bind(reward_range=RANGE, noise=given.noise)}},
        "holds another sweep .*policies",
    ),
    "schedule": (
        {"policies": {**POLICIES, "fs": FSSquareCB.bind(reward_range=RANGE, exploration=Power(1.0, 0.5))}},
        "holds another sweep .*policies",
    ),
    "problem": (
        {"problems": {**PROBLEMS, "2 maps": SyntheticFeatureSelection(n_models=2, dim=4, n_actions=4, n_items=40)}},
        "holds another sweep .*problems",
    ),
}


@pytest.mark.parametrize(("change", "told"), CHANGES.values(), ids=CHANGES)
def test_other_settings_are_other_cells_and_the_earlier_tables_are_moved(tmp_path, whole, change, told):
    run(tmp_path)
    cells_before, table_before = names(tmp_path), table(tmp_path)
    with pytest.warns(RuntimeWarning, match=told) as caught:
        run(tmp_path, **change)
    assert sum("holds another sweep" in str(w.message) for w in caught) == 1
    assert cells_before < names(tmp_path)
    assert table(tmp_path) != table_before
    (earlier,) = (tmp_path / "earlier").iterdir()
    assert table(earlier) == table_before == table(whole)
    assert (earlier / "sweep.json").exists()
    run(tmp_path / "fresh", **change)
    assert table(tmp_path) == table(tmp_path / "fresh")
    with pytest.warns(RuntimeWarning, match="holds another sweep"):
        run(tmp_path)
    assert table(tmp_path) == table_before


def test_the_library_s_own_code_is_part_of_every_key(tmp_path, played, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr(identity, "_library_digest", lambda: "other code")
    with pytest.warns(RuntimeWarning, match="holds another sweep .*code"):
        run(tmp_path)
    assert len(played) == 2 * CELLS
    assert len(names(tmp_path)) == 2 * CELLS


SOURCE = """
from banditselect import Uniform


class Mine(Uniform):
    def _learn(self, ids, x, y, played):
        self.last = 1.0
"""


def test_the_file_of_a_policy_of_one_s_own_is_part_of_its_keys_and_of_no_other(tmp_path, played, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def mine(source):
        (tmp_path / "policies_of_my_own.py").write_text(source)
        sys.modules.pop("policies_of_my_own", None)
        importlib.invalidate_caches()
        return {"mine": importlib.import_module("policies_of_my_own").Mine.bind(), "uniform": Uniform.bind()}

    out = tmp_path / "out"
    run(out, mine(SOURCE))
    run(out, mine(SOURCE))
    assert len(played) == 8
    with pytest.warns(RuntimeWarning, match="holds another sweep .*policies"):
        run(out, mine(SOURCE.replace("1.0", "2.0")))
    assert [cell.policy for cell in played[8:]] == ["mine"] * 4


@pytest.mark.parametrize(
    ("policies", "told"),
    [
        (
            {"fs": FSSquareCB.bind(exploration=lambda t: 3.0, reward_range=RANGE)},
            r"policies\['fs'\].*exploration=<lambda>",
        ),
        (
            {"rb": RegretBalancing.bind(bases=on_every_map(SquareCB.bind(exploration=np.sqrt, reward_range=RANGE)))},
            "exploration=sqrt",
        ),
    ],
    ids=["lambda", "inside"],
)
def test_a_function_cannot_be_stored_but_can_be_run(tmp_path, policies, told):
    with pytest.raises(ValueError, match=told):
        run(tmp_path / "out", policies)
    assert not (tmp_path / "out").exists()
    assert not run(None, policies).failures


# Files


def test_timings_are_apart_from_results(tmp_path, monkeypatch):
    run(tmp_path / "a")
    monkeypatch.setattr(cells.time, "perf_counter", iter(range(0, 10**6, 1000)).__next__)
    run(tmp_path / "b")
    assert table(tmp_path / "a") == table(tmp_path / "b")
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file() and path.name != "timings.jsonl":
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
    assert set(Store(tmp_path / "a").timings()) == names(tmp_path / "a")
    assert set(Store(tmp_path / "b").timings().values()) == {2000.0}  # read before, when all is drawn, and after
    times = Store(tmp_path / "b").round_times()  # about the 30 rounds of two lanes
    assert set(times.values()) == {1000.0 / 60}
    assert set(times) == {(problem, policy) for problem in PROBLEMS for policy in POLICIES}


def test_a_cell_says_what_it_is_the_outcome_of(whole):
    described = [files.read(path)[0]["description"] for path in (whole / "cells").glob("*.cell")]
    assert {digest(d) for d in described} == names(whole)
    assert sorted({tuple(d["lanes"]) for d in described}) == [(0, 2), (2, 4)]
    assert {(d["rounds"], d["seed"]) for d in described} == {(30, 0)}


ARMED = []


class Fails(Uniform):
    def _learn(self, ids, x, y, played):
        if ARMED:
            raise KeyError("not today")


def test_failures_are_told_beside_the_table_and_tried_again(tmp_path, played):
    ARMED.append(True)
    policies = {"fails": Fails.bind(), "uniform": Uniform.bind()}
    first = run(tmp_path, policies)
    told = json.loads((tmp_path / "failures.json").read_text())
    assert [(t["problem"], t["policy"], t["replicates"]) for t in told] == [
        (f.cell.problem, f.cell.policy, [f.cell.lanes.start, f.cell.lanes.stop]) for f in first.failures
    ]
    assert {(t["error"], t["rounds"], t["seed"]) for t in told} == {("KeyError('not today')", 30, 0)}
    assert all("_learn" in t["traceback"] and "Fails.bind()" in t["settings"] for t in told)
    ARMED.clear()
    assert not run(tmp_path, policies).failures
    assert not (tmp_path / "failures.json").exists()
    assert len(played) == 8 + 4


def test_a_whole_number_written_with_a_point_will_do(tmp_path, whole):
    run(tmp_path, rounds=30.0, replicates=4.0, block=2.0, workers=1.0)
    assert table(tmp_path) == table(whole)


def test_a_sweep_that_lost_the_folder_to_another_takes_it_back(tmp_path, whole):
    other = {"seed": 1}

    def intrude(progress):
        if progress.cells_done == 3 and not (tmp_path / "results.parquet").exists():
            run(tmp_path, **other)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(tmp_path, progress=intrude)
    assert sum("holds another sweep" in str(w.message) for w in caught) == 2
    assert table(tmp_path) == table(whole)
    assert json.loads((tmp_path / "sweep.json").read_text())["seed"] == 0
    run(tmp_path / "other", **other)
    assert table(tmp_path / "other") in [path.read_bytes() for path in tmp_path.glob("earlier/*/results.parquet")]
