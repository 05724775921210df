"""Sweeps that are really killed (SIGKILL), at random instants and before every step of every write, and run again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from banditselect.simulation import Results

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which processes live")

SMALL = {"rounds": 20, "replicates": 4, "problems": 1}  # 3 policies, 2 blocks
LONG = {"rounds": 300, "replicates": 6, "problems": 2}  # 3 policies, 2 problems, 3 blocks


def sessions():
    """Return the processes alive by session: processes that a killed sweep left behind are in its session."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                found.setdefault(int(session), set()).add(int(stat.parent.name))
    return found


class Nursery:
    """Starts sweeps in sessions of their own; see killed_sweep.py."""

    def __init__(self):
        script = Path(__file__).with_name("killed_sweep.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self._process = subprocess.Popen([sys.executable, str(script)], **pipes)
        self._started = []
        assert self._process.stdout.readline() == "ready\n"

    def start(self, out, *, workers=1, seed=0, **request):
        self._process.stdin.write(json.dumps({"out": str(out), "workers": workers, "seed": seed, **request}) + "\n")
        self._process.stdin.flush()
        self._started.append(int(self._process.stdout.readline()))
        return self._started[-1]

    def finish(self, out, **request):
        """Run to the end; return the table's bytes."""
        pid = self.start(out, **request)
        while pid in sessions().get(pid, ()):
            time.sleep(0.02)
        self.end(pid)
        return (Path(out) / "results.parquet").read_bytes()

    def end(self, pid):
        """End the processes left of a sweep: it started all that its session holds."""
        while left := sessions().get(pid):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=600)
        self._process.stdout.close()
        for pid in self._started:
            self.end(pid)


