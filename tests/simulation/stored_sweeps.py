"""A small sweep with a folder, what lies in the folder, and the cells that were really played."""

from banditselect import FSSquareCB, RegretBalancing, SquareCB, Uniform, given, on_every_map, sweep
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation import cells

PROBLEMS = {f"{m} maps": SyntheticFeatureSelection(n_models=m, dim=3, n_actions=4, n_items=40) for m in (2, 3)}
POLICIES = {
    "fs": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
    "rb": RegretBalancing.bind(bases=on_every_map(SquareCB.bind(reward_range=given.reward_range))),
    "uniform": Uniform.bind(),
}
CELLS = 12  # 2 problems, 3 policies, 2 blocks


def run(out, policies=POLICIES, problems=PROBLEMS, **changes):
    options = {"rounds": 30, "replicates": 4, "block": 2, "workers": 1} | changes
    return sweep(policies, problems, out=out, **options)


def table(folder):
    return (folder / "results.parquet").read_bytes()


def names(folder):
    return {path.stem for path in (folder / "cells").glob("*.cell")}


def cells_played(monkeypatch):
    """Return the list of the cells that are really played from now on: a fixture."""
    seen, original = [], cells.Task.run

    def run(task, *arguments):
        seen.append(task.cell)
        return original(task, *arguments)

    monkeypatch.setattr(cells.Task, "run", run)
    return seen


def whole_sweep(tmp_path_factory):
    """Return the folder of a sweep that nothing disturbed: a fixture."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder
