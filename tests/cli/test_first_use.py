"""The first use of a kernel: the cache is looked for then, one process compiles, the user reads it once."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba import int64
from numba.core.caching import NullCache

from banditselect.cli import warmup
from banditselect.kernels import disk, kernel
from kernels_alone import copy_kernels

KERNELS = """
import sys
import numpy as np
from house.kernels import disk
from house.kernels.features import usable
from house.kernels.weights import exponentials
assert disk._caches.cache_info().misses == 0  # the import looks for nothing
ours = disk._caches()[:1]  # NUMBA_CACHE_DIR, and not beside the source
disk._caches = lambda: ours
disk.PATIENCE, disk.SILENT = map(float, sys.argv[1:])
usable(np.ones(3)), exponentials(np.zeros(3), 0.0, np.empty(3))
print(sum(usable.stats.cache_misses.values()) + sum(exponentials.stats.cache_misses.values()))
"""
LOCKED = """
import os, sys
from house.kernels import disk
files = [os.open(path, os.O_RDWR | os.O_CREAT) for path in sys.argv[1:]]
for file in files:
    disk.lock(file)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Return what starts code with arguments, beside the kernels."""
    copy_kernels(tmp_path)

    def start(code: str, *arguments: object) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", code, *map(str, arguments)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes)

    return start


def test_processes_that_start_together_compile_each_kernel_once(start: Any) -> None:
    processes = [start(KERNELS, 1e9, 1e9) for _ in range(3)]
    ended = [process.communicate() for process in processes]
    assert [error for _, error in ended] == [""] * 3
    assert sum(int(compiled) for compiled, _ in ended) == 2


def test_the_user_is_told_once_that_something_is_compiled(start: Any) -> None:
    told = [start(KERNELS, 1e9, 0.0).communicate()[1] for _ in range(2)]
    assert told == [disk.NOTICE + "\n", ""]


def test_a_process_that_stops_or_dies_while_it_compiles_stops_no_other(start: Any, tmp_path: Path) -> None:
    start(KERNELS, 1e9, 1e9).communicate()
    locks = list(tmp_path.glob("cache/*/*.lock"))
    assert len(locks) == 2
    for kept in tmp_path.glob("cache/*/*.nb?"):
        kept.unlink()
    holder = start(LOCKED, *locks)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    assert start(KERNELS, 0.1, 1e9).communicate() == ("2\n", "")
    for kept in tmp_path.glob("cache/*/*.nb?"):
        kept.unlink()
    holder.kill()
    holder.communicate()
    assert start(KERNELS, 1e9, 1e9).communicate() == ("2\n", "")


def test_a_constant_argument_makes_no_form_of_its_own() -> None:
    @kernel
    def add(a: int, b: int) -> int:
        return a + b

    @kernel
    def increase(a: int) -> int:
        return add(a, 1)

    increase._cache = NullCache()  # compiled here even if it is on disk
    assert increase(2) == 3
    assert add.signatures == [(int64, int64)]


def test_the_names_that_can_be_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    known = warmup.known_names()
    assert {"FSIDS", "Agent", "fs-mnist", "reproduce"} <= known.keys()
    assert len(known["FSIDS"]()) == 6
    own = {step for step in known["fs-synthetic"]() if step[-1][1] == "practical"}
    assert own
    assert own <= set(known["reproduce"]())
    with pytest.raises(SystemExit, match="2"):
        warmup.warm_up_aloud(["FSIDS", "FSID"])
    assert capsys.readouterr().err.startswith("error: warmup: got 'FSID', expected one of ALEXP, AdaptiveSquareCB, ")


@pytest.mark.parametrize("name", ["FSIDS", "Agent", "ps-synthetic", "regions"])
def test_every_kind_of_step_can_be_taken(name: str) -> None:
    """In this process; those of an experiment begin with the first policy."""
    warmup._take(*warmup.known_names()[name]()[0])
