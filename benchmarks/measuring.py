"""Timing: contestants take turns within one run, and the results are ratios of their times.

The speed of a machine drifts by a tenth and more within minutes, so ratios of times taken one after the other are more
reliable than times. Wall time is measured, not CPU time: work in other threads must count.
"""

import gc
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

Array = NDArray[np.float64]
Block = Callable[[], object]

PACKAGES = ("banditselect", "numpy", "numba")
PERCENTILES = (50.0, 99.0, 99.9)


@dataclass(frozen=True)
class Spread:
    """A summary of n measurements: the best (smallest), the median, and the range of the middle 80 %."""

    n: int
    best: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        array = np.asarray(values, dtype=float)
        low, median, high = np.quantile(array, (0.1, 0.5, 0.9)).tolist()
        return cls(array.size, float(array.min()), median, low, high)


def ratio(a: ArrayLike, b: ArrayLike) -> Spread:
    """Return the spread of a / b, block by block; its ``best`` is the best of a over the best of b."""
    above, below = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    spread = Spread.of(above / below)
    return Spread(spread.n, float(above.min() / below.min()), spread.median, spread.low, spread.high)


@contextmanager
def undisturbed() -> Iterator[None]:
    """One thread for BLAS, no garbage collection."""
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        if collecting:
            gc.enable()


def interleaved(
    contestants: Mapping[str, Block],
    blocks: int,
    *,
    warm_up: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    seed: int = 0,
) -> dict[str, Array]:
    """Return the seconds of every block of every contestant, ``(blocks,)`` each.

    In each of ``blocks`` turns every contestant runs once, in an order drawn anew for each turn; before that, all run
    ``warm_up`` times untimed, which also compiles.
    """
    seconds = {name: np.empty(blocks) for name in contestants}
    names, rng = list(contestants), np.random.default_rng(seed)
    with undisturbed():
        for _ in range(warm_up):
            for block in contestants.values():
                block()
        for turn in range(blocks):
            for name in rng.permutation(names):
                block = contestants[name]
                start = clock()
                block()
                seconds[name][turn] = clock() - start
            gc.collect()
    return seconds


def machine(packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """Return a description of the machine: processor, cores, memory, system, versions; no names of hosts or users."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "cpu": (re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) or [platform.machine()])[0],
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": f"{blas['name']} {blas['version']}",
        "packages": {name: package_version(name) for name in packages},
    }


def package_version(name: str) -> str | None:
    """Return the version of an installed package, None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