@pytest.fixture(scope="module")
def nursery():
    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole(nursery, tmp_path_factory):
    """The tables of sweeps that were not interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    return {"long": nursery.finish(folder / "long", **LONG), "small": nursery.finish(folder / "small", **SMALL)}


def files(folder):
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in Path(folder).rglob("*") if path.is_file()}


def check_store(folder, starts=None):
    """Everything noted as finished is there, whole, and was run once."""
    cells = {path.stem for path in Path(folder).glob("cells/*.cell")}
    assert not list(Path(folder).glob("cells/*.damaged"))
    timings = Path(folder) / "timings.jsonl"
    noted = Counter(json.loads(line)["key"] for line in timings.read_text().splitlines()) if timings.exists() else {}
    assert set(noted) <= cells
    assert all(count == 1 for count in noted.values())
    if starts is not None and starts.exists():
        begun = Counter(starts.read_text().split())
        assert len(cells) <= len(begun)
        return begun
    return None


def wait_for(pid, folder, rng):
    """Wait until a sweep has stored a few more cells, or none, and then an instant; tell whether it is still alive."""
    found = len(list(folder.glob("cells/*.cell"))) + rng.integers(0, 4)
    while len(list(folder.glob("cells/*.cell"))) < found and pid in sessions().get(pid, ()):
        time.sleep(0.005)
    time.sleep(rng.uniform(0.0, 0.1))
    return pid in sessions().get(pid, ())


def kill_often(nursery, whole, tmp_path, *, kills, alone, workers, seed):
    """Kill sweeps, ``alone``: the parent only, as often as said and until they get through; compare their tables."""
    rng, hits, sweeps = np.random.default_rng(seed), 0, 0
    while hits < kills:
        folder = tmp_path / f"{sweeps}"
        hits += kill_one(nursery, folder, rng, at_most=kills - hits, alone=alone, workers=workers)
        assert nursery.finish(folder, workers=1, **LONG) == whole["long"]
        assert len(list(folder.glob("cells/*.cell"))) == 18
        sweeps += 1
        assert sweeps <= 10 * kills


def kill_one(nursery, folder, rng, *, at_most, alone, workers):
    """Start a sweep and kill it again and again; return how often it was hit."""
    hits, starts = 0, folder.with_suffix(".starts")
    while hits < at_most and not (folder / "results.parquet").exists():
        pid = nursery.start(folder, workers=workers, starts=str(starts) if workers == 1 else None, **LONG)
        hits += wait_for(pid, folder, rng)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL) if alone else os.killpg(pid, signal.SIGKILL)
        if alone:
            left_alone(folder, pid)
        else:
            nursery.end(pid)
        begun = check_store(folder, starts)
        if begun is not None:  # in one process a kill costs at most the cell that was being played
            assert sum(begun.values()) <= len(list(folder.glob("cells/*.cell"))) + hits
    return hits


def left_alone(folder, pid):
    """Wait until the orphans are gone; meanwhile nothing may be written."""
    while pid in sessions().get(pid, ()):
        time.sleep(0.01)
    before, deadline = files(folder), time.monotonic() + 600.0
    while sessions().get(pid):
        assert time.monotonic() < deadline, "workers outlive their parent"
        assert files(folder) == before
        time.sleep(0.02)
    assert files(folder) == before


@pytest.mark.parametrize(("alone", "workers"), [(False, 1), (True, 2)], ids=["group", "parent alone"])
def test_a_sweep_killed_at_random_instants_ends_in_the_same_bytes(nursery, whole, tmp_path, alone, workers):
    kill_often(nursery, whole, tmp_path, kills=4 if workers == 1 else 1, alone=alone, workers=workers, seed=workers)


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "kills"), [(1, 12), (2, 5)])
@pytest.mark.parametrize("alone", [False, True], ids=["group", "parent alone"])
def test_a_sweep_killed_at_many_random_instants_ends_in_the_same_bytes(nursery, whole, tmp_path, alone, workers, kills):
    kill_often(nursery, whole, tmp_path, kills=kills, alone=alone, workers=workers, seed=10 + 2 * workers + alone)


def operations(folder):
    """Return how many operations ``die_before`` counts in a small sweep: 3 per file, cells, table and description."""
    return 3 * (len(list((folder / "cells").glob("*.cell"))) + 2)


def check_every_step(nursery, whole, tmp_path, every):
    whole_folder = tmp_path / "whole"
    assert nursery.finish(whole_folder, **SMALL) == whole["small"]
    steps = operations(whole_folder)
    assert steps == 24
    for step in range(1, steps + 1, every):
        folder = tmp_path / f"{step}"
        pid = nursery.start(folder, **SMALL, die_before=step)
        while pid in sessions().get(pid, ()):
            time.sleep(0.01)
        assert not (folder / "results.parquet").exists()  # the table is the last file: the kill came before
        check_store(folder)
        assert nursery.finish(folder, **SMALL) == whole["small"]
        check_store(folder)


def test_a_kill_before_some_steps_of_writing_loses_nothing(nursery, whole, tmp_path):
    check_every_step(nursery, whole, tmp_path, 5)


@pytest.mark.slow
def test_a_kill_before_every_step_of_writing_loses_nothing(nursery, whole, tmp_path):
    check_every_step(nursery, whole, tmp_path, 1)


@pytest.mark.parametrize("step", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow), 6])
def test_a_kill_while_another_sweep_takes_the_folder_keeps_the_earlier_table(nursery, whole, tmp_path, step):
    folder = tmp_path / "out"
    assert nursery.finish(folder, **SMALL) == whole["small"]
    pid = nursery.start(folder, **SMALL, seed=1, die_before=step)
    while pid in sessions().get(pid, ()):
        time.sleep(0.01)
    assert [path.read_bytes() for path in folder.rglob("results.parquet")] == [whole["small"]]
    other = nursery.finish(folder, **SMALL, seed=1)
    assert other != whole["small"]
    (earlier,) = folder.glob("earlier/*/results.parquet")
    assert earlier.read_bytes() == whole["small"]
    assert nursery.finish(folder, **SMALL) == whole["small"]
    assert {path.read_bytes() for path in folder.rglob("results.parquet")} == {whole["small"], other}


@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_two_sweeps_in_one_folder_at_once_end_in_the_same_bytes(nursery, whole, tmp_path, killed):
    first, second = (nursery.start(tmp_path / "out", **LONG) for _ in range(2))
    if killed:
        wait_for(first, tmp_path / "out", np.random.default_rng(0))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(first, signal.SIGKILL)
    while {first, second} & set(sessions()):
        time.sleep(0.02)
    assert (tmp_path / "out" / "results.parquet").read_bytes() == whole["long"]
    assert len(list((tmp_path / "out").glob("cells/*.cell"))) == 18
    assert not list((tmp_path / "out").glob("cells/*.damaged"))


def test_a_table_can_be_read_at_any_instant_while_it_is_written_again(nursery, whole, tmp_path):
    folder = tmp_path / "out"
    nursery.finish(folder, **SMALL)
    pids = [nursery.start(folder, **SMALL) for _ in range(3)]
    while set(pids) & set(sessions()):
        assert (folder / "results.parquet").read_bytes() == whole["small"]
        assert list(Results.load(folder / "results.parquet")) == ["2 maps"]
